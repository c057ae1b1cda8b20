"""The way up of a mesh: named where it is clearly another, left alone where the mesh stands upright."""

from pathlib import Path

import numpy as np
import pytest

from navarena.core.errors import SceneError
from navarena.scenes.catalog import load_scene
from navarena.scenes.formats.importing import UP_AXES
from navarena.simulation import open_world
from navarena.simulation.body_catalog import get_body
from navarena.simulation.navmesh.building.mesh_checks import (
    advise_up,
    axis_of_file,
    explain_no_floor,
    require_upright,
)
from navarena.simulation.navmesh.navmesh_settings import NavMeshSettings
from simulation.navmesh.build_meshes import hall, join_meshes, plate, rectangle

BODY = NavMeshSettings(radius=0.18, height=0.88)
OTHERS = [axis for axis in UP_AXES if axis != "y"]


def imported(points: np.ndarray, up_axis: str) -> np.ndarray:
    """(V, 3) points of a file in the world, when `up_axis` is said to point up."""
    return np.stack([sign * points[:, axis] for axis, sign in UP_AXES[up_axis]], 1)


@pytest.mark.parametrize("up", UP_AXES)
def test_axes_are_named_as_the_file_names_them(up: str) -> None:
    assert axis_of_file("y", up) == up
    for k, name in enumerate("xyz"):
        for sign, text in ((1.0, name), (-1.0, f"-{name}")):
            direction = np.zeros((1, 3))
            direction[0, k] = sign
            file_direction = {axis: imported_direction(axis, up) for axis in UP_AXES}
            assert np.array_equal(file_direction[axis_of_file(text, up)], direction)


def imported_direction(axis: str, up: str) -> np.ndarray:
    """(1, 3) where `axis` of a file points in the world."""
    unit = np.zeros((1, 3))
    unit[0, "xyz".index(axis[-1])] = -1.0 if axis.startswith("-") else 1.0
    return imported(unit, up)


@pytest.fixture(scope="module")
def dungeon_mesh(dungeon_folder: Path) -> tuple[np.ndarray, np.ndarray]:
    mesh = np.load(dungeon_folder / "mesh_dungeon.npz")
    return mesh["vertices"], mesh["faces"]


def test_the_dungeon_upright_is_left_alone(dungeon_mesh: tuple[np.ndarray, np.ndarray]) -> None:
    assert advise_up(*dungeon_mesh, BODY) is None
    require_upright(*dungeon_mesh, BODY, island_area=1500.0)


@pytest.mark.parametrize("up", OTHERS)
def test_the_dungeon_tipped_over_is_refused(dungeon_mesh: tuple[np.ndarray, np.ndarray], up: str) -> None:
    points, faces = dungeon_mesh
    with pytest.raises(SceneError, match=r"1.75e\+03 m2 with y up; try --up=y, or keep --up=.* --force-up"):
        require_upright(imported(points, up), faces, BODY, up)


def check_houses(count: int) -> None:
    for index in range(count):
        house = load_scene(f"houses-v0/val/{index:05d}")
        assert advise_up(house.vertices, house.triangles, BODY) is None, index


def test_houses_upright_are_left_alone() -> None:
    check_houses(4)


@pytest.mark.slow
@pytest.mark.turns(8)
def test_a_hundred_houses_upright_are_left_alone() -> None:
    check_houses(100)


@pytest.mark.parametrize("up", ["x", "-x", "z", "-z"])
def test_a_house_on_its_side_is_noticed(up: str) -> None:
    """Large houses of one storey; small ones have as much wall as floor."""
    noticed = []
    for index in range(6):
        house = load_scene(f"houses-v0/val/{index:05d}")
        noticed.append(advise_up(imported(house.vertices, up), house.triangles, BODY, up))
    names = {advice.up_axis for advice in noticed if advice is not None}
    assert names == {"y"} and sum(advice is not None and advice.clear for advice in noticed) >= 1


def test_boxes_in_a_hall_are_left_alone() -> None:
    boxes = [rectangle(1.0, 1.0, 0.4, 0.4), rectangle(3.0, 2.0, 0.3, 0.6, 0.5)]
    assert advise_up(*hall(4.0, boxes), BODY) is None


def test_a_slope_is_left_alone() -> None:
    assert advise_up(*plate(0.0, 0.0, 20.0, 20.0, [0.0, 19.0, 19.0, 0.0]), BODY) is None


def test_axes_are_advised_for_files_alone() -> None:
    """A floor that stands upright, of a scene whose axes nobody can choose."""
    points, faces = plate(0.0, 0.0, 4.0, 4.0)
    upright = imported(points, "z")
    assert "try --up=" in explain_no_floor(upright, faces, BODY)
    assert "up" not in explain_no_floor(upright, faces, BODY, "").replace("y up", "").split("; ")[1]


def shaft() -> tuple[np.ndarray, np.ndarray]:
    """A floor of 4 m x 4 m between four walls 12 m high that face inwards."""
    points, faces = plate(0.0, 0.0, 12.0, 4.0)
    walls = []
    for up in ("x", "-x", "z", "-z"):
        turned = imported(points - [6.0, 2.0, 2.0], up)  # the plate lies below the shaft's middle
        long = int(np.ptp(turned, 0).argmax())
        order = [0, 1, 2]
        if long != 1:
            order[long], order[1] = 1, long
            walls.append((turned[:, order], faces[:, ::-1]))
        else:
            walls.append((turned, faces))
    return join_meshes((plate(-2.0, -2.0, 2.0, 2.0, -6.0)), *walls)


def test_a_shaft_is_doubted_at_most() -> None:
    vertices, faces = shaft()
    assert np.allclose(vertices.min(0), [-2, -6, -2]) and np.allclose(vertices.max(0), [2, 6, 2])
    advice = advise_up(vertices, faces, BODY)
    assert advice is not None and not advice.clear
    require_upright(vertices, faces, BODY)


def test_a_file_comes_in_upright_or_by_force(dungeon_folder: Path, empty_cache: Path) -> None:
    path, body = str(dungeon_folder / "dungeon.obj"), get_body("locobot")
    with pytest.raises(SceneError, match="try --up=y"):
        open_world(path, body, up_axis="z")
    assert not [pack for pack in empty_cache.rglob("*.pack") if "navmesh" in pack.parts]
    forced = open_world(path, body, up_axis="z", force_up=True)
    again = open_world(path, body, up_axis="z")
    assert again.navmesh.navigable_area == forced.navmesh.navigable_area
    assert open_world(path, body).navmesh.navigable_area > 2 * forced.navmesh.island_areas.max()
