"""Groups of furniture by room of an apartment, as data; houses.furnishing.room_groups has those of houses."""

from collections.abc import Mapping, Sequence

from navarena.scenes.houses.furnishing.room_groups import Follower, Group
from navarena.scenes.houses.room_needs import Need, make_need

_MEDIA = Group(
    ("tv_stand",),
    align="middle",
    followers=(
        Follower("sofa", "facing"),
        Follower("coffee_table", "front", 85, of="sofa", gap=380),
        Follower("side_table", "beside", 50, of="sofa"),
        Follower("floor_lamp", "beside", 40, of="sofa"),
        Follower("armchair", "flank", 40, of="coffee_table", gap=420),
        Follower("picture", "above", 70, of="sofa"),
    ),
)
_BED = Group(
    ("bed",),
    align="middle",
    followers=(Follower("side_table", "beside", 75, 2), Follower("picture", "above", 50)),
)
_DESK = Group(("desk",), align="middle", followers=(Follower("dining_chair", "front", 90, gap=-150),))
_DRAWERS = Group(("chest_of_drawers",), 70, followers=(Follower("picture", "above", 50),))
_TABLE = Group(("dining_table",), followers=(Follower("dining_chair", "around", max_count=4),))
_SEAT = Group(("armchair",), 60, followers=(Follower("side_table", "beside", 40),))

RECIPES: Mapping[str, Sequence[Group]] = {
    "living room": (
        _MEDIA,
        Group(("sofa",), align="middle", followers=_MEDIA.followers[1:], unless=("sofa",)),
        Group(("bookshelf",), 60),
        _SEAT,
        Group(("picture",), 60, 2, align="middle"),
        Group(("floor_lamp",), 30, align="end"),
    ),
    "bedroom": (
        _BED,
        _DRAWERS,
        Group(("desk",), 25, 1, 850, followers=_DESK.followers),
        Group(("picture",), 40, align="middle"),
        Group(("floor_lamp",), 25, align="end"),
    ),
    "dining room": (
        _TABLE,
        Group(("wall_table",), followers=_TABLE.followers, unless=("dining_table",)),
        Group(("bookshelf", "chest_of_drawers"), 75),
        _SEAT,
        Group(("picture",), 60, 2, align="middle"),
    ),
    "office": (
        _DESK,
        Group(("bookshelf",), 75),
        _SEAT,
        Group(("side_table", "chest_of_drawers"), 40),
        Group(("picture",), 50, align="middle"),
        Group(("floor_lamp",), 30, align="end"),
    ),
}
"""Groups by kind of room; what does not fit is left out."""

NEEDS: Mapping[str, Sequence[Need]] = {
    "living room": (
        make_need("sofa tv_stand", "sofa tv_stand"),
        make_need("sofa", "sofa", anywhere=True),
        make_need("coffee_table side_table table", "side_table wall_table"),
    ),
    "bedroom": (make_need("bed", "bed"),),
    "dining room": (make_need("table", "wall_table"), make_need("chair", "dining_chair")),
    "office": (make_need("desk", "desk"), make_need("chair", "dining_chair")),
}
"""What a room needs; the first makes it what it is."""
