"""Features of the views of generated houses that need no network, kept in the cache house by house."""

import math
from functools import partial
from pathlib import Path
from typing import Literal

import numpy as np
from jaxtyping import Float, Float32, Int32, UInt8

from navarena.core.errors import require_name
from navarena.core.memo import Memo
from navarena.core.sources import source_fingerprint
from navarena.scenes.graphs.atlas import GraphAtlas
from navarena.scenes.graphs.features import require_features
from navarena.scenes.houses.furniture.catalog import CATEGORIES
from navarena.scenes.packs import content_hash, load_or_build
from navarena.simulation.body import Camera
from navarena.simulation.world import WorldCache
from navarena.tasks.graphs.rendered_features import Encoder, RenderedFeatures

COLUMNS, ROWS = 3, 2
"""Parts of a view, across and down, that are counted apart."""

LEVELS = 4
"""Of each of red, green and blue that colours are told apart by."""

SIZES = {"classes": COLUMNS * len(CATEGORIES), "colours": COLUMNS * ROWS * LEVELS**3}
"""Name of features -> numbers per view. "classes" are true categories, which no camera measures."""

DEFAULT_FEATURES = "colours"

HOUSE_CAMERA = Camera(width_px=96, height_px=72, hfov=2 * math.atan(math.tan(math.pi / 6) * 96 / 72))
"""R2R's view at a size that histograms need."""

_KEPT_HOUSES = 128
_HERE = Path(__file__)


class HouseFeatures:
    """Histograms of the 36 views of every place of generated houses: a ViewFeatures.

    Args:
        atlas: graphs of the houses.
        worlds: where they come from.
        name: "colours", roots of the shares of 64 colours in 6 parts of the view; or "classes", roots of the
            shares of all categories of objects in 3 parts, which are privileged.

    Attributes:
        size: numbers per view.
        name: as given.
        is_privileged: whether they show what no camera measures.

    Raises UnknownNameError for another name.
    """

    def __init__(self, atlas: GraphAtlas, worlds: WorldCache, name: str = DEFAULT_FEATURES) -> None:
        self.name = require_name("features of houses", name, SIZES)
        self.size, self.is_privileged = SIZES[name], name == "classes"
        self._atlas, self._worlds = atlas, worlds
        self._house = Memo(self._load, _KEPT_HOUSES)

    def views(self, scan: str, viewpoint: str) -> Float32[np.ndarray, "36 d"]:
        """(36, D) float32 values; raises UnknownNameError for another place."""
        place = self._atlas.require_graph(scan).index(viewpoint)
        return np.asarray(self._house(scan)[place])

    def _load(self, scan: str) -> Float32[np.ndarray, "v 36 d"]:
        """The features of all places of a house, from the cache or made now."""
        graph = self._atlas.require_graph(scan)

        def build() -> tuple[dict[str, np.ndarray], dict[str, str]]:
            mesh = self._worlds.get(scan).render_mesh
            channel: Literal["rgb", "semantic"] = "semantic" if self.is_privileged else "rgb"
            encode: Encoder = partial(count_classes, categories=mesh.categories)
            drawn = RenderedFeatures(
                self._atlas,
                lambda _: mesh,
                encode if self.is_privileged else count_colours,
                self.size,
                HOUSE_CAMERA,
                1,
                channel=channel,
            )
            made = np.stack([drawn.views(scan, viewpoint) for viewpoint in graph.viewpoints])
            return {"features": made}, {}

        key = content_hash(self.name, scan, graph.positions, source_fingerprint(_HERE))
        features = load_or_build("graph-views", key, build, scan).arrays["features"]
        require_features(features.reshape(len(graph) * 36, -1)[:36], self.size, f"features of {scan}")
        return features


def count_classes(
    images: Int32[np.ndarray, "n h w"], categories: tuple[str, ...]
) -> Float[np.ndarray, "n d"]:
    """(N, D) roots of the shares of each category of objects in each column of N images of categories.

    Args:
        images: (N, H, W) int32, index in `categories` + 1, or 0.
        categories: of the scene; those that are no objects, such as walls, are not counted.
    """
    known = {name: number for number, name in enumerate(CATEGORIES)}
    table = np.array([-1, *(known.get(name, -1) for name in categories)])
    return _count(table[images], 1, len(CATEGORIES))


def count_colours(images: UInt8[np.ndarray, "n h w 3"]) -> Float[np.ndarray, "n d"]:
    """(N, D) roots of the shares of each of 64 colours in each part of N images."""
    levels = images.astype(np.int64) * LEVELS // 256
    return _count((levels[..., 0] * LEVELS + levels[..., 1]) * LEVELS + levels[..., 2], ROWS, LEVELS**3)


def _count(numbers: np.ndarray, rows: int, kinds: int) -> Float[np.ndarray, "n d"]:
    """(N, rows * COLUMNS * kinds) roots of the shares of `numbers` (N, H, W) in parts; -1 counts nowhere."""
    count, height, width = numbers.shape
    down = np.arange(height) * rows // height
    across = np.arange(width) * COLUMNS // width
    part = np.arange(count)[:, None, None] * rows * COLUMNS + down[:, None] * COLUMNS + across
    there = numbers >= 0
    counts = np.bincount((part * kinds + numbers)[there], minlength=count * rows * COLUMNS * kinds)
    return np.sqrt(counts.reshape(count, -1) * (rows * COLUMNS / (height * width)))
