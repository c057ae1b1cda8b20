"""Small things that stand on other things or on the floor, and exercise equipment."""

from navarena.scenes.houses.appearance.finishes import Look
from navarena.scenes.houses.furniture.taste import Taste
from navarena.scenes.houses.solids.models import QUARTERS, SLIGHT_TURNS, Assembly, Model
from navarena.scenes.houses.solids.shapes import (
    BALL,
    BOX,
    CUSHION,
    CYLINDER,
    DISC,
    FINE_CYLINDER,
    ROD,
    lathe,
    leaning,
    straight,
    tapered,
)


def make_mug(taste: Taste) -> Model:
    """A mug with a handle."""
    draws, made = taste.draws, Assembly()
    look = Look(
        draws.choose(("ceramic", "ceramic", "striped ceramic", "dotted ceramic")), taste.some_accent()
    )
    kind, high = draws.choose(("straight", "tapered", "round")), draws.integer(80, 120, 10)
    body = {
        "straight": straight("round8"),
        "tapered": tapered(760, 1000, "round8"),
        "round": lathe((0, 700), (450, 1000), (1000, 860), section="round8"),
    }[kind]
    made.add(body, look, (84, high, 84), (0, 0, 0))
    made.box(look, (40, 14, 14), (58, high * 65 // 100, 0))
    made.box(look, (14, high * 6 // 10, 14), (72, high * 2 // 10, 0))
    return made.model(look, shape=kind)


def make_bowl(taste: Taste) -> Model:
    """An empty bowl."""
    draws, made = taste.draws, Assembly()
    finish, width = draws.choose(("ceramic", "striped ceramic", "wood", "glass")), draws.integer(180, 300, 20)
    look = taste.some_wood() if finish == "wood" else Look(finish, taste.some_accent())
    deep = draws.chance(50)
    high = width * (45 if deep else 28) // 100
    made.add(lathe((0, 450), (400, 850), (1000, 1000)), look, (width, high, width), (0, 0, 0))
    inside = Look(look.finish, "ivory" if look.finish != "wood" else look.color)
    made.add(FINE_CYLINDER, inside, (width * 84 // 100, 3, width * 84 // 100), (0, high, 0))
    return made.model(look, shape="deep" if deep else "shallow")


def make_plate(taste: Taste) -> Model:
    """A plate."""
    draws, made = taste.draws, Assembly()
    look = Look(
        draws.choose(("ceramic", "ceramic", "dotted ceramic")),
        draws.choose(("white", "ivory", taste.some_accent())),
    )
    width = draws.integer(180, 300, 20)
    if draws.chance(20):
        made.add(tapered(700, 1000), look, (width, 22, width), (0, 0, 0))
        return made.model(look, shape="square")
    made.add(lathe((0, 600), (1000, 1000), section="round12"), look, (width, 22, width), (0, 0, 0))
    made.add(FINE_CYLINDER, Look("ceramic", "white"), (width * 6 // 10, 2, width * 6 // 10), (0, 22, 0))
    return made.model(look, shape="round")


def make_bottle(taste: Taste) -> Model:
    """A bottle: of wine, of water, or squat."""
    draws, made = taste.draws, Assembly()
    look = Look(
        draws.choose(("glass", "glass", "plastic")),
        draws.choose(("green", "brown", "sky blue", "white", taste.some_accent())),
    )
    kind = draws.choose(("slim", "squat", "square"))
    high = draws.integer(220, 340, 20) if kind == "slim" else draws.integer(160, 240, 20)
    width = 76 if kind == "slim" else 104
    made.add(
        lathe(
            (0, 1000),
            (620, 1000),
            (780, 400),
            (1000, 360),
            section="chamfered" if kind == "square" else "round8",
        ),
        look,
        (width, high, width),
        (0, 0, 0),
    )
    cap = Look("plastic", draws.choose(("black", "red", "white", "mustard")))
    made.add(straight("round6"), cap, (width * 4 // 10, 24, width * 4 // 10), (0, high - 8, 0))
    return made.model(look, shape=kind)


def make_books(taste: Taste) -> Model:
    """A pile of one to four books."""
    draws, made = taste.draws, Assembly()
    first = Look("paper", taste.some_accent())
    low = 0
    for k in range(draws.integer(1, 4)):
        look, thick = first if k == 0 else Look("paper", taste.some_accent()), draws.integer(20, 40, 2)
        turn = draws.choose(SLIGHT_TURNS)
        made.add(
            BOX, look, (draws.integer(150, 200, 10), thick, draws.integer(210, 260, 10)), (0, low, 0), turn
        )
        low += thick
    return made.model(first, shape="pile" if low > 45 else "single")


def make_laptop(taste: Taste) -> Model:
    """An open laptop."""
    draws, made = taste.draws, Assembly()
    body = Look(
        draws.choose(("metal", "plastic")),
        draws.choose(("steel", "charcoal", "white", "black", taste.some_accent())),
    )
    wide = draws.integer(290, 390, 20)
    made.box(body, (wide, 18, wide * 7 // 10), (0, 0, 0))
    made.box(Look("keys", "grey"), (wide - 40, 4, wide // 3), (0, 18, 40), fit=True)
    back = wide * 35 // 100 + 15
    made.add(leaning(450, 180), body, (wide, wide * 62 // 100, 60), (0, 18, back))
    made.add(
        leaning(450, 100),
        Look("screen", "white"),
        (wide - 24, wide * 62 // 100 - 22, 58),
        (0, 28, back - 8),
        fit=True,
    )
    return made.model(body, shape="open")


def make_alarm_clock(taste: Taste) -> Model:
    """A small clock: boxed, round with bells, or digital."""
    draws, made = taste.draws, Assembly()
    look = Look(
        draws.choose(("plastic", "metal")), draws.choose(("black", "white", "red", taste.some_accent()))
    )
    kind, size = draws.choose(("box", "round", "digital")), draws.integer(90, 150, 10)
    if kind == "digital":
        made.box(look, (size * 14 // 10, size * 6 // 10, 70), (0, 0, 0))
        made.box(
            Look("screen", "white"), (size * 12 // 10, size * 4 // 10, 6), (0, size // 10, -37), fit=True
        )
        glow = Look("glow", draws.choose(("red", "green", "sky blue")))
        for x in (-36, -14, 14, 36):
            made.box(glow, (10, size * 22 // 100, 4), (x * size // 100, size * 19 // 100, -41))
        return made.model(look, shape=kind)
    if kind == "box":
        made.box(look, (size, size, 60), (0, 0, 0))
    else:
        made.add(DISC, look, (size, size, 50), (0, 14, 0))
        for x in (-size * 3 // 10, size * 3 // 10):
            made.add(
                straight("round6"),
                Look("metal", "brass"),
                (size // 3, size // 5, size // 3),
                (x, size + 2, 0),
            )
            made.box(look, (14, 24, 20), (x, 0, 0))
    made.add(
        BOX if kind == "box" else DISC,
        Look("clock face", "white"),
        (size - 20, size - 20, 6),
        (0, 10 if kind == "box" else 24, -33 if kind == "box" else -28),
        fit=True,
    )
    return made.model(look, shape=kind)


def make_box(taste: Taste) -> Model:
    """A storage box with a lid, or a taped cardboard box."""
    draws, made = taste.draws, Assembly()
    width, deep, high = draws.integer(240, 420, 20), draws.integer(220, 320, 20), draws.integer(140, 320, 20)
    if draws.chance(35):
        look = Look("paper", draws.choose(("tan", "tan", "sand")))
        made.box(look, (width, high, deep), (0, 0, 0))
        made.box(Look("paper", "beige"), (50, 3, deep), (0, high, 0))
        return made.model(look, shape="cardboard")
    look = Look(
        draws.choose(("plastic", "fabric", "paper dots", "paper stripes", "wicker")), taste.some_accent()
    )
    made.box(look, (width, high, deep), (0, 0, 0))
    made.box(look, (width + 14, 30, deep + 14), (0, high, 0))
    return made.model(look, shape="with lid")


def make_basket(taste: Taste) -> Model:
    """A woven basket, round or square, with or without a handle."""
    draws, made = taste.draws, Assembly()
    look = Look("wicker", draws.choose(("tan", "beige", "brown", "white", taste.some_accent())))
    width, high = draws.integer(240, 400, 20), draws.integer(180, 340, 20)
    square = draws.chance(40)
    made.add(
        tapered(800, 1000) if square else tapered(800, 1000, "round10"), look, (width, high, width), (0, 0, 0)
    )
    if draws.chance(45):
        for x in (-1, 1):
            made.box(look, (16, 110, 30), (x * (width // 2 - 8), high, 0))
        made.box(look, (width, 16, 30), (0, high + 110, 0))
        return made.model(look, shape="with handle")
    return made.model(look, shape="square" if square else "round")


def make_trash_can(taste: Taste) -> Model:
    """A bin, round or square, with or without a pedal."""
    draws, made = taste.draws, Assembly()
    look = draws.choose(
        (
            Look("metal", "steel"),
            Look("metal", taste.some_accent()),
            Look("plastic", "black"),
            Look("plastic", taste.some_accent()),
            Look("wicker", "tan"),
        )
    )
    width, high, square = draws.integer(220, 320, 20), draws.integer(280, 620, 20), draws.chance(40)
    made.add(
        tapered(860, 1000) if square else tapered(860, 1000, "round10"), look, (width, high, width), (0, 0, 0)
    )
    made.add(
        BOX if square else CYLINDER, Look("plastic", "charcoal"), (width - 10, 24, width - 10), (0, high, 0)
    )
    if draws.chance(40):
        made.box(Look("metal", "steel"), (70, 20, 50), (0, 14, -width // 2 - 10))
    return made.model(look, shape="square" if square else "round")


def make_shoes(taste: Taste) -> Model:
    """A pair of shoes."""
    made, look = (
        Assembly(),
        Look("leather", taste.draws.choose(("brown", "black", "white", taste.some_accent()))),
    )
    for x in (-60, 60):
        made.box(look, (88, 40, 260), (x, 0, 0))
        made.add(tapered(1000, 700), look, (84, 60, 130), (x, 40, 60))
    return made.model(look, shape="pair")


def make_ball(taste: Taste) -> Model:
    """A ball on the floor."""
    draws, made = taste.draws, Assembly()
    look = Look(
        draws.choose(("rubber", "rubber", "dotted fabric", "striped fabric")),
        draws.choose(("blue", "red", "white", taste.some_accent())),
    )
    width = draws.integer(140, 280, 10)
    made.add(BALL, look, (width, width, width), (0, 0, 0))
    return made.model(look, shape="round")


def make_treadmill(taste: Taste) -> Model:
    """A treadmill; its display is at the back."""
    made, black, grey = (
        Assembly(),
        Look("rubber", "black"),
        Look("metal", taste.draws.choose(("charcoal", "steel", "white", "black"))),
    )
    made.box(grey, (760, 150, 1600), (0, 0, 0))
    made.box(black, (520, 16, 1500), (0, 150, -20))
    for x in (-340, 340):
        made.add(leaning(150, 600), grey, (60, 1050, 120), (x, 150, 660))
        made.box(black, (50, 50, 520), (x, 900, 440))
    made.box(grey, (740, 240, 60), (0, 1130, 690))
    made.box(Look("screen", "white"), (420, 160, 10), (0, 1170, 655), fit=True)
    return made.model(grey, shape="treadmill")


def make_exercise_bike(taste: Taste) -> Model:
    """A stationary bicycle."""
    made, frame = Assembly(), Look("metal", taste.draws.choose(("black", "white", "red", "steel", "blue")))
    black = Look("plastic", "black")
    for z in (-430, 430):
        made.box(black, (480, 60, 80), (0, 0, z))
    made.box(frame, (80, 80, 900), (0, 60, 0))
    made.box(frame, (60, 560, 70), (0, 140, 180))
    made.add(CUSHION, black, (240, 80, 280), (0, 700, 180))
    made.box(frame, (60, 800, 70), (0, 140, -300))
    made.box(black, (440, 40, 40), (0, 940, -330))
    made.box(Look("screen", "white"), (180, 130, 30), (0, 980, -310), fit=True)
    made.add(DISC, _wheel_look(frame), (420, 420, 70), (0, 150, -330), QUARTERS[1])
    for x in (-110, 110):
        made.box(black, (100, 26, 60), (x, 200, 20 + x // 2))
    return made.model(frame, shape="bike")


def _wheel_look(frame: Look) -> Look:
    """The cover of the flywheel, lighter or darker than the frame."""
    return Look("plastic", "light grey" if frame.color == "black" else "charcoal")


def make_weight_bench(taste: Taste) -> Model:
    """A padded bench with a barbell on its rack."""
    made, frame = Assembly(), Look("metal", "charcoal")
    cover = Look("leather", taste.draws.choose(("black", "red", "brown", taste.some_accent())))
    made.add(CUSHION, cover, (320, 80, 1150), (0, 400, -60))
    for z in (-480, 360):
        made.box(frame, (420, 50, 60), (0, 0, z))
        made.box(frame, (70, 370, 60), (0, 40, z))
    for x in (-420, 420):
        made.box(frame, (60, 1050, 60), (x, 0, 500))
        made.box(frame, (60, 50, 420), (x, 0, 440))
    made.box(Look("metal", "steel"), (1500, 30, 30), (0, 1050, 480))
    for x in (-650, 650):
        made.add(DISC, Look("rubber", "black"), (360, 360, 90), (x, 885, 480), QUARTERS[1])
    return made.model(cover, shape="bench")


def make_dumbbell_rack(taste: Taste) -> Model:
    """Two rows of dumbbells."""
    made, frame = Assembly(), Look("metal", taste.draws.choose(("black", "steel", "white", "charcoal")))
    for x in (-480, 480):
        made.add(leaning(300, 500), frame, (50, 760, 260), (x, 0, 60))
    for low, z in ((260, 0), (620, 80)):
        made.box(frame, (960, 30, 220), (0, low, z))
        for k in range(5):
            x = -380 + 190 * k
            made.box(Look("metal", "steel"), (34, 34, 200), (x, low + 60, z))
            for end in (-80, 80):
                made.add(
                    ROD,
                    Look("rubber", taste.accent if k == 2 else "black"),
                    (120, 110, 60),
                    (x, low + 30, z + end),
                )
    return made.model(frame, shape="rack")


def make_yoga_mat(taste: Taste) -> Model:
    """An unrolled mat."""
    made, look = Assembly(), Look("rubber", taste.some_accent())
    made.box(look, (620, 10, 1750), (0, 0, 0), thin=True)
    return made.model(look, shape="rectangular")


def make_umbrella_stand(taste: Taste) -> Model:
    """A stand with umbrellas."""
    made, look = Assembly(), taste.metal_look()
    made.add(FINE_CYLINDER, look, (240, 480, 240), (0, 0, 0))
    for x, z in ((-40, 20), (50, -30)):
        made.add(
            tapered(400, 1000, "round6"), Look("fabric", taste.some_accent()), (70, 420, 70), (x, 400, z)
        )
    return made.model(look, shape="round")


def make_toy(taste: Taste) -> Model:
    """A pyramid of building blocks."""
    made = Assembly()
    first = Look("plastic", taste.some_accent())
    for k, (x, y) in enumerate(((-62, 0), (0, 0), (62, 0), (-31, 60), (31, 60), (0, 120))):
        made.box(first if k == 0 else Look("plastic", taste.some_accent()), (58, 58, 58), (x, y, 0))
    return made.model(first, shape="blocks")


def make_watering_can(taste: Taste) -> Model:
    """A watering can."""
    made, look = Assembly(), Look("metal", taste.some_accent())
    made.add(CYLINDER, look, (180, 200, 180), (0, 0, 0))
    made.add(leaning(-900, 200), look, (34, 170, 220), (0, 60, -130))
    made.box(look, (24, 24, 110), (0, 210, 60))
    made.box(look, (24, 150, 22), (0, 70, 110))
    return made.model(look, shape="round")
