"""Scenes as packs: geometry as arrays, meaning as compressed JSON.

Arrays are compacted without loss (`narrowing`), and textures that many scenes share lie in
the material pack (`shared_textures`).
"""

import zlib
from collections.abc import Mapping
from typing import Any

import msgspec
import numpy as np

from navarena.core.files import translate_damage
from navarena.scenes.narrowing import (
    narrow_light,
    narrow_numbers,
    narrow_triangles,
    narrow_uv,
    narrow_vertices,
    widen_light,
    widen_numbers,
    widen_triangles,
    widen_uv,
    widen_vertices,
)
from navarena.scenes.pack_file import Pack
from navarena.scenes.scene import Material, Room, Scene, SceneObject, WalkableSurface
from navarena.scenes.shared_textures import load_shared, material_key, shared_names

STORAGE_VERSION = 4
"""Part of the key of every stored scene: raise it when what is stored changes its meaning."""

_NUMBERS = ("triangle_object", "triangle_material")
_RECORDS: dict[str, Any] = {
    "materials": tuple[Material, ...],
    "objects": tuple[SceneObject, ...],
    "rooms": tuple[Room, ...],
    "walkable": tuple[WalkableSurface, ...],
    "ambiguous_share": float | None,
}


def scene_to_arrays(scene: Scene) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """The arrays and the meta (JSON types) from which `scene_from_pack` restores `scene` exactly.

    Textures of the scene's own become arrays texture_0, texture_1, ...; shared ones are named in meta.
    """
    arrays = narrow_vertices(scene.vertices) | narrow_triangles(scene.triangles)
    arrays |= {name: narrow_numbers(getattr(scene, name)) for name in _NUMBERS}
    if scene.vertex_color is not None:
        arrays["vertex_color"] = scene.vertex_color
    if scene.vertex_light is not None:
        arrays["vertex_light"] = narrow_light(scene.vertex_light)
    if scene.triangle_uv is not None:
        arrays |= narrow_uv(scene.triangles, scene.triangle_uv, len(scene.vertices))
    names = shared_names(scene.textures)
    for index, (texture, shared) in enumerate(zip(scene.textures, names, strict=True)):
        if shared is None:
            arrays[f"texture_{index}"] = texture
    meta: dict[str, Any] = {"scene_id": scene.scene_id, "textures": names}
    meta["material_key"] = material_key() if any(names) else ""
    records = {name: getattr(scene, name) for name in _RECORDS}
    packed = zlib.compress(msgspec.json.encode(records, enc_hook=_plain_value))
    arrays["records"] = np.frombuffer(packed, np.uint8)
    return arrays, meta


def scene_from_pack(pack: Pack) -> Scene:
    """The scene stored in `pack`; its arrays are read-only, those that were not narrowed the pack's own.

    Raises FileError when it is damaged or shows shared tiles of another version.
    """
    with translate_damage(f"pack {pack.path}", "run: navarena cache clear"):
        return _read_scene(pack.arrays, pack.meta)


def _read_scene(arrays: Mapping[str, np.ndarray], meta: Mapping[str, Any]) -> Scene:
    triangles = widen_triangles(arrays)
    fields: dict[str, Any] = {"vertices": widen_vertices(arrays), "triangles": triangles}
    fields |= {name: widen_numbers(arrays[name]) for name in _NUMBERS}
    fields["vertex_color"] = arrays.get("vertex_color")
    fields["vertex_light"] = widen_light(arrays.get("vertex_light"))
    fields["triangle_uv"] = widen_uv(arrays, triangles)
    records: dict[str, msgspec.Raw] = msgspec.json.decode(
        zlib.decompress(arrays["records"].tobytes()), type=dict[str, msgspec.Raw]
    )
    fields |= {name: msgspec.json.decode(records[name], type=kind) for name, kind in _RECORDS.items()}
    names: list[str | None] = meta["textures"]
    used = [name for name in names if name is not None]
    tiles = dict(zip(used, load_shared(used, meta["material_key"]))) if used else {}
    textures = tuple(
        arrays[f"texture_{index}"] if name is None else tiles[name] for index, name in enumerate(names)
    )
    return Scene(scene_id=meta["scene_id"], textures=textures, **fields)


def _plain_value(value: Any) -> Any:
    """JSON values of types that msgspec does not support: NumPy numbers, other mappings."""
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError(f"expected a number, text, tuple or mapping in a scene's record, got {value!r}")
