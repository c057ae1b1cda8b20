"""The oracle that leads bodies from one episode of a tour to the next (Iterative VLN)."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Bool, Int64

from navarena.core.geometry import wrap_angle
from navarena.episodes.episode import Episode
from navarena.simulation.planning import ActionPlanner, Query
from navarena.simulation.simulator import Simulator
from navarena.tasks.task import Phase, Task, TaskState

MAX_ORACLE_STEPS = 1000
"""Oracle steps of a phase, after which it gives up: to the goal it then leads on to the next start, to
the start it puts the body there (spec ivln_goat 2.3)."""


@dataclass
class _Transition:
    """Remaining oracle steps between two episodes in one slot, and the number of executed ones.

    Attributes:
        left_at: what was known of the body before it was put at the next start; None where it was not.
    """

    following: Episode
    plan: list[int]
    steps: list[int]
    left_at: dict[str, np.ndarray] | None = None


class OraclePhases:
    """Plans and counts the oracle phases of N slots; the batch carries them out.

    Args:
        task: whose `oracle` rules hold; its actions must be discrete.
        simulator: the bodies.
        state: of the task.
        begin: called with a slot and the episode that begins there, when a transition is done.
        observe: an episode -> the same as agents read its instruction.
    """

    def __init__(
        self,
        task: Task,
        simulator: Simulator,
        state: TaskState,
        begin: Callable[[int, Episode], object],
        observe: Callable[[Episode], Episode],
    ) -> None:
        self._observe = observe
        self._task, self._simulator, self._state, self._begin_episode = task, simulator, state, begin
        self._rules = task.require_oracle()
        self._index = {name: number for number, name in enumerate(task.actions)}
        self._planner = ActionPlanner(task.embodiment, self._rules.oracle_radius, MAX_ORACLE_STEPS)
        self._transitions: dict[int, _Transition] = {}
        self._steps: dict[int, tuple[int, int]] = {}

    def forget(self, slot: int) -> None:
        """Discard plans of `slot` at the start of a tour."""
        self._transitions.pop(slot, None)
        self._steps.pop(slot, None)

    def oracle_steps(self, slot: int) -> tuple[int, int]:
        """Steps of the oracle before the current episode of `slot`: to the last goal, to the start."""
        return self._steps.get(slot, (0, 0))

    def save_state(self) -> tuple[dict[int, _Transition], dict[int, tuple[int, int]]]:
        """Remaining and executed oracle steps of each slot, for `restore_state`."""
        return self._transitions, self._steps

    def restore_state(self, saved: tuple[dict[int, _Transition], dict[int, tuple[int, int]]]) -> None:
        """Restore the result of `save_state`, which is not copied."""
        self._transitions, self._steps = saved

    def hand_over(self, slot: int, ended: Episode, following: Episode) -> bool:
        """Lead the body from where `ended` ended to where `following` starts; whether it begins at once."""
        self._state.phase[slot] = Phase.ORACLE_GOAL
        plan = self._plan_path(slot, np.array(ended.goal.places[-1])) or []
        self._transitions[slot] = _Transition(following, plan, [0, 0])
        self._show_instruction(slot, ended)
        return self._go_on(slot)

    def next_actions(self, led: Int64[np.ndarray, "k"]) -> tuple[np.ndarray, Bool[np.ndarray, "n"]]:
        """(N,) actions and (N,) bool who makes them: the next planned step of the slots `led` (K,)."""
        actions = np.zeros(len(self._state.phase), np.int64)
        moving = np.zeros(len(actions), bool)
        for slot in led.tolist():
            transition = self._transitions[slot]
            if transition.left_at is not None:
                self._simulator.bodies.restore_row(slot, transition.left_at)
                transition.left_at = None
            if transition.plan:
                actions[slot], moving[slot] = transition.plan.pop(0), True
                transition.steps[int(self._state.phase[slot] == Phase.ORACLE_START)] += 1
        return actions, moving

    def arrive(self, led: Int64[np.ndarray, "k"]) -> Bool[np.ndarray, "n"]:
        """(N,) bool: in which of the slots `led` (K,), whose bodies have made a step, an episode begins."""
        arrived = np.zeros(len(self._state.phase), bool)
        for slot in led.tolist():
            arrived[slot] = self._go_on(slot)
        return arrived

    def _go_on(self, slot: int) -> bool:
        """Go to the next phase where the plan of this one is done; whether an episode begins."""
        transition = self._transitions[slot]
        if transition.plan:
            return False
        following = transition.following
        if self._state.phase[slot] == Phase.ORACLE_GOAL:
            self._state.phase[slot] = Phase.ORACLE_START
            self._state.tour_position[slot] += 1
            plan = self._plan_path(slot, np.array(following.start_position))
            self._show_instruction(slot, following)
            if plan is None:  # no path: the body is put there
                self._begin(slot, following)
                return True
            transition.plan = [*plan, *self._plan_turns(slot, plan, following)]
            if transition.plan:
                if self._rules.peeks_at_start:
                    self._peek(slot, transition)
                return False
        if not self._rules.precise_start:
            bodies = self._simulator.bodies
            x, y, z = bodies.positions[slot].tolist()
            following = replace(following, start_position=(x, y, z), start_yaw=float(bodies.yaws[slot]))
        self._begin(slot, following)
        return True

    def _begin(self, slot: int, episode: Episode) -> None:
        to_goal, to_start = self._transitions.pop(slot).steps
        self._steps[slot] = to_goal, to_start
        self._state.phase[slot] = Phase.AGENT
        self._begin_episode(slot, episode)

    def _peek(self, slot: int, transition: _Transition) -> None:
        """Put the body at the next start for one observation; `next_actions` puts it back.

        The frame of gps and compass stays, and so do the errors of the estimated pose, and the pose from
        which an image that comes late was taken.
        """
        bodies, following = self._simulator.bodies, transition.following
        world = self._simulator.slot_worlds.world(slot)
        if world is None:
            return
        left = transition.left_at = bodies.save_row(slot)
        start, yaw = np.array([following.start_position]), np.array([following.start_yaw])
        self._simulator.place([slot], [world], start, yaw)
        kept = ["start_positions", "start_yaws"]
        if bodies.camera_positions is not bodies.positions:
            kept += ["camera_positions", "camera_yaws", "camera_tilts"]
        bodies.restore_row(slot, {name: left[name] for name in kept})
        bodies.estimated_positions[slot] += (left["estimated_positions"] - left["positions"])[0]
        bodies.estimated_yaws[slot] += (left["estimated_yaws"] - left["yaws"])[0]

    def _plan_path(self, slot: int, goal: np.ndarray) -> list[int] | None:
        """Actions that bring the body near `goal` (3,), metres, as the oracle must; None without a path."""
        simulator, rows = self._simulator, np.array([slot])
        if simulator.geodesic_distance(rows, goal[None])[0] < self._rules.oracle_radius:
            return []
        query = Query([simulator.navmesh(slot)], simulator.positions[rows], simulator.yaws[rows], goal[None])
        plan = self._planner.plan(query)[0]
        return None if plan is None else [self._index[name] for name in plan[:-1]]

    def _plan_turns(self, slot: int, plan: Sequence[int], episode: Episode) -> list[int]:
        """The turns after `plan` that bring the body within half a turn of the episode's yaw."""
        left, right = self._index["turn_left"], self._index["turn_right"]
        turned = sum((action == left) - (action == right) for action in plan)
        angle = self._task.embodiment.turn_angle
        facing = float(self._simulator.yaws[slot]) + turned * angle
        missing = float(wrap_angle(episode.start_yaw - facing))
        return [left if missing > 0 else right] * round(abs(missing) / angle)

    def _show_instruction(self, slot: int, episode: Episode) -> None:
        """Set the instruction shown in oracle phases: none, or that of the current episode."""
        shown = self._observe(episode) if self._rules.shows_instruction else None
        self._task.show_instruction(self._state, slot, shown)
