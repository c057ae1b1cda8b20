"""Renderers, which draw views of scenes into preallocated frames."""

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

import numpy as np
from jaxtyping import Float, Float32

from navarena.core.errors import require_name
from navarena.core.geometry import focal_length
from navarena.core.kernels import kernel
from navarena.core.pointers import AddressTable, address_of
from navarena.core.threads import run_over_rows, thread_count
from navarena.simulation.body import Camera
from navarena.simulation.rendering import memory_layout as at
from navarena.simulation.rendering import shade, triangles
from navarena.simulation.rendering.draw import render_views
from navarena.simulation.rendering.extra_objects import NO_EXTRAS, PackedExtras, pack_extras
from navarena.simulation.rendering.render_mesh import RenderMesh
from navarena.simulation.rendering.simd_shade import BLOCK
from navarena.simulation.rendering.views import OUTPUTS, ExtraObjects, Frames, Views, require_consistent

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
            extras: objects to add to single views, with correct occlusion.
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
        self._packed: tuple[ExtraObjects, int, PackedExtras] | None = None
        self._tabulate()
        self._scratch: AddressTable | None = None
        self._scratch_size = (0, 0, 0)

    def render(
        self, views: Views, frames: Frames, extras: ExtraObjects | None = None, shading: str = "textured"
    ) -> None:
        """See Renderer.render."""
        require_name("shading", shading, SHADINGS)
        require_consistent(views, frames, len(self._meshes))
        height, width = views.camera.height_px, max(views.camera.width_px, BLOCK)
        drawn_into = frames if width == views.camera.width_px else _widen(frames, len(views), width, height)
        cameras = pack_cameras(views)
        packed = self._pack(extras or NO_EXTRAS, len(views))
        if extras is not None and extras.templates is not self._templates:
            self._templates = extras.templates
            self._tabulate()
        scratch = self._require_scratch(width, height)
        scenes = np.ascontiguousarray(views.scene_index, np.int32)
        outputs = np.array([0 if a is None else address_of(a) for a in drawn_into.arrays()], np.int64)
        drawn = views.drawn
        args = (
            self._table.table, scratch.table, cameras, scenes, packed.offset,
            packed.mesh, packed.cameras(views, cameras), packed.words, outputs, width, height,
            at.row_pitch(width), at.hiz_stride(width), SHADINGS[shading],
        )  # fmt: skip
        run_over_rows(render_views, drawn, self._threads, args)
        if drawn_into is not frames:
            for target, source in zip(frames.arrays(), drawn_into.arrays()):
                if target is not None and source is not None:
                    target[drawn] = source[drawn][:, :, : views.camera.width_px]

    def _tabulate(self) -> None:
        """Number all meshes, the scenes first, and find the most clusters that one has."""
        meshes = (*self._meshes, *self._templates)
        self._table = AddressTable([mesh.record() for mesh in meshes])
        self._max_clusters = max((mesh.cluster_count for mesh in meshes), default=1)

    def _pack(self, extras: ExtraObjects, views: int) -> PackedExtras:
        """`extras` for kernels; packed once as long as they and the number of views are the same."""
        if self._packed is None or self._packed[0] is not extras or self._packed[1] != views:
            self._packed = extras, views, pack_extras(extras, views, len(self._meshes))
        return self._packed[2]

    def _require_scratch(self, width: int, height: int) -> AddressTable:
        """Working memory of every thread, large enough for the meshes and images of this call."""
        size = (width, height, self._max_clusters)
        if self._scratch is None or self._scratch_size != size:
            self._scratch = AddressTable([_make_scratch(*size) for _ in range(self._threads)])
            self._scratch_size = size
        return self._scratch


def _widen(frames: Frames, count: int, width: int, height: int) -> Frames:
    """Working memory for `count` images `width` wide, whose left part is what `frames` wants."""
    wanted = [name for name, array in zip(OUTPUTS, frames.arrays()) if array is not None]
    return Frames.allocate(count, Camera(width_px=width, height_px=height), wanted)


def pack_cameras(views: Views) -> Float32[np.ndarray, "n 16"]:
    """(N, 16) float32 cameras of `views` as kernels see them (memory_layout); pixel centres are whole."""
    camera, packed = views.camera, np.zeros((len(views), at.CAMERA_FLOATS), np.float32)
    write_cameras(
        np.ascontiguousarray(views.position, np.float64),
        np.ascontiguousarray(views.rotation, np.float64),
        float(focal_length(camera.width_px, camera.hfov)),
        camera.width_px / 2 - 0.5,
        camera.height_px / 2 - 0.5,
        packed,
    )
    packed[:, at.CAMERA_FAR] = at.FAR_AWAY if views.far is None else views.far
    return packed


@kernel
def write_cameras(position, rotation, focal, column, row, packed):  # type: ignore[no-untyped-def]
    """Write cameras (N, 16) float32 from positions (N, 3) metres, rotations (N, 3, 3) and pixels."""
    for n in range(position.shape[0]):
        for axis in range(3):
            packed[n, axis] = position[n, axis]
            packed[n, 3 + axis] = rotation[n, axis, 0]
            packed[n, 6 + axis] = -rotation[n, axis, 1]
            packed[n, 9 + axis] = -rotation[n, axis, 2]
        packed[n, 12], packed[n, 13], packed[n, 14] = focal, column, row


def _make_scratch(width: int, height: int, clusters: int) -> tuple[np.ndarray, ...]:
    """The arrays of one scratch row, in the order of the SCRATCH_ slots of memory_layout.py."""
    pixels = at.row_pitch(width) * (height + 1) + at.PITCH_SLACK
    tiles = at.hiz_stride(width) * (height // at.TILE + 2)
    floats = {
        at.SCRATCH_VERTEX: triangles.VERTEX_FIELDS * at.MAX_VERTICES,
        at.SCRATCH_TRIANGLE: triangles.TRIANGLE_FIELDS * at.MAX_TRIANGLES,
        at.SCRATCH_NEAREST: clusters,
        at.SCRATCH_HIZ: tiles,
        at.SCRATCH_INVERSE_DEPTH: pixels,
        at.SCRATCH_ROW: at.ROW_PREPARED + 4 * at.row_pitch(width),
    }
    ints = {
        at.SCRATCH_ID: at.MAX_TRIANGLES,
        at.SCRATCH_LIST: at.MAX_TRIANGLES,
        at.SCRATCH_CANDIDATE: clusters + 1,
        at.SCRATCH_ORDER: clusters,
        at.SCRATCH_BUCKET: at.DEPTH_BUCKETS + 2,
        at.SCRATCH_SPAN: 2 * height,
        at.SCRATCH_VISIBLE: pixels,
    }
    made: dict[int, Float[np.ndarray, ...]] = {}
    for slot, size in floats.items():
        made[slot] = _aligned(size, np.float32, 0)
    for slot, size in ints.items():
        made[slot] = _aligned(size, np.int32, ALIGNMENT // 2 if slot == at.SCRATCH_VISIBLE else 0)
    return tuple(made[slot] for slot in sorted(made))


def _aligned(size: int, kind: type, shift: int) -> np.ndarray:
    """Zeros at `shift` bytes past a page; the shift keeps depth and ids off the same cache sets."""
    memory = np.zeros(4 * size + 2 * ALIGNMENT, np.uint8)
    start = -memory.ctypes.data % ALIGNMENT + shift
    return memory[start : start + 4 * size].view(kind)
