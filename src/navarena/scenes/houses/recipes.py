"""What stands in which room, in what groups, as data.

A group is an anchor and its followers. Groups are tried in order; what does not fit is left out.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Follower:
    """A thing placed in relation to another of its group.

    Attributes:
        family: name in FAMILIES.
        relation: "on", "beside", "front" (facing it), "facing" (across the room, towards it), "around",
            "under" (a rug), "flank" (to its side, facing across its front) or "above" (on the wall).
        percent: chance of each.
        most: how many.
        of: family in the group it relates to; "" for the anchor.
        gap: millimetres between the two.
    """

    family: str
    relation: str
    percent: int = 100
    most: int = 1
    of: str = ""
    gap: int = 40


@dataclass(frozen=True)
class Group:
    """An anchor and what belongs to it.

    Attributes:
        families: the anchor is one of these.
        percent: chance of each of `most` attempts.
        most: how many.
        least_dm2: smallest floor of the room, square decimetres.
        align: "middle" of the free wall, "end", or "any".
        followers: in order.
        without: kinds of rooms in whose presence the group is left out, such as the desk of a
            living room in a house with an office.
        unless: families one of which, if it stands in the room already, makes the group superfluous.
    """

    families: tuple[str, ...]
    percent: int = 100
    most: int = 1
    least_dm2: int = 0
    align: str = "any"
    followers: tuple[Follower, ...] = ()
    without: tuple[str, ...] = ()
    unless: tuple[str, ...] = ()


def _one(family: str, percent: int = 100, most: int = 1, align: str = "any", least_dm2: int = 0) -> Group:
    return Group((family,), percent, most, least_dm2, align)


_BED = Group(
    ("bed",),
    align="middle",
    followers=(
        Follower("nightstand", "beside", 85, 2),
        Follower("table_lamp", "on", 80, of="nightstand"),
        Follower("rug", "under", 60),
        Follower("picture", "above", 60),
        Follower("bench", "front", 25, gap=60),
    ),
)
_DESK = (
    Follower("office_chair", "front", gap=-150),
    Follower("monitor", "on", 70),
)
_TABLE = (
    Follower("dining_chair", "around", most=8),
    Follower("rug", "under", 35),
)
_MEDIA = Group(
    ("tv_stand",),
    95,
    align="middle",
    followers=(
        Follower("television", "on"),
        Follower("sofa", "facing"),
        Follower("coffee_table", "front", 90, of="sofa", gap=380),
        Follower("rug", "under", 75, of="coffee_table"),
        Follower("side_table", "beside", 50, of="sofa"),
        Follower("floor_lamp", "beside", 45, of="sofa"),
        Follower("armchair", "flank", 60, 2, of="coffee_table", gap=420),
        Follower("picture", "above", 60, of="sofa"),
    ),
)
KITCHEN_RUN = "kitchen run"
"""Name of the arrangement of units along the walls, see kitchen_run.py."""

RECIPES: Mapping[str, Sequence[Group]] = {
    "living room": (
        _MEDIA,
        Group(("sofa",), align="middle", followers=_MEDIA.followers[2:], unless=("sofa",)),
        Group(
            ("fireplace",), 35, least_dm2=1900, align="middle", followers=(Follower("picture", "above", 60),)
        ),
        Group(("dining_table",), 75, least_dm2=2000, followers=_TABLE, without=("dining room",)),
        Group(("bookshelf",), 60, 2),
        Group(("desk",), 30, least_dm2=2400, followers=_DESK, without=("office",)),
        Group(("sideboard", "tall_cabinet"), 60, followers=(Follower("picture", "above", 40),)),
        Group(
            ("armchair",),
            35,
            align="end",
            least_dm2=2400,
            followers=(Follower("pouf", "front", 40, gap=150),),
        ),
        _one("pouf", 30),
        Group(("treadmill", "exercise_bike"), 10, least_dm2=2800, without=("gym",)),
        _one("plant", 60, 2),
        _one("floor_lamp", 25),
        _one("floor_basket", 25),
        _one("picture", 65, 3, "middle"),
        _one("wall_shelf", 35),
        _one("clock", 30),
        _one("ball", 10),
    ),
    "kitchen": (
        _one(KITCHEN_RUN),
        Group(("dining_table",), 80, least_dm2=900, followers=_TABLE, without=("dining room",)),
        Group(("wall_table",), 80, followers=_TABLE[:1], without=("dining room",), unless=("dining_table",)),
        _one("stool", 40, 2, least_dm2=1000),
        _one("sideboard", 20, least_dm2=1300),
        _one("trash_can", 75),
        _one("plant", 20),
        _one("wall_shelf", 30),
        _one("clock", 45),
        _one("picture", 40, 2, "middle"),
        _one("floor_basket", 20),
    ),
    "dining room": (
        Group(("dining_table",), followers=_TABLE),
        Group(
            ("sideboard", "tall_cabinet"), 80, align="middle", followers=(Follower("picture", "above", 60),)
        ),
        _one("bookshelf", 20),
        _one("fireplace", 15, align="middle", least_dm2=1500),
        _one("plant", 60),
        _one("picture", 70, 2, "middle"),
        _one("clock", 25),
    ),
    "bedroom": (
        _BED,
        _one("wardrobe", 90, 1, "end"),
        Group(
            ("chest_of_drawers",),
            60,
            followers=(Follower("mirror", "above", 55), Follower("television", "on", 20)),
        ),
        Group(("desk",), 30, least_dm2=1200, followers=_DESK),
        _one("bookshelf", 30),
        _one("clothes_rack", 25),
        Group(("armchair", "pouf"), 30, align="end", least_dm2=1300),
        _one("laundry_basket", 25),
        _one("plant", 35),
        _one("floor_lamp", 20),
        _one("shoes", 35, 2),
        _one("picture", 60, 2, "middle"),
        _one("wall_shelf", 30),
        _one("clock", 20),
        _one("ball", 10),
    ),
    "bathroom": (
        Group(("toilet",)),
        Group(("washbasin",), align="middle", followers=(Follower("mirror", "above", 90),)),
        Group(("bathtub", "shower"), align="end", followers=(Follower("bath_mat", "front", 70, gap=80),)),
        _one("shower", 30, align="end", least_dm2=600),
        _one("towel", 90, 2),
        _one("toilet_paper", 80),
        Group(("washing_machine",), 35, without=("laundry room",)),
        Group(("trolley", "tall_cabinet"), 40),
        _one("laundry_basket", 40),
        _one("trash_can", 40),
        _one("stool", 15),
        _one("plant", 15),
    ),
    "toilet": (
        Group(("toilet",), align="middle"),
        Group(("washbasin",), 70, followers=(Follower("mirror", "above", 70),)),
        _one("toilet_paper", 90),
        _one("towel", 60),
        _one("picture", 40, 1, "middle"),
        _one("trash_can", 30),
    ),
    "office": (
        Group(("desk",), align="middle", followers=_DESK),
        _one("bookshelf", 85, 3),
        Group(("sideboard", "chest_of_drawers"), 50),
        Group(("armchair",), 40, align="end", followers=(Follower("side_table", "beside", 40),)),
        _one("trash_can", 60),
        _one("plant", 55),
        _one("floor_lamp", 30),
        _one("picture", 65, 2, "middle"),
        _one("wall_shelf", 45),
        _one("clock", 40),
        _one("floor_box", 25),
    ),
    "laundry room": (
        _one("washing_machine", 95, 2, "end"),
        Group(("washbasin",), 50),
        Group(("storage_shelf", "tall_cabinet"), 70),
        _one("clothes_rack", 40),
        _one("laundry_basket", 85, 2),
        _one("trolley", 40),
        _one("towel", 50),
        _one("floor_box", 40),
        _one("wall_shelf", 40),
    ),
    "gym": (
        _one("treadmill", 90, align="end"),
        _one("weight_bench", 70),
        _one("exercise_bike", 75),
        _one("dumbbell_rack", 70),
        _one("yoga_mat", 70),
        _one("bench", 40),
        _one("mirror", 60, 2),
        _one("towel", 60),
        _one("ball", 60, 2),
        _one("plant", 30),
        _one("clock", 40),
        _one("picture", 40, 1, "middle"),
    ),
    "storage room": (
        _one("storage_shelf", 100, 2),
        _one("tall_cabinet", 30),
        _one("floor_box", 70, 3),
        _one("floor_basket", 50),
        _one("watering_can", 40),
        _one("laundry_basket", 25),
    ),
    "corridor": (
        Group(
            ("console_table", "shoe_rack", "chest_of_drawers"),
            75,
            followers=(Follower("mirror", "above", 60),),
        ),
        _one("coat_hooks", 60, 2),
        _one("bench", 25),
        _one("umbrella_stand", 35),
        _one("shoes", 35, 2),
        _one("plant", 25),
        _one("picture", 60, 3, "middle"),
        _one("clock", 20),
    ),
}

MISSING_ROOM: Mapping[str, Sequence[Group]] = {
    "bedroom": (_BED, _one("wardrobe", 90, align="end"), _one("chest_of_drawers", 50)),
    "kitchen": (_one(KITCHEN_RUN), Group(("dining_table",), 70, followers=_TABLE)),
    "bathroom": (),
}
"""What the living room takes over in a house without such a room; placed before anything else."""
