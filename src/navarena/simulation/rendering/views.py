"""Views to draw, frames for their images, and extra objects in single views."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Float32, Int, Int32, UInt8

from navarena.core.errors import InputError
from navarena.core.kernels import kernel
from navarena.simulation.body import Camera
from navarena.simulation.rendering.render_mesh import RenderMesh

OUTPUTS = ("rgb", "depth", "instance", "semantic")


@dataclass(frozen=True, eq=False)
class Views:
    """N views through equal cameras, each in a scene of its own choice.

    Attributes:
        camera: image size and field of view; its mount, pitch and yaw are not used here.
        scene_index: (N,) index of the scene that each view looks at; -1 leaves its frame as it is.
        position: (N, 3) metres, world frame, the camera's centre.
        rotation: (N, 3, 3) world from camera; columns are the camera's right, up and backward.
        far: (N,) metres along the optical axis; what lies wholly behind may be missing from the images.
            None where everything is drawn.
    """

    camera: Camera
    scene_index: Int[np.ndarray, "n"]
    position: Float[np.ndarray, "n 3"]
    rotation: Float[np.ndarray, "n 3 3"]
    far: Float[np.ndarray, "n"] | None = None

    def __len__(self) -> int:
        return len(self.position)

    @property
    def drawn(self) -> Int[np.ndarray, "d"]:
        """(D,) indices of the views that look at a scene, in their order."""
        return (np.asarray(self.scene_index) >= 0).nonzero()[0]


@dataclass(frozen=True, eq=False)
class Frames:
    """Output arrays of N views: C-contiguous, or None for what is not wanted.

    Attributes:
        rgb: (N, H, W, 3) uint8 sRGB; black where nothing is seen.
        depth: (N, H, W) float32 metres along the optical axis; 0 where nothing is seen.
        instance: (N, H, W) int32 object ids; 0 = none.
        semantic: (N, H, W) int32 category ids (index in Scene.categories + 1); 0 = none.
    """

    rgb: UInt8[np.ndarray, "n h w 3"] | None = None
    depth: Float32[np.ndarray, "n h w"] | None = None
    instance: Int32[np.ndarray, "n h w"] | None = None
    semantic: Int32[np.ndarray, "n h w"] | None = None

    @classmethod
    def allocate(cls, count: int, camera: Camera, outputs: Sequence[str] = OUTPUTS) -> "Frames":
        """Zeroed arrays for `count` views through `camera`, for the outputs named."""
        shape = (count, camera.height_px, camera.width_px)
        return cls(
            rgb=np.zeros((*shape, 3), np.uint8) if "rgb" in outputs else None,
            depth=np.zeros(shape, np.float32) if "depth" in outputs else None,
            instance=np.zeros(shape, np.int32) if "instance" in outputs else None,
            semantic=np.zeros(shape, np.int32) if "semantic" in outputs else None,
        )

    def arrays(self) -> tuple[np.ndarray | None, ...]:
        """rgb, depth, instance, semantic."""
        return self.rgb, self.depth, self.instance, self.semantic


@dataclass(frozen=True, eq=False)
class ExtraObjects:
    """E coloured objects drawn into single views without touching the scene.

    Attributes:
        templates: shapes; only their geometry is used.
        view_index: (E,) the view that each object appears in.
        template_index: (E,) its shape.
        position: (E, 3) metres, world frame, where the template's origin is put.
        yaw: (E,) radians, turn about +y.
        color: (E, 3) uint8 sRGB.
        instance, semantic: (E,) int32, what instance and semantic images show.
    """

    templates: tuple[RenderMesh, ...]
    view_index: Int[np.ndarray, "e"]
    template_index: Int[np.ndarray, "e"]
    position: Float[np.ndarray, "e 3"]
    yaw: Float[np.ndarray, "e"]
    color: UInt8[np.ndarray, "e 3"]
    instance: Int32[np.ndarray, "e"]
    semantic: Int32[np.ndarray, "e"]


@kernel
def are_possible(scene_index, position, rotation, scene_count):  # type: ignore[no-untyped-def]
    """Whether scene indices (N,) are -1 to scene_count - 1, and positions (N, 3) and rotations finite.

    rotation: (N, 3, 3). One native call, since environments of one body wait for it at each step.
    """
    for n in range(scene_index.shape[0]):
        if not -1 <= scene_index[n] < scene_count:
            return False
        for i in range(3):
            if not np.isfinite(position[n, i]):
                return False
            for k in range(3):
                if not np.isfinite(rotation[n, i, k]):
                    return False
    return True


def require_consistent(views: Views, frames: Frames, scene_count: int) -> None:
    """Raise InputError unless the arrays fit each other and every scene index exists."""
    count, camera = len(views), views.camera
    if camera.width_px < 1 or camera.height_px < 1 or not 0 < camera.hfov < np.pi:
        raise InputError(
            f"expected a camera of at least one pixel and 0 < hfov < pi, got {camera.width_px} x "
            f"{camera.height_px} with hfov {camera.hfov}"
        )
    shapes = {"scene_index": (count,), "position": (count, 3), "rotation": (count, 3, 3)}
    if views.far is not None:
        shapes["far"] = (count,)
    for name, shape in shapes.items():
        got = np.shape(getattr(views, name))
        if got != shape:
            raise InputError(f"expected views.{name} of shape {shape}, got {got}")
    index = np.asarray(views.scene_index)
    if not are_possible(index, np.asarray(views.position), np.asarray(views.rotation), scene_count):
        if not (index.min() >= -1 and index.max() < scene_count):
            raise InputError(
                f"expected scene indices from -1 to {scene_count - 1}, got {index.min()} to {index.max()}"
            )
        raise InputError("expected finite camera poses, got NaN or infinity")
    image = (count, camera.height_px, camera.width_px)
    for name, array in zip(OUTPUTS, frames.arrays()):
        shape = (*image, 3) if name == "rgb" else image
        kind = {"rgb": np.uint8, "depth": np.float32}.get(name, np.int32)
        if array is None:
            continue
        if array.shape != shape or array.dtype != kind or not array.flags.c_contiguous:
            raise InputError(
                f"expected frames.{name} C-contiguous {np.dtype(kind)} of shape {shape}, got "
                f"{array.dtype} of shape {array.shape}, strides {array.strides}"
            )
