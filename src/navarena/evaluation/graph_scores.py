"""Scores of agents on navigation graphs: by episode and in the mean."""

from collections.abc import Mapping
from dataclasses import fields

import numpy as np
from jaxtyping import Int

from navarena.core.errors import InputError
from navarena.episodes.graph_episodes import GraphEpisode
from navarena.metrics.instruction import PathScores, SplReference
from navarena.scenes.graphs.atlas import GraphAtlas
from navarena.tasks.vln_graph_scoring import ScoredWalk, score_walk

OFFICIAL_INSTRUCTIONS = 3
"""R2R's stock evaluation looks at the first three instructions of each path and ignores a fourth."""

TITLES = {
    "length": "TL, m",
    "steps": "steps",
    "navigation_error": "NE, m",
    "oracle_error": "OE, m",
    "success": "SR",
    "oracle_success": "OSR",
    "spl": "SPL",
    "ndtw": "nDTW",
    "sdtw": "sDTW",
    "cls": "CLS",
}
"""Field of PathScores -> column of a table."""


def score_episodes(
    walks: Mapping[str, Int[np.ndarray, "_"]],
    episodes: Mapping[str, GraphEpisode],
    atlas: GraphAtlas,
    spl_reference: SplReference = "shortest",
) -> dict[str, ScoredWalk]:
    """Episode id -> numbers of each walk.

    Args:
        walks: episode id -> (K,) node indices.
        episodes: by id.
        atlas: graphs of their scans.
        spl_reference: reading of SPL.
    """
    return {name: score_walk(atlas, nodes, episodes[name], spl_reference) for name, nodes in walks.items()}


def mean_scores(scored: Mapping[str, ScoredWalk]) -> dict[str, float]:
    """Name of each number of PathScores -> mean over episodes; raises InputError for none."""
    if not scored:
        raise InputError("expected at least one scored episode, got none")
    rows = [one.scores for one in scored.values()]
    return {
        field.name: float(np.mean([getattr(row, field.name) for row in rows])) for field in fields(PathScores)
    }
