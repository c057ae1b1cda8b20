"""The rows of the catalogue for small things that stand on other things.

Columns: category, builder; see family.Family.
"""

from collections.abc import Mapping

from navarena.scenes.houses.furniture import (
    appliances,
    bath,
    beds,
    decor,
    household,
    kitchen,
    kitchenware,
    leisure,
    ornaments,
    paperwork,
    small,
    storage,
)
from navarena.scenes.houses.furniture.family import Family

SOFT: Mapping[str, Family] = {
    "cushion": Family("cushion", beds.make_cushion, "top", upright=True),
    "blanket": Family("blanket", beds.make_blanket, "top"),
    "folded_clothes": Family("clothes", storage.make_folded_clothes, "top"),
    "hat": Family("hat", household.make_hat, "top"),
    "handbag": Family("handbag", household.make_handbag, "top"),
}
TABLEWARE: Mapping[str, Family] = {
    "mug": Family("mug", small.make_mug, "top"),
    "bowl": Family("bowl", small.make_bowl, "top"),
    "plate": Family("plate", small.make_plate, "top"),
    "bottle": Family("bottle", small.make_bottle, "top"),
    "wine_glass": Family("glass", kitchenware.make_wine_glass, "top"),
    "teapot": Family("teapot", kitchenware.make_teapot, "top"),
    "tray": Family("tray", kitchenware.make_tray, "top"),
    "shakers": Family("salt_shaker", kitchenware.make_shakers, "top"),
    "jar": Family("jar", kitchenware.make_jar, "top"),
    "apple": Family("apple", kitchenware.make_apple, "top"),
    "bread": Family("bread", kitchenware.make_bread, "top"),
    "fruit_bowl": Family("fruit_bowl", kitchenware.make_fruit_bowl, "top"),
}
COOKING: Mapping[str, Family] = {
    "microwave": Family("microwave", kitchen.make_microwave, "top", upright=True),
    "kettle": Family("kettle", kitchen.make_kettle, "top"),
    "toaster": Family("toaster", kitchen.make_toaster, "top", upright=True),
    "pot": Family("pot", kitchen.make_pot, "top"),
    "pan": Family("pan", kitchenware.make_pan, "top"),
    "coffee_machine": Family("coffee_machine", kitchenware.make_coffee_machine, "top", upright=True),
    "blender": Family("blender", kitchenware.make_blender, "top"),
    "mixer": Family("mixer", kitchenware.make_mixer, "top"),
    "knife_block": Family("knife_block", kitchenware.make_knife_block, "top", upright=True),
    "cutting_board": Family("cutting_board", kitchenware.make_cutting_board, "top"),
    "dish_rack": Family("dish_rack", kitchenware.make_dish_rack, "top", upright=True),
    "paper_towel": Family("paper_towel", kitchenware.make_paper_towel, "top"),
    "utensil_holder": Family("utensil_holder", kitchenware.make_utensil_holder, "top"),
}
CARE: Mapping[str, Family] = {
    "soap": Family("soap_dispenser", bath.make_soap_dispenser, "top"),
    "toothbrush_cup": Family("toothbrush", household.make_toothbrush_cup, "top"),
    "cosmetics": Family("cosmetics", household.make_cosmetics, "top"),
    "tissue_box": Family("tissue_box", household.make_tissue_box, "top"),
    "spray_bottle": Family("spray_bottle", household.make_spray_bottle, "top"),
    "toolbox": Family("toolbox", household.make_toolbox, "top"),
    "box": Family("box", small.make_box, "top"),
    "basket": Family("basket", small.make_basket, "top"),
}
DECORATION: Mapping[str, Family] = {
    "small_plant": Family("plant", decor.make_small_plant, "top"),
    "vase": Family("vase", decor.make_vase, "top"),
    "candle": Family("candle", decor.make_candle, "top"),
    "candlestick": Family("candle_holder", ornaments.make_candlestick, "top"),
    "photo": Family("photo", ornaments.make_photo, "top", upright=True),
    "figurine": Family("figurine", ornaments.make_figurine, "top"),
    "jewelry_box": Family("jewelry_box", ornaments.make_jewelry_box, "top", upright=True),
    "snow_globe": Family("snow_globe", ornaments.make_snow_globe, "top"),
    "globe": Family("globe", leisure.make_globe, "top"),
    "table_lamp": Family("table_lamp", decor.make_table_lamp, "top"),
    "desk_lamp": Family("desk_lamp", ornaments.make_desk_lamp, "top"),
    "alarm_clock": Family("alarm_clock", small.make_alarm_clock, "top", upright=True),
    "clock_small": Family("alarm_clock", small.make_alarm_clock, "top", upright=True),
}
DEVICES: Mapping[str, Family] = {
    "television": Family("television", decor.make_television, "top", upright=True),
    "monitor": Family("monitor", decor.make_monitor, "top", upright=True),
    "laptop": Family("laptop", small.make_laptop, "top", upright=True),
    "tablet": Family("tablet", paperwork.make_tablet, "top", upright=True),
    "keyboard": Family("keyboard", paperwork.make_keyboard, "top", upright=True),
    "printer": Family("printer", appliances.make_printer, "top", upright=True),
    "telephone": Family("telephone", appliances.make_telephone, "top"),
    "cell_phone": Family("cell_phone", paperwork.make_cell_phone, "top"),
    "remote_control": Family("remote_control", paperwork.make_remote_control, "top"),
    "headphones": Family("headphones", paperwork.make_headphones, "top"),
    "calculator": Family("calculator", paperwork.make_calculator, "top"),
    "camera": Family("camera", paperwork.make_camera, "top"),
    "radio": Family("radio", appliances.make_radio, "top", upright=True),
    "record_player": Family("record_player", appliances.make_record_player, "top", upright=True),
    "speaker": Family("speaker", decor.make_speaker, "top", upright=True),
    "sewing_machine": Family("sewing_machine", appliances.make_sewing_machine, "top", upright=True),
}
READING: Mapping[str, Family] = {
    "books": Family("book", small.make_books, "top"),
    "magazine": Family("magazine", paperwork.make_magazine, "top"),
    "newspaper": Family("newspaper", paperwork.make_newspaper, "top"),
    "binder": Family("binder", paperwork.make_binder, "top", upright=True),
    "paper_stack": Family("paper", paperwork.make_paper_stack, "top"),
    "pencil_cup": Family("pencil_cup", paperwork.make_pencil_cup, "top"),
    "board_game": Family("board_game", leisure.make_board_game, "top"),
    "toy": Family("toy", small.make_toy, "top"),
    "toy_car": Family("toy_car", leisure.make_toy_car, "top"),
    "teddy_bear": Family("teddy_bear", leisure.make_teddy_bear, "top", upright=True),
}

BELONGINGS: Mapping[str, Family] = {
    **SOFT,
    **TABLEWARE,
    **COOKING,
    **CARE,
    **DECORATION,
    **DEVICES,
    **READING,
}
"""Families that stand on other things, by name."""
