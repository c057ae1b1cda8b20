from dataclasses import replace

import numpy as np
import pytest

from navarena.scenes.houses.appearance.canvas import LEVELS, layered_noise, smooth_noise
from navarena.scenes.houses.appearance.finish_tiles import GREY_TILES, IMAGE_TILES, base_tile
from navarena.scenes.houses.appearance.finishes import COLORS, FINISHES, STYLES, Look
from navarena.scenes.houses.furniture.names import SOLIDS
from navarena.scenes.houses.plan.floor_plan import Rect
from navarena.scenes.houses.solids import shapes
from navarena.scenes.houses.solids.mesh_builder import HouseObject, MeshBuilder
from navarena.scenes.houses.solids.models import QUARTERS, SLIGHT_TURNS, STRAIGHT, Assembly, Part, Turn
from navarena.scenes.houses.solids.panels import subdivide

ALL_SHAPES = {
    **SOLIDS,
    "leaning": shapes.leaning(400, 600),
    "tapered": shapes.tapered(1000, 500),
    "lathe": shapes.lathe((0, 1000), (500, 300), (1000, 700)),
    "triangle": shapes.straight("triangle", smooth=False),
}


def signed_volume(vertices: np.ndarray, triangles: np.ndarray) -> float:
    a, b, c = (vertices[triangles[:, k]] for k in range(3))
    return float((a * np.cross(b, c)).sum() / 6)


@pytest.mark.parametrize("name", ALL_SHAPES)
def test_shapes_are_closed_and_look_outwards(name):
    mesh = shapes.template(ALL_SHAPES[name])
    assert signed_volume(mesh.vertices, mesh.triangles) > 0.05
    # closed: every directed edge (by position) has its opposite
    points = np.round(mesh.vertices * 1e6).astype(int)
    edges = [(tuple(points[t[i]]), tuple(points[t[(i + 1) % 3]])) for t in mesh.triangles for i in range(3)]
    assert len(set(edges)) == len(edges)
    assert {(b, a) for a, b in edges} == set(edges)


def test_volumes_of_simple_shapes():
    box = shapes.template(shapes.BOX)
    assert signed_volume(box.vertices, box.triangles) == pytest.approx(1)
    cylinder = shapes.template(shapes.FINE_CYLINDER)
    assert signed_volume(cylinder.vertices, cylinder.triangles) == pytest.approx(0.75, abs=1e-3)
    disc = shapes.template(shapes.DISC)
    assert signed_volume(disc.vertices, disc.triangles) == pytest.approx(0.75, abs=1e-3)


def test_bottomless_shapes_lack_only_the_bottom():
    full, open_ = shapes.template(shapes.BOX), shapes.template(replace(shapes.BOX, bottom=False))
    assert len(full.triangles) - len(open_.triangles) == 2
    normals = np.cross(
        *(open_.vertices[open_.triangles[:, k]] - open_.vertices[open_.triangles[:, 0]] for k in (1, 2))
    )
    assert not (normals[:, 1] < -1e-9).any()


@pytest.mark.parametrize(("quarters", "expected"), [(0, (0, -1)), (1, (-1, 0)), (2, (0, 1)), (3, (1, 0))])
def test_quarter_turns_follow_the_yaw_of_bodies(quarters, expected):
    assert QUARTERS[quarters].apply(0, -1000) == (1000 * expected[0], 1000 * expected[1])


def test_turns_are_exact_and_undo_each_other():
    for turn in SLIGHT_TURNS:
        assert turn.cosine**2 + turn.sine**2 == turn.whole**2
        both = turn.then(turn.inverse())
        assert (both.cosine, both.sine) == (both.whole, 0)
    assert Turn(3, 4, 5).apply(1000, 0) == (600, -800)


def test_outline_of_a_turned_part_covers_it():
    part = Part(shapes.BOX, Look("paint", "white"), (200, 10, 100), (0, 0, 0), Turn(3, 4, 5))
    assert part.plan_rect() == Rect(-100, -110, 100, 110)


@pytest.mark.parametrize(
    ("arguments", "lines"),
    [
        ((0, 1000, 500), [0, 500, 1000]),
        ((0, 1001, 500), [0, 333, 667, 1001]),
        ((0, 1000, 500, (700,)), [0, 350, 700, 1000]),
        ((0, 300, 500, (-5, 900)), [0, 300]),
    ],
)
def test_subdivision(arguments, lines):
    result = subdivide(*arguments)
    assert result[0] == lines[0]
    assert np.abs(np.array(result) - lines).max() <= 1


@pytest.mark.parametrize("axis", [0, 1, 2])
@pytest.mark.parametrize("facing", [-1, 1])
def test_panels_face_the_side_asked_for_and_leave_holes_open(axis, facing):
    builder = MeshBuilder()
    obj = builder.add_object(HouseObject("wall", 0, {}))
    builder.add_panel(
        obj, Look("paint", "white"), axis, 7, facing, ([0, 10, 20], [0, 10, 20]), [Rect(0, 0, 10, 10)]
    )
    mesh = builder.build([0])
    corners = mesh.vertices[mesh.triangles]
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    assert len(mesh.triangles) == 6
    assert (normals[:, axis] * facing > 0).all()
    assert np.abs(normals).sum() / 2 == pytest.approx(300)
    assert (mesh.vertices[:, axis] == 7).all()


def test_parts_are_placed_turned_and_measured():
    made = Assembly()
    made.box(Look("wood", "oak"), (400, 200, 100), (50, 10, 0))
    builder = MeshBuilder()
    obj = HouseObject("box", 0, {}, (1000, 0, 2000), QUARTERS[1])
    builder.add_object(obj, made.model(Look("wood", "oak")))
    mesh = builder.build([0])
    np.testing.assert_allclose(mesh.object_low[0], (-150, 10, -50))
    np.testing.assert_allclose(mesh.object_high[0], (250, 210, 50))
    # a quarter to the left turns +x into -z
    np.testing.assert_allclose(mesh.vertices.min(0), (950, 10, 1750))
    np.testing.assert_allclose(mesh.vertices.max(0), (1050, 210, 2150))
    assert signed_volume(mesh.vertices, mesh.triangles) == pytest.approx(400 * 200 * 100)
    np.testing.assert_allclose(np.abs(mesh.normals).max(1), 1)


def test_grain_follows_the_longest_side():
    made = Assembly()
    made.box(Look("wood", "oak"), (50, 900, 50), (0, 5, 0))
    builder = MeshBuilder()
    builder.add_object(HouseObject("post", 0, {}), made.model(Look("wood", "oak")))
    mesh = builder.build([0])
    spread = np.ptp(mesh.uv, axis=1).max(0)
    assert spread[0] == pytest.approx(1.0, abs=1e-5)
    assert spread[1] < 0.1


def test_fitted_textures_cover_each_side_once_and_are_not_mirrored():
    made = Assembly()
    made.add(shapes.BOX, Look("art hills", "white"), (400, 300, 10), (0, 5, 0), STRAIGHT, fit=True)
    builder = MeshBuilder()
    builder.add_object(HouseObject("picture", 0, {}), made.model(Look("art hills", "white")))
    mesh = builder.build([0])
    corners = mesh.vertices[mesh.triangles]
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    front = normals[:, 2] < -1
    u, v = mesh.uv[front][..., 0], mesh.uv[front][..., 1]
    assert (u.min(), u.max(), v.min(), v.max()) == pytest.approx((0, 1, 0, 1), abs=1e-6)
    # seen from the front (-z), right is -x
    right = corners[front][..., 0].ravel() < 0
    np.testing.assert_allclose(u.ravel(), right, atol=1e-6)


@pytest.mark.parametrize("name", [*GREY_TILES, *IMAGE_TILES])
def test_tiles_are_square_powers_of_two_and_read_only(name):
    tile = base_tile(name)
    assert tile.shape[0] == tile.shape[1] in (128, 256, 512)
    assert tile.dtype == np.uint8
    assert not tile.flags.writeable
    assert base_tile(name) is tile
    if name in GREY_TILES and name != "foliage":
        assert tile.mean() > 170, "a tile should not darken the colour it is multiplied with"


@pytest.mark.parametrize("name", ["mottle", "wood", "carpet", "marble", "leather", "brushed", "granite"])
def test_tiles_wrap_without_a_seam(name):
    tile = base_tile(name).astype(int)[..., 0]
    across = [np.abs(np.diff(tile, axis=axis)).mean() for axis in (0, 1)]
    seam = [np.abs(tile[0] - tile[-1]).mean(), np.abs(tile[:, 0] - tile[:, -1]).mean()]
    for inside, border in zip(across, seam, strict=True):
        assert border < 2.5 * inside + 4


def test_noise_is_integer_and_in_range():
    for noise in (smooth_noise(64, 4, 8, 3), layered_noise(64, 4, 4, 3, 5)):
        assert noise.dtype == np.int64
        assert noise.min() >= 0 and noise.max() < LEVELS
        assert noise.std() > 50


def test_every_look_of_every_style_is_known():
    for style in STYLES.values():
        for group in (style.walls, style.floors, style.wet_floors, style.wet_walls, style.woods):
            assert all(look.finish in FINISHES and look.color in COLORS for look in group)
        assert all(look.finish in FINISHES and look.color in COLORS for look in (*style.fronts, *style.tops))
        assert all(color in COLORS for color in (*style.textiles, *style.accents, *style.metals))
