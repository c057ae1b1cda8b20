"""Worlds on disk: built once, opened without touching what is not needed."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import navarena.simulation.navmesh.building.mesh_navmesh  # noqa: F401 - its kernels must find the lasting cache
from navarena.core.errors import FileError, SceneError
from navarena.core.sources import source_closure
from navarena.scenes import scene_hash
from navarena.simulation import world as module
from navarena.simulation.body_catalog import LOCOBOT, MULTION, STRETCH
from navarena.simulation.navmesh import load_habitat_navmesh
from navarena.simulation.navmesh.navmesh_settings import NavMeshSettings
from navarena.simulation.world import make_navmesh, open_world
from worlds import HALL, draw_scene

FLOOR = """
o floor
v 0 0 0
v 0 0 4
v 4 0 4
v 4 0 0
f 1 2 3
f 1 3 4
"""


@pytest.fixture
def counted(monkeypatch, empty_cache):
    """How often a scene was loaded and a navmesh built."""
    calls = {"load": 0, "navmesh": 0}
    load, make = module.load_scene, module.make_navmesh

    def count_load(*arguments):
        calls["load"] += 1
        return load(*arguments)

    def count_make(*arguments):
        calls["navmesh"] += 1
        return make(*arguments)

    monkeypatch.setattr(module, "load_scene", count_load)
    monkeypatch.setattr(module, "make_navmesh", count_make)
    return calls


@pytest.fixture
def floor(tmp_path):
    path = tmp_path / "floor.obj"
    path.write_text(FLOOR)
    return str(path)


def test_the_navmesh_is_built_once_for_each_body(counted, floor):
    first, second = open_world(floor, LOCOBOT), open_world(floor, LOCOBOT)
    assert counted == {"load": 1, "navmesh": 1}
    assert np.array_equal(first.navmesh.vertices, second.navmesh.vertices)
    other = open_world(floor, MULTION)
    assert counted["navmesh"] == 2
    assert other.navmesh.navigable_area > first.navmesh.navigable_area  # a thinner body


def test_the_scene_is_not_opened_before_it_is_looked_at(counted, floor):
    open_world(floor, LOCOBOT)
    world = open_world(floor, LOCOBOT)
    before, loads = world.nbytes, counted["load"]
    assert world.navmesh.island_count == 1 and counted["load"] == loads
    assert world.render_mesh.triangle_count == 2 and counted["load"] == loads + 1
    assert len(world.scene.triangles) == 2
    assert world.nbytes > before
    again = open_world(floor, LOCOBOT)
    assert again.render_mesh.triangle_count == 2
    assert counted["load"] == loads + 2, "the render mesh came from its pack, without the scene"


def test_a_changed_file_is_another_world(counted, floor, tmp_path):
    area = open_world(floor, LOCOBOT).navmesh.navigable_area
    (tmp_path / "floor.obj").write_text(FLOOR.replace(" 4", " 6").replace("f 1 3 6", "f 1 3 4"))
    assert open_world(floor, LOCOBOT).navmesh.navigable_area > area
    scaled = open_world(floor, LOCOBOT, scale=2.0)
    assert scaled.navmesh.navigable_area > 4 * area


@pytest.fixture
def given(tmp_path, dungeon_folder):
    """A mesh of two triangles as long, wide and high as the dungeon, beside which is its navmesh."""
    file = tmp_path / "hull.navmesh"
    file.write_bytes((dungeon_folder / "nav_dungeon_r018_h088.navmesh").read_bytes())
    (x, y, z), (far_x, far_y, far_z) = load_habitat_navmesh(file).bounds
    points = (x, y, z), (x, y, far_z), (far_x, y, far_z), (far_x, y, z), (x, far_y, z)
    lines = [f"v {a} {b} {c}" for a, b, c in points]
    (tmp_path / "hull.obj").write_text("\n".join([*lines, "f 1 2 3", "f 1 3 4", "f 1 2 5"]))
    return file


def test_habitats_navmesh_beside_a_mesh_is_taken(counted, given):
    """1950.10 square metres are what habitat-sim says of it."""
    mesh = str(given.with_suffix(".obj"))
    navmesh = open_world(mesh, LOCOBOT).navmesh
    assert navmesh.navigable_area == pytest.approx(1950.10, abs=0.01) and counted["navmesh"] == 0
    assert np.array_equal(open_world(mesh, LOCOBOT).navmesh.polygons.heads, navmesh.polygons.heads)
    key = scene_hash(mesh)
    given.write_bytes(b"garbage")
    assert scene_hash(mesh) != key
    with pytest.raises(FileError, match=r"hull\.navmesh; where this file is not there, a navmesh is built"):
        open_world(mesh, LOCOBOT)


def test_habitats_navmesh_of_another_body_or_place_is_not(counted, floor, given, caplog):
    plain = scene_hash(floor)
    area = open_world(floor, MULTION).navmesh.navigable_area
    given.rename(given.with_name("floor.navmesh"))
    assert open_world(floor, MULTION).navmesh.navigable_area == area
    assert "floor.navmesh is for a body of radius 0.18 m and height 0.88 m; building" in caplog.text
    assert open_world(floor, LOCOBOT).navmesh.navigable_area < area
    assert "floor.navmesh lies outside its scene" in caplog.text
    caplog.clear()
    open_world(floor, LOCOBOT)
    assert not caplog.text, "said once, when the navmesh is built"
    given.with_name("floor.navmesh").unlink()
    assert scene_hash(floor) == plain


def test_no_floor_says_what_to_do(empty_cache, floor):
    with pytest.raises(SceneError, match="up_axis"):
        open_world(floor, LOCOBOT, up_axis="z")
    with pytest.raises(FileError, match="does not exist"):
        open_world("nowhere.obj", LOCOBOT)


def test_resolution_is_that_of_the_body():
    assert NavMeshSettings.for_body(LOCOBOT).cell_height == 0.2
    settings = NavMeshSettings.for_body(STRETCH)
    assert (settings.cell_height, settings.max_climb, settings.climb_voxels) == (0.05, 0.1, 2)


def test_voxels_leave_room_for_the_body():
    """A floor of 10 m by 10 m, less the radius in whole cells (0.18 m: 4 cells of 0.05 m)."""
    navmesh = make_navmesh(draw_scene(HALL), LOCOBOT)
    assert navmesh.navigable_area == pytest.approx(9.6**2, rel=0.03)
    fat = make_navmesh(draw_scene(HALL), replace(LOCOBOT, radius=1.0))
    assert fat.navigable_area == pytest.approx(8.0**2, rel=0.03)


def test_keys_of_navmesh_packs_cover_every_builder() -> None:
    """A change of any module that builds navmeshes, or render meshes, gives their packs other keys."""
    package = Path(module.__file__).parents[1]
    covered = set().union(*(source_closure(file, package) for file in module._NAVMESH_SOURCES))
    folder = package / "simulation" / "navmesh"
    builders = {file for name in ("building", "voxels") for file in (folder / name).glob("[!_]*.py")}
    assert len(builders) > 5 and builders <= covered
    assert {folder / "polygons" / "outlines.py", folder / "queries" / "triangle_grid.py"} <= covered
    rendering = package / "simulation" / "rendering"
    drawn = source_closure(module._RENDER_MESH_SOURCE, package)
    assert {rendering / name for name in ("clusters.py", "surface_details.py", "texel_store.py")} <= drawn
