"""Category names of scans: the 42 of mpcat40, and what HM3D's annotators wrote, sorted into them.

The indices and names of mpcat40 are those of Matterport3D (`metadata/mpcat40.tsv` of its repository).
MP3D files carry the mapping of their own raw names. HM3D files do not: `hm3d_categories.json` sorts the raw
names by the same meaning (a headboard is a part of a bed, an ottoman is a stool), so that both
datasets can be asked for one list of goals.
"""

import json
from functools import cache
from pathlib import Path

MPCAT40 = (
    "void", "wall", "floor", "chair", "door", "table", "picture", "cabinet", "cushion", "window", "sofa",
    "bed", "curtain", "chest_of_drawers", "plant", "sink", "stairs", "ceiling", "toilet", "stool", "towel",
    "mirror", "tv_monitor", "shower", "column", "bathtub", "counter", "fireplace", "lighting", "beam",
    "railing", "shelving", "blinds", "gym_equipment", "seating", "board_panel", "furniture", "appliances",
    "clothes", "objects", "misc", "unlabeled",
)  # fmt: skip
"""Index -> name of the categories of Matterport3D."""

UNLABELED = "unlabeled"

HM3D_GOALS = ("chair", "bed", "plant", "toilet", "tv_monitor", "sofa")
"""Task id -> goal category of ObjectNav on HM3D (Habitat challenges of 2022 and 2023)."""

_TABLE = Path(__file__).with_name("hm3d_categories.json")


@cache
def _raw_table() -> tuple[dict[str, str], frozenset[str]]:
    """(HM3D category -> mpcat40 name, HM3D categories that are no goal whatever their mpcat40 name)."""
    table = json.loads(_TABLE.read_bytes())
    names = {raw: name for name, raws in table["mpcat40"].items() for raw in raws}
    return names, frozenset(table["no_goals"])


def clean_name(raw: str) -> str:
    """A category as it is looked up: lower case, single blanks, no underscores."""
    return " ".join(raw.lower().replace("_", " ").split())


def mpcat40_of(raw: str) -> str:
    """The mpcat40 name of an HM3D category; what the table does not know is one of the "objects".

    Names of mpcat40 itself stand for themselves.
    """
    name = clean_name(raw)
    if name.replace(" ", "_") in MPCAT40:
        return name.replace(" ", "_")
    return _raw_table()[0].get(name, "objects" if name else UNLABELED)


def hm3d_goal_of(raw: str) -> str | None:
    """The ObjectNav goal (one of HM3D_GOALS) that an HM3D category counts as, or None.

    Parts do not count: a headboard is no bed and a cushion no sofa. A toilet seat is a toilet, as in
    the published episodes.
    """
    name = clean_name(raw)
    goal = mpcat40_of(name)
    return goal if goal in HM3D_GOALS and name not in _raw_table()[1] else None
