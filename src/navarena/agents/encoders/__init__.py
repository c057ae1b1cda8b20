"""Goal encoders: goals, texts and images as vectors that can be compared."""

from navarena.agents.encoders.images import ImagesEncoder, ImageSettings
from navarena.agents.encoders.matching import (
    ImageFeatures,
    ImageMatcher,
    MatcherName,
    MatchSettings,
    make_matcher,
)
from navarena.agents.encoders.words import OneHotEncoder, WordsEncoder, WordSettings
from navarena.episodes.encoding.cached import CachedEncoder
from navarena.episodes.encoding.catalog import ENCODERS, make_encoder
from navarena.episodes.encoding.encoder import GoalEncoder, GoalQuery, unit_rows

__all__ = [
    "ENCODERS",
    "CachedEncoder",
    "GoalEncoder",
    "GoalQuery",
    "ImageFeatures",
    "ImageMatcher",
    "ImageSettings",
    "ImagesEncoder",
    "MatchSettings",
    "MatcherName",
    "OneHotEncoder",
    "WordSettings",
    "WordsEncoder",
    "make_encoder",
    "make_matcher",
    "unit_rows",
]
