"""Play, sport and music."""

from navarena.scenes.houses.appearance.finishes import Look
from navarena.scenes.houses.furniture.taste import Taste
from navarena.scenes.houses.solids.models import QUARTERS, Assembly, Model, Turn
from navarena.scenes.houses.solids.shapes import (
    BALL,
    BOX,
    CUSHION,
    CYLINDER,
    DISC,
    FINE_CYLINDER,
    ROD,
    SMALL_BALL,
    lathe,
    leaning,
    straight,
    tapered,
)

BLACK = Look("plastic", "black")
CHROME = Look("metal", "chrome")


def make_piano(taste: Taste) -> Model:
    """An upright piano."""
    draws, made = taste.draws, Assembly()
    look = draws.choose(
        (Look("lacquer", "black"), Look("lacquer", "white"), taste.wood, Look("wood", "mahogany"))
    )
    width, high = 1480, draws.integer(1100, 1250, 50)
    made.box(look, (width, high, 300), (0, 0, 150))
    made.box(look, (width + 30, 30, 330), (0, high, 140))
    made.box(look, (width, 120, 280), (0, 600, -140))
    made.box(Look("piano keys", "white"), (width - 160, 16, 150), (0, 720, -190), fit=True)
    for sign in (-1, 1):
        made.box(look, (70, 130, 260), (sign * (width - 70) // 2, 720, -130))
        made.add(
            lathe((0, 1000), (300, 700), (1000, 900)),
            look,
            (80, 600, 80),
            (sign * (width // 2 - 60), 0, -230),
        )
    made.box(Look("paper", "white"), (360, 240, 12), (0, 800, -6))
    made.box(look, (500, 60, 160), (0, 0, 60))
    made.surface((0, high + 30, 140), width - 300, 180, 400)
    return made.model(look, shape="upright")


def make_guitar(taste: Taste) -> Model:
    """A guitar on its stand."""
    draws, made = taste.draws, Assembly()
    look = draws.choose(
        (
            Look("wood", "pine"),
            Look("wood", "walnut"),
            Look("lacquer", "red"),
            Look("lacquer", "black"),
            Look("lacquer", taste.some_accent()),
        )
    )
    electric = look.finish == "lacquer"
    made.box(BLACK, (340, 24, 180), (0, 0, 20))
    made.box(BLACK, (40, 330, 30), (0, 24, 100))
    thick = 44 if electric else 100
    made.add(DISC, look, (360, 340, thick), (0, 60, 0))
    made.add(DISC, look, (270, 260, thick - 4), (0, 330, 0))
    if not electric:
        made.add(DISC, BLACK, (100, 100, 8), (0, 330, -thick // 2 - 2))
    made.box(Look("wood", "walnut"), (56, 480, 30), (0, 540, -thick // 2 + 14))
    made.box(Look("wood", "walnut"), (80, 140, 26), (0, 1016, -thick // 2 + 14))
    made.box(BLACK, (110, 22, 12), (0, 150, -thick // 2 - 4))
    return made.model(look, shape="electric" if electric else "acoustic")


def make_pool_table(taste: Taste) -> Model:
    """A pool table with balls and a cue."""
    draws, made = taste.draws, Assembly()
    wood, cloth = taste.some_wood(), Look("fabric", draws.choose(("green", "blue", "red")))
    width, deep = draws.integer(1900, 2200, 100), draws.integer(1050, 1200, 50)
    made.legs(wood, tapered(700, 1000), 130, 560, width - 160, deep - 160)
    made.box(wood, (width, 180, deep), (0, 560, 0))
    made.box(cloth, (width - 180, 30, deep - 180), (0, 740, 0))
    for sign in (-1, 1):
        made.box(wood, (90, 80, deep), (sign * (width - 90) // 2, 740, 0))
        made.box(wood, (width - 180, 80, 90), (0, 740, sign * (deep - 90) // 2))
    for _ in range(6):
        ball = Look("plastic", draws.choose(("red", "yellow", "blue", "purple", "orange", "white")))
        x, z = draws.integer(-width // 3, width // 3, 20), draws.integer(-deep // 4, deep // 4, 20)
        made.add(SMALL_BALL, ball, (58, 58, 58), (x, 770, z))
    made.box(Look("wood", "pine"), (1100, 20, 20), (0, 774, deep // 2 - 200))
    return made.model(cloth, shape="rectangular")


def make_foosball_table(taste: Taste) -> Model:
    """Table football."""
    draws, made = taste.draws, Assembly()
    wood, field = taste.some_wood(), Look("lacquer", draws.choose(("green", "blue", "teal")))
    made.legs(wood, BOX, 90, 640, 1200, 640)
    made.box(wood, (1240, 130, 700), (0, 640, 0))
    made.box(field, (1120, 20, 560), (0, 770, 0))
    for sign in (-1, 1):
        made.box(wood, (60, 110, 700), (sign * 590, 770, 0))
        made.box(wood, (1120, 110, 60), (0, 770, sign * 320))
    for k in range(6):
        x, team = -450 + 180 * k, Look("plastic", ("red", "blue")[k % 2])
        made.box(CHROME, (18, 18, 1000), (x, 830, 0))
        for z in (-150, 0, 150):
            made.box(team, (30, 100, 40), (x, 785, z))
        made.add(DISC, BLACK, (44, 44, 90), (x, 817, (430, -430)[k % 2]))
    return made.model(wood, shape="table football")


def make_baseball_bat(taste: Taste) -> Model:
    """A bat leaning in a corner."""
    draws, made = taste.draws, Assembly()
    look = draws.choose(
        (
            Look("wood", "oak"),
            Look("wood", "birch"),
            Look("metal", "steel"),
            Look("metal", taste.some_accent()),
        )
    )
    high = draws.integer(720, 860, 20)
    made.add(
        lathe(
            (0, 820),
            (60, 1000),
            (400, 960),
            (700, 420),
            (950, 400),
            (970, 720),
            (1000, 720),
            section="round8",
        ),
        look,
        (68, high, 68),
        (0, 0, 0),
    )
    made.add(
        straight("round8"),
        Look("rubber", draws.choose(("black", "red", "blue"))),
        (32, high // 5, 32),
        (0, high * 3 // 4, 0),
    )
    return made.model(look, shape="standing")


def make_basketball(taste: Taste) -> Model:
    """A basketball."""
    draws, made = taste.draws, Assembly()
    look, width = (
        Look("basketball", draws.weighted(("orange", "brown", "red"), (5, 2, 1))),
        draws.integer(220, 250, 10),
    )
    made.add(BALL, look, (width, width, width), (0, 0, 0), fit=True)
    return made.model(look, shape="round")


def make_exercise_ball(taste: Taste) -> Model:
    """A large inflated ball."""
    draws, made = taste.draws, Assembly()
    look, width = (
        Look("rubber", draws.choose(("blue", "purple", "pink", "grey", taste.accent))),
        draws.integer(500, 700, 50),
    )
    made.add(BALL, look, (width, width, width), (0, 0, 0))
    return made.model(look, shape="round")


def make_punching_bag(taste: Taste) -> Model:
    """A punching bag on a weighted foot."""
    draws, made = taste.draws, Assembly()
    look = Look("leather", draws.choose(("red", "black", "blue", "brown")))
    made.add(FINE_CYLINDER, BLACK, (560, 180, 560), (0, 0, 0))
    made.add(CYLINDER, CHROME, (80, 500, 80), (0, 180, 0))
    made.add(
        lathe((0, 860), (80, 1000), (900, 1000), (1000, 820)),
        look,
        (340, draws.integer(900, 1100, 50), 340),
        (0, 600, 0),
    )
    return made.model(look, shape="standing")


def make_trampoline(taste: Taste) -> Model:
    """A small exercise trampoline."""
    draws, made = taste.draws, Assembly()
    rim, width = Look("plastic", taste.some_accent()), draws.integer(900, 1100, 50)
    for turn in QUARTERS:
        x, z = turn.apply(0, -(width // 2 - 70))
        made.add(ROD, CHROME, (36, 200, 36), (x, 0, z))
    made.add(FINE_CYLINDER, rim, (width, 50, width), (0, 200, 0))
    made.add(FINE_CYLINDER, Look("fabric", "black"), (width - 220, 12, width - 220), (0, 250, 0))
    return made.model(rim, shape="round")


def make_telescope(taste: Taste) -> Model:
    """A telescope on a tripod, looking out."""
    draws, made = taste.draws, Assembly()
    tube, leg = (
        Look("metal", draws.choose(("white", "black", "brass", "steel"))),
        draws.choose((taste.wood, BLACK)),
    )
    for turn in (Turn(), Turn(-3, 4, 5), Turn(-3, -4, 5)):
        x, z = turn.apply(0, -150)
        made.add(leaning(700, 140), leg, (34, 900, 320), (x, 0, z), turn)
    made.add(CYLINDER, BLACK, (100, 70, 100), (0, 880, 0))
    made.add(DISC, tube, (110, 110, 620), (0, 950, -60))
    made.add(DISC, tube, (134, 134, 90), (0, 938, -370))
    made.add(DISC, BLACK, (60, 60, 130), (0, 975, 310))
    return made.model(tube, shape="on tripod")


def make_globe(taste: Taste) -> Model:
    """A globe on its foot."""
    draws, made = taste.draws, Assembly()
    stand, width = draws.choose((taste.wood, Look("metal", "brass"), BLACK)), draws.integer(220, 320, 20)
    made.add(CYLINDER, stand, (width * 6 // 10, 24, width * 6 // 10), (0, 0, 0))
    made.add(ROD, stand, (24, 80, 24), (0, 24, 0))
    look = Look("globe", draws.choose(("white", "ivory", "straw")))
    made.add(BALL, look, (width, width, width), (0, 90, 0), fit=True)
    made.add(ROD, stand, (20, 30, 20), (0, 86 + width, 0))
    return made.model(stand, shape="round")


def make_aquarium(taste: Taste) -> Model:
    """A fish tank on its cabinet."""
    draws, made = taste.draws, Assembly()
    wood, width = taste.some_wood(), draws.integer(700, 1100, 100)
    made.box(wood, (width, 700, 400), (0, 0, 0))
    made.box(wood, (width - 40, 620, 16), (0, 40, -208))
    made.box(BLACK, (width, 24, 400), (0, 700, 0))
    made.box(Look("water", "white"), (width - 10, 400, 390), (0, 724, 0), fit=True)
    made.box(BLACK, (width, 60, 400), (0, 1124, 0))
    return made.model(wood, shape="tank")


def make_board_game(taste: Taste) -> Model:
    """A boxed game, or a chessboard with its pieces."""
    draws, made = taste.draws, Assembly()
    if draws.chance(50):
        look = Look("paper", taste.some_accent())
        made.box(look, (300, 60, 300), (0, 0, 0))
        made.box(
            Look(draws.choose(("art shapes", "art bars", "art circles")), "white"),
            (270, 4, 270),
            (0, 60, 0),
            fit=True,
        )
        return made.model(look, shape="boxed")
    wood = taste.some_wood()
    made.box(wood, (340, 26, 340), (0, 0, 0))
    made.box(Look("chessboard", "white"), (300, 4, 300), (0, 26, 0), fit=True)
    for k in range(6):
        piece = Look("wood", ("walnut", "birch")[k % 2])
        x, z = -131 + 37 * draws.integer(0, 7), -131 + 37 * (k + draws.integer(0, 1))
        made.add(tapered(1000, 450, "round6"), piece, (28, 60, 28), (x, 30, z))
    return made.model(wood, shape="chess")


def make_teddy_bear(taste: Taste) -> Model:
    """A sitting plush animal."""
    draws, made = taste.draws, Assembly()
    look, size = (
        Look("terry", draws.choose(("brown", "tan", "grey", "ivory", "pink", taste.accent))),
        draws.integer(180, 340, 20),
    )
    head = size * 45 // 100
    made.add(
        lathe((0, 700), (350, 1000), (1000, 640), section="round8"),
        look,
        (size * 55 // 100, size * 6 // 10, size // 2),
        (0, 0, 0),
    )
    made.add(SMALL_BALL, look, (head, head, head), (0, size * 55 // 100, 0))
    rabbit = draws.chance(35)
    for sign in (-1, 1):
        if rabbit:
            made.add(
                tapered(1000, 600),
                look,
                (head // 4, head * 9 // 10, head // 6),
                (sign * head // 4, size * 95 // 100, 0),
            )
        else:
            made.add(
                SMALL_BALL,
                look,
                (head // 3, head // 3, head // 4),
                (sign * head * 4 // 10, size * 9 // 10, 0),
            )
        made.box(look, (size // 5, size // 5, size * 45 // 100), (sign * size // 5, 0, -size // 4))
        made.box(
            look, (size // 6, size * 35 // 100, size // 6), (sign * size * 34 // 100, size // 5, -size // 12)
        )
        made.box(BLACK, (head // 9, head // 9, 6), (sign * head // 5, size * 78 // 100, -head * 46 // 100))
    made.add(
        SMALL_BALL,
        Look("terry", "ivory"),
        (head // 2, head * 4 // 10, head // 3),
        (0, size * 58 // 100, -head * 4 // 10),
    )
    return made.model(look, shape="rabbit" if rabbit else "bear")


def make_toy_car(taste: Taste) -> Model:
    """A toy car or truck."""
    draws, made = taste.draws, Assembly()
    look, long = (
        Look("plastic", draws.choose(("red", "blue", "yellow", "green", "orange"))),
        draws.integer(180, 320, 20),
    )
    wheel, truck = long // 4, draws.chance(40)
    made.box(look, (long // 2, long // 5, long), (0, wheel // 2, 0))
    cabin = Look("plastic", taste.some_accent()) if truck else Look("glass", "sky blue")
    made.add(
        tapered(1000, 760),
        cabin,
        (long * 45 // 100, long // 4, long // (3 if truck else 2)),
        (0, wheel // 2 + long // 5, -long // 3 if truck else 0),
    )
    for x in (-1, 1):
        for z in (-1, 1):
            made.add(
                DISC, BLACK, (wheel, wheel, long // 8), (x * long // 4, 0, z * long * 3 // 10), QUARTERS[1]
            )
    return made.model(look, shape="truck" if truck else "car")


def make_dollhouse(taste: Taste) -> Model:
    """A doll's house, open at the front."""
    draws, made = taste.draws, Assembly()
    wall, roof = (
        Look("lacquer", draws.choose(("pink", "white", "sky blue", "straw", "mint"))),
        Look("lacquer", draws.choose(("red", "brown", "teal", "navy"))),
    )
    width = draws.integer(500, 700, 50)
    for x in (-width // 2 + 10, 0, width // 2 - 10):
        made.box(wall, (20, 560, 280), (x, 0, 0))
    made.box(wall, (width, 560, 16), (0, 0, 148))
    for low in (0, 270, 546):
        made.box(Look("wood", "pine"), (width - 4, 16, 270), (0, low, 0))
    made.add(tapered(1000, 300), roof, (width + 60, 240, 340), (0, 562, 0))
    for k in range(4):
        made.box(
            Look("plastic", draws.choose(("red", "blue", "yellow", "green"))),
            (80, 90, 70),
            ((-1, 1)[k % 2] * width // 4, 16 + 270 * (k // 2), 40),
        )
    return made.model(wall, shape="two floors")


def make_drum(taste: Taste) -> Model:
    """A hand drum."""
    draws, made = taste.draws, Assembly()
    look, width = (
        draws.choose((taste.some_wood(), Look("lacquer", taste.some_accent()))),
        draws.integer(280, 400, 20),
    )
    high = draws.integer(400, 640, 20)
    made.add(lathe((0, 640), (700, 1000), (1000, 960)), look, (width, high, width), (0, 0, 0))
    made.add(CYLINDER, Look("leather", "ivory"), (width * 92 // 100, 14, width * 92 // 100), (0, high, 0))
    made.add(CYLINDER, taste.metal_look(), (width + 8, 30, width + 8), (0, high - 60, 0))
    return made.model(look, shape="barrel")


def make_rowing_machine(taste: Taste) -> Model:
    """A rowing machine along the wall."""
    draws, made = taste.draws, Assembly()
    frame = Look("metal", draws.choose(("black", "steel", "red", "white")))
    made.box(frame, (90, 90, 1900), (0, 240, 0))
    for z in (-900, 880):
        made.box(BLACK, (420, 240, 70), (0, 0, z))
    made.add(DISC, Look("plastic", "charcoal"), (520, 520, 140), (0, 160, -640), QUARTERS[1])
    made.add(CUSHION, BLACK, (280, 70, 240), (0, 330, 320))
    for x in (-130, 130):
        made.add(leaning(500, 300), BLACK, (90, 200, 150), (x, 240, -280))
    made.box(BLACK, (440, 34, 34), (0, 420, -330))
    made.box(Look("screen", "white"), (200, 140, 20), (0, 760, -520), fit=True)
    made.box(frame, (40, 120, 30), (0, 670, -530))
    return made.model(frame, shape="rower")
