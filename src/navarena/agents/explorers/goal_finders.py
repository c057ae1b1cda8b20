"""Goal finders locate the goal of an exploring agent; one for each kind of goal."""

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from jaxtyping import Bool, Float

from navarena.agents.agent import Boundary, Start
from navarena.agents.explorers.cylinders import find_cylinders
from navarena.agents.explorers.explorer import Aim
from navarena.agents.explorers.sightings import DepthView, locate
from navarena.core.errors import InputError
from navarena.core.geometry import forward_from_yaw
from navarena.episodes.goal_words import word_for
from navarena.scenes.scene import Scene
from navarena.simulation.body import Embodiment
from navarena.tasks.batch import NavigationBatch
from navarena.tasks.protocols.goal_objects import CYLINDER_GOALS, SEMANTIC_OFFSET
from navarena.tasks.protocols.multi_on import MultiOn
from navarena.tasks.protocols.object_goal_task import ObjectGoalTask
from navarena.tasks.protocols.object_nav import ObjectNav
from navarena.tasks.protocols.object_nav_robothor import ObjectNavRobothor
from navarena.tasks.task import Task

OBJECT_REACH = 0.8
"""Metres from what was seen of an object, within which its view points lie (1 m from its box)."""

OBJECT_FALLBACKS = ((0.8, 0.6), (0.93, 0.25), (0.93, 0.93))
"""(Reach, spare) where that fails: over low furniture, as far away as may be, over anything."""

CLASS_REACH = 0.4
"""Metres from a goal object of MultiON; it counts as found within 1.5 m, but along the floor."""

NO_VALUE = -1
"""What no pixel of a semantic image has."""

MAX_POINTS = 60
"""Points of an object that are remembered."""


class GoalFinder(ABC):
    """Finds the goals of a batch of bodies in their observations.

    Attributes:
        sensors: what it looks at, beside depth and pose.
    """

    sensors: tuple[str, ...] = ()

    def attach(self, batch: NavigationBatch) -> None:  # noqa: B027 - a hook: most need none
        """Called once before the first episode; a privileged finder keeps `batch`."""

    def begin(self, start: Start) -> None:  # noqa: B027 - a hook: some remember nothing
        """Begin an episode or sub-task: forget the memory that its boundary ends."""

    def observe(
        self, slot: int, observations: Mapping[str, np.ndarray], view: DepthView
    ) -> Bool[np.ndarray, "h w"] | None:
        """Update the finder's memory from the images of the body in `slot`, before they are mapped.

        Args:
            slot: row of the batch.
            observations: name -> (...) array of one environment, without the leading N.
            view: the depth image and its pose, in the frame of the map.

        Returns (H, W) bool, pixels of objects that bodies pass through and that are left out of the map;
        None for none.
        """
        return None

    @abstractmethod
    def find_aim(
        self, slot: int, observations: Mapping[str, np.ndarray], view: DepthView, is_explored: bool
    ) -> Aim | None:
        """The aim of the body in `slot`; None to explore.

        Args:
            slot: row of the batch.
            observations: name -> (...) array of one environment, without the leading N.
            view: the depth image and its pose, in the frame of the map.
            is_explored: whether no frontier was left to explore.
        """

    def is_reached(self, slot: int) -> bool:
        """Whether the last observation reaches the goal, whatever the aim of the body in `slot`."""
        return False

    def elevation(self, slot: int, pose: Float[np.ndarray, "4 4"]) -> float:
        """Radians upwards at which a camera that tilts should look; pose: (4, 4) of the camera, metres."""
        return 0.0

    def arrive(self, slot: int, pose: Float[np.ndarray, "4 4"]) -> str:
        """The move at the aim: "arrived" for STOP, "left" or "right" to turn; pose: (4, 4), metres."""
        return "arrived"


class NoGoalFinder(GoalFinder):
    """Finds no goal, so that the agent only explores."""

    def find_aim(
        self, slot: int, observations: Mapping[str, np.ndarray], view: DepthView, is_explored: bool
    ) -> None:
        return None


class PointFinder(GoalFinder):
    """PointNav: distance and bearing of the goal are given at every step."""

    sensors = ("pointgoal_with_gps_compass",)

    def __init__(self, success_distance: float) -> None:
        self._reach = success_distance

    def find_aim(
        self, slot: int, observations: Mapping[str, np.ndarray], view: DepthView, is_explored: bool
    ) -> Aim | None:
        distance, bearing = observations["pointgoal_with_gps_compass"].tolist()
        pose = view.pose
        yaw = math.atan2(pose[0, 2], pose[2, 2])
        return self.aim_at(pose[:3, 3] + distance * forward_from_yaw(yaw + bearing))

    def aim_at(self, point: Float[np.ndarray, "3"]) -> Aim:
        """The aim to reach `point` (3,), metres, in the frame of the map."""
        return Aim(point[None], np.zeros(1), max_distance=0.11, spare=0.0, arrival=0.9 * self._reach)


@dataclass
class SeenObject:
    """What is remembered of an object.

    Attributes:
        points: (K, 3) metres, in the frame of the map, some of its points.
        beyond: (3,) metres, where it lies at least, while no point is known; None otherwise.
    """

    points: Float[np.ndarray, "k 3"] = field(default_factory=lambda: np.zeros((0, 3)))
    beyond: Float[np.ndarray, "3"] | None = None


class SeenFinder(GoalFinder):
    """The goal is given by its class, and semantic images show it.

    Args:
        body: whose camera must look at the goal.
        reach: metres to come near.
        spare: metres before its points within which the object itself may stand.
        must_see: whether the object must be in the image from where the body stands.
        passable: whether bodies pass through the object.
        fallbacks: (reach, spare) to make do with, as of Aim.
        slope: metres up or down for each metre away that the camera sees; None for a level one's.
    """

    def __init__(
        self,
        body: Embodiment,
        reach: float,
        spare: float,
        must_see: bool,
        passable: bool,
        fallbacks: tuple[tuple[float, float], ...] = (),
        slope: float | None = None,
    ) -> None:
        camera = body.cameras[0]
        level = camera.height_px / camera.width_px * math.tan(camera.hfov / 2)
        self._slope = level if slope is None else slope
        self._body, self._reach, self._spare, self._must_see = body, reach, spare, must_see
        self._passable, self._fallbacks = passable, fallbacks
        self._memories: dict[int, dict[int, SeenObject]] = {}

    @abstractmethod
    def goal_label(self, slot: int, observations: Mapping[str, np.ndarray]) -> int:
        """The label of the current goal; observations are (...) arrays by name, without the leading N."""

    @abstractmethod
    def masks(
        self, slot: int, observations: Mapping[str, np.ndarray], view: DepthView
    ) -> dict[int, Bool[np.ndarray, "h w"]]:
        """Label -> (H, W) bool mask of each object to remember; arguments as in `observe`."""

    def begin(self, start: Start) -> None:
        if start.boundary >= Boundary.EPISODE:
            self._memories[start.slot] = {}

    def observe(
        self, slot: int, observations: Mapping[str, np.ndarray], view: DepthView
    ) -> Bool[np.ndarray, "h w"] | None:
        masks = self.masks(slot, observations, view)
        for label, mask in masks.items():
            memory = self._memories[slot].setdefault(label, SeenObject())
            sighting = locate(mask, view)
            if len(sighting.points):
                memory.points = thin(np.concatenate([memory.points, sighting.points]))
                memory.beyond = None
            elif not len(memory.points):
                memory.beyond = sighting.beyond
        if not self._passable or not masks:
            return None
        return np.logical_or.reduce(list(masks.values()))

    def find_aim(
        self, slot: int, observations: Mapping[str, np.ndarray], view: DepthView, is_explored: bool
    ) -> Aim | None:
        memory = self._memories[slot].get(self.goal_label(slot, observations))
        if memory is None:
            return None
        if len(memory.points):
            camera = self._body.cameras[0]
            rise = np.abs(memory.points[:, 1] - camera.mount[1])
            least = np.maximum(rise / self._slope, 0.0) if self._must_see else np.zeros(len(memory.points))
            near = least <= self._reach
            if not near.any():
                near[np.argmin(least)] = True
            least = np.minimum(least[near], self._reach - 0.15)
            return Aim(memory.points[near], least, self._reach, self._spare, fallbacks=self._fallbacks)
        if memory.beyond is not None:
            return Aim(memory.beyond[None], np.zeros(1), max_distance=1.0, spare=1.0, is_sure=False)
        return None


class ObjectFinder(SeenFinder):
    """Finder for ObjectNav: the goal is a category of the scene's objects (see SeenFinder)."""

    sensors = ("objectgoal", "semantic")

    def __init__(
        self,
        task: ObjectGoalTask,
        reach: float = OBJECT_REACH,
        spare: float = 0.25,
        fallbacks: tuple[tuple[float, float], ...] = OBJECT_FALLBACKS,
        slope: float | None = None,
    ) -> None:
        super().__init__(task.camera_body, reach, spare, True, False, fallbacks, slope)
        self._categories = task.categories
        self._batch: NavigationBatch | None = None
        self._shown: dict[int, tuple[int, ...]] = {}

    def attach(self, batch: NavigationBatch) -> None:
        self._batch = batch

    def begin(self, start: Start) -> None:
        super().begin(start)
        if start.boundary >= Boundary.EPISODE:
            self._shown.pop(start.slot, None)

    def goal_label(self, slot: int, observations: Mapping[str, np.ndarray]) -> int:
        return int(observations["objectgoal"][0])

    def masks(
        self, slot: int, observations: Mapping[str, np.ndarray], view: DepthView
    ) -> dict[int, Bool[np.ndarray, "h w"]]:
        goal = self.goal_label(slot, observations)
        if slot not in self._shown:
            self._shown[slot] = self._list_shown(slot, self._categories[goal])
        image = observations["semantic"][..., 0]
        first, *others = self._shown[slot] or (NO_VALUE,)
        mask = image == first
        for value in others:
            mask |= image == value
        return {goal: mask} if mask.any() else {}

    def _list_shown(self, slot: int, goal: str) -> tuple[int, ...]:
        """Values in semantic images of a slot's scene that mean a goal."""
        if self._batch is None:
            raise InputError("expected the agent to be attached to a batch, got an act before attach")
        world = self._batch.simulator.slot_worlds.world(slot)
        return () if world is None else values_of_goal(world.scene, goal, self._categories)


class ClassFinder(SeenFinder):
    """MultiON: goal objects are shown by their class; all are remembered, whichever is to be found now."""

    sensors = ("multiobjectgoal", "semantic")

    def __init__(self, task: MultiOn) -> None:
        super().__init__(task.camera_body, CLASS_REACH, spare=0.15, must_see=False, passable=True)

    def goal_label(self, slot: int, observations: Mapping[str, np.ndarray]) -> int:
        return SEMANTIC_OFFSET + goal_class(observations["multiobjectgoal"])

    def masks(
        self, slot: int, observations: Mapping[str, np.ndarray], view: DepthView
    ) -> dict[int, Bool[np.ndarray, "h w"]]:
        image = observations["semantic"][..., 0]
        goals = image >= SEMANTIC_OFFSET
        if not goals.any():
            return {}
        return {label: image == label for label in np.unique(image[goals]).tolist()}


class CylinderFinder(ClassFinder):
    """MultiON with cylinders, recognised by colour and shape."""

    sensors = ("multiobjectgoal", "rgb")

    def masks(
        self, slot: int, observations: Mapping[str, np.ndarray], view: DepthView
    ) -> dict[int, Bool[np.ndarray, "h w"]]:
        found = find_cylinders(observations["rgb"], view)
        return {SEMANTIC_OFFSET + kind: mask for kind, mask in found.items()}


def values_of_goal(scene: Scene, goal: str, categories: Sequence[str]) -> tuple[int, ...]:
    """The values in semantic images of `scene` that mean `goal`, one of a protocol's `categories`.

    There may be several: a scene distinguishes an office chair from an armchair, where both are a chair.
    """
    names = {one.category for one in scene.objects if word_for(one, categories) == goal}
    return tuple(value for value, name in enumerate(scene.categories, 1) if name in names)


def goal_class(goal: np.ndarray) -> int:
    """The class id in an observation: an integer (1,) or a one-hot vector (K,)."""
    return int(goal[0]) if len(goal) == 1 else int(np.argmax(goal))


def make_cylinder_finder(task: Task) -> GoalFinder:
    """The finder of MultiON's cylinders; raises InputError for another task."""
    return CylinderFinder(require_cylinders(task))


def require_cylinders(task: Task) -> MultiOn:
    """MultiON with cylinders; raises InputError for another task."""
    if not isinstance(task, MultiOn) or task.kind != CYLINDER_GOALS:
        raise InputError(
            f"expected MultiON with cylinders for this agent, got {task.protocol_id!r}; use frontier"
        )
    return task


def make_goal_finder(task: Task) -> GoalFinder:
    """The finder of the goals of `task`; raises InputError for a task without one."""
    if isinstance(task, ObjectNav):
        return ObjectFinder(task)
    if isinstance(task, MultiOn):
        return ClassFinder(task)
    if "pointgoal_with_gps_compass" in task.sensors:
        return PointFinder(task.success_distance)
    advice = "it does not know the goals of this protocol; use another agent"
    if "pointgoal" in task.sensors:
        advice = "use frontier-odometry, which estimates its pose"
    elif isinstance(task, ObjectNavRobothor):
        advice = "use frontier, which knows how far its camera is tilted"
    raise InputError(
        f"expected PointNav, ObjectNav or MultiON for this agent, got {task.protocol_id!r}; {advice}"
    )


def thin(points: Float[np.ndarray, "k 3"]) -> Float[np.ndarray, "m 3"]:
    """At most MAX_POINTS of `points` (K, 3) metres, evenly chosen."""
    return (
        points
        if len(points) <= MAX_POINTS
        else points[np.linspace(0, len(points) - 1, MAX_POINTS).astype(int)]
    )
