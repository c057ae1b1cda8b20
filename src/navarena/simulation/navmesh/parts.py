"""What a builder hands to the navmesh: triangles, links and the ground beneath them."""

from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from jaxtyping import Float64, Int32, Int64

from navarena.simulation.navmesh.settings import NavMeshSettings


@dataclass(frozen=True)
class NavMeshParts:
    """The raw parts of a navmesh; `NavMesh.from_parts(**parts.as_arguments())` finishes it.

    Attributes:
        vertices: (V, 3) metres, world frame.
        triangles: (T, 3) vertex indices, counter-clockwise seen from above (normal +y).
        neighbors: (T, 3) triangle across edge k (corner k to corner (k + 1) % 3), -1 = border.
        detail_offsets: (T + 1,) pieces offsets[t]:offsets[t + 1] lie under triangle t.
        detail_triangles: (D, 3, 3) metres: pieces of the ground, seen from above inside
            triangle t and covering it. A triangle without any is its own ground.
        settings: what they were built for.
    """

    vertices: Float64[np.ndarray, "v 3"]
    triangles: Int32[np.ndarray, "t 3"]
    neighbors: Int32[np.ndarray, "t 3"]
    detail_offsets: Int64[np.ndarray, "t1"]
    detail_triangles: Float64[np.ndarray, "d 3 3"]
    settings: NavMeshSettings

    def as_arguments(self) -> dict[str, Any]:
        """Field name -> value, without copying."""
        return {part.name: getattr(self, part.name) for part in fields(self)}
