"""N bodies on navigation graphs, behind the interface of NavigationBatch."""

import pickle
from collections.abc import Mapping, Sequence
from types import MappingProxyType

import numpy as np
from jaxtyping import Bool, Float, Int

from navarena.core.errors import ActionError, InputError, unknown_name
from navarena.corruptions.catalog import join_corruptions
from navarena.episodes.episode import Episode
from navarena.episodes.goal_corruptions import GoalCorruptions
from navarena.episodes.graph_episodes import require_graph_goal
from navarena.metrics.trajectory import Trajectory
from navarena.scenes.graphs.atlas import GraphAtlas
from navarena.scenes.graphs.features import ViewFeatures
from navarena.tasks.corruption_checks import require_applicable
from navarena.tasks.graphs.house_features import HouseFeatures
from navarena.tasks.graphs.observer import FEATURE_SENSORS, GraphObserver
from navarena.tasks.graphs.oracle import plan_oracle
from navarena.tasks.graphs.scoring import make_trajectory
from navarena.tasks.graphs.state import NO_GOAL, GraphState
from navarena.tasks.graphs.task import STOP, SUCCESS_REWARD, GraphTask
from navarena.tasks.task import Phase, StepResult


class GraphBatch:
    """Runs N episodes of a graph task at a time; each slot starts its next one when asked to.

    Args:
        task: the rules.
        atlas: graphs of all scans that the episodes are in.
        slots: N.
        sensors: names of what to observe; None for all that the task offers.
        features: of the views, for the sensors that need them.
        buffers: name -> an array (N, ...) of the caller, of the dtype of its spec, into which the
            observation is written.
        corruptions: of instructions, in this order.

    Attributes:
        state: of the bodies.
        specs: name -> shape, type and bounds of each observation.
        privileged_sensors: names of those sensors that show what no body measures: features of true classes.
        features: name of those that generated houses have; empty for those of a file.
    """

    def __init__(
        self,
        task: GraphTask,
        atlas: GraphAtlas,
        slots: int,
        sensors: Sequence[str] | None = None,
        features: ViewFeatures | None = None,
        buffers: Mapping[str, np.ndarray] = MappingProxyType({}),
        corruptions: Sequence[str] = (),
    ) -> None:
        require_applicable(task, corruptions)
        self._goal_corruptions = GoalCorruptions(join_corruptions((), corruptions))
        self.task, self.atlas, self.slots = task, atlas, slots
        self.state = GraphState(slots, task.max_steps)
        self.sensors = tuple(dict.fromkeys(task.sensors if sensors is None else sensors))
        self._observer = GraphObserver(
            atlas, self.state, self.sensors, features, task.oracle.shows_instruction
        )
        self.specs = self._observer.specs
        drawn = features if isinstance(features, HouseFeatures) else None
        self.features = "" if drawn is None else drawn.name
        shows = FEATURE_SENSORS if drawn is not None and drawn.is_privileged else ()
        self.privileged_sensors: tuple[str, ...] = tuple(name for name in shows if name in self.specs)
        for name in buffers:
            if name not in self.specs:
                raise unknown_name("observation to give a buffer for", name, list(self.specs))
        self._buffers = {name: self.specs[name].make_array(slots, array) for name, array in buffers.items()}

    @property
    def running(self) -> Bool[np.ndarray, "n"]:
        """(N,) bool, a copy: slots whose episode has begun and not ended."""
        return self.state.running.copy()

    @property
    def led(self) -> Bool[np.ndarray, "n"]:
        """(N,) bool: slots whose body an oracle leads to the next episode of a tour."""
        return np.asarray(self.state.phase != Phase.AGENT)

    @property
    def observations(self) -> Mapping[str, np.ndarray]:
        """Name -> (N, ...) current observations in new arrays, except for `buffers`."""
        seen = self._observer.observe()
        for name, array in self._buffers.items():
            array[...] = seen[name]
        return MappingProxyType({**seen, **self._buffers})

    def observe_into(self, rows: Mapping[str, np.ndarray]) -> Mapping[str, np.ndarray]:
        """Current observations; those of `rows`, name -> (N, ...), are written there."""
        seen = self._observer.observe()
        for name, array in rows.items():
            array[...] = seen[name]
        return MappingProxyType({**seen, **rows})

    def episode(self, slot: int) -> Episode:
        """The episode that began last in `slot`; raises InputError when none has."""
        episode = self.state.episodes[slot]
        if episode is None:
            raise InputError(f"expected an episode in slot {slot}, got none yet; call start first")
        return episode

    def start(self, slots: Sequence[int], episodes: Sequence[Episode]) -> None:
        """Start `episodes` (K) in `slots` (K), aborting running ones.

        Raises UnknownNameError for a scan or viewpoint that the atlas does not have, and InputError for an
        episode without a path of viewpoints.
        """
        if len(slots) != len(episodes):
            raise InputError(f"expected one episode for each of {len(slots)} slots, got {len(episodes)}")
        for slot, episode in zip(slots, episodes):
            self.state.tour_position[slot] = 0
            self.state.oracle_steps[slot] = 0
            self._begin(int(slot), episode)

    def follow(self, slots: Sequence[int], episodes: Sequence[Episode]) -> Bool[np.ndarray, "k"]:
        """Continue tours in `slots` (K) with their next `episodes` (K); (K,) bool, which start at once.

        In the others the oracle leads the bodies there: `step` moves them, and says in `arrived` when an
        episode begins. Raises InputError for an episode that hides its goal: the oracle cannot lead to it.
        """
        begun = np.zeros(len(slots), bool)
        for row, (slot, episode) in enumerate(zip(slots, episodes)):
            ended = self.episode(int(slot))
            for one in (ended, episode):
                if not require_graph_goal(one).is_known:
                    raise InputError(
                        f"expected goals of all episodes of tour {one.tour_id!r}, got starts only; "
                        "the oracle cannot lead to them"
                    )
            next_path = self.atlas.nodes(episode.scene_id, require_graph_goal(episode).viewpoints)
            node, view, goal = (
                int(array[slot]) for array in (self.state.node, self.state.view, self.state.goal)
            )
            plan = plan_oracle(self.atlas, node, view, goal, next_path, self.task.oracle)
            self.state.running[slot] = False
            self.state.oracle_steps[slot] = 0
            if not len(plan.nodes) and node == next_path[0]:
                begun[row] = True
                self._begin_next(int(slot), episode)
            else:
                self.state.lead(int(slot), plan, episode)
                self._observer.announce(int(slot), self._goal_corruptions.corrupt_goals(episode, None))
        return begun

    def oracle_steps(self, slot: int) -> tuple[int, int]:
        """Steps of the oracle before the current episode of `slot`: to the last goal, to the start."""
        to_goal, to_start = self.state.oracle_steps[slot].tolist()
        return to_goal, to_start

    def step(self, actions: Int[np.ndarray, "n"], active: Bool[np.ndarray, "n"] | None = None) -> StepResult:
        """Carry out one action in each `active` slot (all by default); the oracle moves those it leads.

        Args:
            actions: (N,) indices into `task.actions`; ignored in oracle phases and inactive slots.
            active: (N,) bool.

        Raises ActionError for an action out of range, and for a step in a slot whose episode has not begun
        or has ended.
        """
        chosen = np.ones(self.slots, bool) if active is None else np.asarray(active, bool)
        led = self.led
        taken = np.asarray(actions)
        self._check(taken, chosen, led)
        reward = np.zeros(self.slots)
        terminated, truncated, arrived = (np.zeros(self.slots, bool) for _ in range(3))
        slots = np.flatnonzero(chosen & ~led)
        reward[slots] = self._act(slots, taken[slots])
        terminated[slots] = self.state.stopped[slots] = taken[slots] == STOP
        truncated[slots] = ~terminated[slots] & (self.state.steps[slots] >= self.task.max_steps)
        self.state.running[terminated | truncated] = False
        arrived[self._lead(np.flatnonzero(chosen & led))] = True
        return StepResult(reward, terminated, truncated, arrived=arrived)

    def trajectory(self, slot: int, with_path: bool = True) -> Trajectory:
        """A copy of the trajectory in `slot` since its episode began, complete once it has ended.

        with_path: as of NavigationBatch; on graphs the path is always there.
        """
        return make_trajectory(self.atlas, self.state, slot, self.episode(slot), self.task)

    def save_state(self) -> bytes:
        """State of the batch, for `restore_state` of a batch of equal arguments, in any process."""
        return pickle.dumps((vars(self.state), self._observer.save_state()))

    def restore_state(self, saved: bytes) -> None:
        """Restore the state `saved` of a batch of equal arguments; load only trusted states."""
        state, observer = pickle.loads(saved)
        vars(self.state).update(state)
        self._observer.restore_state(observer)

    def _check(self, actions: np.ndarray, chosen: Bool[np.ndarray, "n"], led: Bool[np.ndarray, "n"]) -> None:
        if actions.shape != (self.slots,) or not np.issubdtype(actions.dtype, np.integer):
            raise ActionError(
                f"expected {self.slots} integer actions, got shape {actions.shape} of {actions.dtype}"
            )
        idle = chosen & ~self.state.running & ~led
        if idle.any():
            slot = int(np.argmax(idle))
            when = "before reset (start)" if self.state.episodes[slot] is None else "after its end"
            raise ActionError(
                f"expected a running episode in slot {slot}, got a step {when}; call reset() first"
            )
        wrong = chosen & ~led & ((actions < 0) | (actions >= len(self.task.actions)))
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
        state.record(slots, actions)
        known = state.goal[slots] != NO_GOAL
        goal = np.where(known, state.goal[slots], state.node[slots])
        distance = self.atlas.distance(state.node[slots], goal)
        before, state.distance[slots] = state.distance[slots], distance
        near = known & (actions == STOP) & (distance < self.task.success_distance)
        return np.asarray(np.where(known, before - distance, 0.0) + SUCCESS_REWARD * near)

    def _lead(self, slots: Int[np.ndarray, "k"]) -> list[int]:
        """One oracle step in `slots` (K,); returns the slots that arrived at the next start."""
        if not len(slots):
            return []
        arriving = self.state.is_led_out(slots)
        self.state.follow(slots[~arriving])
        arrived: list[int] = slots[arriving].tolist()
        for slot in arrived:
            following = self.state.following[slot]
            if following is not None:
                self._begin_next(slot, following)
        return arrived

    def _begin_next(self, slot: int, episode: Episode) -> None:
        self.state.tour_position[slot] += 1
        self._begin(slot, episode)

    def _begin(self, slot: int, episode: Episode) -> None:
        self.state.begin(slot, episode, self.atlas)
        self._observer.begin(slot, self._goal_corruptions.corrupt_goals(episode, None))
