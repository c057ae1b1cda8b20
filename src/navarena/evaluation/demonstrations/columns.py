"""Columns of demonstrations: which observations are kept, and of what kind each is."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from navarena.core.errors import unknown_name
from navarena.simulation.sensors.sensor import ObservationSpec

Kind = Literal["image", "plane", "numbers", "text", "array"]
"""What a column holds: colours (H, W, 3) uint8; one value for each pixel, (H, W, 1); a number or a vector of
numbers; a text; anything else."""


@dataclass(frozen=True)
class Column:
    """Column of a data set for one observation.

    Attributes:
        name: of the sensor.
        kind: what it holds.
        shape: of one frame; () of a text.
        dtype: as NumPy names it, such as "uint8"; "str" of a text.
        low, high: bounds of every value, inclusive.
        unit: such as "metres"; empty where there is none.
    """

    name: str
    kind: Kind
    shape: tuple[int, ...]
    dtype: str
    low: float = 0.0
    high: float = 0.0
    unit: str = ""


def choose_columns(specs: Mapping[str, ObservationSpec], names: Sequence[str]) -> tuple[Column, ...]:
    """The columns of the observations `names`; raises UnknownNameError for one that is not in `specs`."""
    found = []
    for name in names:
        if name not in specs:
            raise unknown_name("observation", name, specs)
        spec = specs[name]
        dtype = np.dtype(spec.dtype)
        if dtype.kind == "U":
            found.append(Column(name, "text", (), "str"))
            continue
        bounds = float(spec.low), float(spec.high)
        found.append(Column(name, _find_kind(spec.shape, dtype), spec.shape, dtype.name, *bounds, spec.unit))
    return tuple(found)


def _find_kind(shape: tuple[int, ...], dtype: np.dtype) -> Kind:
    if len(shape) == 3 and shape[2] == 3 and dtype == np.uint8:
        return "image"
    if len(shape) == 2 or (len(shape) == 3 and shape[2] == 1):
        return "plane"
    return "numbers" if len(shape) <= 1 else "array"
