"""`navarena features make`."""

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import numpy as np
import tyro

from navarena.cli.console import Console
from navarena.cli.flags import OutputFile
from navarena.core.errors import InputError, require_extra, unknown_name
from navarena.episodes.encoding.catalog import ENCODERS, make_encoder
from navarena.episodes.encoding.encoder import GoalEncoder
from navarena.episodes.floor_graph import house_graph
from navarena.episodes.graph_routes import R2R_GRAPH_V1
from navarena.episodes.route_sets import find_route_split
from navarena.scenes.graphs.atlas import GraphAtlas
from navarena.scenes.graphs.features import ViewFeatures, save_hdf5_features
from navarena.simulation.body import Camera
from navarena.simulation.world import WorldCache
from navarena.tasks.graphs.house_features import DEFAULT_FEATURES, HOUSE_CAMERA, SIZES, HouseFeatures
from navarena.tasks.graphs.rendered_features import VIEW_CAMERA, RenderedFeatures


@dataclass(frozen=True)
class FeaturesMake:
    """Write features of the 36 views of every place of a split of r2r-graph-houses-v1, in HAMT's layout.

    The file is for --features and for other code: one data set SCENE_VIEWPOINT of (36, D) float32 for each
    place. A scene's name has "/", which HDF5 reads as folders.
    """

    split: Annotated[str, tyro.conf.Positional, tyro.conf.arg(metavar="SPLIT")]
    """mini, train, val_seen, val_unseen or train_aug."""
    out: Annotated[Path, OutputFile(".hdf5", ".h5")]
    """File to write, .hdf5 or .h5 (pip install 'navarena[features]')."""
    encoder: str = DEFAULT_FEATURES
    """colours, classes (true categories, privileged), or a goal encoder of images: images, clip:PATH."""
    limit: int | None = None
    """Houses, the first of the split; all by default."""
    json: bool = False
    """Print one JSON document instead of text."""

    def run(self, console: Console) -> int:
        """Draw, encode and write; the exit code is 0."""
        if self.limit is not None and self.limit < 1:
            raise InputError(f"expected at least one house, got --limit {self.limit}")
        require_extra("h5py", "features")
        encoder = self._find_encoder()
        worlds = WorldCache(R2R_GRAPH_V1.embodiment)
        scenes = list(find_route_split(self.split).scenes)[: self.limit]
        atlas = GraphAtlas(house_graph(worlds.get(scene)) for scene in scenes)
        features, camera = self._make_features(encoder, atlas, worlds)
        size = camera.width_px, camera.height_px
        places = list(atlas.places())
        with console.progress(len(places), "places") as progress:
            counted = _count_places(places, progress.advance)
            count = save_hdf5_features(self.out, features, counted, size, _vfov_deg(camera))
        console.text(f"{count} places in {len(scenes)} houses, {features.size} numbers a view: {self.out}")
        console.result(
            {"out": str(self.out), "houses": len(scenes), "places": count, "size": features.size}
            | {"encoder": self.encoder, "split": self.split}
        )
        return 0

    def _find_encoder(self) -> GoalEncoder | None:
        """The goal encoder that `encoder` names; None for features without one."""
        if self.encoder in SIZES:
            return None
        if self.encoder.partition(":")[0] not in ENCODERS:
            raise unknown_name("encoder of views", self.encoder, [*SIZES, *ENCODERS.names()])
        return make_encoder(self.encoder)

    def _make_features(
        self, encoder: GoalEncoder | None, atlas: GraphAtlas, worlds: WorldCache
    ) -> tuple[ViewFeatures, Camera]:
        if encoder is None:
            return HouseFeatures(atlas, worlds, self.encoder), HOUSE_CAMERA
        encode_images = encoder.encode_images
        size = encode_images([np.zeros((48, 64, 3), np.uint8)]).shape[1]

        def encode(images: np.ndarray) -> np.ndarray:
            return np.asarray(encode_images(list(images)))

        drawn = RenderedFeatures(atlas, lambda scene: worlds.get(scene).render_mesh, encode, size, threads=1)
        return drawn, VIEW_CAMERA


def _count_places(
    places: Iterable[tuple[str, str]], advance: Callable[[int], None]
) -> Iterator[tuple[str, str]]:
    """Yield `places` and count each one as finished when the next is requested."""
    for place in places:
        yield place
        advance(1)


def _vfov_deg(camera: Camera) -> float:
    """Vertical field of view of a pinhole camera, degrees."""
    half = math.tan(camera.hfov / 2) * camera.height_px / camera.width_px
    return math.degrees(2 * math.atan(half))
