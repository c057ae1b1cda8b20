"""Machines outside the kitchen run: washing, heating, cooling, office and sound."""

from navarena.scenes.houses.appearance.finishes import Look
from navarena.scenes.houses.furniture.taste import Taste
from navarena.scenes.houses.solids.models import QUARTERS, Assembly, Model
from navarena.scenes.houses.solids.shapes import CYLINDER, DISC, FINE_CYLINDER, ROD, lathe, leaning, tapered

BLACK = Look("plastic", "black")
STEEL = Look("metal", "steel")
CHROME = Look("metal", "chrome")
SCREEN = Look("screen", "white")


def make_freezer(taste: Taste) -> Model:
    """A chest freezer."""
    draws, made = taste.draws, Assembly()
    body = Look("metal", draws.choose(("white", "white", "light grey", "steel")))
    width, high = draws.integer(700, 1100, 50), draws.integer(820, 880, 20)
    made.box(body, (width, high, 600), (0, 0, 10))
    made.box(body, (width + 10, 60, 620), (0, high + 8, 0))
    made.box(BLACK, (width, 8, 590), (0, high, 10))
    made.box(STEEL, (180, 20, 30), (0, high + 20, -320))
    made.box(Look("plastic", "red"), (30, 14, 8), (width // 2 - 80, 120, -293))
    return made.model(body, shape="chest")


def make_clothes_dryer(taste: Taste) -> Model:
    """A tumble dryer: a dark round door left of a knob."""
    made, body = Assembly(), Look("lacquer", taste.draws.choose(("white", "light grey", "charcoal", "white")))
    made.box(body, (600, 850, 580), (0, 0, 10))
    face = -280
    made.box(Look("plastic", "charcoal"), (560, 110, 14), (0, 730, face - 7))
    made.add(DISC, STEEL, (80, 80, 30), (0, 745, face - 25))
    made.box(Look("plastic", "charcoal"), (440, 440, 22), (0, 190, face - 11))
    made.add(DISC, Look("plastic", "light grey"), (380, 380, 20), (0, 220, face - 28))
    made.surface((0, 850, 10), 480, 420, 500)
    return made.model(body, shape="square door")


def make_water_dispenser(taste: Taste) -> Model:
    """A water bottle upside down on its cooler."""
    made, body = Assembly(), Look("plastic", taste.draws.choose(("white", "light grey", "black", "sky blue")))
    made.box(body, (320, 960, 320), (0, 0, 0))
    made.box(BLACK, (220, 240, 20), (0, 600, -166))
    for x, color in ((-50, "blue"), (50, "red")):
        made.box(Look("plastic", color), (40, 40, 50), (x, 780, -190))
    made.add(
        lathe((0, 300), (150, 960), (900, 960), (1000, 800)),
        Look("glass", "sky blue"),
        (280, 380, 280),
        (0, 960, 0),
    )
    return made.model(body, shape="with bottle")


def make_air_conditioner(taste: Taste) -> Model:
    """A split unit high on the wall."""
    made, body = (
        Assembly(hangs=True),
        Look("plastic", taste.draws.choose(("white", "ivory", "light grey", "black"))),
    )
    width = taste.draws.integer(760, 1000, 40)
    made.add(leaning(160, 840), body, (width, 280, 220), (0, 0, 0))
    made.box(Look("plastic", "charcoal"), (width - 80, 34, 20), (0, 26, -102))
    made.box(Look("plastic", "green"), (16, 10, 8), (width // 2 - 70, 110, -112))
    return made.model(body, shape="wall-mounted")


def make_heater(taste: Taste) -> Model:
    """A fan heater or an oil radiator on castors."""
    draws, made = taste.draws, Assembly()
    body = Look("metal", draws.choose(("white", "black", "light grey", taste.accent)))
    ribs = draws.integer(6, 9)
    for k in range(ribs):
        made.box(body, (50, 540, 150), ((2 * k + 1 - ribs) * 36, 70, 0))
    made.box(Look("plastic", "charcoal"), (90, 520, 170), (-(ribs * 36) - 40, 70, 0))
    for sign in (-1, 1):
        made.box(BLACK, (50, 70, 260), (sign * (ribs - 2) * 36, 0, 0))
    return made.model(body, shape="ribbed")


def make_radiator(taste: Taste) -> Model:
    """A heating radiator below a window or along a wall."""
    draws, made = taste.draws, Assembly(hangs=True)
    body = Look("metal", draws.choose(("white", "white", "ivory", "charcoal")))
    ribs, high = draws.integer(8, 14), draws.choose((500, 600))
    for k in range(ribs):
        made.box(body, (44, high, 90), ((2 * k + 1 - ribs) * 28, 0, 0))
    made.box(body, (ribs * 56, 40, 60), (0, 40, 0))
    made.box(body, (ribs * 56, 40, 60), (0, high - 80, 0))
    made.add(DISC, Look("plastic", "white"), (50, 50, 70), (ribs * 28 + 40, 40, 0), QUARTERS[1])
    return made.model(body, shape="wide" if ribs > 10 else "narrow")


def make_fan(taste: Taste) -> Model:
    """A standing fan."""
    draws, made = taste.draws, Assembly()
    body = Look("plastic", draws.choose(("white", "black", "light grey", taste.accent)))
    high = draws.integer(900, 1200, 50)
    made.add(FINE_CYLINDER, body, (380, 30, 380), (0, 0, 0))
    made.add(ROD, STEEL, (34, high - 230, 34), (0, 30, 0))
    made.add(DISC, body, (420, 420, 50), (0, high - 420, -60))
    made.add(DISC, Look("plastic", "grey"), (380, 380, 10), (0, high - 400, -88))
    made.add(DISC, body, (110, 110, 20), (0, high - 265, -95))
    made.add(DISC, body, (120, 120, 120), (0, high - 270, 20))
    return made.model(body, shape="standing")


def make_boiler(taste: Taste) -> Model:
    """A gas boiler on the wall with its pipes."""
    draws, made = taste.draws, Assembly(hangs=True)
    body = Look("lacquer", draws.choose(("white", "white", "light grey", "steel")))
    width, high = draws.integer(400, 480, 20), draws.integer(650, 780, 20)
    if draws.chance(40):
        made.add(FINE_CYLINDER, body, (width, high, width), (0, 160, 0))
        shape = "cylinder"
    else:
        made.box(body, (width, high, 320), (0, 160, 0))
        shape = "box"
    front = -width // 2 if shape == "cylinder" else -160
    made.box(Look("plastic", "charcoal"), (200, 60, 16), (0, 220, front - 4))
    made.box(SCREEN, (70, 40, 8), (0, 230, front - 14), fit=True)
    for k in range(3):
        made.add(ROD, Look("metal", "copper"), (26, 170, 26), (-90 + 90 * k, 0, 60))
    return made.model(body, shape=shape)


def make_vacuum_cleaner(taste: Taste) -> Model:
    """An upright vacuum cleaner."""
    draws, made = taste.draws, Assembly()
    body = Look("plastic", draws.choose(("red", "blue", "green", "charcoal", "purple", taste.accent)))
    made.add(tapered(1000, 700), BLACK, (300, 90, 220), (0, 0, -60))
    made.add(tapered(1000, 760, "round8"), body, (170, 430, 170), (0, 90, 20))
    made.add(CYLINDER, Look("plastic", "grey"), (110, 120, 110), (0, 520, 20))
    made.add(leaning(350, 250), STEEL, (34, 480, 90), (0, 600, 40))
    made.box(BLACK, (40, 40, 130), (0, 1070, 10))
    return made.model(body, shape="upright")


def make_printer(taste: Taste) -> Model:
    """A printer with paper in its tray."""
    draws, made = taste.draws, Assembly()
    body = Look("plastic", draws.choose(("white", "black", "charcoal", "light grey")))
    width = draws.integer(340, 420, 20)
    made.box(body, (width, 150, 280), (0, 0, 0))
    made.box(Look("plastic", "grey"), (width - 20, 50, 250), (0, 150, 10))
    made.box(Look("paper", "white"), (200, 6, 80), (0, 60, -180))
    made.box(BLACK, (220, 12, 90), (0, 44, -180))
    made.add(leaning(500, 100), Look("paper", "white"), (200, 150, 80), (0, 196, 90))
    made.box(SCREEN, (80, 40, 6), (width // 2 - 70, 90, -143), fit=True)
    return made.model(body, shape="box")


def make_computer(taste: Taste) -> Model:
    """The tower of a desktop computer."""
    draws, made = taste.draws, Assembly()
    body = Look("metal", draws.choose(("black", "black", "white", "steel")))
    high = draws.integer(360, 460, 20)
    made.box(body, (190, high, 420), (0, 0, 0))
    made.box(Look("plastic", draws.choose(("charcoal", "grey"))), (150, 30, 8), (0, high - 70, -214))
    light = Look("glow", draws.choose(("sky blue", "green", "red")))
    made.box(light, (20, 20, 8), (0, high - 150, -214))
    made.box(Look("plastic", "charcoal"), (150, 150, 8), (0, 40, -214))
    return made.model(body, shape="tower")


def make_sewing_machine(taste: Taste) -> Model:
    """A sewing machine."""
    draws, made = taste.draws, Assembly()
    body = Look("plastic", draws.choose(("white", "mint", "black", "pink", taste.accent)))
    made.box(body, (400, 60, 180), (0, 0, 0))
    made.box(body, (110, 160, 140), (140, 60, 10))
    made.box(body, (380, 90, 130), (-5, 200, 10))
    made.box(body, (80, 80, 110), (-150, 120, 10))
    made.box(STEEL, (10, 60, 10), (-150, 62, 0))
    made.add(DISC, STEEL, (90, 90, 24), (208, 200, 10), QUARTERS[1])
    return made.model(body, shape="with arm")


def make_radio(taste: Taste) -> Model:
    """A portable radio."""
    draws, made = taste.draws, Assembly()
    look = draws.choose((taste.wood, Look("plastic", taste.some_accent()), Look("plastic", "black")))
    width, high = draws.integer(220, 340, 20), draws.integer(130, 200, 10)
    made.box(look, (width, high, 100), (0, 0, 0))
    made.add(DISC, Look("fabric", "charcoal"), (high - 40, high - 40, 12), (-width // 4, 20, -54))
    made.box(Look("paper", "ivory"), (width // 3, 40, 6), (width // 4, high - 70, -52))
    made.add(DISC, STEEL, (36, 36, 20), (width // 4, 20, -56))
    made.box(STEEL, (6, 220, 6), (width // 2 - 20, high, 30))
    return made.model(look, shape="box")


def make_record_player(taste: Taste) -> Model:
    """A turntable with a record on it."""
    draws, made = taste.draws, Assembly()
    look = draws.choose((taste.wood, BLACK, Look("lacquer", taste.some_accent())))
    made.box(look, (430, 110, 350), (0, 0, 0))
    made.add(FINE_CYLINDER, BLACK, (300, 14, 300), (-40, 110, 0))
    made.add(CYLINDER, Look("paper", taste.some_accent()), (100, 4, 100), (-40, 124, 0))
    made.box(CHROME, (16, 16, 220), (150, 130, 10))
    made.add(CYLINDER, CHROME, (50, 30, 50), (150, 110, 120))
    return made.model(look, shape="box")


def make_telephone(taste: Taste) -> Model:
    """A desk telephone with its receiver."""
    draws, made = taste.draws, Assembly()
    look = Look("plastic", draws.choose(("black", "ivory", "red", "green", taste.accent)))
    made.add(tapered(1000, 720), look, (200, 90, 190), (0, 0, 0))
    made.add(CYLINDER, Look("plastic", "light grey"), (90, 8, 90), (0, 90, -15))
    made.box(look, (230, 30, 44), (0, 118, 50))
    for x in (-95, 95):
        made.box(look, (44, 30, 50), (x, 94, 50))
    return made.model(look, shape="dial")
