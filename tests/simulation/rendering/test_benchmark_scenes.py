import numpy as np
import pytest

from navarena.cli.benchmarks.render_scenes import sample_views, scan_like
from navarena.scenes.houses import build_house
from navarena.scenes.houses.settings import HouseSettings
from navarena.simulation.body import Camera
from navarena.simulation.rendering import build_render_mesh

from .images import draw


def area(scene):
    corners = scene.vertices[scene.triangles].astype(float)
    return np.linalg.norm(
        np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]), axis=1
    ).sum()


def test_a_scan_has_the_surfaces_of_its_house_and_large_clusters():
    house = build_house(1, HouseSettings(rooms=1), scene_id="small")
    scan = scan_like(house, 250_000)
    assert 200_000 < len(scan.triangles) <= 250_000
    assert area(scan) == pytest.approx(area(house), rel=0.1)
    assert build_render_mesh(scan).cluster_count < len(scan.triangles) / 60
    views = sample_views(house, Camera(width_px=64, height_px=48), 10)
    ours, theirs = draw(house, views), draw(scan, views)
    assert (ours.depth > 0).all() and (theirs.depth > 0).mean() > 0.99
    assert np.median(np.abs(ours.depth - theirs.depth)) < 0.01
    assert (ours.instance == theirs.instance).mean() > 0.97
