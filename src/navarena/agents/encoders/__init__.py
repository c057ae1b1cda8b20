"""Goals as vectors: what an agent compares with what it sees."""

from navarena.agents.encoders.catalog import ENCODERS, make_encoder
from navarena.agents.encoders.encoder import GoalEncoder, GoalQuery
from navarena.agents.encoders.kept import KeptEncoder
from navarena.agents.encoders.matching import Look, MatchSettings, PictureMatcher
from navarena.agents.encoders.one_hot import OneHotEncoder
from navarena.agents.encoders.pictures import PicturesEncoder, PictureSettings
from navarena.agents.encoders.words import WordsEncoder, WordSettings

__all__ = [
    "ENCODERS",
    "GoalEncoder",
    "GoalQuery",
    "KeptEncoder",
    "Look",
    "MatchSettings",
    "OneHotEncoder",
    "PictureMatcher",
    "PictureSettings",
    "PicturesEncoder",
    "WordSettings",
    "WordsEncoder",
    "make_encoder",
]
