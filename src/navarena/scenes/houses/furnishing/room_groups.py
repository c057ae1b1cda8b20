"""Furniture groups of each kind of room, as data.

A group is an anchor and its followers. Groups are tried in order; what does not fit is left out.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Follower:
    """An object placed in relation to another of its group.

    Attributes:
        family: name in FAMILIES.
        relation: "on", "beside", "front" (facing it), "facing" (across the room, towards it), "around",
            "under" (a rug), "flank" (to its side, facing across its front) or "above" (on the wall).
        percent: chance of each.
        max_count: how many.
        of: family in the group it relates to; "" for the anchor.
        gap: millimetres between the two.
    """

    family: str
    relation: str
    percent: int = 100
    max_count: int = 1
    of: str = ""
    gap: int = 40


@dataclass(frozen=True)
class Group:
    """An anchor and what belongs to it.

    Attributes:
        families: the anchor is one of these.
        percent: chance of each of `max_count` attempts.
        max_count: how many.
        min_dm2: smallest floor of the room, square decimetres.
        align: "middle" of the free wall, "end", or "any".
        followers: in order.
        without: kinds of rooms in whose presence the group is left out, such as the desk of a
            living room in a house with an office.
        unless: families one of which, if it stands in the room already, makes the group superfluous.
    """

    families: tuple[str, ...]
    percent: int = 100
    max_count: int = 1
    min_dm2: int = 0
    align: str = "any"
    followers: tuple[Follower, ...] = ()
    without: tuple[str, ...] = ()
    unless: tuple[str, ...] = ()


def _one(family: str, percent: int = 100, max_count: int = 1, align: str = "any", min_dm2: int = 0) -> Group:
    return Group((family,), percent, max_count, min_dm2, align)


def _any(
    families: Sequence[str], percent: int, max_count: int = 1, align: str = "any", min_dm2: int = 0
) -> Group:
    return Group(tuple(families), percent, max_count, min_dm2, align)


_BESIDE_BED = (
    Follower("nightstand", "beside", 85, 2),
    Follower("table_lamp", "on", 80, of="nightstand"),
    Follower("rug", "under", 60),
    Follower("picture", "above", 60),
    Follower("bench", "front", 20, gap=60),
    Follower("storage_chest", "front", 15, gap=60),
)
_BED = Group(("bed",), align="middle", followers=_BESIDE_BED)
_DESK = (
    Follower("office_chair", "front", gap=-150),
    Follower("monitor", "on", 55),
    Follower("keyboard", "on", 45),
)
_TABLE = (
    Follower("dining_chair", "around", max_count=8),
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
        Follower("ottoman", "flank", 30, of="coffee_table", gap=300),
        Follower("picture", "above", 60, of="sofa"),
    ),
)
_CENTREPIECES = (
    "piano",
    "piano",
    "foosball_table",
    "aquarium",
    "aquarium",
    "bar",
    "grandfather_clock",
    "wine_rack",
    "christmas_tree",
    "telescope",
    "fountain",
    "bicycle",
)
"""One of these sets a living room apart."""
_WALL_ART = ("picture", "picture", "picture", "wall_plate", "banner", "calendar")
_CLIMATE = ("radiator", "radiator", "heater", "fan", "air_conditioner")
_SPORT = ("basketball", "baseball_bat", "ball", "exercise_ball")
_PLAY = ("floor_toy_car", "floor_teddy_bear", "dollhouse", "drum")
_CLEANING = ("broom", "bucket", "vacuum_cleaner")
_REFLECTED = (Follower("mirror", "above", 60), Follower("picture", "above", 40))
_WASHED = (Follower("mirror", "above", 85), Follower("bathroom_cabinet", "above", 70))
KITCHEN_RUN = "kitchen run"
"""Name of the arrangement of units along the walls, see kitchen_run.py."""

RECIPES: Mapping[str, Sequence[Group]] = {
    "living room": (
        _any(("pool_table", "foosball_table"), 16, min_dm2=2400),
        _MEDIA,
        Group(("sofa",), align="middle", followers=_MEDIA.followers[2:], unless=("sofa",)),
        Group(
            ("fireplace",), 35, min_dm2=1900, align="middle", followers=(Follower("picture", "above", 60),)
        ),
        Group(("dining_table",), 80, min_dm2=1800, followers=_TABLE, without=("dining room",)),
        Group(_CENTREPIECES, 85, min_dm2=1700, followers=(Follower("stool", "front", 40, gap=60),)),
        _any(("bookshelf", "bookshelf", "display_cabinet"), 60, 2),
        Group(("desk",), 30, min_dm2=2400, followers=_DESK, without=("office",)),
        Group(
            ("sideboard", "tall_cabinet", "low_cabinet"), 60, followers=(Follower("picture", "above", 40),)
        ),
        Group(
            ("armchair", "rocking_chair", "lounge_chair"),
            60,
            2,
            2200,
            "end",
            (Follower("footstool", "front", 45, gap=120), Follower("side_table", "beside", 40)),
        ),
        _any(("bookshelf", "sideboard", "low_cabinet"), 70, min_dm2=3000),
        _any(("pouf", "bean_bag", "ottoman", "footstool"), 35),
        _any(("treadmill", "exercise_bike", "rowing_machine"), 10, min_dm2=2800),
        _any(("guitar", "telescope", "statue", "fountain", "easel", "drum"), 35),
        _one("christmas_tree", 8),
        _any(("plant",), 60, 2),
        _any(("floor_lamp", "fan"), 25),
        _any(("floor_basket", "storage_chest", "crate"), 25),
        _any(("cat_tree", "cat_tree", "pet_bed"), 30),
        _any(("picture", "picture", "banner", "wall_plate", "hunting_trophy"), 65, 3, "middle"),
        _one("wall_lamp", 25, 2),
        _one("wall_shelf", 35),
        _one("clock", 30),
        _any(_CLIMATE, 40),
        _any((*_SPORT, *_PLAY), 15),
        _one("screen", 6),
    ),
    "kitchen": (
        _one(KITCHEN_RUN),
        Group(("kitchen_island",), 40, min_dm2=1150, followers=(Follower("bar_stool", "front", 80, gap=60),)),
        Group(("dining_table",), 80, min_dm2=900, followers=_TABLE, without=("dining room",)),
        Group(("wall_table",), 80, followers=_TABLE[:1], without=("dining room",), unless=("dining_table",)),
        _any(("stool", "bar_stool"), 40, 2, min_dm2=900),
        _any(("freezer", "freezer", "sideboard", "wine_rack", "cart"), 55, min_dm2=900),
        _any(("water_dispenser", "high_chair"), 30),
        _one("trash_can", 80),
        _one("spice_rack", 40),
        _one("pan_rail", 30),
        _one("plant", 20),
        _one("wall_shelf", 30),
        _any(("clock", "calendar"), 55),
        _any(_WALL_ART, 45, 2, "middle"),
        _any(("floor_basket", "crate"), 25),
        _any((*_CLEANING, "fire_extinguisher"), 25),
        _any(_CLIMATE, 20),
        _one("pet_bed", 8),
    ),
    "dining room": (
        Group(("dining_table",), followers=_TABLE),
        Group(
            ("sideboard", "tall_cabinet", "display_cabinet"),
            80,
            align="middle",
            followers=(Follower("picture", "above", 60),),
        ),
        _any(("wine_rack", "bar", "cart"), 45),
        _any(("bookshelf", "piano", "grandfather_clock"), 25),
        _one("fireplace", 15, align="middle", min_dm2=1500),
        _one("high_chair", 15),
        _any(("plant", "statue", "christmas_tree"), 60),
        _any(_WALL_ART, 75, 3, "middle"),
        _any(("clock", "wreath", "hunting_trophy"), 35),
        _one("wall_lamp", 30, 2),
        _any(_CLIMATE, 30),
    ),
    "bedroom": (
        Group(("bed", "bed", "bed", "bed", "bed", "bunk_bed"), align="middle", followers=_BESIDE_BED),
        Group(("bed",), align="middle", followers=_BESIDE_BED[:2], unless=("bed", "bunk_bed")),
        _one("wardrobe", 90, 1, "end"),
        Group(
            ("chest_of_drawers", "chest_of_drawers", "dresser"),
            70,
            followers=(*_REFLECTED, Follower("television", "on", 20)),
        ),
        Group(("desk",), 30, min_dm2=1200, followers=_DESK),
        Group(("dressing_table",), 25, followers=(Follower("stool", "front", 90, gap=40),)),
        _one("crib", 12, min_dm2=1200),
        _any(("bookshelf", "storage_chest"), 35),
        _any(("clothes_rack", "coat_stand"), 30),
        _any(("armchair", "pouf", "rocking_chair", "bean_bag", "ottoman"), 35, align="end", min_dm2=1200),
        _one("laundry_basket", 25),
        _one("plant", 30),
        _any(("floor_lamp", "fan"), 25),
        _any(("shoes", "suitcase", "floor_backpack"), 40, 2),
        _any(("picture", "picture", "banner", "calendar"), 60, 2, "middle"),
        _any(("wall_shelf", "bulletin_board"), 35),
        _any(("wall_lamp", "clock"), 25, 2),
        _one("bathrobe", 25),
        _any(_CLIMATE, 40),
        _any((*_SPORT, *_PLAY), 35),
        _any(
            (
                "guitar",
                "telescope",
                "easel",
                "screen",
                "sleeping_bag",
                "bicycle",
                "ironing_board",
                "pet_bed",
            ),
            30,
        ),
    ),
    "bathroom": (
        Group(("toilet",)),
        Group(("washbasin",), align="middle", followers=_WASHED),
        Group(("bathtub", "shower"), align="end", followers=(Follower("bath_mat", "front", 70, gap=80),)),
        _one("shower", 30, align="end", min_dm2=600),
        _one("towel", 90, 2),
        _one("toilet_paper", 80),
        _one("toilet_brush", 70),
        Group(("washing_machine", "clothes_dryer"), 35, without=("laundry room",)),
        _any(("trolley", "tall_cabinet", "low_cabinet"), 40),
        _one("bathroom_scale", 40),
        _one("bathroom_cabinet", 25),
        _one("bathrobe", 40),
        _one("laundry_basket", 40),
        _one("trash_can", 40),
        _one("stool", 15),
        _one("plant", 15),
        _any(("radiator", "heater", "bucket"), 35),
    ),
    "toilet": (
        Group(("toilet",), align="middle"),
        Group(("washbasin",), 70, followers=_WASHED),
        _one("toilet_paper", 90),
        _one("toilet_brush", 60),
        _one("towel", 60),
        _any(("picture", "calendar", "wall_plate"), 45, 1, "middle"),
        _one("trash_can", 30),
    ),
    "office": (
        Group(("desk",), align="middle", followers=_DESK),
        _one("bookshelf", 85, 2),
        _any(("file_cabinet", "file_cabinet", "chest_of_drawers", "low_cabinet"), 70),
        _any(("sideboard", "storage_shelf"), 35),
        Group(
            ("armchair", "lounge_chair"), 40, align="end", followers=(Follower("side_table", "beside", 40),)
        ),
        _one("computer", 55),
        _any(("whiteboard", "bulletin_board"), 60),
        _one("trash_can", 60),
        _any(("plant", "statue"), 55),
        _any(("floor_lamp", "fan"), 35),
        _any(("picture", "picture", "calendar", "banner"), 65, 2, "middle"),
        _one("wall_shelf", 45),
        _one("clock", 40),
        _any(("floor_box", "floor_backpack", "crate"), 30),
        _any(_CLIMATE, 45),
        _any(("guitar", "aquarium", "easel", "folding_chair", "coat_stand", "workbench"), 40),
    ),
    "laundry room": (
        _one("washing_machine", 95, 1, "end"),
        _one("clothes_dryer", 70, 1, "end"),
        Group(("washbasin",), 50),
        _any(("storage_shelf", "tall_cabinet"), 70),
        _any(("clothes_rack", "drying_rack"), 65),
        _one("ironing_board", 50),
        _one("laundry_basket", 85, 2),
        _any(_CLEANING, 60, 2),
        _any(("trolley", "ladder", "workbench", "freezer"), 50),
        _one("towel", 50),
        _one("floor_box", 40),
        _one("wall_shelf", 40),
        _any(("boiler", "fuse_box", "calendar"), 50),
    ),
    "gym": (
        _any(("pool_table", "foosball_table"), 30, min_dm2=1500),
        _one("treadmill", 90, align="end"),
        _one("weight_bench", 70),
        _any(("exercise_bike", "rowing_machine"), 85),
        _one("dumbbell_rack", 70),
        _any(("punching_bag", "trampoline", "exercise_ball"), 60, 2),
        _one("yoga_mat", 60),
        _one("bench", 40),
        _one("mirror", 60, 2),
        _one("towel", 60),
        _any(("exercise_ball", "basketball", "ball"), 60, 2),
        _any(("water_dispenser", "plant", "bathroom_scale", "bicycle"), 60),
        _one("clock", 40),
        _any(("picture", "banner"), 40, 1, "middle"),
        _any(("fan", "air_conditioner"), 50),
    ),
    "storage room": (
        _one("storage_shelf", 100, 2),
        _any(("workbench", "freezer", "tall_cabinet"), 60),
        _any(("floor_box", "crate"), 80, 3),
        _any(("bicycle", "ladder", "folding_chair", "suitcase"), 60, 3),
        _any(("floor_basket", "laundry_basket", "storage_chest"), 40),
        _any((*_CLEANING, "watering_can", "umbrella"), 60, 2),
        _any(("boiler", "fuse_box"), 60, 2),
        _any(("fire_extinguisher", "baseball_bat", "sleeping_bag"), 50, 2),
    ),
    "corridor": (
        Group(("console_table", "shoe_rack", "chest_of_drawers", "dresser"), 95, followers=_REFLECTED),
        Group(("console_table", "bench", "storage_chest", "shoe_rack"), 80, 1, 900, followers=_REFLECTED),
        _one("coat_hooks", 60, 2),
        _any(("coat_stand", "bench", "storage_chest"), 60),
        _any(("umbrella_stand", "umbrella"), 45),
        _any(("shoes", "floor_backpack", "suitcase"), 45, 2),
        _any(("grandfather_clock", "bicycle", "statue", "screen"), 18),
        _one("plant", 35),
        _any(("picture", "picture", "picture", "wreath", "wall_plate", "calendar"), 65, 3, "middle"),
        _any(("picture", "banner"), 60, 2, "middle", 900),
        _any(("clock", "fuse_box"), 30),
        _one("wall_lamp", 40, 2),
        _any(("radiator", "fire_extinguisher"), 35),
    ),
}

FLOOR_CLUTTER: Mapping[str, Sequence[str]] = {
    "living room": (
        "magazine",
        "newspaper",
        "toy",
        "board_game",
        "books",
        "remote_control",
        "blanket",
    ),
    "bedroom": ("folded_clothes", "shoes", "handbag", "toy", "magazine", "box", "blanket", "teddy_bear"),
    "kitchen": ("bottle", "box", "basket"),
    "dining room": ("toy", "magazine", "bottle"),
    "office": ("paper_stack", "books", "binder", "box", "newspaper"),
    "bathroom": ("folded_clothes", "bottle", "basket"),
    "laundry room": ("folded_clothes", "basket", "spray_bottle"),
    "storage room": ("box", "toolbox", "basket", "jar"),
    "gym": ("bottle", "folded_clothes", "headphones"),
    "corridor": ("shoes", "handbag", "newspaper", "umbrella"),
}
"""What lies on floors of houses more cluttered than usual."""

MISSING_ROOM: Mapping[str, Sequence[Group]] = {
    "bedroom": (_BED, _one("wardrobe", 90, align="end"), _one("chest_of_drawers", 50)),
    "kitchen": (_one(KITCHEN_RUN), Group(("dining_table",), 70, followers=_TABLE)),
    "bathroom": (),
}
"""What the living room takes over in a house without such a room; placed before anything else."""
