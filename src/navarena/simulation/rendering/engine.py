"""The door to images: a renderer draws views of scenes into preallocated frames."""

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

import numpy as np
from jaxtyping import Float, Float32

from navarena.core.geometry import focal_length
from navarena.core.pointers import AddressTable
from navarena.core.suggest import require_name
from navarena.core.threads import run_over_rows, thread_count
from navarena.simulation.body import Camera
from navarena.simulation.rendering import layout, shade, triangles
from navarena.simulation.rendering.extras import NO_EXTRAS, pack_extras
from navarena.simulation.rendering.frame import render_views
from navarena.simulation.rendering.render_mesh import RenderMesh
from navarena.simulation.rendering.simd_shade import BLOCK
from navarena.simulation.rendering.views import ExtraObjects, Frames, Views, require_consistent

SHADINGS = {"flat": shade.FLAT, "vertex": shade.VERTEX, "textured": shade.TEXTURED}
ALIGNMENT = 4096


@runtime_checkable
class Renderer(Protocol):
    """Draws N views of any of its scenes in one call."""

    def render(
        self, views: Views, frames: Frames, extras: ExtraObjects | None = None, shading: str = "textured"
    ) -> None:
        """Draw `views` into the arrays of `frames`; what is None there costs nothing.

        Args:
            views: N views.
            frames: preallocated outputs, N first; every pixel of a view that looks at a scene is written.
            extras: things to add to single views, with correct occlusion.
            shading: the most that colours show: "flat" (one colour per triangle), "vertex"
                (interpolated vertex light and colours) or "textured" (textures as well).
                A scene that lacks vertex shading or textures is drawn with what it has.

        Raises InputError when arrays do not fit each other, UnknownNameError for the shading.
        """
        ...


class VisibilityRenderer:
    """Draws with the visibility-buffer rasteriser. The same bits for any batch and thread count.

    Back faces are not drawn; the near plane is at 0.01 m. One call at a time per renderer:
    its working memory is kept between calls.

    Args:
        meshes: the scenes; `Views.scene_index` counts them.
        threads: how many threads share a batch; by default all of core.threads.
    """

    def __init__(self, meshes: Sequence[RenderMesh], threads: int | None = None) -> None:
        self._meshes = tuple(meshes)
        self._threads = threads or thread_count()
        self._templates: tuple[RenderMesh, ...] = ()
        self._table = AddressTable([mesh.record() for mesh in self._meshes])
        self._scratch: AddressTable | None = None
        self._scratch_size = (0, 0, 0)

    def render(
        self, views: Views, frames: Frames, extras: ExtraObjects | None = None, shading: str = "textured"
    ) -> None:
        """See Renderer.render."""
        require_name("shading", shading, SHADINGS)
        require_consistent(views, frames, len(self._meshes))
        if views.camera.width_px < BLOCK:
            self._render_narrow(views, frames, extras, shading)
        else:
            self._render(views, frames, extras, shading, views.camera.width_px)

    def _render_narrow(self, views: Views, frames: Frames, extras: ExtraObjects | None, shading: str) -> None:
        """Images narrower than one vector are cut from wider ones with the same centre and scale."""
        height = views.camera.height_px
        wide = Frames.allocate(
            len(views),
            Camera(width_px=BLOCK, height_px=height),
            [name for name in ("rgb", "depth", "instance", "semantic") if getattr(frames, name) is not None],
        )
        self._render(views, wide, extras, shading, BLOCK)
        for target, source in zip(frames.arrays(), wide.arrays()):
            if target is not None and source is not None:
                target[views.drawn] = source[views.drawn][:, :, : views.camera.width_px]

    def _render(
        self, views: Views, frames: Frames, extras: ExtraObjects | None, shading: str, width: int
    ) -> None:
        """Draw images `width` wide whose left part is the image of the camera."""
        height = views.camera.height_px
        cameras = pack_cameras(views)
        packed = NO_EXTRAS if extras is None else pack_extras(extras, views, cameras, len(self._meshes))
        if extras is not None and extras.templates is not self._templates:
            self._templates = extras.templates
            self._table = AddressTable([mesh.record() for mesh in (*self._meshes, *extras.templates)])
        scratch = self._require_scratch(width, height)
        scenes = np.ascontiguousarray(views.scene_index, np.int32)
        offset = packed.offset(len(views))
        outputs = np.array([0 if a is None else a.ctypes.data for a in frames.arrays()], np.int64)

        def draw_share(share: int, first: int, last: int) -> None:
            render_views(
                self._table.table, scratch.table, share, first, last, cameras, scenes, offset,
                packed.mesh, packed.cameras, packed.words, outputs, width, height,
                layout.row_pitch(width), layout.hiz_stride(width), SHADINGS[shading],
            )  # fmt: skip

        run_over_rows(draw_share, views.drawn, self._threads)

    def _require_scratch(self, width: int, height: int) -> AddressTable:
        """Working memory of every thread, large enough for the meshes and images of this call."""
        clusters = max((mesh.cluster_count for mesh in (*self._meshes, *self._templates)), default=1)
        size = (width, height, clusters)
        if self._scratch is None or self._scratch_size != size:
            self._scratch = AddressTable([_make_scratch(*size) for _ in range(self._threads)])
            self._scratch_size = size
        return self._scratch


def pack_cameras(views: Views) -> Float32[np.ndarray, "n 16"]:
    """(N, 16) float32: the cameras of `views` as kernels want them (see layout); pixel centres are whole."""
    camera, rotation = views.camera, np.asarray(views.rotation, np.float64)
    packed = np.zeros((len(views), layout.CAMERA_FLOATS), np.float32)
    packed[:, 0:3] = views.position
    packed[:, 3:6] = rotation[:, :, 0]
    packed[:, 6:9] = -rotation[:, :, 1]
    packed[:, 9:12] = -rotation[:, :, 2]
    packed[:, 12] = focal_length(camera.width_px, camera.hfov)
    packed[:, 13] = camera.width_px / 2 - 0.5
    packed[:, 14] = camera.height_px / 2 - 0.5
    return packed


def _make_scratch(width: int, height: int, clusters: int) -> tuple[np.ndarray, ...]:
    """The arrays of one scratch row, in the order of the SCRATCH_ slots of layout.py."""
    pixels = layout.row_pitch(width) * (height + 1) + layout.PITCH_SLACK
    tiles = layout.hiz_stride(width) * (height // layout.TILE + 2)
    floats = {
        layout.SCRATCH_VERTEX: triangles.VERTEX_FIELDS * layout.MAX_VERTICES,
        layout.SCRATCH_TRIANGLE: triangles.TRIANGLE_FIELDS * layout.MAX_TRIANGLES,
        layout.SCRATCH_NEAREST: clusters,
        layout.SCRATCH_HIZ: tiles,
        layout.SCRATCH_INVERSE_DEPTH: pixels,
        layout.SCRATCH_ROW: layout.ROW_PREPARED + 4 * layout.row_pitch(width),
    }
    ints = {
        layout.SCRATCH_ID: layout.MAX_TRIANGLES,
        layout.SCRATCH_LIST: layout.MAX_TRIANGLES,
        layout.SCRATCH_CANDIDATE: clusters + 1,
        layout.SCRATCH_ORDER: clusters,
        layout.SCRATCH_BUCKET: layout.DEPTH_BUCKETS + 2,
        layout.SCRATCH_SPAN: 2 * height,
        layout.SCRATCH_VISIBLE: pixels,
    }
    made: dict[int, Float[np.ndarray, ...]] = {}
    for slot, size in floats.items():
        made[slot] = _aligned(size, np.float32, 0)
    for slot, size in ints.items():
        made[slot] = _aligned(size, np.int32, ALIGNMENT // 2 if slot == layout.SCRATCH_VISIBLE else 0)
    return tuple(made[slot] for slot in sorted(made))


def _aligned(size: int, kind: type, shift: int) -> np.ndarray:
    """Zeros at `shift` bytes past a page; the shift keeps depth and ids off the same cache sets."""
    memory = np.zeros(4 * size + 2 * ALIGNMENT, np.uint8)
    start = -memory.ctypes.data % ALIGNMENT + shift
    return memory[start : start + 4 * size].view(kind)
