"""Anticipation at work: a checkpoint that continues windows of maps."""

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np
from jaxtyping import Float32, UInt8

from navarena.learning.anticipation.settings import WindowSettings
from navarena.learning.anticipation.windows import encode_states
from navarena.learning.checkpoints.fitted import FittedInfo, load_fitted, load_once
from navarena.learning.perception.settings import UNetSettings
from navarena.learning.perception.unet import UNet
from navarena.learning.tensors import torch

STATES = ("unknown", "free", "occupied")
"""Classes of the network: the states of a cell."""

CHANNELS = 2
"""Of its input: free, occupied."""


@dataclass(frozen=True, kw_only=True)
class AnticipationInfo(FittedInfo):
    """Description of an anticipation's checkpoint.

    Attributes:
        windows: what it learned from.
        network: sizes.
    """

    noun: ClassVar[str] = "an anticipation"
    command: ClassVar[str] = "navarena train anticipation-small"
    own_format: ClassVar[str] = "navarena-anticipation-v1"

    windows: WindowSettings
    network: UNetSettings

    def build(self) -> UNet:
        return UNet(len(STATES), self.network, CHANNELS)


class Anticipator:
    """Continues windows by the anticipation in a folder; each is computed by itself, in float32.

    Args:
        folder: of the checkpoint.

    Attributes:
        info: what it is.

    Raises FileError when a file is missing or damaged, or when the files do not belong together.
    """

    def __init__(self, folder: Path) -> None:
        self.info, self._network = load_fitted(folder, AnticipationInfo)

    def anticipate(self, states: UInt8[np.ndarray, "n s s"]) -> Float32[np.ndarray, "n s s 3"]:
        """(N, S, S, 3) float32 probabilities that a cell is unknown even to a survey, free, and occupied.

        Args:
            states: (N, S, S) uint8 windows as their bodies have seen them: 0 unknown, 1 free, 2 occupied.
        """
        chances = np.zeros((*states.shape, len(STATES)), np.float32)
        with torch.inference_mode():
            for one, out in zip(encode_states(states), chances):
                scores = self._network(torch.from_numpy(one[None]))[0][0]
                out[:] = scores.softmax(0).permute(1, 2, 0).numpy()
        return chances


def find_anticipator(folder: Path) -> Anticipator:
    """The anticipator of the checkpoint in `folder`, loaded once; raises FileError."""
    return load_once(Anticipator, folder, AnticipationInfo)
