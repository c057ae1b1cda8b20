"""Spatial relations of objects, with strict margins for saying them and loose ones for understanding them.

Each relation has two measures. A claim is made only with a clear margin (`Strictness.CLAIM`); an object
counts as a rival to which a description fits, too, already where it holds loosely (`Strictness.LOOSE`). So
a reader who measures by eye understands the right one.
"""

import math
from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from typing import Literal, get_args

import numpy as np
from jaxtyping import Bool, Float

from navarena.episodes.view_points import box_distance
from navarena.scenes.scene import SceneObject

RelationKind = Literal["on", "above", "below", "in front of", "between", "left of", "right of", "near"]

KINDS: tuple[RelationKind, ...] = get_args(RelationKind)
"""The most specific first."""


class Strictness(Enum):
    """Whether a relation is to be said, or could be understood."""

    CLAIM = "claim"
    LOOSE = "loose"


@dataclass(frozen=True)
class Margins:
    """Limits of the relations, in metres unless said otherwise.

    Attributes:
        rest: between the foot of an object and the top of what it is on.
        overhang: by which the middle of an object may lie beyond the plan of what it is on, above or below.
        lift: between an object and what it is above.
        near: between the boxes of two objects.
        ahead: between an object and the front of what it is in front of.
        beside: between the boxes of objects side by side.
        aslant: most depth between objects side by side, in parts of the sideways distance.
        off_line: from the line between two objects, in parts of its length.
    """

    rest: float
    overhang: float
    lift: float
    near: float
    ahead: float
    beside: float
    aslant: float
    off_line: float


MARGINS = {
    Strictness.CLAIM: Margins(0.06, 0.0, 0.1, 0.5, 1.0, 1.0, 0.6, 0.2),
    Strictness.LOOSE: Margins(0.12, 0.15, 0.0, 1.2, 1.8, 2.0, 1.2, 0.4),
}

MIN_STEP = 0.15
"""Metres from the foot of an object up to the lowest board that something can be on."""

MIN_SIDEWAYS = 0.25
"""Metres sideways from which on an object is left or right of another."""


class Layout:
    """The boxes of a scene, and the gaps between them."""

    def __init__(self, objects: tuple[SceneObject, ...]) -> None:
        self.objects = objects
        self._row = {obj.object_id: k for k, obj in enumerate(objects)}

    @cached_property
    def gaps(self) -> Float[np.ndarray, "o o"]:
        """(O, O) metres between the boxes of objects, from 27 points of each to the box of the other."""
        points = np.stack([_grid_on(obj) for obj in self.objects])
        flat = points.reshape(-1, 3)
        one_sided = np.stack(
            [box_distance(obj, flat).reshape(len(points), -1).min(1) for obj in self.objects]
        )
        return np.minimum(one_sided, one_sided.T)

    def gap(self, one: SceneObject, other: SceneObject) -> float:
        """Metres between the boxes of two objects."""
        return float(self.gaps[self._row[one.object_id], self._row[other.object_id]])

    def holds(
        self,
        kind: RelationKind,
        obj: SceneObject,
        others: tuple[SceneObject, ...],
        eyes: Float[np.ndarray, "e 3"],
        strictness: Strictness,
    ) -> bool:
        """Whether `obj` is so to `others`: one, or two for "between".

        Args:
            kind: the relation.
            obj: of which it is said.
            others: to which it is so.
            eyes: (E, 3) metres, world frame: left and right hold where they hold from one of them.
            strictness: whether it is to be said, or could be understood.
        """
        limit = MARGINS[strictness]
        if any(other.level != obj.level for other in others):
            return False
        first = others[0]
        if kind == "on":
            return is_on(obj, first, limit)
        if kind == "above":
            return is_above(obj, first, limit)
        if kind == "below":
            return is_above(first, obj, limit)
        if kind == "in front of":
            return is_in_front(obj, first, limit) and self.gap(obj, first) <= limit.ahead
        if kind == "between":
            close = all(self.gap(obj, other) <= limit.beside for other in others)
            return close and is_between(obj, others[0], others[1], limit)
        if kind == "near":
            return self.gap(obj, first) <= limit.near
        if self.gap(obj, first) > limit.beside or not _same_height(obj, first):
            return False
        return bool(is_beside(obj, first, eyes, 1 if kind == "right of" else -1, limit).any())


def is_on(obj: SceneObject, base: SceneObject, limit: Margins) -> bool:
    """Whether `obj` stands or lies on `base`, or on one of its boards."""
    foot, low = _foot(obj), _foot(base)
    high = low + 2 * base.half_size[1]
    level = low + MIN_STEP <= foot <= high + limit.rest
    smaller = obj.half_size[0] * obj.half_size[2] <= base.half_size[0] * base.half_size[2]
    return level and smaller and _beyond(obj, base) <= limit.overhang


def is_above(obj: SceneObject, base: SceneObject, limit: Margins) -> bool:
    """Whether `obj` hangs over `base` without touching it."""
    lifted = _foot(obj) >= _foot(base) + 2 * base.half_size[1] + limit.lift
    return lifted and _beyond(obj, base) <= max(limit.overhang, REACH_ABOVE)


REACH_ABOVE = 0.25
"""Metres beyond the plan of an object that count as above it: images hang on the wall behind it."""


def is_in_front(obj: SceneObject, base: SceneObject, limit: Margins) -> bool:
    """Whether the middle of `obj` lies ahead of the front of `base`; objects face along their -z axis."""
    right, back = _in_frame(obj, base)
    return -back > base.half_size[2] and abs(right) <= base.half_size[0] + limit.overhang


def is_between(obj: SceneObject, one: SceneObject, other: SceneObject, limit: Margins) -> bool:
    """Whether the middle of `obj` lies near the middle of the line from `one` to `other`, on the plan."""
    start, end = _plan(one), _plan(other)
    along = end - start
    length = float(np.hypot(*along))
    if length < 2 * MIN_SIDEWAYS:
        return False
    offset = _plan(obj) - start
    share = float(offset @ along) / length**2
    aside = abs(float(along[0] * offset[1] - along[1] * offset[0])) / length
    return 0.2 <= share <= 0.8 and aside <= limit.off_line * length


def is_beside(
    obj: SceneObject, base: SceneObject, eyes: Float[np.ndarray, "e 3"], side: int, limit: Margins
) -> Bool[np.ndarray, "e"]:
    """(E,) whether `obj` lies to the right (side 1) or left (-1) of `base`, seen from each eye."""
    offset = _plan(obj) - _plan(base)
    middle = (_plan(obj) + _plan(base)) / 2
    ahead = middle - np.asarray(eyes, float)[:, [0, 2]]
    ahead = ahead / np.maximum(np.linalg.norm(ahead, axis=1, keepdims=True), 1e-9)
    sideways = side * (offset[1] * ahead[:, 0] - offset[0] * ahead[:, 1])
    depth = np.abs(ahead @ offset)
    return (sideways >= MIN_SIDEWAYS) & (depth <= limit.aslant * sideways)


def _same_height(one: SceneObject, other: SceneObject) -> bool:
    """Whether the boxes overlap in height."""
    return abs(one.center[1] - other.center[1]) <= one.half_size[1] + other.half_size[1]


def _foot(obj: SceneObject) -> float:
    return obj.center[1] - obj.half_size[1]


def _plan(obj: SceneObject) -> Float[np.ndarray, "2"]:
    return np.array([obj.center[0], obj.center[2]])


def _in_frame(obj: SceneObject, base: SceneObject) -> tuple[float, float]:
    """The middle of `obj` in the frame of `base`: metres along its x and z axes."""
    east, south = _plan(obj) - _plan(base)
    cosine, sine = math.cos(base.yaw), math.sin(base.yaw)
    return float(cosine * east - sine * south), float(sine * east + cosine * south)


def _beyond(obj: SceneObject, base: SceneObject) -> float:
    """Metres by which the middle of `obj` lies beyond the plan of `base`."""
    right, back = _in_frame(obj, base)
    return max(abs(right) - base.half_size[0], abs(back) - base.half_size[2], 0.0)


def _grid_on(obj: SceneObject) -> Float[np.ndarray, "27 3"]:
    """(27, 3) corners, middles of edges and faces, and the centre of a box, metres, world frame."""
    steps = np.stack(np.meshgrid(*[[-1.0, 0.0, 1.0]] * 3, indexing="ij"), -1).reshape(-1, 3)
    own = steps * obj.half_size
    cosine, sine = math.cos(obj.yaw), math.sin(obj.yaw)
    turned = np.stack(
        [cosine * own[:, 0] + sine * own[:, 2], own[:, 1], cosine * own[:, 2] - sine * own[:, 0]], 1
    )
    return turned + obj.center
