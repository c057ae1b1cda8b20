"""Vision-and-language navigation in continuous houses: single instructions, and tours of them."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from jaxtyping import Int64

from navarena.core.errors import InputError
from navarena.core.geometry import resample_path
from navarena.core.protocol_ids import join_protocol
from navarena.episodes.episode import Episode, require_instruction
from navarena.episodes.exchange.r2r_ce import FollowedGoal
from navarena.episodes.language.vocabulary import route_vocabulary
from navarena.metrics.followed_path import InstructionTrajectory
from navarena.metrics.tours import TourScoring
from navarena.metrics.trajectory import Trajectory
from navarena.simulation.body_catalog import VLN_CE
from navarena.simulation.navmesh.queries.goal_fields import geodesic_table
from navarena.simulation.sensors.images import Depth
from navarena.simulation.sensors.sensor import Sensor
from navarena.simulation.simulator import Simulator
from navarena.tasks.options import find_departures
from navarena.tasks.protocols.goal_task import PointGoalTask
from navarena.tasks.sensors.instruction import InstructionState
from navarena.tasks.task import OracleRules


class R2RCE(PointGoalTask[InstructionState]):
    """Follow an instruction to its end: the protocol `r2r-ce-v1`.

    The episodic protocol of VLN-CE (Krantz et al. 2020, "Beyond the Nav-Graph"). Numbers of `ir2r-ce-v1`
    are read beside it.

    ## Body

    Radius 0.1 m, height 1.5 m, two cameras at 1.25 m: colour of 224 x 224 and depth of 256 x 256 pixels,
    both 90 degrees. A blocked step slides along the obstacle.

    ## Actions

    | index | name         | effect |
    |-------|--------------|--------|
    | 0     | stop         | ends the episode |
    | 1     | move_forward | 0.25 m along the heading |
    | 2     | turn_left    | 15 degrees |
    | 3     | turn_right   | 15 degrees |

    ## Observations

    | key                | shape, dtype          | bounds   | meaning |
    |--------------------|-----------------------|----------|---------|
    | rgb                | (224, 224, 3) uint8   | 0 to 255 | sRGB bytes |
    | depth              | (256, 256, 1) float32 | 0 to 1   | metres along the optical axis / 10, clipped |
    | instruction        | text                  |          | what to do |
    | instruction_tokens | (200,) int32          | from 0   | its words as numbers, padded with 0 |

    Tokens are those of the episode's file; instructions of generated houses have a vocabulary of their
    own that comes with navarena.

    ## Goal and success

    STOP nearer than 3 m to the end of the described path, measured along the floor, strictly. The expert goes
    on to within 0.5 m (the reference's shortest_path_sensor).

    ## Reward

    Progress - 0.01 each step, and 2.5 for success, as in `pointnav-v1`; the reference trains by imitation.

    ## Start

    Position and yaw of the episode: at rest, level.

    ## End

    STOP terminates. The 500th action truncates, unless it is STOP.

    ## Metrics

    success, oracle_success, spl, distance_to_goal, path_length, ndtw, sdtw, cls, num_actions, collisions.
    The reference path of nDTW, sDTW and CLS runs along the described waypoints in steps of 0.25 m; of a file
    of VLN-CE with `{split}_gt.json.gz` beside it, it is the expert's places there, as in the reference.

    ## Versions

    * v1: first version, after the IVLN-CE reference (spec ivln_goat 2.3, 2.5).
    """

    protocol_id = "r2r-ce-v1"
    embodiment = VLN_CE
    actions = ("stop", "move_forward", "turn_left", "turn_right")
    sensors: tuple[str, ...] = ("rgb", "depth", "instruction", "instruction_tokens")
    metrics = (
        "success",
        "oracle_success",
        "spl",
        "distance_to_goal",
        "path_length",
        "ndtw",
        "sdtw",
        "cls",
        "num_actions",
        "collisions",
    )
    max_steps = 500
    success_distance = 3.0
    expert_distance = 0.5
    default_dataset = "r2r-houses-v1"
    aligns_along_floor = False
    state_type = InstructionState

    def make_sensor(self, name: str) -> Sensor | None:
        """Depth up to 10 m, normalised."""
        return Depth(min_range=0.0, max_range=10.0, normalize=True) if name == "depth" else None

    def begin(
        self,
        simulator: Simulator,
        state: InstructionState,
        slots: Int64[np.ndarray, "k"],
        episodes: Sequence[Episode],
    ) -> None:
        """Set the end of each described path as the goal, and the instruction as observation."""
        for slot, episode in zip(slots.tolist(), episodes):
            goal = require_instruction(episode)
            if len(goal.path) < 2:
                raise InputError(
                    f"expected a described path of episode {episode.episode_id!r}, got its start only; test "
                    "splits hide their goals, and nothing can be scored without"
                )
            path = np.array(goal.path, float)
            state.set_goal(slot, simulator.navmesh(slot), path[-1:])
            state.navmeshes[slot] = simulator.navmesh(slot)
            state.references[slot] = (
                np.array(goal.followed)
                if isinstance(goal, FollowedGoal)
                else resample_path(path, self.embodiment.forward_step)
            )
            self.show_instruction(state, slot, episode)
        state.measure(slots, simulator)
        state.start_distance[slots] = state.distance[slots]

    def complete(self, trajectory: Trajectory, state: InstructionState, slot: int) -> Trajectory:
        """The record with the path that was described."""
        record = InstructionTrajectory(**vars(trajectory), reference=state.references[slot])
        navmesh = state.navmeshes[slot]
        if not self.aligns_along_floor or navmesh is None:
            return record
        ends = navmesh.snap_point(record.walked), navmesh.snap_point(record.reference)
        return replace(record, floor_costs=geodesic_table(navmesh, *ends))

    def show_instruction(self, state: InstructionState, slot: int, episode: Episode | None) -> None:
        """Show the instruction of `episode` in `slot`; tokens of its file, else of our own vocabulary."""
        if episode is None:
            state.clear_instruction(slot)
            return
        goal = require_instruction(episode)
        tokens = np.array(goal.tokens, np.int32)
        text = goal.instruction
        state.show_instruction(slot, text, tokens if len(tokens) else route_vocabulary().encode(text))


@dataclass(frozen=True)
class TourOptions(OracleRules):
    """Options of `ir2r-ce-v1`; the defaults are the protocol.

    Attributes:
        tour_distance: between points of t-nDTW: straight (continuous reference code), or along the floor
            (paper).
    """

    tour_distance: Literal["euclidean", "geodesic"] = "euclidean"


DEFAULT_OPTIONS = TourOptions()


class IR2RCE(R2RCE):
    """Follow instructions along tours, remembering the house: the protocol `ir2r-ce-v1`.

    Body, actions, start, goal, success, reward and the limit of 500 actions in each episode are those of
    `r2r-ce-v1`. Krantz et al. 2023, "Iterative Vision-and-Language Navigation", section 3.

    ## Phases

    1. Agent: the agent acts until STOP or the limit.
    2. Oracle to the goal: skipped where the body stands within 0.25 m of it (geodesic).
    3. Oracle to the next start; there the body turns to the next start heading, within half a turn.

    In the oracle phases the agent's actions are ignored, the reward is 0, no step counts, and the
    instruction is hidden; everything else is observed. Where no path leads to the goal, phase 3 follows at
    once; where none leads to the start, the body is put there. The last episode of a tour ends with its
    agent phase. The oracle plans its whole path at once, greedily, and by search where that gets stuck; the
    reference is greedy only.

    ## Observations

    Those of `r2r-ce-v1`, and

    | key           | shape, dtype | meaning |
    |---------------|--------------|---------|
    | phase         | () int64     | 0 agent, 1 oracle to the goal, 2 oracle to the next start |
    | tour_position | () int64     | how many episodes of the tour came before |

    ## End

    Only the last episode of a tour ends the tour. Agents keep their memory until then
    (Boundary.EPISODE within a tour, Boundary.TOUR at its end).

    ## Metrics

    Those of `r2r-ce-v1` by episode, and over the agent phases of each tour t-nDTW (primary), t-SR and
    t-SPL: distances are straight, tours weigh by changes of episode, as in the continuous reference code.

    ## Options

    Fields of `TourOptions`, in the id: `ir2r-ce-v1+oracle_radius=0.5`.

    ## Versions

    * v1: first version, after the IVLN-CE reference (spec ivln_goat 2.3).
    """

    protocol_id = "ir2r-ce-v1"
    sensors = (*R2RCE.sensors, "phase", "tour_position")
    options_type = TourOptions
    tour_scoring = TourScoring("code", "changes")

    def __init__(self, options: TourOptions = DEFAULT_OPTIONS) -> None:
        if not options.oracle_radius > 0:
            raise InputError(f"expected a positive oracle_radius, got {options.oracle_radius:g}")
        self.oracle, self.aligns_along_floor = options, options.tour_distance == "geodesic"
        self.protocol_id = join_protocol(type(self).protocol_id, find_departures(options))
