"""Meshes and textures of scenes in a device's memory, up to a limit."""

import weakref
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from navarena.core.errors import InputError
from navarena.core.render_devices import find_warp
from navarena.simulation.rendering.render_mesh import RenderMesh

GPU_SHARE = 0.7
"""Of a GPU's free memory that scenes may take by default; images and the learner need the rest."""
CPU_LIMIT_BYTES = 2 << 30
"""What scenes may take by default on Warp's CPU device."""


@dataclass(frozen=True, eq=False)
class ResidentScene:
    """One mesh on the device.

    Attributes:
        mesh: where it came from; dead once nobody draws it any more.
        triangles: what visibility is found with.
        record: its SceneRecord.
        nbytes: that it takes, without texels that others share.
    """

    mesh: "weakref.ref[RenderMesh]"
    triangles: Any
    record: Any
    nbytes: int


class ResidentScenes:
    """Scenes on one device; the least recently drawn leave when they grow too large.

    Args:
        device: of Warp, as `find_device` finds it.
        limit_bytes: of all scenes together; None for GPU_SHARE of a GPU's free memory, or CPU_LIMIT_BYTES.
    """

    def __init__(self, device: Any, limit_bytes: int | None = None) -> None:
        if limit_bytes is not None and limit_bytes <= 0:
            raise InputError(f"expected a positive limit_bytes of the device's scenes, got {limit_bytes}")
        if limit_bytes is None:
            limit_bytes = int(device.free_memory * GPU_SHARE) if device.is_cuda else CPU_LIMIT_BYTES
        self.device, self.limit_bytes = device, limit_bytes
        self._scenes: OrderedDict[int, ResidentScene] = OrderedDict()
        self._shared_texels: Any = None
        self._drawn: tuple[RenderMesh, ...] = ()
        self._table: Any = None

    def __len__(self) -> int:
        return len(self._scenes)

    @property
    def nbytes(self) -> int:
        """Bytes of all scenes held, about; texels that houses share count once."""
        shared = 0 if self._shared_texels is None else int(self._shared_texels.capacity)
        return shared + sum(scene.nbytes for scene in self._scenes.values())

    def table(self, meshes: Sequence[RenderMesh]) -> Any:
        """(M,) SceneRecords on the device of `meshes` (M), which are put there if they are not.

        Raises InputError when they do not all fit at once, and says how many do.
        """
        wanted = tuple(meshes)
        if len(wanted) == len(self._drawn) and all(a is b for a, b in zip(wanted, self._drawn)):
            return self._table
        self._table, self._drawn = None, ()
        self._require_room(wanted)
        rows = [self._find(mesh).record for mesh in wanted]
        from navarena.simulation.rendering.warp.scene_record import SceneRecord

        self._table = find_warp().array(rows, dtype=SceneRecord, device=self.device)
        self._drawn = wanted
        return self._table

    def _require_room(self, wanted: tuple[RenderMesh, ...]) -> None:
        """Drop what is dead, then what was drawn longest ago, until `wanted` fit."""
        shared = max((mesh.texel.nbytes for mesh in wanted if mesh.shares_texels), default=0)
        sizes = np.cumsum([_count_bytes(mesh) for mesh in dict.fromkeys(wanted)]) + shared
        if len(sizes) and sizes[-1] > self.limit_bytes:
            raise InputError(
                f"expected scenes of at most {self.limit_bytes / 2**20:,.0f} MiB in one batch on "
                f"{self.device.alias}, got {len(sizes)} scenes of {sizes[-1] / 2**20:,.0f} MiB, of which the "
                f"first {int((sizes <= self.limit_bytes).sum())} fit; run fewer environments, or fewer scenes"
            )
        kept = {id(mesh) for mesh in wanted}
        for key in [key for key, scene in self._scenes.items() if scene.mesh() is None]:
            del self._scenes[key]
        missing = sum(_count_bytes(mesh) for mesh in dict.fromkeys(wanted) if id(mesh) not in self._scenes)
        if self._shared_texels is None:
            missing += shared
        for key in [key for key in self._scenes if key not in kept]:
            if self.nbytes + missing <= self.limit_bytes:
                break
            del self._scenes[key]

    def _find(self, mesh: RenderMesh) -> ResidentScene:
        key = id(mesh)
        if key not in self._scenes:
            self._scenes[key] = self._put(mesh)
        self._scenes.move_to_end(key)
        return self._scenes[key]

    def _put(self, mesh: RenderMesh) -> ResidentScene:
        from navarena.simulation.rendering.warp.scene_record import SceneRecord
        from navarena.simulation.rendering.warp.visibility import build_triangles

        warp = find_warp()

        def move(array: np.ndarray, kind: Any) -> Any:
            return warp.array(np.ascontiguousarray(array), dtype=kind, device=self.device)

        try:
            triangles, back = build_triangles(mesh, self.device)
            record = SceneRecord()
            record.mesh, record.back = triangles.id, back
            record.surface = move(mesh.surface, warp.int32)
            record.detail = move(mesh.detail, warp.int32)
            record.paint = move(mesh.paint, warp.int32)
            record.texel = self._texels(mesh, move)
            record.planes, record.textured = (int(value) for value in mesh.features)
        except RuntimeError as error:  # Warp says so where an allocation fails
            raise InputError(
                f"expected room for a scene of {_count_bytes(mesh) / 2**20:,.1f} MiB on {self.device.alias}, "
                f"got none beside the {len(self)} scenes that fit ({self.nbytes / 2**20:,.0f} MiB); run "
                "fewer environments, or fewer scenes"
            ) from error
        return ResidentScene(weakref.ref(mesh), triangles, record, _count_bytes(mesh))

    def _texels(self, mesh: RenderMesh, move: Any) -> Any:
        """The texels on the device; those that all houses map are put there once."""
        warp = find_warp()
        if not mesh.shares_texels:
            return move(mesh.texel, warp.uint32)
        if self._shared_texels is None:
            self._shared_texels = move(mesh.texel, warp.uint32)
        return self._shared_texels


def _count_bytes(mesh: RenderMesh) -> int:
    """Bytes that a mesh takes on the device, about, without texels that others share."""
    from navarena.simulation.rendering.warp.visibility import count_bytes

    arrays = [mesh.surface, mesh.detail, mesh.paint] + ([] if mesh.shares_texels else [mesh.texel])
    return int(count_bytes(mesh) + sum(array.nbytes for array in arrays))
