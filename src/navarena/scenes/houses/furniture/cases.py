"""More furniture that holds things: dressers, cabinets, racks, chests, islands."""

from dataclasses import replace

from navarena.scenes.houses.appearance.finishes import Look
from navarena.scenes.houses.furniture.storage import add_doors, add_drawers
from navarena.scenes.houses.furniture.taste import Taste
from navarena.scenes.houses.solids.models import QUARTERS, Assembly, Model, Turn
from navarena.scenes.houses.solids.shapes import (
    BOX,
    CUSHION,
    CYLINDER,
    DISC,
    FINE_CYLINDER,
    ROD,
    leaning,
    straight,
    tapered,
)

BOTTLE_END = replace(straight("round6"), lying=True)


def make_dresser(taste: Taste) -> Model:
    """A wide, low chest on legs with two columns of drawers between doors."""
    draws, made = taste.draws, Assembly()
    width, depth, legs = draws.integer(1300, 1600, 50), draws.integer(440, 500, 20), draws.choose((120, 180))
    rows, wood = draws.integer(2, 3), taste.some_wood()
    high = legs + rows * draws.integer(200, 230, 10) + 60
    made.legs(wood, tapered(550, 1000), 52, legs, width - 60, depth - 60)
    made.box(wood, (width, high - legs - 26, depth), (0, legs, 0))
    made.box(
        draws.choose((wood, wood, Look("marble", "white"))), (width + 30, 26, depth + 20), (0, high - 26, -4)
    )
    third = (width - 30) // 3
    front = wood if draws.chance(60) else Look("lacquer", draws.choose(("white", "ivory", taste.accent)))
    for k in range(3):
        add_drawers(
            made, front, taste.metal_look(), rows, (k - 1) * third, third, legs + 16, high - 40, -depth // 2
        )
    made.surface((0, high, 0), width - 60, depth - 50)
    return made.model(wood, shape=f"{3 * rows} drawers")


def make_dressing_table(taste: Taste) -> Model:
    """A small table with drawers and a raised back for sitting before."""
    draws, made = taste.draws, Assembly()
    wood, width, depth = taste.some_wood(), draws.integer(800, 1100, 50), draws.integer(400, 480, 20)
    made.legs(wood, tapered(500, 1000), 46, 600, width - 20, depth - 20)
    made.box(wood, (width, 130, depth), (0, 600, 0))
    third = width // 3
    for k in range(3):
        add_drawers(made, wood, taste.metal_look(), 1, (k - 1) * third, third, 610, 724, -depth // 2)
    for sign in (-1, 1):
        made.box(wood, (third - 20, 150, 160), (sign * third, 730, depth // 2 - 90))
    made.add(FINE_CYLINDER, taste.metal_look(), (70, 30, 70), (0, 730, depth // 2 - 90))
    made.box(taste.upholstery(("fabric",)), (third + 60, 420, 30), (0, 760, depth // 2 - 60))
    made.surface((0, 730, -60), width - 140, depth - 220)
    return made.model(wood, shape="with back")


def make_display_cabinet(taste: Taste) -> Model:
    """A glass-fronted cabinet; what it shows stands on its boards."""
    draws, made = taste.draws, Assembly()
    wood, width, depth = taste.some_wood(), draws.integer(700, 1000, 50), draws.integer(360, 420, 20)
    rows = draws.integer(3, 4)
    high = 500 + rows * 350 + 40
    made.box(wood, (width, 480, depth), (0, 0, 0))
    add_doors(made, wood, taste.metal_look(), 2, width - 24, 40, 460, -depth // 2)
    for sign in (-1, 1):
        made.box(wood, (40, high - 480, depth), (sign * (width - 40) // 2, 480, 0))
    made.box(wood, (width - 80, high - 480, 16), (0, 480, depth // 2 - 8))
    for k in range(rows + 1):
        made.box(wood, (width - 80, 20, depth - 20), (0, 480 + k * 350, -2))
        if k < rows:
            made.surface((0, 500 + k * 350, 0), width - 110, depth - 60, 310)
    made.box(wood, (width + 30, 40, depth + 20), (0, high - 20, -4))
    return made.model(wood, shape=f"{rows} shelves")


def make_file_cabinet(taste: Taste) -> Model:
    """A metal cabinet with deep drawers."""
    draws, made = taste.draws, Assembly()
    look = Look("metal", draws.choose(("grey", "black", "white", "sage", taste.accent)))
    rows, width = draws.integer(2, 4), draws.integer(400, 480, 20)
    high = rows * 320 + 40
    made.box(look, (width, high, 560), (0, 0, 0))
    add_drawers(made, look, Look("metal", "chrome"), rows, 0, width - 20, 30, high - 10, -280)
    for k in range(rows):
        made.box(Look("paper", "white"), (90, 40, 6), (0, 60 + 317 * k, -301))
    made.surface((0, high, 0), width - 40, 500)
    return made.model(look, shape=f"{rows} drawers")


def make_wine_rack(taste: Taste) -> Model:
    """A rack with rows of bottles lying in it."""
    draws, made = taste.draws, Assembly()
    wood, columns, rows = taste.some_wood(), draws.integer(3, 4), draws.integer(3, 5)
    width, high, depth = columns * 120 + 40, rows * 130 + 60, 300
    for sign in (-1, 1):
        made.box(wood, (24, high, depth), (sign * (width - 24) // 2, 0, 0))
    for k in range(rows + 1):
        made.box(wood, (width - 48, 18, depth - 10), (0, 30 + 130 * k - 20 * (k == rows), 0))
    for k in range(rows):
        for column in range(columns):
            if draws.chance(65):
                glass = Look("glass", draws.choose(("green", "brown", "charcoal", "red")))
                x = (2 * column + 1 - columns) * 60
                made.add(BOTTLE_END, glass, (80, 80, 250), (x, 50 + 130 * k, 10))
    made.surface((0, high - 12, 0), width - 80, depth - 80)
    return made.model(wood, shape=f"{rows} rows")


def make_storage_chest(taste: Taste) -> Model:
    """A chest or trunk with iron bands."""
    draws, made = taste.draws, Assembly()
    look = draws.choose(
        (
            taste.some_wood(),
            Look("leather", "brown"),
            Look("wicker", "tan"),
            Look("lacquer", taste.some_accent()),
        )
    )
    width, high, depth = (
        draws.integer(760, 1100, 20),
        draws.integer(340, 460, 20),
        draws.integer(420, 500, 20),
    )
    made.box(look, (width, high, depth), (0, 0, 0))
    made.add(tapered(1000, 880), look, (width + 16, 110, depth + 16), (0, high + 4, 0))
    for x in (-width // 3, width // 3):
        made.box(taste.metal_look(), (50, high, depth + 12), (x, 0, 0))
    made.box(Look("metal", "brass"), (70, 80, 20), (0, high - 60, -depth // 2 - 8))
    made.surface((0, high + 114, 0), width * 7 // 10, depth * 6 // 10)
    return made.model(look, shape="trunk")


def make_coat_stand(taste: Taste) -> Model:
    """A pole with hooks and a coat or two."""
    draws, made = taste.draws, Assembly()
    pole, high = draws.choose((taste.wood, taste.metal_look())), draws.integer(1650, 1800, 50)
    made.add(FINE_CYLINDER, pole, (360, 40, 360), (0, 0, 0))
    made.add(ROD, pole, (44, high - 40, 44), (0, 40, 0))
    for turn in QUARTERS:
        x, z = turn.apply(0, -90)
        made.add(leaning(-600, 300), pole, (20, 90, 150), (x, high - 150, z), turn)
    first = Look("fabric", taste.some_accent())
    for k, turn in enumerate(QUARTERS[: draws.integer(0, 3)]):
        x, z = turn.apply(0, -130)
        look = first if k == 0 else Look(draws.choose(("fabric", "plaid", "leather")), taste.some_accent())
        made.add(tapered(1000, 300), look, (260, draws.integer(700, 950, 50), 120), (x, 560, z), turn)
    return made.model(pole, shape="stand")


def make_crate(taste: Taste) -> Model:
    """An open wooden crate."""
    draws, made = taste.draws, Assembly()
    look = draws.choose(
        (
            Look("wood", "pine"),
            Look("wood", "walnut"),
            Look("plastic", taste.some_accent()),
            Look("plastic", "blue"),
        )
    )
    width, deep, high = draws.integer(380, 520, 20), draws.integer(300, 360, 20), draws.integer(220, 320, 20)
    made.box(look, (width - 40, 20, deep - 40), (0, 0, 0))
    each = (high - 40) // 2
    for k in range(2):
        low = 12 + k * (each + 20)
        for sign in (-1, 1):
            made.box(look, (width, each, 18), (0, low, sign * (deep - 18) // 2))
            made.box(look, (18, each, deep - 36), (sign * (width - 18) // 2, low, 0))
    for x in (-1, 1):
        for z in (-1, 1):
            made.box(look, (30, high, 30), (x * (width // 2 - 34), 0, z * (deep // 2 - 34)))
    return made.model(look, shape="slatted")


def make_kitchen_island(taste: Taste) -> Model:
    """A free-standing block of cupboards with an overhanging top."""
    draws, made = taste.draws, Assembly()
    look, top = draws.choose(taste.style.fronts), draws.choose(taste.style.tops)
    width, deep = draws.integer(900, 1400, 100), draws.integer(600, 750, 50)
    made.box(Look("lacquer", "charcoal"), (width - 80, 90, deep - 160), (0, 0, 0))
    made.box(look, (width - 40, 780, deep - 120), (0, 90, 0))
    add_doors(made, look, taste.metal_look(), width // 450, width - 60, 110, 850, -deep // 2 + 60)
    made.box(top, (width, 40, deep), (0, 870, 0))
    made.surface((0, 910, 0), width - 260, deep - 260)
    return made.model(top, shape="block")


def make_workbench(taste: Taste) -> Model:
    """A workbench with a vice and a back for tools."""
    draws, made = taste.draws, Assembly()
    wood, width, depth = (
        Look("wood", draws.choose(("pine", "oak", "birch"))),
        draws.integer(900, 1300, 100),
        520,
    )
    frame = draws.choose((wood, Look("metal", "charcoal"), Look("metal", "red")))
    made.legs(frame, BOX, 80, 810, width - 40, depth - 60)
    made.box(wood, (width, 60, depth), (0, 810, 0))
    made.box(frame, (width - 200, 24, depth - 100), (0, 200, 0))
    made.box(Look("metal", "blue"), (140, 110, 150), (-width // 2 + 160, 870, -depth // 2 + 80))
    made.box(Look("lacquer", "light grey"), (width, 520, 20), (0, 870, depth // 2 - 10))
    for k in range(5):
        tool = Look(draws.choose(("metal", "plastic")), draws.choose(("red", "steel", "black", "orange")))
        x = (k - 2) * (width - 240) // 5
        made.box(tool, (26, draws.integer(160, 260, 20), 16), (x, 1000, depth // 2 - 29))
        made.box(Look("wood", "oak"), (70, 44, 20), (x, 1240, depth // 2 - 32))
    made.surface((60, 870, -20), width - 360, depth - 160, 400)
    return made.model(wood, shape="with tool wall")


def make_bar_cabinet(taste: Taste) -> Model:
    """A home bar: a counter with a raised rail and bottles behind."""
    draws, made = taste.draws, Assembly()
    wood, top = taste.some_wood(), draws.choose(taste.style.tops)
    width = draws.integer(1000, 1400, 100)
    made.box(wood, (width, 1040, 380), (0, 0, 30))
    made.box(top, (width + 60, 44, 520), (0, 1040, 0))
    panels = width // 350
    for k in range(panels):
        x = (2 * k + 1 - panels) * width // (2 * panels)
        made.box(wood, (width // panels - 60, 760, 20), (x, 140, -170))
    made.add(ROD, Look("metal", "brass"), (30, 30, 30), (-width // 2 + 30, 180, -210))
    made.box(Look("metal", "brass"), (width - 40, 26, 26), (0, 190, -215))
    made.surface((0, 1084, 0), width - 160, 320, 400)
    return made.model(wood, shape="bar")


def make_cart(taste: Taste) -> Model:
    """A serving cart on wheels."""
    draws, made = taste.draws, Assembly()
    frame, board = taste.metal_look(), taste.some_wood()
    width, high = draws.integer(600, 760, 20), draws.integer(720, 820, 20)
    for x in (-1, 1):
        for z in (-1, 1):
            made.add(
                DISC, Look("rubber", "black"), (80, 80, 30), (x * (width // 2 - 30), 0, z * 170), QUARTERS[1]
            )
            made.box(frame, (24, high - 70, 24), (x * (width // 2 - 30), 70, z * 170))
    for low in (180, high - 60):
        made.box(board, (width - 20, 24, 380), (0, low, 0))
    made.box(frame, (24, 24, 360), (width // 2 + 40, high - 40, 0))
    for z in (-150, 150):
        made.box(frame, (70, 20, 20), (width // 2 + 5, high - 38, z))
    made.surface((0, high - 36, 0), width - 140, 260)
    made.surface((0, 204, 0), width - 140, 260, 320)
    return made.model(board, shape="on wheels")


def make_pet_bed(taste: Taste) -> Model:
    """A round bed for a cat or dog."""
    draws, made = taste.draws, Assembly()
    rim = Look(draws.choose(("fabric", "wicker", "plaid", "terry")), taste.some_accent())
    width = draws.integer(460, 700, 40)
    made.add(tapered(940, 1000, "round12"), rim, (width, 140, width), (0, 0, 0))
    made.add(
        FINE_CYLINDER,
        Look("terry", draws.choose(("ivory", "light grey", "beige"))),
        (width - 110, 24, width - 110),
        (0, 130, 0),
    )
    return made.model(rim, shape="round")


def make_cat_tree(taste: Taste) -> Model:
    """Posts wound with rope between platforms."""
    draws, made = taste.draws, Assembly()
    plush = Look("terry", draws.choose(("beige", "grey", "ivory", "brown", taste.accent)))
    rope = Look("wicker", "tan")
    levels = draws.integer(2, 4)
    made.box(plush, (480, 50, 420), (0, 0, 0))
    for k in range(levels):
        x = (-110, 110)[k % 2]
        made.add(CYLINDER, rope, (90, 360, 90), (x, 50 + 400 * k, 60))
        made.add(CUSHION, plush, (360, 44, 330), (x // 2, 408 + 400 * k, 20))
    made.box(plush, (240, 260, 240), (-100, 50, -60))
    made.add(DISC, Look("plastic", "black"), (150, 150, 12), (-100, 100, -180))
    return made.model(plush, shape=f"{levels} levels")


def make_easel(taste: Taste) -> Model:
    """A painter's easel with a canvas."""
    draws, made = taste.draws, Assembly()
    wood = Look("wood", draws.choose(("pine", "oak", "walnut")))
    for x, turn in ((-250, Turn(12, -5, 13)), (250, Turn(12, 5, 13))):
        made.add(leaning(400, 120), wood, (40, 1650, 300), (x, 0, 0), turn)
    made.add(leaning(-700, 60), wood, (40, 1400, 460), (0, 0, 260))
    made.box(wood, (560, 40, 90), (0, 760, -40))
    art = draws.choose(("art hills", "art shapes", "art flower", "art bars", "art circles"))
    made.box(Look("paper", "ivory"), (560, 640, 24), (0, 800, -30))
    made.box(Look(art, "white"), (550, 630, 6), (0, 805, -45), fit=True)
    return made.model(wood, shape="tripod", pattern=art.removeprefix("art "))
