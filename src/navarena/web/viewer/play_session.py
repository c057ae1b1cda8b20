"""A session of a person who plays: shows an episode on the page and returns the chosen actions."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from navarena.episodes.episode import Episode
from navarena.evaluation.benchmark import Batch, Benchmark
from navarena.evaluation.records.journal import Row
from navarena.metrics.catalog import get_metric
from navarena.metrics.trajectory import Trajectory
from navarena.reports.gallery import status_of
from navarena.reports.tables import format_single
from navarena.reports.topdown import PlanSource, draw_episode
from navarena.reports.videos.frame import GoalCaption, current_goal
from navarena.reports.videos.video import take_goals
from navarena.tasks.batch import NavigationBatch
from navarena.tasks.graphs.batch import GraphBatch
from navarena.tasks.task import TaskRules
from navarena.web.viewer.hub import Hub
from navarena.web.viewer.images import encode_view, paint_image
from navarena.web.viewer.messages import Act, Go, Look, Message, Show
from navarena.web.viewer.panorama import SENSORS, Panorama, list_neighbours

WAIT_SECONDS = 0.5
"""Between two chances to interrupt a person who thinks."""

LED_SECONDS = 0.12
"""Between two steps of an oracle, so that a person can follow it."""

MAP = "map"
HELP = {MAP: "top-down map"}
"""What a toggle shows that is no sensor -> what results call it."""

READINGS = ("pointgoal_with_gps_compass", "pointgoal", "gps", "compass")
"""Small observations that are shown as numbers, where the protocol has them."""

LED_GOAL = {"text": "an oracle leads the body to the next start", "place": ""}
"""In the place of a goal while no agent acts."""

UNKNOWN_KIND = "the object in this image"
"""The text of a goal that is given by an image: its category is known to the task alone."""


@dataclass(frozen=True)
class ViewKind:
    """A toggle of the page.

    Attributes:
        name: rgb, depth, semantic, instance or map.
        sensor: whose images it shows; empty for the map.
        is_privileged: whether agents of the protocol do not have it.
    """

    name: str
    sensor: str
    is_privileged: bool

    @property
    def help(self) -> str:
        """Name of the help in results."""
        return HELP.get(self.name, self.name)


class PlaySession:
    """Session of a person: shows episodes on the page, asks for actions, and is a spectator of the run.

    Args:
        hub: the link to the pages.
        benchmark: what is played.
        task: its rules.
        views: what can be shown.
        plans: scene id -> plan, for the map.
        about: what pages show all the time, such as the protocol.
        is_drawn: whether places of graphs can be drawn.

    Attributes:
        help: privileged help that the person has asked for, as results call it.
        sensors: what it observes.
    """

    def __init__(
        self,
        hub: Hub,
        benchmark: Benchmark,
        task: TaskRules,
        views: tuple[ViewKind, ...],
        plans: PlanSource,
        about: Mapping[str, Any],
        is_drawn: bool = True,
    ) -> None:
        self._hub, self._benchmark, self._task, self._views = hub, benchmark, task, views
        self._plans, self._about = plans, dict(about)
        self._on = {"rgb"}
        self.help: tuple[str, ...] = ()
        self._readings = tuple(name for name in READINGS if name in task.sensors)
        self._is_on_graphs = "candidate_angles" in task.sensors
        self.sensors = (
            *(view.sensor for view in views if view.sensor),
            *self._readings,
            *(SENSORS if self._is_on_graphs else ()),
        )
        self._panorama, self._left = Panorama(is_drawn), 0
        self._batch: Batch | None = None
        self._seen: Mapping[str, np.ndarray] = {}
        self._episode: Episode | None = None
        self._goals: list[tuple[GoalCaption, bytes | None]] = []
        self._last: Row | None = None
        self._count = 0
        self._shown: tuple[dict[str, Any], dict[str, bytes]] = ({}, {})

    def look(
        self, batch: Batch, observations: Mapping[str, np.ndarray], episodes: Mapping[int, Episode]
    ) -> None:
        """Keep the observations (1, ...) of any dtype for the page."""
        self._batch, self._seen = batch, observations
        episode = next(iter(episodes.values()))
        if episode is not self._episode:
            if self._last is not None:
                self._await_next()
            self._episode, self._left = episode, 0
            self._goals = [
                (goal, None if image is None else encode_view(image))
                for goal, image in zip(*take_goals(self._benchmark, episode))
            ]

    def resume(self, done: int) -> None:
        """Set the number of episodes finished before."""
        self._count = done

    def note(self, row: Row) -> None:
        """An episode has ended."""
        self._last = row
        self._count += 1

    def choose(self) -> int | tuple[float, ...]:
        """The person's next action, when it comes; 0 while an oracle leads the body."""
        if isinstance(self._batch, NavigationBatch | GraphBatch) and self._batch.led[0]:
            self._show("led")
            self._take(LED_SECONDS)
            return 0
        track = self._track()
        self._show("play", track)
        while True:
            message = self._take(WAIT_SECONDS)
            if isinstance(message, Act) and message.step == len(track.actions):
                chosen = self._read(message)
                if chosen is not None:
                    return chosen
            elif isinstance(message, Show | Look):
                self._show("play", track)

    def finish(self, summary: Mapping[str, Any]) -> None:
        """Show the score of the last episode, and the summary of all."""
        state, images = self._shown
        ended = {"phase": "finished", **self._score(), "summary": dict(summary)}
        self._hub.show({**state, **self._about, **ended}, images)

    def _track(self) -> Trajectory:
        if self._batch is None:
            raise RuntimeError("a person was asked before it saw anything")
        return self._batch.trajectory(0)

    def _read(self, message: Act) -> int | tuple[float, ...] | None:
        """The action of a message; None for one that the protocol does not have."""
        actions = self._benchmark.actions
        if self._benchmark.is_continuous:
            return message.command if len(message.command) == len(actions) else None
        return message.action if 0 <= message.action < len(actions) else None

    def _take(self, seconds: float) -> Message | None:
        """The next message, with its changes to the display applied."""
        message = self._hub.take(seconds)
        if isinstance(message, Look) and self._is_on_graphs:
            self._left = (self._left + message.left) % 12
        view = next(
            (one for one in self._views if isinstance(message, Show) and one.name == message.name), None
        )
        if view is not None and isinstance(message, Show):
            self._on = self._on | {view.name} if message.on else self._on - {view.name}
            if message.on and view.is_privileged and view.help not in self.help:
                self.help = (*self.help, view.help)
        return message

    def _await_next(self) -> None:
        """Show the score of the last episode until the person goes on."""
        state, images = self._shown
        self._hub.show({**state, "phase": "score", **self._score()}, images)
        while not isinstance(self._hub.take(WAIT_SECONDS), Go):
            continue

    def _score(self) -> dict[str, Any]:
        """Score of the last episode and its number of steps, the one that ended it too, for a page."""
        row = self._last
        if row is None:
            return {"score": None}
        metrics = []
        for name in self._benchmark.metrics:
            metric = get_metric(name)
            value = row.metrics.get(name)
            text = format_single(metric, math.inf if value is None else value)
            metrics.append({"title": metric.title, "value": text})
        verdict = status_of(row, self._benchmark.metrics).replace("_", " ")
        score = {"verdict": verdict, "steps": row.steps, "metrics": metrics}
        return {"score": score, "step": row.steps}

    def _show(self, phase: str, track: Trajectory | None = None) -> None:
        track = self._track() if track is None else track
        images = self._draw()
        state = {
            **self._about,
            "phase": phase,
            "actions": list(self._benchmark.actions),
            "declaration": self._task.declaration,
            "is_continuous": self._benchmark.is_continuous,
            "is_on_graphs": self._is_on_graphs,
            "step": len(track.actions),
            "max_steps": self._task.max_steps,
            "collisions": int(np.asarray(track.collided).sum()),
            "hit": bool(len(track.collided) and track.collided[-1]),
            "number": self._count + 1,
            "count": len(self._benchmark.episodes),
            "views": [self._describe(view) for view in self._views],
            "help": list(self.help),
            "readings": self._read_out(),
            "goal": LED_GOAL if phase == "led" else self._describe_goal(track, images),
            "map": "" if phase == "led" else self._draw_map(track),
            "neighbours": list_neighbours(self._seen, self._left) if self._is_on_graphs else [],
        }
        self._shown = state, images
        self._hub.show(state, images)

    def _describe(self, view: ViewKind) -> dict[str, Any]:
        return {"name": view.name, "on": view.name in self._on, "privileged": view.is_privileged}

    def _draw(self) -> dict[str, bytes]:
        """JPEG files of the selected views."""
        batch, images = self._batch, {}
        if isinstance(batch, GraphBatch):
            return self._panorama.draw(batch, self._left)
        for view in self._views:
            if view.name in self._on and view.sensor and isinstance(batch, NavigationBatch):
                farthest = float(np.max(batch.specs[view.sensor].high))
                painted = paint_image(self._seen[view.sensor][0], farthest)
                if painted is not None:
                    images[view.name] = encode_view(painted)
        return images

    def _read_out(self) -> dict[str, list[float]]:
        """Name -> numbers of small observations."""
        return {
            name: [round(float(one), 3) for one in np.ravel(self._seen[name][0])] for name in self._readings
        }

    def _describe_goal(self, track: Trajectory, images: dict[str, bytes]) -> dict[str, str]:
        """The current goal as the task gives it; its image goes into `images`."""
        goal, image = self._goals[current_goal(track, len(track.actions), len(self._goals))]
        if image is not None:
            images["goal"] = image
        return {"text": goal.text if image is None else UNKNOWN_KIND, "place": goal.place}

    def _draw_map(self, track: Trajectory) -> str:
        """SVG; empty while the map is off."""
        if MAP not in self._on or self._episode is None:
            return ""
        return str(draw_episode(self._plans(self._episode.scene_id), self._episode, track, shows_body=True))
