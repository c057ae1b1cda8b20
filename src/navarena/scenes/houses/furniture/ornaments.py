"""What decorates shelves and corners, and lamps for tables."""

from navarena.scenes.houses.appearance.finishes import Look
from navarena.scenes.houses.furniture.decor import GLOW
from navarena.scenes.houses.furniture.taste import Taste
from navarena.scenes.houses.solids.models import QUARTERS, SLIGHT_TURNS, Assembly, Model, Turn
from navarena.scenes.houses.solids.shapes import (
    BALL,
    BOX,
    CONE,
    CYLINDER,
    DISC,
    FINE_CYLINDER,
    ROD,
    SMALL_BALL,
    TINY_BALL,
    lathe,
    leaning,
    straight,
    tapered,
)

BLACK = Look("plastic", "black")
BRASS = Look("metal", "brass")
STONE_COLORS = ("white", "ivory", "warm grey", "charcoal", "terracotta")


def make_photo(taste: Taste) -> Model:
    """A framed photograph on a stand."""
    draws, made = taste.draws, Assembly()
    frame = draws.choose(
        (taste.wood, taste.metal_look(), Look("lacquer", "white"), Look("lacquer", taste.some_accent()))
    )
    width, high = draws.choose(((130, 180), (180, 130), (150, 150), (200, 260)))
    made.add(leaning(160, 140), frame, (width, high, 120), (0, 0, 0))
    art = draws.choose(("art portrait", "art hills", "garden", "street"))
    made.add(leaning(160, 60), Look(art, "white"), (width - 30, high - 30, 114), (0, 15, -7), fit=True)
    made.add(leaning(-500, 60), BLACK, (40, high * 8 // 10, 100), (0, 0, 55))
    shape = "portrait" if high > width else "landscape" if width > high else "square"
    return made.model(frame, shape=shape, pattern=art.removeprefix("art "))


def make_statue(taste: Taste) -> Model:
    """A figure on a plinth: a bust, or a body of stacked forms."""
    draws, made = taste.draws, Assembly()
    look = Look(draws.choose(("stone", "marble", "metal")), draws.choose(STONE_COLORS))
    plinth, foot = draws.choose((Look("stone", "warm grey"), look)), draws.integer(300, 700, 50)
    made.box(plinth, (360, 60, 360), (0, 0, 0))
    made.box(plinth, (300, foot, 300), (0, 60, 0))
    low = foot + 60
    kind = draws.choose(("bust", "figure", "abstract"))
    if kind == "bust":
        made.add(lathe((0, 600), (300, 420), (700, 1000), (1000, 420)), look, (320, 260, 220), (0, low, 0))
        made.add(CYLINDER, look, (90, 80, 90), (0, low + 250, 0))
        made.add(BALL, look, (170, 230, 190), (0, low + 310, -6))
    elif kind == "figure":
        made.add(
            lathe((0, 1000), (450, 560), (700, 900), (900, 760), (1000, 300)),
            look,
            (240, 520, 200),
            (0, low, 0),
        )
        made.add(SMALL_BALL, look, (130, 160, 130), (0, low + 500, 0))
        for sign in (-1, 1):
            made.add(leaning(-500, 400), look, (50, 260, 150), (sign * 120, low + 220, -40))
    else:
        for k, turn in enumerate((Turn(), *SLIGHT_TURNS[2:4])):
            size = 260 - 50 * k
            made.add(BOX if k != 1 else BALL, look, (size, size, size), (0, low, 0), turn)
            low += size - 12 * (k == 1)
    return made.model(look, shape=kind)


def make_figurine(taste: Taste) -> Model:
    """A small animal for a shelf."""
    draws, made = taste.draws, Assembly()
    look = Look(
        draws.choose(("ceramic", "metal", "wood")),
        draws.choose(("white", "brass", "walnut", taste.some_accent())),
    )
    if look.finish == "wood":
        look = taste.wood
    kind, size = draws.choose(("elephant", "bird", "horse", "cat")), draws.integer(120, 220, 20)
    if kind == "bird":
        made.add(CYLINDER, look, (size // 3, 20, size // 3), (0, 0, 0))
        made.add(
            lathe((0, 260), (400, 1000), (1000, 360), section="round8"),
            look,
            (size // 2, size * 7 // 10, size * 8 // 10),
            (0, 14, 0),
        )
        made.add(SMALL_BALL, look, (size // 3, size // 3, size // 3), (0, size * 6 // 10, -size // 6))
        made.add(
            leaning(-500, 200),
            look,
            (size // 12, size // 10, size // 5),
            (0, size * 7 // 10, -size * 4 // 10),
        )
        return made.model(look, shape=kind)
    leg, body = size * 4 // 10, size // 2
    made.legs(look, BOX, size // 6, leg, body, size * 9 // 10)
    made.add(SMALL_BALL, look, (body, body, size), (0, leg * 7 // 10, 0))
    neck = {"elephant": 45, "horse": 95, "cat": 70}[kind]
    made.add(
        SMALL_BALL,
        look,
        (size * 4 // 10, size * 4 // 10, size * 4 // 10),
        (0, size * neck // 100, -size // 2),
    )
    if kind == "elephant":
        made.add(leaning(-400, 400), look, (size // 8, size // 2, size // 4), (0, size // 8, -size * 7 // 10))
        for sign in (-1, 1):
            made.box(
                look,
                (size // 14, size // 3, size // 4),
                (sign * size // 4, size * 45 // 100, -size * 4 // 10),
            )
    elif kind == "horse":
        made.add(leaning(-500, 400), look, (size // 6, size // 2, size // 3), (0, size // 2, -size * 4 // 10))
    else:
        for sign in (-1, 1):
            made.add(
                CONE,
                look,
                (size // 8, size // 7, size // 8),
                (sign * size // 8, size * 105 // 100, -size // 2),
            )
    return made.model(look, shape=kind)


def make_christmas_tree(taste: Taste) -> Model:
    """A decorated fir."""
    draws, made = taste.draws, Assembly()
    green, high = (
        Look("leaf", draws.choose(("green", "green", "sage", "white"))),
        draws.integer(1300, 2000, 100),
    )
    made.add(
        tapered(800, 1000, "round8"),
        Look("fabric", draws.choose(("red", "brown", "ivory"))),
        (380, 240, 380),
        (0, 0, 0),
    )
    made.add(ROD, Look("wood", "walnut"), (90, 200, 90), (0, 180, 0))
    width = high * 55 // 100
    for k in range(3):
        size = width * (10 - 3 * k) // 10
        made.add(
            tapered(1000, 120, "round10"),
            green,
            (size, (high - 300) * 45 // 100, size),
            (0, 300 + (high - 300) * 28 * k // 100, 0),
        )
    bauble = Look("plastic", draws.choose(("red", "mustard", "blue", "white")))
    for k in range(8):
        turn = QUARTERS[k % 4] if k % 3 else Turn(3, 4, 5).then_quarter(k)
        low = 380 + (high - 700) * k // 11
        x, z = turn.apply(0, -width * (100 - 85 * k // 11) // 230)
        made.add(TINY_BALL, bauble if k % 2 else BRASS, (70, 70, 70), (x, low - 40, z))
    made.add(SMALL_BALL, Look("glow", "yellow"), (110, 130, 60), (0, high - 110, 0))
    return made.model(green, shape="fir")


def make_grandfather_clock(taste: Taste) -> Model:
    """A tall clock with a pendulum case."""
    draws, made = taste.draws, Assembly()
    wood = draws.choose((taste.wood, Look("wood", "mahogany"), Look("wood", "walnut")))
    high = draws.integer(1750, 2050, 50)
    made.box(wood, (480, 380, 300), (0, 0, 0))
    made.box(wood, (380, high - 800, 240), (0, 380, 10))
    made.box(wood, (480, 400, 300), (0, high - 420, 0))
    made.add(tapered(1000, 820), wood, (530, 60, 340), (0, high - 20, 0))
    made.box(Look("glass", "charcoal"), (220, high - 960, 12), (0, 460, -116))
    made.add(DISC, BRASS, (140, 140, 12), (0, 520, -128))
    made.box(BRASS, (14, high - 1200, 8), (0, 640, -126))
    made.add(DISC, BRASS, (350, 350, 20), (0, high - 400, -160))
    made.add(DISC, Look("clock face", "white"), (320, 320, 8), (0, high - 385, -174), fit=True)
    return made.model(wood, shape="tall case")


def make_desk_lamp(taste: Taste) -> Model:
    """A jointed lamp for reading."""
    draws, made = taste.draws, Assembly()
    look = Look("metal", draws.choose(("black", "white", "steel", "red", taste.some_accent())))
    made.add(CYLINDER, look, (160, 24, 160), (0, 0, 0))
    made.add(leaning(700, 120), look, (20, 240, 160), (0, 24, 55))
    made.add(leaning(-760, 100), look, (20, 180, 220), (0, 260, 30))
    made.add(CONE, look, (150, 110, 150), (0, 350, -80))
    made.add(CYLINDER, GLOW, (90, 16, 90), (0, 344, -80))
    return made.model(look, shape="jointed")


def make_candlestick(taste: Taste) -> Model:
    """A candle holder with one or three candles."""
    draws, made = taste.draws, Assembly()
    metal, three = (
        draws.choose((BRASS, taste.metal_look(), Look("ceramic", taste.some_accent()), taste.wood)),
        draws.chance(45),
    )
    high, wax = (
        draws.integer(140, 300, 20),
        Look("plastic", draws.choose(("ivory", "white", "red", taste.accent))),
    )
    made.add(
        lathe((0, 1000), (80, 800), (200, 240), (900, 200), (1000, 520), section="round8"),
        metal,
        (120, high, 120),
        (0, 0, 0),
    )
    if three:
        made.box(metal, (220, 18, 24), (0, high - 40, 0))
        for x in (-95, 95):
            made.add(straight("round8"), metal, (50, 30, 50), (x, high - 24, 0))
            made.add(straight("round6"), wax, (24, 120, 24), (x, high + 6, 0))
    made.add(straight("round6"), wax, (26, 140, 26), (0, high, 0))
    return made.model(metal, shape="three arms" if three else "single")


def make_jewelry_box(taste: Taste) -> Model:
    """A small box with a domed lid."""
    draws, made = taste.draws, Assembly()
    look = draws.choose(
        (
            taste.some_wood(),
            Look("leather", taste.some_accent()),
            Look("lacquer", "black"),
            Look("metal", "brass"),
        )
    )
    width = draws.integer(160, 240, 20)
    made.box(look, (width, 80, width * 7 // 10), (0, 0, 0))
    made.add(
        lathe((0, 1000), (600, 860), (1000, 500), section="chamfered"),
        look,
        (width, 50, width * 7 // 10),
        (0, 84, 0),
    )
    made.box(BRASS, (24, 34, 10), (0, 66, -width * 35 // 100 - 3))
    return made.model(look, shape="domed")


def make_snow_globe(taste: Taste) -> Model:
    """A glass ball with a tiny house."""
    draws, made = taste.draws, Assembly()
    base, size = (
        draws.choose((taste.wood, BRASS, Look("plastic", taste.some_accent()))),
        draws.integer(80, 120, 10),
    )
    made.add(tapered(1000, 860, "round8"), base, (size * 8 // 10, size * 3 // 10, size * 8 // 10), (0, 0, 0))
    made.add(
        SMALL_BALL,
        Look("glass", draws.choose(("sky blue", "mint", "white"))),
        (size, size, size),
        (0, size * 25 // 100, 0),
    )
    return made.model(base, shape="round")


def make_fountain(taste: Taste) -> Model:
    """An indoor fountain of two basins."""
    draws, made = taste.draws, Assembly()
    look, width = (
        Look(draws.choose(("stone", "marble")), draws.choose(STONE_COLORS)),
        draws.integer(480, 640, 40),
    )
    made.add(
        lathe((0, 800), (300, 500), (600, 500), (1000, 1000), section="round12"),
        look,
        (width, 420, width),
        (0, 0, 0),
    )
    made.add(FINE_CYLINDER, Look("plastic", "sky blue"), (width - 60, 6, width - 60), (0, 420, 0))
    made.add(CYLINDER, look, (120, 220, 120), (0, 420, 0))
    made.add(tapered(400, 1000, "round10"), look, (width // 2, 90, width // 2), (0, 640, 0))
    made.add(CYLINDER, Look("plastic", "sky blue"), (width // 2 - 40, 6, width // 2 - 40), (0, 730, 0))
    made.add(
        lathe((0, 400), (500, 300), (1000, 120), section="round8"),
        Look("glass", "sky blue"),
        (90, 140, 90),
        (0, 736, 0),
    )
    return made.model(look, shape="two basins")
