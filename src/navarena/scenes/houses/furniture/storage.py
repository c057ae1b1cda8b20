"""Cabinets, shelves, wardrobes and racks."""

from navarena.scenes.houses.appearance.finishes import Look
from navarena.scenes.houses.furniture.taste import Taste
from navarena.scenes.houses.solids.models import Assembly, Model
from navarena.scenes.houses.solids.shapes import BOX, CUSHION, ROD, leaning, tapered

FRONT_MM = 18
GAP_MM = 8


def add_doors(
    made: Assembly, look: Look, knob: Look, columns: int, width: int, low: int, high: int, face: int
) -> None:
    """Door fronts side by side with knobs at their meeting edges."""
    each = width // columns
    for k in range(columns):
        x = (2 * k + 1 - columns) * each // 2
        made.box(look, (each - GAP_MM, high - low, FRONT_MM), (x, low, face - FRONT_MM // 2))
        inner = 1 if k % 2 == 0 and columns > 1 else -1
        made.box(
            knob, (16, 120, 24), (x + inner * (each // 2 - 45), (low + high) // 2 - 40, face - FRONT_MM - 12)
        )


def add_drawers(
    made: Assembly, look: Look, knob: Look, rows: int, x: int, width: int, low: int, high: int, face: int
) -> None:
    """Drawer fronts one above the other with bar handles."""
    each = (high - low) // rows
    for k in range(rows):
        y = low + k * each
        made.box(look, (width - GAP_MM, each - GAP_MM, FRONT_MM), (x, y, face - FRONT_MM // 2))
        made.box(knob, (min(160, width // 3), 16, 24), (x, y + each * 6 // 10, face - FRONT_MM - 12))


def make_sideboard(taste: Taste) -> Model:
    """A low cabinet with doors."""
    draws, made = taste.draws, Assembly()
    columns = draws.integer(2, 4)
    width, depth, high = (
        columns * draws.integer(380, 460, 10),
        draws.integer(380, 450, 10),
        draws.integer(700, 900, 20),
    )
    wood, legs = taste.some_wood(), draws.choose((30, 120, 160))
    made.legs(wood, tapered(650, 1000), 44, legs, width - 40, depth - 40)
    made.box(wood, (width, high - legs - 24, depth), (0, legs, 0))
    made.box(wood, (width + 20, 24, depth + 16), (0, high - 24, -4))
    front = wood if draws.chance(60) else draws.choose(taste.style.fronts)
    add_doors(made, front, taste.metal_look(), columns, width - 40, legs + 20, high - 44, -depth // 2)
    made.surface((0, high, 0), width - 60, depth - 50)
    return made.model(wood, shape=f"{columns} doors")


def make_low_cabinet(taste: Taste) -> Model:
    """A small cabinet with one or two doors, as high as a hand."""
    draws, made = taste.draws, Assembly()
    columns = draws.integer(1, 2)
    width, depth = columns * draws.integer(400, 480, 20), draws.integer(340, 420, 20)
    high, wood = (
        draws.integer(760, 1150, 30),
        draws.choose((taste.some_wood(), Look("lacquer", taste.some_accent()))),
    )
    made.box(wood, (width, high - 24, depth), (0, 0, 0))
    made.box(taste.wood, (width + 20, 24, depth + 16), (0, high - 24, -4))
    add_doors(made, wood, taste.metal_look(), columns, width - 30, 60, high - 40, -depth // 2)
    made.surface((0, high, 0), width - 60, depth - 50)
    return made.model(wood, shape=f"{columns} door{'s' if columns > 1 else ''}")


def make_tall_cabinet(taste: Taste) -> Model:
    """A tall cabinet with doors above and below."""
    draws, made = taste.draws, Assembly()
    width, depth, high = (
        draws.integer(700, 950, 50),
        draws.integer(350, 420, 10),
        draws.integer(1500, 1950, 50),
    )
    wood = taste.some_wood()
    made.box(wood, (width, high, depth), (0, 0, 0))
    made.box(wood, (width + 24, 30, depth + 18), (0, high, -4))
    split = high * 45 // 100
    add_doors(made, wood, taste.metal_look(), 2, width - 30, 60, split, -depth // 2)
    upper = Look("glass", "sky blue") if draws.chance(40) else wood
    add_doors(made, upper, taste.metal_look(), 2, width - 30, split + 20, high - 20, -depth // 2)
    return made.model(wood, shape="tall")


def make_chest_of_drawers(taste: Taste) -> Model:
    """Three to five drawers."""
    draws, made = taste.draws, Assembly()
    rows, columns = draws.integer(3, 5), draws.choose((1, 1, 2))
    width, depth = draws.integer(700, 900, 20) + 300 * (columns - 1), draws.integer(420, 500, 10)
    high, wood, legs = 200 + rows * draws.integer(170, 200, 10), taste.some_wood(), draws.choose((40, 90))
    made.legs(wood, tapered(700, 1000), 50, legs, width - 30, depth - 30)
    made.box(wood, (width, high - legs - 24, depth), (0, legs, 0))
    made.box(wood, (width + 24, 24, depth + 18), (0, high - 24, -4))
    each = (width - 30) // columns
    for k in range(columns):
        x = (2 * k + 1 - columns) * each // 2
        add_drawers(made, wood, taste.metal_look(), rows, x, each, legs + 20, high - 40, -depth // 2)
    made.surface((0, high, 0), width - 60, depth - 50)
    return made.model(wood, shape=f"{rows * columns} drawers")


def make_wardrobe(taste: Taste) -> Model:
    """A wardrobe as high as a door."""
    draws, made = taste.draws, Assembly()
    columns = draws.integer(2, 2 if taste.room_mm < 2900 else 4)
    width, depth, high = columns * draws.integer(420, 520, 20), 600, draws.integer(1950, 2250, 50)
    wood = taste.some_wood()
    made.box(wood, (width, high, depth), (0, 0, 0))
    made.box(wood, (width + 20, 40, depth + 16), (0, high, -4))
    front = wood if draws.chance(70) else Look("lacquer", draws.choose(("white", "ivory", "light grey")))
    add_doors(made, front, taste.metal_look(), columns, width - 20, 80, high - 20, -depth // 2)
    return made.model(wood, shape=f"{columns} doors")


def make_bookshelf(taste: Taste) -> Model:
    """An open shelf with rows of books and free boards for other things."""
    draws, made = taste.draws, Assembly()
    width, depth, rows = draws.integer(700, 1100, 50), draws.integer(280, 340, 10), draws.integer(3, 6)
    each, wood = draws.integer(310, 360, 10), taste.some_wood()
    high, inner = rows * each + 80, width - 60
    for sign in (-1, 1):
        made.box(wood, (30, high, depth), (sign * (width - 30) // 2, 0, 0))
    made.box(wood, (inner, high - 60, 12), (0, 60, depth // 2 - 6))
    made.box(wood, (inner, 60, depth - 20), (0, 0, 5))
    for k in range(rows + 1):
        low = 60 + k * each
        made.box(wood, (inner, 20, depth - 14), (0, low, -6))
        if k == rows:
            break
        if draws.chance(70):
            run = inner * draws.integer(45, 92) // 100
            x = draws.choose((-1, 1)) * (inner - run) // 2
            made.box(
                Look("books", "white"),
                (run, each - draws.integer(70, 110, 10), depth - 110),
                (x, low + 20, 20),
                fit=True,
            )
        else:
            made.surface((0, low + 20, -6), inner - 20, depth - 40, each - 30)
    return made.model(wood, shape=f"{rows} shelves")


def make_storage_shelf(taste: Taste) -> Model:
    """Deep open boards on posts, of metal or raw wood."""
    draws, made = taste.draws, Assembly()
    look = draws.choose(
        (Look("metal", "steel"), Look("metal", "charcoal"), Look("wood", "pine"), Look("lacquer", "white"))
    )
    width, depth, rows = draws.integer(800, 1200, 50), draws.integer(380, 480, 20), draws.integer(3, 5)
    each = min(draws.integer(340, 440, 20), 1900 // rows)
    made.legs(look, BOX, 40, rows * each + 60, width, depth)
    for k in range(rows + 1):
        low = 60 + k * each - 30 * (k == rows)
        made.box(look, (width - 6, 24, depth - 6), (0, low, 0))
        if k < rows:
            made.surface((0, low + 24, 0), width - 100, depth - 60, each - 60)
    return made.model(look, shape=f"{rows} boards")


def make_wall_shelf(taste: Taste) -> Model:
    """A board on the wall."""
    draws, made = taste.draws, Assembly(hangs=True)
    width, depth, wood = draws.integer(600, 1000, 50), draws.integer(200, 280, 10), taste.some_wood()
    made.box(wood, (width, 28, depth), (0, 60, 0))
    for sign in (-1, 1):
        made.box(taste.metal_look(), (24, 60, depth - 60), (sign * (width // 2 - 90), 0, 30))
    made.surface((0, 88, 0), width - 40, depth - 20, 300)
    return made.model(wood, shape="board")


def make_tv_stand(taste: Taste) -> Model:
    """A low bench for the television."""
    draws, made = taste.draws, Assembly()
    width, depth, high = (
        draws.integer(1200, 1800, 100),
        draws.integer(380, 440, 10),
        draws.integer(400, 520, 20),
    )
    wood, legs = taste.some_wood(), draws.choose((20, 100))
    made.legs(wood, BOX, 40, legs, width - 80, depth - 60)
    made.box(wood, (width, high - legs, depth), (0, legs, 0))
    third = (width - 30) // 3
    add_drawers(made, wood, taste.metal_look(), 1, -third, third, legs + 20, high - 24, -depth // 2)
    add_drawers(made, wood, taste.metal_look(), 1, third, third, legs + 20, high - 24, -depth // 2)
    made.box(Look("lacquer", "black"), (third - 20, high - legs - 60, 10), (0, legs + 30, -depth // 2 - 5))
    made.surface((0, high, 20), width - 120, depth - 120, 900)
    return made.model(wood, shape="low")


def make_shoe_rack(taste: Taste) -> Model:
    """Shoes on two slatted boards."""
    draws, made = taste.draws, Assembly()
    width, depth, wood = draws.integer(600, 800, 50), 300, taste.some_wood()
    for sign in (-1, 1):
        made.box(wood, (24, 460, depth), (sign * (width - 24) // 2, 0, 0))
    for low in (80, 280):
        made.box(wood, (width - 48, 16, depth - 20), (0, low, 0))
        for k in range(3):
            shoes = Look("leather", draws.choose(("brown", "black", "white", taste.some_accent())))
            x = (k - 1) * (width - 140) // 3
            for pair in (-45, 45):
                made.add(leaning(-120, 760), shoes, (76, 80, 240), (x + pair, low + 16, 0))
    made.box(wood, (width, 20, depth), (0, 460, 0))
    made.surface((0, 480, 0), width - 60, depth - 30)
    return made.model(wood, shape="open")


def make_clothes_rack(taste: Taste) -> Model:
    """A rail with hanging clothes."""
    draws, made = taste.draws, Assembly()
    width, high, metal = draws.integer(900, 1200, 50), draws.integer(1500, 1650, 50), taste.metal_look()
    for sign in (-1, 1):
        made.add(ROD, metal, (30, high, 30), (sign * (width - 30) // 2, 0, 0))
        made.box(metal, (30, 30, 420), (sign * (width - 30) // 2, 0, 0))
    made.box(metal, (width, 26, 26), (0, high - 60, 0))
    made.box(metal, (width - 60, 20, 20), (0, 150, 0))
    number = draws.integer(5, 9)
    first = Look("fabric", taste.some_accent())
    for k in range(number):
        look = (
            first
            if k == 0
            else Look(draws.choose(("fabric", "striped fabric", "plaid")), taste.some_accent())
        )
        x = (2 * k + 1 - number) * (width - 160) // (2 * number)
        length = draws.integer(600, 1000, 50)
        made.add(
            tapered(1000, 620), look, (50, length, draws.integer(380, 440, 10)), (x, high - 90 - length, 0)
        )
    return made.model(first, shape="hanging")


def make_coat_hooks(taste: Taste) -> Model:
    """A board with coats."""
    draws, made = taste.draws, Assembly(hangs=True)
    number = draws.integer(2, 4)
    width = 220 * number + 80
    made.box(taste.wood, (width, 100, 20), (0, 900, 35))
    first = Look("fabric", taste.some_accent())
    for k in range(number):
        look = first if k == 0 else Look("fabric", taste.some_accent())
        x = (2 * k + 1 - number) * 110
        made.add(tapered(1000, 500), look, (200, draws.integer(750, 900, 50), 80), (x, 80, -20))
        made.box(taste.metal_look(), (20, 30, 50), (x, 950, 5))
    return made.model(first, shape="hanging")


def make_folded_clothes(taste: Taste) -> Model:
    """A pile of folded clothes."""
    draws, made = taste.draws, Assembly()
    first = Look("fabric", taste.some_accent())
    for k in range(draws.integer(2, 5)):
        look = (
            first
            if k == 0
            else Look(draws.choose(("fabric", "striped fabric", "plaid")), taste.some_accent())
        )
        made.add(
            CUSHION, look, (draws.integer(260, 310, 10), 48, draws.integer(220, 260, 10)), (0, 44 * k, 0)
        )
    return made.model(first, shape="folded")
