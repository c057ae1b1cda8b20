"""Ids of apartments and of their twins: the same scenes as they look from a robot."""

from navarena.core.errors import InputError

APARTMENT_SET = "robothor-like-v1"
TWIN_SET = "robothor-like-v1-twin"
"""Ids of twins differ from those of their apartments in this name alone."""


def twin_of(scene_id: str) -> str:
    """The id of the twin of an apartment, such as robothor-like-v1-twin/val/00003; of a twin, its own.

    Raises InputError for the id of another set.
    """
    name, slash, rest = scene_id.partition("/")
    if name not in (APARTMENT_SET, TWIN_SET) or not slash:
        raise InputError(
            f"expected the id of an apartment such as {APARTMENT_SET}/val/00003, got {scene_id!r}"
        )
    return f"{TWIN_SET}/{rest}"


def original_of(scene_id: str) -> str:
    """The id of the apartment whose twin this is; every other id stays as it is."""
    name, slash, rest = scene_id.partition("/")
    return f"{APARTMENT_SET}{slash}{rest}" if name == TWIN_SET else scene_id
