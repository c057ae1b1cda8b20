"""Base of the encoders with weights, which come from a local folder; nothing is downloaded."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
from jaxtyping import Float32, UInt8

from navarena.core.errors import FileError, InputError, require_extra
from navarena.episodes.encoding.encoder import GoalEncoder, GoalQuery, unit_rows

EXTRA = "learn"
"""Extra that installs PyTorch and transformers."""

TRANSFORMERS_WEIGHTS = ("model.safetensors", "pytorch_model.bin", "model.safetensors.index.json")
"""Files in which transformers keeps weights, one of which a folder must hold."""

UNREAD = "pooler."
"""How weights begin that no encoder here reads, and that files of masked language models lack."""


class WeightsEncoder(GoalEncoder, ABC):
    """An encoder with a network. It takes one text or image at a time, so that a batch changes no bit."""

    needs_weights = True

    def encode_words(self, texts: Sequence[str]) -> Float32[np.ndarray, "n d"]:
        """(N, D) float32 of N texts."""
        return self._stack([self._encode_text(text) for text in texts])

    def encode_images(self, images: Sequence[UInt8[np.ndarray, "_ _ 3"]]) -> Float32[np.ndarray, "n d"]:
        """(N, D) float32 of N images (H, W, 3) uint8; raises InputError for encoders that see none."""
        if not self.sees_images:
            return super().encode_images(images)
        return self._stack([self._encode_image(image) for image in images])

    def encode_raw(self, goal: GoalQuery) -> Float32[np.ndarray, "d"]:
        image = self.find_image(goal)
        return self._encode_text(goal.words) if image is None else self._encode_image(image)

    def _stack(self, vectors: Sequence[Float32[np.ndarray, "d"]]) -> Float32[np.ndarray, "n d"]:
        return unit_rows(np.array(vectors, np.float32).reshape(len(vectors), self.dimension))

    @abstractmethod
    def _encode_text(self, text: str) -> Float32[np.ndarray, "d"]:
        """(D,) of any length."""

    def _encode_image(self, image: UInt8[np.ndarray, "h w 3"]) -> Float32[np.ndarray, "d"]:
        """(D,) of any length; encoders that see write it."""
        raise InputError(f"expected {type(self).__name__} to encode images, which it says that it sees")


def require_weights(path: str, kind: str, *needed: Sequence[str]) -> Path:
    """The folder `path` of weights of a `kind`, which must hold one file of each of `needed`.

    Raises FileError with what is missing and where it comes from.
    """
    folder = Path(path).expanduser()
    source = (
        f"copy a folder of {kind} weights there, as huggingface-cli download NAME --local-dir FOLDER "
        "leaves it; navarena downloads none"
    )
    if not folder.is_dir():
        state = "is a file" if folder.exists() else "does not exist"
        raise FileError(f"expected a folder of {kind} weights, but {folder} {state}; {source}")
    for names in needed:
        if not any((folder / name).is_file() for name in names):
            raise FileError(f"expected {' or '.join(names)} in {folder}, found none of them; {source}")
    return folder


@contextmanager
def translated_weight_errors(folder: Path, kind: str) -> Iterator[None]:
    """Context that turns a library's errors about unreadable weights into FileError."""
    try:
        yield
    except (ImportError, InputError):
        raise
    except Exception as error:  # libraries raise their own kinds, of which most derive from nothing common
        raise FileError(
            f"cannot read {kind} weights in {folder}: {type(error).__name__}: {error}; copy the folder again"
        ) from error


def load_network(kind: Any, folder: Path) -> Any:
    """A network of the class `kind` of transformers with the weights in `folder`, ready to encode.

    Raises FileError where the folder lacks weights: the library would draw them at random.
    """
    network, found = kind.from_pretrained(folder, local_files_only=True, output_loading_info=True)
    missing = sorted(name for name in found["missing_keys"] if not name.startswith(UNREAD))
    if missing:
        raise FileError(
            f"expected weights of all of {type(network).__name__} in {folder}, got none of {missing[0]} "
            f"({len(missing)} missing in all); name a folder of this kind, or copy it again"
        )
    return network.eval()


def find_torch() -> ModuleType:
    """PyTorch; raises MissingExtraError."""
    return require_extra("torch", EXTRA)


def as_vector(tensor: Any) -> Float32[np.ndarray, "d"]:
    """(D,) float32 from a tensor (1, D) of any float type."""
    return np.asarray(tensor[0].float().cpu().numpy(), np.float32)
