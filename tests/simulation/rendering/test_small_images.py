"""Small images are drawn exactly: nothing is left out because it is smaller than a pixel.

500 views of 50 houses and two scans, 64 x 64 pixels, against ray casting. The slow test draws 20 of them, by
turns: NAVARENA_TEST_SHARE, a whole number, says which; CI counts commits, so that in a row of commits all are
drawn. `PYTHONPATH=../src:. python -m simulation.rendering.test_small_images` in `tests` draws all.
"""

import os
from dataclasses import dataclass, replace
from functools import cache

import numpy as np
import pytest

from navarena.cli.benchmarks.render_scenes import sample_views, scan_like
from navarena.core.geometry import focal_length, rotation_from_yaw_pitch
from navarena.scenes.catalog import load_scene
from navarena.scenes.scene import Scene
from navarena.simulation.body import Camera
from navarena.simulation.rendering import Frames, ReferenceRenderer, Views

from .images import draw

CAMERA = Camera(width_px=64, height_px=64)
HOUSES, VIEWS_OF_A_HOUSE = 50, 9
SCANS, VIEWS_OF_A_SCAN, SCAN_TRIANGLES = 2, 25, 150_000
TURNS = 25
TURN = int(os.environ.get("NAVARENA_TEST_SHARE", "0")) % TURNS
ASIDE_PX = 0.05
"""A pixel is clear if this far to its left, its right, above and below the same object is seen as near."""


@dataclass(frozen=True)
class Shares:
    """Of N views: the share of clear pixels; among them that of equal depths, ids and colours."""

    views: int
    clear: float
    depth: float
    instance: float
    semantic: float
    rgb: float


@cache
def scan(index: int) -> Scene:
    """A house cut into triangles most of which are smaller than a pixel of these images."""
    return scan_like(load_scene(f"houses-v1/val/{index:05d}"), SCAN_TRIANGLES)


def views_of_turn(turn: int) -> list[tuple[Scene, Views]]:
    """All views of two houses and two of a scan: 20; the turns share no view."""
    houses = [load_scene(f"houses-v1/val/{index:05d}") for index in (2 * turn, 2 * turn + 1)]
    chosen = [(house, sample_views(house, CAMERA, VIEWS_OF_A_HOUSE)) for house in houses]
    index, first = turn % SCANS, turn // SCANS * 2
    rows = slice(first, first + 2)
    views = sample_views(load_scene(f"houses-v1/val/{index:05d}"), CAMERA, VIEWS_OF_A_SCAN + 1)
    part = Views(CAMERA, views.scene_index[rows], views.position[rows], views.rotation[rows])
    return [*chosen, (scan(index), part)]


def cast(scene: Scene, views: Views) -> Frames:
    frames = Frames.allocate(len(views), views.camera)
    ReferenceRenderer([scene]).render(views, frames)
    return frames


def clear_pixels(scene: Scene, views: Views, seen: Frames) -> np.ndarray:
    """(N, H, W) where rays beside that of the pixel see what its own does, within 1 cm + 1 % of its depth."""
    clear = np.ones(seen.depth.shape, bool)
    angle = ASIDE_PX / focal_length(CAMERA.width_px, CAMERA.hfov)
    for yaw, pitch in ((angle, 0), (-angle, 0), (0, angle), (0, -angle)):
        beside = cast(scene, replace(views, rotation=views.rotation @ rotation_from_yaw_pitch(yaw, pitch)))
        clear &= beside.instance == seen.instance
        clear &= np.abs(beside.depth - seen.depth) < 0.01 + 0.01 * seen.depth
    return clear


def compare(chosen: list[tuple[Scene, Views]]) -> Shares:
    """The rasteriser's images of `chosen` against those of ray casting."""
    sums = np.zeros(6)
    for scene, views in chosen:
        theirs, ours = cast(scene, views), draw(scene, views)
        clear = clear_pixels(scene, views, theirs)
        same = (
            np.abs(ours.depth - theirs.depth) < 0.01,
            ours.instance == theirs.instance,
            ours.semantic == theirs.semantic,
            np.abs(ours.rgb.astype(int) - theirs.rgb).max(-1) <= 2,
        )
        sums += [clear.size, clear.sum(), *((equal & clear).sum() for equal in same)]
    shares = (float(equal / sums[1]) for equal in sums[2:])
    return Shares(sum(len(views) for _, views in chosen), float(sums[1] / sums[0]), *shares)


def require_exact(shares: Shares) -> None:
    assert shares.clear > 0.85, shares
    assert min(shares.depth, shares.instance, shares.semantic) >= 0.999, shares
    assert shares.rgb >= 0.99, shares


@pytest.mark.slow
def test_small_images_agree_with_ray_casting() -> None:
    chosen = views_of_turn(TURN)
    shares = compare(chosen)
    assert shares.views == HOUSES * VIEWS_OF_A_HOUSE / TURNS + SCANS * VIEWS_OF_A_SCAN / TURNS == 20
    require_exact(shares)


def test_what_a_level_of_detail_would_leave_out_is_seen() -> None:
    """The comparison fails where the triangles of small details are left out."""
    scene = load_scene("houses-v1/val/00000")
    views = sample_views(scene, CAMERA, 4)
    corners = scene.vertices[scene.triangles]
    small = np.linalg.norm(np.ptp(corners, axis=1), axis=1) < 0.15
    assert 0.05 < small.mean() < 0.9
    coarse = replace(
        scene, **{
            name: getattr(scene, name)[~small]
            for name in ("triangles", "triangle_object", "triangle_material", "triangle_uv")
            if getattr(scene, name) is not None
        }
    )  # fmt: skip
    theirs, ours = cast(scene, views), draw(coarse, views)
    clear = clear_pixels(scene, views, theirs)
    assert (np.abs(ours.depth - theirs.depth) < 0.01)[clear].mean() < 0.999


if __name__ == "__main__":
    everything = [compare(views_of_turn(turn)) for turn in range(TURNS)]
    for name in ("clear", "depth", "instance", "semantic", "rgb"):
        shares = [getattr(one, name) for one in everything]
        print(f"{name}: {100 * np.mean(shares):.4f} %, least of a turn {100 * min(shares):.4f} %")
    for one in everything:
        require_exact(one)
