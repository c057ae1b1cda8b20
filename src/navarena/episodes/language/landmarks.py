"""Objects that a route can name, and the fewest words that distinguish one from others in its room."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

from navarena.scenes.scene import SceneObject

STRUCTURE = frozenset(
    ("wall", "floor", "ceiling", "door", "window", "stairs", "ceiling_lamp", "blinds", "curtain")
)
"""Categories that no route names: they are everywhere, or named otherwise."""

MIN_WIDTH = 0.2
"""Metres, half the longer side on the floor, from which on an object catches the eye in passing."""

MIN_HEIGHT = 0.3
"""Metres of height from which on it does."""

NAMED_ATTRIBUTES = ("color", "material", "size", "shape", "pattern")
"""Attributes a person would use, the most usual first."""

MAX_ATTRIBUTES = 2


@dataclass(frozen=True)
class Landmark:
    """An object as it is named.

    Attributes:
        category: such as "armchair".
        attributes: (name, value) of those that are said, such as (("color", "red"),); as many as it
            takes to distinguish it from the others of its category in its room.
    """

    category: str
    attributes: tuple[tuple[str, str], ...] = ()

    def fits(self, obj: SceneObject) -> bool:
        """Whether the words are true of `obj`."""
        return obj.category == self.category and all(
            obj.attributes.get(name) == value for name, value in self.attributes
        )

    @property
    def words(self) -> str:
        """Such as "large red armchair"; without an article."""
        said = dict(self.attributes)
        adjectives = [said[name] for name in ("size", "color", "pattern", "material") if name in said]
        noun = self.category.replace("_", " ")
        shape = f" ({said['shape']})" if "shape" in said else ""
        return " ".join([*adjectives, noun]) + shape


def is_salient(obj: SceneObject) -> bool:
    """Whether a person would notice `obj` in passing: no structure, and large enough."""
    half_x, half_y, half_z = obj.half_size
    large = max(half_x, half_z) >= MIN_WIDTH and 2 * half_y >= MIN_HEIGHT
    return large and obj.category not in STRUCTURE


def name_landmark(obj: SceneObject, others: Sequence[SceneObject]) -> Landmark | None:
    """The shortest name of `obj` that is true of none of `others`.

    None when MAX_ATTRIBUTES attributes cannot distinguish it.
    """
    rivals = [other for other in others if other.object_id != obj.object_id]
    for attributes in _choices(obj):
        landmark = Landmark(obj.category, attributes)
        if not any(landmark.fits(rival) for rival in rivals):
            return landmark
    return None


def _choices(obj: SceneObject) -> Iterator[tuple[tuple[str, str], ...]]:
    """Sets of attributes of `obj`, fewest first, the most usual first."""
    known = [
        (name, obj.attributes[name])
        for name in NAMED_ATTRIBUTES
        if obj.attributes.get(name, "plain") != "plain"
    ]
    for count in range(MAX_ATTRIBUTES + 1):
        yield from combinations(known, count)
