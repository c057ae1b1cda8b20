"""Words of people and benchmarks for the categories of houses.

A benchmark's word stands for one or more of our categories: Habitat's "chair" is any of our
chairs, RoboTHOR's "GarbageCan" is our trash_can.
"""

import re
from collections.abc import Mapping
from functools import cache, lru_cache
from types import MappingProxyType

from navarena.core.errors import require_name, unknown_name
from navarena.scenes.houses.furniture.catalog import CATEGORIES
from navarena.scenes.houses.goat_vocabulary import (
    GOAT_SEEN,
    GOAT_SYNONYMS,
    GOAT_TAUGHT_ELSEWHERE,
    GOAT_UNSEEN,
    GOAT_VAL_SEEN,
    UNSEEN_CATEGORIES,
)

__all__ = [
    "BENCHMARKS",
    "EVERYDAY_NAMES",
    "GIBSON",
    "GOAT",
    "GOAT_SPLITS",
    "HABITAT_2020",
    "HM3D",
    "IVLN",
    "ROBOTHOR",
    "UNSEEN_CATEGORIES",
    "Words",
    "categories_of",
    "find_named",
    "goat_names",
    "names_of",
    "propose_category",
    "words_of",
]

Words = Mapping[str, tuple[str, ...]]
"""Word of a benchmark -> our categories."""

_CHAIRS = (
    "chair", "office_chair", "armchair", "rocking_chair", "lounge_chair", "folding_chair", "high_chair",
    "bar_stool",
)  # fmt: skip
_TABLES = (
    "table", "coffee_table", "side_table", "console_table", "desk", "dressing_table", "workbench",
    "pool_table", "foosball_table", "kitchen_island",
)  # fmt: skip
_CABINETS = (
    "cabinet", "sideboard", "display_cabinet", "file_cabinet", "kitchen_cabinet", "bathroom_cabinet",
    "wardrobe",
)  # fmt: skip
_DRAWERS = ("chest_of_drawers", "dresser", "nightstand")
_SEATING = ("bench", "pouf", "ottoman", "footstool", "bean_bag")
_EXERCISE = (
    "treadmill", "exercise_bike", "rowing_machine", "weight_bench", "dumbbell_rack", "punching_bag",
    "trampoline", "exercise_ball",
)  # fmt: skip
_CLOTHES = ("clothes", "clothes_rack", "coat", "bathrobe", "hat")
_SHELVING = ("shelving", "shelf", "bookshelf", "shoe_rack", "wine_rack", "spice_rack")
_SINKS = ("sink", "washbasin")
_BEDS = ("bed", "bunk_bed", "crib")
_SCREENS = ("television", "monitor")

HABITAT_2020: Words = {
    "chair": _CHAIRS,
    "table": _TABLES,
    "picture": ("picture", "photo"),
    "cabinet": _CABINETS,
    "cushion": ("cushion",),
    "sofa": ("sofa",),
    "bed": _BEDS,
    "chest_of_drawers": _DRAWERS,
    "plant": ("plant",),
    "sink": _SINKS,
    "toilet": ("toilet",),
    "stool": ("stool",),
    "towel": ("towel",),
    "tv_monitor": _SCREENS,
    "shower": ("shower",),
    "bathtub": ("bathtub",),
    "counter": ("counter", "bar"),
    "fireplace": ("fireplace",),
    "gym_equipment": _EXERCISE,
    "seating": _SEATING,
    "clothes": _CLOTHES,
}
"""The 21 goal categories of the Habitat challenge 2020 (Matterport3D's names)."""

ROBOTHOR: Words = {
    "AlarmClock": ("alarm_clock",),
    "Apple": ("apple",),
    "BaseballBat": ("baseball_bat",),
    "BasketBall": ("basketball",),
    "Bowl": ("bowl",),
    "GarbageCan": ("trash_can",),
    "HousePlant": ("plant",),
    "Laptop": ("laptop",),
    "Mug": ("mug",),
    "SprayBottle": ("spray_bottle",),
    "Television": ("television",),
    "Vase": ("vase",),
}
"""The 12 target categories of RoboTHOR."""

HM3D: Words = {
    "chair": _CHAIRS,
    "bed": _BEDS,
    "plant": ("plant",),
    "toilet": ("toilet",),
    "tv_monitor": _SCREENS,
    "sofa": ("sofa",),
}
"""The 6 goal categories of ObjectNav on HM3D."""

GIBSON: Words = {
    "bed": _BEDS,
    "chair": _CHAIRS,
    "microwave": ("microwave",),
    "refrigerator": ("refrigerator",),
    "table": _TABLES,
    "toilet": ("toilet",),
    "oven": ("oven",),
    "tv": ("television",),
    "sofa": ("sofa",),
}
"""Gibson's nine."""

IVLN: Words = {
    "shelving": _SHELVING,
    "chest_of_drawers": _DRAWERS,
    "bed": _BEDS,
    "cushion": ("cushion",),
    "fireplace": ("fireplace",),
    "sofa": ("sofa",),
    "table": _TABLES,
    "chair": _CHAIRS,
    "cabinet": _CABINETS,
    "plant": ("plant",),
    "counter": ("counter", "bar"),
    "sink": _SINKS,
}
"""The twelve map classes of Iterative VLN, in the order of its class numbers 1 to 12."""

GOAT: Words = {**GOAT_SEEN, **GOAT_SYNONYMS, **GOAT_UNSEEN}
"""All names of GOAT-Bench's vocabulary that the houses can answer."""

BENCHMARKS: Mapping[str, Words] = MappingProxyType(
    {
        "habitat2020": HABITAT_2020,
        "robothor": ROBOTHOR,
        "hm3d": HM3D,
        "gibson": GIBSON,
        "ivln": IVLN,
        "goat": GOAT,
    }
)
"""Words of each benchmark."""

GOAT_SPLITS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "train": tuple(GOAT_SEEN),
        "val_seen": GOAT_VAL_SEEN,
        "val_seen_synonyms": tuple(GOAT_SYNONYMS),
        "val_unseen": tuple(
            name for name, found in GOAT_UNSEEN.items() if not set(found) & set(GOAT_TAUGHT_ELSEWHERE)
        ),
    }
)
"""The names that each split of GOAT-Bench asks for, as far as the houses can answer."""

EVERYDAY_NAMES: Mapping[str, tuple[str, ...]] = {
    "alarm_clock": ("alarm clock", "bedside clock"),
    "bathtub": ("bathtub", "bath", "tub"),
    "book": ("book", "pile of books"),
    "cell_phone": ("phone", "mobile phone", "smartphone"),
    "chest_of_drawers": ("chest of drawers", "drawers"),
    "clothes": ("clothes", "folded clothes"),
    "cushion": ("cushion", "throw pillow"),
    "glass": ("glass", "drinking glass", "wine glass"),
    "laptop": ("laptop", "notebook computer"),
    "paper": ("papers", "letter tray"),
    "plant": ("plant", "house plant", "potted plant"),
    "refrigerator": ("refrigerator", "fridge"),
    "rug": ("rug", "carpet"),
    "salt_shaker": ("salt and pepper shakers", "salt shaker"),
    "sofa": ("sofa", "couch"),
    "teddy_bear": ("teddy bear", "stuffed animal", "plush toy"),
    "television": ("television", "tv"),
    "toothbrush": ("toothbrush", "toothbrush cup"),
    "trash_can": ("trash can", "garbage can", "bin", "wastebasket"),
}
"""Other words for a category, the most usual first; those of benchmarks come on top."""


def names_of(category: str) -> tuple[str, ...]:
    """Words a person would use for `category`, the most usual first, without repetition.

    Raises UnknownNameError for a category that is not in the catalogue.
    """
    require_name("category", category, CATEGORIES)
    own = EVERYDAY_NAMES.get(category, (category.replace("_", " "),))
    only = [name for name, found in GOAT.items() if found == (category,)]
    return tuple(dict.fromkeys((*own, *only)))


def propose_category(name: str) -> str | None:
    """The category that a modeller's name of an object speaks of ("chair_fmx_4", "CoffeeTable.001"), or None.

    Of all words that stand for a category, in the catalogue or a benchmark, the longest counts, and of
    these the last: a "table_lamp" is a lamp.
    """
    words = _words(name)
    phrases = _phrases()
    for size in range(len(words), 0, -1):
        for start in range(len(words) - size, -1, -1):
            found = phrases.get(words[start : start + size])
            if found is not None:
                return found
    return None


@lru_cache(10_000)
def find_named(text: str) -> tuple[str, ...]:
    """The categories that the first name in a text stands for ("the grey couch by a bed"); may be none.

    Names are those of the catalogue and of benchmarks; where several begin at a word, the longest counts. A
    name of GOAT-Bench stands for all that GOAT says, another for one category.
    """
    words, goat = _words(text), _goat_phrases()
    for start in range(len(words)):
        for size in range(len(words) - start, 0, -1):
            phrase = words[start : start + size]
            if phrase in goat or phrase in _phrases():
                return goat.get(phrase) or (_phrases()[phrase],)
    return ()


@cache
def _goat_phrases() -> Mapping[tuple[str, ...], tuple[str, ...]]:
    """Words -> categories, of GOAT-Bench's names."""
    return {_words(name): found for name, found in GOAT.items()}


@cache
def _phrases() -> Mapping[tuple[str, ...], str]:
    """Words -> category: of the catalogue, of people, of benchmarks, in this order of preference."""
    known = {_words(category): category for category in CATEGORIES}
    for category in CATEGORIES:
        for name in names_of(category):
            known.setdefault(_words(name), category)
    for words in BENCHMARKS.values():
        for name, found in words.items():
            known.setdefault(_words(name), found[0])
    return known


def _words(name: str) -> tuple[str, ...]:
    """The words of a name, lower case, without numbers and the plural's s."""
    parts = re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+", name)
    return tuple(re.sub(r"(?<=[a-z]{3})(?<!s)s$", "", part.lower()) for part in parts)


def categories_of(benchmark: str, name: str) -> tuple[str, ...]:
    """Our categories for a benchmark's word, such as ("robothor", "GarbageCan").

    Raises UnknownNameError for a benchmark or a word that is not known.
    """
    words = words_of(benchmark)
    if name not in words:
        raise unknown_name(f"{benchmark} category", name, words)
    return words[name]


def words_of(benchmark: str) -> Words:
    """The words of a benchmark with their categories; raises UnknownNameError."""
    require_name("benchmark", benchmark, BENCHMARKS)
    return BENCHMARKS[benchmark]


def goat_names(split: str) -> tuple[str, ...]:
    """The goal names of a split of GOAT-Bench; raises UnknownNameError for another split."""
    require_name("GOAT split", split, GOAT_SPLITS)
    return GOAT_SPLITS[split]
