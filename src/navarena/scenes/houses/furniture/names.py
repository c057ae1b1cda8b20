"""Names that the rows of the furniture tables may use: solids, looks, turns and functions."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from navarena.scenes.houses import shapes
from navarena.scenes.houses.looks import FABRIC_PATTERNS, PICTURES, RUGS, Look
from navarena.scenes.houses.parts import QUARTERS, SLIGHT_TURNS, STRAIGHT, Turn
from navarena.scenes.houses.shapes import SECTIONS, Shape, lathe, leaning, straight, tapered

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
    "ball": shapes.BALL,
    "box": shapes.BOX,
    "cone": shapes.CONE,
    "cushion": shapes.CUSHION,
    "cylinder": shapes.CYLINDER,
    "disc": shapes.DISC,
    "fine_cylinder": shapes.FINE_CYLINDER,
    "hung_bowl": HUNG_BOWL,
    "leaf": LEAF,
    "leaning_cushion": LEANING_CUSHION,
    "lying_prism6": replace(straight("round6"), lying=True),
    "pennant_tip": PENNANT_TIP,
    "pillow": shapes.PILLOW,
    "prism6": straight("round6"),
    "prism8": straight("round8"),
    "rod": shapes.ROD,
    "slab": straight("chamfered"),
    "small_ball": shapes.SMALL_BALL,
    "standing_bowl": STANDING_BOWL,
    "tiny_ball": shapes.TINY_BALL,
}
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
    """What a `for` of the tables runs over: its items, those of a sequence, or 0 .. n - 1 for a number n."""
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
