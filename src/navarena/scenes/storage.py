"""Scenes as packs: geometry as arrays, meaning as JSON."""

from collections.abc import Mapping
from typing import Any

import msgspec
import numpy as np

from navarena.scenes.pack_file import Pack
from navarena.scenes.scene import Material, Room, Scene, SceneObject, WalkableSurface

STORAGE_VERSION = 1
"""Part of the key of every stored scene: raise it when what is stored changes its meaning."""

_REQUIRED = ("vertices", "triangles", "triangle_object", "triangle_material")
_OPTIONAL = ("triangle_uv", "vertex_color", "vertex_light")
_RECORDS: dict[str, Any] = {
    "materials": tuple[Material, ...],
    "objects": tuple[SceneObject, ...],
    "rooms": tuple[Room, ...],
    "walkable": tuple[WalkableSurface, ...],
}


def scene_to_arrays(scene: Scene) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """The arrays and the meta (JSON types) from which `scene_from_pack` restores `scene` exactly.

    Textures become arrays texture_0, texture_1, ...
    """
    arrays = {name: getattr(scene, name) for name in _REQUIRED}
    for name in _OPTIONAL:
        if getattr(scene, name) is not None:
            arrays[name] = getattr(scene, name)
    for index, texture in enumerate(scene.textures):
        arrays[f"texture_{index}"] = texture
    meta: dict[str, Any] = {"scene_id": scene.scene_id, "textures": len(scene.textures)}
    for name in _RECORDS:
        meta[name] = msgspec.to_builtins(getattr(scene, name), enc_hook=_plain_value)
    return arrays, meta


def scene_from_pack(pack: Pack) -> Scene:
    """The scene stored in `pack`; its arrays are the pack's own, read-only."""
    arrays, meta = pack.arrays, pack.meta
    fields: dict[str, Any] = {name: arrays[name] for name in _REQUIRED}
    fields |= {name: arrays.get(name) for name in _OPTIONAL}
    fields |= {name: msgspec.convert(meta[name], kind) for name, kind in _RECORDS.items()}
    textures = tuple(arrays[f"texture_{index}"] for index in range(meta["textures"]))
    return Scene(scene_id=meta["scene_id"], textures=textures, **fields)


def _plain_value(value: Any) -> Any:
    """The JSON counterpart of what msgspec does not know: NumPy numbers, other mappings."""
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError(f"expected a number, text, tuple or mapping in a scene's record, got {value!r}")
