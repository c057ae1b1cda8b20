"""Material of the floor under a body, from the rooms of its scene."""

# mypy: disable-error-code="no-untyped-def"

import numpy as np
from jaxtyping import Float, Int64

from navarena.core.errors import SceneError
from navarena.core.kernels import kernel
from navarena.scenes.scene import Scene

STEP_UP = 0.5
"""Metres by which a body may stand above or below the floor of the room that it is in."""


@kernel
def find_rooms(corners, offsets, heights, positions, rooms):
    """Write the room under each of `positions` (N, 3), metres, into `rooms` (N,) int64; -1 without one.

    corners: (K, 2) float64 x and z of all outlines, one after the other; offsets: (R + 1,) int64, where
    each begins; heights: (R,) float64 of the floors. A position inside an outline crosses an odd number
    of its sides towards the east.
    """
    for i in range(positions.shape[0]):
        rooms[i] = -1
        x, z = positions[i, 0], positions[i, 2]
        for room in range(heights.shape[0]):
            if abs(positions[i, 1] - heights[room]) > STEP_UP:
                continue
            first, last = offsets[room], offsets[room + 1]
            inside = False
            k = last - 1
            for j in range(first, last):
                zj, zk = corners[j, 1], corners[k, 1]
                if (zj > z) != (zk > z):
                    side = corners[j, 0] + (z - zj) / (zk - zj) * (corners[k, 0] - corners[j, 0])
                    if x < side:
                        inside = not inside
                k = j
            if inside:
                rooms[i] = room
                break


class FloorMap:
    """The floor materials of a scene.

    Args:
        scene: with rooms that know their floors (Room.attributes["floor"]).
        materials: their order is that of the answers; what is not among them counts as materials[0].

    Raises SceneError when no room knows its floor.
    """

    def __init__(self, scene: Scene, materials: tuple[str, ...]) -> None:
        names = [str(room.attributes.get("floor", "")) for room in scene.rooms]
        if not any(names):
            raise SceneError(
                f"expected rooms that know the material of their floor, got none in {scene.scene_id!r}; "
                "use a generated house, or leave out what depends on floors"
            )
        self._materials = np.array([materials.index(name) if name in materials else 0 for name in names])
        self._corners = np.concatenate([np.array(room.polygon, float) for room in scene.rooms])
        self._offsets = np.cumsum([0, *(len(room.polygon) for room in scene.rooms)]).astype(np.int64)
        self._heights = np.array([room.floor_height for room in scene.rooms], float)

    def find(self, positions: Float[np.ndarray, "n 3"]) -> Int64[np.ndarray, "n"]:
        """(N,) index of the material under each of `positions` (N, 3), metres; 0 outside of all rooms."""
        rooms = np.zeros(len(positions), np.int64)
        find_rooms(self._corners, self._offsets, self._heights, np.ascontiguousarray(positions), rooms)
        return np.where(rooms >= 0, self._materials[rooms], 0)
