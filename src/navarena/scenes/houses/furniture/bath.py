"""Sanitary ware, towels and laundry."""

from navarena.scenes.houses.appearance.finishes import Look
from navarena.scenes.houses.furniture.taste import Taste
from navarena.scenes.houses.solids.models import QUARTERS, Assembly, Model
from navarena.scenes.houses.solids.shapes import (
    BOX,
    CUSHION,
    CYLINDER,
    DISC,
    FINE_CYLINDER,
    ROD,
    Shape,
    lathe,
    leaning,
    tapered,
)

CERAMIC = Look("ceramic", "white")
CHROME = Look("metal", "chrome")


STANDING_BOWL = Shape(
    "round12",
    ((0, 620, 700, 0, 80), (250, 560, 640, 0, 100), (700, 900, 950, 0, 20), (1000, 1000, 1000, 0, 0)),
)
HUNG_BOWL = Shape(
    "round12",
    ((0, 480, 520, 0, 200), (400, 800, 860, 0, 60), (800, 980, 980, 0, 0), (1000, 1000, 1000, 0, 0)),
)


def make_toilet(taste: Taste) -> Model:
    """A toilet with a cistern behind it, or hung on the wall before a hidden one."""
    draws, made = taste.draws, Assembly()
    china = Look("ceramic", draws.choose(("white", "white", "white", "ivory", "light grey")))
    width = draws.integer(350, 400, 10)
    seat = draws.choose(
        (
            Look("plastic", "white"),
            Look("plastic", "ivory"),
            Look("plastic", "black"),
            Look("wood", "oak"),
            Look("wood", "walnut"),
            Look("plastic", taste.some_accent()),
        )
    )
    hung = draws.chance(30)
    if hung:
        made.add(HUNG_BOWL, china, (width, 300, 500), (0, 100, -20))
        made.box(Look("lacquer", "white"), (width + 140, 1060, 40), (0, 0, 250))
        made.box(CHROME, (180, 110, 10), (0, 880, 225))
        rest = -25
    else:
        made.add(STANDING_BOWL, china, (width, 400, 500), (0, 0, -90))
        made.box(china, (340, 390, 130), (0, 0, 200))
        made.box(china, (width + 30, 380, 180), (0, 390, 245))
        made.box(china, (width + 46, 26, 194), (0, 770, 243))
        made.cylinder(CHROME, 44, 12, (0, 796, 240))
        rest = -95
    lid = draws.chance(30)
    made.add(FINE_CYLINDER, seat, (width + 10, 36, 480), (0, 400, rest))
    if lid and not hung:
        made.add(leaning(150, 200), seat, (width, 380, 120), (0, 420, 110))
    kind = "wall-hung" if hung else "with lid up" if lid else "with cistern"
    return made.model(china, shape=kind, detail=f"{seat.color} seat")


def make_washbasin(taste: Taste) -> Model:
    """A basin on a cabinet or a pedestal, with a tap."""
    draws, made = taste.draws, Assembly()
    width, deep = draws.integer(560, 900, 20), 460
    if draws.chance(65):
        front = look = draws.choose((*taste.style.fronts, taste.wood))
        made.box(look, (width - 20, 560, deep - 30), (0, 200, 10))
        for sign in (-1, 1):
            made.box(look, (width // 2 - 20, 520, 16), (sign * (width // 4 - 6), 220, -deep // 2 + 17))
            made.box(CHROME, (14, 90, 22), (sign * 34, 560, -deep // 2))
        shape = "on a cabinet"
    else:
        width = min(width, 640)
        made.add(lathe((0, 1000), (100, 760), (800, 700), (1000, 1000)), CERAMIC, (200, 760, 200), (0, 0, 70))
        shape, front = "pedestal", CERAMIC
    rim, base = 60 if width <= 640 else 100, 760
    made.box(CERAMIC, (width, 40, deep), (0, base, 0))
    for sign in (-1, 1):
        made.box(CERAMIC, (rim, 90, deep), (sign * (width - rim) // 2, base + 40, 0))
    made.box(CERAMIC, (width - 2 * rim, 90, rim), (0, base + 40, -(deep - rim) // 2))
    made.box(CERAMIC, (width - 2 * rim, 90, 120), (0, base + 40, (deep - 120) // 2))
    made.add(ROD, CHROME, (34, 150, 34), (0, base + 130, deep // 2 - 60))
    made.box(CHROME, (28, 26, 140), (0, base + 250, deep // 2 - 120))
    if width > 640:
        made.surface((-(width // 2) + 60, base + 130, 0), 90, deep - 120, 250)
    return made.model(front, shape=shape)


def make_bathtub(taste: Taste) -> Model:
    """A tub with a rim; the tap is at one end."""
    draws, made = taste.draws, Assembly()
    enamel = Look("ceramic", draws.choose(("white", "white", "ivory", "light grey", "mint")))
    side = draws.choose((enamel, enamel, taste.wood, Look("lacquer", taste.some_accent())))
    length, deep, high = (
        draws.integer(1500, 1750, 50),
        draws.integer(700, 780, 20),
        draws.integer(520, 600, 20),
    )
    rim = 70
    for sign in (-1, 1):
        made.box(enamel, (rim, high, deep), (sign * (length - rim) // 2, 0, 0))
        made.box(enamel, (length - 2 * rim, high, rim), (0, 0, sign * (deep - rim) // 2))
    made.box(enamel, (length - 2 * rim, 150, deep - 2 * rim), (0, 0, 0))
    made.add(ROD, CHROME, (36, 160, 36), (length // 2 - 35, high, 0))
    made.box(CHROME, (150, 28, 30), (length // 2 - 100, high + 130, 0))
    panel = side != enamel
    if panel:
        made.box(side, (length - 20, high - 60, 16), (0, 20, -deep // 2 - 8))
    return made.model(enamel, shape="panelled" if panel else "plain")


def make_shower(taste: Taste) -> Model:
    """A corner shower: tray, posts, a glass side and a riser; open at the front."""
    draws, made = taste.draws, Assembly()
    width, high = draws.integer(800, 950, 50), 2000
    made.box(CERAMIC, (width, 90, width), (0, 0, 0))
    half = width // 2
    frame = Look("metal", draws.choose(("chrome", "black", "steel")))
    for x, z in ((-half + 20, -half + 20), (half - 20, -half + 20)):
        made.box(frame, (36, high - 90, 36), (x, 90, z))
    for z in (-half + 20,):
        made.box(frame, (width - 76, 30, 30), (0, high - 30, z))
    glass = Look("glass", draws.choose(("sky blue", "mint", "white")))
    for sign in (-1, 1):
        made.box(frame, (30, 30, width - 60), (sign * (half - 20), high - 30, 20))
    made.box(glass, (14, high - 130, width - 76), (half - 20, 92, 20))
    made.box(glass, (width * 45 // 100, high - 130, 14), (half - 38 - width * 45 // 200, 92, -half + 20))
    made.add(ROD, frame, (26, 1000, 26), (0, 950, half - 30))
    made.box(frame, (24, 24, 260), (0, 1930, half - 160))
    made.add(CYLINDER, frame, (200, 24, 200), (0, 1906, half - 280))
    made.box(frame, (180, 40, 40), (0, 1050, half - 35))
    return made.model(glass, shape="corner")


def make_towel(taste: Taste) -> Model:
    """A towel on a rail, as it hangs on a wall."""
    draws, made = taste.draws, Assembly(hangs=True)
    width = draws.integer(400, 560, 20)
    look = Look(
        draws.choose(("terry", "terry", "striped fabric", "dotted fabric")),
        draws.choose(("white", taste.accent, taste.some_accent(), taste.textile)),
    )
    long = draws.integer(450, 650, 50)
    made.add(ROD, CHROME, (24, 24, 24), (-width // 2 - 20, long, 24))
    made.box(CHROME, (width + 80, 20, 20), (0, long, 5))
    for sign in (-1, 1):
        made.box(CHROME, (24, 24, 44), (sign * (width // 2 + 30), long - 2, 24))
    made.box(look, (width, long - 10, 22), (0, 24, -16))
    made.box(look, (width, 30, 60), (0, long + 2, 4))
    made.box(look, (width, long - 120, 16), (0, 130, 26))
    return made.model(look, shape="hanging")


def make_bath_mat(taste: Taste) -> Model:
    """A small mat on the bathroom floor."""
    made, draws = Assembly(), taste.draws
    look = Look(
        draws.choose(("terry", "terry", "striped fabric", "zigzag fabric")),
        draws.choose((taste.some_accent(), "white", taste.textile)),
    )
    made.box(
        look, (taste.draws.integer(600, 800, 50), 12, taste.draws.integer(420, 520, 20)), (0, 0, 0), thin=True
    )
    return made.model(look, shape="rectangular")


def make_mirror(taste: Taste) -> Model:
    """A framed mirror."""
    draws, made = taste.draws, Assembly(hangs=True)
    width, high = draws.integer(450, 800, 50), draws.integer(600, 900, 50)
    frame = draws.choose(
        (taste.metal_look(), taste.some_wood(), Look("lacquer", draws.choose(("white", "black"))))
    )
    if draws.chance(35):
        made.add(DISC, frame, (width, width, 24), (0, 0, 0))
        made.add(DISC, Look("mirror", "sky blue"), (width - 50, width - 50, 8), (0, 25, -16), fit=True)
        return made.model(frame, shape="round")
    made.box(frame, (width, high, 24), (0, 0, 0))
    made.box(Look("mirror", "sky blue"), (width - 60, high - 60, 8), (0, 30, -16), fit=True)
    return made.model(frame, shape="rectangular")


def make_washing_machine(taste: Taste) -> Model:
    """A front-loading washing machine."""
    made, body = Assembly(), Look("lacquer", taste.draws.choose(("white", "white", "light grey", "charcoal")))
    made.box(body, (600, 850, 580), (0, 0, 10))
    face = -280
    made.box(Look("plastic", "light grey"), (560, 100, 14), (0, 730, face - 7))
    made.box(Look("screen", "white"), (150, 60, 10), (150, 750, face - 18), fit=True)
    made.add(DISC, CHROME, (380, 380, 30), (0, 230, face - 15))
    made.add(DISC, Look("glass", "charcoal"), (290, 290, 24), (0, 275, face - 30))
    made.surface((0, 850, 10), 480, 420, 500)
    return made.model(body, shape="front loader")


def make_laundry_basket(taste: Taste) -> Model:
    """A basket with some washing in it."""
    draws, made = taste.draws, Assembly()
    look = Look(
        draws.choose(("wicker", "wicker", "plastic", "striped fabric")),
        draws.choose(("tan", "white", "grey", taste.some_accent())),
    )
    width, high, square = draws.integer(360, 460, 20), draws.integer(380, 620, 20), draws.chance(40)
    made.add(
        tapered(880, 1000) if square else tapered(820, 1000, "round10"), look, (width, high, width), (0, 0, 0)
    )
    wash = Look(
        draws.choose(("fabric", "terry", "striped fabric")), draws.choose(("white", taste.some_accent()))
    )
    made.add(CUSHION, wash, (width - 70, 70, width - 90), (0, high - 20, 0))
    return made.model(look, shape="square" if square else "round")


def make_toilet_paper(taste: Taste) -> Model:
    """A roll on a holder, as it hangs on a wall."""
    made = Assembly(hangs=True)
    holder = Look("metal", taste.draws.choose(("chrome", "black", "brass")))
    covered = taste.draws.chance(35)
    made.box(holder, (150, 20, 60), (0, 105, 20))
    if covered:
        made.box(holder, (150, 8, 120), (0, 125, -10))
    draws = taste.draws
    paper = Look(
        draws.choose(("paper", "paper", "paper dots")), draws.choose(("white", "ivory", "light grey"))
    )
    width = draws.integer(80, 120, 10)
    made.add(DISC, paper, (width, width, 100), (0, 110 - width, -10), QUARTERS[1])
    return made.model(paper, shape="covered roll" if covered else "roll")


def make_soap_dispenser(taste: Taste) -> Model:
    """A pump bottle, round or square."""
    draws, made = taste.draws, Assembly()
    look, high = (
        Look(draws.choose(("plastic", "ceramic", "glass")), taste.some_accent()),
        draws.integer(100, 150, 10),
    )
    square = draws.chance(40)
    made.add(BOX if square else CYLINDER, look, (60, high, 60), (0, 0, 0))
    made.add(BOX, CHROME, (16, 50, 16), (0, high, 0))
    made.box(CHROME, (16, 12, 50), (0, high + 45, -18))
    return made.model(look, shape="square" if square else "round")
