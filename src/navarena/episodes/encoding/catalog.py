"""The goal encoders, by name."""

import functools

from navarena.core.errors import InputError
from navarena.core.registry import Registry
from navarena.episodes.encoding.cached import CachedEncoder
from navarena.episodes.encoding.encoder import GoalEncoder

ENCODERS = Registry(
    "goal encoder",
    {
        "bert": "navarena.agents.encoders.text_models:BertEncoder",
        "clip": "navarena.agents.encoders.clip:ClipEncoder",
        "one-hot": "navarena.agents.encoders.words:OneHotEncoder",
        "open-clip": "navarena.agents.encoders.clip:OpenClipEncoder",
        "images": "navarena.agents.encoders.images:ImagesEncoder",
        "joint": "navarena.learning.joint.encoder:JointEncoder",
        "minilm": "navarena.agents.encoders.text_models:MiniLMEncoder",
        "sentence": "navarena.agents.encoders.text_models:SentenceEncoder",
        "words": "navarena.agents.encoders.words:WordsEncoder",
    },
    "navarena.encoders",
)
"""Name -> class, called as Class() or, where it needs weights, Class(path). Packages add theirs in the
entry-point group."""


def make_encoder(text: str) -> GoalEncoder:
    """The encoder that `text` names: "name", or "name:PATH" for those made from local weights.

    Nothing is ever downloaded. Raises UnknownNameError with the nearest choice, InputError for a path that
    is missing or too much, FileError for weights that cannot be read, MissingExtraError.
    """
    name, _, path = text.partition(":")
    kind = ENCODERS.get(name)
    if kind.needs_weights and not path:
        raise InputError(
            f"expected {name}:PATH with the folder or file of its weights, got {text!r}; "
            "navarena downloads none"
        )
    if path and not kind.needs_weights:
        raise InputError(f"the encoder {name!r} needs no weights, got {text!r}; write {name}")
    encoder = kind(path) if path else kind()
    if not isinstance(encoder, GoalEncoder):
        raise InputError(f"expected {name!r} to name a GoalEncoder, got {type(encoder).__name__}")
    return encoder


@functools.cache
def find_encoder(text: str) -> CachedEncoder:
    """The encoder that `text` names, loaded once, with its vectors kept on disk; raises as `make_encoder`."""
    return CachedEncoder(make_encoder(text))
