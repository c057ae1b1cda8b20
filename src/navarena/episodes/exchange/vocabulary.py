"""Words and their numbers: encoded instructions and the vocabulary files that go with them."""

import re
import string
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from navarena.core.errors import FileError, InputError
from navarena.core.files import read_text, write_atomic
from navarena.episodes.exchange.r2r import R2RPath

PADDING, UNKNOWN = "<PAD>", "<UNK>"
"""Words 0 and 1 of a vocabulary, as in R2R's and VLN-CE's."""

END = "<EOS>"
"""Word 2 of R2R's vocabularies."""

_PIECES = re.compile(r"(\W+)")
_PUNCTUATION = frozenset(string.punctuation)


def split_words(sentence: str) -> list[str]:
    """Lower-case words and punctuation marks, as R2R's tokenizer parts them.

    Runs of marks are parted into single ones, but runs of full stops stay together.
    """
    words: list[str] = []
    for piece in _PIECES.split(sentence.strip()):
        word = piece.strip().lower()
        if not word:
            continue
        if set(word) <= _PUNCTUATION and set(word) != {"."}:
            words.extend(word)
        else:
            words.append(word)
    return words


@dataclass(frozen=True)
class Vocabulary:
    """Words by number.

    Attributes:
        words: word k has number k; 0 is padding and 1 stands for unknown words.
    """

    words: tuple[str, ...]

    def __post_init__(self) -> None:
        if len(self.words) < 2 or len(set(self.words)) != len(self.words):
            raise InputError(
                f"expected a vocabulary of padding, unknown and further words, each once, got "
                f"{len(self.words)} words, {len(set(self.words))} of them different"
            )

    def __len__(self) -> int:
        return len(self.words)

    @cached_property
    def _numbers(self) -> dict[str, int]:
        return {word: number for number, word in enumerate(self.words)}

    def encode(self, sentence: str) -> tuple[int, ...]:
        """Numbers of the words of a sentence; 1 for unknown ones."""
        return tuple(self._numbers.get(word, 1) for word in split_words(sentence))

    def decode(self, numbers: Sequence[int]) -> str:
        """The words of numbers, padding left out; raises InputError for a number out of range."""
        for number in numbers:
            if not 0 <= number < len(self.words):
                raise InputError(f"expected token ids below {len(self.words)}, got {number}")
        return " ".join(self.words[number] for number in numbers if number != 0)

    def encode_paths(self, paths: Iterable[R2RPath]) -> tuple[R2RPath, ...]:
        """The paths with encodings of all their instructions by this vocabulary."""
        return tuple(
            replace(path, encodings=tuple(self.encode(text) for text in path.instructions)) for path in paths
        )


def encode_again(before: str, tokens: Sequence[int], after: str) -> tuple[int, ...]:
    """Token ids of the text `after`, by the vocabulary known from `tokens`, the ids of `before`.

    Words that `before` does not have become 1, unknown. Nothing where there are no tokens.
    """
    if not len(tokens):
        return ()
    known = dict(zip(split_words(before), tokens))
    return tuple(known.get(word, 1) for word in split_words(after))


def build_vocabulary(sentences: Iterable[str], min_count: int = 5) -> Vocabulary:
    """The words that occur at least `min_count` times (R2R: 5), most frequent first, ties by letter."""
    counts = Counter(word for sentence in sentences for word in split_words(sentence))
    kept = sorted((word for word in counts if counts[word] >= min_count), key=lambda w: (-counts[w], w))
    return Vocabulary((PADDING, UNKNOWN, END, *kept))


def load_vocabulary(path: Path) -> Vocabulary:
    """Read a file with one word per line, such as R2R's `train_vocab.txt`; raises FileError."""
    words = [line.strip() for line in read_text(path, "vocabulary").split("\n")]
    while words and not words[-1]:
        words.pop()
    try:
        return Vocabulary(tuple(words))
    except InputError as error:
        raise FileError(f"vocabulary {path}: {error}") from error


def save_vocabulary(vocabulary: Vocabulary, path: Path) -> None:
    """Write one word per line; raises StorageError when the disk refuses."""
    write_atomic(Path(path), ("\n".join(vocabulary.words) + "\n").encode())
