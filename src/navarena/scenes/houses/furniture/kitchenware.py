"""What stands on worktops and tables in a kitchen: cookware, tableware, food."""

from navarena.scenes.houses.appearance.finishes import Look
from navarena.scenes.houses.furniture.taste import Taste
from navarena.scenes.houses.solids.models import QUARTERS, SLIGHT_TURNS, Assembly, Model
from navarena.scenes.houses.solids.shapes import (
    CYLINDER,
    DISC,
    ROD,
    SMALL_BALL,
    lathe,
    leaning,
    straight,
    tapered,
)

BLACK = Look("plastic", "black")
STEEL = Look("metal", "steel")
FRUITS = ("red", "green", "orange", "yellow")


def make_pan(taste: Taste) -> Model:
    """A frying pan."""
    draws, made = taste.draws, Assembly()
    look = Look("metal", draws.choose(("black", "charcoal", "steel", "copper", "red")))
    width = draws.integer(180, 260, 20)
    made.add(tapered(800, 1000, "round10"), look, (width, 50, width), (0, 0, 0))
    handle = draws.choose((BLACK, taste.wood))
    made.box(handle, (28, 20, 140), (0, 30, -width // 2 - 60))
    return made.model(look, shape="round")


def make_pan_rail(taste: Taste) -> Model:
    """Pots hanging from a bar on the wall."""
    draws, made = taste.draws, Assembly(hangs=True)
    metal, number = taste.metal_look(), draws.integer(3, 5)
    made.box(metal, (number * 150 + 60, 16, 16), (0, 420, 20))
    look = Look("metal", draws.choose(("steel", "copper", "black")))
    for k in range(number):
        x = (2 * k + 1 - number) * 75
        made.box(metal, (10, 260, 10), (x, 160, 0))
        made.add(DISC, look, (140, 140, 50), (x, 20, -4))
    return made.model(look, shape="hanging")


def make_knife_block(taste: Taste) -> Model:
    """A block with five knives."""
    made, look = (
        Assembly(),
        taste.draws.choose(
            (
                taste.wood,
                Look("plastic", "black"),
                Look("wood", "birch"),
                Look("wood", "walnut"),
                Look("plastic", taste.some_accent()),
            )
        ),
    )
    made.add(leaning(300, 700), look, (110, 190, 160), (0, 0, 0))
    handle = Look("plastic", taste.draws.choose(("black", "white", "red", taste.accent)))
    for k in range(4):
        made.box(handle, (18, 80 - 8 * (k % 2), 22), (-36 + 24 * k, 180, 10 + 14 * (k % 2)))
    return made.model(look, shape="block")


def make_cutting_board(taste: Taste) -> Model:
    """A board leaning on its edge, or flat with a loaf's crumbs gone."""
    draws, made = taste.draws, Assembly()
    look = draws.choose((Look("wood", "oak"), Look("wood", "walnut"), Look("plastic", taste.some_accent())))
    width, deep = draws.integer(280, 400, 20), draws.integer(200, 280, 20)
    made.box(look, (width, 22, deep), (0, 0, 0))
    if draws.chance(50):
        made.box(look, (90, 22, 60), (width // 2 + 45, 0, 0))
        return made.model(look, shape="with handle")
    return made.model(look, shape="rectangular")


def make_dish_rack(taste: Taste) -> Model:
    """Plates drying in a rack."""
    draws, made = taste.draws, Assembly()
    frame = Look("metal", draws.choose(("chrome", "black", "white", "copper", taste.some_accent())))
    made.box(Look("plastic", draws.choose(("white", "grey", taste.accent))), (420, 20, 300), (0, 0, 0))
    for x in (-205, 205):
        made.box(frame, (12, 110, 290), (x, 20, 0))
    for z in (-140, 140):
        made.box(frame, (410, 12, 12), (0, 118, z))
    dish = Look("ceramic", draws.choose(("white", "ivory", taste.some_accent())))
    for k in range(draws.integer(3, 5)):
        made.add(DISC, dish, (220, 220, 14), (0, 24, -90 + 42 * k), QUARTERS[0])
    return made.model(frame, shape="rack")


def make_paper_towel(taste: Taste) -> Model:
    """A kitchen roll on its stand."""
    draws, made = taste.draws, Assembly()
    stand = draws.choose((STEEL, taste.wood, BLACK))
    made.add(CYLINDER, stand, (150, 16, 150), (0, 0, 0))
    paper = Look(draws.choose(("paper", "paper dots")), draws.choose(("white", "ivory")))
    width = draws.integer(90, 130, 20)
    made.add(CYLINDER, paper, (width, 230, width), (0, 16, 0))
    made.add(ROD, stand, (22, 40, 22), (0, 246, 0))
    return made.model(paper, shape="roll")


def make_spice_rack(taste: Taste) -> Model:
    """Jars on a small shelf on the wall."""
    draws, made = taste.draws, Assembly(hangs=True)
    wood, width = taste.some_wood(), draws.integer(360, 520, 40)
    for low in (0, 150):
        made.box(wood, (width, 14, 90), (0, low, 0))
        made.box(wood, (width, 34, 10), (0, low + 14, -40))
        number = width // 70
        for k in range(number):
            spice = Look("glass", draws.choose(("red", "mustard", "green", "brown", "orange")))
            x = (2 * k + 1 - number) * (width - 30) // (2 * number)
            made.add(straight("round6"), spice, (44, 90, 44), (x, low + 14, 8))
    for sign in (-1, 1):
        made.box(wood, (16, 270, 90), (sign * (width // 2 + 8), 0, 0))
    return made.model(wood, shape="rack")


def make_jar(taste: Taste) -> Model:
    """A jar with a lid."""
    draws, made = taste.draws, Assembly()
    look = Look(draws.choose(("glass", "ceramic")), draws.choose(("brown", "sky blue", taste.some_accent())))
    width, high = draws.integer(90, 140, 10), draws.integer(120, 240, 20)
    made.add(
        lathe((0, 900), (120, 1000), (850, 1000), (1000, 800), section="round8"),
        look,
        (width, high, width),
        (0, 0, 0),
    )
    lid = draws.choose((taste.wood, STEEL, Look("wood", "oak")))
    made.add(straight("round8"), lid, (width * 8 // 10, 24, width * 8 // 10), (0, high, 0))
    return made.model(look, shape="tall" if high > 180 else "squat")


def make_teapot(taste: Taste) -> Model:
    """A teapot."""
    draws, made = taste.draws, Assembly()
    look = Look(draws.choose(("ceramic", "ceramic", "metal")), taste.some_accent())
    width = draws.integer(140, 190, 10)
    made.add(
        lathe((0, 600), (350, 1000), (750, 900), (1000, 520), section="round8"),
        look,
        (width, width * 8 // 10, width),
        (0, 0, 0),
    )
    made.add(SMALL_BALL, look, (34, 34, 34), (0, width * 8 // 10, 0))
    made.add(leaning(-600, 400), look, (30, 80, 100), (0, 50, -width // 2 - 20))
    made.box(look, (20, 16, 50), (0, width * 7 // 10 - 20, width // 2 + 15))
    made.box(look, (20, 80, 16), (0, 30, width // 2 + 38))
    return made.model(look, shape="round")


def make_tray(taste: Taste) -> Model:
    """A tray with a raised rim."""
    draws, made = taste.draws, Assembly()
    look = draws.choose((taste.some_wood(), Look("metal", taste.metal), Look("plastic", taste.some_accent())))
    width, deep = draws.integer(320, 460, 20), draws.integer(220, 320, 20)
    if draws.chance(40):
        made.add(lathe((0, 920), (1000, 1000), section="round12"), look, (width, 26, width), (0, 0, 0))
        return made.model(look, shape="round")
    made.box(look, (width, 12, deep), (0, 0, 0))
    for sign in (-1, 1):
        made.box(look, (14, 34, deep), (sign * (width - 14) // 2, 12, 0))
        made.box(look, (width - 28, 24, 14), (0, 12, sign * (deep - 14) // 2))
    return made.model(look, shape="rectangular")


def make_wine_glass(taste: Taste) -> Model:
    """One to three glasses."""
    draws, made = taste.draws, Assembly()
    look = Look("glass", draws.choose(("white", "sky blue", "mint", "pink", "red")))
    stem = draws.chance(60)
    number = draws.integer(1, 3)
    for k in range(number):
        x, z = (2 * k + 1 - number) * 45, 26 * (k % 2)
        if stem:
            made.add(
                lathe((0, 800), (50, 140), (500, 140), (720, 1000), (1000, 760), section="round8"),
                look,
                (76, 180, 76),
                (x, 0, z),
            )
        else:
            made.add(tapered(820, 1000, "round8"), look, (72, 110, 72), (x, 0, z))
    return made.model(look, shape="with stem" if stem else "tumbler")


def make_blender(taste: Taste) -> Model:
    """A blender with a glass jug."""
    draws, made = taste.draws, Assembly()
    body = Look("plastic", draws.choose(("black", "white", "red", "steel", taste.accent)))
    made.add(tapered(1000, 700), body, (170, 140, 170), (0, 0, 0))
    glass = Look("glass", draws.choose(("sky blue", "white", "mint")))
    made.add(tapered(650, 1000, "round8"), glass, (150, 200, 150), (0, 140, 0))
    made.add(CYLINDER, body, (140, 30, 140), (0, 340, 0))
    made.box(body, (20, 130, 24), (0, 180, 90))
    return made.model(body, shape="jug")


def make_mixer(taste: Taste) -> Model:
    """A stand mixer over its bowl."""
    draws, made = taste.draws, Assembly()
    body = Look("metal", draws.choose(("red", "mint", "ivory", "charcoal", "sky blue", taste.accent)))
    made.box(body, (190, 40, 330), (0, 0, 0))
    made.add(tapered(1000, 800), body, (110, 220, 110), (0, 40, 105))
    made.add(DISC, body, (120, 120, 320), (0, 235, 0))
    made.add(lathe((0, 600), (600, 960), (1000, 1000)), STEEL, (190, 130, 190), (0, 40, -65))
    made.add(ROD, STEEL, (24, 90, 24), (0, 150, -80))
    return made.model(body, shape="tilting head")


def make_coffee_machine(taste: Taste) -> Model:
    """A coffee machine with a jug or a portafilter."""
    draws, made = taste.draws, Assembly()
    body = Look("metal", draws.choose(("black", "steel", "red", "white", "mint")))
    made.box(body, (220, 40, 280), (0, 0, 0))
    made.box(body, (220, 300, 110), (0, 40, 85))
    made.box(body, (220, 80, 240), (0, 340, 20))
    jug = draws.chance(55)
    if jug:
        made.add(tapered(1000, 760, "round8"), Look("glass", "charcoal"), (130, 130, 130), (0, 40, -55))
        made.box(BLACK, (20, 90, 24), (0, 60, -130))
    else:
        made.box(BLACK, (60, 50, 60), (0, 290, -60))
        made.box(BLACK, (24, 24, 120), (0, 300, -130))
        made.add(straight("round8"), Look("ceramic", "white"), (70, 65, 70), (0, 40, -60))
    made.box(Look("screen", "white"), (90, 40, 6), (0, 360, -103), fit=True)
    return made.model(body, shape="with jug" if jug else "espresso")


def make_fruit_bowl(taste: Taste) -> Model:
    """A bowl heaped with fruit."""
    draws, made = taste.draws, Assembly()
    look = draws.choose((taste.wood, Look("ceramic", taste.some_accent()), Look("wicker", "tan")))
    width = draws.integer(240, 320, 20)
    made.add(lathe((0, 450), (400, 850), (1000, 1000)), look, (width, 90, width), (0, 0, 0))
    for k in range(draws.integer(4, 5)):
        x, z = ((-60, -35), (55, -40), (0, 62), (-8, -4), (70, 40))[k]
        fruit = Look("plastic", draws.choose(FRUITS))
        made.add(SMALL_BALL, fruit, (82, 78, 82), (x, 55 + 45 * (k == 3), z), SLIGHT_TURNS[k])
    return made.model(look, shape="heaped")


def make_apple(taste: Taste) -> Model:
    """An apple with its stalk."""
    draws, made = taste.draws, Assembly()
    look, width = Look("fruit", draws.choose(("red", "green", "yellow", "red"))), draws.integer(70, 96, 4)
    made.add(
        lathe((0, 420), (220, 860), (620, 1000), (880, 760), (1000, 260), section="round10"),
        look,
        (width, width * 9 // 10, width),
        (0, 0, 0),
    )
    made.box(Look("wood", "walnut"), (7, 20, 7), (0, width * 9 // 10 - 3, 0))
    return made.model(look, shape="round")


def make_bread(taste: Taste) -> Model:
    """A loaf on its board."""
    draws, made = taste.draws, Assembly()
    made.box(taste.some_wood(), (340, 18, 180), (0, 0, 0))
    crust = Look("crust", draws.choose(("tan", "brown", "mustard")))
    long = draws.chance(50)
    size = (300, 80, 100) if long else (210, 100, 140)
    made.add(
        lathe((0, 860), (400, 1000), (800, 820), (1000, 480), section="chamfered"), crust, size, (0, 18, 0)
    )
    return made.model(crust, shape="long" if long else "round")


def make_shakers(taste: Taste) -> Model:
    """Salt and pepper."""
    draws, made = taste.draws, Assembly()
    looks = draws.choose(
        (
            (Look("wood", "oak"), Look("wood", "walnut")),
            (Look("glass", "white"), Look("glass", "charcoal")),
            (Look("ceramic", "white"), Look("ceramic", taste.some_accent())),
        )
    )
    high = draws.integer(90, 180, 30)
    for x, look in zip((-34, 34), looks, strict=True):
        made.add(
            lathe((0, 1000), (400, 700), (780, 900), (1000, 500), section="round8"),
            look,
            (56, high, 56),
            (x, 0, 0),
        )
    return made.model(looks[1], shape="tall" if high > 120 else "squat")


def make_utensil_holder(taste: Taste) -> Model:
    """Spoons and spatulas in a crock."""
    draws, made = taste.draws, Assembly()
    look = Look(draws.choose(("ceramic", "metal")), draws.choose(("white", "steel", taste.some_accent())))
    width = draws.integer(110, 150, 10)
    made.add(straight("round8"), look, (width, 150, width), (0, 0, 0))
    for k in range(4):
        tool = draws.choose((Look("wood", "oak"), STEEL, BLACK))
        x, z = ((-30, 10), (10, 28), (32, -12), (-6, -30))[k]
        made.box(tool, (14, 120, 10), (x, 140, z))
        made.box(tool, (46, 60, 12), (x, 255 - 12 * k, z))
    return made.model(look, shape="crock")
