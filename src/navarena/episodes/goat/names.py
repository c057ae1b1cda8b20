"""Names of the objects of a scene: those of the benchmark's splits, and synonyms."""

from collections.abc import Sequence
from functools import cache

from navarena.core.errors import require_name
from navarena.scenes.houses.vocabulary import EVERYDAY_NAMES, GOAT, GOAT_SPLITS, goat_names
from navarena.scenes.scene import Scene, SceneObject


def is_called(obj: SceneObject, name: str) -> bool:
    """Whether `name` stands for `obj`: for its category, or in the attribute `goal` of scans."""
    return obj.category in GOAT.get(name, (name,)) or name in (obj.category, obj.attributes.get("goal"))


def objects_named(scene: Scene, name: str) -> list[SceneObject]:
    """The objects of a scene that `name` stands for, by id."""
    return [obj for obj in scene.objects if is_called(obj, name)]


def names_of_split(split: str) -> tuple[str, ...]:
    """The names that a split asks for; all of them for a split that is not the benchmark's own."""
    return goat_names(split) if split in GOAT_SPLITS else tuple(GOAT)


def names_for(obj: SceneObject, names: Sequence[str]) -> list[str]:
    """Those of `names` that stand for `obj`."""
    return [name for name in names if is_called(obj, name)]


@cache
def find_synonyms(name: str) -> tuple[str, ...]:
    """Other names for exactly what `name` stands for, in order of the vocabulary; may be none.

    "couch" -> ("sofa seat", "sofa set", "sofa"). Raises UnknownNameError for a name that GOAT-Bench's
    vocabulary in houses does not have.
    """
    meant = GOAT[require_name("name of GOAT-Bench", name, GOAT)]
    listed = [other for other, found in GOAT.items() if set(found) == set(meant)]
    everyday = EVERYDAY_NAMES.get(meant[0], (meant[0].replace("_", " "),)) if len(meant) == 1 else ()
    own = [other for other in everyday if set(GOAT.get(other, meant)) == set(meant)]
    return tuple(other for other in dict.fromkeys((*listed, *own)) if other != name)
