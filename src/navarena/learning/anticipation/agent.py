"""`occupancy-anticipation:DIR`: PointNav on a map that a network continues beyond what was seen.

After Ramakrishnan et al. (2020, "Occupancy Anticipation for Efficient Exploration and Navigation"): what is
anticipated around the body goes into its map, and it plans there. Its pose comes from scan matching.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar

import numpy as np
from jaxtyping import Bool, Float, Float32, Int8, Int64

from navarena.agents.agent import Start
from navarena.agents.explorers.frontier import POINT_SENSORS, OdometricFrontierAgent
from navarena.agents.explorers.sightings import DepthView
from navarena.core.errors import InputError
from navarena.learning.anticipation.anticipator import AnticipationInfo, find_anticipator
from navarena.learning.anticipation.windows import crop_window, lay_window
from navarena.learning.checkpoints.fitted import read_fitted_info
from navarena.mapping import MapGrid, OccupancyMaps
from navarena.tasks.task import Task

CONFIDENT = 0.75
"""Probability of a state from which on it goes into the map."""

MAX_VOTES = 4
"""Largest evidence of an anticipated cell, free or occupied; an image of the cell itself replaces it."""


def find_anticipation(text: str) -> type["AnticipationAgent"]:
    """The agent of the anticipation in the folder `text`; raises FileError for a folder without one."""
    info = read_fitted_info(Path(text), AnticipationInfo)
    members = {
        "folder": Path(text),
        "model_sha256": info.model_sha256,
        "__doc__": f"Anticipates by {text} ({info.frames} windows).",
    }
    return type("AnticipationAgent", (AnticipationAgent,), members)


class AnticipationAgent(OdometricFrontierAgent):
    """Goes to its point on a map of what it has seen, continued by what a network anticipates.

    It observes depth and the point (`pointgoal`), and estimates its pose as `frontier-odometry` does. What an
    image shows of a cell is believed; elsewhere the network adds evidence at every step.

    Args:
        task: PointNav.
        seed: of the run.

    Raises InputError for another task, and FileError for a damaged checkpoint.
    """

    privileged = False
    privileged_inputs = ()
    folder: ClassVar[Path]

    def __init__(self, task: Task, seed: int = 0) -> None:
        if not POINT_SENSORS.intersection(task.sensors):
            raise InputError(
                f"expected PointNav for occupancy-anticipation, got {task.protocol_id}; choose such as "
                "pointnav-habitat2020-v1"
            )
        super().__init__(task, seed)
        self._anticipator = find_anticipator(self.folder)
        self._evidence: dict[int, tuple[int, np.ndarray, np.ndarray]] = {}
        """Slot -> layer, (R, C) int8 evidence, (4,) int64 box of it."""

    def begin(self, start: Start) -> None:
        super().begin(start)
        self._evidence.pop(start.slot, None)

    def begin_anew(self, slot: int, maps: OccupancyMaps) -> None:
        """Empty the map of `slot`, with what was anticipated on it."""
        super().begin_anew(slot, maps)
        self._evidence.pop(slot, None)

    def known(
        self, slot: int, maps: OccupancyMaps
    ) -> tuple[Int8[np.ndarray, "r c"], MapGrid, Int64[np.ndarray, "4"] | None]:
        """Evidence (R, C) of what was seen, and elsewhere of what is anticipated; see MappingAgent."""
        scores, grid, box = super().known(slot, maps)
        kept = self._evidence.get(slot)
        if kept is None or kept[0] != int(maps.layer[slot]) or box is None:
            return scores, grid, box
        _, evidence, around = kept
        low, high = np.minimum(box, around)[[0, 2]], np.maximum(box, around)[[1, 3]]
        return np.where(scores == 0, evidence, scores), grid, np.array([low[0], high[0], low[1], high[1]])

    def _map(
        self,
        maps: OccupancyMaps,
        depths: Float32[np.ndarray, "n h w"],
        poses: Float[np.ndarray, "n 4 4"],
        active: Bool[np.ndarray, "n"],
        seen: Mapping[int, tuple[Mapping[str, np.ndarray], DepthView]],
    ) -> None:
        """Map the images, then add the evidence of the network in the cells around each body."""
        super()._map(maps, depths, poses, active, seen)
        for slot in np.flatnonzero(active).tolist():
            self._vote(slot, maps)

    def _vote(self, slot: int, maps: OccupancyMaps) -> None:
        layer, grid = int(maps.layer[slot]), maps.grid(slot)
        position, yaw = self._bodies.positions[slot], float(self._bodies.yaws[slot])
        settings = self._anticipator.info.windows
        scores = maps.scores[slot, layer]
        chances = self._anticipator.anticipate(crop_window(scores, grid, position, yaw, settings)[None])[0]
        laid, (top, left) = lay_window(chances, grid, position, yaw, settings)
        change = (laid[..., 2] >= CONFIDENT).astype(np.int8) - (laid[..., 1] >= CONFIDENT)
        kept = self._evidence.get(slot)
        if kept is None or kept[0] != layer:
            nowhere = np.array([scores.shape[0], 0, scores.shape[1], 0], np.int64)
            kept = (layer, np.zeros_like(scores), nowhere)
        _, evidence, around = kept
        first, last = max(0, top), min(scores.shape[0], top + len(change))
        start, end = max(0, left), min(scores.shape[1], left + len(change))
        if first >= last or start >= end:
            return
        part = evidence[first:last, start:end]
        part += change[first - top : last - top, start - left : end - left]
        np.clip(part, -MAX_VOTES, MAX_VOTES, out=part)
        low, high = np.minimum(around[[0, 2]], (first, start)), np.maximum(around[[1, 3]], (last, end))
        self._evidence[slot] = (layer, evidence, np.array([low[0], high[0], low[1], high[1]]))
