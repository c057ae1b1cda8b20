"""View memory: square parts of all images that were seen, their vectors, and the places they show."""

import math
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Float32, UInt8

from navarena.core.errors import InputError
from navarena.core.geometry import focal_length


@dataclass(frozen=True)
class ViewSettings:
    """Settings of the view memory. Our choices.

    Attributes:
        cell: metres; of one place (and heading) only the first look is kept.
        headings: directions that are distinguished.
        max_views: of each body; beyond it the oldest are forgotten.
        tiles: squares that an image is cut into along its longer side, evenly spread.
    """

    cell: float = 0.5
    headings: int = 12
    max_views: int = 1024
    tiles: int = 3

    def __post_init__(self) -> None:
        if not (self.cell > 0 and min(self.headings, self.max_views, self.tiles) > 0):
            raise InputError(
                "expected a positive cell (metres), headings, number of views and tiles, got "
                f"{self.cell}, {self.headings}, {self.max_views} and {self.tiles}"
            )


USUAL_VIEWS = ViewSettings()
"""Our choices."""


@dataclass(frozen=True, eq=False)
class Tile:
    """A square part of an image.

    Attributes:
        image: (S, S, 3) uint8.
        place: (3,) metres, what its middle shows, in the frame of the pose.
    """

    image: UInt8[np.ndarray, "s s 3"]
    place: Float[np.ndarray, "3"]


class ViewMemory:
    """The views of one body: unit vectors (D,) and the places they show.

    Args:
        settings: which are kept.
    """

    def __init__(self, settings: ViewSettings) -> None:
        self._settings = settings
        self._features = np.zeros((0, 0), np.float32)
        self._places = np.zeros((0, 3))
        self._looks: set[tuple[int, int, int]] = set()

    def __len__(self) -> int:
        return len(self._places)

    @property
    def places(self) -> Float[np.ndarray, "v 3"]:
        """(V, 3) metres: places that the views show."""
        return self._places

    def is_new(self, pose: Float[np.ndarray, "4 4"]) -> bool:
        """Whether nothing was kept yet from the place and heading of a camera at `pose` (4, 4) metres."""
        return self._key(pose) not in self._looks

    def add(
        self,
        pose: Float[np.ndarray, "4 4"],
        features: Float32[np.ndarray, "k d"],
        places: Float[np.ndarray, "k 3"],
    ) -> None:
        """Keep the K views of a look from `pose` (4, 4): features (K, D) float32, places (K, 3) metres."""
        self._looks.add(self._key(pose))
        most = self._settings.max_views
        old = (self._features, self._places) if len(self) else (features[:0], places[:0])
        self._features = np.concatenate([old[0], features])[-most:]
        self._places = np.concatenate([old[1], places])[-most:]

    def scores(self, goal: Float32[np.ndarray, "d"]) -> Float32[np.ndarray, "v"]:
        """(V,) float32: likeness of every view to a goal (D,)."""
        return np.asarray(self._features @ goal if len(self) else np.zeros(0), np.float32)

    def _key(self, pose: Float[np.ndarray, "4 4"]) -> tuple[int, int, int]:
        """The cell and heading that a look is from."""
        one = self._settings
        yaw = math.atan2(pose[0, 2], pose[2, 2])
        heading = math.floor(yaw / math.tau * one.headings + 0.5) % one.headings
        return math.floor(pose[0, 3] / one.cell), math.floor(pose[2, 3] / one.cell), heading


def cut_tiles(
    rgb: UInt8[np.ndarray, "h w 3"],
    depth: Float[np.ndarray, "h w"],
    pose: Float[np.ndarray, "4 4"],
    hfov: float,
    depth_range: tuple[float, float],
    tiles: int,
) -> list[Tile]:
    """The squares of an image whose middle has a known depth.

    Args:
        rgb: (H, W, 3) uint8.
        depth: (H, W) metres.
        pose: (4, 4) world_from_camera, metres.
        hfov: radians.
        depth_range: (nearest, farthest) metres between which depths are exact.
        tiles: how many squares along the longer side.
    """
    height, width = depth.shape
    side = min(height, width)
    focal = focal_length(width, hfov)
    found: list[Tile] = []
    firsts = np.unique(np.linspace(0, max(height, width) - side, tiles).round().astype(int)).tolist()
    for first in firsts:
        top, left = (first, 0) if height >= width else (0, first)
        inner = (
            slice(top + side // 4, top + side - side // 4),
            slice(left + side // 4, left + side - side // 4),
        )
        middle = depth[inner]
        known = middle[(middle > depth_range[0]) & (middle < depth_range[1])]
        if not len(known):
            continue
        away = float(np.median(known))
        right, up = (left + side / 2 - width / 2) / focal, (height / 2 - top - side / 2) / focal
        place = pose[:3, :3] @ (away * np.array([right, up, -1.0])) + pose[:3, 3]
        found.append(Tile(np.ascontiguousarray(rgb[top : top + side, left : left + side]), place))
    return found
