"""Pictures, plants, lamps, rugs, curtains, fireplaces, screens."""

from navarena.scenes.houses.appearance.finishes import PICTURES, RUGS, Look
from navarena.scenes.houses.furniture.taste import Taste
from navarena.scenes.houses.solids.models import SLIGHT_TURNS, STRAIGHT, Assembly, Model
from navarena.scenes.houses.solids.shapes import (
    BALL,
    BOX,
    CYLINDER,
    DISC,
    FINE_CYLINDER,
    ROD,
    SMALL_BALL,
    TINY_BALL,
    Shape,
    lathe,
    leaning,
    straight,
    tapered,
)

LEAF = Shape(
    "square",
    ((0, 300, 1000, 0, 0), (450, 1000, 1000, 0, 180), (1000, 100, 1000, 0, 600)),
    smooth=False,
)
GLOW = Look("glow", "ivory")


def make_picture(taste: Taste) -> Model:
    """A framed picture."""
    draws, made = taste.draws, Assembly(hangs=True)
    width, high = draws.choose(((400, 500), (500, 700), (700, 500), (900, 600), (600, 600), (1000, 700)))
    frame = draws.choose(
        (Look("lacquer", "black"), Look("lacquer", "white"), taste.wood, Look("metal", "brass"))
    )
    art = Look(draws.choose(PICTURES), "white")
    made.box(frame, (width, high, 26), (0, 0, 0))
    border = draws.choose((30, 30, 80))
    if border == 80:
        made.box(Look("paper", "ivory"), (width - 50, high - 50, 6), (0, 25, -15))
    made.box(art, (width - 2 * border, high - 2 * border, 8), (0, border, -18), fit=True)
    shape = "portrait" if high > width else "landscape" if width > high else "square"
    return made.model(frame, shape=shape, pattern=art.finish.removeprefix("art "))


def make_plant(taste: Taste) -> Model:
    """A house plant on the floor."""
    return _plant(taste, taste.draws.integer(240, 360, 20), taste.draws.integer(700, 1500, 50))


def make_small_plant(taste: Taste) -> Model:
    """A plant for a table."""
    return _plant(taste, taste.draws.integer(110, 150, 10), taste.draws.integer(220, 360, 20))


def _plant(taste: Taste, pot: int, high: int) -> Model:
    draws, made = taste.draws, Assembly()
    look = draws.choose(
        (
            Look("ceramic", "white"),
            Look("ceramic", "terracotta"),
            Look("ceramic", taste.some_accent()),
            Look("wicker", "tan"),
        )
    )
    pot_high = min(pot, high // 3)
    made.add(tapered(700, 1000, "round10"), look, (pot, pot_high, pot), (0, 0, 0))
    made.cylinder(Look("soil", "brown"), pot * 8 // 10, 8, (0, pot_high, 0))
    green = Look("leaf", draws.choose(("green", "green", "olive", "sage")))
    kind = draws.choose(("bush", "fronds", "tree")) if high > 600 else draws.choose(("bush", "fronds"))
    if kind == "fronds":
        for k in range(8):
            turn = STRAIGHT.then_quarter(k)
            if k > 3:
                turn = type(turn)(3, 4, 5).then_quarter(k)
            length = (high - pot_high) * draws.integer(75, 100) // 100
            made.add(LEAF, green, (pot * 45 // 100, length, max(8, pot // 14)), (0, pot_high, 0), turn)
    else:
        trunk = pot_high + (0 if kind == "bush" else (high - pot_high) // 2)
        if kind == "tree":
            made.add(
                ROD, Look("wood", "walnut"), (pot // 7, trunk - pot_high + 60, pot // 7), (0, pot_high, 0)
            )
        crown = high - trunk
        for _ in range(5 if high > 600 else 3):
            width = crown * draws.integer(45, 65) // 100
            reach = min(pot // 3, width // 2)
            x, z = draws.integer(-reach, reach), draws.integer(-reach, reach)
            low = trunk + (crown - width) * draws.integer(0, 100) // 100
            crown_ball = BALL if high > 600 else SMALL_BALL
            made.add(crown_ball, green, (width, width, width), (x, low, z), draws.choose(SLIGHT_TURNS))
    return made.model(green, shape=kind)


VASE_PROFILES = {
    "bulbous": ((0, 600), (300, 1000), (600, 900), (850, 420), (1000, 560)),
    "egg-shaped": ((0, 500), (500, 1000), (900, 700), (1000, 760)),
    "flared": ((0, 900), (500, 760), (1000, 1000)),
    "slender": ((0, 520), (350, 700), (700, 360), (1000, 440)),
}
"""(height, diameter) pairs in thousandths."""


def make_vase(taste: Taste) -> Model:
    """A turned vase, now and then with stems."""
    draws, made = taste.draws, Assembly()
    look = Look(draws.choose(("ceramic", "ceramic", "striped ceramic", "glass")), taste.some_accent())
    high, width = draws.integer(180, 320, 20), draws.integer(100, 150, 10)
    kind = draws.choose(tuple(VASE_PROFILES))
    profile = VASE_PROFILES[kind]
    made.add(lathe(*profile), look, (width, high, width), (0, 0, 0))
    if draws.chance(50):
        for turn in (STRAIGHT, STRAIGHT.then_quarter(1), STRAIGHT.then_quarter(2)):
            made.add(leaning(700, 300), Look("leaf", "green"), (10, 200, 30), (0, high - 10, 0), turn)
            x, z = turn.apply(0, 28)
            made.add(TINY_BALL, Look("paper", taste.some_accent()), (60, 60, 60), (x, high + 170, z))
    return made.model(look, shape=kind)


def make_rug(taste: Taste, width: int = 0, depth: int = 0) -> Model:
    """A rug, drawn or cut to size."""
    draws, made = taste.draws, Assembly()
    look = Look(
        draws.choose(RUGS),
        draws.choose(
            (taste.textile, taste.some_accent(), "beige", "light grey", "terracotta", "sage", "navy")
        ),
    )
    size = (width or draws.integer(1200, 2000, 100), 10, depth or draws.integer(800, 1400, 100))
    made.box(look, size, (0, 0, 0), fit=True, thin=True)
    shape = "runner" if size[0] > 2 * size[2] else "square" if size[0] * 10 < 12 * size[2] else "rectangular"
    return made.model(look, shape=shape, pattern=look.finish.removeprefix("rug "))


def draw_curtain_look(taste: Taste) -> Look:
    """The cloth of all curtains of a room."""
    color = taste.draws.choose((taste.textile, "white", "ivory", taste.accent))
    return Look(taste.draws.choose(("fabric", "fabric", "striped fabric")), color)


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


def make_floor_lamp(taste: Taste) -> Model:
    """A standing lamp."""
    draws, made = taste.draws, Assembly()
    metal, high = taste.metal_look(), draws.integer(1450, 1700, 50)
    shade = Look(
        draws.choose(("fabric", "fabric", "striped fabric", "paper")),
        draws.choose(("white", "ivory", taste.some_accent(), taste.textile)),
    )
    kind = draws.choose(("cone", "drum", "bowl"))
    made.add(FINE_CYLINDER, metal, (280, 24, 280), (0, 0, 0))
    made.add(ROD, metal, (26, high - 260, 26), (0, 24, 0))
    widths = {"cone": (1000, 620), "drum": (1000, 940), "bowl": (560, 1000)}[kind]
    made.add(tapered(*widths, "round12"), shade, (400, 280, 400), (0, high - 280, 0))
    return made.model(shade, shape=kind)


def make_table_lamp(taste: Taste) -> Model:
    """A lamp for a table or nightstand."""
    draws, made = taste.draws, Assembly()
    foot = Look(draws.choose(("ceramic", "metal", "wood")), "white")
    foot = taste.wood if foot.finish == "wood" else Look(foot.finish, taste.some_accent())
    shade = Look(
        draws.choose(("fabric", "fabric", "dotted fabric", "striped fabric")),
        draws.choose(("white", "ivory", taste.some_accent())),
    )
    kind = draws.choose(("cone", "drum", "ball"))
    made.add(
        lathe((0, 1000), (80, 900), (300, 700), (600, 900), (1000, 160)), foot, (130, 210, 130), (0, 0, 0)
    )
    if kind == "ball":
        made.add(SMALL_BALL, Look("glass", shade.color), (200, 200, 200), (0, 200, 0))
    else:
        made.add(
            tapered(1000, 640 if kind == "cone" else 940, "round10"), shade, (250, 180, 250), (0, 200, 0)
        )
    return made.model(foot, shape=kind)


def make_ceiling_lamp(taste: Taste) -> Model:
    """A lamp on the ceiling: a flat dish or a pendant; its top is the ceiling."""
    draws, made = taste.draws, Assembly(hangs=True)
    if draws.chance(55):
        width = draws.integer(300, 480, 20)
        square, metal = (
            draws.chance(30),
            Look("metal", draws.choose(("white", "black", taste.metal, taste.some_accent()))),
        )
        dish = tapered(800, 1000) if square else tapered(800, 1000, "round12")
        made.add(dish, GLOW, (width, 70, width), (0, 30, 0))
        made.add(BOX if square else FINE_CYLINDER, metal, (width + 24, 30, width + 24), (0, 100, 0))
        return made.model(metal, shape="square dish" if square else "round dish")
    drop, width = draws.integer(250, 380, 10), draws.integer(280, 400, 20)
    shade = Look(
        draws.choose(("metal", "metal", "fabric", "wicker")),
        draws.choose(("white", "black", taste.metal, taste.some_accent())),
    )
    kind = draws.choose(("pendant", "drum pendant"))
    made.add(
        tapered(1000, 300 if kind == "pendant" else 960, "round12"), shade, (width, 200, width), (0, 0, 0)
    )
    made.add(SMALL_BALL, GLOW, (120, 120, 120), (0, -40, 0))
    made.add(ROD, Look("plastic", "black"), (14, drop, 14), (0, 200, 0))
    made.add(CYLINDER, shade, (100, 26, 100), (0, 200 + drop, 0))
    return made.model(shade, shape=kind)


def make_clock(taste: Taste) -> Model:
    """A round wall clock."""
    made = Assembly(hangs=True)
    draws = taste.draws
    frame = draws.choose(
        (
            Look("metal", draws.choose(("black", "brass", "white", "steel"))),
            taste.some_wood(),
            Look("plastic", taste.some_accent()),
        )
    )
    width, square = draws.integer(240, 420, 20), draws.chance(30)
    shape = BOX if square else DISC
    made.add(shape, frame, (width, width, 28), (0, 0, 0))
    made.add(
        shape,
        Look("clock face", draws.choose(("white", "ivory", "straw"))),
        (width - 36, width - 36, 8),
        (0, 18, -18),
        fit=True,
    )
    return made.model(frame, shape="square" if square else "round")


def make_fireplace(taste: Taste) -> Model:
    """A mantelpiece around an open fire."""
    draws, made = taste.draws, Assembly()
    look = draws.choose(
        (Look("brick", "brick"), Look("marble", "white"), Look("stone", "grey"), Look("brick", "warm grey"))
    )
    width, high, deep = draws.integer(1200, 1500, 100), draws.integer(1050, 1200, 50), 380
    for sign in (-1, 1):
        made.box(look, (260, high, deep), (sign * (width - 260) // 2, 0, 0))
    made.box(look, (width - 520, high - 720, deep), (0, 720, 0))
    made.box(Look("stone", "charcoal"), (width - 520, 720, 60), (0, 0, deep // 2 - 30))
    made.box(Look("stone", "charcoal"), (width - 520, 60, deep - 60), (0, 0, -30))
    made.box(Look("fire", "white"), (width - 640, 420, 60), (0, 60, 80), fit=True)
    for k in range(3):
        made.add(straight("round6"), Look("wood", "walnut"), (90, 90, 90), (-140 + 140 * k, 60, -40))
    shelf = draws.choose((taste.wood, Look("marble", "white")))
    made.box(shelf, (width + 120, 60, deep + 60), (0, high, -30))
    made.surface((0, high + 60, -20), width - 100, deep - 120, 500)
    return made.model(look, shape="open fire")


def make_television(taste: Taste) -> Model:
    """A flat television on a foot."""
    return _screen(taste, taste.draws.integer(750, 1300, 50), 70)


def make_monitor(taste: Taste) -> Model:
    """A computer monitor."""
    return _screen(taste, taste.draws.integer(440, 680, 20), 110)


def _screen(taste: Taste, width: int, foot: int) -> Model:
    draws, made, high = taste.draws, Assembly(), width * 9 // 16
    black = Look(
        *draws.choose(
            (
                ("plastic", "black"),
                ("plastic", "black"),
                ("plastic", "charcoal"),
                ("metal", "steel"),
                ("plastic", "white"),
            )
        )
    )
    feet = draws.chance(40)
    if feet:
        for sign in (-1, 1):
            made.box(black, (30, 16, 200), (sign * width * 35 // 100, 0, 0))
            made.box(black, (30, foot, 30), (sign * width * 35 // 100, 16, 0))
    else:
        made.box(black, (width // 3, 16, 180), (0, 0, 0))
        made.box(black, (80, foot + 40, 40), (0, 16, 20))
    made.box(black, (width, high, 40), (0, foot, 0))
    made.box(Look("screen", "white"), (width - 24, high - 24, 6), (0, foot + 12, -23), fit=True)
    return made.model(black, shape="on two feet" if feet else "on a foot")


def make_candle(taste: Taste) -> Model:
    """A candle on a saucer."""
    draws, made = taste.draws, Assembly()
    wax = Look("wax", draws.choose(("ivory", "white", "red", taste.some_accent())))
    number = draws.choose((1, 1, 3))
    saucer = draws.choose((taste.metal_look(), Look("ceramic", "white"), taste.wood))
    made.cylinder(saucer, 110 if number == 1 else 200, 12, (0, 0, 0))
    for k in range(number):
        x, z = ((0, 0), (48, 30), (-40, 40))[k] if number == 1 else ((0, -48), (46, 30), (-46, 30))[k]
        made.add(straight("round8"), wax, (60, draws.integer(60, 180, 20), 60), (x, 12, z))
    return made.model(wax, shape="pillar" if number == 1 else "three pillars")


def make_speaker(taste: Taste) -> Model:
    """A loudspeaker."""
    draws, made = taste.draws, Assembly()
    look = draws.choose(
        (
            Look("plastic", "black"),
            Look("plastic", "white"),
            taste.some_wood(),
            Look("fabric", taste.some_accent()),
        )
    )
    high = draws.integer(200, 400, 20)
    if draws.chance(35):
        made.add(CYLINDER, look, (high * 6 // 10, high, high * 6 // 10), (0, 0, 0))
        made.add(CYLINDER, Look("plastic", "charcoal"), (high // 2, 12, high // 2), (0, high, 0))
        return made.model(look, shape="round")
    made.add(BOX, look, (high * 6 // 10, high, high * 65 // 100), (0, 0, 0))
    made.box(Look("fabric", "charcoal"), (high // 2, high - 40, 10), (0, 20, -high * 33 // 100 - 4))
    return made.model(look, shape="box")
