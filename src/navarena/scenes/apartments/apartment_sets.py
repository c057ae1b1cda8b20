"""The published apartments and their twins: splits, numbers, digests, and the scene sets.

RoboTHOR has 89 scenes: 75 for training and validation (60 and 15), 4 of test-dev and 10 of the test
(Batra et al. 2020, section 4). Ours are numbered 0 to 88 in that order.

`robothor_like_v1.json` lists a digest of each. It is the beginning of `HousePlan.digest`, a hash over whole
numbers and names alone, so that the list is the same on every machine. `scripts/list_apartments.py` writes
it; what changes an apartment or a twin of a published set makes a new set.
"""

from collections.abc import Mapping
from functools import cache
from importlib import resources
from itertools import accumulate
from pathlib import Path

import msgspec

from navarena.core.errors import InputError, require_name
from navarena.core.sources import source_fingerprint
from navarena.scenes.scene import Scene
from navarena.scenes.scene_set import SceneSet
from navarena.scenes.twin_ids import APARTMENT_SET, TWIN_SET

TWIN_CORRUPTIONS = ("camera_calibration:2", "gaussian_noise:1", "pyrobot")
"""Corruptions in every twin: there is one robot, so they are the same in all.

Its camera sees 2 degrees less than it is said to, its images are noisy, and it moves as a real LoCoBot
was measured to.
"""

APARTMENT_SPLITS: Mapping[str, int] = {"train": 60, "val": 15, "test-dev": 4, "test": 10}
"""Number of apartments in each split."""

INSTANCE_SPLITS: Mapping[str, int] = {"train": 9, "val": 3, "test-dev": 2, "test": 3}
"""Instances of each category that stand in the apartments of a split alone.

17 for each of 43 categories make 731, the number of RoboTHOR's instances (Batra et al. 2020, section 4).
"""

APARTMENTS = sum(APARTMENT_SPLITS.values())
INSTANCES = sum(INSTANCE_SPLITS.values())

FILE_NAME = "robothor_like_v1.json"
DIGITS = 16
"""Hexadecimal digits of a listed digest."""

_GENERATOR = Path(__file__).with_name("generator.py")


def apartment_number(split: str, index: int) -> int:
    """The number, 0 to 88, of apartment `index` (from 0) of `split`.

    Raises UnknownNameError for another split and InputError for an index outside it.
    """
    require_name("apartment split", split, APARTMENT_SPLITS)
    if not 0 <= index < APARTMENT_SPLITS[split]:
        raise InputError(
            f"expected an apartment index in [0, {APARTMENT_SPLITS[split] - 1}] of split {split!r}, "
            f"got {index}"
        )
    return _first(APARTMENT_SPLITS, split) + index


def split_of(number: int) -> str:
    """The split that the apartment with this number, 0 to 88, belongs to."""
    return next(split for split in APARTMENT_SPLITS if number in _numbers(APARTMENT_SPLITS, split))


def instance_numbers(split: str) -> range:
    """Instance numbers (0 to 16) of each category that occur in apartments of `split`."""
    return _numbers(INSTANCE_SPLITS, require_name("apartment split", split, INSTANCE_SPLITS))


def _first(sizes: Mapping[str, int], split: str) -> int:
    ends = dict(zip(sizes, accumulate(sizes.values()), strict=True))
    return ends[split] - sizes[split]


def _numbers(sizes: Mapping[str, int], split: str) -> range:
    first = _first(sizes, split)
    return range(first, first + sizes[split])


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
    from navarena.scenes.apartments.generator import draw_apartment  # compiles kernels

    return draw_apartment(split, index).digest()[:DIGITS]


def twin_digest(split: str, index: int) -> str:
    """The digest of an apartment's twin as this machine draws it."""
    from navarena.scenes.apartments.generator import draw_twin  # compiles kernels

    return draw_twin(split, index).digest()[:DIGITS]


def make_apartment_set(name: str, description: str, corruptions: tuple[str, ...] = ()) -> SceneSet:
    """The set `name`: of apartments, or of twins where it is TWIN_SET."""

    def build(scene_id: str) -> Scene:
        from navarena.scenes.apartments.generator import build_apartment, build_twin  # compiles kernels

        _, split, index = scene_id.split("/")
        return (build_twin if name == TWIN_SET else build_apartment)(split, int(index))

    def fingerprint(scene_id: str) -> str:
        return f"{source_fingerprint(_GENERATOR)} {scene_id}"

    splits = {
        split: tuple(f"{name}/{split}/{index:05d}" for index in range(count))
        for split, count in APARTMENT_SPLITS.items()
    }
    return SceneSet(name, splits, build, fingerprint, description, corruptions)


ROBOTHOR_LIKE_V1 = make_apartment_set(
    APARTMENT_SET, "generated apartments of 8.8 m by 3.9 m with movable panels and the 12 targets of RoboTHOR"
)
ROBOTHOR_LIKE_V1_TWIN = make_apartment_set(
    TWIN_SET,
    "the same apartments in other textures and light, as a robot's own camera sees them",
    TWIN_CORRUPTIONS,
)
