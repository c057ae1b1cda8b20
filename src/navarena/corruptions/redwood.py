"""Noise of a structured-light depth camera, after the Redwood benchmark."""

import os
from collections.abc import Mapping
from functools import cache
from io import BytesIO
from pathlib import Path
from tokenize import TokenError
from types import MappingProxyType
from typing import ClassVar

import numpy as np
from jaxtyping import Float32

from navarena.core.errors import FileError, InputError
from navarena.core.files import describe_damage, read_bytes, translate_damage
from navarena.corruptions.normals import draw_normals
from navarena.corruptions.one_by_one import EachDepth
from navarena.corruptions.redwood_kernels import measure_depths

TABLE_VARIABLE = "NAVARENA_REDWOOD_TABLE"
"""Names the file of the published distortion table, an .npy of 80 x 80 x 5 or 80 x 400 floats."""

SHAPE = (80, 80, 5)
"""Cells from above, cells from the left, and layers for 1, 3, 5, 7 and 9 metres."""

BORDER = (2, 2, 1, 4)
"""Cells at the top, bottom, left and right where the published sensor measures nothing."""

POWERS = tuple((i, j) for i in range(5) for j in range(5 - i))
"""Powers of u and v of the columns of SMOOTH."""

SMOOTH = (
    (-2, 0, 2, 0, -1, 3, 3, 0, -2, 7, 0, -3, -6, -1, -3),
    (-12, 1, 10, 3, -5, 9, 6, 0, 0, 58, 0, -37, -14, -10, -19),
    (-26, 4, 37, 6, -22, 21, 8, 1, 0, 119, -1, -77, -28, -8, -38),
    (-41, 8, 62, 2, -36, 35, 16, -5, -9, 193, 8, -125, -49, -15, -78),
    (-45, 19, 25, -15, -2, 54, 16, -29, 22, 222, -2, -115, -59, -54, -145),
)
"""Our fit to the published table, a row for each layer: thousandths by which depths come out too large, as
polynomials of u and v, -1 at the left and top, 1 at the right and bottom. It is off by 0.2, 0.5, 0.9,
1.3 and 1.6 % (root mean square) where the sensor measures."""


class RedwoodDepth(EachDepth):
    """A structured-light camera: quantised disparities, distortion, jitter; nothing beyond 10 m.

    The distortion is our smooth fit to the published table ("fit"), or the published table itself
    ("published"), read from the file that $NAVARENA_REDWOOD_TABLE names.

    Raises InputError when that variable is not set, FileError when the file cannot be used.
    """

    severities: ClassVar[tuple[int, ...]] = ()
    words: ClassVar[Mapping[str, tuple[str, ...]]] = MappingProxyType({"table": ("fit", "published")})

    def __init__(self, severity: int | None = None, *chosen: str) -> None:
        super().__init__(severity, *chosen)
        self._table = load_named_table() if self.choices["table"] == "published" else smooth_table()

    def corrupt_one(
        self, depth: Float32[np.ndarray, "h w"], generator: np.random.Generator
    ) -> Float32[np.ndarray, "h w"]:
        """(H, W) float32 metres that the sensor says, 0 where it says nothing."""
        measured = np.zeros_like(depth)
        measure_depths(depth, draw_normals(generator, *depth.shape, 3), self._table, measured)
        return measured


@cache
def smooth_table() -> Float32[np.ndarray, "80 80 5"]:
    """(80, 80, 5) float32 relative depth errors; 0 where nothing is measured."""
    rows, columns, _ = SHAPE
    v, u = np.linspace(-1, 1, rows)[:, None], np.linspace(-1, 1, columns)
    terms = np.stack([u**i * v**j for i, j in POWERS], 2)
    table = np.zeros(SHAPE, np.float32)
    top, bottom, left, right = BORDER
    inside = slice(top, rows - bottom), slice(left, columns - right)
    table[inside] = (1 + terms @ np.array(SMOOTH).T / 1000)[inside]
    table.flags.writeable = False
    return table


def load_named_table() -> Float32[np.ndarray, "80 80 5"]:
    """The table in the file that TABLE_VARIABLE names, (80, 80, 5) float32 shares.

    Raises InputError when the variable is not set, FileError when the file cannot be used.
    """
    named = os.environ.get(TABLE_VARIABLE)
    if not named:
        raise InputError(
            f"expected {TABLE_VARIABLE} to name the published distortion table (.npy); set it, or use "
            "redwood_depth without the word 'published'"
        )
    return load_table(Path(named))


def load_table(path: Path) -> Float32[np.ndarray, "80 80 5"]:
    """The distortion table in the .npy file `path`, (80, 80, 5) float32 shares.

    The published file holds its 80 rows of cells as rows of 80 x 5 numbers. Raises FileError.
    """
    data = read_bytes(path, "distortion table")
    with translate_damage(f"distortion table {path}"):
        try:
            table = np.load(BytesIO(data), allow_pickle=False)
        except TokenError as error:  # of a damaged header
            raise describe_damage(f"distortion table {path}", error) from error
    if not isinstance(table, np.ndarray) or table.shape not in (SHAPE, (SHAPE[0], SHAPE[1] * SHAPE[2])):
        shape = getattr(table, "shape", type(table).__name__)
        raise FileError(f"expected a distortion table of 80 x 80 x 5 or 80 x 400 in {path}, got {shape}")
    if table.dtype.kind != "f" or not np.isfinite(table).all() or (table < 0).any():
        raise FileError(f"expected finite numbers from 0 in the distortion table {path}, got others")
    return np.ascontiguousarray(table.reshape(SHAPE), np.float32)
