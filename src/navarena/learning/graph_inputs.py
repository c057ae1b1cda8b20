"""Inputs of agents on navigation graphs. Nothing here needs PyTorch."""

from navarena.learning.inputs import TOKENS

GRAPH_INPUTS = (
    TOKENS,
    "view_features",
    "view_index",
    "candidate_views",
    "candidate_angles",
    "phase",
    "tour_position",
)
"""What HAMT sees; features of candidates and angles of views follow from these."""
