"""The published apartments: how many each split has, and which number each of them bears.

RoboTHOR has 89 scenes: 75 for training and validation (60 and 15), 4 of test-dev and 10 of the test
(Batra et al. 2020, section 4). Ours are numbered 0 to 88 in that order.
"""

from collections.abc import Mapping
from itertools import accumulate

from navarena.core.errors import InputError, require_name

SET_NAME = "robothor-like-v1"
TWIN_NAME = "robothor-like-v1-twin"
"""The same apartments as they look from a robot; ids differ in this name alone."""

TWIN_CORRUPTIONS = ("camera_calibration:2", "gaussian_noise:1", "pyrobot")
"""What a robot suffers in every twin, as corruptions: there is one robot, so it is the same in all.

Its camera sees 2 degrees less than it is said to, its pictures are noisy, and it moves as a real LoCoBot
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
    """The numbers, of 0 to 16, of the instances of each category that stand in apartments of `split`."""
    return _numbers(INSTANCE_SPLITS, require_name("apartment split", split, INSTANCE_SPLITS))


def twin_of(scene_id: str) -> str:
    """The id of the twin of an apartment, such as robothor-like-v1-twin/val/00003; of a twin, its own.

    Raises InputError for the id of another set.
    """
    name, slash, rest = scene_id.partition("/")
    if name not in (SET_NAME, TWIN_NAME) or not slash:
        raise InputError(f"expected the id of an apartment such as {SET_NAME}/val/00003, got {scene_id!r}")
    return f"{TWIN_NAME}/{rest}"


def original_of(scene_id: str) -> str:
    """The id of the apartment whose twin this is; every other id stays as it is."""
    name, slash, rest = scene_id.partition("/")
    return f"{SET_NAME}{slash}{rest}" if name == TWIN_NAME else scene_id


def _first(sizes: Mapping[str, int], split: str) -> int:
    ends = dict(zip(sizes, accumulate(sizes.values()), strict=True))
    return ends[split] - sizes[split]


def _numbers(sizes: Mapping[str, int], split: str) -> range:
    first = _first(sizes, split)
    return range(first, first + sizes[split])
