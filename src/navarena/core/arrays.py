"""Names for the array shapes that cross module borders.

Batched arrays have N first. `...` in a shape string stands for any leading axes.
"""

import numpy as np
from jaxtyping import Bool, Float, Float32, Int, Int32, UInt8

Points = Float[np.ndarray, "n 3"]
"""(N, 3) metres, world frame."""

Point = Float[np.ndarray, "3"]
"""(3,) metres, world frame."""

Triangles = Int32[np.ndarray, "t 3"]
"""(T, 3) rows of vertex indices, counter-clockwise seen from the front."""

Quaternions = Float[np.ndarray, "n 4"]
"""(N, 4) unit quaternions [x, y, z, w], rotating local to world."""

RgbImage = UInt8[np.ndarray, "h w 3"]
DepthImage = Float32[np.ndarray, "h w"]
IdImage = Int32[np.ndarray, "h w"]

__all__ = [
    "Bool",
    "DepthImage",
    "Float",
    "Float32",
    "IdImage",
    "Int",
    "Int32",
    "Point",
    "Points",
    "Quaternions",
    "RgbImage",
    "Triangles",
    "UInt8",
]
