"""The instances that apartments are furnished from: 17 of each category, each of one split.

An instance is a model: the parameters of its family and the finishes and colours of its parts. All
17 of a category differ, and each split has its own, so none is seen in two splits.
"""

from dataclasses import dataclass, replace
from functools import cache

from navarena.core.errors import SceneError
from navarena.scenes.apartments.apartment_sets import INSTANCES, instance_numbers
from navarena.scenes.apartments.inventory import FAMILIES_OF
from navarena.scenes.houses.appearance.finishes import STYLES
from navarena.scenes.houses.furniture.catalog import FAMILIES, described
from navarena.scenes.houses.furniture.room_style import RoomStyle
from navarena.scenes.houses.random_draws import Draws
from navarena.scenes.houses.solids.models import Model, Part

FRESH_DRAWINGS = 24
"""Of an instance, until its description differs from those of all before it; then any other one does."""

SCALED_PERCENT = (90, 110)
"""Instances of families with few variants are made this much smaller or larger."""

ROOM_MM = 2400
"""Shorter side of the rooms that large objects are made for."""

LAID_DOWN = frozenset({"baseball_bat"})
"""Families whose instances lie instead of standing."""


@dataclass(frozen=True)
class Instance:
    """One instance: its category, its number in it (0 to 16), its family and its model."""

    category: str
    number: int
    family: str
    model: Model


@cache
def category_instances(category: str) -> tuple[Instance, ...]:
    """The 17 instances of one of the 43 categories, by number."""
    families = FAMILIES_OF[category]
    made: list[Instance] = []
    for number in range(INSTANCES):
        family = families[number % len(families)]
        made.append(Instance(category, number, family, _fresh_model(family, number, made)))
    return tuple(made)


def split_instances(category: str, split: str) -> tuple[Instance, ...]:
    """The instances of a category that apartments of `split` hold."""
    numbers = instance_numbers(split)
    return category_instances(category)[numbers.start : numbers.stop]


def _fresh_model(family: str, number: int, before: list[Instance]) -> Model:
    """A model unlike those `before`; one that a person would describe otherwise, if one comes up."""
    described_before = [instance.model.attributes for instance in before]
    parts_before = [instance.model.parts for instance in before]
    spare = None
    for drawing in range(FRESH_DRAWINGS):
        draws = Draws("robothor-like-v1", "stock", family, number, drawing)
        model = _draw_model(family, draws)
        if model.attributes not in described_before:
            return model
        scaled = described(family, _scaled(model, draws.integer(*SCALED_PERCENT, 2)))
        if spare is None and scaled.parts not in parts_before:
            spare = scaled
    if spare is None:
        raise SceneError(f"expected {INSTANCES} different instances of {family!r}, got {len(before)}")
    return spare


def _draw_model(family: str, draws: Draws) -> Model:
    style = STYLES[draws.choose(tuple(STYLES))]
    room = RoomStyle(
        draws,
        style,
        wood=draws.choose(style.woods),
        textile=draws.choose(style.textiles),
        accent=draws.choose(style.accents),
        metal=draws.choose(style.metals),
        room_mm=ROOM_MM,
    )
    model = described(family, FAMILIES[family].build(room))
    return laid_down(model) if family in LAID_DOWN else model


def _scaled(model: Model, percent: int) -> Model:
    """The model with all lengths multiplied; only objects without surfaces are ever scaled."""

    def times(lengths: tuple[int, int, int]) -> tuple[int, int, int]:
        x, y, z = (length * percent // 100 for length in lengths)
        return x, y, z

    parts = tuple(replace(part, size=times(part.size), at=times(part.at)) for part in model.parts)
    return replace(model, parts=parts)


def laid_down(model: Model) -> Model:
    """A standing model laid on its back, its top towards -z: a bat that lies on the floor."""
    thick, long = model.rect.depth, model.high - model.low

    def lie(part: Part) -> Part:
        (wide, high, deep), (x, y, z) = part.size, part.at
        at = (x, z + (thick - deep) // 2, model.low + long // 2 - y - high // 2)
        return replace(
            part, shape=replace(part.shape, lying=True, bottom=True), size=(wide, deep, high), at=at
        )

    return Model(tuple(map(lie, model.parts)), (), {**model.attributes, "shape": "lying"})
