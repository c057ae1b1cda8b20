"""Frames, leaves and panes: what fills the holes in walls.

Models stand with their back to the wall: -z points into the opening's own room, the wall
reaches from z = 0 to its thickness, and x runs along the wall.
"""

from navarena.scenes.houses.appearance.finishes import Look
from navarena.scenes.houses.plan.floor_plan import WallOpening
from navarena.scenes.houses.solids.models import Assembly, Model

HOLE_MARGIN_MM = 30
"""The rough hole is larger than the clear opening by this much on each side; frames cover it."""

FRAME_MM = 80
PROUD_MM = 14
WHITE = Look("lacquer", "white")


def opening_model(opening: WallOpening, thickness: int, door: Look, view: Look) -> Model:
    """The model of any opening in a wall of `thickness` millimetres."""
    width = opening.end - opening.start
    if opening.kind == "window":
        return _window(width, opening.low, opening.high, thickness, view)
    if opening.kind == "passage":
        return _passage(width, opening.high, thickness)
    if opening.kind == "entrance":
        return _entrance(width, opening.high, thickness, door)
    return _door(opening, width, thickness, door)


def _frame(assembly: Assembly, look: Look, width: int, high: int, thickness: int, wide: int) -> None:
    """Two jambs and a head of `wide` millimetres around a clear opening."""
    depth, middle = thickness + 2 * PROUD_MM, thickness // 2
    for sign in (-1, 1):
        assembly.box(look, (wide, high + wide, depth), (sign * (width + wide) // 2, 0, middle))
    assembly.box(look, (width, wide, depth), (0, high, middle))


def _door(opening: WallOpening, width: int, thickness: int, look: Look) -> Model:
    assembly = Assembly()
    _frame(assembly, WHITE, width, opening.high, thickness, FRAME_MM)
    if opening.leaf:
        length, leaf = width - 10, 40
        x = -opening.leaf * (width - leaf) // 2  # +x points towards `start`
        inwards = opening.leaf_room == opening.room
        z = -20 - length // 2 if inwards else thickness + 20 + length // 2
        assembly.box(look, (leaf, opening.high - 10, length), (x, 5, z))
        knob = -20 - length + 70 if inwards else thickness + 20 + length - 70
        for sign in (-1, 1):
            assembly.box(Look("metal", "steel"), (30, 24, 110), (x + sign * 35, 1030, knob))
    return assembly.model(look if opening.leaf else WHITE, state="open")


def _passage(width: int, high: int, thickness: int) -> Model:
    assembly = Assembly()
    _frame(assembly, WHITE, width, high, thickness, FRAME_MM - 30)
    return assembly.model(WHITE, state="open")


def _entrance(width: int, high: int, thickness: int, look: Look) -> Model:
    assembly = Assembly()
    _frame(assembly, WHITE, width, high, thickness, FRAME_MM)
    face = thickness // 3
    assembly.box(look, (width, high, 60), (0, 0, face))
    for low, height in ((160, 800), (1080, 880)):
        for sign in (-1, 1):
            for side in (-1, 1):
                panel = (sign * width // 4, low, face + side * 34)
                assembly.box(look, (width // 2 - 110, height, 16), panel)
    for side in (-1, 1):
        assembly.box(Look("metal", "brass"), (130, 26, 30), (width // 2 - 110, 1030, face + side * 50))
    return assembly.model(look, state="closed")


def _window(width: int, low: int, high: int, thickness: int, view: Look) -> Model:
    assembly = Assembly()
    height, lining = high - low, HOLE_MARGIN_MM + 10
    depth, middle = thickness + 12, thickness // 2
    for sign in (-1, 1):
        assembly.box(
            WHITE, (lining, height + 2 * lining, depth), (sign * (width + lining) // 2, low - lining, middle)
        )
    assembly.box(WHITE, (width, lining, depth), (0, high, middle))
    assembly.box(WHITE, (width + 160, lining, thickness + 60), (0, low - lining, middle - 20))
    glass = thickness * 6 // 10
    assembly.box(view, (width, height, 8), (0, low, glass + 20), fit=True)
    bar = 50
    for sign in (-1, 1):
        assembly.box(WHITE, (bar, height, 50), (sign * (width - bar) // 2, low, glass))
        assembly.box(WHITE, (width - 2 * bar, bar, 50), (0, low if sign < 0 else high - bar, glass))
    for k in range(1, max(1, (width + 200) // 900) + (width > 700)):
        pieces = max(1, (width + 200) // 900) + (width > 700)
        assembly.box(WHITE, (bar, height - 2 * bar, 44), (width * k // pieces - width // 2, low + bar, glass))
    return assembly.model(WHITE, state="closed")
