"""Words as numbers, as the networks of vision-and-language navigation read them."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import numpy as np
from jaxtyping import Int32

PAD, UNKNOWN = 0, 1
"""Numbers of padding and of words that are not in the vocabulary (VLN-CE's files)."""

MAX_TOKENS = 200
"""Tokens of an instruction; longer ones are cut (VLN-CE, spec ivln_goat 3.1)."""

_TOKEN = re.compile(r"[a-z0-9]+|[^\sa-z0-9]")


def split_words(text: str) -> list[str]:
    """Lower-case words, numbers and single marks, in order."""
    return _TOKEN.findall(text.lower())


@dataclass(frozen=True)
class Vocabulary:
    """A list of words; the first two stand for padding and for unknown words.

    Attributes:
        words: by number.
    """

    words: tuple[str, ...]
    _numbers: dict[str, int] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_numbers", {word: number for number, word in enumerate(self.words)})

    @classmethod
    def of(cls, texts: Iterable[str], min_count: int = 1) -> "Vocabulary":
        """The words of `texts` that occur at least `min_count` times, most frequent first, then by name."""
        counts = Counter(word for text in texts for word in split_words(text))
        kept = sorted((word for word in counts if counts[word] >= min_count), key=lambda w: (-counts[w], w))
        return cls(("<pad>", "<unk>", *kept))

    def encode(self, text: str, length: int = MAX_TOKENS) -> Int32[np.ndarray, "t"]:
        """(length,) int32 numbers of the words of `text`, cut or padded."""
        tokens = np.full(length, PAD, np.int32)
        numbers = [self._numbers.get(word, UNKNOWN) for word in split_words(text)[:length]]
        tokens[: len(numbers)] = numbers
        return tokens

    def decode(self, tokens: Sequence[int] | Int32[np.ndarray, "t"]) -> str:
        """The words of `tokens` (T,) int32 up to the first padding, joined by spaces."""
        words = []
        for token in tokens:
            if token == PAD:
                break
            words.append(self.words[int(token)])
        return " ".join(words)


@cache
def route_vocabulary() -> Vocabulary:
    """The words of the instructions of generated houses, as they come with navarena."""
    text = (Path(__file__).parent / "route_vocabulary.txt").read_text(encoding="utf-8")
    return Vocabulary(tuple(text.split()))
