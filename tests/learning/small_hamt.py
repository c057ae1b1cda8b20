"""A tiny HAMT and what it sees, for tests of learning on graphs."""

from navarena.learning.inputs import GRAPH_INPUTS, InputSpec
from navarena.learning.networks.hamt_settings import HAMTSettings

TINY = HAMTSettings(
    words=30, max_words=8, features=5, width=12, heads=3, inner=16, text_layers=1, panorama_layers=1,
    cross_layers=2, steps=12, feature_dropout=0.5,
)  # fmt: skip
SHAPES = {
    "instruction_tokens": ((10,), "int32"),
    "view_features": ((36, 5), "float32"),
    "view_index": ((), "int64"),
    "candidate_views": ((4,), "int64"),
    "candidate_angles": ((4, 4), "float32"),
    "phase": ((), "int64"),
    "tour_position": ((), "int64"),
}
INPUTS = tuple(InputSpec(name, *SHAPES[name]) for name in GRAPH_INPUTS)
