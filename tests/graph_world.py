"""A small scan and its R2R files, for tests of navigation graphs.

Seen from above, with 2 m between neighbours in a row and 3 m between the rows (Matterport's frame, z up):

    f - g - h      y = 3
    |       |
    a - b - c - d - e      y = 0

"x" is included but joined to nothing, "y" is not included.
"""

import gzip
import json
from pathlib import Path

import numpy as np

from navarena.episodes.episode import Episode
from navarena.episodes.graph_episodes import GraphGoal
from navarena.episodes.tours import save_tours
from navarena.scenes.graphs import GraphAtlas, NavGraph, parse_connectivity
from navarena.tasks.user_files import Sources

PLACES = {
    "a": (0.0, 0.0), "b": (2.0, 0.0), "c": (4.0, 0.0), "d": (6.0, 0.0), "e": (8.0, 0.0),
    "f": (0.0, 3.0), "g": (2.0, 3.0), "h": (4.0, 3.0), "x": (20.0, 0.0), "y": (1.0, 1.0),
}  # fmt: skip
EDGES = ("ab", "bc", "cd", "de", "fg", "gh", "af", "ch")
SCAN = "scan1"
PATHS = {
    1: ("a", "b", "c", "d"),
    2: ("d", "c", "h", "g"),
    3: ("g", "f", "a"),
    4: ("e", "d", "c"),
}
"""Path id -> described path; path 3 begins where 2 ends."""


def connectivity_items(edges=EDGES, places=PLACES):
    """The JSON of the scan's connectivity file."""
    names = list(places)
    items = []
    for name in names:
        pose = np.eye(4)
        pose[:2, 3] = places[name]
        pose[2, 3] = 1.5
        joined = [name + other in edges or other + name in edges for other in names]
        items.append(
            {
                "image_id": name,
                "pose": pose.ravel().tolist(),
                "included": name != "y",
                "visible": joined,
                "unobstructed": joined,
                "height": 1.5,
            }
        )
    return items


def make_graph(scan: str = SCAN, edges=EDGES, places=PLACES) -> NavGraph:
    return parse_connectivity(json.dumps(connectivity_items(edges, places)).encode(), scan, "test")


def make_atlas() -> GraphAtlas:
    return GraphAtlas([make_graph("scan0", ("ab", "bc")), make_graph()])


def r2r_items(paths=PATHS, instructions: int = 3):
    return [
        {
            "distance": 6.0,
            "scan": SCAN,
            "path_id": path_id,
            "path": list(path),
            "heading": 1.5,
            "instructions": [f"Walk {' '.join(path)}, take {k}." for k in range(instructions)],
        }
        for path_id, path in paths.items()
    ]


def write_files(folder: Path, items=None) -> tuple[Path, Path]:
    """(R2R file, connectivity folder) of the scan."""
    r2r = folder / "R2R_val_seen.json.gz"
    r2r.write_bytes(gzip.compress(json.dumps(r2r_items() if items is None else items).encode()))
    graphs = folder / "connectivity"
    graphs.mkdir()
    (graphs / f"{SCAN}_connectivity.json").write_text(json.dumps(connectivity_items()))
    return r2r, graphs


TOURS = (("1_0", "2_0", "3_0", "4_0"), ("4_1", "1_1", "2_1"))
"""Instruction ids of two tours of the scan."""


def write_sources(folder: Path, tours: bool = False, items=None) -> tuple[str, Sources]:
    """(R2R file, connectivity and, if asked for, a file of TOURS beside it)."""
    r2r, graphs = write_files(folder, items)
    if tours:
        save_tours({"val_seen": {SCAN: TOURS}}, folder / "tours.json")
    return str(r2r), Sources(scenes=str(graphs), tours=str(folder / "tours.json") if tours else None)


def make_graph_episode(episode_id: str, path, tour_id: str = "", heading: float = 0.0) -> Episode:
    """An episode in the scan; `path` names its nodes, of which one alone hides the goal."""
    graph = make_graph()
    points = tuple(tuple(map(float, point)) for point in graph.positions[graph.indices(tuple(path))])
    goal = GraphGoal(f"Do {episode_id}.", points, "", (5, 6), viewpoints=tuple(path))
    distance = float(graph.distances[graph.index(path[0]), graph.index(path[-1])]) if len(path) > 1 else None
    return Episode(episode_id, SCAN, points[0], -heading, goal, distance, tour_id=tour_id)
