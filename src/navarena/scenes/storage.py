"""Scenes as packs: geometry as arrays, meaning as compressed JSON.

Arrays are compacted without loss, and textures that many scenes share lie in the material pack
(`shared_textures`). Each `narrow_` has a `widen_` that restores its argument exactly. What does not fit
the narrow form, such as the positions of a scan, stays as it is. The lowest number of a narrow dtype
stands for one of the odd values that lie in an array of their own.
"""

import zlib
from collections.abc import Mapping
from typing import Any

import msgspec
import numpy as np
from jaxtyping import Float32, Float64, Int32

from navarena.core.files import translate_damage
from navarena.scenes.pack_file import Pack
from navarena.scenes.scene import Material, Room, Scene, SceneObject, WalkableSurface
from navarena.scenes.shared_textures import load_shared, material_key, shared_names

LIGHT_STEPS = 256
"""Baked light of generated houses comes in whole numbers of 1/256."""
MILLIMETRES = 1000
"""Corners of generated houses lie on a grid of millimetres."""


def narrow_numbers(numbers: Int32[np.ndarray, "t"]) -> np.ndarray:
    """The numbers (T,) as uint16 if they fit."""
    fit = numbers.size == 0 or (numbers.min() >= 0 and numbers.max() <= np.iinfo(np.uint16).max)
    return numbers.astype(np.uint16) if fit else numbers


def widen_numbers(stored: np.ndarray) -> Int32[np.ndarray, "t"]:
    """The numbers (T,), indices or ids, as they were before `narrow_numbers`; read-only."""
    return read_only(stored.astype(np.int32))


def narrow_light(light: Float32[np.ndarray, "v"]) -> np.ndarray:
    """(V,) the number of steps of 1/256 as uint16 where light has no others."""
    steps = light * LIGHT_STEPS
    fit = bool((steps == np.floor(steps)).all() and (steps >= 0).all() and (steps <= LIGHT_STEPS).all())
    return steps.astype(np.uint16) if fit else light


def widen_light(stored: np.ndarray | None) -> Float32[np.ndarray, "v"] | None:
    """The light (V,), steps of 1 / LIGHT_STEPS, as it was before `narrow_light`; read-only."""
    if stored is None or stored.dtype == np.float32:
        return stored
    return read_only(stored.astype(np.float32) / np.float32(LIGHT_STEPS))


def narrow_vertices(vertices: Float32[np.ndarray, "v 3"]) -> dict[str, np.ndarray]:
    """(V, 3) metres as int16 millimetres, with exceptions that are not whole; or unchanged."""
    metres = np.ascontiguousarray(vertices)
    with np.errstate(invalid="ignore"):  # the validation of scenes reports NaN
        millimetres = np.rint(metres.astype(np.float64) * MILLIMETRES) + 0.0  # no negative zero
    whole = np.abs(millimetres) <= np.iinfo(np.int16).max
    whole &= _in_metres(millimetres).view(np.uint32) == metres.view(np.uint32)
    stored = np.where(whole, millimetres, np.iinfo(np.int16).min).astype(np.int16)
    odd = metres[~whole]
    if stored.nbytes + odd.nbytes >= metres.nbytes:
        return {"vertices": vertices}
    return {"vertices": stored, "odd_coordinates": odd}


def widen_vertices(arrays: Mapping[str, np.ndarray]) -> Float32[np.ndarray, "v 3"]:
    """The vertices (V, 3), metres, as they were before `narrow_vertices`; read-only."""
    stored = arrays["vertices"]
    if "odd_coordinates" not in arrays:
        return stored
    vertices = _in_metres(stored.astype(np.float64))
    vertices[stored == np.iinfo(np.int16).min] = arrays["odd_coordinates"]
    return read_only(vertices)


def _in_metres(millimetres: Float64[np.ndarray, "v 3"]) -> Float32[np.ndarray, "v 3"]:
    """Millimetres in metres, rounded as by the generator."""
    return np.asarray((millimetres / MILLIMETRES).astype(np.float32))


def narrow_triangles(triangles: Int32[np.ndarray, "t 3"]) -> dict[str, np.ndarray]:
    """(T, 3) vertex indices as the step from each to the next in int8, and the wide steps; or as they are."""
    steps = np.diff(triangles.ravel(), prepend=np.int32(0))
    small = np.abs(steps) <= np.iinfo(np.int8).max
    stored = np.where(small, steps, np.iinfo(np.int8).min).astype(np.int8).reshape(triangles.shape)
    odd = steps[~small]
    if stored.nbytes + odd.nbytes >= triangles.nbytes:
        return {"triangles": triangles}
    return {"triangles": stored, "odd_steps": odd}


def widen_triangles(arrays: Mapping[str, np.ndarray]) -> Int32[np.ndarray, "t 3"]:
    """The vertex indices (T, 3) as they were before `narrow_triangles`; read-only."""
    stored = arrays["triangles"]
    if "odd_steps" not in arrays:
        return stored
    steps = stored.ravel().astype(np.int32)
    steps[stored.ravel() == np.iinfo(np.int8).min] = arrays["odd_steps"]
    return read_only(np.cumsum(steps, dtype=np.int32).reshape(stored.shape))


def narrow_uv(
    triangles: Int32[np.ndarray, "t 3"], uv: Float32[np.ndarray, "t 3 2"], count: int
) -> dict[str, np.ndarray]:
    """Texture coordinates (T, 3, 2) by `count` vertices, and those of odd triangles; or as they are."""
    by_vertex = np.zeros((count, 2), np.float32)
    by_vertex[triangles] = uv
    bits = np.ascontiguousarray(uv).view(np.uint32)
    odd = np.flatnonzero((by_vertex[triangles].view(np.uint32) != bits).any((1, 2))).astype(np.int32)
    if by_vertex.nbytes + odd.nbytes + uv[odd].nbytes >= uv.nbytes:
        return {"triangle_uv": uv}
    return {"vertex_uv": by_vertex, "odd_uv_triangles": odd, "odd_uv": uv[odd]}


def widen_uv(
    arrays: Mapping[str, np.ndarray], triangles: Int32[np.ndarray, "t 3"]
) -> Float32[np.ndarray, "t 3 2"] | None:
    """The texture coordinates (T, 3, 2) as they were before `narrow_uv`, read-only; None without."""
    if "vertex_uv" not in arrays:
        return arrays.get("triangle_uv")
    uv = arrays["vertex_uv"][triangles]
    uv[arrays["odd_uv_triangles"]] = arrays["odd_uv"]
    return read_only(uv)


def read_only(array: np.ndarray) -> np.ndarray:
    """The array (...), of any unit, from now on not to be written."""
    array.setflags(write=False)
    return array


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
