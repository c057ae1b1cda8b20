"""Names that the rows of the furniture tables may use: solids, looks, functions and groups of parts."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any

from navarena.scenes.houses.appearance.finishes import FABRIC_PATTERNS, PICTURES, RUGS, Look
from navarena.scenes.houses.solids import shapes
from navarena.scenes.houses.solids.models import QUARTERS, SLIGHT_TURNS, STRAIGHT, Assembly, Turn
from navarena.scenes.houses.solids.shapes import SECTIONS, Shape, lathe, leaning, straight, tapered

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
LEAF = Shape(
    "square", ((0, 300, 1000, 0, 0), (450, 1000, 1000, 0, 180), (1000, 100, 1000, 0, 600)), smooth=False
)
PENNANT_TIP = Shape("square", ((0, 120, 1000, 0, 0), (1000, 1000, 1000, 0, 0)), smooth=False)
STANDING_BOWL = Shape(
    "round12",
    ((0, 620, 700, 0, 80), (250, 560, 640, 0, 100), (700, 900, 950, 0, 20), (1000, 1000, 1000, 0, 0)),
)
HUNG_BOWL = Shape(
    "round12",
    ((0, 480, 520, 0, 200), (400, 800, 860, 0, 60), (800, 980, 980, 0, 0), (1000, 1000, 1000, 0, 0)),
)
SOLIDS: Mapping[str, Shape] = {
    **{name.lower(): shape for name, shape in vars(shapes).items() if isinstance(shape, Shape)},
    "hung_bowl": HUNG_BOWL,
    "leaf": LEAF,
    "leaning_cushion": LEANING_CUSHION,
    "lying_prism6": replace(straight("round6"), lying=True),
    "pennant_tip": PENNANT_TIP,
    "prism6": straight("round6"),
    "prism8": straight("round8"),
    "slab": straight("chamfered"),
    "standing_bowl": STANDING_BOWL,
}
"""The constants of shapes.py in small letters, and solids of furniture alone."""

LOOKS: Mapping[str, Look] = {
    "black": Look("plastic", "black"),
    "brass": Look("metal", "brass"),
    "chrome": Look("metal", "chrome"),
    "glow": Look("glow", "ivory"),
    "paper": Look("paper", "white"),
    "rubber": Look("rubber", "black"),
    "screen": Look("screen", "white"),
    "steel": Look("metal", "steel"),
}


def members(*items: Any) -> Iterable[Any]:
    """Items of a `for` in the tables: those of a sequence, or 0 .. n - 1 for a number n."""
    if len(items) > 1:
        return items
    return range(items[0]) if isinstance(items[0], int) else items[0]


FUNCTIONS: Mapping[str, Any] = {
    function.__name__: function
    for function in (Look, Turn, enumerate, lathe, leaning, max, members, min, tapered, tuple, zip)
}
LISTS: Mapping[str, Any] = {
    "FABRIC_PATTERNS": FABRIC_PATTERNS,
    "PICTURES": PICTURES,
    "QUARTERS": QUARTERS,
    "RUGS": RUGS,
    "SLIGHT_TURNS": SLIGHT_TURNS,
    "STRAIGHT": STRAIGHT,
}
NAMES: Mapping[str, Any] = {
    "__builtins__": {},
    **SOLIDS,
    **LOOKS,
    **FUNCTIONS,
    **LISTS,
    **{section: section for section in SECTIONS},
}
"""Everything that does not depend on a room; rows see nothing else of Python."""

FRONT_MM = 18
GAP_MM = 8


def add_surface(made: Assembly, x: int, y: int, z: int, width: int, depth: int, headroom: int = 600) -> None:
    """A place for small objects: its centre, width, depth and headroom, millimetres."""
    made.surface((x, y, z), width, depth, headroom)


def add_doors(
    made: Assembly, look: Look, knob: Look, columns: int, width: int, low: int, high: int, face: int
) -> None:
    """Door fronts side by side from `low` to `high` on the plane z = `face`, knobs at their meeting edges."""
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
    """Drawer fronts one above the other from `low` to `high` on the plane z = `face`, with bar handles."""
    each = (high - low) // rows
    for k in range(rows):
        y = low + k * each
        made.box(look, (width - GAP_MM, each - GAP_MM, FRONT_MM), (x, y, face - FRONT_MM // 2))
        made.box(knob, (min(160, width // 3), 16, 24), (x, y + each * 6 // 10, face - FRONT_MM - 12))


def add_base(made: Assembly, look: Look, width: int) -> None:
    """Plinth and carcass of a kitchen unit below the worktop."""
    made.box(Look("lacquer", "charcoal"), (width, 100, 540), (0, 0, 30))
    made.box(look, (width, 760, 580), (0, 100, 10))


def add_worktop(made: Assembly, look: Look, width: int) -> None:
    """The top of a kitchen unit."""
    made.box(look, (width, 40, 620), (0, 860, -10))


BUILDERS: Mapping[str, Callable[..., None]] = {
    "legs": Assembly.legs,
    "surface": add_surface,
    "doors": add_doors,
    "base": add_base,
    "worktop": add_worktop,
    "drawers": add_drawers,
}
"""Word that begins a row -> what adds the parts; its arguments are the other fields of the row."""
