"""Scenes as packs: geometry as arrays, meaning as compressed JSON.

Arrays take the least room that keeps every bit: small whole numbers are narrowed, baked light in
steps of 1/256 as well, texture coordinates lie at vertices where the triangles of a vertex agree,
and tiles that many scenes show lie in the material pack (`shared_textures`).
"""

import zlib
from collections.abc import Mapping
from typing import Any

import msgspec
import numpy as np
from jaxtyping import Float32, Int32

from navarena.scenes.pack_file import Pack
from navarena.scenes.scene import Material, Room, Scene, SceneObject, WalkableSurface
from navarena.scenes.shared_textures import load_shared, material_key, shared_names

STORAGE_VERSION = 3
"""Part of the key of every stored scene: raise it when what is stored changes its meaning."""

_AS_THEY_ARE = ("vertices", "triangles")
_NARROWED = ("triangle_object", "triangle_material")
_LIGHT_STEPS = 256
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
    arrays = {name: getattr(scene, name) for name in _AS_THEY_ARE}
    for name in _NARROWED:
        arrays[name] = _narrowed(getattr(scene, name))
    if scene.vertex_color is not None:
        arrays["vertex_color"] = scene.vertex_color
    if scene.vertex_light is not None:
        arrays["vertex_light"] = _narrowed_light(scene.vertex_light)
    if scene.triangle_uv is not None:
        arrays |= _pack_uv(scene.triangles, scene.triangle_uv, len(scene.vertices))
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
    """The scene stored in `pack`; its arrays are read-only, the large ones the pack's own.

    Raises FileError when it shows shared tiles of another version.
    """
    arrays, meta = pack.arrays, pack.meta
    fields: dict[str, Any] = {name: arrays[name] for name in _AS_THEY_ARE}
    fields |= {name: _read_only(arrays[name].astype(np.int32)) for name in _NARROWED}
    fields["vertex_color"] = arrays.get("vertex_color")
    fields["vertex_light"] = _widened_light(arrays.get("vertex_light"))
    fields["triangle_uv"] = _unpack_uv(arrays)
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


def _narrowed(numbers: Int32[np.ndarray, "t"]) -> np.ndarray:
    """The same numbers as uint16 where they fit."""
    fit = numbers.size == 0 or (numbers.min() >= 0 and numbers.max() <= np.iinfo(np.uint16).max)
    return numbers.astype(np.uint16) if fit else numbers


def _narrowed_light(light: Float32[np.ndarray, "v"]) -> np.ndarray:
    """The number of steps of 1/256 as uint16 where light has no others, as that of generated houses."""
    steps = light * _LIGHT_STEPS
    fit = bool((steps == np.floor(steps)).all() and (steps >= 0).all() and (steps <= _LIGHT_STEPS).all())
    return steps.astype(np.uint16) if fit else light


def _widened_light(stored: np.ndarray | None) -> Float32[np.ndarray, "v"] | None:
    """The light as it was before `_narrowed_light`."""
    if stored is None or stored.dtype == np.float32:
        return stored
    return _read_only(stored.astype(np.float32) / np.float32(_LIGHT_STEPS))


def _pack_uv(
    triangles: Int32[np.ndarray, "t 3"], uv: Float32[np.ndarray, "t 3 2"], count: int
) -> dict[str, np.ndarray]:
    """Texture coordinates by vertex, and those of the odd triangles that differ; or all as they are."""
    by_vertex = np.zeros((count, 2), np.float32)
    by_vertex[triangles] = uv
    bits = np.ascontiguousarray(uv).view(np.uint32)
    odd = np.flatnonzero((by_vertex[triangles].view(np.uint32) != bits).any((1, 2))).astype(np.int32)
    if by_vertex.nbytes + odd.nbytes + uv[odd].nbytes >= uv.nbytes:
        return {"triangle_uv": uv}
    return {"vertex_uv": by_vertex, "odd_uv_triangles": odd, "odd_uv": uv[odd]}


def _unpack_uv(arrays: Mapping[str, np.ndarray]) -> Float32[np.ndarray, "t 3 2"] | None:
    """The texture coordinates as they were before `_pack_uv`; None for a scene without."""
    if "vertex_uv" not in arrays:
        return arrays.get("triangle_uv")
    uv = arrays["vertex_uv"][arrays["triangles"]]
    uv[arrays["odd_uv_triangles"]] = arrays["odd_uv"]
    return _read_only(uv)


def _read_only(array: np.ndarray) -> np.ndarray:
    array.setflags(write=False)
    return array


def _plain_value(value: Any) -> Any:
    """The JSON counterpart of what msgspec does not know: NumPy numbers, other mappings."""
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError(f"expected a number, text, tuple or mapping in a scene's record, got {value!r}")
