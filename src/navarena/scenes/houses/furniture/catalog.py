"""The table of families: every kind of thing a house may hold, declared as data.

To add one: write a builder `make_...(taste) -> Model` beside its relatives, add a row here,
and name it in recipes.py (or in another row's `carries`).
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from navarena.scenes.houses.furniture import bath, beds, decor, kitchen, seats, small, storage, tables
from navarena.scenes.houses.furniture.taste import Taste
from navarena.scenes.houses.parts import Model


@dataclass(frozen=True)
class Carry:
    """Small things that stand on a family's surfaces.

    Attributes:
        families: what may stand there.
        most: on one surface.
        percent: chance of each.
    """

    families: tuple[str, ...]
    most: int = 2
    percent: int = 50


@dataclass(frozen=True)
class Family:
    """A parametric kind of thing.

    Attributes:
        category: its name in scenes; several families may share one.
        build: draws one instance.
        stands: "wall" (its back to a wall), "corner" (the same, at a wall's end), "floor" (anywhere),
            "hung" (on a wall, its lowest point at `hung_at`), "top" (on another thing), "ceiling".
        clearance: millimetres in front that no other thing stands in.
        hung_at: millimetres above the floor.
        carries: what stands on its surfaces.
        upright: faces the front of what carries it instead of lying at an angle.
    """

    category: str
    build: Callable[[Taste], Model]
    stands: str
    clearance: int = 0
    hung_at: int = 0
    carries: Carry | None = None
    upright: bool = False


_TABLE_TOP = Carry(("plate", "mug", "bowl", "vase", "bottle", "books", "candle", "small_plant"), 4, 55)
_LOW_TABLE = Carry(("books", "mug", "bowl", "vase", "candle", "laptop"), 3, 50)
_SHELF = Carry(("books", "vase", "small_plant", "box", "bowl", "alarm_clock", "candle", "toy"), 2, 65)
_DRESSER = Carry(("table_lamp", "vase", "books", "small_plant", "candle", "box", "alarm_clock"), 3, 50)
_BEDSIDE = Carry(("alarm_clock", "books", "mug", "candle"), 1, 60)
_WORKTOP = Carry(
    ("kettle", "toaster", "microwave", "bowl", "bottle", "mug", "pot", "plate", "small_plant"), 1, 65
)
_DESK = Carry(("laptop", "books", "mug", "table_lamp"), 2, 65)
_BATH_SHELF = Carry(("soap", "bottle", "small_plant", "candle"), 2, 70)
_LAUNDRY = Carry(("folded_clothes", "box", "bottle", "basket"), 1, 75)
_STORE = Carry(("box", "basket", "bottle", "books", "pot"), 3, 90)

FAMILIES: Mapping[str, Family] = {
    "dining_chair": Family("chair", seats.make_chair, "floor"),
    "office_chair": Family("chair", seats.make_office_chair, "floor"),
    "armchair": Family("armchair", seats.make_armchair, "floor", carries=Carry(("cushion",), 1, 40)),
    "sofa": Family(
        "sofa", seats.make_sofa, "wall", 500, carries=Carry(("cushion", "cushion", "blanket"), 3, 70)
    ),
    "stool": Family("stool", seats.make_stool, "floor"),
    "bench": Family(
        "seating", seats.make_bench, "wall", 400, carries=Carry(("folded_clothes", "books"), 1, 30)
    ),
    "pouf": Family("seating", seats.make_pouf, "floor"),
    "bed": Family(
        "bed",
        beds.make_bed,
        "wall",
        500,
        carries=Carry(("cushion", "folded_clothes", "blanket", "cushion"), 2, 60),
    ),
    "nightstand": Family("nightstand", beds.make_nightstand, "wall", 100, carries=_BEDSIDE),
    "cushion": Family("cushion", beds.make_cushion, "top", upright=True),
    "blanket": Family("blanket", beds.make_blanket, "top"),
    "dining_table": Family("table", tables.make_dining_table, "floor", carries=_TABLE_TOP),
    "wall_table": Family("table", tables.make_small_table, "wall", carries=_TABLE_TOP),
    "coffee_table": Family("coffee_table", tables.make_coffee_table, "floor", carries=_LOW_TABLE),
    "side_table": Family(
        "side_table", tables.make_side_table, "wall", carries=Carry(("table_lamp", "books", "vase"), 1, 80)
    ),
    "console_table": Family("side_table", tables.make_console_table, "wall", 400, carries=_DRESSER),
    "desk": Family("desk", tables.make_desk, "wall", 750, carries=_DESK),
    "trolley": Family("shelf", tables.make_vanity_shelf, "wall", 200, carries=_BATH_SHELF),
    "sideboard": Family("cabinet", storage.make_sideboard, "wall", 500, carries=_DRESSER),
    "tall_cabinet": Family("cabinet", storage.make_tall_cabinet, "wall", 500),
    "chest_of_drawers": Family(
        "chest_of_drawers", storage.make_chest_of_drawers, "wall", 500, carries=_DRESSER
    ),
    "wardrobe": Family("wardrobe", storage.make_wardrobe, "wall", 450),
    "bookshelf": Family("bookshelf", storage.make_bookshelf, "wall", 400, carries=_SHELF),
    "storage_shelf": Family("shelf", storage.make_bookshelf, "wall", 400, carries=_STORE),
    "wall_shelf": Family("shelf", storage.make_wall_shelf, "hung", hung_at=1350, carries=_SHELF),
    "tv_stand": Family(
        "tv_stand",
        storage.make_tv_stand,
        "wall",
        700,
        carries=Carry(("speaker", "vase", "small_plant"), 1, 40),
    ),
    "shoe_rack": Family(
        "shoe_rack", storage.make_shoe_rack, "wall", 300, carries=Carry(("basket", "vase", "box"), 1, 40)
    ),
    "clothes_rack": Family("clothes", storage.make_clothes_rack, "wall", 300),
    "coat_hooks": Family("clothes", storage.make_coat_hooks, "hung", hung_at=750),
    "folded_clothes": Family("clothes", storage.make_folded_clothes, "top"),
    "counter": Family("counter", kitchen.make_counter, "wall", 700, carries=_WORKTOP),
    "kitchen_sink": Family("sink", kitchen.make_kitchen_sink, "wall", 700),
    "oven": Family("oven", kitchen.make_oven, "wall", 700, carries=Carry(("pot", "kettle"), 1, 60)),
    "dishwasher": Family("dishwasher", kitchen.make_dishwasher, "wall", 700, carries=_WORKTOP),
    "refrigerator": Family("refrigerator", kitchen.make_refrigerator, "wall", 700),
    "wall_cabinet": Family("cabinet", kitchen.make_wall_cabinet, "hung", hung_at=1480),
    "range_hood": Family("range_hood", kitchen.make_range_hood, "hung", hung_at=1620),
    "microwave": Family("microwave", kitchen.make_microwave, "top", upright=True),
    "kettle": Family("kettle", kitchen.make_kettle, "top"),
    "toaster": Family("toaster", kitchen.make_toaster, "top", upright=True),
    "pot": Family("pot", kitchen.make_pot, "top"),
    "toilet": Family("toilet", bath.make_toilet, "wall", 500),
    "washbasin": Family("sink", bath.make_washbasin, "wall", 500, carries=Carry(("soap", "soap"), 1, 80)),
    "bathtub": Family("bathtub", bath.make_bathtub, "corner", 500),
    "shower": Family("shower", bath.make_shower, "corner", 500),
    "towel": Family("towel", bath.make_towel, "hung", hung_at=750),
    "bath_mat": Family("bath_mat", bath.make_bath_mat, "floor"),
    "mirror": Family("mirror", bath.make_mirror, "hung", hung_at=1150),
    "washing_machine": Family("washing_machine", bath.make_washing_machine, "wall", 600, carries=_LAUNDRY),
    "laundry_basket": Family("basket", bath.make_laundry_basket, "corner"),
    "toilet_paper": Family("toilet_paper", bath.make_toilet_paper, "hung", hung_at=650),
    "soap": Family("soap_dispenser", bath.make_soap_dispenser, "top"),
    "picture": Family("picture", decor.make_picture, "hung", hung_at=1300),
    "plant": Family("plant", decor.make_plant, "corner"),
    "small_plant": Family("plant", decor.make_small_plant, "top"),
    "vase": Family("vase", decor.make_vase, "top"),
    "rug": Family("rug", decor.make_rug, "floor"),
    "floor_lamp": Family("lamp", decor.make_floor_lamp, "corner"),
    "table_lamp": Family("lamp", decor.make_table_lamp, "top"),
    "ceiling_lamp": Family("lamp", decor.make_ceiling_lamp, "ceiling"),
    "clock": Family("clock", decor.make_clock, "hung", hung_at=1750),
    "fireplace": Family(
        "fireplace",
        decor.make_fireplace,
        "wall",
        900,
        carries=Carry(("candle", "vase", "clock_small"), 2, 70),
    ),
    "clock_small": Family("clock", small.make_alarm_clock, "top", upright=True),
    "television": Family("tv_monitor", decor.make_television, "top", upright=True),
    "monitor": Family("tv_monitor", decor.make_monitor, "top", upright=True),
    "candle": Family("candle", decor.make_candle, "top"),
    "speaker": Family("speaker", decor.make_speaker, "top", upright=True),
    "mug": Family("mug", small.make_mug, "top"),
    "bowl": Family("bowl", small.make_bowl, "top"),
    "plate": Family("plate", small.make_plate, "top"),
    "bottle": Family("bottle", small.make_bottle, "top"),
    "books": Family("book", small.make_books, "top"),
    "laptop": Family("laptop", small.make_laptop, "top", upright=True),
    "alarm_clock": Family("clock", small.make_alarm_clock, "top", upright=True),
    "box": Family("box", small.make_box, "top"),
    "floor_box": Family("box", small.make_box, "corner"),
    "basket": Family("basket", small.make_basket, "top"),
    "floor_basket": Family("basket", small.make_basket, "corner"),
    "trash_can": Family("trash_can", small.make_trash_can, "corner"),
    "shoes": Family("shoes", small.make_shoes, "wall"),
    "ball": Family("ball", small.make_ball, "corner"),
    "treadmill": Family("gym_equipment", small.make_treadmill, "wall", 300),
    "exercise_bike": Family("gym_equipment", small.make_exercise_bike, "wall", 300),
    "weight_bench": Family("gym_equipment", small.make_weight_bench, "wall", 300),
    "dumbbell_rack": Family("gym_equipment", small.make_dumbbell_rack, "wall", 600),
    "yoga_mat": Family("yoga_mat", small.make_yoga_mat, "floor"),
    "umbrella_stand": Family("umbrella_stand", small.make_umbrella_stand, "corner"),
    "toy": Family("toy", small.make_toy, "top"),
    "watering_can": Family("watering_can", small.make_watering_can, "corner"),
}

CATEGORIES: tuple[str, ...] = tuple(sorted({family.category for family in FAMILIES.values()}))
"""Categories of things; curtains and the structure (wall, floor, ceiling, door, window) come on top."""
