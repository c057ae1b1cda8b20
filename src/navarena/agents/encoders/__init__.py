"""Goals as vectors: what an agent compares with what it sees."""

from navarena.agents.encoders.catalog import ENCODERS, make_encoder
from navarena.agents.encoders.encoder import GoalEncoder, GoalQuery
from navarena.agents.encoders.images import ImagesEncoder, ImageSettings
from navarena.agents.encoders.kept import KeptEncoder
from navarena.agents.encoders.matching import ImageMatcher, Look, MatchSettings
from navarena.agents.encoders.one_hot import OneHotEncoder
from navarena.agents.encoders.words import WordsEncoder, WordSettings

__all__ = [
    "ENCODERS",
    "GoalEncoder",
    "GoalQuery",
    "ImageMatcher",
    "ImageSettings",
    "ImagesEncoder",
    "KeptEncoder",
    "Look",
    "MatchSettings",
    "OneHotEncoder",
    "WordSettings",
    "WordsEncoder",
    "make_encoder",
]
