"""Anticipation at work: a checkpoint that continues windows of maps."""

import functools
import hashlib
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from jaxtyping import Float32, UInt8

from navarena.core.errors import FileError, require_extra
from navarena.core.files import read_bytes, read_json, write_atomic
from navarena.learning.anticipation.settings import WindowSettings
from navarena.learning.anticipation.windows import encode_states
from navarena.learning.checkpoints import INFO, MODEL
from navarena.learning.perception.segmenter import Segmenter
from navarena.learning.perception.settings import UNetSettings
from navarena.learning.tensors import EXTRA, torch

FORMAT = "navarena-anticipation-v1"

STATES = ("unknown", "free", "occupied")
"""Classes of the network: the states of a cell."""

CHANNELS = 2
"""Of its input: free, occupied."""

_REMEDY = "train it again (navarena train anticipation-small)"


@dataclass(frozen=True)
class AnticipationInfo:
    """What an anticipation's checkpoint is: enough to build its network and to say how it was made.

    Attributes:
        protocol: whose first camera of depth it learned through.
        windows: what it learned from.
        network: sizes.
        recipe: the whole recipe, as plain values.
        frames: windows that it has learned from, repetitions included.
        updates: as many minibatches.
        version: of navarena.
        model_sha256: of model.safetensors.
        format: FORMAT.
    """

    protocol: str
    windows: WindowSettings
    network: UNetSettings
    recipe: dict[str, Any]
    frames: int
    updates: int
    version: str
    model_sha256: str = ""
    format: str = FORMAT

    def build(self) -> Segmenter:
        """The network, with random weights."""
        return Segmenter(len(STATES), self.network, CHANNELS)


def save_anticipation(folder: Path, info: AnticipationInfo, network: Segmenter) -> None:
    """Write a checkpoint: model.safetensors and checkpoint.json; raises StorageError."""
    weights = {name: value.detach().cpu().contiguous() for name, value in network.state_dict().items()}
    data = require_extra("safetensors.torch", EXTRA).save(weights)
    write_atomic(folder / MODEL, data)
    described = replace(info, model_sha256=hashlib.sha256(data).hexdigest())
    write_atomic(folder / INFO, msgspec.json.format(msgspec.json.encode(described), indent=2))


def read_anticipation_info(folder: Path) -> AnticipationInfo:
    """What the anticipation in `folder` is.

    Raises FileError when there is none, it is damaged, or of another format.
    """
    path = Path(folder) / INFO
    found = read_json(path, "anticipation's checkpoint", dict[str, Any], _REMEDY).get("format")
    if found != FORMAT:
        raise FileError(f"expected an anticipation ({FORMAT}) in {path}, got {found!r}; {_REMEDY}")
    info: AnticipationInfo = read_json(path, "anticipation's checkpoint", AnticipationInfo, _REMEDY)
    return info


class Anticipator:
    """Continues windows by the anticipation in a folder; each is computed by itself, in float32.

    Args:
        folder: of the checkpoint.

    Attributes:
        info: what it is.

    Raises FileError when a file is missing or damaged, or when the files do not belong together.
    """

    def __init__(self, folder: Path) -> None:
        self.info = read_anticipation_info(folder)
        path = Path(folder) / MODEL
        data = read_bytes(path, "model")
        if hashlib.sha256(data).hexdigest() != self.info.model_sha256:
            raise FileError(f"{path} does not belong to the {INFO} beside it; copy both again, or {_REMEDY}")
        network = self.info.build()
        try:
            network.load_state_dict(require_extra("safetensors.torch", EXTRA).load(data))
        except Exception as error:  # safetensors and PyTorch raise their own kinds
            raise FileError(f"{path} does not fit its {INFO} ({str(error)[:200]}); {_REMEDY}") from error
        self._network = network.eval()

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


@functools.lru_cache(maxsize=4)
def _load(folder: Path, digest: str) -> Anticipator:
    return Anticipator(folder)


def find_anticipator(folder: Path) -> Anticipator:
    """The anticipator of the checkpoint in `folder`, loaded once; raises FileError."""
    return _load(folder, read_anticipation_info(folder).model_sha256)
