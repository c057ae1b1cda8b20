"""A tour from above, episode by episode: described path, walked path, and how t-nDTW aligns them.

A self-contained SVG. World x is to the right and world z downwards, in metres. Cells of the alignment
are thin lines between a walked and a described node; where both are the same node there is nothing to draw.
"""

from collections.abc import Mapping
from pathlib import Path

import numpy as np
from jaxtyping import Float, Int
from markupsafe import escape

from navarena.core.files import write_atomic
from navarena.episodes.graph_episodes import Tour
from navarena.metrics.instruction import SUCCESS_DISTANCE
from navarena.metrics.tours import Reading, tour_alignment, tour_ndtw
from navarena.scenes.graphs.atlas import GraphAtlas
from navarena.tasks.vln_graph_scoring import drop_repeats, score_walk

PANEL_PX = 260
COLUMNS = 4
MARGIN_PX = 14
TITLE_PX = 34

_STYLE = (
    "text{font:11px sans-serif;fill:#222}.title{font-size:14px}.edge{stroke:#ddd;stroke-width:1}"
    ".path{fill:none;stroke:#1f77b4;stroke-width:5;stroke-opacity:.45;stroke-linejoin:round}"
    ".walk{fill:none;stroke:#d95f02;stroke-width:2;stroke-linejoin:round}"
    ".link{stroke:#555;stroke-width:.8;stroke-dasharray:3 2}"
    ".start{fill:#d95f02}.goal{fill:none;stroke:#1f77b4;stroke-width:2}"
)


def draw_tour(
    tour: Tour,
    walks: Mapping[str, Int[np.ndarray, "_"]],
    atlas: GraphAtlas,
    reading: Reading = "code",
) -> str:
    """The SVG of one tour, one panel per episode, with nDTW of each and of the whole.

    Args:
        tour: whose episodes all have a goal.
        walks: episode id -> (K,) node indices.
        atlas: graphs.
        reading: of the alignment.
    """
    scored = [score_walk(atlas, walks[episode.episode_id], episode) for episode in tour.episodes]
    costs = [one.costs for one in scored]
    cells = tour_alignment(costs, reading)
    plan = _Plan(atlas, tour.scan)
    parts = []
    for k, episode in enumerate(tour.episodes):
        x = MARGIN_PX + k % COLUMNS * (PANEL_PX + MARGIN_PX)
        y = 2 * TITLE_PX + k // COLUMNS * (PANEL_PX + TITLE_PX)
        walked = drop_repeats(np.asarray(walks[episode.episode_id], np.int64))
        described = atlas.nodes(episode.scan, episode.path)
        share = float(costs[k][cells[k][:, 0], cells[k][:, 1]].sum())
        own = float(np.exp(-share / (SUCCESS_DISTANCE * len(described))))
        label = f"{k + 1}. {episode.episode_id}: nDTW {own:.2f}, DTW {share:.1f} m"
        parts.append(f'<text x="{x}" y="{y - 6}">{escape(label)}</text>')
        parts.append(f'<g transform="translate({x} {y})">{plan.draw(walked, described, cells[k])}</g>')
    rows = -(-len(tour.episodes) // COLUMNS)
    width = MARGIN_PX + min(len(tour.episodes), COLUMNS) * (PANEL_PX + MARGIN_PX)
    height = 2 * TITLE_PX + rows * (PANEL_PX + TITLE_PX)
    whole = tour_ndtw(costs, reading)
    title = f"tour {tour.tour_id} of {tour.scan}: tour nDTW {whole:.3f} ({reading}), {len(costs)} episodes"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" role="img">'
        f'<style>{_STYLE}</style><rect width="100%" height="100%" fill="#fff"/>'
        f'<text class="title" x="{MARGIN_PX}" y="22">{escape(title)}</text>{"".join(parts)}</svg>'
    )


def write_tour_drawing(
    tour: Tour,
    walks: Mapping[str, Int[np.ndarray, "_"]],
    atlas: GraphAtlas,
    folder: Path,
    reading: Reading = "code",
) -> Path:
    """Write `tour-{id}-{scan}.svg` into `folder`; its path. Raises StorageError.

    Args:
        tour: whose episodes all have a goal.
        walks: episode id -> (K,) node indices.
        atlas: graphs.
        folder: made when it is not there.
        reading: of the alignment.
    """
    path = Path(folder) / f"tour-{tour.tour_id}-{tour.scan}.svg"
    write_atomic(path, draw_tour(tour, walks, atlas, reading).encode())
    return path


class _Plan:
    """Turns nodes of one scan into points of a panel."""

    def __init__(self, atlas: GraphAtlas, scan: str) -> None:
        self._atlas = atlas
        graph = atlas.require_graph(scan)
        flat = graph.positions[:, [0, 2]]
        self._low = flat.min(0)
        self._scale = PANEL_PX / max(float(np.ptp(flat, axis=0).max()), 1.0)
        points = (flat - self._low) * self._scale
        self._edges = "".join(
            f'<line class="edge" x1="{a[0]:.1f}" y1="{a[1]:.1f}" x2="{b[0]:.1f}" y2="{b[1]:.1f}"/>'
            for a, b in points[graph.edges]
        )

    def _points(self, nodes: Int[np.ndarray, "k"]) -> Float[np.ndarray, "k 2"]:
        return (self._atlas.positions[nodes][:, [0, 2]] - self._low) * self._scale

    def draw(
        self, walked: Int[np.ndarray, "n"], described: Int[np.ndarray, "m"], cells: Int[np.ndarray, "k 2"]
    ) -> str:
        """Elements of one panel: (N,) walked and (M,) described node indices, (K, 2) aligned pairs."""
        walk, path = self._points(walked), self._points(described)
        links = "".join(
            f'<line class="link" x1="{walk[i][0]:.1f}" y1="{walk[i][1]:.1f}" '
            f'x2="{path[j][0]:.1f}" y2="{path[j][1]:.1f}"/>'
            for i, j in cells
            if walked[i] != described[j]
        )
        start, goal = walk[0], path[-1]
        return (
            f"{self._edges}{_line('path', path)}{links}{_line('walk', walk)}"
            f'<circle class="start" cx="{start[0]:.1f}" cy="{start[1]:.1f}" r="4"/>'
            f'<circle class="goal" cx="{goal[0]:.1f}" cy="{goal[1]:.1f}" r="6"/>'
        )


def _line(name: str, points: Float[np.ndarray, "k 2"]) -> str:
    text = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    return f'<polyline class="{name}" points="{text}"/>'
