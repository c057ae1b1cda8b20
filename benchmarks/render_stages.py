"""Where the time of a small image goes, and what leaving more out could save at most.

    python benchmarks/render_stages.py [--quick]

Views of 16 houses, one house after another as in a batch. For each stage the least of several rounds counts,
view by view, so that other work on the machine matters little.
"""

import argparse
import time
from dataclasses import dataclass, replace

import numpy as np
import shapely
from timed_drawing import (
    ALL,
    BACK_MARK,
    CLOCK,
    COVERS_MARK,
    CULL,
    MARK,
    ROUNDS,
    SET_UP,
    SET_UP_MARK,
    SMALL_MARK,
    STAGES,
    WHOLE,
    ViewTimer,
    cycles_per_microsecond,
    read_clock,
)

from navarena.cli.benchmarks.render_scenes import EYE_HEIGHTS, _free_floor, _point_in, sample_views
from navarena.core.geometry import rotation_from_yaw_pitch
from navarena.core.seeding import make_generator
from navarena.scenes.catalog import load_scene
from navarena.scenes.scene import Scene
from navarena.simulation.body import Camera
from navarena.simulation.rendering import Frames, RenderMesh, Views, VisibilityRenderer, build_render_mesh
from navarena.simulation.rendering.memory_layout import INSTANCE

HOUSES = 16
CELL = 0.5
"""Metres, side of the squares of floor of which visible sets are sampled."""
CUBE_PX = 192


def house_batch(count: int, side: int) -> tuple[list[Scene], list[RenderMesh], Views]:
    """`count` views of each house; neighbours in the batch look at different houses."""
    camera = Camera(width_px=side, height_px=side)
    scenes = [load_scene(f"houses-v1/val/{k:05d}") for k in range(HOUSES)]
    parts = [sample_views(scene, camera, count) for scene in scenes]
    views = Views(
        camera,
        np.tile(np.arange(HOUSES, dtype=np.int32), count),
        np.stack([part.position for part in parts], 1).reshape(-1, 3),
        np.stack([part.rotation for part in parts], 1).reshape(-1, 3, 3),
    )
    return scenes, [build_render_mesh(scene, share_texels=True) for scene in scenes], views


def cluster_rooms(scene: Scene, mesh: RenderMesh) -> np.ndarray:
    """(C,) the room nearest to the middle of each cluster."""
    x, y, z = mesh.box[:3].astype(float)
    points = shapely.points(x, z)
    away = np.stack([shapely.distance(shapely.Polygon(room.polygon), points) for room in scene.rooms])
    low, high = np.array([(room.floor_height, room.ceiling_height) for room in scene.rooms]).T[:, :, None]
    away += np.where((y >= low - 0.3) & (y <= high + 0.3), 0, 10)
    return away.argmin(0)


def triangle_clusters(mesh: RenderMesh) -> np.ndarray:
    """(T,) the cluster of each triangle."""
    return np.repeat(np.arange(mesh.cluster_count), np.diff(mesh.triangle_offset))


def without(mesh: RenderMesh, gone: np.ndarray) -> RenderMesh:
    """`mesh` less the triangles `gone` (T,) bool and the vertices that only they have; clusters stay."""
    kept, owner = ~gone, triangle_clusters(mesh)
    offset = np.concatenate([[0], np.cumsum(np.bincount(owner[kept], minlength=mesh.cluster_count))])
    places = mesh.vertex_offset[owner[kept]][:, None] + mesh.corner[kept]
    used, found = np.unique(places, return_inverse=True)
    vertex_offset = np.searchsorted(used, mesh.vertex_offset).astype(np.int32)
    corner = found.reshape(-1, 3) - vertex_offset[owner[kept]][:, None]
    return replace(
        mesh, triangle_offset=offset.astype(np.int32), vertex_offset=vertex_offset,
        vertex=np.ascontiguousarray(mesh.vertex[:, used]), corner=corner.astype(np.int16),
        surface=mesh.surface[kept], detail=mesh.detail[kept],
    )  # fmt: skip


@dataclass
class Look:
    """What one view shows: marks of triangles (T,) and winners; clusters in view and set up."""

    marks: np.ndarray
    winners: np.ndarray
    found: int
    drawn: int


def look_at(timer: ViewTimer, view: int, keep: np.ndarray = ALL) -> Look:
    marks = np.zeros(timer.meshes[timer.views.scene_index[view]].triangle_count, np.uint8)
    spent = timer.draw(view, keep, MARK, marks)
    return Look(marks, timer.winners(), int(spent[CULL]), int(spent[SET_UP]))


def chosen_clusters(mesh: RenderMesh, clusters: np.ndarray) -> np.ndarray:
    """(C,) uint8, 1 for `clusters`."""
    keep = np.zeros(mesh.cluster_count, np.uint8)
    keep[clusters] = 1
    return keep


def report(side: int, outputs: tuple[str, ...], count: int, rate: float) -> None:
    """Print all figures of one size and kind of image."""
    scenes, meshes, views = house_batch(count, side)
    frames, right = (Frames.allocate(len(views), views.camera, outputs) for _ in range(2))
    renderer = VisibilityRenderer(meshes, threads=1)
    renderer.render(views, right)
    timer, everything = ViewTimer(meshes, views, frames), [ALL] * len(views)
    looks = [look_at(timer, view) for view in range(len(views))]
    require_same(frames, right)
    print(f"\n{side} x {side}, {' + '.join(outputs)}, {len(views)} views of {HOUSES} houses")
    stages = timer.cycles(everything, CLOCK).mean(0) / rate
    for name, value in zip(STAGES, stages):
        print(f"  {name:18s} {value:6.1f} us")
    whole = timer.cycles(everything)[:, WHOLE].mean() / rate
    print(f"  {'whole, one clock':18s} {whole:6.1f} us")
    print(
        f"  {'Python':18s} {call_seconds(renderer, views, frames, 16) * 1e6 / 16:6.1f} us of a batch of 16,"
    )
    print(f"  {'':18s} {call_seconds(renderer, views, frames, 1) * 1e6:6.1f} us of a single view")
    if outputs == ("depth",):
        print_counts(meshes, looks)
        smaller = [look.marks & SMALL_MARK > 0 for look in looks]
        empty = [(look.marks & (SET_UP_MARK | COVERS_MARK)) == SET_UP_MARK for look in looks]
        every = range(0, len(views), max(1, len(views) // 64))
        for name, gone in (("below half a pixel", smaller), ("that cover no pixel", empty)):
            ratio = saving_without(meshes, views, {view: gone[view] for view in every})
            print(f"  without triangles {name}: {100 * ratio:.1f} % less time")
    owners = [triangle_clusters(mesh) for mesh in meshes]
    rooms = [cluster_rooms(scene, mesh) for scene, mesh in zip(scenes, meshes)]
    seen, near = [], []
    for scene, look in zip(views.scene_index, looks):
        keep = chosen_clusters(meshes[scene], owners[scene][look.winners])
        seen.append(keep)
        near.append(np.isin(rooms[scene], rooms[scene][keep > 0]).astype(np.uint8))
    for name, keeps in (("clusters", seen), ("rooms", near)):
        less = timer.cycles(keeps)[:, WHOLE].mean() / rate
        require_same(frames, right)
        drawn = np.mean([look_at(timer, view, keep).drawn for view, keep in enumerate(keeps)])
        print(f"  only {name} that are seen: {less:.1f} us, {100 * (1 - less / whole):.1f} % less", end="; ")
        print(f"{drawn:.1f} clusters set up")
    if side == 64:
        report_sets(scenes, timer, whole * rate, frames, right)


def report_sets(scenes: list[Scene], timer: ViewTimer, whole: float, frames: Frames, right: Frames) -> None:
    """Print what sampled sets of clusters save, what they cost, and how often they miss something."""
    views = timer.views
    sets = [VisibleSets(scene, mesh) for scene, mesh in zip(scenes, timer.meshes)]
    for name, count in (("square", 16), ("square", 48), ("room", 64), ("room", 256)):
        keeps = [
            sets[scene].seen_from(name, count, point)
            for scene, point in zip(views.scene_index, views.position)
        ]
        seconds = sum(one.seconds for one in sets) / sum(len(one.made) for one in sets)
        of_house = np.mean([one.places(name) for one in sets])
        less = timer.cycles(keeps)[:, WHOLE].mean()
        wrong = (frames.depth != right.depth).reshape(len(views), -1)
        print(
            f"  seen from {count} places of a {name}: {100 * (1 - less / whole):.1f} % less; "
            f"{100 * wrong.any(1).mean():.1f} % of views wrong, at most {100 * wrong.mean(1).max():.2f} % of "
            f"their pixels; {seconds * of_house:.1f} s for a house"
        )
        for one in sets:
            one.made.clear()
            one.seconds = 0.0


class VisibleSets:
    """Clusters of a house that are seen from random places in a square of floor, or in a room."""

    def __init__(self, scene: Scene, mesh: RenderMesh) -> None:
        self.made: dict[tuple, np.ndarray] = {}
        self.seconds = 0.0
        self._scene, self._count = scene, mesh.cluster_count
        self._free = [_free_floor(scene, room.room_id) for room in scene.rooms]
        surface = mesh.surface.copy()
        surface[:, INSTANCE] = triangle_clusters(mesh) + 1
        self._renderer = VisibilityRenderer([replace(mesh, surface=surface)], threads=1)
        self._generator = make_generator("benchmark", "visible sets", scene.scene_id)

    def places(self, kind: str) -> float:
        """Squares or rooms of the house."""
        floor = sum(area.area for area in self._free) / CELL**2
        return floor if kind == "square" else len(self._free)

    def seen_from(self, kind: str, count: int, point: np.ndarray) -> np.ndarray:
        """(C,) uint8, for the square or the room of `point`."""
        rooms = self._scene.rooms
        feet = point[1] - np.mean(EYE_HEIGHTS)
        away = [
            area.distance(shapely.Point(point[0], point[2])) + 100 * (abs(room.floor_height - feet) > 1)
            for area, room in zip(self._free, rooms)
        ]
        home = int(np.argmin(away))
        key: tuple = (home,)
        area = self._free[home]
        if kind == "square":
            x, z = np.floor(point[[0, 2]] / CELL).astype(int)
            key = (rooms[home].level, x, z)
            level = shapely.union_all(
                [one for one, room in zip(self._free, rooms) if room.level == rooms[home].level]
            )
            area = shapely.box(x * CELL, z * CELL, (x + 1) * CELL, (z + 1) * CELL) & level.buffer(1e-3)
        if key not in self.made:
            places = np.array([_point_in(area, self._generator) for _ in range(count)])
            places[:, 1] = rooms[home].floor_height + self._generator.uniform(*EYE_HEIGHTS, count)
            begin = time.thread_time()
            self.made[key] = self._look_around(places)
            self.seconds += time.thread_time() - begin
        return self.made[key]

    def _look_around(self, places: np.ndarray) -> np.ndarray:
        """(C,) uint8, 1 for what the six sides of a cube at any of `places` (P, 3) show."""
        camera = Camera(width_px=CUBE_PX, height_px=CUBE_PX, hfov=np.pi / 2)
        turns = [(yaw, 0) for yaw in np.arange(4) * np.pi / 2] + [(0, np.pi / 2), (0, -np.pi / 2)]
        sides = np.array([rotation_from_yaw_pitch(*turn) for turn in turns])
        frames = Frames.allocate(len(sides), camera, ("instance",))
        keep = np.zeros(self._count, np.uint8)
        for place in places:
            views = Views(camera, np.zeros(6, np.int32), np.tile(place, (6, 1)), sides)
            self._renderer.render(views, frames, shading="flat")
            seen = np.bincount(frames.instance.ravel(), minlength=self._count + 1)[1:] > 0
            keep[seen] = 1
        return keep


def print_counts(meshes: list[RenderMesh], looks: list[Look]) -> None:
    """Print how many clusters and triangles pass each stage, means over views."""
    marks = [look.marks for look in looks]
    rows = {
        "clusters of a house": [mesh.cluster_count for mesh in meshes],
        "clusters in view": [look.found for look in looks],
        "clusters set up": [look.drawn for look in looks],
        "triangles of a house": [mesh.triangle_count for mesh in meshes],
        "triangles set up": [(m & SET_UP_MARK > 0).sum() for m in marks],
        "- from behind": [(m & BACK_MARK > 0).sum() for m in marks],
        "- below half a pixel": [(m & SMALL_MARK > 0).sum() for m in marks],
        "- of these cover one": [((m & SMALL_MARK > 0) & (m & COVERS_MARK > 0)).sum() for m in marks],
        "- cover a pixel": [(m & COVERS_MARK > 0).sum() for m in marks],
        "- nearest at a pixel": [len(look.winners) for look in looks],
    }
    for name, values in rows.items():
        print(f"  {name:22s} {np.mean(values):9.1f}")


def saving_without(meshes: list[RenderMesh], views: Views, gone: dict[int, np.ndarray]) -> float:
    """Share of time that views of depth save where the triangles gone[view] (T,) are not in the mesh."""
    times = np.zeros((len(gone), 2))
    for row, (view, triangles) in enumerate(gone.items()):
        mesh = meshes[views.scene_index[view]]
        one = Views(views.camera, np.zeros(1, np.int32), views.position[[view]], views.rotation[[view]])
        frames = Frames.allocate(1, views.camera, ("depth",))
        timers = [ViewTimer([part], one, frames) for part in (mesh, without(mesh, triangles))]
        # by turns, so that both are as warm
        drawn = [[timer.draw(0, ALL)[WHOLE] for timer in timers] for _ in range(2 * ROUNDS)]
        times[row] = np.min(drawn[1:], 0)
    before, after = times.sum(0)
    return float(1 - after / before)


def call_seconds(renderer: VisibilityRenderer, views: Views, frames: Frames, count: int) -> float:
    """Least seconds of a call for `count` views that look at no scene."""
    nothing = Views(
        views.camera, np.full(count, -1, np.int32), views.position[:count], views.rotation[:count]
    )
    into = Frames(*(None if array is None else array[:count] for array in frames.arrays()))
    seconds = []
    for _ in range(200):
        begin = time.perf_counter()
        renderer.render(nothing, into)
        seconds.append(time.perf_counter() - begin)
    return min(seconds)


def require_same(frames: Frames, right: Frames) -> None:
    for ours, theirs in zip(frames.arrays(), right.arrays()):
        assert ours is None or np.array_equal(ours, theirs), "the images are not those of the renderer"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer views")
    count = 4 if parser.parse_args().quick else 16
    rate = cycles_per_microsecond()
    print(f"reading the clock takes {read_clock(100_000)[1] / rate:.3f} us")
    for side in (64, 128):
        for outputs in (("depth",), ("rgb", "depth")):
            report(side, outputs, count, rate)


if __name__ == "__main__":
    main()
