"""Pools of goals: the goals of a scene under the names of a split, and counts over scenes."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from jaxtyping import Float

from navarena.core.errors import SceneError
from navarena.episodes.goals import GoalImage, Modality, ObjectInstance, Subtask
from navarena.episodes.goat.descriptions import Describer
from navarena.episodes.goat.names import objects_named
from navarena.episodes.goat.scene_goals import SceneGoals, count_dropped, find_scene_goals
from navarena.episodes.goat.wording import word_description
from navarena.episodes.view_points import SceneViewPoints
from navarena.scenes.scene import SceneObject
from navarena.simulation.navmesh.queries.goal_fields import GoalFields
from navarena.simulation.world import World

MODALITIES: tuple[Modality, ...] = ("object", "description", "image")

SAME_FLOOR = 0.5
"""Metres of height between a start and the middle view point of a goal on its floor."""

SLACK = 0.05
"""Metres by which a straight line may seem longer than the path along the floor: snapping."""


@dataclass(frozen=True)
class Choice:
    """A goal that was drawn: an object under a name.

    Attributes:
        modality: how it is given.
        name: what it is called.
        object_id: the one that is meant; of a category, one of those that count.
    """

    modality: Modality
    name: str
    object_id: int


class GoalPool:
    """The goals of one scene under some names, and the paths to them.

    Args:
        world: of Stretch.
        names: that may be asked for.

    Raises SceneError for a scene whose triangles are not labelled with objects.
    """

    def __init__(self, world: World, names: Sequence[str]) -> None:
        self.world = world
        self.goals: SceneGoals = find_scene_goals(world)
        self.describer = Describer(world.scene, self.goals)
        self._objects = {obj.object_id: obj for obj in world.scene.objects}
        offered = set(self.goals.objects.tolist())
        self._called = {
            name: ids
            for name in names
            if (
                ids := [one.object_id for one in objects_named(world.scene, name) if one.object_id in offered]
            )
        }
        self._floor = {number: self._height(number) for number in sorted(offered)}
        self._all: Mapping[Modality, tuple[Choice, ...]] = {
            modality: tuple(
                Choice(modality, name, number)
                for name in self._called
                for number in self.objects(modality, name)
            )
            for modality in MODALITIES
        }
        self._slots: dict[tuple[int, ...], int] = {}
        self._fields = GoalFields(max(1, len(self._called) + len(offered)))

    @property
    def views(self) -> SceneViewPoints:
        """The view points of the scene."""
        return self.goals.views

    def objects(self, modality: Modality, name: str) -> list[int]:
        """Ids of the objects that can be asked for so."""
        return [number for number in self._called.get(name, []) if self._can_specify(modality, name, number)]

    def choices(self, modality: Modality) -> tuple[Choice, ...]:
        """All goals that can be given by the modality, those of one name in a row."""
        return self._all[modality]

    def undescribed(self) -> int:
        """Objects that are seen well enough to be described, but under no name by words of their own."""
        described = {choice.object_id for choice in self.choices("description")}
        seen = {number for found in self._called.values() for number in found} & set(self.goals.described)
        return len(seen - described)

    def on_floor(self, modality: Modality, height: float) -> tuple[Choice, ...]:
        """The goals of the modality on the floor at `height`, metres, those of one name in a row."""
        return tuple(choice for choice in self.choices(modality) if self._is_near(choice.object_id, height))

    def meant(self, choice: Choice) -> tuple[int, ...]:
        """Ids of all objects that count: of a category all of the scene, else the one."""
        return tuple(self._called[choice.name]) if choice.modality == "object" else (choice.object_id,)

    def places(self, choice: Choice) -> Float[np.ndarray, "g 3"]:
        """(G, 3) metres: the view points that fulfil a goal."""
        return self.views.positions[self.views.rows_of_objects(self.meant(choice))]

    def distance(self, choice: Choice, point: Float[np.ndarray, "3"]) -> float:
        """Metres along the floor from `point` (3,) to the nearest view point; infinite without a path."""
        key = self.meant(choice)
        if key not in self._slots:
            self._slots[key] = len(self._slots)
            self._fields.set_goals(self._slots[key], self.world.navmesh, self.places(choice))
        return float(self._fields.distance([self._slots[key]], point[None])[0])

    def arrival(
        self, choice: Choice, point: Float[np.ndarray, "3"], distance: float
    ) -> Float[np.ndarray, "3"]:
        """(3,) metres: the view point that is `distance` metres along the floor from `point` (3,)."""
        places = self.places(choice)
        places = places[np.linalg.norm(places - point, axis=1) <= distance + SLACK]
        distances = self.world.navmesh.geodesic_distance(np.tile(point, (len(places), 1)), places)
        return places[int(np.argmin(distances))]

    def subtask(self, choice: Choice, generator: np.random.Generator) -> Subtask:
        """The goal as an episode holds it; image and words are drawn."""
        instances = tuple(self._instance(number, choice.name) for number in self.meant(choice))
        return Subtask(
            choice.modality,
            choice.name,
            instances,
            self._words(choice, generator) if choice.modality == "description" else "",
            self._image(choice, generator) if choice.modality == "image" else None,
        )

    def _words(self, choice: Choice, generator: np.random.Generator) -> str:
        description = self.describer.describe(choice.object_id, choice.name)
        if description is None:
            raise SceneError(
                f"expected words that distinguish object {choice.object_id} ({choice.name}) in "
                f"{self.world.scene_id!r}, got none; leave it out, or ask for it by an image"
            )
        return word_description(description, generator)

    def _image(self, choice: Choice, generator: np.random.Generator) -> GoalImage:
        images = self.goals.images(choice.object_id)
        return images[int(generator.integers(len(images)))]

    def _can_specify(self, modality: Modality, name: str, number: int) -> bool:
        if modality == "image":
            return self.goals.has_image(number)
        if modality == "description":
            return number in self.goals.described and self.describer.describe(number, name) is not None
        return True

    def _instance(self, number: int, name: str) -> ObjectInstance:
        obj: SceneObject = self._objects[number]
        return ObjectInstance(str(number), name, obj.center, name=f"{obj.category}_{number}")

    def _height(self, number: int) -> float:
        """Metres of the floor from which an object is seen."""
        return float(np.median(self.views.positions[self.views.rows_of_objects([number]), 1]))

    def _is_near(self, number: int, height: float) -> bool:
        return abs(self._floor[number] - height) <= SAME_FLOOR


UNDESCRIBED = "description: no words distinguish it"


@dataclass
class GoalCounts:
    """Counts over scenes, under the names of one split.

    Attributes:
        scenes: looked at.
        objects: modality -> goals, each object once in its scene.
        names_by_modality: modality -> names of at least one goal.
        images: cameras of all goals.
        view_points: of all goals by category.
        without: modality -> scenes that have no such goal.
        dropped: modality and reason -> goals that are missing, whatever their names.
    """

    scenes: int = 0
    objects: dict[str, int] = field(default_factory=lambda: dict.fromkeys(MODALITIES, 0))
    names_by_modality: dict[str, set[str]] = field(
        default_factory=lambda: {modality: set() for modality in MODALITIES}
    )
    images: int = 0
    view_points: int = 0
    without: dict[str, int] = field(default_factory=lambda: dict.fromkeys(MODALITIES, 0))
    dropped: dict[str, int] = field(default_factory=dict)

    @property
    def names(self) -> int:
        """Names that at least one goal has."""
        return len(set().union(*self.names_by_modality.values()))

    def add(self, pool: GoalPool) -> None:
        """Count the goals of one more scene."""
        self.scenes += 1
        for modality in MODALITIES:
            choices = pool.choices(modality)
            self.objects[modality] += len({choice.object_id for choice in choices})
            self.names_by_modality[modality] |= {choice.name for choice in choices}
            self.without[modality] += not choices
        shown = {choice.object_id for choice in pool.choices("image")}
        self.images += sum(len(pool.goals.images(number)) for number in shown)
        seen = sorted({choice.object_id for choice in pool.choices("object")})
        self.view_points += len(pool.views.rows_of_objects(seen))
        for reason, count in count_dropped(pool.goals.dropped).items():
            self.dropped[reason] = self.dropped.get(reason, 0) + count
        undescribed = pool.undescribed()
        if undescribed:
            self.dropped[UNDESCRIBED] = self.dropped.get(UNDESCRIBED, 0) + undescribed


def count_goals(pools: Iterable[GoalPool]) -> GoalCounts:
    """The counts over some scenes."""
    counts = GoalCounts()
    for pool in pools:
        counts.add(pool)
    return counts
