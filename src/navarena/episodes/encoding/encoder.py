"""Interface of goal encoders: a goal given by a category, a description or an image becomes one vector."""

from abc import ABC
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from jaxtyping import Float, Float32, UInt8

from navarena.core.errors import InputError
from navarena.episodes.goals import Modality


@dataclass(frozen=True, eq=False)
class GoalQuery:
    """A goal as an agent observes it.

    Attributes:
        modality: how it is given: "object", "description" or "image" (see episodes.goals.Modality).
        category: such as "couch"; empty if the agent does not know it.
        text: the description; empty for goals without one.
        image: (H, W, 3) uint8 sRGB; None for goals without one.

    Raises InputError for a goal without the field that its modality needs.
    """

    modality: Modality
    category: str = ""
    text: str = ""
    image: UInt8[np.ndarray, "h w 3"] | None = None

    def __post_init__(self) -> None:
        given: dict[Modality, bool] = {
            "object": bool(self.category),
            "description": bool(self.text),
            "image": self.image is not None,
        }
        if self.modality not in given:
            raise InputError(f"expected a modality among {', '.join(given)}, got {self.modality!r}")
        if not given[self.modality]:
            needed = {"object": "a category", "description": "a text", "image": "an image"}
            raise InputError(f"expected {needed[self.modality]} of a goal of this modality, got none")

    @property
    def words(self) -> str:
        """The description of a goal given by one, else the category; may be empty."""
        return self.text if self.modality == "description" else self.category


class GoalEncoder(ABC):
    """Turns goals, words and images into vectors of one length; similarity is their scalar product.

    Derive from this, say what it reads, and write `encode_words`, `encode_images` or both. Equal inputs
    give equal vectors, in any batch.

    Attributes:
        needs_weights: whether it is made from a folder or file of weights, `Class(path)`; else `Class()`.
        name: with which it was made, such as "words" or "clip:weights/clip"; part of the cache's keys.
        dimension: D, of every vector.
        reads_words: whether it encodes categories and texts.
        sees_images: whether it encodes images.
        model_sha256: of weights that were trained here, 64 hex digits; empty of others.
    """

    needs_weights: ClassVar[bool] = False
    name: str
    dimension: int
    reads_words: bool = True
    sees_images: bool = False
    model_sha256: str = ""

    @property
    def uncached(self) -> "GoalEncoder":
        """The encoder that keeps nothing on disk: for images that are seen once, such as a body's."""
        return self

    def encode(self, goal: GoalQuery) -> Float32[np.ndarray, "d"]:
        """(D,) float32 of length 1. An image is looked at where the encoder sees; else its category is read.

        Raises InputError for a goal that it can neither see nor read.
        """
        image = self.find_image(goal)
        found = self.encode_words([goal.words]) if image is None else self.encode_images([image])
        return np.asarray(found[0])

    def encode_raw(self, goal: GoalQuery) -> Float32[np.ndarray, "d"]:
        """(D,) float32 as `encode`, of the length that the network gives it, where there is one."""
        return self.encode(goal)

    def find_image(self, goal: GoalQuery) -> UInt8[np.ndarray, "h w 3"] | None:
        """The image of `goal` where the encoder looks at it; None where it reads its words.

        Raises InputError for a goal that it can neither see nor read.
        """
        if goal.image is not None and self.sees_images and goal.modality == "image":
            return goal.image
        if not self.reads_words or not goal.words:
            raise InputError(
                f"the encoder {self.name!r} cannot encode a goal given by {goal.modality!r}; "
                f"choose one that {'reads words' if goal.words else 'sees images'}, such as "
                f"{'words' if goal.words else 'images'} or clip:PATH"
            )
        return None

    def encode_words(self, texts: Sequence[str]) -> Float32[np.ndarray, "n d"]:
        """(N, D) float32, rows of length 1, of categories or descriptions; raises InputError if it cannot."""
        raise InputError(
            f"the encoder {self.name!r} reads no words; choose one that does, such as words or clip:PATH"
        )

    def encode_images(self, images: Sequence[UInt8[np.ndarray, "_ _ 3"]]) -> Float32[np.ndarray, "n d"]:
        """(N, D) float32, rows of length 1, of (H, W, 3) uint8 sRGB images; else raises InputError."""
        raise InputError(
            f"the encoder {self.name!r} sees no images; choose one that does, such as images or clip:PATH"
        )


def unit_rows(vectors: Float[np.ndarray, "n d"]) -> Float32[np.ndarray, "n d"]:
    """(N, D) float32: rows brought to length 1. Raises InputError for a row of zeros or without a length."""
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    if not np.all(np.isfinite(lengths) & (lengths > 0)):
        raise InputError(
            "expected vectors of a finite length above zero from an encoder; check its weights and inputs"
        )
    return np.asarray(vectors / lengths, np.float32)


def require_image(image: UInt8[np.ndarray, "h w 3"]) -> None:
    """Check that `image` is (H, W, 3) uint8 with pixels; raises InputError."""
    if image.ndim != 3 or image.shape[2] != 3 or image.dtype != np.uint8 or not image.size:
        raise InputError(f"expected an image (H, W, 3) of bytes, got {image.shape} {image.dtype}")
