"""Features of the 36 views of a place, from images that are drawn where the place is."""

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Literal

import numpy as np
from jaxtyping import Float32, Shaped, UInt8

from navarena.core.errors import InputError
from navarena.core.geometry import rotation_from_yaw_pitch
from navarena.core.seeding import scene_name
from navarena.corruptions.catalog import find_corruptions
from navarena.corruptions.corruption import CameraCorruption, ImageCorruption
from navarena.scenes.graphs.atlas import GraphAtlas
from navarena.scenes.graphs.candidates import SIMULATOR_VFOV
from navarena.scenes.graphs.features import require_features
from navarena.scenes.graphs.panorama import VIEW_ELEVATIONS, VIEW_HEADINGS, VIEWS
from navarena.simulation.body import Camera
from navarena.simulation.corruption.images import ImageStage
from navarena.simulation.rendering.engine import VisibilityRenderer
from navarena.simulation.rendering.render_mesh import RenderMesh
from navarena.simulation.rendering.views import Frames, Views

VIEW_CAMERA = Camera(
    width_px=640, height_px=480, hfov=2 * math.atan(math.tan(SIMULATOR_VFOV / 2) * 640 / 480)
)
"""R2R's feature protocol: 640 x 480 pixels, vertical view 60 degrees (pinhole)."""

Encoder = Callable[[np.ndarray], np.ndarray]
"""(36, H, W, 3) uint8 images, in the order of the views, or (36, H, W) categories -> (36, D) values."""


class RenderedFeatures:
    """View features of scenes that can be drawn, such as generated houses.

    A scan's id names the scene; viewpoints are those of its graph in the atlas, whose positions are
    where the camera stands. Images and features are made when asked for; the batch keeps the last.

    Args:
        atlas: graphs of the scenes.
        open_mesh: scan id -> what the renderer draws, such as `open_world(scan, body).render_mesh`.
        encode: images -> features.
        size: D, numbers per view that `encode` returns.
        camera: of the views; its mount and angles are not used.
        threads: of the renderer; None for all processors this process may use.
        corruptions: of the images, each as "name:severity", one after the other. What they draw is named by
            scan, viewpoint and view, as elsewhere by scene, episode and step: a view always looks the same.
        channel: what is drawn: colours, or categories (36, H, W) int32 as of `Frames.semantic`, which are not
            corrupted.

    Raises UnknownNameError for unknown corruptions, and InputError for those of anything but colours and
    cameras.
    """

    def __init__(
        self,
        atlas: GraphAtlas,
        open_mesh: Callable[[str], RenderMesh],
        encode: Encoder,
        size: int,
        camera: Camera = VIEW_CAMERA,
        threads: int | None = None,
        corruptions: Sequence[str] = (),
        channel: Literal["rgb", "semantic"] = "rgb",
    ) -> None:
        self.size, self._channel = size, channel
        stages = {}
        for place, (text, corruption) in enumerate(find_corruptions(corruptions).items()):
            if isinstance(corruption, CameraCorruption):
                camera = replace(camera, hfov=corruption.change(camera.hfov))
            elif isinstance(corruption, ImageCorruption):
                stages[place] = text, corruption
            else:
                raise InputError(f"expected a corruption of colour images or cameras, got {text!r}")
        self._corruptions = ImageStage(stages, np.ones((1 + max(stages, default=-1), VIEWS), bool))
        self._atlas, self._open, self._encode = atlas, open_mesh, encode
        self._camera, self._threads = camera, threads
        self._rotations = np.stack(
            [rotation_from_yaw_pitch(-h, e) for h, e in zip(VIEW_HEADINGS.tolist(), VIEW_ELEVATIONS.tolist())]
        )
        self._renderers: dict[str, VisibilityRenderer] = {}

    def images(self, scan: str, viewpoint: str) -> Shaped[np.ndarray, "36 h w ..."]:
        """(36, H, W, 3) uint8 sRGB, one corrupted image per view; UnknownNameError for another place.

        Of the channel "semantic" (36, H, W) int32.
        """
        node = int(self._atlas.nodes(scan, [viewpoint])[0])
        if scan not in self._renderers:
            self._renderers[scan] = VisibilityRenderer([self._open(scan)], threads=self._threads)
        frames = Frames.allocate(VIEWS, self._camera, (self._channel,))
        position = np.repeat(self._atlas.positions[node][None], VIEWS, 0)
        views = Views(self._camera, np.zeros(VIEWS, np.int32), position, self._rotations)
        self._renderers[scan].render(views, frames)
        if self._channel == "semantic":
            return np.asarray(frames.semantic)
        images: UInt8[np.ndarray, "36 h w 3"] = np.asarray(frames.rgb)
        place = scene_name(scan), viewpoint
        self._corruptions.corrupt("rgb", images, np.ones(VIEWS, bool), [place] * VIEWS, np.arange(VIEWS))
        return images

    def views(self, scan: str, viewpoint: str) -> Float32[np.ndarray, "36 d"]:
        """(36, D) float32 values; raises FileError when the encoder returns something else."""
        encoded = np.asarray(self._encode(self.images(scan, viewpoint)))
        where = f"features of viewpoint {viewpoint} in scan {scan}"
        return require_features(encoded, self.size, where)
