"""Takes the images of all bodies: one render call per kind of camera."""

from collections.abc import Callable, Iterable

import numpy as np
from jaxtyping import Bool, Float

from navarena.core.errors import SceneError
from navarena.simulation.body import Camera
from navarena.simulation.rendering.engine import Renderer, VisibilityRenderer
from navarena.simulation.rendering.views import ExtraObjects, Frames, Views
from navarena.simulation.stage import Stage

MEANING = frozenset({"semantic", "instance"})
"""Channels that only a scene with labelled objects can fill."""


class Cameraman:
    """One camera of each of N bodies and its preallocated images.

    Args:
        camera: whose images are taken.
        channels: which ("rgb", "depth", "semantic", "instance").
        slots: N.
        threads: to render with; None for all.

    Attributes:
        images: channel -> (N, H, W[, 3]) array; each `shoot` rewrites the rows that it is asked for.
    """

    def __init__(self, camera: Camera, channels: Iterable[str], slots: int, threads: int | None) -> None:
        self.camera = camera
        self.channels = frozenset(channels)
        self._threads = threads
        size = (slots, camera.height_px, camera.width_px)
        blank: dict[str, Callable[[], np.ndarray]] = {
            "rgb": lambda: np.zeros((*size, 3), np.uint8),
            "depth": lambda: np.zeros(size, np.float32),
            "semantic": lambda: np.zeros(size, np.int32),
            "instance": lambda: np.zeros(size, np.int32),
        }
        self.images: dict[str, np.ndarray] = {channel: blank[channel]() for channel in sorted(self.channels)}
        self._frames = Frames(**{channel: self.images.get(channel) for channel in blank})

    def require_meaning(self, stage: Stage) -> None:
        """Raise SceneError when a labelled image is asked of a scene without labels."""
        for world in stage.worlds:
            if self.channels & MEANING and not world.scene.has_semantics:
                raise SceneError(
                    f"expected labelled objects for the observations {sorted(self.channels & MEANING)}, got "
                    f"scene {world.scene_id!r} without semantics; "
                    "leave these sensors out or use a generated house"
                )

    def shoot(
        self,
        renderer: Renderer,
        stage: Stage,
        poses: Float[np.ndarray, "n 4 4"],
        rows: Bool[np.ndarray, "n"],
        extras: ExtraObjects | None = None,
    ) -> None:
        """Render the slots `rows` (N,) from `poses` (N, 4, 4) (world_from_camera, metres) into `images`.

        Those of other slots, and of slots that were never placed, stay as they are.
        """
        views = Views(
            camera=self.camera,
            scene_index=np.where(rows, stage.row, -1).astype(np.int32),
            position=np.ascontiguousarray(poses[:, :3, 3]),
            rotation=np.ascontiguousarray(poses[:, :3, :3]),
        )
        renderer.render(views, self._frames, extras)


def make_renderer(stage: Stage, threads: int | None) -> Renderer:
    """The renderer for the worlds on `stage`."""
    return VisibilityRenderer([world.render_mesh for world in stage.worlds], threads=threads)
