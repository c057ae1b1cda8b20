"""Curtains and blinds, which are cut to the size of their window."""

from navarena.scenes.houses.appearance.finishes import Look
from navarena.scenes.houses.furniture.room_style import RoomStyle
from navarena.scenes.houses.solids.models import Assembly, Model


def draw_curtain_look(room: RoomStyle) -> Look:
    """The cloth of all curtains of a room."""
    color = room.draws.choose((room.textile, "white", "ivory", room.accent))
    return Look(room.draws.choose(("fabric", "fabric", "striped fabric")), color)


def make_curtains(look: Look, rod: Look, width: int, high: int) -> Model:
    """Two curtains on a rod, for a window `width` wide whose head is about `high` above their hem."""
    made = Assembly(hangs=True)
    made.box(rod, (width + 500, 24, 24), (0, high - 30, 0))
    folds, fold = 4, 62
    for sign in (-1, 1):
        for k in range(folds):
            x = sign * (width // 2 + 20 + fold * k + fold // 2 - 20)
            made.box(look, (fold - 2, high - 34, 44 if k % 2 else 60), (x, 0, 8 if k % 2 else 0), thin=True)
    return made.model(look, shape="long" if high > 1900 else "short")


def make_blinds(look: Look, width: int, high: int) -> Model:
    """A slatted blind, let down over `high` millimetres before a window `width` wide."""
    made = Assembly(hangs=True)
    made.box(look, (width + 160, 50, 60), (0, high - 50, 0))
    slats = max(3, (high - 60) // 130)
    for k in range(slats):
        made.box(look, (width + 140, 84, 14), (0, (high - 60) * k // slats, 0), thin=True)
    return made.model(look, shape="slatted")
