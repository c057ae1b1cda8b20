"""Seats and beds beyond the usual: for leaning back, for bars, for children."""

from navarena.scenes.houses.appearance.finishes import Look
from navarena.scenes.houses.furniture.taste import Taste
from navarena.scenes.houses.solids.models import Assembly, Model
from navarena.scenes.houses.solids.shapes import (
    BOX,
    CUSHION,
    CYLINDER,
    FINE_CYLINDER,
    PILLOW,
    ROD,
    lathe,
    leaning,
    tapered,
)


def make_bar_stool(taste: Taste) -> Model:
    """A high stool with a footrest, with or without a back."""
    draws, made = taste.draws, Assembly()
    high, frame = draws.integer(650, 780, 10), taste.metal_look()
    seat = draws.choose((taste.some_wood(), taste.upholstery(("leather", "fabric"))))
    pedestal = draws.chance(45)
    if pedestal:
        made.add(FINE_CYLINDER, frame, (400, 24, 400), (0, 0, 0))
        made.add(CYLINDER, frame, (60, high - 84, 60), (0, 24, 0))
        made.add(CYLINDER, frame, (240, 20, 240), (0, 260, 0))
    else:
        made.legs(frame, ROD, 30, high - 60, 360, 360)
        for z in (-150, 150):
            made.box(frame, (320, 20, 20), (0, 260, z))
    made.add(CUSHION if not pedestal else CYLINDER, seat, (360, 60, 360), (0, high - 60, 0))
    back = draws.chance(50)
    if back:
        made.add(leaning(300, 600), seat, (330, 240, 70), (0, high, 145))
    return made.model(seat, shape="with back" if back else "pedestal" if pedestal else "four legs")


def make_rocking_chair(taste: Taste) -> Model:
    """A wooden chair on runners."""
    draws, made = taste.draws, Assembly()
    wood, width = taste.some_wood(), draws.integer(520, 600, 20)
    for sign in (-1, 1):
        x = sign * (width // 2 - 20)
        made.box(wood, (36, 30, 560), (x, 0, 0))
        for z in (-300, 300):
            made.add(leaning(600 if z > 0 else -600, 400), wood, (36, 60, 120), (x, 8, z))
        made.box(wood, (34, 580, 34), (x, 30, -190))
        made.box(wood, (34, 400, 34), (x, 30, 180))
        made.box(wood, (60, 24, 480), (x, 610, 20))
    seat = taste.upholstery(("fabric", "leather")) if draws.chance(50) else wood
    made.box(wood, (width - 40, 34, 460), (0, 400, 0))
    if seat != wood:
        made.add(CUSHION, seat, (width - 80, 60, 420), (0, 434, -10))
    for k in range(5):
        made.add(leaning(500, 160), wood, (40, 640, 180), ((k - 2) * (width - 120) // 4, 430, 250))
    made.add(leaning(100, 900), wood, (width - 20, 90, 40), (0, 1050, 310))
    return made.model(wood, shape="padded" if seat != wood else "slatted")


def make_lounge_chair(taste: Taste) -> Model:
    """A long seat to lie back on."""
    draws, made = taste.draws, Assembly()
    cover, frame = taste.upholstery(), draws.choose((taste.metal_look(), taste.wood))
    width, long = draws.integer(560, 660, 20), draws.integer(1350, 1550, 50)
    made.legs(frame, tapered(700, 1000), 44, 200, width - 20, long - 100)
    made.box(frame, (width - 10, 50, long - 40), (0, 200, 0))
    made.add(CUSHION, cover, (width, 130, long - 300), (0, 250, -150))
    made.add(leaning(550, 300), cover, (width, 480, 420), (0, 260, long // 2 - 200))
    if draws.chance(50):
        made.add(
            PILLOW, Look("fabric", taste.some_accent()), (width - 120, 120, 240), (0, 380, long // 2 - 470)
        )
    return made.model(cover, shape="chaise")


def make_folding_chair(taste: Taste) -> Model:
    """A light chair with crossed legs."""
    draws, made = taste.draws, Assembly()
    frame = draws.choose(
        (Look("metal", "steel"), Look("metal", "black"), Look("wood", "pine"), Look("metal", taste.accent))
    )
    seat = draws.choose(
        (frame, Look("plastic", taste.some_accent()), Look("striped fabric", taste.some_accent()))
    )
    for sign in (-1, 1):
        x = sign * 200
        made.add(leaning(-800, 80), frame, (26, 440, 420), (x, 0, 0))
        made.add(leaning(800, 80), frame, (26, 440, 420), (x - sign * 30, 0, 0))
        made.add(leaning(400, 300), frame, (26, 430, 90), (x, 450, 190))
    made.box(seat, (400, 24, 400), (0, 440, -10))
    made.add(leaning(300, 200), seat, (380, 220, 60), (0, 640, 205))
    return made.model(seat, shape="folding")


def make_high_chair(taste: Taste) -> Model:
    """A child's chair with a tray."""
    draws, made = taste.draws, Assembly()
    wood, cover = taste.some_wood(), Look(draws.choose(("plastic", "dotted fabric")), taste.some_accent())
    made.legs(wood, tapered(1000, 800), 40, 520, 380, 380)
    made.box(cover, (340, 40, 340), (0, 520, 0))
    made.add(leaning(300, 300), cover, (340, 380, 90), (0, 560, 170))
    for x in (-185, 185):
        made.box(wood, (30, 180, 300), (x, 540, -10))
    made.box(Look("plastic", "white"), (420, 26, 260), (0, 720, -180))
    made.box(wood, (300, 20, 60), (0, 240, -165))
    return made.model(cover, shape="with tray")


def make_bean_bag(taste: Taste) -> Model:
    """A bag to sink into."""
    draws, made = taste.draws, Assembly()
    cover, width = (
        Look(draws.choose(("fabric", "leather", "terry", "zigzag fabric")), taste.some_accent()),
        draws.integer(700, 900, 50),
    )
    made.add(
        lathe((0, 820), (200, 1000), (450, 940), (750, 560), (1000, 200), section="round12"),
        cover,
        (width, width * 8 // 10, width),
        (0, 0, 0),
    )
    return made.model(cover, shape="drop")


def make_ottoman(taste: Taste) -> Model:
    """An upholstered footrest on short legs."""
    draws, made = taste.draws, Assembly()
    cover, frame = taste.upholstery(), taste.some_wood()
    width, deep = draws.integer(500, 900, 50), draws.integer(450, 600, 50)
    made.legs(frame, tapered(600, 1000), 46, 130, width - 50, deep - 50)
    made.box(cover, (width, 150, deep), (0, 130, 0))
    made.add(CUSHION, cover, (width, 130, deep), (0, 282, 0))
    made.surface((0, 412, 0), width - 200, deep - 160)
    return made.model(cover, shape="rectangular" if width > deep + 60 else "square")


def make_footstool(taste: Taste) -> Model:
    """A low wooden step or stool for the feet."""
    draws, made = taste.draws, Assembly()
    wood, width = taste.some_wood(), draws.integer(340, 440, 20)
    high = draws.integer(220, 300, 20)
    for x in (-width // 2 + 40, width // 2 - 40):
        made.box(wood, (30, high - 26, 220), (x, 0, 0))
    made.box(wood, (width, 26, 260), (0, high - 26, 0))
    made.box(wood, (width - 110, 50, 20), (0, high - 90, 0))
    padded = draws.chance(40)
    look = taste.upholstery(("fabric", "leather")) if padded else wood
    if padded:
        made.add(CUSHION, look, (width, 60, 250), (0, high, 0))
    return made.model(look, shape="padded" if padded else "plain top")


def make_bunk_bed(taste: Taste) -> Model:
    """Two beds, one above the other, with a ladder."""
    draws, made = taste.draws, Assembly()
    frame, width, length = taste.some_wood(), 960, 2060
    high = draws.integer(1600, 1750, 50)
    made.legs(frame, BOX, 70, high, width, length)
    for low in (260, 1160):
        cover = Look(
            draws.choose(("fabric", "plaid", "striped fabric", "dotted fabric")), taste.some_accent()
        )
        made.box(frame, (width - 20, 120, length - 80), (0, low, 0))
        made.add(CUSHION, Look("fabric", "white"), (width - 90, 140, length - 160), (0, low + 110, 0))
        made.add(CUSHION, cover, (width - 80, 90, length * 6 // 10), (0, low + 190, -length // 5 + 40))
        made.add(PILLOW, Look("fabric", "ivory"), (560, 120, 340), (0, low + 240, length // 2 - 300))
        for sign in (-1, 1):
            made.box(frame, (width - 140, 70, 30), (0, low + 330, sign * (length - 40) // 2))
    for sign in (-1, 1):
        made.box(
            frame,
            (30, 70, length - 140 if sign > 0 else length - 700),
            (sign * (width - 40) // 2, 1560, 0 if sign > 0 else 280),
        )
    for z in (-960 + 90, -960 + 450):
        made.box(frame, (40, 1500, 40), (-width // 2 - 20, 0, z))
    for k in range(5):
        made.box(frame, (36, 30, 320), (-width // 2 - 20, 240 + 260 * k, -690))
    return made.model(frame, shape="two beds")


def make_crib(taste: Taste) -> Model:
    """A baby's bed with bars."""
    draws, made = taste.draws, Assembly()
    frame = draws.choose((taste.some_wood(), Look("lacquer", "white"), Look("lacquer", "sage")))
    width, length, high = 1240, 680, draws.integer(880, 960, 20)
    made.legs(frame, BOX, 54, high, width, length)
    for sign in (-1, 1):
        for low in (240, high - 60):
            made.box(frame, (width - 108, 50, 34), (0, low, sign * (length - 54) // 2))
        for k in range(8):
            made.box(frame, (24, high - 350, 20), (-480 + 137 * k, 290, sign * (length - 54) // 2))
        made.box(frame, (34, high - 320, length - 108), (sign * (width - 54) // 2, 260, 0))
    made.box(frame, (width - 108, 30, length - 108), (0, 250, 0))
    cover = Look(draws.choose(("dotted fabric", "striped fabric", "fabric")), taste.some_accent())
    made.add(CUSHION, Look("fabric", "white"), (width - 120, 110, length - 120), (0, 280, 0))
    made.add(CUSHION, cover, (width // 2, 60, length - 130), (-width // 5, 370, 0))
    return made.model(frame, shape="with bars")
