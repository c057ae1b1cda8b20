"""A spectator that shows a batch on a page: what the agent observes anyway, goals, a map, and scores."""

import time
from collections import deque
from collections.abc import Callable, Mapping
from typing import Any

import cv2
import numpy as np
from jaxtyping import UInt8

from navarena.episodes.episode import Episode
from navarena.evaluation.benchmark import Batch, Benchmark
from navarena.evaluation.records.journal import Row
from navarena.metrics.catalog import get_metric, leading_metrics
from navarena.reports.gallery import status_of
from navarena.reports.tables import format_value
from navarena.reports.topdown import PlanSource, draw_episode
from navarena.reports.videos.frame import current_goal, show_goals
from navarena.simulation.sensors.sensor import ObservationSpec
from navarena.tasks.batch import NavigationBatch
from navarena.tasks.graphs.batch import GraphBatch
from navarena.web.viewer.hub import Hub
from navarena.web.viewer.images import encode_view, paint_image
from navarena.web.viewer.messages import Choose, Pace, Show

SHOW_SECONDS = 0.1
"""Between two states of the page: an evaluation takes hundreds of steps in that time."""

MAX_TILES = 12
"""Slots that are shown side by side."""

TILE_PX = 160
"""Height of their images."""

LISTED = 12
"""Finished episodes that the page lists."""


class Watcher:
    """Spectator that shows a run on a page. It reads the batch and its observations without changes.

    Args:
        hub: the link to the pages.
        benchmark: what is run.
        plans: scene id -> plan, for the map.
        label: of the run.
        total: episodes that are still to come.
        pace: steps per second at most, which pages may change: the first step waits for the first page;
            None for a run that nobody slows down.
        clock, sleep: seconds, for the pace.
    """

    def __init__(
        self,
        hub: Hub,
        benchmark: Benchmark,
        plans: PlanSource,
        label: str,
        total: int,
        pace: float | None = None,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], object] = time.sleep,
    ) -> None:
        self._hub, self._benchmark, self._plans = hub, benchmark, plans
        self._label, self._total, self._pace = label, total, pace
        self._clock, self._sleep = clock, sleep
        self._shown_at = self._stepped_at = -SHOW_SECONDS
        self._chosen, self._sensor, self._with_map = 0, "", True
        self._has_begun = False
        self._metrics = tuple(leading_metrics(benchmark.metrics))
        self._values: dict[str, list[float]] = {name: [] for name in self._metrics}
        self._done = 0
        self._rows: deque[dict[str, Any]] = deque(maxlen=LISTED)
        self._state: dict[str, Any] = {"phase": "watch"}

    def look(
        self, batch: Batch, observations: Mapping[str, np.ndarray], episodes: Mapping[int, Episode]
    ) -> None:
        """Show the batch if anybody looks and the last state is old; observations (N, ...) of any dtype."""
        self._listen()
        self._wait()
        now = self._clock()
        if not self._hub.has_pages or not episodes or now - self._shown_at < SHOW_SECONDS:
            return
        self._shown_at = now
        chosen = self._chosen if self._chosen in episodes else min(episodes)
        painted = self._paint(batch, observations, episodes)
        tiles = dict(sorted(episodes.items())[:MAX_TILES])
        images = {f"slot-{slot}": encode_view(_shrink(painted[slot])) for slot in tiles if slot in painted}
        if chosen in painted:
            images["chosen"] = encode_view(painted[chosen])
        self._state = {
            "phase": "watch",
            "sensors": self._list_sensors(batch, observations),
            "sensor": self._sensor,
            "chosen": chosen,
            "slots": [
                {"slot": slot, "episode": one.episode_id, "scene": one.scene_id}
                for slot, one in tiles.items()
            ],
            **self._describe(batch, chosen, episodes[chosen]),
        }
        self._hub.show({**self._state, **self._tell()}, images)

    def note(self, row: Row) -> None:
        """Count an episode that has ended."""
        self._done += 1
        for name, values in self._values.items():
            if (value := row.metrics.get(name)) is not None:
                values.append(value)
        verdict = status_of(row, self._benchmark.metrics).replace("_", " ")
        finished = {"episode": row.episode_id, "scene": row.scene_id, "verdict": verdict, "steps": row.steps}
        self._rows.appendleft(finished)

    def finish(self) -> None:
        """Show that the run has ended."""
        self._hub.show({**self._state, **self._tell(), "phase": "finished"}, {})

    def _listen(self) -> None:
        while (message := self._hub.take(0)) is not None:
            if isinstance(message, Choose):
                self._chosen = message.number
            elif isinstance(message, Pace) and self._pace is not None:
                self._pace = message.rate
            elif isinstance(message, Show) and message.name == "map":
                self._with_map = message.on
            elif isinstance(message, Show):
                self._sensor = message.name
            else:
                continue
            self._shown_at = -SHOW_SECONDS

    def _wait(self) -> None:
        """Begin a replay when somebody looks, and keep its pace while somebody does."""
        if self._pace and not self._has_begun:
            self._hub.wait_for_page()
            self._has_begun = True
        if self._pace and self._hub.has_pages:
            self._sleep(max(0.0, self._stepped_at + 1 / self._pace - self._clock()))
        self._stepped_at = self._clock()

    def _list_sensors(self, batch: Batch, observations: Mapping[str, np.ndarray]) -> list[str]:
        """Observations that are images."""
        if isinstance(batch, GraphBatch):  # rows of features look like images, and are none
            return []
        return [name for name, seen in observations.items() if paint_image(seen[0], 1.0) is not None]

    def _paint(
        self, batch: Batch, observations: Mapping[str, np.ndarray], episodes: Mapping[int, Episode]
    ) -> dict[int, UInt8[np.ndarray, "_ _ 3"]]:
        """Slot -> (H, W, 3) uint8: what the chosen sensor shows, the first one by default."""
        names = self._list_sensors(batch, observations)
        if not names:
            return {}
        if self._sensor not in names:
            self._sensor = names[0]
        spec = batch.specs.get(self._sensor) if isinstance(batch, NavigationBatch) else None
        farthest = _find_farthest(spec)
        found = {slot: paint_image(observations[self._sensor][slot], farthest) for slot in episodes}
        return {slot: image for slot, image in found.items() if image is not None}

    def _describe(self, batch: Batch, slot: int, episode: Episode) -> dict[str, Any]:
        """Goal, steps and map of the chosen slot."""
        track = batch.trajectory(slot)
        goals = show_goals(episode)
        goal = goals[current_goal(track, len(track.actions), len(goals))]
        led = bool(batch.led[slot]) if isinstance(batch, NavigationBatch | GraphBatch) else False
        plan = ""
        if self._with_map and not led:
            plan = str(draw_episode(self._plans(episode.scene_id), episode, track, shows_body=True))
        return {
            "goal": {"text": goal.text, "place": goal.place},
            "step": len(track.actions),
            "collisions": int(np.asarray(track.collided).sum()),
            "led": led,
            "map": plan,
            "with_map": self._with_map,
        }

    def _tell(self) -> dict[str, Any]:
        """Facts about the whole run."""
        scores = []
        for name, values in self._values.items():
            metric = get_metric(name)
            mean = format_value(metric, float(np.mean(values)) if values else None)
            scores.append({"title": metric.title, "value": mean})
        return {
            "label": self._label,
            "done": self._done,
            "total": self._total,
            "scores": scores,
            "rows": list(self._rows),
            "pace": self._pace,
        }


def _find_farthest(spec: ObservationSpec | None) -> float:
    return float("inf") if spec is None else float(np.max(spec.high))


def _shrink(image: UInt8[np.ndarray, "h w 3"]) -> UInt8[np.ndarray, "_ _ 3"]:
    """`image` (H, W, 3) uint8, at most TILE_PX high."""
    height, width = image.shape[:2]
    if height <= TILE_PX:
        return image
    size = max(1, round(width * TILE_PX / height)), TILE_PX
    return np.asarray(cv2.resize(image, size, interpolation=cv2.INTER_AREA))
