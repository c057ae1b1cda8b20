"""Runs as recordings for the rerun viewer: poses, images, depth, maps, trajectories and scenes.

    world/scenes/SCENE                  the mesh, without its ceilings (static)
    world/episodes/EPISODE/body         pose of the body, at each step
    world/episodes/EPISODE/rgb_camera   pose of the camera, and its image below it; so, too, depth_camera
    world/episodes/EPISODE/walked       the whole path (static)
    world/episodes/EPISODE/goals        goals, and the shortest path along them (static)
    maps/EPISODE                        what was seen around the body
    distance/EPISODE                    metres to the goal, geodesic

The time line "step" counts the actions of each episode.
"""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
from jaxtyping import Float, UInt8

from navarena.core.errors import InputError, require_extra, unknown_name
from navarena.core.files import atomic_path
from navarena.core.geometry import intrinsic_matrix, rotation_from_yaw_pitch
from navarena.episodes.episode import Episode
from navarena.evaluation.benchmark import Batch
from navarena.evaluation.records.journal import Row, read_rows
from navarena.evaluation.records.record import read_record
from navarena.evaluation.running.replay import Outcome, execute_actions, open_recorded_benchmark
from navarena.evaluation.running.rows import pair_rows
from navarena.mapping.map_images import draw_map
from navarena.reports.plan_view import find_goals, find_shortest
from navarena.reports.preview.surfaces import open_storey
from navarena.reports.topdown import PlanSource, open_plans
from navarena.scenes.scene import Scene
from navarena.tasks.batch import NavigationBatch

EXTRA = "viewer"

STEP = "step"
"""The time line."""

JPEG_QUALITY = 90
"""Of colour images."""

BODY_RADIUS = 0.08
"""Metres, of the point that shows a body."""


def write_rerun(
    folder: Path,
    path: Path,
    episodes: Sequence[str] = (),
    on_episode: Callable[[], object] = lambda: None,
) -> int:
    """Execute the actions of a finished run again, and write what happened to the recording `path`.

    Args:
        folder: of the run.
        path: such as "run.rrd"; replaced in one step.
        episodes: ids of those that are recorded; empty for all.
        on_episode: called after each.

    Returns:
        Number of recorded episodes.

    Raises MissingExtraError without rerun, InputError for another ending, UnknownNameError for an episode
    that the run has not, FileError for damaged files, CheckFailedError when the benchmark has changed since.
    """
    rerun = require_recording(path)
    record = read_record(folder)
    rows = {row.episode_id: row for row in read_rows(folder)}
    for name in episodes:
        if name not in rows:
            raise unknown_name("episode of the run", name, rows)
    benchmark = open_recorded_benchmark(record)
    pairs = pair_rows(benchmark, [row for name, row in rows.items() if not episodes or name in episodes])
    with atomic_path(path) as temporary:
        recorder = _Recorder(rerun, record.identity, temporary, open_plans(benchmark))
        sensors = _find_sensors(benchmark.setup.make_batch(1, (), 1))
        try:
            for row, episode, outcome in execute_actions(benchmark, pairs, sensors, recorder.look):
                recorder.finish(row, episode, outcome)
                on_episode()
        finally:
            recorder.close()
    return len(pairs)


def require_recording(path: Path) -> ModuleType:
    """The library that writes recordings; raises MissingExtraError, and InputError for another ending."""
    if path.suffix != ".rrd":
        raise InputError(f"expected a recording's name to end in .rrd, got {path}")
    return require_extra("rerun", EXTRA)


def _find_sensors(batch: Batch) -> tuple[str, ...]:
    """Sensors of a recording in scenes: colours, depth, and the map if there is depth."""
    if not isinstance(batch, NavigationBatch):
        return ()
    offered = batch.task.sensors
    return tuple(one for one in ("rgb", "depth") if one in offered) + (
        ("occupancy_map",) if "depth" in offered else ()
    )


class _Recorder:
    """Writes one recording.

    Args:
        rerun: the library.
        identity: of the run.
        path: of the file.
        plans: of the scenes, for shortest paths.
    """

    def __init__(self, rerun: Any, identity: str, path: Path, plans: PlanSource) -> None:
        self._rerun, self._plans = rerun, plans
        self._stream = rerun.RecordingStream("navarena", recording_id=identity)
        # equal runs give equal recordings: no time of the clock in them
        rerun.set_log_time_enabled(False, recording=self._stream)
        rerun.set_log_tick_enabled(False, recording=self._stream)
        self._stream.save(str(path))
        self._stream.log("world", rerun.ViewCoordinates.RIGHT_HAND_Y_UP, static=True)
        self._scenes: set[str] = set()
        self._steps: dict[str, int] = {}

    def look(self, batch: Batch, rows: Mapping[int, Row]) -> None:
        """Record the current observations of the slots in `rows`."""
        if not isinstance(batch, NavigationBatch):
            return
        for slot, row in rows.items():
            step = self._steps.get(row.episode_id, -1) + 1
            self._steps[row.episode_id] = step
            self._stream.set_time(STEP, sequence=step)
            self._record_scene(batch, slot)
            if batch.sensors:
                self._record_images(batch, slot, row.episode_id)

    def _record_images(self, batch: NavigationBatch, slot: int, name: str) -> None:
        rerun, simulator = self._rerun, batch.simulator
        seen = batch.observations  # takes the images
        for channel in ("rgb", "depth"):
            if channel not in batch.sensors:
                continue
            camera, images = simulator.observer.image(channel)
            pose = simulator.observer.world_from_camera(camera)[slot]
            place = self._place("world/episodes", name, f"{channel}_camera")
            self._stream.log(place, rerun.Transform3D(translation=pose[:3, 3], mat3x3=pose[:3, :3]))
            self._stream.log(
                place,
                rerun.Pinhole(
                    image_from_camera=intrinsic_matrix(camera.width_px, camera.height_px, camera.hfov),
                    width=camera.width_px,
                    height=camera.height_px,
                    camera_xyz=rerun.ViewCoordinates.RUB,
                ),
            )
            image = images[slot]
            shown = (
                rerun.Image(image).compress(jpeg_quality=JPEG_QUALITY)
                if channel == "rgb"
                else rerun.DepthImage(image, meter=1.0)
            )
            self._stream.log(f"{place}/{channel}", shown)
        if "occupancy_map" in batch.sensors:
            drawn = draw_map(seen["occupancy_map"][slot])
            self._stream.log(self._place("maps", name), rerun.Image(drawn))

    def _record_scene(self, batch: NavigationBatch, slot: int) -> None:
        world = batch.simulator.slot_worlds.world(slot)
        if world is None or world.scene_id in self._scenes:
            return
        self._scenes.add(world.scene_id)
        vertices, colors = color_triangles(world.scene)
        mesh = self._rerun.Mesh3D(
            vertex_positions=vertices,
            triangle_indices=np.arange(len(vertices), dtype=np.uint32).reshape(-1, 3),
            vertex_colors=colors,
        )
        self._stream.log(self._place("world/scenes", world.scene_id), mesh, static=True)

    def finish(self, row: Row, episode: Episode, outcome: Outcome) -> None:
        """Record the poses and the path of an episode, its goals, and the distances to them."""
        rerun, track, name = self._rerun, outcome.trajectory, row.episode_id
        positions = np.asarray(track.positions, float)
        for step, (position, yaw) in enumerate(zip(positions, track.yaws)):
            self._stream.set_time(STEP, sequence=step)
            place = self._place("world/episodes", name, "body")
            turned = rotation_from_yaw_pitch(float(yaw), 0.0)
            self._stream.log(place, rerun.Transform3D(translation=position, mat3x3=turned))
            self._stream.log(place, rerun.Points3D([[0.0, 0.0, 0.0]], radii=BODY_RADIUS))
            distance = float(track.distance_to_goal[step])
            if np.isfinite(distance):
                self._stream.log(self._place("distance", name), rerun.Scalars(distance))
        walked = rerun.LineStrips3D([positions])
        self._stream.log(self._place("world/episodes", name, "walked"), walked, static=True)
        goals = find_goals(episode)
        shortest = find_shortest(self._plans(episode.scene_id), np.concatenate([positions[:1], goals]))
        place = self._place("world/episodes", name, "goals")
        radius = max(track.success_distance, BODY_RADIUS)
        self._stream.log(place, rerun.Points3D(goals, radii=radius), static=True)
        if len(shortest) > 1:
            self._stream.log(f"{place}/shortest", rerun.LineStrips3D([shortest]), static=True)

    def close(self) -> None:
        """Write pending data and close."""
        self._stream.flush()
        self._stream.disconnect()

    def _place(self, root: str, *parts: str) -> str:
        """The path of an entity; names may hold any letters."""
        return "/".join([root, *(self._rerun.escape_entity_path_part(part) for part in parts)])


def color_triangles(scene: Scene) -> tuple[Float[np.ndarray, "v 3"], UInt8[np.ndarray, "v 3"]]:
    """(positions (V, 3) metres, colours (V, 3) uint8 sRGB) of the corners of a scene's triangles, V = 3 T.

    Ceilings are left out, and textures count with their mean colour.
    """
    opened = open_storey(scene, None)
    means = np.array([np.reshape(one, (-1, 3)).mean(0) / 255 for one in opened.textures] or [(1.0, 1.0, 1.0)])
    plain = np.array([one.color for one in opened.materials], float)
    for number, one in enumerate(opened.materials):
        if one.texture is not None:
            plain[number] *= means[one.texture]
    corners = opened.triangles.reshape(-1)
    colors = np.repeat(plain[opened.triangle_material], 3, 0)
    if opened.vertex_color is not None:
        colors = colors * opened.vertex_color[corners] / 255
    if opened.vertex_light is not None:
        colors = colors * opened.vertex_light[corners, None]
    return opened.vertices[corners].astype(float), np.clip(np.round(colors), 0, 255).astype(np.uint8)
