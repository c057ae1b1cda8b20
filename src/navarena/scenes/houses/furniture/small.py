"""Small things that stand on other things or on the floor, and exercise equipment."""

from navarena.scenes.houses.furniture.taste import Taste
from navarena.scenes.houses.looks import Look
from navarena.scenes.houses.parts import QUARTERS, SLIGHT_TURNS, Assembly, Model
from navarena.scenes.houses.shapes import (
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
    made, look = Assembly(), Look("ceramic", taste.some_accent())
    made.add(straight("round8"), look, (84, 95, 84), (0, 0, 0))
    made.box(look, (40, 14, 14), (58, 62, 0))
    made.box(look, (14, 60, 14), (72, 20, 0))
    return made.model(look, shape="round")


def make_bowl(taste: Taste) -> Model:
    """A bowl with fruit."""
    draws, made = taste.draws, Assembly()
    look, width = Look(draws.choose(("ceramic", "wood")), "white"), draws.integer(200, 280, 20)
    look = taste.wood if look.finish == "wood" else Look("ceramic", taste.some_accent())
    made.add(lathe((0, 450), (400, 800), (1000, 1000)), look, (width, 80, width), (0, 0, 0))
    if draws.chance(70):
        fruit = Look("plastic", draws.choose(("red", "green", "orange", "yellow")))
        for x, z in ((-40, -20), (40, -20), (0, 42)):
            made.add(BALL, fruit, (78, 78, 78), (x, 48, z))
    return made.model(look, shape="round")


def make_plate(taste: Taste) -> Model:
    """A plate."""
    made, look = Assembly(), Look("ceramic", taste.draws.choose(("white", "ivory", taste.accent)))
    made.add(lathe((0, 600), (1000, 1000), section="round12"), look, (260, 22, 260), (0, 0, 0))
    return made.model(look, shape="round")


def make_bottle(taste: Taste) -> Model:
    """A bottle."""
    draws, made = taste.draws, Assembly()
    look = Look("glass", draws.choose(("green", "brown", "sky blue", taste.accent)))
    made.add(
        lathe((0, 1000), (600, 1000), (780, 380), (1000, 360), section="round8"),
        look,
        (80, draws.integer(240, 320, 20), 80),
        (0, 0, 0),
    )
    return made.model(look, shape="round")


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
    made = Assembly()
    body = Look("metal", taste.draws.choose(("steel", "charcoal", "white")))
    made.box(body, (330, 18, 230), (0, 0, 0))
    made.box(Look("plastic", "black"), (290, 4, 110), (0, 18, 40))
    made.add(leaning(450, 180), body, (330, 210, 60), (0, 18, 130))
    made.add(leaning(450, 100), Look("screen", "white"), (306, 188, 58), (0, 28, 122), fit=True)
    return made.model(body, shape="open")


def make_alarm_clock(taste: Taste) -> Model:
    """A small clock."""
    made, look = Assembly(), Look("plastic", taste.some_accent())
    made.box(look, (120, 110, 60), (0, 0, 0))
    made.box(Look("clock face", "white"), (100, 92, 6), (0, 9, -33), fit=True)
    return made.model(look, shape="box")


def make_box(taste: Taste) -> Model:
    """A storage box with a lid."""
    draws, made = taste.draws, Assembly()
    look = draws.choose((Look("paper", "tan"), Look("plastic", taste.some_accent()), Look("fabric", "grey")))
    width, deep, high = draws.integer(260, 400, 20), draws.integer(220, 320, 20), draws.integer(160, 280, 20)
    made.box(look, (width, high, deep), (0, 0, 0))
    made.box(look, (width + 14, 30, deep + 14), (0, high, 0))
    return made.model(look, shape="box")


def make_basket(taste: Taste) -> Model:
    """A woven basket."""
    made, look = Assembly(), Look("wicker", taste.draws.choose(("tan", "beige", "brown")))
    width, high = taste.draws.integer(260, 380, 20), taste.draws.integer(200, 320, 20)
    made.add(tapered(800, 1000, "round10"), look, (width, high, width), (0, 0, 0))
    return made.model(look, shape="round")


def make_trash_can(taste: Taste) -> Model:
    """A bin."""
    draws, made = taste.draws, Assembly()
    look = draws.choose(
        (Look("metal", "steel"), Look("plastic", "black"), Look("plastic", taste.some_accent()))
    )
    width, high = draws.integer(220, 300, 20), draws.integer(280, 560, 20)
    made.add(tapered(820, 1000, "round10"), look, (width, high, width), (0, 0, 0))
    made.add(CYLINDER, Look("plastic", "charcoal"), (width - 10, 24, width - 10), (0, high, 0))
    return made.model(look, shape="round")


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
    made, look = Assembly(), Look("rubber", taste.draws.choose(("orange", "blue", "red", taste.accent)))
    width = taste.draws.integer(220, 260, 10)
    made.add(BALL, look, (width, width, width), (0, 0, 0))
    return made.model(look, shape="round")


def make_treadmill(taste: Taste) -> Model:
    """A treadmill; its display is at the back."""
    made, black, grey = (
        Assembly(),
        Look("rubber", "black"),
        Look("metal", taste.draws.choose(("charcoal", "steel"))),
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
    made, frame = Assembly(), Look("metal", taste.draws.choose(("black", "white", "red")))
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
    cover = Look("leather", taste.draws.choose(("black", "red", taste.accent)))
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
    made, frame = Assembly(), Look("metal", taste.draws.choose(("black", "steel")))
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
