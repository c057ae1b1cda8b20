"""What is wrong with the camera: its field of view, and its glass."""

from typing import ClassVar

import numpy as np
from jaxtyping import UInt8

from navarena.corruptions.corruption import CameraCorruption, Per
from navarena.corruptions.crack import crack_glass
from navarena.corruptions.one_by_one import EachPicture
from navarena.corruptions.pixel_kernels import look_through

NARROWER = 0.5
"""RobustNav narrows 79 degrees to 39.5 (Chattopadhyay et al. 2021, section 3)."""


class LowerFov(CameraCorruption):
    """Half the horizontal field of view, as a camera with a longer lens has it: nothing is cropped.

    RobustNav's 79 by 63.453 degrees become 39.5 by 30.142. All pictures of the camera follow; with
    "rgb_only" depth and labels keep theirs.
    """

    severities: ClassVar[tuple[int, ...]] = ()

    def change(self, hfov: float) -> float:
        """Horizontal field of view in radians of the camera that had `hfov` radians."""
        return NARROWER * hfov


class CameraCrack(EachPicture):
    """Cracked glass before the lens: lines, displaced and darkened shards; the same crack within a scene."""

    severities: ClassVar[tuple[int, ...]] = ()
    per: Per = "scene"

    def spoil(
        self, picture: UInt8[np.ndarray, "h w 3"], generator: np.random.Generator
    ) -> UInt8[np.ndarray, "h w 3"]:
        """(H, W, 3) uint8: seen through the glass whose seed is the first draw of `generator`; truncated."""
        glass = crack_glass(int(generator.integers(2**63)), *picture.shape[:2])
        spoilt = np.zeros_like(picture)
        look_through(picture.reshape(-1, 3), glass.source, glass.gain, glass.glow, spoilt.reshape(-1, 3))
        return spoilt
