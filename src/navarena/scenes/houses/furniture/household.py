"""Care of body and house: bathroom things, cleaning, tools, safety."""

from navarena.scenes.houses.appearance.finishes import Look
from navarena.scenes.houses.furniture.taste import Taste
from navarena.scenes.houses.solids.models import QUARTERS, Assembly, Model
from navarena.scenes.houses.solids.shapes import (
    BOX,
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
CHROME = Look("metal", "chrome")


def make_toilet_brush(taste: Taste) -> Model:
    """A brush in its holder."""
    draws, made = taste.draws, Assembly()
    look = draws.choose((STEEL, Look("ceramic", "white"), Look("plastic", taste.some_accent()), BLACK))
    round_holder = draws.chance(65)
    made.add(straight("round8") if round_holder else BOX, look, (100, 150, 100), (0, 0, 0))
    made.add(
        ROD,
        draws.choose((STEEL, Look("plastic", "white"))),
        (20, draws.integer(200, 260, 20), 20),
        (0, 150, 0),
    )
    return made.model(look, shape="round" if round_holder else "square")


def make_bathroom_scale(taste: Taste) -> Model:
    """A scale to stand on."""
    draws, made = taste.draws, Assembly()
    look = Look(
        draws.choose(("glass", "plastic")), draws.choose(("white", "black", "sky blue", taste.accent))
    )
    made.box(look, (300, 36, 300), (0, 0, 0))
    made.box(Look("screen", "white"), (90, 4, 44), (0, 36, 100), fit=True)
    return made.model(look, shape="square")


def make_bathrobe(taste: Taste) -> Model:
    """A robe on a hook."""
    draws, made = taste.draws, Assembly(hangs=True)
    look = Look(
        draws.choose(("terry", "terry", "striped fabric")),
        taste.draws.choose(("white", taste.textile, taste.some_accent())),
    )
    high = draws.integer(1000, 1200, 50)
    made.add(tapered(1000, 560), look, (420, high, 120), (0, 0, 0))
    for x in (-190, 190):
        made.add(tapered(1000, 700), look, (110, high // 2, 90), (x, high // 2 - 60, -10))
    made.box(look, (400, 40, 116), (0, high // 2, -6))
    made.box(CHROME, (20, 40, 50), (0, high + 5, 30))
    return made.model(look, shape="long")


def make_toothbrush_cup(taste: Taste) -> Model:
    """Toothbrushes in a cup."""
    draws, made = taste.draws, Assembly()
    look = Look(draws.choose(("ceramic", "glass", "plastic")), draws.choose(("white", taste.some_accent())))
    made.add(tapered(900, 1000, "round8"), look, (78, 100, 78), (0, 0, 0))
    for k in range(draws.integer(1, 3)):
        brush = Look("plastic", draws.choose(("red", "blue", "green", "orange", "pink")))
        made.add(leaning(300, 500), brush, (12, 130, 24), (-18 + 18 * k, 60, 6 * k))
    return made.model(look, shape="round")


def make_cosmetics(taste: Taste) -> Model:
    """A few small bottles and pots."""
    draws, made = taste.draws, Assembly()
    first = Look(draws.choose(("plastic", "glass")), taste.some_accent())
    for k in range(draws.integer(3, 5)):
        look = (
            first
            if k == 0
            else Look("plastic", draws.choose(("white", "pink", "lilac", taste.some_accent())))
        )
        width, high = draws.integer(36, 60, 4), draws.integer(40, 150, 10)
        x, z = ((0, 0), (62, 14), (-60, 20), (34, -54), (-32, -50))[k]
        made.add(straight("round6"), look, (width, high, width), (x, 0, z))
        made.add(
            straight("round6"),
            CHROME if k % 2 else Look("plastic", "white"),
            (width * 6 // 10, 24, width * 6 // 10),
            (x, high, z),
        )
    return made.model(first, shape="bottles")


def make_bathroom_cabinet(taste: Taste) -> Model:
    """A shallow cabinet on the bathroom wall."""
    draws, made = taste.draws, Assembly(hangs=True)
    look = draws.choose((*taste.style.fronts, Look("lacquer", "white")))
    width, high = draws.integer(400, 800, 50), draws.integer(500, 700, 50)
    made.box(look, (width, high, 150), (0, 0, 0))
    columns = 1 if width < 550 else 2
    each = width // columns
    for k in range(columns):
        x = (2 * k + 1 - columns) * each // 2
        made.box(look, (each - 8, high - 8, 16), (x, 4, -83))
        made.box(
            taste.metal_look(),
            (14, 90, 22),
            (x + (1 if k == 0 and columns > 1 else -1) * (each // 2 - 30), 60, -100),
        )
    return made.model(look, shape=f"{columns} door{'s' if columns > 1 else ''}")


def make_spray_bottle(taste: Taste) -> Model:
    """A bottle with a trigger."""
    draws, made = taste.draws, Assembly()
    look = Look("plastic", draws.choose(("blue", "green", "orange", "white", "pink", "yellow")))
    width, high = draws.integer(80, 110, 10), draws.integer(150, 200, 10)
    shape = draws.choose(("round", "flat"))
    made.add(
        lathe(
            (0, 1000),
            (700, 1000),
            (880, 450),
            (1000, 380),
            section="round8" if shape == "round" else "chamfered",
        ),
        look,
        (width, high, width if shape == "round" else width * 6 // 10),
        (0, 0, 0),
    )
    head = Look("plastic", draws.choose(("white", "red", "black")))
    made.box(head, (36, 40, 90), (0, high, -14))
    made.box(head, (16, 54, 14), (0, high - 40, -46))
    return made.model(look, shape=shape)


def make_tissue_box(taste: Taste) -> Model:
    """A box of tissues."""
    draws, made = taste.draws, Assembly()
    look = Look(draws.choose(("paper", "paper dots", "paper stripes")), taste.some_accent())
    cube = draws.chance(40)
    made.box(look, (120, 120, 120) if cube else (230, 80, 120), (0, 0, 0))
    made.add(leaning(400, 200), Look("paper", "white"), (90, 60, 60), (0, 120 if cube else 80, 0))
    return made.model(look, shape="cube" if cube else "flat")


def make_drying_rack(taste: Taste) -> Model:
    """A clothes horse with washing on it."""
    draws, made = taste.draws, Assembly()
    frame, width = Look("metal", draws.choose(("white", "steel", "black"))), draws.integer(900, 1200, 50)
    for sign in (-1, 1):
        for lean in (-500, 500):
            made.add(leaning(lean, 80), frame, (22, 900, 420), (sign * (width // 2 - 12), 0, 0))
    for k in range(6):
        made.box(frame, (width, 12, 12), (0, 894, -200 + 80 * k))
    first = Look(draws.choose(("fabric", "striped fabric", "dotted fabric")), taste.some_accent())
    for k in range(draws.integer(2, 4)):
        look = first if k == 0 else Look("terry", taste.some_accent())
        x = -width // 2 + 150 + (width - 300) * k // 3
        made.box(look, (200, draws.integer(300, 480, 20), 20), (x, 430, -200 + 160 * (k % 3)), thin=True)
    return made.model(frame, shape="folding")


def make_ironing_board(taste: Taste) -> Model:
    """An ironing board with its iron."""
    draws, made = taste.draws, Assembly()
    cover = Look(
        draws.choose(("fabric", "striped fabric", "dotted fabric", "floral fabric")), taste.some_accent()
    )
    board = straight("chamfered")
    made.add(board, cover, (380, 40, 1150), (0, 830, 0))
    for lean in (-700, 700):
        made.add(leaning(lean, 60), STEEL, (280, 830, 800), (0, 0, 0))
    iron = Look("plastic", draws.choose(("blue", "red", "white", "purple")))
    made.add(tapered(1000, 500), iron, (110, 90, 230), (0, 870, 320))
    made.box(BLACK, (30, 30, 150), (0, 985, 330))
    made.box(BLACK, (30, 40, 30), (0, 950, 330))
    return made.model(cover, shape="long")


def make_broom(taste: Taste) -> Model:
    """A broom or mop standing against the wall."""
    draws, made = taste.draws, Assembly()
    bristle = Look("bristles", draws.choose(("straw", "red", "blue", "green", "grey")))
    made.add(tapered(1000, 600), bristle, (300, 110, 90), (0, 0, 0))
    made.box(Look("wood", "pine"), (280, 40, 60), (0, 110, 0))
    made.add(
        ROD,
        draws.choose((Look("wood", "pine"), STEEL, Look("metal", taste.accent))),
        (26, 1150, 26),
        (0, 150, 0),
    )
    return made.model(bristle, shape="long handle")


def make_bucket(taste: Taste) -> Model:
    """A bucket with a handle."""
    draws, made = taste.draws, Assembly()
    look = draws.choose(
        (
            Look("metal", "steel"),
            Look("plastic", taste.some_accent()),
            Look("plastic", "blue"),
            Look("plastic", "red"),
        )
    )
    width, high = draws.integer(260, 320, 20), draws.integer(240, 320, 20)
    made.add(tapered(720, 1000, "round10"), look, (width, high, width), (0, 0, 0))
    made.add(CYLINDER, Look("plastic", "sky blue"), (width - 50, 6, width - 50), (0, high, 0))
    for x in (-width // 2, width // 2):
        made.box(CHROME, (8, 90, 8), (x, high - 30, 0))
    made.box(CHROME, (width + 8, 8, 8), (0, high + 60, 0))
    return made.model(look, shape="round")


def make_ladder(taste: Taste) -> Model:
    """A folded stepladder leaning against the wall."""
    draws, made = taste.draws, Assembly()
    look = draws.choose((Look("metal", "steel"), Look("wood", "pine"), Look("metal", "red")))
    steps = draws.integer(4, 7)
    high = steps * 240 + 150
    for x in (-200, 200):
        made.add(leaning(500, 380), look, (40, high, 200), (x, 0, 0))
    for k in range(steps):
        made.box(look, (360, 30, 70), (0, 150 + 240 * k, -50 + 100 * (150 + 240 * k) // high))
    return made.model(look, shape=f"{steps} steps")


def make_toolbox(taste: Taste) -> Model:
    """A toolbox with a handle."""
    draws, made = taste.draws, Assembly()
    look = Look(
        draws.choose(("metal", "plastic")), draws.choose(("red", "blue", "charcoal", "yellow", "green"))
    )
    width = draws.integer(380, 520, 20)
    made.box(look, (width, 150, 180), (0, 0, 0))
    made.add(tapered(1000, 620), look, (width, 90, 180), (0, 154, 0))
    made.box(BLACK, (200, 24, 30), (0, 280, 0))
    for x in (-90, 90):
        made.box(BLACK, (24, 40, 30), (x, 244, 0))
        made.box(CHROME, (40, 60, 12), (x, 120, -94))
    return made.model(look, shape="box")


def make_fire_extinguisher(taste: Taste) -> Model:
    """A fire extinguisher on the floor."""
    draws, made = taste.draws, Assembly()
    look = Look("metal", draws.choose(("red", "red", "red", "chrome")))
    high = draws.integer(340, 480, 20)
    made.add(lathe((0, 1000), (800, 1000), (950, 600), (1000, 340)), look, (150, high, 150), (0, 0, 0))
    made.box(BLACK, (34, 50, 110), (0, high, -20))
    made.add(ROD, BLACK, (30, high * 6 // 10, 30), (90, high // 4, 0))
    made.box(BLACK, (80, 24, 24), (60, high * 8 // 10 + 30, 0))
    made.box(Look("paper", "ivory"), (90, 110, 8), (0, high // 3, -74))
    return made.model(look, shape="cylinder")


def make_fuse_box(taste: Taste) -> Model:
    """A breaker box on the wall."""
    draws, made = taste.draws, Assembly(hangs=True)
    look = Look("metal", draws.choose(("light grey", "white", "grey", "ivory")))
    width, high = draws.integer(280, 420, 20), draws.integer(320, 520, 20)
    made.box(look, (width, high, 90), (0, 0, 0))
    made.box(look, (width - 30, high - 30, 10), (0, 15, -50))
    made.box(BLACK, (20, 60, 14), (width // 2 - 35, high // 2, -60))
    made.add(leaning(0, 1000), Look("plastic", "yellow"), (70, 60, 6), (0, high - 110, -57))
    return made.model(look, shape="box")


def make_umbrella(taste: Taste) -> Model:
    """A furled umbrella standing in a corner."""
    draws, made = taste.draws, Assembly()
    look = Look(
        draws.choose(("fabric", "dotted fabric", "striped fabric")),
        draws.choose(("black", "red", "navy", taste.some_accent())),
    )
    made.add(ROD, STEEL, (12, 120, 12), (0, 0, 0))
    made.add(tapered(300, 1000, "round8"), look, (90, 620, 90), (0, 100, 0))
    made.add(ROD, Look("wood", "walnut"), (22, 150, 22), (0, 720, 0))
    made.box(Look("wood", "walnut"), (22, 22, 80), (0, 860, -29))
    return made.model(look, shape="furled")


def make_suitcase(taste: Taste) -> Model:
    """A suitcase on wheels."""
    draws, made = taste.draws, Assembly()
    look = Look(
        draws.choose(("plastic", "fabric", "leather")),
        draws.choose(("charcoal", "navy", "red", taste.some_accent())),
    )
    width, high = draws.integer(380, 500, 20), draws.integer(520, 720, 20)
    for x in (-width // 2 + 50, width // 2 - 50):
        made.box(BLACK, (40, 50, 160), (x, 0, 0))
    made.add(straight("chamfered"), look, (width, high, 250), (0, 50, 0))
    for k in range(3):
        made.box(look, (24, high - 80, 12), ((k - 1) * width // 4, 90, -130))
    for x in (-70, 70):
        made.box(CHROME, (16, 160, 16), (x, high + 50, 80))
    made.box(BLACK, (170, 26, 30), (0, high + 205, 80))
    return made.model(look, shape="on wheels")


def make_backpack(taste: Taste) -> Model:
    """A backpack on the floor."""
    draws, made = taste.draws, Assembly()
    look = Look(draws.choose(("fabric", "leather", "plaid")), taste.some_accent())
    width, high = draws.integer(280, 340, 20), draws.integer(400, 500, 20)
    body = lathe((0, 900), (250, 1000), (750, 960), (1000, 560), section="chamfered")
    made.add(body, look, (width, high, 200), (0, 0, 0))
    made.add(body, look, (width - 60, high // 2, 80), (0, 20, -120))
    for x in (-70, 70):
        made.box(BLACK, (44, high - 90, 24), (x, 40, 100))
    made.box(BLACK, (90, 20, 20), (0, high - 10, 30))
    return made.model(look, shape="with pocket")


def make_handbag(taste: Taste) -> Model:
    """A handbag."""
    draws, made = taste.draws, Assembly()
    look = Look(
        draws.choose(("leather", "leather", "wicker", "fabric")),
        draws.choose(("brown", "black", "tan", taste.some_accent())),
    )
    width, high = draws.integer(260, 380, 20), draws.integer(200, 280, 20)
    made.add(tapered(1000, 700), look, (width, high, 140), (0, 0, 0))
    for x in (-width // 5, width // 5):
        made.box(look, (16, 130, 14), (x, high, 0))
    made.box(look, (width * 2 // 5 + 16, 16, 14), (0, high + 130, 0))
    made.add(SMALL_BALL, Look("metal", "brass"), (26, 26, 26), (0, high - 60, -62))
    return made.model(look, shape="with handles")


def make_hat(taste: Taste) -> Model:
    """A hat with a brim."""
    draws, made = taste.draws, Assembly()
    look = Look(
        draws.choose(("fabric", "wicker", "leather")),
        draws.choose(("straw", "brown", "black", taste.some_accent())),
    )
    made.add(lathe((0, 980), (1000, 1000), section="round12"), look, (280, 12, 250), (0, 0, 0))
    made.add(lathe((0, 1000), (700, 940), (1000, 620)), look, (190, 120, 170), (0, 12, 0))
    made.add(CYLINDER, Look("fabric", taste.some_accent()), (194, 26, 174), (0, 14, 0))
    return made.model(look, shape="with brim")


def make_bicycle(taste: Taste) -> Model:
    """A bicycle standing along the wall."""
    draws, made = taste.draws, Assembly()
    look = Look("metal", draws.choose(("red", "blue", "green", "black", "white", taste.accent)))
    for x in (-520, 520):
        made.add(DISC, Look("rubber", "black"), (640, 640, 36), (x, 0, 0))
        made.add(DISC, Look("metal", "light grey"), (560, 560, 42), (x, 40, 0))
        made.add(DISC, look, (90, 90, 60), (x, 275, 0))
    made.box(look, (1040, 34, 34), (0, 300, 0))
    made.box(look, (720, 40, 40), (40, 640, 0))
    made.box(look, (40, 560, 40), (-240, 300, 0))
    made.box(look, (40, 620, 40), (420, 320, 0))
    made.add(lathe((0, 700), (1000, 1000), section="chamfered"), BLACK, (260, 60, 140), (-240, 860, 0))
    made.box(CHROME, (40, 34, 520), (430, 940, 0))
    for z in (-210, 210):
        made.box(BLACK, (46, 42, 110), (430, 936, z))
    made.add(DISC, STEEL, (180, 180, 60), (-120, 220, 0))
    return made.model(look, shape="city")


def make_sleeping_bag(taste: Taste) -> Model:
    """A rolled sleeping bag."""
    draws, made = taste.draws, Assembly()
    look = Look(draws.choose(("fabric", "plaid")), taste.some_accent())
    width, long = draws.integer(200, 260, 20), draws.integer(400, 520, 20)
    made.add(DISC, look, (width, width, long), (0, 0, 0), QUARTERS[1])
    for sign in (-1, 1):
        made.add(DISC, BLACK, (width + 8, width + 8, 24), (sign * long // 4, 0, 0), QUARTERS[1])
    return made.model(look, shape="rolled")
