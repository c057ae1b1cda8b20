"""Lossless compaction of a scene's arrays for its pack.

Each `narrow_` has a `widen_` that restores what it was given exactly. What does not fit the narrow
form, such as the positions of a scan, stays as it is. The lowest number of a narrow dtype stands for
one of the odd values that lie in an array of their own.
"""

from collections.abc import Mapping

import numpy as np
from jaxtyping import Float32, Float64, Int32

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
