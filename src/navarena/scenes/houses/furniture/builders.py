"""Groups of parts that the tables place by one row: legs, doors, drawers, kitchen units."""

from collections.abc import Callable, Mapping

from navarena.scenes.houses.looks import Look
from navarena.scenes.houses.parts import Assembly

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
