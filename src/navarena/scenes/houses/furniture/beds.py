"""Beds and what lies on them."""

from navarena.scenes.houses.appearance.finishes import FABRIC_PATTERNS, Look
from navarena.scenes.houses.furniture.taste import Taste
from navarena.scenes.houses.solids.models import Assembly, Model
from navarena.scenes.houses.solids.shapes import BOX, CUSHION, PILLOW, Shape, tapered

BED_WIDTHS = {"single": 950, "small double": 1250, "double": 1650, "king size": 1850}

LEANING_CUSHION = Shape(
    "chamfered",
    (
        (0, 760, 260, 0, -300),
        (180, 980, 600, 0, -190),
        (500, 1000, 700, 0, 0),
        (820, 980, 600, 0, 190),
        (1000, 760, 260, 0, 300),
    ),
)


def make_bed(taste: Taste) -> Model:
    """A made bed: frame, mattress, duvet, pillows; the head is at the back."""
    draws, made = taste.draws, Assembly()
    size = draws.weighted(tuple(BED_WIDTHS), (3, 3, 0, 0) if taste.room_mm < 2900 else (2, 2, 5, 2))
    width, length = BED_WIDTHS[size], 2080
    frame, sheet = taste.some_wood(), Look("fabric", draws.choose(("white", "ivory", "light grey")))
    cover = Look(
        draws.weighted(("fabric", *FABRIC_PATTERNS), (5, 1, 1, 1, 1, 1)),
        taste.textile if draws.chance(50) else draws.choose(taste.style.textiles),
    )
    head, foot = draws.integer(850, 1150, 50), draws.choose((0, 0, 520))
    padded = draws.chance(35)
    made.legs(frame, tapered(700, 1000), 60, 150, width - 20, length - 60)
    made.box(frame, (width, 160, length - 60), (0, 150, -10))
    head_look = taste.upholstery(("fabric", "leather")) if padded else frame
    if padded:
        made.add(CUSHION, head_look, (width + 20, head - 100, 90), (0, 100, length // 2 - 45))
    else:
        made.box(head_look, (width + 20, head, 50), (0, 0, length // 2 - 25))
        made.box(head_look, (width - 120, head - 560, 14), (0, 480, length // 2 - 57))
    if foot:
        made.box(frame, (width, foot, 40), (0, 0, -length // 2 + 20))
    made.add(CUSHION, sheet, (width - 30, 220, length - 110), (0, 290, 0))
    duvet = length * draws.choose((60, 66, 70)) // 100
    made.add(CUSHION, cover, (width + 10, 150, duvet), (0, 390, -length // 2 + duvet // 2 + 42))
    made.add(CUSHION, sheet, (width - 4, 60, 240), (0, 484, -length // 2 + duvet + 40))
    pillows = 1 if width < 1100 else 2
    for k in range(pillows):
        x = 0 if pillows == 1 else (2 * k - 1) * width // 4
        made.add(PILLOW, sheet, (min(680, width // pillows - 90), 150, 420), (x, 500, length // 2 - 300))
    if draws.chance(45):
        throw = Look(draws.choose(("fabric", "plaid", "terry")), taste.some_accent())
        made.add(CUSHION, throw, (width + 24, 90, 420), (0, 462, -length // 2 + 330))
    made.surface((0, 545, 170), width - 300, 700, 500)
    return made.model(cover, shape=size)


def make_cushion(taste: Taste) -> Model:
    """A throw cushion leaning on its edge."""
    draws, made = taste.draws, Assembly()
    look = Look(draws.choose(("fabric", "terry", "leather", *FABRIC_PATTERNS)), taste.some_accent())
    size = draws.integer(360, 460, 20)
    long = draws.chance(35)
    made.add(LEANING_CUSHION, look, (size + 160 * long, size - 90 * long, 190), (0, 0, 0))
    return made.model(look, shape="rectangular" if long else "square")


def make_nightstand(taste: Taste) -> Model:
    """A small chest beside the bed."""
    draws, made = taste.draws, Assembly()
    width, depth, high = draws.integer(400, 500, 20), draws.integer(350, 420, 10), draws.integer(480, 600, 20)
    wood, legs = taste.wood, draws.choose((40, 120))
    made.legs(wood, tapered(650, 1000), 36, legs, width - 20, depth - 20)
    made.box(wood, (width, high - legs, depth), (0, legs, 0))
    rows = 1 if legs > 100 and draws.chance(40) else 2
    front = (high - legs - 40) // rows
    for k in range(rows):
        low = legs + 20 + k * front
        made.box(wood, (width - 40, front - 14, 16), (0, low, -depth // 2 - 8))
        made.box(taste.metal_look(), (90, 14, 22), (0, low + front // 2, -depth // 2 - 26))
    made.surface((0, high, 0), width - 30, depth - 40)
    return made.model(wood, shape=f"{rows} drawer{'s' if rows > 1 else ''}")


def make_blanket(taste: Taste) -> Model:
    """A folded blanket."""
    look = Look(taste.draws.choose(("terry", "fabric", *FABRIC_PATTERNS)), taste.some_accent())
    made = Assembly()
    for k in range(3):
        made.add(CUSHION if k == 2 else BOX, look, (420 - 8 * k, 40, 300 - 6 * k), (0, 40 * k, 0))
    return made.model(look, shape="folded")
