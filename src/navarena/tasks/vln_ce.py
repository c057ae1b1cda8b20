"""Vision-and-language navigation in continuous houses: one instruction at a time."""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Int64

from navarena.core.errors import InputError
from navarena.core.polyline import resample
from navarena.episodes.episode import Episode, require_instruction
from navarena.episodes.exchange.r2r_ce import FollowedGoal
from navarena.episodes.language.vocabulary import route_vocabulary
from navarena.metrics.followed_path import InstructionTrajectory
from navarena.metrics.trajectory import Trajectory
from navarena.simulation.body_catalog import VLN_CE
from navarena.simulation.sensors.images import Depth
from navarena.simulation.sensors.sensor import Sensor
from navarena.simulation.simulator import Simulator
from navarena.tasks.point_goal_task import PointGoalTask
from navarena.tasks.sensors.instruction import InstructionState
from navarena.tasks.task import TaskState


class InstructionTaskState(InstructionState):
    """What `r2r-ce-v1` remembers of the episodes in N slots.

    Attributes:
        references: for each slot (M, 3) float64 metres: the described path in steps of the body.
    """

    def __init__(self, slots: int) -> None:
        super().__init__(slots)
        self.references = [np.zeros((1, 3))] * slots


class R2RCE(PointGoalTask):
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
    The reference path of nDTW, sDTW and CLS runs along the described way points in steps of 0.25 m; of a file
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

    def make_state(self, slots: int) -> InstructionTaskState:
        """Texts and described paths, beside what every task remembers."""
        return InstructionTaskState(slots)

    def make_sensor(self, name: str) -> Sensor | None:
        """Depth up to 10 m, normalised."""
        return Depth(nearest=0.0, farthest=10.0, normalize=True) if name == "depth" else None

    def begin(
        self,
        simulator: Simulator,
        state: TaskState,
        slots: Int64[np.ndarray, "k"],
        episodes: Sequence[Episode],
    ) -> None:
        """Take the end of each described path as the goal, and say the instruction."""
        for slot, episode in zip(slots.tolist(), episodes):
            goal = require_instruction(episode)
            if len(goal.path) < 2:
                raise InputError(
                    f"expected a described way of episode {episode.episode_id!r}, got its start only; test "
                    "splits hide their goals, and nothing can be scored without"
                )
            path = np.array(goal.path, float)
            state.set_goal(slot, simulator.navmesh(slot), path[-1:])
            if isinstance(state, InstructionTaskState):
                state.references[slot] = (
                    np.array(goal.followed)
                    if isinstance(goal, FollowedGoal)
                    else resample(path, self.embodiment.forward_step)
                )
                self.tell(state, slot, episode)
        state.measure(slots, simulator)
        state.start_distance[slots] = state.distance[slots]

    def complete(self, trajectory: Trajectory, state: TaskState, slot: int) -> Trajectory:
        """The record with the path that was described."""
        if not isinstance(state, InstructionTaskState):
            return trajectory
        return InstructionTrajectory(**vars(trajectory), reference=state.references[slot])

    def tell(self, state: InstructionState, slot: int, episode: Episode) -> None:
        """Say the instruction of `episode` in `slot`; tokens of its file, else of our own vocabulary."""
        goal = require_instruction(episode)
        own = np.array(goal.tokens, np.int32)
        state.tell(slot, goal.instruction, own if len(own) else route_vocabulary().encode(goal.instruction))
