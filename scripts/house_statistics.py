#!/usr/bin/env python3
"""Write docs/house_statistics.json anew: numbers of the published scenes, for their data sheets.

scripts/house_statistics.py [HOUSES]    so many of each split, the first ones (20 by default; minutes)
"""

import json
import statistics
import sys
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from navarena.scenes.apartments.apartment_sets import APARTMENT_SPLITS
from navarena.scenes.catalog import load_scene
from navarena.scenes.houses.house_sets import HOUSE_SPLITS
from navarena.scenes.houses.house_statistics import STRUCTURE, HouseStatistics, compute_statistics

FILE = Path(__file__).resolve().parents[1] / "docs" / "house_statistics.json"
SETS: Mapping[str, Mapping[str, int]] = {"houses-v1": HOUSE_SPLITS, "robothor-like-v1": APARTMENT_SPLITS}

MEANS: Mapping[str, Callable[[HouseStatistics], float]] = {
    "rooms": lambda one: one.rooms,
    "floor area, square metres": lambda one: one.floor_area,
    "objects": lambda one: one.objects,
    "objects in a room": lambda one: one.objects_per_room,
    "triangles": lambda one: one.triangles,
}
"""What is averaged over the scenes of a split."""


def describe(found: Sequence[HouseStatistics], size: int) -> dict[str, Any]:
    """The numbers of a split of `size` scenes, of which `found` were counted."""
    rows: dict[str, Any] = {"scenes": size, "scenes counted": len(found)}
    for name, read in MEANS.items():
        values = [float(read(one)) for one in found]
        rows |= {f"{name}, mean": round(statistics.fmean(values), 1)}
        rows |= {f"{name}, least": round(min(values), 1), f"{name}, most": round(max(values), 1)}
    kinds = Counter(name for one in found for name in one.categories if name not in STRUCTURE)
    return rows | {"categories of objects": len(kinds)}


def main(most: int) -> None:
    """Count every set and write the file."""
    document = {}
    for name, splits in SETS.items():
        rows = {}
        for split, size in splits.items():
            ids = [f"{name}/{split}/{index:05d}" for index in range(min(size, most))]
            rows[split] = describe([compute_statistics(load_scene(one)) for one in ids], size)
        document[name] = {"splits": rows, "rows": list(next(iter(rows.values())))}
    FILE.write_text(json.dumps(document, indent=1) + "\n")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 20)
