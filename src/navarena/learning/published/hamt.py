"""Published weights of HAMT and of TourHAMT: what each is called in their files, and how they are loaded."""

import re
from collections.abc import Mapping
from pathlib import Path

from navarena.core.errors import FileError
from navarena.learning.networks.hamt import HAMT
from navarena.learning.networks.trunks import read_weights, require_keys
from navarena.learning.tensors import Tensor, torch

PREFIXES = ("vln_bert.", "bert.", "module.")
"""With which keys of files may begin: of fine-tuned agents, and of proxy tasks."""

UNUSED = ("mlm_head.", "image_classifier.", "sap_", "regress_action.", "sprel_head.", "itm_head.", "pooler.")
"""Heads of proxy tasks, which an agent does not have."""

_HISTORY = "hist_embeddings."

_LAYER = {
    "attention.query.": "attention.self.query.",
    "attention.key.": "attention.self.key.",
    "attention.value.": "attention.self.value.",
    "attention.out.": "attention.output.dense.",
    "attention.norm.": "attention.output.LayerNorm.",
    "inner.first.": "intermediate.dense.",
    "inner.second.": "output.dense.",
    "inner.norm.": "output.LayerNorm.",
}

_CROSS = {
    "cross.query.": "visual_attention.att.query.",
    "cross.key.": "visual_attention.att.key.",
    "cross.value.": "visual_attention.att.value.",
    "cross.out.": "visual_attention.output.dense.",
    "cross.norm.": "visual_attention.output.LayerNorm.",
}

_OTHERS = {
    "words.": "embeddings.word_embeddings.",
    "places.": "embeddings.position_embeddings.",
    "kinds.": "embeddings.token_type_embeddings.",
    "word_norm.": "embeddings.LayerNorm.",
    "seen_kinds.": "img_embeddings.nav_type_embedding.",
    "seen_norm.": "img_embeddings.layer_norm.",
    "history.start": f"{_HISTORY}cls_token",
    "history.earlier": f"{_HISTORY}prev_hist_token",
    "history.kind": f"{_HISTORY}type_embedding.weight",
    "history.steps.": f"{_HISTORY}position_embeddings.",
    "history.norm.": f"{_HISTORY}layer_norm.",
    "head.": "next_action.net.",
}

_PROXIES = {
    "words.0.": "mlm_head.predictions.transform.dense.",
    "words.2.": "mlm_head.predictions.transform.LayerNorm.",
    "word_bias": "mlm_head.predictions.bias",
    "actions.": "regress_action.net.",
    "relations.": "sprel_head.net.",
    "classes.": "image_classifier.net.",
    "matches.": "itm_head.net.",
}
"""Heads of proxy tasks, which the published files of pre-training have beside the network."""

_FEATURES = {"seen.": "img_embeddings.", "history.ahead.": _HISTORY, "history.panorama.": f"{_HISTORY}pano_"}
"""Where features and angles of views are embedded -> how the names in the files begin."""


def rename_hamt(name: str) -> str:
    """The key in the reference's files of our weight `name`."""
    layer = re.match(r"(text_layers|history\.panorama_layers|cross_layers)\.(\d+)\.(.*)", name)
    if layer:
        kind, number, rest = layer.groups()
        if kind == "cross_layers":
            return f"encoder.x_layers.{number}.{_rename_cross(rest)}"
        begin = "encoder.layer" if kind == "text_layers" else f"{_HISTORY}pano_encoder.layer"
        return f"{begin}.{number}.{_begins(rest, _LAYER)}"
    for ours, theirs in _FEATURES.items():
        if name.startswith(ours):
            part, leaf = name.removeprefix(ours).split(".")
            short = {"image": "img_linear", "image_norm": "img_layer_norm"}
            return f"{theirs}{(short | {'angle': 'ang_linear', 'angle_norm': 'ang_layer_norm'})[part]}.{leaf}"
    return _begins(name, _OTHERS)


def load_hamt(network: HAMT, path: Path) -> None:
    """Read the weights of `network` from a file of the reference code.

    Tables of more steps than the network has are cut, as the reference does (100 rows of proxy tasks, 50 of
    agents). A mark of earlier episodes that the file does not have stays at 0. Raises FileError for a file
    with other weights.
    """
    found = read_weights(path)
    for key in ("vln_bert", "state_dict"):
        inner = found.get(key)
        found = inner if isinstance(inner, dict) else found
    kept = {_strip(name): value for name, value in found.items()}
    kept = {name: value for name, value in kept.items() if not name.startswith(UNUSED)}
    own = network.state_dict()
    names = {name: rename_hamt(name) for name in own}
    table = names["history.steps.weight"]
    rows = kept.get(table)
    if isinstance(rows, torch.Tensor):
        kept[table] = rows[: len(own["history.steps.weight"])]
    if "history.earlier" in names and names["history.earlier"] not in kept:
        del names["history.earlier"]
    kept = {name: _reshape(name, value) for name, value in kept.items()}
    require_keys(kept, {theirs: tuple(own[ours].shape) for ours, theirs in names.items()}, str(path))
    network.load_state_dict({ours: kept[theirs] for ours, theirs in names.items()}, strict=False)


def save_hamt(network: HAMT) -> Mapping[str, Tensor]:
    """The weights of `network` by the keys of the reference's files."""
    found = {rename_hamt(name): value for name, value in network.state_dict().items()}
    return {name: value[None] if name.endswith("_token") else value for name, value in found.items()}


def rename_proxies(name: str) -> str:
    """The key in the reference's files of the weight `name` of the heads of proxy tasks."""
    return _begins(name, _PROXIES)


def _strip(name: str) -> str:
    while name.startswith(PREFIXES):
        name = name.partition(".")[2]
    return name


def _reshape(name: str, value: object) -> object:
    """Marks have one dimension more in the files."""
    if name.endswith("_token") and isinstance(value, torch.Tensor) and value.dim() == 3:
        return value[0]
    return value


def _rename_cross(rest: str) -> str:
    if rest.startswith("cross."):
        return _begins(rest, _CROSS)
    kind, part, leaf = rest.split(".", 2)
    short = {"words": "lang", "views": "visn"}[kind]
    pairs = {
        "attention.out.": f"{short}_self_att.output.dense.",
        "attention.norm.": f"{short}_self_att.output.LayerNorm.",
        "attention.": f"{short}_self_att.self.",
        "inner.first.": f"{short}_inter.dense.",
        "inner.second.": f"{short}_output.dense.",
        "inner.norm.": f"{short}_output.LayerNorm.",
    }
    return _begins(f"{part}.{leaf}", pairs)


def _begins(name: str, pairs: Mapping[str, str]) -> str:
    for ours, theirs in pairs.items():
        if name.startswith(ours):
            return theirs + name.removeprefix(ours)
    raise FileError(f"expected a weight of HAMT, got {name}")
