"""The published sets of houses: seeds and settings of each split, digests of each house, and the scene sets.

`houses_v1.json` lists the digests. Each is the beginning of `HousePlan.digest`, a hash over whole numbers and
names alone, so that the list is the same on every machine. `scripts/list_houses.py` writes it; what changes a
house of a published set makes a new set. Seeds follow each other but for those of REPLACED_SEEDS.
"""

from collections.abc import Iterable, Mapping
from functools import cache
from importlib import resources
from pathlib import Path

import msgspec

from navarena.core.errors import InputError, UnknownNameError, require_name
from navarena.core.sources import source_fingerprint
from navarena.scenes.houses.building import build_house
from navarena.scenes.houses.goat_vocabulary import UNSEEN_CATEGORIES
from navarena.scenes.houses.settings import HouseSettings
from navarena.scenes.scene import Scene
from navarena.scenes.scene_set import SceneSet

HOUSE_SPLITS: Mapping[str, int] = {"train": 800, "val": 100, "test": 100}
"""Number of houses in each split, of every set."""

MINI_HOUSES = 10
"""The split `mini` holds this many of the first houses of `val`, for runs that take seconds."""

_GENERATOR = Path(__file__).with_name("generator.py")

LISTED_SET = "houses-v1"
FILE_NAME = "houses_v1.json"
DIGITS = 16
"""Hexadecimal digits of a listed digest."""

FIRST_SEED: Mapping[str, Mapping[str, int]] = {
    "houses-v0": {"train": 0, "val": 100_000, "test": 200_000},
    "houses-v1": {"train": 1_000_000, "val": 1_100_000, "test": 1_200_000},
}
"""Seed of house 0 of each split; the distances exceed the sizes, so seeds are disjoint."""
REPLACED_SEEDS: Mapping[tuple[str, str, int], int] = {
    ("houses-v1", "train", 138): 1_000_800,
    ("houses-v1", "train", 407): 1_000_801,
    ("houses-v1", "val", 8): 1_100_100,
    ("houses-v1", "test", 19): 1_200_100,
}
"""(set, split, index) -> seed of the houses whose own seed gives one of which less than 98 % of a storey can
be reached. They take the next seeds behind their split."""


SETTINGS: Mapping[str, Mapping[str, HouseSettings]] = {
    "houses-v0": dict.fromkeys(HOUSE_SPLITS, HouseSettings(storeys=1, area_m2=(0, 400), narrowest_percent=0)),
    "houses-v1": {
        "train": HouseSettings(clutter_percent=None, without=UNSEEN_CATEGORIES),
        "val": HouseSettings(clutter_percent=None),
        "test": HouseSettings(clutter_percent=None),
    },
}
"""What the houses of each split are drawn with; train houses lack the unseen categories of GOAT-Bench."""


def house_settings(split: str, name: str = "houses-v1") -> HouseSettings:
    """The settings of all houses of `split` of the set `name`; raises UnknownNameError."""
    require_name("house set", name, SETTINGS)
    require_name("house split", split, HOUSE_SPLITS)
    return SETTINGS[name][split]


def house_seed(split: str, index: int, name: str = "houses-v1") -> int:
    """The seed of house `index` (from 0) of `split` of the set `name`.

    Raises UnknownNameError for another set or split and InputError for an index outside it.
    """
    require_name("house set", name, FIRST_SEED)
    require_name("house split", split, HOUSE_SPLITS)
    if not 0 <= index < HOUSE_SPLITS[split]:
        raise InputError(
            f"expected a house index in [0, {HOUSE_SPLITS[split] - 1}] of split {split!r}, got {index}"
        )
    return REPLACED_SEEDS.get((name, split, index), FIRST_SEED[name][split] + index)


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
    from navarena.scenes.houses.generator import draw_house  # compiles kernels

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


def make_house_set(name: str, description: str) -> SceneSet:
    """The set `name`, its houses drawn with the seeds and settings of its splits."""

    def recipe_of(scene_id: str) -> tuple[int, HouseSettings]:
        _, split, index = scene_id.split("/")
        return house_seed(split, int(index), name), house_settings(split, name)

    def build(scene_id: str) -> Scene:
        return build_house(*recipe_of(scene_id), scene_id)

    def fingerprint(scene_id: str) -> str:
        seed, settings = recipe_of(scene_id)
        return f"{source_fingerprint(_GENERATOR)} {seed} {settings}"

    def ids(split: str, count: int) -> tuple[str, ...]:
        return tuple(f"{name}/{split}/{index:05d}" for index in range(count))

    splits = {split: ids(split, count) for split, count in HOUSE_SPLITS.items()}
    return SceneSet(name, {**splits, "mini": ids("val", MINI_HOUSES)}, build, fingerprint, description)


HOUSES_V0 = make_house_set(
    "houses-v0", "generated furnished houses of one storey, 1 to 12 rooms (provisional)"
)
HOUSES_V1 = make_house_set("houses-v1", "generated furnished houses of 1 to 3 storeys and 40 to 400 m2")
