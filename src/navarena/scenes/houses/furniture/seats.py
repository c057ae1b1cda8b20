"""Chairs, sofas and other seats."""

from navarena.scenes.houses.appearance.finishes import Look
from navarena.scenes.houses.furniture.taste import Taste
from navarena.scenes.houses.solids.models import Assembly, Model, Turn
from navarena.scenes.houses.solids.shapes import BOX, CUSHION, CYLINDER, ROD, lathe, leaning, tapered


def make_chair(taste: Taste) -> Model:
    """A dining chair with a slatted, solid or upholstered back."""
    draws, made = taste.draws, Assembly()
    width, depth, seat = draws.integer(420, 480, 10), draws.integer(420, 480, 10), draws.integer(430, 470, 10)
    frame, high = taste.some_wood(), draws.integer(820, 960, 20)
    legs = draws.choose((tapered(700, 1000), BOX, ROD))
    made.legs(frame, legs, 38, seat - 30, width - 20, depth - 20)
    made.box(frame, (width, 30, depth), (0, seat - 30, 0))
    back = draws.choose(("slats", "panel", "padded"))
    if draws.chance(55) or back == "padded":
        cover = taste.upholstery(("fabric", "leather"))
        made.add(CUSHION, cover, (width - 20, 45, depth - 60), (0, seat, -14))
    else:
        cover = frame
    top, z = high - seat, depth // 2 - 20
    if back == "slats":
        for x in (-width // 2 + 25, width // 2 - 25):
            made.add(leaning(300, 700), frame, (34, top, 50), (x, seat, z))
        for k in range(3):
            made.box(frame, (width - 60, 50, 18), (0, seat + top * (3 + 2 * k) // 10, z - 2 + 5 * k))
        made.box(frame, (width - 10, 70, 26), (0, high - 70, z + 14))
    else:
        look, thick = (cover, 70) if back == "padded" else (frame, 50)
        made.add(leaning(350, 550), look, (width - 20, top, thick), (0, seat, z))
    return made.model(cover, shape=f"{back} back")


def make_office_chair(taste: Taste) -> Model:
    """A swivel chair on five castors."""
    draws, made = taste.draws, Assembly()
    cover = Look(
        draws.choose(("fabric", "leather")), draws.choose(("black", "charcoal", taste.textile, "grey"))
    )
    base = Look("plastic", "black")
    for turn in (Turn(), Turn(5, 12, 13), Turn(-3, 4, 5), Turn(-3, -4, 5), Turn(5, -12, 13)):
        x, z = turn.apply(0, -140)
        made.add(BOX, base, (46, 30, 260), (x, 50, z), turn)
        x, z = turn.apply(0, -255)
        made.add(ROD, base, (50, 50, 50), (x, 0, z))
    made.cylinder(Look("metal", "steel"), 60, 330, (0, 80, 0))
    made.add(CUSHION, cover, (480, 90, 460), (0, 410, 0))
    made.box(base, (60, 120, 30), (0, 470, 225))
    made.add(CUSHION, cover, (460, 80, 60), (0, 560, 215))
    made.add(leaning(500, 500), cover, (440, draws.integer(420, 560, 20), 90), (0, 560, 215))
    for x in (-260, 260):
        made.box(base, (40, 200, 40), (x, 440, 20))
        made.box(base, (60, 30, 260), (x, 640, 0))
    return made.model(cover, shape="swivel")


def make_armchair(taste: Taste) -> Model:
    """A single upholstered seat with arms."""
    return _upholstered(taste, seats=1)


def make_sofa(taste: Taste) -> Model:
    """A sofa for two or three."""
    return _upholstered(taste, seats=taste.draws.weighted((2, 3), (2, 3)))


def _upholstered(taste: Taste, seats: int) -> Model:
    draws, made = taste.draws, Assembly()
    cover, frame = taste.upholstery(), taste.some_wood()
    arm, depth = draws.integer(110, 200, 10), draws.integer(800, 920, 20)
    each = draws.integer(560, 640, 20)
    width = seats * each + 2 * arm
    seat, high, legs = draws.integer(400, 450, 10), draws.integer(760, 880, 20), draws.choose((60, 100, 140))
    back = draws.integer(180, 240, 10)
    made.legs(frame, tapered(600, 1000), 50, legs, width - 60, depth - 60)
    made.box(cover, (width, seat - 140 - legs, depth), (0, legs, 0))
    arm_high = draws.integer(seat + 100, seat + 200, 20)
    rounded = draws.chance(50)
    for sign in (-1, 1):
        x = sign * (width - arm) // 2
        made.add(
            CUSHION if rounded else BOX, cover, (arm, arm_high - seat + 140, depth - 2), (x, seat - 140, 0)
        )
    back_shape = leaning(160, 840)
    made.add(
        back_shape,
        cover,
        (width - 2 * arm, high - seat + 138, back),
        (0, seat - 138, (depth - back) // 2 - 2),
    )
    for k in range(seats):
        x = (2 * k + 1 - seats) * each // 2
        made.add(CUSHION, cover, (each - 6, 140, depth - back - 10), (x, seat - 138, -(back - 10) // 2 - 10))
        if draws.chance(80) or seats == 1:
            z = depth // 2 - back - 55
            made.add(leaning(250, 700), cover, (each - 20, high - seat - 30, 130), (x, seat + 2, z))
    made.surface((0, seat + 2, -back // 2), width - 2 * arm - 80, depth - back - 220, 400)
    shape = {1: "single", 2: "two-seater", 3: "three-seater"}[seats]
    return made.model(cover, shape=shape)


def make_stool(taste: Taste) -> Model:
    """A backless seat: bar stool or low stool, round or square."""
    draws, made = taste.draws, Assembly()
    tall = draws.chance(40)
    high, width = (draws.integer(620, 720, 20), 340) if tall else (draws.integer(420, 480, 20), 380)
    seat = taste.some_wood() if draws.chance(60) else taste.upholstery(("leather", "fabric"))
    frame = taste.metal_look() if draws.chance(50) else taste.wood
    made.legs(frame, ROD, 28, high - 40, width - 60, width - 60)
    for z in (-(width - 88) // 2, (width - 88) // 2):
        made.box(frame, (width - 100, 18, 18), (0, high // 3, z))
    round_seat = draws.chance(60)
    made.add(CYLINDER if round_seat else BOX, seat, (width, 40, width), (0, high - 40, 0))
    return made.model(seat, shape="round" if round_seat else "square")


def make_bench(taste: Taste) -> Model:
    """A long seat without arms."""
    draws, made = taste.draws, Assembly()
    width, depth, high = (
        draws.integer(900, 1400, 50),
        draws.integer(340, 420, 20),
        draws.integer(430, 470, 10),
    )
    frame = taste.some_wood()
    made.legs(frame, BOX, 50, high - 40, width - 40, depth - 20)
    made.box(frame, (width, 40, depth), (0, high - 40, 0))
    if draws.chance(60):
        cover = taste.upholstery()
        made.add(CUSHION, cover, (width - 20, 60, depth - 10), (0, high, 0))
        return made.model(cover, shape="long")
    made.surface((0, high, 0), width - 100, depth - 60)
    return made.model(frame, shape="long")


def make_pouf(taste: Taste) -> Model:
    """A round or square footstool without legs."""
    draws, made = taste.draws, Assembly()
    cover, width, high = taste.upholstery(), draws.integer(420, 600, 20), draws.integer(360, 430, 10)
    if draws.chance(50):
        made.add(
            lathe((0, 880), (200, 1000), (800, 1000), (1000, 860), section="round12"),
            cover,
            (width, high, width),
            (0, 0, 0),
        )
        return made.model(cover, shape="round")
    made.add(CUSHION, cover, (width, high, width), (0, 0, 0))
    return made.model(cover, shape="square")
