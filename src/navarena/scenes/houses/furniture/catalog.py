"""The catalogue of furniture: every kind of object that a house may hold.

docs/catalogue.md says how to add one.
"""

from collections.abc import Mapping
from dataclasses import replace

from navarena.scenes.houses.furniture.families import Family, read_families
from navarena.scenes.houses.solids.models import Model

FAMILIES: Mapping[str, Family] = read_families()
"""All families by name."""

WINDOW_DRESS: Mapping[str, str] = {"curtains": "curtain", "blinds": "blinds"}
"""Category of what hangs at windows; it is cut to size and therefore has no row."""

CATEGORIES: tuple[str, ...] = tuple(
    sorted({*(family.category for family in FAMILIES.values()), *WINDOW_DRESS.values()})
)
"""Categories of objects; the structure (wall, floor, ceiling, door, window, stairs) comes on top."""

STAND_INS: Mapping[str, str] = {
    "nightstand": "bedside_table",
    "dresser": "chest_of_drawers",
    "ottoman": "pouf",
    "footstool": "pouf",
    "exercise_bike": "rowing_machine",
    "dishwasher": "counter",
    "freezer": "storage_shelf",
    "kitchen_island": "cart",
    "books": "magazine",
    "fruit_bowl": "bowl",
    "radiator": "heater",
    "calendar": "picture",
    "statue": "plant",
    "christmas_tree": "plant",
    "photo": "figurine",
    "wine_glass": "mug",
    "coffee_machine": "kettle",
}
"""What takes the place of a family whose category a house is built without; others are left out."""

FLAT_MM = 130
"""Objects on a wall that stand out no further darken nothing behind them."""


def is_flat(family: str, model: Model) -> bool:
    """Whether an object is too shallow (or too bright) to shade what is around it."""
    stands = FAMILIES[family].stands if family in FAMILIES else "hung"
    return stands == "ceiling" or (
        stands == "hung" and (family in WINDOW_DRESS or model.rect.depth <= FLAT_MM)
    )


def described(family: str, model: Model) -> Model:
    """The model with its size class: small, medium or large among objects of its family."""
    if family not in FAMILIES:
        return model
    limits, longest = FAMILIES[family].size_limits, longest_side(model)
    size = "small" if longest < limits[0] else "medium" if longest < limits[1] else "large"
    return replace(model, attributes={**model.attributes, "size": size})


def longest_side(model: Model) -> int:
    """Millimetres of the longest side of a model's box."""
    return max(model.rect.width, model.rect.depth, model.high - model.low)
