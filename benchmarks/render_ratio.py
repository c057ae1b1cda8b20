"""How many times faster the renderer is than ray casting with embreex, in the same run.

    python benchmarks/render_ratio.py [--quick]

Both draw RGB + depth + instance of the same views on one core; rounds alternate between them,
so that a busy or throttled machine slows both. Times are CPU time of the thread.
"""

import argparse
import time
from collections.abc import Callable

import numpy as np

from navarena.cli.benchmarks.render_scenes import furnished_house, sample_views, scan_like
from navarena.core.errors import require_extra
from navarena.scenes.scene import Scene
from navarena.simulation.body import Camera
from navarena.simulation.rendering import Frames, Views, VisibilityRenderer, build_render_mesh
from navarena.simulation.rendering.reference import pixel_rays

OUTPUTS = ("rgb", "depth", "instance")


class RayCaster:
    """Flat colour, depth and instance of a scene by one embreex ray per pixel."""

    def __init__(self, scene: Scene, camera: Camera) -> None:
        self._embree = require_extra("embreex.rtcore_scene", "test").EmbreeScene()
        corners = np.ascontiguousarray(scene.vertices[scene.triangles], np.float32)
        require_extra("embreex.mesh_construction", "test").TriangleMesh(self._embree, corners)
        self._rays = pixel_rays(camera, np.eye(3)).astype(np.float32)
        self._color = np.array([m.color for m in scene.materials], np.uint8)[scene.triangle_material]
        self._instance = scene.triangle_object

    def draw(self, position: np.ndarray, rotation: np.ndarray) -> tuple[np.ndarray, ...]:
        """(H W, 3) uint8, (H W,) float32 metres, (H W,) int32."""
        rays = self._rays @ rotation.T.astype(np.float32)
        origins = np.broadcast_to(position.astype(np.float32), rays.shape).copy()
        found = self._embree.run(origins, rays, output=1)
        hit, triangle = found["primID"] >= 0, found["primID"]
        color = np.where(hit[:, None], self._color[triangle], 0)
        return color, np.where(hit, found["tfar"], 0), np.where(hit, self._instance[triangle], 0)


def seconds_of(work: Callable[[], object]) -> float:
    begin = time.thread_time()
    work()
    return time.thread_time() - begin


def compare(
    scene: Scene, views: Views, shadings: tuple[str, ...], rounds: int
) -> dict[str, tuple[float, float]]:
    """shading -> (frames per second, times faster than embreex), medians over rounds."""
    caster = RayCaster(scene, views.camera)
    renderer = VisibilityRenderer([build_render_mesh(scene)], threads=1)
    frames = Frames.allocate(len(views), views.camera, OUTPUTS)
    cast = range(0, len(views), max(1, len(views) // 20))
    times: dict[str, list[float]] = {name: [] for name in ("embreex", *shadings)}
    for _ in range(rounds + 1):
        times["embreex"].append(
            seconds_of(lambda: [caster.draw(views.position[k], views.rotation[k]) for k in cast]) / len(cast)
        )
        for name in shadings:
            seconds = seconds_of(lambda name=name: renderer.render(views, frames, shading=name))
            times[name].append(seconds / len(views))
    median = {name: float(np.median(values[1:])) for name, values in times.items()}
    return {name: (1 / value, median["embreex"] / value) for name, value in median.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer rounds and views")
    quick = parser.parse_args().quick
    rounds, count = (2, 60) if quick else (7, 200)
    house = furnished_house()
    views = sample_views(house, Camera(), count)
    required = {"flat": 42, "vertex": 31, "textured": 26}
    print(f"house, {len(house.triangles):,} triangles, {len(house.rooms)} rooms")
    report(compare(house, views, ("flat", "vertex", "textured"), rounds), required)
    scan = scan_like(house)
    print(f"scan, {len(scan.triangles):,} triangles")
    report(compare(scan, views, ("flat", "textured"), rounds), {"textured": 9})


def report(figures: dict[str, tuple[float, float]], required: dict[str, float]) -> None:
    for name, (rate, ratio) in figures.items():
        mark = f"required {required[name]:g}" if name in required else ""
        print(f"  {name:10s} {rate:9,.1f} frames/s {ratio:7.1f} x embreex  {mark}")


if __name__ == "__main__":
    main()
