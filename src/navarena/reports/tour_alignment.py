"""A tour from above, episode by episode: described path, walked path, and how t-nDTW aligns them.

A self-contained SVG. World x is to the right and world z downwards, in metres; each panel shows what is
around its episode. Cells of the alignment are dashed lines between a walked and a described node; where
both are the same node there is nothing to draw.
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
HEAD_PX = 74

AROUND = 2.5
"""Metres that a panel shows around its episode."""

_STYLE = (
    "text{font:11px sans-serif;fill:#222}.title{font-size:14px}"
    "line,polyline,.goal{vector-effect:non-scaling-stroke}"
    ".edge{stroke:#ccc;stroke-width:1}.frame{fill:#fafafa;stroke:#ddd}"
    ".path{fill:none;stroke:#1f77b4;stroke-width:6;stroke-opacity:.4;stroke-linejoin:round}"
    ".walk{fill:none;stroke:#d95f02;stroke-width:2;stroke-linejoin:round}"
    ".link{stroke:#444;stroke-width:1;stroke-dasharray:3 2}"
    ".start{fill:#d95f02}.goal{fill:none;stroke:#1f77b4;stroke-width:2}"
)
_LEGEND = "blue: described path, ring at its end; orange: walked path, dot at its start; dashed: alignment"


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
    parts = []
    for k, episode in enumerate(tour.episodes):
        x = MARGIN_PX + k % COLUMNS * (PANEL_PX + MARGIN_PX)
        y = HEAD_PX + k // COLUMNS * (PANEL_PX + TITLE_PX)
        walked = drop_repeats(np.asarray(walks[episode.episode_id], np.int64))
        described = atlas.nodes(episode.scan, episode.path)
        share = float(costs[k][cells[k][:, 0], cells[k][:, 1]].sum())
        own = float(np.exp(-share / (SUCCESS_DISTANCE * len(described))))
        label = f"{k + 1}. {episode.episode_id}: nDTW {own:.2f}, DTW {share:.1f} m"
        parts.append(f'<text x="{x}" y="{y - 6}">{escape(label)}</text>')
        parts.append(_draw_panel(x, y, _flat(atlas, walked), _flat(atlas, described), cells[k]))
    rows = -(-len(tour.episodes) // COLUMNS)
    width = MARGIN_PX + min(len(tour.episodes), COLUMNS) * (PANEL_PX + MARGIN_PX)
    height = HEAD_PX + rows * (PANEL_PX + TITLE_PX)
    whole = tour_ndtw(costs, reading)
    title = f"tour {tour.tour_id} of {tour.scan}: tour nDTW {whole:.3f} ({reading}), {len(costs)} episodes"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" role="img">'
        f'<style>{_STYLE}</style><rect width="100%" height="100%" fill="#fff"/>'
        f'<defs><g id="edges">{_draw_edges(atlas, tour.scan)}</g></defs>'
        f'<text class="title" x="{MARGIN_PX}" y="22">{escape(title)}</text>'
        f'<text x="{MARGIN_PX}" y="40">{_LEGEND}</text>{"".join(parts)}</svg>'
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


def _flat(atlas: GraphAtlas, nodes: Int[np.ndarray, "k"]) -> Float[np.ndarray, "k 2"]:
    return np.asarray(atlas.positions[nodes][:, [0, 2]])


def _draw_edges(atlas: GraphAtlas, scan: str) -> str:
    graph = atlas.require_graph(scan)
    ends = graph.positions[:, [0, 2]][graph.edges]
    return "".join(_segment("edge", a, b) for a, b in ends)


def _draw_panel(
    x: float,
    y: float,
    walk: Float[np.ndarray, "n 2"],
    path: Float[np.ndarray, "m 2"],
    cells: Int[np.ndarray, "k 2"],
) -> str:
    """One episode in a square of PANEL_PX at (x, y): walked and described points, aligned pairs."""
    both = np.concatenate([walk, path])
    low, high = both.min(0) - AROUND, both.max(0) + AROUND
    side = float((high - low).max())
    corner = (low + high - side) / 2
    dot = side / 50
    links = "".join(_segment("link", walk[i], path[j]) for i, j in cells if (walk[i] != path[j]).any())
    return (
        f'<rect class="frame" x="{x}" y="{y}" width="{PANEL_PX}" height="{PANEL_PX}"/>'
        f'<svg x="{x}" y="{y}" width="{PANEL_PX}" height="{PANEL_PX}" '
        f'viewBox="{corner[0]:.2f} {corner[1]:.2f} {side:.2f} {side:.2f}"><use href="#edges"/>'
        f"{_line('path', path)}{links}{_line('walk', walk)}"
        f'<circle class="start" cx="{walk[0][0]:.2f}" cy="{walk[0][1]:.2f}" r="{dot:.2f}"/>'
        f'<circle class="goal" cx="{path[-1][0]:.2f}" cy="{path[-1][1]:.2f}" r="{1.6 * dot:.2f}"/></svg>'
    )


def _segment(name: str, a: Float[np.ndarray, "2"], b: Float[np.ndarray, "2"]) -> str:
    return f'<line class="{name}" x1="{a[0]:.2f}" y1="{a[1]:.2f}" x2="{b[0]:.2f}" y2="{b[1]:.2f}"/>'


def _line(name: str, points: Float[np.ndarray, "k 2"]) -> str:
    text = " ".join(f"{x:.2f},{y:.2f}" for x, y in points)
    return f'<polyline class="{name}" points="{text}"/>'
