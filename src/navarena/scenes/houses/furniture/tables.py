"""Tables and desks."""

from navarena.scenes.houses.appearance.finishes import Look
from navarena.scenes.houses.furniture.taste import Taste
from navarena.scenes.houses.solids.models import Assembly, Model
from navarena.scenes.houses.solids.shapes import BOX, FINE_CYLINDER, ROD, lathe, tapered


def make_dining_table(taste: Taste) -> Model:
    """A table to eat at, for two to eight."""
    draws, made = taste.draws, Assembly()
    high, wood = draws.integer(730, 760, 10), taste.some_wood()
    top = wood if draws.chance(75) else draws.choose(taste.style.tops)
    if draws.chance(25):
        width = draws.integer(800, max(900, min(1250, taste.room_mm - 1500)), 50)
        made.add(FINE_CYLINDER, top, (width, 36, width), (0, high - 36, 0))
        pedestal = lathe(
            (0, 1000), (60, 900), (120, 260), (500, 200), (900, 260), (1000, 520), section="round12"
        )
        made.add(pedestal, wood, (width // 2, high - 36, width // 2), (0, 0, 0))
        made.surface((0, high, 0), width * 68 // 100, width * 68 // 100)
        return made.model(top, shape="round")
    width = draws.integer(900, max(1000, min(1900, taste.room_mm - 1200)), 100)
    depth = draws.integer(700, max(760, min(950, taste.room_mm - 1600)), 10)
    made.box(top, (width, 36, depth), (0, high - 36, 0))
    legs = draws.choose((BOX, tapered(600, 1000), ROD))
    made.legs(wood, legs, draws.integer(56, 84, 2), high - 36, width - 60, depth - 60)
    for z in (-(depth - 150) // 2, (depth - 150) // 2):
        made.box(wood, (width - 190, 80, 22), (0, high - 116, z))
    made.surface((0, high, 0), width - 160, depth - 200)
    return made.model(top, shape="rectangular")


def make_small_table(taste: Taste) -> Model:
    """A table for two to four, as it stands against a kitchen wall."""
    draws, made = taste.draws, Assembly()
    high, wood = draws.integer(730, 760, 10), taste.some_wood()
    width, depth = draws.integer(750, 1150, 50), draws.integer(600, 750, 10)
    made.box(wood, (width, 30, depth), (0, high - 30, 0))
    made.legs(taste.wood, draws.choose((BOX, tapered(600, 1000), ROD)), 52, high - 30, width - 30, depth - 30)
    made.surface((0, high, 0), width - 120, depth - 140)
    return made.model(wood, shape="rectangular")


def make_coffee_table(taste: Taste) -> Model:
    """A low table before the sofa."""
    draws, made = taste.draws, Assembly()
    high, wood = draws.integer(380, 450, 10), taste.some_wood()
    top = draws.choose((wood, wood, draws.choose(taste.style.tops)))
    frame = taste.metal_look() if draws.chance(40) else wood
    if draws.chance(30):
        width = draws.integer(600, 850, 50)
        made.add(FINE_CYLINDER, top, (width, 30, width), (0, high - 30, 0))
        made.legs(frame, ROD, 36, high - 30, width * 68 // 100, width * 68 // 100)
        made.surface((0, high, 0), width * 68 // 100, width * 68 // 100)
        return made.model(top, shape="round")
    width, depth = draws.integer(800, 1200, 50), draws.integer(480, 640, 20)
    made.box(top, (width, 36, depth), (0, high - 36, 0))
    made.legs(frame, BOX, 46, high - 36, width - 30, depth - 30)
    if draws.chance(60):
        made.box(wood, (width - 90, 20, depth - 90), (0, 120, 0))
    made.surface((0, high, 0), width - 60, depth - 60)
    return made.model(top, shape="rectangular")


def make_side_table(taste: Taste) -> Model:
    """A small table beside a seat or in a corridor."""
    draws, made = taste.draws, Assembly()
    width, high = draws.integer(360, 480, 20), draws.integer(500, 620, 20)
    top, frame = taste.some_wood(), taste.metal_look() if draws.chance(50) else taste.wood
    round_top = draws.chance(55)
    made.add(FINE_CYLINDER if round_top else BOX, top, (width, 26, width), (0, high - 26, 0))
    if round_top:
        base = lathe((0, 1000), (40, 900), (80, 130), (1000, 130), section="round8")
        made.add(base, frame, (width * 7 // 10, high - 26, width * 7 // 10), (0, 0, 0))
    else:
        made.legs(frame, BOX, 30, high - 26, width, width)
    made.surface((0, high, 0), width * 68 // 100, width * 68 // 100)
    return made.model(top, shape="round" if round_top else "square")


def make_console_table(taste: Taste) -> Model:
    """A narrow table for a corridor wall."""
    draws, made = taste.draws, Assembly()
    width, depth, high = (
        draws.integer(700, 1000, 50),
        draws.integer(240, 300, 20),
        draws.integer(740, 820, 20),
    )
    wood = taste.some_wood()
    made.box(wood, (width, 30, depth), (0, high - 30, 0))
    made.legs(wood, tapered(600, 1000), 40, high - 30, width - 20, depth - 20)
    made.box(wood, (width - 80, 110, depth - 40), (0, high - 140, 0))
    for sign in (-1, 1):
        made.box(taste.metal_look(), (60, 14, 24), (sign * width // 4, high - 90, -depth // 2 + 10))
    made.surface((0, high, 0), width - 40, depth - 20)
    return made.model(wood, shape="narrow")


def make_desk(taste: Taste) -> Model:
    """A desk with a drawer unit on one side."""
    draws, made = taste.draws, Assembly()
    width, depth, high = draws.integer(1100, 1600, 100), draws.integer(600, 750, 50), 740
    wood, frame = taste.some_wood(), taste.metal_look() if draws.chance(45) else taste.wood
    side = draws.choose((-1, 1))
    made.box(wood, (width, 30, depth), (0, high - 30, 0))
    for z in (-1, 1):
        made.box(frame, (50, high - 30, 50), (-side * (width - 70) // 2, 0, z * (depth - 70) // 2))
    made.box(frame, (40, 40, depth - 120), (-side * (width - 70) // 2, high - 110, 0))
    x = side * (width - 440) // 2
    made.box(wood, (400, high - 30, depth - 40), (x, 0, 10))
    for k in range(3):
        low = 60 + 215 * k
        made.box(wood, (364, 200, 16), (x, low, -depth // 2 + 22))
        made.box(taste.metal_look(), (110, 14, 22), (x, low + 130, -depth // 2 + 4))
    made.surface((-side * 150, high, 40), width - 440, depth - 80)
    return made.model(wood, shape="rectangular")


def make_vanity_shelf(taste: Taste) -> Model:
    """A low trolley with two shelves, for bathrooms and laundry rooms."""
    made, frame = Assembly(), Look("metal", taste.draws.choose(("white", "steel", "black")))
    width, depth, high = 420, 300, taste.draws.integer(640, 780, 20)
    made.legs(frame, ROD, 24, high, width, depth)
    for y in (110, high // 2 + 40, high - 24):
        made.box(frame, (width, 18, depth), (0, y, 0))
    made.surface((0, high - 6, 0), width - 50, depth - 50)
    made.surface((0, high // 2 + 58, 0), width - 60, depth - 50, high // 2 - 90)
    return made.model(frame, shape="open")
