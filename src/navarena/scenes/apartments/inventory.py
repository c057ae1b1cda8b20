"""The 43 categories of an apartment as data: furniture families and legal places of each.

RoboTHOR's objects are of 11 categories of furniture and 32 of small objects, 14 of which every scene
holds: the 12 targets, and two that are too small to be looked for (Batra et al. 2020, section 4).
"""

from collections.abc import Mapping
from dataclasses import dataclass

HARD = frozenset({"table", "coffee_table", "side_table", "desk", "chest_of_drawers", "tv_stand", "bookshelf"})
SOFT = frozenset({"bed", "sofa", "armchair"})
ANYWHERE = HARD | SOFT
DINING = frozenset({"table", "coffee_table", "side_table", "desk"})
BROAD = frozenset({"table", "desk", "chest_of_drawers", "tv_stand"})
NOWHERE: frozenset[str] = frozenset()


@dataclass(frozen=True)
class SmallKind:
    """A category of small objects.

    Attributes:
        families: of the catalogue of houses; instances are of each in turn.
        supports: categories of furniture that carry it.
        floor: whether it may lie on the floor.
    """

    families: tuple[str, ...]
    supports: frozenset[str] = HARD
    floor: bool = False


FURNITURE: Mapping[str, tuple[str, ...]] = {
    "armchair": ("armchair",),
    "bed": ("bed",),
    "bookshelf": ("bookshelf",),
    "chair": ("dining_chair",),
    "chest_of_drawers": ("chest_of_drawers",),
    "coffee_table": ("coffee_table",),
    "desk": ("desk",),
    "side_table": ("side_table",),
    "sofa": ("sofa",),
    "table": ("dining_table", "wall_table"),
    "tv_stand": ("tv_stand",),
}
"""The 11 categories of furniture with the families that make them."""

TARGETS: Mapping[str, SmallKind] = {
    "television": SmallKind(("television",), BROAD),
    "laptop": SmallKind(("laptop",), ANYWHERE),
    "plant": SmallKind(("plant", "small_plant"), HARD, floor=True),
    "trash_can": SmallKind(("trash_can",), NOWHERE, floor=True),
    "baseball_bat": SmallKind(("baseball_bat",), DINING | SOFT, floor=True),
    "basketball": SmallKind(("basketball",), DINING | SOFT, floor=True),
    "vase": SmallKind(("vase",)),
    "bowl": SmallKind(("bowl",)),
    "spray_bottle": SmallKind(("spray_bottle",)),
    "alarm_clock": SmallKind(("alarm_clock",)),
    "mug": SmallKind(("mug",)),
    "apple": SmallKind(("apple",)),
}
"""The 12 categories that are looked for; exactly one instance of each stands in every apartment.

Large objects come first, so that their places are not taken.
"""

ALSO_GUARANTEED = ("remote_control", "cell_phone")
"""The other two categories that every apartment holds."""

OTHERS: Mapping[str, SmallKind] = {
    "remote_control": SmallKind(("remote_control",), ANYWHERE),
    "cell_phone": SmallKind(("cell_phone",), ANYWHERE),
    "book": SmallKind(("books",), ANYWHERE),
    "bottle": SmallKind(("bottle",)),
    "box": SmallKind(("box",), HARD, floor=True),
    "bread": SmallKind(("bread",), DINING),
    "candle": SmallKind(("candle",)),
    "cushion": SmallKind(("cushion",), SOFT),
    "desk_lamp": SmallKind(("desk_lamp",)),
    "figurine": SmallKind(("figurine",)),
    "floor_lamp": SmallKind(("floor_lamp",), NOWHERE),
    "glass": SmallKind(("wine_glass",), DINING),
    "newspaper": SmallKind(("newspaper",), ANYWHERE),
    "pan": SmallKind(("pan",), DINING),
    "pencil_cup": SmallKind(("pencil_cup",)),
    "picture": SmallKind(("picture",), NOWHERE),
    "plate": SmallKind(("plate",), DINING),
    "pot": SmallKind(("pot",), DINING),
    "salt_shaker": SmallKind(("shakers",), DINING),
    "teddy_bear": SmallKind(("teddy_bear",), ANYWHERE),
}
"""The other 20 categories of small objects; lamps and pictures are placed with the furniture."""

SMALL: Mapping[str, SmallKind] = {**TARGETS, **OTHERS}
GUARANTEED = (*TARGETS, *ALSO_GUARANTEED)

FAMILIES_OF: Mapping[str, tuple[str, ...]] = {
    **FURNITURE,
    **{category: kind.families for category, kind in SMALL.items()},
}
"""All 43 categories with the families that make them."""

FIXTURES = frozenset({"ceiling_lamp"})
"""What an apartment has beside its structure and the 43 categories."""
