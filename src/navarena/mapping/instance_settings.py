"""Settings of instance memory."""

import math
from dataclasses import dataclass

from navarena.core.errors import InputError


@dataclass(frozen=True)
class InstanceSettings:
    """Settings of instance memory.

    Attributes:
        max_instances: for each agent; then the object with the worst views makes room.
        max_points: of an object; where more are seen they are kept farther apart.
        apart: metres between two points of an object, at first.
        reach: metres from a known point within which a new one may belong to the same object.
        overlap: share of the points of either within reach of the other's, from which on they do.
        views: sectors, and views at most, of an object.
        crop_px: longest side of a crop.
        margin: of a crop around the object, in parts of its longer side.
        features: length of the feature slots.
        stride: every which pixel, across and down, is read.
        min_pixels: of those; smaller segments are overlooked.
        far_apart: metres between two objects of one category that were seen beyond the depth range, in images
            whose segments are not tracked; 0 overlooks what has no depth.
        limit_bytes: of all crops, points and features together, were every memory full.
    """

    max_instances: int = 256
    max_points: int = 96
    apart: float = 0.1
    reach: float = 0.2
    overlap: float = 0.3
    views: int = 6
    crop_px: int = 128
    margin: float = 0.3
    features: int = 0
    stride: int = 4
    min_pixels: int = 6
    far_apart: float = 0.0
    limit_bytes: int = 1 << 35

    def __post_init__(self) -> None:
        counts = (self.max_instances, self.max_points, self.views, self.crop_px, self.stride)
        if min(*counts, self.min_pixels) < 1 or self.features < 0:
            raise InputError(
                "expected positive numbers of instances, points, views, pixels of a crop, stride and least "
                f"pixels, and features of at least 0, got {(*counts, self.min_pixels, self.features)}"
            )
        if not (0 < self.apart < math.inf and 0 < self.reach < math.inf and 0 < self.overlap <= 1):
            raise InputError(
                "expected positive distances apart and reach (metres) and an overlap within 0..1, got "
                f"{self.apart}, {self.reach} and {self.overlap}"
            )
        if not (0 <= self.margin < math.inf and 0 <= self.far_apart < math.inf):
            raise InputError(
                f"expected a margin and far_apart of at least 0, got {self.margin} and {self.far_apart}"
            )

    @property
    def bytes_per_agent(self) -> int:
        """Bytes of a full memory."""
        view = 3 * self.crop_px**2 + 16 * 8 + 4 * self.features
        return self.max_instances * (24 * self.max_points + self.views * view)


USUAL_INSTANCES = InstanceSettings()
"""The defaults."""
