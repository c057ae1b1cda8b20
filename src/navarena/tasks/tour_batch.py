"""N tours of episodes side by side, led from one to the next by an oracle (Iterative VLN)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Bool, Int, Int64

from navarena.core.errors import ActionError, InputError
from navarena.core.geometry import wrap_angle
from navarena.episodes.episode import Episode
from navarena.episodes.route_tours import EpisodeTour
from navarena.metrics.trajectory import Trajectory
from navarena.simulation.planning import ActionPlanner, Query
from navarena.simulation.world import WorldCache
from navarena.tasks.batch import NavigationBatch
from navarena.tasks.phase import Phase
from navarena.tasks.vln_ce_tours import IR2RCE, TourState

MOST_LED = 1000
"""Oracle steps of a phase, after which it gives up: to the goal it then leads on to the next start, to
the start it puts the body there (spec ivln_goat 2.3)."""


@dataclass(frozen=True)
class TourStep:
    """What one step meant for each of N slots; rows of inactive slots are 0 and False.

    Attributes:
        reward: (N,) float64, 0 in oracle phases.
        terminated: (N,) bool, the tour came to its end by the STOP of its last episode.
        truncated: (N,) bool, it came to its end by the step limit of its last episode.
        began: (N,) bool, a further episode of the tour has just begun.
    """

    reward: np.ndarray
    terminated: Bool[np.ndarray, "n"]
    truncated: Bool[np.ndarray, "n"]
    began: Bool[np.ndarray, "n"]


@dataclass(frozen=True)
class TourRecord:
    """One episode of a tour, agent phase only.

    Attributes:
        slot: of the batch, in which it was run.
        tour_id, episode_id: whose record it is.
        trajectory: of the agent phase.
    """

    slot: int
    tour_id: str
    episode_id: str
    trajectory: Trajectory


class TourBatch:
    """Runs N tours at a time; each slot starts its next one when told to.

    Args:
        task: the rules.
        slots: N.
        threads: for rendering; None for all processors this process may use.
        sensors: names of what to observe; None for all that the task offers.
        worlds: where scenes come from; None for a store of its own.

    Attributes:
        batch: the bodies and the rules of single episodes.
        phase: (N,) int64 values of Phase: who moves the body next.
        position: (N,) int64 index of the current episode in its tour; during ORACLE_START already
            that of the next one.
    """

    def __init__(
        self,
        task: IR2RCE,
        slots: int,
        threads: int | None = None,
        sensors: Sequence[str] | None = None,
        worlds: WorldCache | None = None,
    ) -> None:
        self.task, self.slots = task, slots
        self.batch = NavigationBatch(task, slots, threads, sensors, worlds)
        state = self.batch.state
        if not isinstance(state, TourState):
            raise InputError(f"expected a task with tours, got {task.protocol_id}")
        self._state = state
        self.phase, self.position = state.phase, state.tour_position
        self._tours: list[EpisodeTour | None] = [None] * slots
        self._running = np.zeros(slots, bool)
        self._plans: list[list[int]] = [[] for _ in range(slots)]
        self._left_at: dict[int, tuple[np.ndarray, float]] = {}
        self._records: list[TourRecord] = []
        self._planner = ActionPlanner(task.embodiment, task.options.oracle_radius, MOST_LED)
        self._index = {name: number for number, name in enumerate(task.actions)}

    @property
    def running(self) -> Bool[np.ndarray, "n"]:
        """(N,) bool, a copy: slots whose tour has begun and not ended."""
        return self._running.copy()

    @property
    def observations(self) -> Mapping[str, np.ndarray]:
        """Name -> (N, ...) arrays of what was asked for, as of now; rewritten in place by the next step."""
        return self.batch.observations

    def tour(self, slot: int) -> EpisodeTour:
        """The tour that began last in `slot`; raises InputError when none has."""
        tour = self._tours[slot]
        if tour is None:
            raise InputError(f"expected a tour in slot {slot}, got none yet; call start first")
        return tour

    def episode(self, slot: int) -> Episode:
        """The current episode of the tour in `slot`."""
        return self.tour(slot).episodes[int(self.position[slot])]

    def start(self, slots: Sequence[int], tours: Sequence[EpisodeTour]) -> None:
        """Begin `tours` (K) in `slots` (K), at the start of their first episodes, whatever they were doing.

        Raises what NavigationBatch.start raises.
        """
        if len(slots) != len(tours):
            raise InputError(f"expected one tour for each of {len(slots)} slots, got {len(tours)}")
        self.batch.start(slots, [tour.episodes[0] for tour in tours])
        for slot, tour in zip(slots, tours):
            self._tours[slot] = tour
            self.position[slot], self.phase[slot] = 0, Phase.AGENT
            self._running[slot] = True
            self._plans[slot] = []
            self._left_at.pop(int(slot), None)

    def step(self, actions: Int[np.ndarray, "n"], active: Bool[np.ndarray, "n"] | None = None) -> TourStep:
        """Carry out one action in each `active` slot (all by default); the oracle moves those it leads.

        Args:
            actions: (N,) indices into `task.actions`; ignored in oracle phases and inactive slots.
            active: (N,) bool.

        Raises ActionError for an action out of range, and for a step in a slot without running tour.
        """
        chosen = np.ones(self.slots, bool) if active is None else np.asarray(active, bool)
        if (chosen & ~self._running).any():
            slot = int(np.flatnonzero(chosen & ~self._running)[0])
            raise ActionError(f"expected a running tour in slot {slot}, got a step in none; start one first")
        acting = chosen & (self.phase == Phase.AGENT)
        led = np.flatnonzero(chosen & ~acting)
        reward = np.zeros(self.slots)
        terminated, truncated, began = (np.zeros(self.slots, bool) for _ in range(3))
        if acting.any():
            result = self.batch.step(np.asarray(actions), acting)
            reward += result.reward
            for slot in np.flatnonzero(result.terminated | result.truncated).tolist():
                if self._end_episode(slot):
                    terminated[slot], truncated[slot] = result.terminated[slot], result.truncated[slot]
        if len(led):
            self._return(led)
            self._follow_plans(led)
        for slot in np.flatnonzero(chosen & self._running & (self.phase != Phase.AGENT)).tolist():
            began[slot] = self._lead_on(slot)
        return TourStep(reward, terminated, truncated, began)

    def take_records(self) -> list[TourRecord]:
        """Agent phases that have ended since the last call, in the order in which they ended."""
        taken, self._records = self._records, []
        return taken

    def _end_episode(self, slot: int) -> bool:
        """Keep the record of an agent phase, and hand the body to the oracle; whether the tour ends."""
        tour = self.tour(slot)
        episode = self.episode(slot)
        self._records.append(TourRecord(slot, tour.tour_id, episode.episode_id, self.batch.trajectory(slot)))
        if self.position[slot] + 1 == len(tour.episodes):
            self._running[slot] = False
            return True
        self.phase[slot] = Phase.ORACLE_GOAL
        self._plans[slot] = self._plan_way(slot, np.array(episode.goal.places[-1])) or []
        self._hear(slot, episode)
        return False

    def _follow_plans(self, led: Int64[np.ndarray, "k"]) -> None:
        """The next planned step of each body in `led` (K,) that has one left."""
        moves = np.zeros(self.slots, np.int64)
        moving = np.zeros(self.slots, bool)
        for slot in led.tolist():
            if self._plans[slot]:
                moves[slot] = self._plans[slot].pop(0)
                moving[slot] = True
        self.batch.lead(moves, moving)

    def _lead_on(self, slot: int) -> bool:
        """Go to the next phase where the plan of this one is done; whether an episode begins."""
        if self._plans[slot]:
            return False
        if self.phase[slot] == Phase.ORACLE_GOAL:
            self.phase[slot] = Phase.ORACLE_START
            self.position[slot] += 1
            episode = self.episode(slot)
            plan = self._plan_way(slot, np.array(episode.start_position))
            self._hear(slot, episode)
            if plan is not None:
                self._plans[slot] = [*plan, *self._plan_turns(slot, plan, episode)]
            else:  # no way: the body is put there
                self._begin(slot, episode)
                return True
            if self._plans[slot]:
                if self.task.options.peeks_at_start:
                    self._peek(slot, episode)
                return False
        bodies = self.batch.simulator.bodies
        episode = self.episode(slot)
        if self.task.options.precise_start:
            self._begin(slot, episode)
        else:
            x, y, z = bodies.positions[slot].tolist()
            self._begin(slot, replace(episode, start_position=(x, y, z), start_yaw=float(bodies.yaws[slot])))
        return True

    def _peek(self, slot: int, episode: Episode) -> None:
        """Put the body at the next start for one observation; `_return` puts it back."""
        bodies = self.batch.simulator.bodies
        self._left_at[slot] = (bodies.positions[slot].copy(), float(bodies.yaws[slot]))
        self._put(slot, np.array(episode.start_position), episode.start_yaw)

    def _return(self, led: Int64[np.ndarray, "k"]) -> None:
        """Put the bodies of `led` (K,) that looked from the next start back where they were."""
        for slot in led.tolist():
            place = self._left_at.pop(slot, None)
            if place is not None:
                self._put(slot, *place)

    def _put(self, slot: int, position: np.ndarray, yaw: float) -> None:
        """Move the body to `position` (3,), metres, and `yaw`, radians, in its scene."""
        simulator = self.batch.simulator
        world = simulator.slot_worlds.world(slot)
        if world is not None:
            simulator.place([slot], [world], position[None], np.array([yaw]))

    def _begin(self, slot: int, episode: Episode) -> None:
        self.phase[slot] = Phase.AGENT
        self.batch.start([slot], [episode])

    def _plan_way(self, slot: int, goal: np.ndarray) -> list[int] | None:
        """Actions that bring the body near `goal` (3,), metres, as the oracle must; None without a way."""
        simulator = self.batch.simulator
        rows = np.array([slot])
        if simulator.geodesic_distance(rows, goal[None])[0] < self.task.options.oracle_radius:
            return []
        query = Query([simulator.navmesh(slot)], simulator.positions[rows], simulator.yaws[rows], goal[None])
        plan = self._planner.plan(query)[0]
        return None if plan is None else [self._index[name] for name in plan[:-1]]

    def _plan_turns(self, slot: int, plan: Sequence[int], episode: Episode) -> list[int]:
        """The turns after `plan` that bring the body within half a turn of the episode's yaw."""
        left, right = self._index["turn_left"], self._index["turn_right"]
        turned = sum((action == left) - (action == right) for action in plan)
        angle = self.task.embodiment.turn_angle
        facing = float(self.batch.simulator.yaws[slot]) + turned * angle
        missing = float(wrap_angle(episode.start_yaw - facing))
        return [left if missing > 0 else right] * round(abs(missing) / angle)

    def _hear(self, slot: int, episode: Episode) -> None:
        """What is said while the oracle leads: nothing, or the instruction of the episode at hand."""
        if self.task.options.shows_instruction:
            self.task.tell(self._state, slot, episode)
        else:
            self._state.hush(slot)
