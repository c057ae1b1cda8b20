"""Kitchen units in a run along one wall, with cabinets above them."""

from navarena.scenes.houses.furnishing.arranger import Arranger
from navarena.scenes.houses.furnishing.free_space import against_wall
from navarena.scenes.houses.furniture.catalog import FAMILIES
from navarena.scenes.houses.plan.floor_plan import SIDES
from navarena.scenes.houses.solids.models import Model

UNIT_MM = 600
HIGH_MM = 900
DEEP_MM = 600
"""Height and depth of the units of a run."""

SINK_MM = 800
LONGEST_MM = 4600
FRONT_MM = 900
"""Floor kept free before the units."""


def place_kitchen_run(arranger: Arranger) -> None:
    """Place a run of units on the wall with most room; nothing where less than 2 m are free."""
    space, draws = arranger.space, arranger.draws
    best: tuple[int, int, int, int] | None = None
    for side in draws.shuffled(SIDES):
        for start, end in space.wall_intervals(side, DEEP_MM + 20, 0, HIGH_MM, FRONT_MM):
            if best is None or end - start > best[0]:
                best = (end - start, side, start, end)
    if best is None or best[0] < SINK_MM + 2 * UNIT_MM:
        return
    length, side, start, end = best
    units = _draw_units(arranger, min(length, LONGEST_MM))
    total = sum(width for _, width in units)
    at = draws.choose((start, end - total))
    if units[0][0] == "refrigerator" and at != start:
        units = units[::-1]
    _place_units(arranger, side, at, units)


def _draw_units(arranger: Arranger, length: int) -> list[tuple[str, int]]:
    """(family, width) of each unit: oven and sink apart, counters between, a refrigerator at one end."""
    draws = arranger.draws
    units: list[tuple[str, int]] = [("kitchen_sink", SINK_MM), ("counter", UNIT_MM), ("oven", UNIT_MM)]
    left = length - SINK_MM - 2 * UNIT_MM
    if left >= 650:
        units.insert(0, ("refrigerator", 650))
        left -= 650
    if left >= UNIT_MM and draws.chance(65) and arranger.resolve("dishwasher") == "dishwasher":
        units.insert(len(units) - 2, ("dishwasher", UNIT_MM))
        left -= UNIT_MM
    if left >= 400:
        units.append(("counter", min(left, 1200) // 50 * 50))
    return units


def _place_units(arranger: Arranger, side: int, start: int, units: list[tuple[str, int]]) -> None:
    at = start
    for family, width in units:
        model = _build(arranger, family, width)
        own = model.rect
        offset = (width - own.width) // 2 if family != "counter" else 0
        pose = against_wall(arranger.space.floor, side, at + offset, model)
        if family == "refrigerator" and _is_behind_window(arranger, side, at, at + width, model.high):
            family, model = "counter", _build(arranger, "counter", width)
            pose = against_wall(arranger.space.floor, side, at, model)
        index = arranger.commit(family, model, pose, side)
        arranger.fill_surfaces(index)
        _place_above(arranger, side, at, at + width, family)
        at += width


def _build(arranger: Arranger, family: str, width: int) -> Model:
    return (
        FAMILIES["counter"].build(arranger.style, width=width)
        if family == "counter"
        else arranger.build(family)
    )


def _is_behind_window(arranger: Arranger, side: int, start: int, end: int, high: int) -> bool:
    return any(
        at == side and a < end and start < b and sill < high for at, a, b, sill, _ in arranger.space.windows
    )


def _place_above(arranger: Arranger, side: int, start: int, end: int, family: str) -> None:
    """A wall cabinet, or the hood over the oven, where there is no window."""
    if family == "refrigerator":
        return
    above = "range_hood" if family == "oven" else "wall_cabinet"
    model = (
        arranger.build(above)
        if above == "range_hood"
        else FAMILIES["wall_cabinet"].build(arranger.style, width=end - start)
    )
    height = FAMILIES[above].hung_at
    if height + model.high > arranger.space.ceiling - 50:
        return
    if _is_behind_window(arranger, side, start - 60, end + 60, height + model.high):
        return
    offset = (end - start - model.rect.width) // 2 if above == "range_hood" else 0
    pose = against_wall(arranger.space.floor, side, start + offset, model, height, 2)
    arranger.commit(above, model, pose, side)
