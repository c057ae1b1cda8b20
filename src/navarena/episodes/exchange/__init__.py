"""Episode files of other projects, read and written without loss."""

from navarena.episodes.exchange.r2r import R2RFile, R2RPath, load_r2r, save_r2r, split_of
from navarena.episodes.exchange.vocabulary import (
    Vocabulary,
    build_vocabulary,
    load_vocabulary,
    save_vocabulary,
    split_words,
)

__all__ = [
    "R2RFile",
    "R2RPath",
    "Vocabulary",
    "build_vocabulary",
    "load_r2r",
    "load_vocabulary",
    "save_r2r",
    "save_vocabulary",
    "split_of",
    "split_words",
]
