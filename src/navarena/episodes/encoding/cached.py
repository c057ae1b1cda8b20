"""Cache of goal vectors on disk, one file for each input and encoder; safe for concurrent processes."""

import hashlib
import inspect
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

import numpy as np
from jaxtyping import Float32, UInt8

from navarena.core.files import cache_folder, write_atomic
from navarena.core.sources import source_fingerprint
from navarena.episodes.encoding.encoder import GoalEncoder, GoalQuery, require_image

FOLDER = "embeddings"
DIGEST = 32
"""Bytes of the SHA-256 before the numbers of a file."""

Item = TypeVar("Item")


class CachedEncoder(GoalEncoder):
    """An encoder with a cache on disk: known vectors are read, others computed and written.

    A file is written beside its place and renamed, and begins with the hash of its numbers: whoever reads
    finds a whole vector or none, and a damaged file is computed and written anew.

    Args:
        encoder: what computes.
        folder: where vectors are kept; `embeddings` in the cache folder by default.

    Attributes:
        computed: vectors that were not known.
    """

    def __init__(self, encoder: GoalEncoder, folder: Path | None = None) -> None:
        self._encoder = encoder
        self.name, self.dimension = encoder.name, encoder.dimension
        self.reads_words, self.sees_images = encoder.reads_words, encoder.sees_images
        self.model_sha256 = encoder.model_sha256
        self._folder = (folder or cache_folder() / FOLDER) / identify(encoder)
        self.computed = 0

    @property
    def uncached(self) -> GoalEncoder:
        return self._encoder

    def encode_words(self, texts: Sequence[str]) -> Float32[np.ndarray, "n d"]:
        """(N, D) float32 of N texts."""
        keys = [key_of("words", text.encode()) for text in texts]
        return self._encode(keys, texts, self._encoder.encode_words)

    def encode_images(self, images: Sequence[UInt8[np.ndarray, "_ _ 3"]]) -> Float32[np.ndarray, "n d"]:
        """(N, D) float32 of N images (H, W, 3) uint8."""
        for image in images:
            require_image(image)
        keys = [key_of(f"image {one.shape}", np.ascontiguousarray(one).tobytes()) for one in images]
        return self._encode(keys, images, self._encoder.encode_images)

    def encode_raw(self, goal: GoalQuery) -> Float32[np.ndarray, "d"]:
        """(D,) float32 of the length that the network gives it; kept apart from vectors of length 1."""
        image = self._encoder.find_image(goal)
        if image is None:
            key = key_of("raw words", goal.words)
        else:
            require_image(image)
            key = key_of(f"raw image {image.shape}", np.ascontiguousarray(image).tobytes())
        return np.asarray(self._encode([key], [goal], self._encode_all_raw)[0])

    def _encode_all_raw(self, goals: Sequence[GoalQuery]) -> Float32[np.ndarray, "n d"]:
        return np.stack([self._encoder.encode_raw(goal) for goal in goals])

    def _encode(
        self,
        keys: Sequence[str],
        items: Sequence[Item],
        encode: Callable[[Sequence[Item]], Float32[np.ndarray, "n d"]],
    ) -> Float32[np.ndarray, "n d"]:
        """(N, D) float32: cached vectors by key; missing ones are computed."""
        vectors = np.zeros((len(items), self.dimension), np.float32)
        for row, (key, item) in enumerate(zip(keys, items, strict=True)):
            path = self._folder / key[:2] / key
            known = read_vector(path, self.dimension)
            if known is None:
                known = encode([item])[0]
                self.computed += 1
                write_vector(path, known)
            vectors[row] = known
        return vectors


def identify(encoder: GoalEncoder) -> str:
    """Cache key of an encoder: kind, name, code, and the files of their weights (names, sizes, times)."""
    kind = type(encoder)
    code = source_fingerprint(Path(inspect.getfile(kind)))
    parts = [kind.__module__, kind.__qualname__, encoder.name, code]
    place = encoder.name.partition(":")[2]
    weights = Path(place).expanduser()
    if kind.needs_weights and place and weights.exists():
        files = sorted(path for path in weights.rglob("*") if path.is_file())
        parts += [f"{path.name} {path.stat().st_size} {path.stat().st_mtime_ns}" for path in files]
    return key_of(*(part.encode() for part in parts))


def key_of(*parts: str | bytes) -> str:
    """A name for files: the SHA-256 of length-prefixed parts, in 40 letters."""
    digest = hashlib.sha256()
    for part in parts:
        data = part.encode() if isinstance(part, str) else part
        digest.update(len(data).to_bytes(8, "little"))
        digest.update(data)
    return digest.hexdigest()[:40]


def write_vector(path: Path, vector: Float32[np.ndarray, "d"]) -> None:
    """Write (D,) float32 numbers and their hash in one step; raises StorageError."""
    data = np.ascontiguousarray(vector, "<f4").tobytes()
    write_atomic(path, hashlib.sha256(data).digest() + data)


def read_vector(path: Path, dimension: int) -> Float32[np.ndarray, "d"] | None:
    """(D,) float32 of a file; None where it is missing, cut short or damaged."""
    try:
        data = path.read_bytes()
    except OSError:
        return None
    numbers = data[DIGEST:]
    if len(numbers) != 4 * dimension or hashlib.sha256(numbers).digest() != data[:DIGEST]:
        return None
    return np.frombuffer(numbers, "<f4").astype(np.float32)
