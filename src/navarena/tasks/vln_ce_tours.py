"""Iterative vision-and-language navigation in continuous houses: tours of instructions."""

from dataclasses import dataclass

import numpy as np

from navarena.core.errors import InputError
from navarena.core.protocol_ids import join_protocol
from navarena.simulation.sensors.sensor import ObservationSpec, Sensor
from navarena.simulation.simulator import Simulator
from navarena.tasks.options import find_departures
from navarena.tasks.phase import Phase
from navarena.tasks.sensors.goal_sensor import GoalSensor
from navarena.tasks.task import TaskState
from navarena.tasks.vln_ce import R2RCE, InstructionTaskState

MOST_EPISODES = 2**31 - 1
"""Of a tour, as a bound of the observation."""


class TourState(InstructionTaskState):
    """What `ir2r-ce-v1` remembers of the tours in N slots.

    Attributes:
        phase: (N,) int64 values of Phase: who moves the body next.
        tour_position: (N,) int64 index of the current episode in its tour.
    """

    def __init__(self, slots: int) -> None:
        super().__init__(slots)
        self.phase = np.full(slots, int(Phase.AGENT), np.int64)
        self.tour_position = np.zeros(slots, np.int64)


class PhaseSensor(GoalSensor):
    """() int64: 0 agent, 1 oracle to the goal, 2 oracle to the next start."""

    name = "phase"

    def spec(self) -> ObservationSpec:
        return ObservationSpec((), np.int64, 0, int(max(Phase)))

    def observe(self, simulator: Simulator, state: TaskState, out: np.ndarray) -> None:
        out[:] = _require_tours(state, self.name).phase


class TourPosition(GoalSensor):
    """() int64: how many episodes of the tour came before."""

    name = "tour_position"

    def spec(self) -> ObservationSpec:
        return ObservationSpec((), np.int64, 0, MOST_EPISODES)

    def observe(self, simulator: Simulator, state: TaskState, out: np.ndarray) -> None:
        out[:] = _require_tours(state, self.name).tour_position


def _require_tours(state: TaskState, sensor: str) -> TourState:
    if not isinstance(state, TourState):
        raise InputError(f"expected a task with tours for the sensor {sensor!r}; leave it out")
    return state


@dataclass(frozen=True)
class OracleOptions:
    """Readings of the oracle phases; the defaults are the protocol.

    Attributes:
        oracle_radius: metres, geodesic, within which the oracle has arrived: 0.25 (code; one step of
            the body), or 0.5 (the paper's text).
        precise_start: whether an episode of a tour begins exactly at its start, or where the oracle
            stopped: within that radius and half a turn of it (code).
        peeks_at_start: whether the body is shown one observation from the next start, when the oracle
            turns to it (code: a flaw, it feeds the next start to memories and maps).
        shows_instruction: whether the instruction stays visible while the oracle leads, during
            ORACLE_START that of the next episode (code; the paper says without language).
    """

    oracle_radius: float = 0.25
    precise_start: bool = False
    peeks_at_start: bool = False
    shows_instruction: bool = False


class IR2RCE(R2RCE):
    """Follow instructions along tours, remembering the house: the protocol `ir2r-ce-v1`.

    Body, actions, start, goal, success, reward and the limit of 500 actions in each episode are those of
    `r2r-ce-v1`. Krantz et al. 2023, "Iterative Vision-and-Language Navigation", section 3.

    ## Phases

    1. Agent: the agent acts until STOP or the limit.
    2. Oracle to the goal: skipped where the body stands within 0.25 m of it (geodesic).
    3. Oracle to the next start; there the body turns to the next start heading, within half a turn.

    In the oracle phases the agent's actions are ignored, the reward is 0, no step counts, and the
    instruction is hidden; everything else is observed. Where no way leads to the goal, phase 3 follows at
    once; where none leads to the start, the body is put there. The last episode of a tour ends with its
    agent phase. The oracle plans its whole way at once, greedily, and by search where that gets stuck; the
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

    t-nDTW over agent phases (primary), t-SR, t-SPL, and those of `r2r-ce-v1` by episode.

    ## Options

    Fields of `OracleOptions`, in the id: `ir2r-ce-v1+oracle_radius=0.5`.

    ## Versions

    * v1: first version, after the IVLN-CE reference (spec ivln_goat 2.3).
    """

    protocol_id = "ir2r-ce-v1"
    sensors = (*R2RCE.sensors, "phase", "tour_position")
    options_type = OracleOptions

    def __init__(self, options: OracleOptions = OracleOptions()) -> None:
        if not options.oracle_radius > 0:
            raise InputError(f"expected a positive oracle_radius, got {options.oracle_radius:g}")
        self.options = options
        self.protocol_id = join_protocol(type(self).protocol_id, find_departures(options))

    def make_state(self, slots: int) -> TourState:
        """Phases and places in tours, beside what the episodic protocol remembers."""
        return TourState(slots)

    def make_sensor(self, name: str) -> Sensor | None:
        """Phase and place in the tour, beside the sensors of the episodic protocol."""
        own = {"phase": PhaseSensor(), "tour_position": TourPosition()}
        return own.get(name) or super().make_sensor(name)
