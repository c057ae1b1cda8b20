"""A tour from above, episode by episode: described path, walked path, and how t-nDTW aligns them.

A self-contained SVG. World x is to the right and world z downwards, in metres; each panel shows what is
around its episode. Cells of the alignment are dashed lines between a walked and a described point; where
both are the same place there is nothing to draw.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from jaxtyping import Float, Int
from markupsafe import escape

from navarena.core.files import write_atomic
from navarena.metrics.followed_path import require_described_path
from navarena.metrics.instruction import SUCCESS_DISTANCE
from navarena.metrics.tours import Reading, tour_alignment, tour_ndtw
from navarena.metrics.trajectory import Trajectory
from navarena.reports.plan_view import select_floor, trace_outlines, write_outlines, write_points
from navarena.scenes.graphs.atlas import GraphAtlas
from navarena.simulation.navmesh.navmesh import NavMesh

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
    ".edge{stroke:#ccc;stroke-width:1}.floor{fill:#e9e9e4}.frame{fill:#fafafa;stroke:#ddd}"
    ".path{fill:none;stroke:#1f77b4;stroke-width:6;stroke-opacity:.4;stroke-linejoin:round}"
    ".walk{fill:none;stroke:#d95f02;stroke-width:2;stroke-linejoin:round}"
    ".link{stroke:#444;stroke-width:1;stroke-dasharray:3 2}"
    ".start{fill:#d95f02}.goal{fill:none;stroke:#1f77b4;stroke-width:2}"
)
_LEGEND = "blue: described path, ring at its end; orange: walked path, dot at its start; dashed: alignment"


@dataclass(frozen=True)
class DrawnEpisode:
    """One episode's panel of a tour drawing.

    Attributes:
        episode_id: for its title.
        walk: (N, 2) metres, world x and z of what was walked.
        path: (M, 2) metres, of what was described.
        costs: (N, M) metres between the two.
        floor: which of the drawing's floors lies below them.
    """

    episode_id: str
    walk: Float[np.ndarray, "n 2"]
    path: Float[np.ndarray, "m 2"]
    costs: Float[np.ndarray, "n m"]
    floor: str


@dataclass(frozen=True)
class TourDrawing:
    """Content of a tour drawing.

    Attributes:
        tour_id, scene_id: for title and file name.
        episodes: a panel for each, in order.
        floors: name -> SVG of what lies below the paths, in metres.
    """

    tour_id: str
    scene_id: str
    episodes: Sequence[DrawnEpisode]
    floors: Mapping[str, str]


Records = Sequence[tuple[str, Trajectory]]
"""Episode ids of a tour with what was done, in order; each knows the path that was described."""


def drawing_on_graph(tour_id: str, scan: str, records: Records, atlas: GraphAtlas) -> TourDrawing:
    """A tour on a navigation graph, above the edges of its scan.

    Args:
        tour_id: for title and file name.
        scan: likewise.
        records: of its episodes.
        atlas: graphs.
    """
    panels = []
    for name, record in records:
        track = require_described_path(record, f"the drawing of {name!r}")
        walked, path = track.walked[:, [0, 2]], track.reference[:, [0, 2]]
        panels.append(DrawnEpisode(name, walked, path, track.tour_costs, "edges"))
    return TourDrawing(tour_id, scan, panels, {"edges": _draw_edges(atlas, scan)})


def drawing_in_house(tour_id: str, scene_id: str, records: Records, navmesh: NavMesh) -> TourDrawing:
    """A tour in a continuous scene, above the walkable floor of the storeys that each episode touches.

    Args:
        tour_id: for title and file name.
        scene_id: likewise.
        records: of its episodes.
        navmesh: of the scene, for the body that walked.
    """
    panels, floors, names = [], dict[str, str](), dict[bytes, str]()
    for name, record in records:
        track = require_described_path(record, f"the drawing of {name!r}")
        heights = np.concatenate([track.walked[:, 1], track.reference[:, 1]])
        selected = select_floor(navmesh.vertices, navmesh.triangles, heights.min(), heights.max())
        floor = names.setdefault(selected.tobytes(), f"floor{len(names)}")
        if floor not in floors:
            outlines = trace_outlines(navmesh.vertices, navmesh.triangles, navmesh.neighbors, selected)
            floors[floor] = f'<path class="floor" d="{write_outlines(outlines)}"/>'
        walk, path = track.walked[:, [0, 2]], track.reference[:, [0, 2]]
        panels.append(DrawnEpisode(name, walk, path, track.tour_costs, floor))
    return TourDrawing(tour_id, scene_id, panels, floors)


def draw_tour(drawing: TourDrawing, reading: Reading = "code") -> str:
    """The SVG of one tour, one panel per episode, with nDTW of each and of the whole.

    Args:
        drawing: what is drawn.
        reading: of the alignment.
    """
    costs = [episode.costs for episode in drawing.episodes]
    cells = tour_alignment(costs, reading)
    parts = []
    for k, episode in enumerate(drawing.episodes):
        x = MARGIN_PX + k % COLUMNS * (PANEL_PX + MARGIN_PX)
        y = HEAD_PX + k // COLUMNS * (PANEL_PX + TITLE_PX)
        share = float(costs[k][cells[k][:, 0], cells[k][:, 1]].sum())
        own = math.exp(-share / (SUCCESS_DISTANCE * len(episode.path)))
        name = episode.episode_id.rpartition("/")[2]  # ids in houses begin with the scene
        label = f"{k + 1}. {name}: nDTW {own:.2f}, DTW {share:.1f} m"
        parts.append(f'<text x="{x}" y="{y - 6}">{escape(label)}</text>')
        parts.append(_draw_panel(x, y, episode, cells[k]))
    rows = -(-len(costs) // COLUMNS)
    width = MARGIN_PX + min(len(costs), COLUMNS) * (PANEL_PX + MARGIN_PX)
    height = HEAD_PX + rows * (PANEL_PX + TITLE_PX)
    whole = tour_ndtw(costs, reading)
    title = (
        f"tour {drawing.tour_id} of {drawing.scene_id}: tour nDTW {whole:.3f} ({reading}), "
        f"{len(costs)} episodes"
    )
    floors = "".join(f'<g id="{name}">{floor}</g>' for name, floor in drawing.floors.items())
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" role="img">'
        f'<style>{_STYLE}</style><rect width="100%" height="100%" fill="#fff"/><defs>{floors}</defs>'
        f'<text class="title" x="{MARGIN_PX}" y="22">{escape(title)}</text>'
        f'<text x="{MARGIN_PX}" y="40">{_LEGEND}</text>{"".join(parts)}</svg>'
    )


def write_tour_drawing(drawing: TourDrawing, folder: Path, reading: Reading = "code") -> Path:
    """Write `tour-{id}-{scene}.svg` into `folder`; its path. Raises StorageError.

    Args:
        drawing: what is drawn.
        folder: made when it is not there.
        reading: of the alignment.
    """
    path = Path(folder) / f"tour-{drawing.tour_id}-{drawing.scene_id.replace('/', '-')}.svg"
    write_atomic(path, draw_tour(drawing, reading).encode())
    return path


def _draw_edges(atlas: GraphAtlas, scan: str) -> str:
    graph = atlas.require_graph(scan)
    ends = graph.positions[:, [0, 2]][graph.edges]
    return "".join(_segment("edge", a, b) for a, b in ends)


def _draw_panel(x: float, y: float, episode: DrawnEpisode, cells: Int[np.ndarray, "k 2"]) -> str:
    """One episode in a square of PANEL_PX at (x, y): walked and described points, aligned pairs (K)."""
    walk, path = episode.walk, episode.path
    both = np.concatenate([walk, path])
    low, high = both.min(0) - AROUND, both.max(0) + AROUND
    side = float((high - low).max())
    corner = (low + high - side) / 2
    dot = side / 50
    links = "".join(_segment("link", walk[i], path[j]) for i, j in cells if (walk[i] != path[j]).any())
    return (
        f'<rect class="frame" x="{x}" y="{y}" width="{PANEL_PX}" height="{PANEL_PX}"/>'
        f'<svg x="{x}" y="{y}" width="{PANEL_PX}" height="{PANEL_PX}" '
        f'viewBox="{corner[0]:.2f} {corner[1]:.2f} {side:.2f} {side:.2f}"><use href="#{episode.floor}"/>'
        f"{_line('path', path)}{links}{_line('walk', walk)}"
        f'<circle class="start" cx="{walk[0][0]:.2f}" cy="{walk[0][1]:.2f}" r="{dot:.2f}"/>'
        f'<circle class="goal" cx="{path[-1][0]:.2f}" cy="{path[-1][1]:.2f}" r="{1.6 * dot:.2f}"/></svg>'
    )


def _segment(name: str, a: Float[np.ndarray, "2"], b: Float[np.ndarray, "2"]) -> str:
    return f'<line class="{name}" x1="{a[0]:.2f}" y1="{a[1]:.2f}" x2="{b[0]:.2f}" y2="{b[1]:.2f}"/>'


def _line(name: str, points: Float[np.ndarray, "k 2"]) -> str:
    return f'<polyline class="{name}" points="{write_points(points)}"/>'
