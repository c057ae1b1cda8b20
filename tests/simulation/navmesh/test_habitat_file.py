"""Habitat navmesh files: what is read, and what happens to files that are broken."""

import struct
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from navarena.core.errors import FileError
from navarena.simulation.navmesh import NavMesh, load_habitat_navmesh
from navarena.simulation.navmesh.polygons.convex_polygons import cut_ground, triangulate
from simulation.navmesh.conftest import Dungeon

HEADER_BYTES, SETTINGS_AT = 104, 40


def test_ground_is_that_of_the_file(dungeon: Dungeon) -> None:
    pieces, _ = dungeon.mesh.ground_pieces
    recorded = dungeon.answers["navmesh_tris"]
    assert pieces.reshape(-1, 3).min(0) == pytest.approx(recorded.reshape(-1, 3).min(0), abs=1e-5)
    assert pieces.reshape(-1, 3).max(0) == pytest.approx(recorded.reshape(-1, 3).max(0), abs=1e-5)
    centers = recorded.mean(1)
    # heights over thin pieces lose digits in single precision
    assert dungeon.mesh.snap_point(centers) == pytest.approx(centers, abs=5e-4)
    assert np.array_equal(dungeon.mesh.island(centers), dungeon.answers["navmesh_tri_island"])


def test_settings_are_read(dungeon: Dungeon) -> None:
    settings_read = dungeon.mesh.settings
    expected = (0.18, 0.88) if "r018" in dungeon.path.name else (0.1, 1.5)
    assert (settings_read.radius, settings_read.height) == expected
    assert settings_read.max_climb == 0.2 and settings_read.cell_size == 0.05
    assert settings_read.max_slope == pytest.approx(np.pi / 4)


def test_version_one_has_no_settings(dungeon: Dungeon, tmp_path: Path) -> None:
    data = dungeon.path.read_bytes()
    old = tmp_path / "old.navmesh"
    old.write_bytes(data[:4] + struct.pack("<i", 1) + data[8:40] + data[96:])
    mesh = load_habitat_navmesh(old)
    assert mesh.navigable_area == dungeon.mesh.navigable_area
    assert mesh.settings.radius == dungeon.mesh.settings.radius
    assert mesh.settings.height == dungeon.mesh.settings.height


def test_arrays_round_trip(dungeon: Dungeon) -> None:
    arrays, meta = dungeon.mesh.to_arrays()
    again = NavMesh.from_arrays(arrays, meta)
    start, goal = dungeon.answers["big_start"], dungeon.answers["big_end"]
    assert np.array_equal(again.geodesic_distance(start, goal), dungeon.mesh.geodesic_distance(start, goal))
    assert again.settings == dungeon.mesh.settings
    start, end = dungeon.answers["step_start"], dungeon.answers["step_end"]
    assert np.array_equal(again.try_step(start, end, False), dungeon.mesh.try_step(start, end, False))
    with pytest.raises(FileError, match="without"):
        NavMesh.from_arrays({}, meta)
    with pytest.raises(FileError, match="format"):
        NavMesh.from_arrays(arrays, {**meta, "navmesh_format": 0})


def replace(data: bytes, at: int, new: bytes) -> bytes:
    return data[:at] + new + data[at + len(new) :]


def first_polygon(data: bytes) -> int:
    """Where the polygons begin: after the tile's header of 100 bytes and its vertices."""
    return HEADER_BYTES + 100 + 12 * struct.unpack_from("<i", data, HEADER_BYTES + 28)[0]


def write(folder: Path, data: bytes) -> Path:
    path = folder / "some.navmesh"
    path.write_bytes(data)
    return path


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda data: b"", "is empty"),
        (lambda data: b"not a navmesh at all, but long enough to be one", "expected a Habitat navmesh file"),
        (lambda data: replace(data, 4, struct.pack("<i", 3)), "version 1 or 2"),
        (lambda data: replace(data, 8, struct.pack("<i", 4)), "expected one tile"),
        (lambda data: replace(data, 12, struct.pack("<f", np.nan)), "finite measures"),
        (lambda data: replace(data, first_polygon(data) + 30, b"\x07"), "a polygon of 7"),
        (lambda data: data[:100], "truncated"),
        (lambda data: data[:-1], "truncated"),
        (lambda data: replace(data, HEADER_BYTES, b"XXXX"), "expected a Detour tile"),
        (
            lambda data: replace(data, HEADER_BYTES + 4, struct.pack("<i", 6)),
            "version 7",
        ),
        (lambda data: replace(data, SETTINGS_AT + 8, struct.pack("<f", -1.0)), "is damaged.*positive height"),
        (lambda data: replace(data, SETTINGS_AT + 24, struct.pack("<f", np.inf)), "is damaged"),
    ],
)
def test_broken_files_are_named(dungeon: Dungeon, tmp_path: Path, change: object, message: str) -> None:
    path = write(tmp_path, change(dungeon.path.read_bytes()))  # type: ignore[operator]
    with pytest.raises(FileError, match=message):
        load_habitat_navmesh(path)


def test_missing_files_are_named(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="does not exist"):
        load_habitat_navmesh(tmp_path / "none.navmesh")
    with pytest.raises(FileError, match="got the folder"):
        load_habitat_navmesh(tmp_path)


@pytest.mark.parametrize("dungeon", ["r018_h088"], indirect=True)
@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_damaged_files_load_or_say_so(dungeon: Dungeon, tmp_path: Path, data: st.DataObject) -> None:
    damaged = bytearray(dungeon.path.read_bytes())
    for _ in range(data.draw(st.integers(1, 4))):
        damaged[data.draw(st.integers(0, len(damaged) - 1))] = data.draw(st.integers(0, 255))
    cut = data.draw(st.one_of(st.just(len(damaged)), st.integers(0, len(damaged))))
    path = write(tmp_path, bytes(damaged[:cut]))
    try:
        mesh = load_habitat_navmesh(path)
    except FileError as error:
        assert str(path) in str(error)
    else:
        assert np.isfinite(mesh.navigable_area)
        points = mesh.vertices[:50]
        assert mesh.try_step(points, points + [0.2, 0, 0.1], False).shape == points.shape


def test_polygons_become_triangles_without_flat_ones() -> None:
    ring = np.array([[0, 0, 0], [1, 0, 0], [2, 0, 0], [2, 0, 2], [0, 0, 2], [0, 0, 1]], float)
    for order in (ring, ring[::-1].copy()):
        rows = triangulate(order)
        assert rows.shape == (4, 3)
        corners = order[rows]
        facing = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])[:, 1]
        assert (facing > 0.1).all() and facing.sum() / 2 == pytest.approx(4)
    flat = np.array([[0, 0, 0], [1, 0, 0], [2, 0, 0]], float)
    assert triangulate(flat).shape == (0, 3)


def test_ground_is_cut_along_triangles_and_keeps_its_heights() -> None:
    square = np.array([[0, 0, 0], [0, 0, 2], [2, 0, 2], [2, 0, 0]], float)
    middle = np.array([1.0, 0.5, 1.0])
    ground = np.array([[square[k], square[(k + 1) % 4], middle] for k in range(4)])
    parts = [cut_ground(ground, square[rows]) for rows in triangulate(square)]
    assert sum(len(part) for part in parts) == 4  # the diagonal runs through the middle
    flat = np.concatenate(parts)
    area = np.linalg.norm(np.cross(flat[:, 1] - flat[:, 0], flat[:, 2] - flat[:, 0]), axis=1).sum() / 2
    assert area == pytest.approx(4 * np.hypot(1, 0.5))
    corner = cut_ground(ground, np.array([[0, 0, 0], [0, 0, 1], [1, 0, 0]], float))
    assert corner[:, :, 1].max() == pytest.approx(0.25)
