"""N tours on navigation graphs, side by side: what environments and evaluation stand on."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
from jaxtyping import Bool, Float, Int

from navarena.core.errors import ActionError, InputError
from navarena.episodes.graph_episodes import GraphEpisode, Tour
from navarena.scenes.graphs.atlas import GraphAtlas
from navarena.scenes.graphs.features import ViewFeatures
from navarena.tasks.phase import Phase
from navarena.tasks.vln_graph import STOP, SUCCESS_REWARD, GraphTask
from navarena.tasks.vln_graph_observer import GraphObserver
from navarena.tasks.vln_graph_oracle import plan_oracle
from navarena.tasks.vln_graph_state import NO_GOAL, GraphState


@dataclass(frozen=True)
class Walk:
    """The agent phase of one episode.

    Attributes:
        slot: of the batch, in which it was walked.
        episode_id: of the instruction.
        nodes: (K,) int64 node indices of the atlas, the start first.
        views: (K,) int64, 0 to 35, along which the body looked.
        stopped: whether the agent ended it by STOP.
    """

    slot: int
    episode_id: str
    nodes: Int[np.ndarray, "k"]
    views: Int[np.ndarray, "k"]
    stopped: bool


@dataclass(frozen=True)
class GraphStep:
    """What one step meant for each of N slots; rows of inactive slots are 0 and False.

    Attributes:
        reward: (N,) float64.
        terminated: (N,) bool, the tour ended, its last episode by STOP.
        truncated: (N,) bool, the tour ended, its last episode by the step limit.
        stopped: (N,) bool, an agent phase ended by STOP.
        cut: (N,) bool, an agent phase ended by the step limit.
        began: (N,) bool, the next episode of a tour begins: the agent acts again.
    """

    reward: Float[np.ndarray, "n"]
    terminated: Bool[np.ndarray, "n"]
    truncated: Bool[np.ndarray, "n"]
    stopped: Bool[np.ndarray, "n"]
    cut: Bool[np.ndarray, "n"]
    began: Bool[np.ndarray, "n"]


class GraphBatch:
    """Runs N tours of a graph task at a time; each slot starts its next one when told to.

    Args:
        task: the rules.
        atlas: graphs of all scans that the tours are in.
        slots: N.
        sensors: names of what to observe; None for all that the task offers.
        features: of the views, for the sensors that need them.

    Attributes:
        state: of the bodies.
    """

    def __init__(
        self,
        task: GraphTask,
        atlas: GraphAtlas,
        slots: int,
        sensors: Sequence[str] | None = None,
        features: ViewFeatures | None = None,
    ) -> None:
        self.task, self.atlas, self.slots = task, atlas, slots
        self.state = GraphState(slots, task.max_steps)
        names = tuple(dict.fromkeys(task.sensors if sensors is None else sensors))
        self.observer = GraphObserver(atlas, self.state, names, features, task.oracle.shows_instruction)
        self._walks: list[Walk] = []

    @property
    def running(self) -> Bool[np.ndarray, "n"]:
        """(N,) bool, a copy: slots whose tour has begun and not ended."""
        return self.state.running.copy()

    @property
    def observations(self) -> Mapping[str, np.ndarray]:
        """Name -> (N, ...) arrays of what was asked for, as of now; fresh ones at every reading."""
        return MappingProxyType(self.observer.observe())

    def tour(self, slot: int) -> Tour:
        """The tour that began last in `slot`; raises InputError when none has."""
        tour = self.state.tours[slot]
        if tour is None:
            raise InputError(f"expected a tour in slot {slot}, got none yet; call start first")
        return tour

    def episode(self, slot: int) -> GraphEpisode:
        """The current episode of the tour in `slot`; in oracle phases still the one that ended."""
        return self.tour(slot).episodes[int(self.state.position[slot])]

    def start(self, slots: Sequence[int], tours: Sequence[Tour]) -> None:
        """Begin `tours` (K) in `slots` (K), whatever they were doing.

        Raises UnknownNameError for a scan or viewpoint that the atlas does not have, InputError for
        a tour of several episodes in an episodic task, or without goals in an iterative one.
        """
        if len(slots) != len(tours):
            raise InputError(f"expected one tour for each of {len(slots)} slots, got {len(tours)}")
        for slot, tour in zip(slots, tours):
            if len(tour.episodes) > 1 and not self.task.iterative:
                raise InputError(
                    f"expected single episodes in {self.task.protocol_id}, got tour {tour.tour_id!r} of "
                    f"{len(tour.episodes)}; use an iterative protocol (ir2r-v1)"
                )
            if len(tour.episodes) > 1 and not all(episode.has_goal for episode in tour.episodes):
                raise InputError(
                    f"expected goals of all episodes of tour {tour.tour_id!r}, got starts only; "
                    "the oracle cannot lead to them"
                )
            self.state.begin_tour(int(slot), tour, self.atlas)
            self.observer.begin_episode(int(slot))

    def step(self, actions: Int[np.ndarray, "n"], active: Bool[np.ndarray, "n"] | None = None) -> GraphStep:
        """Carry out one action in each `active` slot (all by default); the oracle moves those it leads.

        Args:
            actions: (N,) indices into `task.actions`; ignored in oracle phases and inactive slots.
            active: (N,) bool.

        Raises ActionError for an action out of range, and for a step in a slot without running tour.
        """
        chosen = np.ones(self.slots, bool) if active is None else np.asarray(active, bool)
        taken = np.asarray(actions)
        self._check(taken, chosen)
        acting = chosen & (self.state.phase == Phase.AGENT)
        led = np.flatnonzero(chosen & ~acting)
        reward = np.zeros(self.slots)
        stopped, cut, terminated, truncated, began = (np.zeros(self.slots, bool) for _ in range(5))
        slots = np.flatnonzero(acting)
        stopped[slots] = taken[slots] == STOP
        reward[slots] = self._act(slots, taken[slots])
        cut[slots] = ~stopped[slots] & (self.state.steps[slots] >= self.task.max_steps)
        began[self._lead(led)] = True
        for slot in np.flatnonzero(stopped | cut).tolist():
            self._end_episode(slot, bool(stopped[slot]), began)
        ended = (stopped | cut) & ~self.state.running
        terminated[ended], truncated[ended] = stopped[ended], cut[ended]
        return GraphStep(reward, terminated, truncated, stopped, cut, began)

    def take_records(self) -> list[Walk]:
        """Agent phases that have ended since the last call, in the order in which they ended."""
        taken, self._walks = self._walks, []
        return taken

    def _check(self, actions: np.ndarray, chosen: Bool[np.ndarray, "n"]) -> None:
        if actions.shape != (self.slots,) or not np.issubdtype(actions.dtype, np.integer):
            raise ActionError(
                f"expected {self.slots} integer actions, got shape {actions.shape} of {actions.dtype}"
            )
        idle = chosen & ~self.state.running
        if idle.any():
            slot = int(np.argmax(idle))
            when = "before reset (start)" if self.state.tours[slot] is None else "after its end"
            raise ActionError(f"expected a running tour in slot {slot}, got a step {when}; start one first")
        wrong = chosen & ((actions < 0) | (actions >= len(self.task.actions)))
        if wrong.any():
            slot = int(np.argmax(wrong))
            raise ActionError(
                f"expected an action within 0..{len(self.task.actions) - 1}, got "
                f"{actions[slot]} in slot {slot}"
            )

    def _act(self, slots: Int[np.ndarray, "k"], actions: Int[np.ndarray, "k"]) -> Float[np.ndarray, "k"]:
        """Move the bodies in `slots` as their agents want; rewards (K,)."""
        state, candidates = self.state, self.atlas.candidates
        node, column = state.node[slots], np.maximum(actions - 1, 0)
        target = np.where(actions == STOP, -1, candidates.places[node, column])
        moved = target >= 0
        state.node[slots] = np.where(moved, target, node)
        state.view[slots] = np.where(moved, candidates.views[node, column], state.view[slots])
        state.steps[slots] += 1
        recorded = slots[actions != STOP]
        state.walked[recorded, state.steps[recorded]] = state.node[recorded]
        state.views_walked[recorded, state.steps[recorded]] = state.view[recorded]
        known = state.goal[slots] != NO_GOAL
        goal = np.where(known, state.goal[slots], state.node[slots])
        distance = self.atlas.distance(state.node[slots], goal)
        before, state.distance[slots] = state.distance[slots], distance
        near = known & (actions == STOP) & (distance < self.task.success_distance)
        return np.asarray(np.where(known, before - distance, 0.0) + SUCCESS_REWARD * near)

    def _lead(self, slots: Int[np.ndarray, "k"]) -> list[int]:
        """One oracle step in `slots` (K,); the slots in which it arrived at the next start."""
        if not len(slots):
            return []
        arriving = self.state.is_led_out(slots)
        self.state.follow(slots[~arriving])
        arrived: list[int] = slots[arriving].tolist()
        for slot in arrived:
            self._begin_next(slot)
        return arrived

    def _end_episode(self, slot: int, stopped: bool, began: Bool[np.ndarray, "n"]) -> None:
        """Keep the walk that ended in `slot`; end the tour, or go on to its next episode."""
        state = self.state
        count = int(state.steps[slot]) + (0 if stopped else 1)
        self._walks.append(
            Walk(
                slot,
                self.episode(slot).episode_id,
                state.walked[slot, :count].copy(),
                state.views_walked[slot, :count].copy(),
                stopped,
            )
        )
        following = int(state.position[slot]) + 1
        if following == len(state.paths[slot]):
            state.running[slot] = False
            return
        next_path = state.paths[slot][following]
        node, view, goal = (int(array[slot]) for array in (state.node, state.view, state.goal))
        plan = plan_oracle(self.atlas, node, view, goal, next_path, self.task.oracle)
        if not len(plan.nodes) and node == next_path[0]:
            self._begin_next(slot)
            began[slot] = True
        else:
            state.lead(slot, plan)

    def _begin_next(self, slot: int) -> None:
        self.state.begin_episode(slot, int(self.state.position[slot]) + 1, self.atlas)
        self.observer.begin_episode(slot)
