"""Kitchen units and appliances. Units of one run share height and depth, so that they line up."""

from navarena.scenes.houses.appearance.finishes import Look
from navarena.scenes.houses.furniture.taste import Taste
from navarena.scenes.houses.solids.models import Assembly, Model
from navarena.scenes.houses.solids.shapes import CYLINDER, ROD

HIGH_MM = 900
DEEP_MM = 600
TOP_MM = 40
PLINTH_MM = 100
STEEL = Look("metal", "steel")


def _front_look(taste: Taste) -> Look:
    return taste.style.fronts[len(taste.textile) % len(taste.style.fronts)]


def _top_look(taste: Taste) -> Look:
    return taste.style.tops[len(taste.accent) % len(taste.style.tops)]


def _base(made: Assembly, look: Look, width: int, back: int = 0) -> None:
    """Plinth and carcass of a unit below the worktop; `back` shifts it from the centre."""
    made.box(Look("lacquer", "charcoal"), (width, PLINTH_MM, DEEP_MM - 60), (0, 0, 30 + back))
    made.box(look, (width, HIGH_MM - TOP_MM - PLINTH_MM, DEEP_MM - 20), (0, PLINTH_MM, 10 + back))


def _worktop(made: Assembly, taste: Taste, width: int) -> None:
    made.box(_top_look(taste), (width, TOP_MM, DEEP_MM + 20), (0, HIGH_MM - TOP_MM, -10))


def make_counter(taste: Taste, width: int = 600) -> Model:
    """Worktop over doors or drawers."""
    draws, made, look = taste.draws, Assembly(), _front_look(taste)
    _base(made, look, width)
    _worktop(made, taste, width)
    face = -DEEP_MM // 2 + 10
    columns = max(1, width // 500)
    each = width // columns
    for k in range(columns):
        x = (2 * k + 1 - columns) * each // 2
        rows = draws.choose((1, 1, 3))
        high = (HIGH_MM - TOP_MM - PLINTH_MM) // rows
        for row in range(rows):
            low = PLINTH_MM + row * high
            made.box(look, (each - 8, high - 8, 18), (x, low + 4, face - 9))
            made.box(taste.metal_look(), (140, 14, 24), (x, low + high - 70, face - 30))
    made.surface((0, HIGH_MM, 20), width - 80, DEEP_MM - 160, 450)
    return made.model(_top_look(taste), shape="straight")


def make_kitchen_sink(taste: Taste, width: int = 800) -> Model:
    """A basin in the worktop, with a tap."""
    made, look = Assembly(), _front_look(taste)
    basin = taste.draws.choose(
        (STEEL, STEEL, Look("ceramic", "white"), Look("stone", "charcoal"), Look("metal", "copper"))
    )
    _base(made, look, width)
    face, top = -DEEP_MM // 2 + 10, _top_look(taste)
    for sign in (-1, 1):
        x = sign * width // 4
        made.box(look, (width // 2 - 8, HIGH_MM - TOP_MM - PLINTH_MM - 8, 18), (x, PLINTH_MM + 4, face - 9))
        made.box(taste.metal_look(), (14, 140, 24), (sign * 40, HIGH_MM - 260, face - 30))
    side = (width - 480) // 2
    for sign in (-1, 1):
        made.box(top, (side, TOP_MM, DEEP_MM + 20), (sign * (width - side) // 2, HIGH_MM - TOP_MM, -10))
    made.box(top, (480, TOP_MM, 110), (0, HIGH_MM - TOP_MM, -DEEP_MM // 2 + 35))
    made.box(top, (480, TOP_MM, 110), (0, HIGH_MM - TOP_MM, DEEP_MM // 2 - 55))
    for sign in (-1, 1):
        made.box(basin, (16, TOP_MM + 8, 400), (sign * 232, HIGH_MM - TOP_MM, -10))
        made.box(basin, (448, TOP_MM + 8, 16), (0, HIGH_MM - TOP_MM, -10 + sign * 192))
    made.box(basin, (448, 6, 368), (0, HIGH_MM - TOP_MM, -10))
    _tap(made, (0, HIGH_MM, DEEP_MM // 2 - 60), 280, 170)
    return made.model(basin, shape="kitchen")


def _tap(made: Assembly, at: tuple[int, int, int], high: int, reach: int) -> None:
    chrome = Look("metal", "chrome")
    x, y, z = at
    made.add(ROD, chrome, (34, high, 34), at)
    made.box(chrome, (26, 26, reach), (x, y + high - 26, z - reach // 2))
    made.box(chrome, (20, 40, 20), (x, y + high - 66, z - reach + 10))


def make_oven(taste: Taste) -> Model:
    """A cooker: oven below a hob."""
    made = Assembly()
    body = Look("metal", taste.draws.choose(("steel", "black", "white", "ivory", "red", "sage")))
    _base(made, body, 600)
    face = -DEEP_MM // 2 + 10
    made.box(Look("screen", "white"), (520, 400, 14), (0, 260, face - 7), fit=True)
    made.box(STEEL, (460, 22, 40), (0, 690, face - 25))
    for k in range(4):
        made.box(Look("plastic", "black"), (36, 36, 30), (-165 + 110 * k, 770, face - 15))
    made.box(body, (600, TOP_MM, DEEP_MM + 10), (0, HIGH_MM - TOP_MM, -5))
    made.box(Look("burner", "white"), (560, 8, 520), (0, HIGH_MM, -10), fit=True)
    made.surface((0, HIGH_MM + 8, 20), 540, 440, 500)
    return made.model(body, shape="freestanding")


def make_dishwasher(taste: Taste) -> Model:
    """A dishwasher under the worktop."""
    made, body = (
        Assembly(),
        Look("metal", taste.draws.choose(("steel", "white", "charcoal", "black", "ivory"))),
    )
    _base(made, body, 600)
    _worktop(made, taste, 600)
    face = -DEEP_MM // 2 + 10
    made.box(body, (584, 600, 18), (0, PLINTH_MM + 6, face - 9))
    made.box(Look("plastic", "black"), (584, 110, 18), (0, 720, face - 9))
    made.box(STEEL, (420, 20, 34), (0, 660, face - 32))
    made.surface((0, HIGH_MM, 20), 520, DEEP_MM - 160, 450)
    return made.model(body, shape="built-in")


def make_refrigerator(taste: Taste) -> Model:
    """A tall refrigerator with a freezer below."""
    draws, made = taste.draws, Assembly()
    body = Look("metal", draws.choose(("steel", "white", "white", "charcoal", "red")))
    high = draws.integer(1700, 1900, 50)
    made.box(Look("plastic", "black"), (600, 50, 560), (0, 0, 20))
    made.box(body, (640, high - 50, 590), (0, 50, 20))
    face = -275
    made.box(body, (632, 520, 50), (0, 60, face - 25))
    made.box(body, (632, high - 600, 50), (0, 590, face - 25))
    for low, length in ((360, 180), (630, 420)):
        made.box(STEEL, (24, length, 40), (-260, low, face - 70))
    return made.model(body, shape="two doors")


def make_wall_cabinet(taste: Taste, width: int = 600) -> Model:
    """A cabinet above the worktop."""
    made, look = Assembly(hangs=True), _front_look(taste)
    high, deep = 680, 330
    made.box(look, (width, high, deep), (0, 0, 0))
    columns = max(1, width // 450)
    each = width // columns
    for k in range(columns):
        x = (2 * k + 1 - columns) * each // 2
        made.box(look, (each - 8, high - 8, 18), (x, 4, -deep // 2 - 9))
        made.box(
            taste.metal_look(),
            (14, 120, 24),
            (x + (1 if k % 2 == 0 else -1) * (each // 2 - 40), 40, -deep // 2 - 28),
        )
    return made.model(look, shape="wall-mounted")


def make_range_hood(taste: Taste) -> Model:
    """An extractor above the hob."""
    made = Assembly(hangs=True)
    look = Look("metal", taste.draws.choose(("steel", "black", "white", "copper")))
    made.box(look, (600, 60, 460), (0, 0, -60))
    made.box(look, (560, 120, 380), (0, 60, -20))
    made.box(look, (260, 520, 240), (0, 180, 50))
    return made.model(look, shape="chimney")


def make_microwave(taste: Taste) -> Model:
    """A microwave oven."""
    made = Assembly()
    body = Look("metal", taste.draws.choose(("steel", "white", "black", "red")))
    made.box(body, (480, 280, 340), (0, 0, 10))
    made.box(Look("screen", "white"), (320, 210, 12), (60, 35, -166), fit=True)
    made.box(Look("plastic", "charcoal"), (90, 230, 10), (-180, 25, -165))
    made.box(STEEL, (18, 200, 26), (-112, 40, -176))
    return made.model(body, shape="box")


def make_kettle(taste: Taste) -> Model:
    """A kettle with handle and spout."""
    made = Assembly()
    look = Look("metal", taste.draws.choose(("steel", "black", "red", "white", taste.accent)))
    made.add(CYLINDER, look, (160, 180, 160), (0, 0, 0))
    made.cylinder(Look("plastic", "black"), 90, 26, (0, 180, 0))
    made.box(Look("plastic", "black"), (24, 24, 60), (0, 150, 105))
    made.box(Look("plastic", "black"), (24, 130, 22), (0, 40, 130))
    made.box(look, (36, 40, 50), (0, 130, -95))
    return made.model(look, shape="round")


def make_toaster(taste: Taste) -> Model:
    """A toaster with two slots."""
    made = Assembly()
    look = Look("metal", taste.draws.choose(("steel", "red", "black", "mint", "ivory")))
    made.box(look, (280, 180, 160), (0, 0, 0))
    for z in (-34, 34):
        made.box(Look("plastic", "black"), (220, 6, 30), (0, 180, z))
    made.box(Look("plastic", "black"), (20, 30, 50), (-148, 110, 0))
    return made.model(look, shape="box")


def make_pot(taste: Taste) -> Model:
    """A pot with lid and handles."""
    made = Assembly()
    look = Look("metal", taste.draws.choose(("steel", "red", "copper", "black", "blue")))
    width, high = taste.draws.integer(200, 280, 20), taste.draws.integer(110, 180, 10)
    made.add(CYLINDER, look, (width, high, width), (0, 0, 0))
    made.add(CYLINDER, look, (width - 20, 18, width - 20), (0, high, 0))
    made.cylinder(Look("plastic", "black"), 34, 30, (0, high + 18, 0))
    for sign in (-1, 1):
        made.box(Look("plastic", "black"), (44, 18, 70), (sign * (width // 2 + 15), high - 40, 0))
    return made.model(look, shape="round")
