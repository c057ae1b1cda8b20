"""The list of the published houses with a digest of each: `houses_v1.json`.

A digest is the beginning of `HousePlan.digest`, a hash over whole numbers and names alone, so
that the list is the same on every machine. `scripts/list_houses.py` writes it; what changes a
house of a published set makes a new set. Seeds follow each other but for those of `splits.REPLACED_SEEDS`.
"""

from collections.abc import Iterable
from functools import cache
from importlib import resources

import msgspec

from navarena.core.errors import UnknownNameError
from navarena.scenes.houses.generator import draw_house
from navarena.scenes.houses.splits import house_seed, house_settings

LISTED_SET = "houses-v1"
FILE_NAME = "houses_v1.json"
DIGITS = 16
"""Hexadecimal digits of a listed digest."""


class HouseListing(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The published houses.

    Attributes:
        name: of the set.
        seeds: split -> seed of each house, in order.
        digests: split -> DIGITS hexadecimal digits of each house.
    """

    name: str
    seeds: dict[str, tuple[int, ...]]
    digests: dict[str, tuple[str, ...]]


@cache
def load_listing() -> HouseListing:
    """The list as shipped."""
    text = resources.files("navarena.scenes.houses").joinpath(FILE_NAME).read_bytes()
    return msgspec.json.decode(text, type=HouseListing)


def house_digest(split: str, index: int) -> str:
    """The digest of a house as this machine draws it."""
    return draw_house(house_seed(split, index, LISTED_SET), house_settings(split, LISTED_SET)).digest()[
        :DIGITS
    ]


def changed_houses(houses: Iterable[tuple[str, int]]) -> list[str]:
    """Ids of those of the (split, index) houses that this machine draws unlike the list.

    Raises UnknownNameError for a house that is not listed.
    """
    listing = load_listing()
    changed = []
    for split, index in houses:
        listed = listing.digests.get(split, ())
        if not 0 <= index < len(listed):
            raise UnknownNameError(f"expected a listed house of {LISTED_SET}, got {split}/{index:05d}")
        if house_digest(split, index) != listed[index]:
            changed.append(f"{LISTED_SET}/{split}/{index:05d}")
    return changed
