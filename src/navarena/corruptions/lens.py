"""Corruptions of the camera: its field of view, and cracked glass."""

import math
from typing import ClassVar

import numpy as np
from jaxtyping import UInt8

from navarena.core.errors import InputError
from navarena.corruptions.corruption import CameraCorruption, Per
from navarena.corruptions.crack import crack_glass
from navarena.corruptions.one_by_one import EachImage
from navarena.corruptions.pixel_kernels import look_through

NARROWER = 0.5
"""RobustNav narrows 79 degrees to 39.5 (Chattopadhyay et al. 2021, section 3)."""


MISCALIBRATED_DEG = (1.0, 2.0, 3.0, 4.0, 5.0)
"""Degrees of horizontal view by severity that a camera lacks of what it is said to have."""


class LowerFov(CameraCorruption):
    """Half the horizontal field of view, as a camera with a longer lens has it: nothing is cropped.

    RobustNav's 79 by 63.453 degrees become 39.5 by 30.142. All images of the camera follow; with
    "rgb_only" depth and labels keep theirs.
    """

    severities: ClassVar[tuple[int, ...]] = ()

    def change(self, hfov: float) -> float:
        """Horizontal field of view in radians of the camera that had `hfov` radians."""
        return NARROWER * hfov


class CameraCalibration(CameraCorruption):
    """A camera that sees less than it is said to: 1 to 5 degrees of horizontal view, by severity.

    The image's size stays, so everything looks a little nearer than it is. The figures are ours.
    """

    default_severity: ClassVar[int | None] = 2

    def change(self, hfov: float) -> float:
        """Horizontal field of view in radians of the camera that is said to have `hfov` radians.

        Raises InputError for a camera that would see nothing.
        """
        missing = math.radians(self.of_severity(MISCALIBRATED_DEG))
        if hfov <= missing:
            raise InputError(
                f"expected a field of view above {math.degrees(missing):g} degrees, "
                f"got {math.degrees(hfov):g}"
            )
        return hfov - missing


class CameraCrack(EachImage):
    """Cracked glass before the lens: lines, displaced and darkened shards; the same crack within a scene."""

    severities: ClassVar[tuple[int, ...]] = ()
    per: Per = "scene"

    def corrupt_one(
        self, image: UInt8[np.ndarray, "h w 3"], generator: np.random.Generator
    ) -> UInt8[np.ndarray, "h w 3"]:
        """(H, W, 3) uint8: seen through the glass whose seed is the first draw of `generator`; truncated."""
        glass = crack_glass(int(generator.integers(2**63)), *image.shape[:2])
        corrupted = np.zeros_like(image)
        look_through(image.reshape(-1, 3), glass.source, glass.gain, glass.glow, corrupted.reshape(-1, 3))
        return corrupted
