"""Facts that distinguish an object in its scene: attributes, room, and relations to objects around it."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from jaxtyping import Float

from navarena.episodes.goat.appearance import describable_attributes, is_alike, say
from navarena.episodes.goat.names import is_called
from navarena.episodes.goat.relations import KINDS, Layout, RelationKind, Strictness
from navarena.episodes.goat.scene_goals import DescriptionView, SceneGoals
from navarena.episodes.goat.settings import EYE_HEIGHT
from navarena.episodes.language.landmarks import STRUCTURE, Landmark, is_salient, name_landmark
from navarena.scenes.scene import Scene, SceneObject

MAX_RELATIONS = 10
"""Relations of an object among which those of its description are chosen."""

MAX_PAIRED = 6
"""Objects around an object, largest in the image first, of which two may lie on both sides of it."""

FACT_COUNTS = ((1, 0), (1, 1), (2, 0), (2, 1), (1, 2), (2, 2), (3, 1), (3, 2), (0, 1), (0, 2), (0, 3))
"""Numbers of relations, and of attributes besides the colour, in the order in which they are tried."""


@dataclass(frozen=True)
class Relation:
    """Spatial relation of an object to one landmark, or to two."""

    kind: RelationKind
    landmarks: tuple[Landmark, ...]


@dataclass(frozen=True)
class Description:
    """Facts that describe an object.

    Attributes:
        name: what it is called.
        attributes: (name, value) of those that are said.
        room: category of the room it is in; empty where the scene has no rooms.
        relations: how it lies to other objects.
    """

    name: str
    attributes: tuple[tuple[str, str], ...]
    room: str = ""
    relations: tuple[Relation, ...] = ()


class Describer:
    """Makes descriptions of objects in one scene, and finds the objects that they match.

    Args:
        scene: with objects.
        goals: of the scene.
    """

    def __init__(self, scene: Scene, goals: SceneGoals) -> None:
        self.scene, self._goals = scene, goals
        self._objects = {obj.object_id: obj for obj in scene.objects}
        self._rooms = {room.room_id: room.category for room in scene.rooms}
        self._layout = Layout(scene.objects)
        self._eyes: dict[int, np.ndarray] = {}
        self._found: dict[tuple[int, str], Description | None] = {}

    def can_describe(self, object_id: int) -> bool:
        """Whether an object is seen well enough to be described."""
        return object_id in self._goals.described

    def describe(self, object_id: int, name: str) -> Description | None:
        """The fewest facts that fit no other object that may be called `name`; None where all of them do.

        Raises KeyError for an object that is not `described` in the goals.
        """
        key = (object_id, name)
        if key not in self._found:
            self._found[key] = self._describe(
                self._objects[object_id], name, self._goals.described[object_id]
            )
        return self._found[key]

    def matches(self, description: Description, eye: Float[np.ndarray, "3"] | None = None) -> list[int]:
        """Ids of all objects that match a description.

        `eye` is a further place, (3,) metres, from which left and right may be meant.
        """
        return [
            obj.object_id
            for obj in self.scene.objects
            if may_be_called(obj, description.name)
            and self.may_have(obj, description.attributes)
            and description.room in ("", self.room_of(obj))
            and all(self.may_lie(obj, relation, eye) for relation in description.relations)
        ]

    def _describe(self, obj: SceneObject, name: str, sight: DescriptionView) -> Description | None:
        rivals = [
            other
            for other in self.scene.objects
            if other.object_id != obj.object_id and may_be_called(other, name)
        ]
        eye = np.array(sight.eye)
        attributes = describable_attributes(obj)
        colors = tuple(one for one in attributes if one[0] == "color")
        others = tuple(one for one in attributes if one[0] != "color")
        room = self.room_of(obj)
        left = {
            other.object_id
            for other in rivals
            if self.may_have(other, colors) and room in ("", self.room_of(other))
        }
        known = {other.object_id: other for other in rivals}
        relations = list(self._relations(obj, sight))[:MAX_RELATIONS]
        excluded_by_attribute = {
            one: {number for number in left if not self.may_have(known[number], (one,))} for one in others
        }
        excluded_by_relation = {
            relation: {number for number in left if not self.may_lie(known[number], relation, eye)}
            for relation in relations
        }
        for stated, extra in _choices(relations, others):
            excluded: set[int] = set()
            excluded.update(*(excluded_by_relation[relation] for relation in stated))
            excluded.update(*(excluded_by_attribute[one] for one in extra))
            if excluded >= left:
                return Description(name, (*colors, *extra), room, stated)
        return None

    def _relations(self, obj: SceneObject, sight: DescriptionView) -> Iterator[Relation]:
        """Relations of `obj` to the objects around it, the most specific first; one for each."""
        eyes = np.array([sight.eye])
        around = [self._objects[number] for number in sight.neighbours]
        around = [one for one in around if one.category != obj.category]
        taken: set[int] = set()
        for kind in KINDS:
            if kind == "on" and obj.category in STRUCTURE:
                continue
            sets: Sequence[tuple[SceneObject, ...]] = [(one,) for one in around]
            if kind == "in front of":  # windows and curtains have no front
                sets = [(one,) for one in around if one.category not in STRUCTURE]
            if kind == "between":
                sets = list(combinations([one for one in around if is_salient(one)][:MAX_PAIRED], 2))
            for others in sets:
                if taken & {one.object_id for one in others}:
                    continue
                if self._layout.holds(kind, obj, others, eyes, Strictness.CLAIM):
                    taken.update(one.object_id for one in others)
                    yield Relation(kind, tuple(self._mention(one) for one in others))

    def _mention(self, obj: SceneObject) -> Landmark:
        """The shortest name of a landmark in its room, or its bare category."""
        roommates = [other for other in self.scene.objects if other.room == obj.room]
        landmark = name_landmark(obj, roommates)
        if landmark is None or any(say(name, value) is None for name, value in landmark.attributes):
            return Landmark(obj.category)
        return landmark

    def room_of(self, obj: SceneObject) -> str:
        """The category of the room that `obj` is in; empty where the scene does not say."""
        return "" if obj.room is None else self._rooms.get(obj.room, "")

    def may_have(self, obj: SceneObject, attributes: Sequence[tuple[str, str]]) -> bool:
        """Whether a reader may find `attributes` true of `obj`."""
        return all(is_alike(name, value, obj.attributes.get(name)) for name, value in attributes)

    def may_lie(
        self, obj: SceneObject, relation: Relation, eye: Float[np.ndarray, "3"] | None = None
    ) -> bool:
        """Whether `obj` may be said to be so to any objects that the landmarks fit.

        `eye` is a further place, (3,) metres, from which left and right may be meant.
        """
        eyes = self._eyes_of(obj)
        if eye is not None:
            eyes = np.concatenate([eyes, eye[None]])
        fitting = [
            [
                other
                for other in self.scene.objects
                if other.object_id != obj.object_id
                and other.category == landmark.category
                and self.may_have(other, landmark.attributes)
            ]
            for landmark in relation.landmarks
        ]
        return any(
            self._layout.holds(relation.kind, obj, others, eyes, Strictness.LOOSE)
            for others in _each(fitting)
        )

    def _eyes_of(self, obj: SceneObject) -> Float[np.ndarray, "e 3"]:
        """(E, 3) metres: from where an object may be looked at; none without view points."""
        number = obj.object_id
        if number not in self._eyes:
            rows = self._goals.views.rows_of_objects([number])
            self._eyes[number] = self._goals.views.positions[rows] + [0.0, EYE_HEIGHT, 0.0]
        return self._eyes[number]


def may_be_called(obj: SceneObject, name: str) -> bool:
    """Whether a reader may call `obj` so: its own name, or the end of it ("table" for a coffee table)."""
    own = obj.category.replace("_", " ")
    return is_called(obj, name) or own == name or own.endswith(f" {name}")


def _choices(
    relations: Sequence[Relation], attributes: Sequence[tuple[str, str]]
) -> Iterator[tuple[tuple[Relation, ...], tuple[tuple[str, str], ...]]]:
    for count, extra in FACT_COUNTS:
        for stated in combinations(relations, count):
            for said in combinations(attributes, extra):
                yield stated, said
    yield (), ()


def _each(fitting: Sequence[Sequence[SceneObject]]) -> Iterator[tuple[SceneObject, ...]]:
    """One of each list, no object twice."""
    if len(fitting) == 1:
        yield from ((one,) for one in fitting[0])
        return
    for one in fitting[0]:
        for other in fitting[1]:
            if one.object_id != other.object_id:
                yield one, other
