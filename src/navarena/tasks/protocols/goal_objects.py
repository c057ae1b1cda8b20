"""Goal objects that are drawn into the images of single slots; they never block a body.

The cylinders are those of the authors' files (saimwani/multion-challenge), of which half is below
the floor: 0.75 m of height are seen, with a radius of 0.10 m. The paper states a radius of 0.05 m.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
from jaxtyping import Bool, Float, Int64

from navarena.core.errors import require_name
from navarena.episodes.multi_on import CYLINDERS, SHAPES
from navarena.simulation.rendering.extra_objects import CYLINDER_HEIGHT, make_cylinder
from navarena.simulation.rendering.render_mesh import RenderMesh
from navarena.simulation.rendering.views import ExtraObjects
from navarena.tasks.protocols.goal_shapes import shape_templates

CYLINDER_COLORS = (
    (255, 0, 6), (0, 121, 0), (6, 12, 192), (255, 247, 0), (255, 255, 255), (251, 0, 255), (0, 0, 0),
    (0, 255, 255),
)  # fmt: skip
"""Class id -> sRGB bytes: the linear base colours of the authors' materials, converted."""

RADII = {"files": 0.10, "paper": 0.05}
"""Metres, of the authors' files and of the paper's text."""

INSTANCE_OFFSET = 1_000_000
"""Instance images show this plus the class id: beyond the objects of any scene."""

SEMANTIC_OFFSET = 1_000
"""Semantic images show this plus the class id: beyond the categories of any scene."""


@cache
def cylinder_templates(radius: float) -> tuple[RenderMesh, ...]:
    """Shape of the cylinder goals, standing on its origin; `radius` in metres."""
    return (make_cylinder(CYLINDER_HEIGHT, radius),)


@dataclass(frozen=True)
class GoalKind:
    """Appearance of goal objects.

    Attributes:
        classes: categories, by class id.
        colors: sRGB bytes of each class.
        make_templates: the shapes for a radius of cylinders in metres: one for all, or one for each class.
    """

    classes: tuple[str, ...]
    colors: tuple[tuple[int, int, int], ...]
    make_templates: Callable[[float], tuple[RenderMesh, ...]]


CYLINDER_GOALS = GoalKind(CYLINDERS, CYLINDER_COLORS, cylinder_templates)
"""Equal in shape, different in colour."""

SHAPE_GOALS = GoalKind(SHAPES, CYLINDER_COLORS[:1] * len(SHAPES), lambda radius: shape_templates())
"""Equal in colour (red), different in shape."""


class GoalObjects:
    """Inserted goal objects in the images of N slots.

    Args:
        slots: N.
        templates: one shape for every class, or a single one for all.
        colors: sRGB bytes of each class.
    """

    def __init__(
        self, slots: int, templates: tuple[RenderMesh, ...], colors: Sequence[tuple[int, int, int]]
    ) -> None:
        most = len(colors)
        self._templates = templates
        self._colors = np.array(colors, np.uint8)
        self._present: Bool[np.ndarray, "n m"] = np.zeros((slots, most), bool)
        self._positions: Float[np.ndarray, "n m 3"] = np.zeros((slots, most, 3))

    def place(self, slot: int, classes: Int64[np.ndarray, "k"], positions: Float[np.ndarray, "k 3"]) -> None:
        """Let objects of distinct `classes` (K,) ids stand at `positions` (K, 3) metres, and no others."""
        self._present[slot] = False
        self._present[slot, classes] = True
        self._positions[slot, classes] = positions

    def extras(self) -> ExtraObjects:
        """Everything that stands somewhere, as the renderer wants it; view_index counts slots."""
        slots, classes = np.nonzero(self._present)
        shapes = classes if len(self._templates) > 1 else np.zeros_like(classes)
        return ExtraObjects(
            self._templates,
            slots,
            shapes,
            self._positions[slots, classes],
            np.zeros(len(slots)),
            self._colors[classes],
            (INSTANCE_OFFSET + classes).astype(np.int32),
            (SEMANTIC_OFFSET + classes).astype(np.int32),
        )


def class_id(category: str, classes: Sequence[str]) -> int:
    """The class id of a category; raises UnknownNameError with the nearest choice."""
    return list(classes).index(require_name("goal class", category, classes))
