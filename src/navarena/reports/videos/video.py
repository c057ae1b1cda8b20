"""Videos of episodes, drawn by executing their actions again."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from jaxtyping import UInt8

from navarena.core.errors import InputError
from navarena.corruptions.catalog import join_corruptions
from navarena.episodes.episode import Episode
from navarena.episodes.goal_corruptions import GoalCorruptions
from navarena.evaluation.benchmark import Batch, BatchAgent, Benchmark, TaskSetup
from navarena.evaluation.records.journal import Row
from navarena.evaluation.running.replay import execute_actions
from navarena.metrics.trajectory import Trajectory
from navarena.reports.gallery import status_of
from navarena.reports.plan_view import ScenePlan, view_walk
from navarena.reports.videos.frame import (
    GoalCaption,
    Layout,
    Moment,
    compose,
    current_goal,
    lay_out,
    paint_classes,
    paint_depth,
    show_goals,
)
from navarena.reports.videos.map_panel import MapPanel
from navarena.reports.videos.video_file import encode_jpeg, open_video
from navarena.simulation.body import Camera, Embodiment
from navarena.simulation.corruption.images import CHANNEL_KINDS
from navarena.simulation.world import open_world
from navarena.tasks.batch import NavigationBatch
from navarena.tasks.catalog import get_body_task, get_task
from navarena.tasks.graphs.task import GraphTask
from navarena.tasks.sensors.lifelong_goal import render_goal_image

CAMERA = "video"
"""Name of the camera that is added to the body; its sensors are video_rgb, video_depth, video_semantic."""

CHANNELS = ("rgb", "depth", "semantic")

GRAPH_ASPECT = 4 / 3
"""Width by height of the cells of frames on navigation graphs, where there is no camera."""

HOLD_SECONDS = 1.5
"""Duration of the last frame."""

POSTER_SHARE = 0.6
"""The poster is the frame after this share of the actions."""


@dataclass(frozen=True)
class VideoSettings:
    """Settings of videos.

    Attributes:
        height_px: height of each camera image in a frame, pixels.
        frames_per_second: one frame is one action.
    """

    height_px: int = 240
    frames_per_second: int = 10

    def __post_init__(self) -> None:
        if not 64 <= self.height_px <= 2160 or not 1 <= self.frames_per_second <= 60:
            raise InputError(
                "expected images of 64 to 2160 pixels and 1 to 60 a second, got "
                f"{self.height_px} pixels and {self.frames_per_second}"
            )


@dataclass(frozen=True)
class Video:
    """A finished video.

    Attributes:
        path: of the MP4 file.
        seconds: that it plays.
        poster: a JPEG of one of its images.
    """

    path: Path
    seconds: float
    poster: bytes


@dataclass(frozen=True)
class VideoSetup:
    """The setup of a protocol whose body has an additional camera, which only the video uses.

    Attributes:
        setup: of the protocol.
        height_px: of the camera's images.
    """

    setup: TaskSetup
    height_px: int

    def make_batch(self, slots: int, sensors: tuple[str, ...], threads: int | None) -> Batch:
        """A batch of the protocol's task."""
        task = get_body_task(self.setup.protocol)
        task.embodiment = add_camera(task.embodiment, self.height_px)
        return NavigationBatch(task, slots, threads, sensors, corruptions=self.setup.corruptions)

    def make_agent(self) -> BatchAgent:
        """The agent of the run."""
        return self.setup.make_agent()


def video_camera(body: Embodiment, height_px: int) -> Camera:
    """The camera of a video: the first colour camera of `body`, with images of another size.

    Raises InputError for a body without one.
    """
    for camera in body.cameras:
        if "rgb" in camera.channels:
            width = max(1, round(height_px * camera.width_px / camera.height_px))
            return replace(camera, name=CAMERA, width_px=width, height_px=height_px, channels=CHANNELS)
    raise InputError(f"expected a body with a camera that takes colours, got {body.name!r} without")


def add_camera(body: Embodiment, height_px: int) -> Embodiment:
    """`body` with the camera of a video added to its own cameras."""
    return replace(body, cameras=(*body.cameras, video_camera(body, height_px)))


def find_sensors(setup: TaskSetup) -> dict[str, str]:
    """Each of CHANNELS -> the sensor that a video shows: the agent's own if a corruption changes its images.

    Images of the agent's own sensors keep their size and bytes; others have the size of the video.
    """
    task = get_body_task(setup.protocol)
    found = join_corruptions(task.corruptions, setup.corruptions).values()
    sensors = {channel: f"{CAMERA}_{channel}" for channel in CHANNELS}
    for channel, kind in CHANNEL_KINDS.items():
        camera = next((one for one in task.embodiment.cameras if channel in one.channels), None)
        if camera is not None and any(isinstance(one, kind) for one in found):
            sensors[channel] = f"{camera.name}_{channel}" if camera.name else channel
    return sensors


def take_goals(
    benchmark: Benchmark, episode: Episode
) -> tuple[tuple[GoalCaption, ...], list[UInt8[np.ndarray, "_ _ 3"] | None]]:
    """The goals as agents observe them, and for each its goal image (H, W, 3) uint8, if it has one."""
    setup = _require_task(benchmark)
    if _is_on_graphs(setup):
        goals = show_goals(episode)
        return goals, [None] * len(goals)
    task = get_body_task(setup.protocol)
    corruptions = GoalCorruptions(join_corruptions(task.corruptions, setup.corruptions))
    world = open_world(episode.scene_id, task.embodiment)
    goals = show_goals(corruptions.corrupt_goals(episode, world))
    images = [
        None
        if one.image is None
        else corruptions.corrupt_image(episode, number, render_goal_image(world, one.image))
        for number, one in enumerate(goals)
    ]
    return goals, images


class _Recording:
    """Draws the frames of one episode, one after each pose."""

    def __init__(
        self,
        benchmark: Benchmark,
        plan: ScenePlan,
        row: Row,
        episode: Episode,
        trajectory: Trajectory,
        layout: Layout,
    ) -> None:
        self._benchmark, self._row, self._track, self._layout = benchmark, row, trajectory, layout
        self._goals, self._goal_images = take_goals(benchmark, episode)
        seen = view_walk(plan, episode, np.asarray(trajectory.positions, float))
        self._map = MapPanel(seen, trajectory, *layout.map_size)
        self._headline = (f"{row.scene_id}", f"episode {row.episode_id}")
        self.pose = 0

    def draw(self, images: Mapping[str, UInt8[np.ndarray, "_ _ 3"]]) -> UInt8[np.ndarray, "h w 3"]:
        """The frame of the next pose, with the `images` that were taken there."""
        pose = self.pose
        self.pose += 1
        number = current_goal(self._track, pose, len(self._goals))
        return compose(
            self._layout,
            images,
            self._map.draw(pose),
            self._moment(pose, number),
            self._goal_images[number],
        )

    def _moment(self, pose: int, number: int) -> Moment:
        row, steps = self._row, len(self._track.actions)
        action = ""
        if pose and not self._benchmark.is_continuous:
            action = self._benchmark.actions[int(self._track.actions[pose - 1])]
        verdict = ""
        if pose == steps:
            verdict = status_of(row, self._benchmark.metrics).replace("_", " ")
        distance = float(self._track.distance_to_goal[pose])
        return Moment(self._headline, self._goals[number], pose, steps, action, distance, verdict)


def take_images(batch: NavigationBatch, seen_by: Mapping[str, str]) -> dict[str, UInt8[np.ndarray, "_ _ 3"]]:
    """Caption -> (H, W, 3) uint8 colours of the first slot's observations.

    seen_by: channel -> sensor, as find_sensors returns.
    """
    seen = batch.observations
    farthest = float(np.max(batch.specs[seen_by["depth"]].high))
    raw = seen[seen_by["depth"]][0]
    depth = np.asarray(raw.reshape(raw.shape[:2]), np.float64)
    if not np.isfinite(farthest):
        farthest = max(float(depth.max()), 1.0)
    images = {"RGB": np.asarray(seen[seen_by["rgb"]][0]), "depth": paint_depth(depth, farthest)}
    if (classes := seen.get(seen_by["semantic"])) is not None:
        images["semantic"] = paint_classes(classes[0].reshape(classes.shape[1:3]))
    return images


def make_video(
    path: Path,
    benchmark: Benchmark,
    plan: ScenePlan,
    row: Row,
    episode: Episode,
    settings: VideoSettings,
    on_frame: Callable[[], object] = lambda: None,
) -> Video:
    """Write the MP4 of one episode to `path` in one step.

    The camera is at the pose of the body's first colour camera. Images and goals that corruptions change are
    shown as the agent observed them, with the random draws of its run. On navigation graphs there are no
    images: the map and the instruction are shown.

    Args:
        path: ends in .mp4.
        benchmark: of a registered protocol (InputError for others).
        plan: of the scene.
        row: whose actions are executed.
        episode: of the row.
        settings: how it looks.
        on_frame: called after each image; there is one more than actions.

    Raises MissingExtraError without PyAV, StorageError, and what execute_actions raises.
    """
    setup = _require_task(benchmark)
    ((_, _, outcome),) = execute_actions(benchmark, [(row, episode)])
    channels = () if _is_on_graphs(setup) else _visible_channels(episode, setup)
    aspect = GRAPH_ASPECT
    if channels:
        camera = video_camera(get_body_task(setup.protocol).embodiment, settings.height_px)
        aspect = camera.width_px / camera.height_px
    layout = lay_out(settings.height_px, aspect, len(channels))
    recording = _Recording(benchmark, plan, row, episode, outcome.trajectory, layout)
    poster_at = round(POSTER_SHARE * len(row.actions))
    last = poster = np.zeros((2, 2, 3), np.uint8)
    with open_video(path, *layout.size, settings.frames_per_second) as video:

        def add(images: Mapping[str, UInt8[np.ndarray, "_ _ 3"]]) -> None:
            nonlocal last, poster
            last = recording.draw(images)
            if video.frames == poster_at:
                poster = last
            video.write(last)
            on_frame()

        if channels:
            seen_by = find_sensors(setup)

            def watch(batch: object, rows: Mapping[int, Row]) -> None:
                assert isinstance(batch, NavigationBatch)  # VideoSetup makes no other
                add(take_images(batch, seen_by))

            sensors = tuple(seen_by[channel] for channel in channels)
            recorded = replace(benchmark, setup=VideoSetup(setup, settings.height_px))
            for _ in execute_actions(recorded, [(row, episode)], sensors, watch):
                pass
        else:
            for _ in range(len(row.actions) + 1):
                add({})
        for _ in range(round(HOLD_SECONDS * settings.frames_per_second)):
            video.write(last)
        seconds = video.frames / settings.frames_per_second
    return Video(path, seconds, encode_jpeg(poster))


def _is_on_graphs(setup: TaskSetup) -> bool:
    return isinstance(get_task(setup.protocol), GraphTask)


def _visible_channels(episode: Episode, setup: TaskSetup) -> tuple[str, ...]:
    """CHANNELS, without semantic labels if the scene has none."""
    labelled = open_world(episode.scene_id, get_body_task(setup.protocol).embodiment).scene.has_semantics
    return CHANNELS if labelled else CHANNELS[:2]


def _require_task(benchmark: Benchmark) -> TaskSetup:
    if not isinstance(benchmark.setup, TaskSetup):
        raise InputError(
            f"expected a run of a registered protocol for a video, got {benchmark.identity}; "
            "leave the videos out"
        )
    return benchmark.setup
