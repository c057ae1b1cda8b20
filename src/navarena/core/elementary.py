"""Elementary functions whose bits do not depend on the processor's vector instructions.

NumPy's own of these names differ in the last bit between processors with AVX-512 and those without, and so
would the hash of episodes that are drawn by them. Its sin, cos, sqrt and hypot of float64 do not differ.
"""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from jaxtyping import Float

from navarena.core.kernels import kernel

Numbers = Float[np.ndarray, "..."] | float
"""One number or an array of them."""


@kernel
def _arctan2(y: Any, x: Any, out: Any) -> None:
    for i in range(len(out)):
        out[i] = math.atan2(y[i], x[i])


@kernel
def _power(base: Any, exponent: Any, out: Any) -> None:
    for i in range(len(out)):
        out[i] = base[i] ** exponent[i]


@kernel
def _exp(x: Any, _: Any, out: Any) -> None:
    for i in range(len(out)):
        out[i] = math.exp(x[i])


@kernel
def _tan(x: Any, _: Any, out: Any) -> None:
    for i in range(len(out)):
        out[i] = math.tan(x[i])


def _map(function: Callable[..., None], a: Numbers, b: Numbers) -> Float[np.ndarray, "..."]:
    """(...,) `function` of each pair of `a` and `b`, broadcast: float32 of float32, float64 of all others."""
    first, second = np.broadcast_arrays(a, b)
    dtype = np.result_type(first, second, np.float32)
    out = np.zeros(first.shape, dtype)
    function(
        np.ascontiguousarray(first, dtype).ravel(),
        np.ascontiguousarray(second, dtype).ravel(),
        out.reshape(-1),
    )
    return out


def arctan2(y: Numbers, x: Numbers) -> Float[np.ndarray, "..."]:
    """(...,) radians in [-pi, pi]: angles of the points (`x`, `y`), broadcast; 0 at the origin."""
    return _map(_arctan2, y, x)


def power(base: Numbers, exponent: Numbers) -> Float[np.ndarray, "..."]:
    """(...,) `base` to the power of `exponent`, broadcast, without units; NaN where that is not real."""
    return _map(_power, base, exponent)


def exp(x: Numbers) -> Float[np.ndarray, "..."]:
    """(...,) e to the power of `x`, without units; infinite where that is too large."""
    return _map(_exp, x, x)


def tan(x: Numbers) -> Float[np.ndarray, "..."]:
    """(...,) tangents of `x`, radians."""
    return _map(_tan, x, x)
