"""Houses that networks learn from and are scored in: the first ones of a split."""

from collections.abc import Mapping
from typing import Any

from navarena.core.errors import InputError
from navarena.learning.perception.settings import ImageSettings
from navarena.scenes.catalog import scene_ids


def require_unseen(split: str, noun: str) -> None:
    """Raise InputError for the split that networks learn from; `noun` is what is scored: "the segmenter"."""
    if split == "train":
        raise InputError(f"expected houses that {noun} has not learned from, got train; choose val")


def learned_scenes(recipe: Mapping[str, Any]) -> str:
    """The set of scenes whose images a network learned from, by its recipe as plain values.

    That of the generated houses where it names none, as of imported weights.
    """
    return str(recipe.get("images", {}).get("scenes", ImageSettings.scenes))


def first_scene_ids(set_name: str, split: str, count: int) -> list[str]:
    """The ids of the first `count` scenes of a split; raises InputError for more than it has."""
    ids = scene_ids(set_name, split)
    if not 1 <= count <= len(ids):
        raise InputError(f"expected 1 to {len(ids)} houses of {set_name}/{split}, got houses={count}")
    return ids[:count]
