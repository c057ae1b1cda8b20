"""What stands on what: the small things of tables, shelves, worktops and beds."""

from navarena.scenes.houses.furniture.family import Carry

EATING = ("plate", "mug", "bowl", "fruit_bowl", "wine_glass", "bottle", "shakers", "bread", "teapot")
SHOWN = ("vase", "small_plant", "figurine", "photo", "candle", "candlestick", "clock_small")
READING = ("books", "magazine", "newspaper")

TABLE_TOP = Carry((*EATING, "vase", "apple", "candlestick", "tray", "newspaper", "small_plant"), 6, 60)
LOW_TABLE = Carry(
    (*READING, "mug", "bowl", "vase", "candle", "remote_control", "laptop", "tray", "board_game", "apple"),
    4,
    60,
)
SIDE_TABLE = Carry(
    ("table_lamp", "books", "vase", "telephone", "mug", "remote_control", "radio", "photo"), 2, 85
)
SHELF = Carry(
    (
        *SHOWN,
        *READING,
        "box",
        "bowl",
        "toy",
        "jar",
        "globe",
        "binder",
        "camera",
        "board_game",
        "teddy_bear",
        "speaker",
        "toy_car",
        "basket",
        "snow_globe",
    ),
    4,
    65,
)
SHOW_CASE = Carry((*SHOWN, "wine_glass", "plate", "teapot", "bowl", "jewelry_box", "snow_globe"), 4, 75)
DRESSER = Carry(
    (
        *SHOWN,
        "table_lamp",
        "books",
        "box",
        "alarm_clock",
        "jewelry_box",
        "hat",
        "record_player",
        "radio",
        "globe",
        "handbag",
        "tissue_box",
        "cosmetics",
    ),
    5,
    55,
)
HALL = Carry(
    ("table_lamp", "vase", "telephone", "handbag", "hat", "bowl", "photo", "cell_phone", "candle"), 4, 55
)
BEDSIDE = Carry(
    (
        "alarm_clock",
        "alarm_clock",
        "books",
        "mug",
        "candle",
        "cell_phone",
        "tissue_box",
        "photo",
        "headphones",
    ),
    2,
    65,
)
WORKTOP = Carry(
    (
        "kettle",
        "kettle",
        "toaster",
        "toaster",
        "microwave",
        "microwave",
        "microwave",
        "microwave",
        "coffee_machine",
        "bowl",
        "spray_bottle",
        "bowl",
        "bottle",
        "mug",
        "pot",
        "plate",
        "small_plant",
        "coffee_machine",
        "blender",
        "mixer",
        "knife_block",
        "cutting_board",
        "dish_rack",
        "paper_towel",
        "jar",
        "teapot",
        "utensil_holder",
        "fruit_bowl",
        "bread",
        "apple",
        "shakers",
        "spray_bottle",
    ),
    6,
    62,
)
DESK = Carry(
    (
        "laptop",
        "laptop",
        "laptop",
        "printer",
        "books",
        "mug",
        "desk_lamp",
        "desk_lamp",
        "laptop",
        "printer",
        "pencil_cup",
        "paper_stack",
        "binder",
        "headphones",
        "calculator",
        "cell_phone",
        "telephone",
        "tablet",
        "sewing_machine",
    ),
    5,
    65,
)
BATH_SHELF = Carry(
    ("soap", "bottle", "small_plant", "candle", "cosmetics", "toothbrush_cup", "tissue_box", "spray_bottle"),
    4,
    75,
)
LAUNDRY = Carry(("folded_clothes", "box", "bottle", "basket", "spray_bottle"), 1, 80)
STORE = Carry(
    (
        "box",
        "basket",
        "bottle",
        "books",
        "pot",
        "spray_bottle",
        "toolbox",
        "jar",
        "paper_towel",
        "radio",
        "tray",
    ),
    4,
    85,
)
BAR = Carry(("bottle", "wine_glass", "tray", "jar", "fruit_bowl"), 3, 80)
BENCH_TOP = Carry(("toolbox", "radio", "jar", "box", "spray_bottle", "mug"), 2, 75)
SOFT = ("cushion", "cushion", "blanket", "teddy_bear", "magazine", "remote_control")
