"""The furniture that the use of a room needs, by kind of room, as data."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Need:
    """Furniture one of which a room must hold.

    Attributes:
        categories: one of them is enough.
        families: what is tried, in order, where none stands yet; names in FAMILIES.
        anywhere: whether it may stand away from walls where there is no place at any.
    """

    categories: frozenset[str]
    families: tuple[str, ...]
    anywhere: bool = False


def make_need(categories: str, families: str, anywhere: bool = False) -> Need:
    """The need of words separated by spaces."""
    return Need(frozenset(categories.split()), tuple(families.split()), anywhere)


ROOM_NEEDS: Mapping[str, Sequence[Need]] = {
    "living room": (
        make_need("sofa", "sofa", anywhere=True),
        make_need("coffee_table side_table table", "side_table wall_table"),
    ),
    "kitchen": (make_need("sink", "kitchen_sink"), make_need("oven", "oven")),
    "dining room": (make_need("table", "wall_table"), make_need("chair", "dining_chair")),
    "bedroom": (
        make_need("bed bunk_bed", "bed bunk_bed"),
        make_need(
            "wardrobe chest_of_drawers dresser cabinet clothes_rack",
            "wardrobe chest_of_drawers low_cabinet clothes_rack",
        ),
    ),
    "bathroom": (make_need("washbasin", "washbasin"), make_need("toilet bathtub shower", "toilet shower")),
    "toilet": (make_need("toilet", "toilet"),),
    "office": (make_need("desk", "desk"), make_need("office_chair chair", "office_chair")),
    "laundry room": (make_need("washing_machine clothes_dryer", "washing_machine clothes_dryer"),),
    "gym": (
        make_need(
            "treadmill exercise_bike rowing_machine weight_bench dumbbell_rack punching_bag",
            "weight_bench rowing_machine dumbbell_rack",
        ),
    ),
    "storage room": (make_need("shelving cabinet workbench freezer", "storage_shelf"),),
    "corridor": (
        make_need(
            "console_table shoe_rack chest_of_drawers dresser bench chest coat coat_stand shelf",
            "coat_hooks shoe_rack coat_stand wall_shelf",
        ),
        make_need(
            "picture mirror clock wreath wall_plate banner calendar bulletin_board wall_lamp plant",
            "picture clock wall_lamp",
        ),
    ),
}
"""Kind of room -> all that it needs; stairs need nothing."""


def missing_needs(needs: Sequence[Need], categories: Collection[str]) -> list[Need]:
    """The `needs` that objects of `categories` do not meet."""
    return [need for need in needs if need.categories.isdisjoint(categories)]


def lacks_furniture(kind: str, categories: Collection[str]) -> bool:
    """Whether a room of this kind with objects of `categories` lacks something; no other kind ever does."""
    return bool(missing_needs(ROOM_NEEDS.get(kind, ()), categories))
