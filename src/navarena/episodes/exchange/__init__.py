"""Episode files of other projects, read and written without loss."""

from navarena.episodes.exchange.detection import EPISODE_FORMATS
from navarena.episodes.exchange.episode_file import EpisodeFile, open_episode_file
from navarena.episodes.exchange.export import EXPORTS, make_document
from navarena.episodes.exchange.format import (
    Document,
    EpisodeFileWarning,
    EpisodeFormat,
    Notices,
    OpenDocument,
    Row,
    encode_document,
    write_document,
)
from navarena.episodes.exchange.r2r import R2RFile, R2RPath, load_r2r, save_r2r, split_of
from navarena.episodes.exchange.records import Item, Record
from navarena.episodes.exchange.vocabulary import (
    Vocabulary,
    build_vocabulary,
    load_vocabulary,
    save_vocabulary,
    split_words,
)

__all__ = [
    "EPISODE_FORMATS",
    "EXPORTS",
    "Document",
    "EpisodeFile",
    "EpisodeFileWarning",
    "EpisodeFormat",
    "Item",
    "Notices",
    "OpenDocument",
    "R2RFile",
    "R2RPath",
    "Record",
    "Row",
    "Vocabulary",
    "build_vocabulary",
    "encode_document",
    "load_r2r",
    "load_vocabulary",
    "make_document",
    "open_episode_file",
    "save_r2r",
    "save_vocabulary",
    "split_of",
    "split_words",
    "write_document",
]
