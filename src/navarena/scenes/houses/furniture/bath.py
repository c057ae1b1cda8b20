"""Sanitary ware, towels and laundry."""

from navarena.scenes.houses.furniture.taste import Taste
from navarena.scenes.houses.looks import Look
from navarena.scenes.houses.parts import QUARTERS, Assembly, Model
from navarena.scenes.houses.shapes import (
    BOX,
    CYLINDER,
    DISC,
    FINE_CYLINDER,
    ROD,
    Shape,
    lathe,
    tapered,
)

CERAMIC = Look("ceramic", "white")
CHROME = Look("metal", "chrome")


def make_toilet(taste: Taste) -> Model:
    """A toilet with cistern and lid."""
    made = Assembly()
    bowl = Shape(
        "round12",
        ((0, 620, 700, 0, 80), (250, 560, 640, 0, 100), (700, 900, 950, 0, 20), (1000, 1000, 1000, 0, 0)),
    )
    made.add(bowl, CERAMIC, (370, 400, 500), (0, 0, -90))
    seat = Look("plastic", taste.draws.choose(("white", "white", "ivory", "black")))
    made.add(FINE_CYLINDER, seat, (380, 36, 480), (0, 400, -95))
    made.box(CERAMIC, (340, 390, 130), (0, 0, 200))
    made.box(CERAMIC, (400, 380, 180), (0, 390, 245))
    made.box(CERAMIC, (416, 26, 194), (0, 770, 243))
    made.cylinder(CHROME, 44, 12, (0, 796, 240))
    return made.model(CERAMIC, shape="with cistern")


def make_washbasin(taste: Taste) -> Model:
    """A basin on a cabinet or a pedestal, with a tap."""
    draws, made = taste.draws, Assembly()
    width, deep = draws.integer(560, 900, 20), 460
    if draws.chance(65):
        look = draws.choose(taste.style.fronts)
        made.box(look, (width - 20, 560, deep - 30), (0, 200, 10))
        for sign in (-1, 1):
            made.box(look, (width // 2 - 20, 520, 16), (sign * (width // 4 - 6), 220, -deep // 2 + 17))
            made.box(CHROME, (14, 90, 22), (sign * 34, 560, -deep // 2))
        shape = "on a cabinet"
    else:
        width = min(width, 640)
        made.add(lathe((0, 1000), (100, 760), (800, 700), (1000, 1000)), CERAMIC, (200, 760, 200), (0, 0, 70))
        shape = "pedestal"
    rim, base = 60, 760
    made.box(CERAMIC, (width, 40, deep), (0, base, 0))
    for sign in (-1, 1):
        made.box(CERAMIC, (rim, 90, deep), (sign * (width - rim) // 2, base + 40, 0))
    made.box(CERAMIC, (width - 2 * rim, 90, rim), (0, base + 40, -(deep - rim) // 2))
    made.box(CERAMIC, (width - 2 * rim, 90, 120), (0, base + 40, (deep - 120) // 2))
    made.add(ROD, CHROME, (34, 150, 34), (0, base + 130, deep // 2 - 60))
    made.box(CHROME, (28, 26, 140), (0, base + 250, deep // 2 - 120))
    if width > 640:
        made.surface((-(width // 2) + 50, base + 130, 0), 60, deep - 120, 250)
    return made.model(CERAMIC, shape=shape)


def make_bathtub(taste: Taste) -> Model:
    """A tub with a rim; the tap is at one end."""
    draws, made = taste.draws, Assembly()
    length, deep, high = (
        draws.integer(1500, 1750, 50),
        draws.integer(700, 780, 20),
        draws.integer(520, 600, 20),
    )
    rim = 70
    for sign in (-1, 1):
        made.box(CERAMIC, (rim, high, deep), (sign * (length - rim) // 2, 0, 0))
        made.box(CERAMIC, (length - 2 * rim, high, rim), (0, 0, sign * (deep - rim) // 2))
    made.box(CERAMIC, (length - 2 * rim, 150, deep - 2 * rim), (0, 0, 0))
    made.add(ROD, CHROME, (36, 160, 36), (length // 2 - 35, high, 0))
    made.box(CHROME, (150, 28, 30), (length // 2 - 100, high + 130, 0))
    return made.model(CERAMIC, shape="rectangular")


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
    look = Look("terry", draws.choose(("white", taste.accent, taste.some_accent(), taste.textile)))
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
    made, look = Assembly(), Look("terry", taste.draws.choose((taste.accent, "white", taste.textile)))
    made.box(
        look, (taste.draws.integer(600, 800, 50), 12, taste.draws.integer(420, 520, 20)), (0, 0, 0), thin=True
    )
    return made.model(look, shape="rectangular")


def make_mirror(taste: Taste) -> Model:
    """A framed mirror."""
    draws, made = taste.draws, Assembly(hangs=True)
    width, high = draws.integer(450, 800, 50), draws.integer(600, 900, 50)
    frame = taste.metal_look() if draws.chance(50) else taste.wood
    made.box(frame, (width, high, 24), (0, 0, 0))
    made.box(Look("mirror", "sky blue"), (width - 60, high - 60, 8), (0, 30, -16), fit=True)
    return made.model(frame, shape="rectangular")


def make_washing_machine(taste: Taste) -> Model:
    """A front-loading washing machine (or dryer)."""
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
    look = draws.choose((Look("wicker", "tan"), Look("plastic", taste.accent), Look("wicker", "white")))
    made.add(tapered(820, 1000, "round10"), look, (420, draws.integer(400, 560, 20), 420), (0, 0, 0))
    return made.model(look, shape="round")


def make_toilet_paper(taste: Taste) -> Model:
    """A roll on a holder, as it hangs on a wall."""
    made = Assembly(hangs=True)
    made.box(CHROME, (150, 20, 60), (0, 105, 20))
    paper = Look("paper", taste.draws.choose(("white", "ivory")))
    made.add(DISC, paper, (110, 110, 100), (0, 0, -10), QUARTERS[1])
    return made.model(paper, shape="roll")


def make_soap_dispenser(taste: Taste) -> Model:
    """A pump bottle."""
    made, look = Assembly(), Look("plastic", taste.some_accent())
    made.cylinder(look, 64, 120, (0, 0, 0))
    made.add(BOX, CHROME, (16, 50, 16), (0, 120, 0))
    made.box(CHROME, (16, 12, 50), (0, 165, -18))
    return made.model(look, shape="round")
