"""What lies on desks and low tables: paper, writing, small devices."""

from navarena.scenes.houses.appearance.finishes import PICTURES, Look
from navarena.scenes.houses.furniture.taste import Taste
from navarena.scenes.houses.solids.models import SLIGHT_TURNS, Assembly, Model
from navarena.scenes.houses.solids.shapes import BOX, CYLINDER, ROD, leaning, straight

BLACK = Look("plastic", "black")


def make_magazine(taste: Taste) -> Model:
    """A pile of magazines."""
    draws, made = taste.draws, Assembly()
    first, number = Look("paper", taste.some_accent()), draws.integer(1, 6)
    turn = draws.choose(SLIGHT_TURNS)
    for k in range(number):
        top = k == number - 1
        look = first if top else Look("paper", draws.choose(("white", "ivory", taste.some_accent())))
        made.add(BOX, look, (210, 10, 280), (0, 10 * k, 0), turn if top else draws.choose(SLIGHT_TURNS))
    art = Look(draws.choose(PICTURES), "white")
    made.add(BOX, art, (170, 3, 190), (0, 10 * number, 10), turn, fit=True)
    return made.model(first, shape="pile" if number > 2 else "flat", pattern=art.finish.removeprefix("art "))


def make_newspaper(taste: Taste) -> Model:
    """A folded newspaper."""
    draws, made = taste.draws, Assembly()
    look = Look("print", draws.choose(("white", "ivory", "light grey", "pink")))
    wide = draws.integer(260, 360, 20)
    made.box(look, (wide, 14, 220), (0, 0, 0), fit=True)
    made.box(look, (wide - 12, 8, 208), (4, 14, 4), fit=True)
    return made.model(look, shape="folded")


def make_binder(taste: Taste) -> Model:
    """Ring binders standing side by side."""
    draws, made = taste.draws, Assembly()
    first, number = Look("plastic", taste.some_accent()), draws.integer(1, 4)
    for k in range(number):
        look = (
            first
            if k == 0
            else Look("plastic", draws.choose(("black", "white", "red", "blue", taste.some_accent())))
        )
        x = (2 * k + 1 - number) * 36
        made.box(look, (68, 280, 200), (x, 0, 0))
        made.box(Look("paper", "white"), (44, 120, 4), (x, 110, -102))
    return made.model(first, shape="row" if number > 1 else "single")


def make_paper_stack(taste: Taste) -> Model:
    """A stack of papers in a letter tray."""
    draws, made = taste.draws, Assembly()
    tray = draws.choose((BLACK, Look("metal", "steel"), taste.wood, Look("plastic", taste.some_accent())))
    levels = draws.integer(1, 3)
    for k in range(levels):
        low = 90 * k
        made.box(tray, (250, 8, 330), (0, low, 0))
        for sign in (-1, 1):
            made.box(tray, (8, 60, 330), (sign * 129, low, 0))
        made.box(
            Look("paper", draws.choose(("white", "ivory"))),
            (220, draws.integer(10, 40, 5), 300),
            (0, low + 8, -8),
        )
    return made.model(tray, shape=f"{levels} level{'s' if levels > 1 else ''}")


def make_pencil_cup(taste: Taste) -> Model:
    """Pens and pencils in a cup."""
    draws, made = taste.draws, Assembly()
    look = draws.choose((Look("metal", taste.metal), Look("ceramic", taste.some_accent()), taste.wood))
    square = draws.chance(40)
    made.add(BOX if square else straight("round8"), look, (84, 100, 84), (0, 0, 0))
    for k in range(4):
        pen = Look("plastic", draws.choose(("red", "blue", "black", "yellow", "green")))
        x, z = ((-18, 8), (16, 18), (10, -20), (-14, -16))[k]
        made.add(leaning(300 if z > 0 else -300, 300), pen, (11, 110 + 12 * k, 30), (x, 70, z))
    return made.model(look, shape="square" if square else "round")


def make_keyboard(taste: Taste) -> Model:
    """A keyboard with a mouse beside it."""
    draws, made = taste.draws, Assembly()
    look = Look("plastic", draws.choose(("black", "white", "light grey", "charcoal")))
    wide = draws.integer(320, 440, 40)
    made.box(look, (wide, 20, 140), (0, 0, 0))
    made.box(
        Look("keys", "white" if look.color in ("white", "light grey") else "grey"),
        (wide - 16, 6, 120),
        (0, 20, 0),
        fit=True,
    )
    made.add(straight("chamfered"), look, (62, 32, 100), (wide // 2 + 60, 0, 0))
    return made.model(look, shape="compact" if wide < 400 else "full")


def make_remote_control(taste: Taste) -> Model:
    """A remote control."""
    draws, made = taste.draws, Assembly()
    look = Look("plastic", draws.choose(("black", "black", "charcoal", "white", "steel")))
    made.box(look, (50, 20, draws.integer(150, 210, 20)), (0, 0, 0))
    for k in range(4):
        made.box(Look("plastic", "red" if k == 3 else "grey"), (28, 4, 16), (0, 20, -50 + 30 * k))
    return made.model(look, shape="flat")


def make_cell_phone(taste: Taste) -> Model:
    """A mobile phone lying flat."""
    draws, made = taste.draws, Assembly()
    look = Look(draws.choose(("metal", "plastic")), draws.choose(("black", "white", "blue", "pink", "steel")))
    made.box(look, (76, 10, 154), (0, 0, 0))
    made.box(Look("screen", "white"), (70, 2, 144), (0, 10, 0), fit=True)
    return made.model(look, shape="flat")


def make_headphones(taste: Taste) -> Model:
    """Headphones on a small stand."""
    draws, made = taste.draws, Assembly()
    look = Look("plastic", draws.choose(("black", "white", "red", taste.some_accent())))
    stand = draws.choose((taste.wood, Look("metal", "steel")))
    made.add(CYLINDER, stand, (120, 14, 120), (0, 0, 0))
    made.add(ROD, stand, (22, 210, 22), (0, 14, 0))
    made.box(look, (170, 20, 34), (0, 224, 0))
    for sign in (-1, 1):
        made.box(look, (18, 110, 30), (sign * 84, 120, 0))
        made.add(straight("chamfered"), look, (40, 90, 80), (sign * 72, 70, 0))
    return made.model(look, shape="on stand")


def make_tablet(taste: Taste) -> Model:
    """A tablet computer leaning on its cover."""
    draws, made = taste.draws, Assembly()
    look = Look("plastic", draws.choose(("black", "white", "steel", taste.some_accent())))
    made.add(leaning(480, 100), look, (250, 170, 100), (0, 0, 0))
    made.add(leaning(480, 60), Look("screen", "white"), (230, 152, 96), (0, 8, -8), fit=True)
    made.add(leaning(-500, 100), look, (250, 150, 90), (0, 0, 62))
    return made.model(look, shape="leaning")


def make_calculator(taste: Taste) -> Model:
    """A desk calculator."""
    draws, made = taste.draws, Assembly()
    look = Look("plastic", draws.choose(("black", "white", "grey", taste.some_accent())))
    made.box(look, (110, 24, 160), (0, 0, 0))
    made.box(Look("keys", "white"), (96, 4, 96), (0, 24, -22), fit=True)
    made.box(Look("screen", "sage"), (90, 4, 34), (0, 24, 54), fit=True)
    return made.model(look, shape="flat")


def make_camera(taste: Taste) -> Model:
    """A photo camera."""
    draws, made = taste.draws, Assembly()
    look = draws.choose(
        (BLACK, Look("metal", "steel"), Look("leather", "brown"), Look("plastic", taste.some_accent()))
    )
    made.box(look, (140, 80, 60), (0, 0, 0))
    made.box(Look("metal", "steel"), (130, 16, 50), (0, 80, 0))
    made.add(straight("round8"), BLACK, (40, 14, 40), (40, 96, 0))
    made.box(BLACK, (66, 66, 40), (0, 6, -50))
    made.box(Look("glass", "charcoal"), (44, 44, 8), (0, 17, -72))
    return made.model(look, shape="box")
