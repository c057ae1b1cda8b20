"""What hangs on walls: boards, plates, wreaths, lamps; and folding screens."""

from navarena.scenes.houses.appearance.finishes import PICTURES, Look
from navarena.scenes.houses.furniture.decor import GLOW
from navarena.scenes.houses.furniture.taste import Taste
from navarena.scenes.houses.solids.models import Assembly, Model, Turn
from navarena.scenes.houses.solids.shapes import (
    BOX,
    DISC,
    ROD,
    SMALL_BALL,
    TINY_BALL,
    Shape,
    leaning,
    tapered,
)

BLACK = Look("plastic", "black")
BRASS = Look("metal", "brass")
STONE_COLORS = ("white", "ivory", "warm grey", "charcoal", "terracotta")


def make_calendar(taste: Taste) -> Model:
    """A calendar on the wall."""
    draws, made = taste.draws, Assembly(hangs=True)
    art = draws.choose((*PICTURES, "garden"))
    width, high = draws.choose(((300, 420), (240, 480), (360, 360)))
    paper = Look("paper", draws.choose(("white", "ivory", taste.some_accent())))
    made.box(paper, (width, high, 8), (0, 0, 0))
    made.box(Look(art, "white"), (width - 20, high // 2 - 10, 5), (0, high // 2, -6), fit=True)
    made.box(Look("calendar sheet", "white"), (width - 20, high // 2 - 20, 5), (0, 10, -6), fit=True)
    shape = "square" if width == high else "tall"
    return made.model(paper, shape=shape, pattern=art.removeprefix("art "))


def make_wreath(taste: Taste) -> Model:
    """A wreath on the wall."""
    draws, made = taste.draws, Assembly(hangs=True)
    look, width = (
        Look("leaf", draws.choose(("green", "olive", "sage", "mustard"))),
        draws.integer(320, 460, 20),
    )
    ring = width // 2 - 40
    for k in range(8):
        turn = (Turn() if k % 2 else Turn(20, 21, 29)).then_quarter(k // 2)
        x, z = turn.apply(0, -ring)
        made.add(TINY_BALL, look, (width * 32 // 100, width * 32 // 100, 80), (x, ring + z + 10, 0))
    for x in (-30, 30):
        made.add(
            leaning(0, 600),
            Look("fabric", draws.choose(("red", "ivory", taste.accent))),
            (50, 110, 40),
            (x, 0, -46),
        )
    return made.model(look, shape="ring")


def make_wall_plate(taste: Taste) -> Model:
    """A decorative plate on the wall."""
    draws, made = taste.draws, Assembly(hangs=True)
    look, width = (
        Look("ceramic", draws.choose(("white", "blue", "ivory", taste.some_accent()))),
        draws.integer(220, 360, 20),
    )
    center = draws.choose(("art flower", "art circles", "rug medallion"))
    made.add(DISC, look, (width, width, 24), (0, 0, 0))
    inner = width * 7 // 10
    made.add(DISC, Look(center, "white"), (inner, inner, 6), (0, (width - inner) // 2, -14), fit=True)
    return made.model(look, shape="round", pattern=center.split(" ")[1])


def make_whiteboard(taste: Taste) -> Model:
    """A whiteboard with notes."""
    draws, made = taste.draws, Assembly(hangs=True)
    width, high = draws.choose(((900, 600), (1200, 800), (700, 700)))
    frame = Look("metal", draws.choose(("steel", "black", "white")))
    made.box(frame, (width, high, 24), (0, 0, 0))
    made.box(Look("plastic", "white"), (width - 40, high - 40, 6), (0, 20, -14))
    for k in range(draws.integer(2, 5)):
        note = Look("paper", draws.choose(("yellow", "pink", "sky blue", "mint")))
        made.box(note, (80, 80, 4), (-width // 3 + 130 * (k % 4), high * 6 // 10 - 130 * (k // 4), -18))
    made.box(frame, (width // 2, 20, 60), (0, 0, -40))
    return made.model(frame, shape="square" if width == high else "landscape")


def make_bulletin_board(taste: Taste) -> Model:
    """A cork board with paper pinned to it."""
    draws, made = taste.draws, Assembly(hangs=True)
    width, high = draws.choose(((900, 600), (600, 450), (600, 600)))
    frame = draws.choose((taste.wood, Look("metal", "black"), Look("lacquer", "white")))
    board = draws.choose((Look("cork", "tan"), Look("fabric", taste.some_accent())))
    made.box(frame, (width, high, 22), (0, 0, 0))
    made.box(board, (width - 50, high - 50, 6), (0, 25, -13))
    for k in range(draws.integer(3, 6)):
        note = Look("paper", draws.choose(("white", "ivory", "yellow", "pink", "sky blue")))
        x = -width // 3 + (width * 2 // 3) * (k % 3) // 2
        made.box(
            note,
            (draws.integer(90, 150, 10), draws.integer(90, 160, 10), 4),
            (x, 50 + (high // 2 - 30) * (k // 3), -17),
        )
    return made.model(board, shape="square" if width == high else "landscape")


def make_wall_lamp(taste: Taste) -> Model:
    """A lamp on a bracket."""
    draws, made = taste.draws, Assembly(hangs=True)
    metal, shade = (
        taste.metal_look(),
        draws.choose((Look("fabric", "ivory"), Look("fabric", taste.some_accent()), Look("glass", "white"))),
    )
    made.add(DISC, metal, (110, 110, 20), (0, 40, 60))
    made.box(metal, (24, 24, 100), (0, 80, 0))
    made.add(ROD, metal, (24, 60, 24), (0, 100, -40))
    up = draws.chance(50)
    made.add(
        tapered(1000, 620, "round10") if up else tapered(620, 1000, "round10"),
        shade,
        (190, 160, 190),
        (0, 140, -40),
    )
    made.add(SMALL_BALL, GLOW, (70, 70, 70), (0, 130 if up else 270, -40))
    return made.model(shade, shape="cone" if up else "bowl")


def make_screen(taste: Taste) -> Model:
    """A folding screen of three panels."""
    draws, made = taste.draws, Assembly()
    frame, high = taste.some_wood(), draws.integer(1600, 1800, 50)
    look = draws.choose(
        (
            Look("fabric", "ivory"),
            Look("floral fabric", taste.some_accent()),
            Look("wicker", "tan"),
            Look("striped fabric", taste.textile),
        )
    )
    for k, turn in enumerate((Turn(15, 8, 17), Turn(15, -8, 17), Turn(15, 8, 17))):
        x = (k - 1) * 400
        made.add(BOX, frame, (440, high, 24), (x, 0, 0), turn)
        made.add(BOX, look, (390, high - 120, 32), (x, 80, 0), turn)
    return made.model(look, shape="three panels")


def make_flag(taste: Taste) -> Model:
    """A pennant on the wall."""
    draws, made = taste.draws, Assembly(hangs=True)
    look = Look(
        draws.choose(("striped fabric", "zigzag fabric", "dotted fabric", "fabric")), taste.some_accent()
    )
    width, high = draws.integer(400, 700, 50), draws.integer(500, 800, 50)
    made.add(ROD, taste.wood, (26, 26, 26), (-width // 2 - 30, high - 2, 0))
    made.box(taste.wood, (width + 60, 22, 22), (0, high, 0))
    made.box(look, (width, high - 60, 8), (0, 60, 0))
    for x in (-width // 3, 0, width // 3):
        made.add(
            Shape("square", ((0, 120, 1000, 0, 0), (1000, 1000, 1000, 0, 0)), smooth=False),
            look,
            (width // 3, 60, 8),
            (x, 0, 0),
        )
    return made.model(look, shape="hanging")


def make_hunting_trophy(taste: Taste) -> Model:
    """A carved stag's head on a shield."""
    draws, made = taste.draws, Assembly(hangs=True)
    wood, look = (
        taste.some_wood(),
        draws.choose(
            (Look("fabric", "brown"), Look("ceramic", "white"), Look("wood", "oak"), Look("metal", "brass"))
        ),
    )
    made.add(DISC, wood, (320, 420, 30), (0, 0, 100))
    made.add(leaning(-500, 500), look, (140, 260, 200), (0, 90, 20))
    made.add(leaning(-300, 700), look, (110, 130, 220), (0, 290, -90))
    for sign in (-1, 1):
        for k in range(3):
            made.box(
                Look("ceramic", "ivory"), (26, 180 - 40 * k, 26), (sign * (60 + 60 * k), 400 + 50 * k, -40)
            )
        made.box(Look("ceramic", "ivory"), (150, 24, 24), (sign * 110, 440, -40))
    return made.model(look, shape="stag")
