"""Parts of a mesh file, as every reader returns them: one material each, in the file's own frame and unit."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from jaxtyping import Float, Int, Num, UInt8

from navarena.core.errors import FileError


@dataclass(frozen=True)
class Look:
    """The material of a part: a colour that multiplies the image, if there is one.

    Attributes:
        name: as the file calls it.
        color: sRGB bytes.
        image: (h, w, 3) uint8, row 0 is the top, sides of any length; or None.
    """

    name: str
    color: tuple[int, int, int]
    image: UInt8[np.ndarray, "h w 3"] | None = None


PLAIN = Look("plain", (180, 170, 150))
"""The colour of what has none; the field's standard simulator shows bare meshes in it."""

_WHITE = Look("vertex colours", (255, 255, 255))
"""Leaves the colours of vertices, which it multiplies, as they are."""


def bare_look(colors: np.ndarray | None) -> Look:
    """The look of a part without a material, whose vertices have `colors` (V, 3 or 4) or None."""
    return PLAIN if colors is None else _WHITE


@dataclass(frozen=True)
class Label:
    """Label of the object that triangles belong to: category and further attributes."""

    category: str
    attributes: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Part:
    """Triangles of one look.

    Attributes:
        vertices: (V, 3) in the file's frame and unit.
        triangles: (T, 3) indices into vertices, counter-clockwise seen from the front.
        look: their material.
        uv: (T, 3, 2) texture coordinates of the corners, v upwards; or None.
        vertex_color: (V, 3) sRGB bytes, or None.
        object_key: names the object that all triangles belong to, or None.
        triangle_key: (T,) the same for each triangle, 0 = nothing; or None.
    """

    vertices: Float[np.ndarray, "v 3"]
    triangles: Int[np.ndarray, "t 3"]
    look: Look = PLAIN
    uv: Float[np.ndarray, "t 3 2"] | None = None
    vertex_color: UInt8[np.ndarray, "v 3"] | None = None
    object_key: int | None = None
    triangle_key: Int[np.ndarray, "t"] | None = None


@dataclass(frozen=True)
class MeshFile:
    """The content of a mesh file.

    Attributes:
        parts: at least one.
        labels: object key (positive) -> what the object is.
        lost: what of its looks could not be had, as in "cannot decode the images of cloth".
    """

    parts: Sequence[Part]
    labels: Mapping[int, Label] = field(default_factory=dict)
    lost: Sequence[str] = ()


def choose_sides(part: Part, both: bool) -> Part:
    """The part seen from the back alone, or from `both` sides by a second copy of each triangle."""
    count = len(part.triangles)
    kept = np.arange(count) if both else np.zeros(0, np.int64)
    rows, turned = np.concatenate([kept, np.arange(count)]), np.arange(len(kept) + count) >= len(kept)

    def corners(values: np.ndarray) -> np.ndarray:
        found = values[rows]
        found[turned] = found[turned][:, ::-1]
        return found

    return replace(
        part,
        triangles=corners(part.triangles),
        uv=None if part.uv is None else corners(part.uv),
        triangle_key=None if part.triangle_key is None else part.triangle_key[rows],
    )


def require_indices(triangles: Int[np.ndarray, "t 3"], vertex_count: int, what: str) -> None:
    """Raise FileError unless all vertex indices are in range(vertex_count)."""
    if triangles.size and not 0 <= triangles.min() <= triangles.max() < vertex_count:
        bad = triangles.min() if triangles.min() < 0 else triangles.max()
        raise FileError(
            f"{what}: expected vertex indices from 0 to {vertex_count - 1}, got {bad}; "
            "the file is damaged or cut short"
        )


def vertex_color_bytes(colors: np.ndarray, count: int) -> UInt8[np.ndarray, "n 3"]:
    """(N, 3) bytes of the colours (N, 3 or 4) of N = `count` vertices, see `color_bytes`.

    Raises FileError unless each vertex has three or four numbers.
    """
    if colors.ndim != 2 or len(colors) != count or colors.shape[1] not in (3, 4):
        raise FileError(f"expected 3 or 4 numbers of colour for each of {count} vertices, got {colors.shape}")
    return color_bytes(colors)


def color_bytes(colors: Num[np.ndarray, "n k"]) -> UInt8[np.ndarray, "n 3"]:
    """(N, 3) bytes of colours (N, 3 or 4): bytes, 16-bit numbers, or floats from 0 to 1.

    Floats of which one exceeds 1 are taken to run from 0 to 255. There is no gamma step.
    """
    rgb = np.asarray(colors)[:, :3]
    if rgb.dtype == np.uint8:
        return np.ascontiguousarray(rgb)
    if rgb.dtype == np.uint16:
        return ((rgb.astype(np.uint32) + 128) // 257).astype(np.uint8)
    values = np.nan_to_num(rgb.astype(np.float64))
    if rgb.dtype.kind == "f" and (not values.size or values.max() <= 1):
        values = values * 255
    return np.clip(np.rint(values), 0, 255).astype(np.uint8)
