"""The list of the published apartments with a digest of each: `robothor_like_v1.json`.

A digest is the beginning of `HousePlan.digest`, a hash over whole numbers and names alone, so that the
list is the same on every machine. `scripts/list_apartments.py` writes it; what changes an apartment or a
twin of a published set makes a new set.
"""

from functools import cache
from importlib import resources

import msgspec

from navarena.scenes.apartments.generator import draw_apartment, draw_twin
from navarena.scenes.apartments.splits import APARTMENT_SPLITS

FILE_NAME = "robothor_like_v1.json"
DIGITS = 16
"""Hexadecimal digits of a listed digest."""


class ApartmentListing(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The published apartments: split -> DIGITS hexadecimal digits of each, and of each one's twin."""

    apartments: dict[str, tuple[str, ...]]
    twins: dict[str, tuple[str, ...]]


@cache
def load_apartment_listing() -> ApartmentListing:
    """The list as shipped."""
    text = resources.files("navarena.scenes.apartments").joinpath(FILE_NAME).read_bytes()
    return msgspec.json.decode(text, type=ApartmentListing)


def draw_apartment_listing() -> ApartmentListing:
    """The list as this machine draws it (some tens of seconds)."""
    return ApartmentListing(
        {split: tuple(apartment_digest(split, k) for k in range(n)) for split, n in APARTMENT_SPLITS.items()},
        {split: tuple(twin_digest(split, k) for k in range(n)) for split, n in APARTMENT_SPLITS.items()},
    )


def apartment_digest(split: str, index: int) -> str:
    """The digest of an apartment as this machine draws it."""
    return draw_apartment(split, index).digest()[:DIGITS]


def twin_digest(split: str, index: int) -> str:
    """The digest of an apartment's twin as this machine draws it."""
    return draw_twin(split, index).digest()[:DIGITS]
