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

from navarena.scenes.graphs import GraphAtlas, NavGraph, parse_connectivity

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
