"""What a corruption is: something that spoils what a robot sees, in a way that can be repeated."""

from abc import ABC, abstractmethod

import numpy as np
from jaxtyping import UInt8

from navarena.core.errors import InputError

SEVERITIES = (1, 2, 3, 4, 5)
"""From barely visible to severe (Hendrycks and Dietterich 2019, section 3; RobustNav uses the same)."""


class Corruption(ABC):
    """Spoils the colour pictures of one environment.

    It holds settings only. What it draws comes from the generator it is handed, whose name the
    caller decides (per episode, or per step), so that equal episodes look equal in every batch.

    Args:
        severity: one of SEVERITIES.

    Raises InputError for another severity.
    """

    def __init__(self, severity: int = 3) -> None:
        if severity not in SEVERITIES:
            raise InputError(f"expected a severity among {SEVERITIES}, got {severity!r}")
        self.severity = severity

    @abstractmethod
    def corrupt(
        self, picture: UInt8[np.ndarray, "h w 3"], generator: np.random.Generator
    ) -> UInt8[np.ndarray, "h w 3"]:
        """The spoilt copy of `picture`, (H, W, 3) uint8 sRGB bytes; `picture` stays as it is."""
