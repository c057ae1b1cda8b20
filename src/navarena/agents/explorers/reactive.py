"""The reactive agents have no map: ahead until something is in the way, then aside; to a goal that they see.

`reactive` is told which pixels show the goal, `reactive-rgb` recognises cylinders by colour. What they do
follows from the image and the move before, so a policy with little memory can imitate them: they teach
searching to policies without a map, which cannot imitate an agent that remembers where it has been.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int64

from navarena.agents.agent import Agent, Boundary, Start, require_discrete
from navarena.agents.explorers.cylinders import find_cylinders
from navarena.agents.explorers.goal_finders import OBJECT_REACH, goal_class, require_cylinders
from navarena.agents.explorers.mapping_agent import (
    MOVES,
    OBSTACLE_BOTTOM,
    as_floats,
    depth_camera,
    depth_sensor,
    find_depth_scale,
    stretch,
)
from navarena.agents.explorers.sightings import DepthView
from navarena.core.errors import InputError
from navarena.core.geometry import focal_length
from navarena.simulation.bodies import Bodies
from navarena.simulation.camera_pose import world_from_camera
from navarena.simulation.sensors.resized import ResizedDepth
from navarena.tasks.protocols.multi_on import MultiOn
from navarena.tasks.protocols.object_nav_robothor import ObjectNavRobothor
from navarena.tasks.sensors.goal_mask import VisibleGoalState
from navarena.tasks.task import Task, require_state

FOUND_SPARE = 0.25
"""Metres by which a body comes nearer to MultiON's objects than counts, which is measured along the floor."""

TURNS = ("left", "right")

FAR = 9.0
"""Metres of free way where nothing is in it."""


@dataclass(frozen=True)
class ReactiveSettings:
    """Distances and probabilities by which a reactive agent moves; chosen on the 40 episodes of `mini`.

    Attributes:
        near: metres of free way ahead, up to which it turns.
        open: metres of free way ahead, from which it stops turning wherever more would be free.
        glance: probability of a turn to a random side where the way ahead is free.
        leaves: probability that it turns, once, to a side whose free way is twice that ahead, as at a door,
            and of 2 m at least.
        goes: probability that it takes the first way that is good enough after turning, not the next.
        still: metres by which a depth image changes less (see `_differ`) if the body was held up.
        turns: the most turns in a row after it was held up.
        spare: metres beside the body that must be free.
        alike: metres by which the free ways to both sides differ at most where a random one is taken.
        rows: about which many rows of the depth image it reads.
    """

    near: float = 0.5
    open: float = 2.5
    glance: float = 0.05
    leaves: float = 0.3
    goes: float = 0.9
    still: float = 0.05
    turns: int = 3
    spare: float = 0.07
    alike: float = 0.3
    rows: int = 64


@dataclass
class _Walk:
    """What is remembered of an episode: its generator, the move before, its depths, turns still to make."""

    generator: np.random.Generator
    move: str = "forward"
    depths: Float[np.ndarray, "h w"] | None = None
    turns: int = 0


class ReactiveAgent(Agent):
    """Walks ahead, turns where something is in the way, and goes to the goal while it sees it.

    It observes depth and the pixels of the goal (ground truth, so it is privileged), and no pose. The only
    memory is of the last step: its move, and whether its depth image changed.

    Args:
        task: with discrete actions, whose goals are objects; raises InputError for another.
        seed: unused: each episode's generator is named by the run.
        settings: how it moves.
    """

    privileged = True
    privileged_inputs: tuple[str, ...] = ("instance images", "goal")
    on_graphs = False
    sensors: tuple[str, ...] = ("depth", "goal_mask")

    def __init__(self, task: Task, seed: int = 0, settings: ReactiveSettings = ReactiveSettings()) -> None:
        require_discrete(task, type(self).__name__)
        self._require_goals(task)
        self._task, self._settings = task, settings
        self._camera, depth = depth_camera(task.camera_body), depth_sensor(task)
        self._scale, self._range = find_depth_scale(depth), (depth.min_range, depth.max_range)
        self._is_resized = isinstance(task.find_sensor("depth"), ResizedDepth)
        self._pose = world_from_camera(Bodies(1), self._camera)[0]
        self._indices = {move: task.actions.index(name) for move, name in MOVES.items()}
        self._indices["declare"] = task.actions.index(task.declaration)
        self._reach = task.success_distance - FOUND_SPARE if isinstance(task, MultiOn) else OBJECT_REACH
        self._walks: dict[int, _Walk] = {}
        self._acted = np.zeros(0, bool)

    def reset(self, starts: Sequence[Start]) -> None:
        for start in starts:
            if start.boundary >= Boundary.EPISODE:
                self._walks[start.slot] = _Walk(start.generator("reactive"))

    def act(
        self, observations: Mapping[str, np.ndarray], active: Bool[np.ndarray, "n"]
    ) -> Int64[np.ndarray, "n"]:
        depths = as_floats(observations["depth"][..., 0])
        if self._is_resized:
            depths = stretch(depths, self._camera.height_px, self._camera.width_px)
        actions = np.zeros(len(active), np.int64)
        for slot in np.flatnonzero(active).tolist():
            view = DepthView(depths[slot], *self._scale, self._range, self._camera, self._pose)
            walk = self._walks[slot]
            walk.move = self._choose(walk, view, self.find_goal(slot, observations, view))
            actions[slot] = self._indices[walk.move]
        self._acted = active.copy()
        return actions

    def find_goal(
        self, slot: int, observations: Mapping[str, np.ndarray], view: DepthView
    ) -> Bool[np.ndarray, "h w"] | None:
        """(H, W) bool, pixels of `view` that show the current goal of `slot`; None for none."""
        mask = observations["goal_mask"][slot, :, :, 0] > 0
        return mask if mask.any() else None

    def overrule(self, actions: Int64[np.ndarray, "n"]) -> None:
        moves = {index: move for move, index in self._indices.items()}
        for slot in np.flatnonzero(self._acted).tolist():
            self._walks[slot].move = moves.get(int(actions[slot]), "declare")

    @staticmethod
    def _require_goals(task: Task) -> None:
        """Raise InputError unless the goals of `task` are objects that a level camera sees."""
        require_state(task.make_state(1), VisibleGoalState, task, "reactive")  # type: ignore[type-abstract]
        if isinstance(task, ObjectNavRobothor):
            raise InputError(
                f"expected a camera that is level at the start, got {task.protocol_id!r}; use frontier"
            )

    def _choose(self, walk: _Walk, view: DepthView, goal: Bool[np.ndarray, "h w"] | None) -> str:
        """The next move; goal: (H, W) bool, pixels that show it, None for none."""
        settings, body = self._settings, self._task.embodiment
        step = max(1, len(view.depth) // settings.rows)
        metres = view.metres(view.depth[::step, ::step])
        points = find_obstacles(view, step, body.height, goal)
        turn, width = body.turn_angle, body.radius + settings.spare
        left, ahead, right = (measure_free_way(points, angle, width) for angle in (turn, 0.0, -turn))
        before, walk.depths = walk.depths, metres
        is_held = walk.move == "forward" and before is not None and _differ(before, metres) < settings.still
        if goal is not None:
            return self._approach(walk, view, goal, (left, ahead, right), is_held)
        return self._explore(walk, (left, ahead, right), is_held)

    def _approach(
        self,
        walk: _Walk,
        view: DepthView,
        goal: Bool[np.ndarray, "h w"],
        free: tuple[float, float, float],
        is_held: bool,
    ) -> str:
        """The move towards a goal that is seen; free: metres to the left, ahead and to the right."""
        left, ahead, right = free
        rows, columns = np.nonzero(goal)
        focal = focal_length(self._camera.width_px, self._camera.hfov)
        angle = math.atan2(self._camera.width_px / 2 - float(columns.mean()) - 0.5, focal)
        metres = view.metres(view.depth[rows, columns])
        metres = metres[np.isfinite(metres)]
        if len(metres) and float(np.percentile(metres, 10)) / math.cos(angle) < self._reach:
            return "declare"
        turned, is_free = walk.move in TURNS, ahead > self._settings.near
        # after a turn it goes ahead if it can, or it would turn to and fro before what is in the way;
        # a turn of less than half of the body's own, and a margin, would lead to the other side
        if abs(angle) > 0.55 * self._task.embodiment.turn_angle and not (turned and is_free):
            return "left" if angle > 0 else "right"
        if is_free and not is_held:
            return "forward"
        if turned:
            return walk.move
        return "left" if left > right else "right"

    def _explore(self, walk: _Walk, free: tuple[float, float, float], is_held: bool) -> str:
        """The move without a goal in view; free: metres to the left, ahead and to the right."""
        settings, draw = self._settings, walk.generator.random
        left, ahead, right = free
        if is_held:
            walk.turns = int(walk.generator.integers(1, settings.turns + 1))
        if walk.move in TURNS:
            aside = left if walk.move == "left" else right
            walk.turns -= 1
            is_good = ahead > settings.near and (ahead >= settings.open or aside < ahead)
            return "forward" if walk.turns < 0 and is_good and draw() < settings.goes else walk.move
        freer = "left" if left > right else "right"
        if walk.turns > 0 or ahead <= settings.near:
            return freer if abs(left - right) > settings.alike else TURNS[int(draw() < 0.5)]
        if max(left, right) > max(2 * ahead, 2.0) and draw() < settings.leaves:
            return freer
        return TURNS[int(draw() < 0.5)] if draw() < settings.glance else "forward"


class ReactiveRgbAgent(ReactiveAgent):
    """Reactive agent for MultiON that recognises cylinders by colour and shape: no privileged input."""

    privileged = False
    privileged_inputs = ()
    sensors = ("depth", "rgb", "multiobjectgoal")

    def find_goal(
        self, slot: int, observations: Mapping[str, np.ndarray], view: DepthView
    ) -> Bool[np.ndarray, "h w"] | None:
        cylinders = find_cylinders(observations["rgb"][slot], view)
        return cylinders.get(goal_class(observations["multiobjectgoal"][slot]))

    @staticmethod
    def _require_goals(task: Task) -> None:
        require_cylinders(task)


def find_obstacles(
    view: DepthView, step: int, height: float, goal: Bool[np.ndarray, "h w"] | None = None
) -> Float[np.ndarray, "k 2"]:
    """(K, 2) metres to the right of and ahead of the camera, of what a body of `height` metres may touch.

    The nearest depth that a camera measures stands for all that is nearer, and for nothing at all, as of the
    sky: it counts as an obstacle below the middle of the image alone.

    Args:
        view: from a level camera; the floor lies at y 0.
        step: rows and columns from one pixel that is read to the next.
        height: metres.
        goal: (H, W) bool, pixels of what the body goes up to, and not around; None for none.
    """
    camera = view.camera
    focal = focal_length(camera.width_px, camera.hfov)
    metres = view.metres(view.depth[::step, ::step])
    rows, columns = (np.arange(0, size, step) + 0.5 for size in view.depth.shape)
    up = view.pose[1, 3] + (camera.height_px / 2 - rows[:, None]) / focal * metres
    stands = (up > OBSTACLE_BOTTOM) & (up < height)
    stands &= (metres > view.depth_range[0]) | (rows[:, None] > camera.height_px / 2)
    if goal is not None:
        stands &= ~goal[::step, ::step]
    across = (columns - camera.width_px / 2) / focal * metres
    return np.stack([across[stands], metres[stands]], 1)


def measure_free_way(points: Float[np.ndarray, "k 2"], angle: float, width: float) -> float:
    """Metres ahead of the first of `points` (K, 2) in the way of a body, up to FAR.

    Args:
        points: as `find_obstacles` returns them.
        angle: radians to the left in which the body would go.
        width: metres to each side of its middle that it needs.
    """
    across, ahead = points.T
    aside = across * math.cos(angle) + ahead * math.sin(angle)
    along = ahead * math.cos(angle) - across * math.sin(angle)
    in_way = along[(np.abs(aside) < width) & (along > 0)]
    return min(float(in_way.min()), FAR) if len(in_way) else FAR


def _differ(before: Float[np.ndarray, "h w"], now: Float[np.ndarray, "h w"]) -> float:
    """Metres by which one in a hundred pixels of two depth images (H, W) differ at least.

    Not the mean: along a corridor hardly a depth changes, as walls, floor and what is out of range stay.
    """
    apart = np.abs(before - now)
    known = apart[np.isfinite(apart)]
    return float(np.percentile(known, 99)) if len(known) else math.inf
