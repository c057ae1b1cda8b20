"""Settings of GOAT-Bench: body, camera and thresholds of its goals (spec ivln_goat 4.5), and its splits."""

import math
from collections.abc import Mapping
from dataclasses import replace

from navarena.episodes.recipe import SplitSize
from navarena.episodes.view_points import SceneViewPoints, ViewPointSettings, find_view_points
from navarena.scenes.houses.vocabulary import GOAT
from navarena.simulation.body import Camera
from navarena.simulation.body_catalog import STRETCH
from navarena.simulation.world import World

VIEW_PX = 128
"""Side of the square images whose pixels are counted; the published generator counts at 512 x 512. One
pixel is a share of 6e-5, far below every threshold."""

EYE_HEIGHT = 1.31
"""Metres of the camera above the floor (spec 4.5, "common")."""

GOAL_CAMERA = Camera(width_px=VIEW_PX, height_px=VIEW_PX, hfov=math.radians(90), mount=(0.0, EYE_HEIGHT, 0.0))
"""Square, 90 degrees wide (spec 4.5, "common"); not the camera that agents see through."""

GOAL_BODY = replace(STRETCH, cameras=(GOAL_CAMERA,))
"""Stretch, who must be able to stand at a view point, with the camera of the generators."""

GOAL_CATEGORIES = tuple(dict.fromkeys([*(category for found in GOAT.values() for category in found), *GOAT]))
"""Categories of objects that may be goals: of houses, and, for scans, the benchmark's own names."""

MIN_COVERAGE = 0.05
"""Share of an image that an object of a category goal must exceed; likewise the sum over the three tilts of
a view point (spec 4.5, OVON)."""

TILTS = (-math.radians(30), 0.0, math.radians(30))
"""Radians, upwards, of the three looks from a view point (spec 4.5, OVON)."""

GRID_SPACING = 0.25
"""Metres between candidates for view points (spec 4.5, OVON)."""

GOAT_VIEW_POINTS = ViewPointSettings(
    GOAL_CATEGORIES,
    GOAL_BODY,
    width_px=VIEW_PX,
    height_px=VIEW_PX,
    tilts=TILTS,
    min_coverage=MIN_COVERAGE,
    spacing=GRID_SPACING,
)
"""View points of every goal of GOAT-Bench, whatever its modality."""


def find_goal_view_points(world: World) -> SceneViewPoints:
    """The view points of everything in a scene that may be a goal; kept in the cache.

    Categories are those of the scene, not the benchmark's names; see `rows_of_objects`. Raises SceneError
    for a scene without labels.
    """
    return find_view_points(world, GOAT_VIEW_POINTS)


TRAIN_HOUSES = 145
VAL_HOUSES = 36
MINI_HOUSES = 4
TRAIN_EPISODES = 5_000
VAL_EPISODES = 10
LITE_EPISODES = 2
BLOCK = 50

VAL_SPLITS = ("val_seen", "val_seen_synonyms", "val_unseen")


def _parts_of(split: str, prefix: str) -> dict[str, SplitSize]:
    """The lite and mini lists of a split."""
    return {
        f"{prefix}lite": SplitSize(LITE_EPISODES, split, VAL_HOUSES, scenes_of="val"),
        f"{prefix}mini": SplitSize(LITE_EPISODES, split, MINI_HOUSES, scenes_of="val"),
    }


def _make_splits() -> dict[str, SplitSize]:
    splits = {
        "train": SplitSize(TRAIN_EPISODES, scenes=TRAIN_HOUSES, block=BLOCK, scenes_of="train"),
        "val": SplitSize(VAL_EPISODES, "val_seen", VAL_HOUSES, scenes_of="val"),
        **_parts_of("val_seen", ""),
    }
    for split in VAL_SPLITS:
        splits[split] = SplitSize(VAL_EPISODES, scenes=VAL_HOUSES, scenes_of="val")
        splits |= _parts_of(split, f"{split}_")
    return splits


GOAT_EPISODE_SPLITS: Mapping[str, SplitSize] = _make_splits()
"""The splits of GOAT-Bench in `houses-v1` (spec ivln_goat 4.1).

| split             | names asked for               | houses                 | episodes      |
|-------------------|-------------------------------|------------------------|---------------|
| train             | of training                   | the first 145 of train | 5,000 in each |
| val_seen          | some of training              | the first 36 of val    | 10 in each    |
| val_seen_synonyms | other names of seen objects   | the same               | 10 in each    |
| val_unseen        | of objects no train house has | the same               | 10 in each    |

`<split>_lite` are the first two episodes of each of the 36 houses, `<split>_mini` those of the first four.
`val`, `lite` and `mini` are those of val_seen.
"""
