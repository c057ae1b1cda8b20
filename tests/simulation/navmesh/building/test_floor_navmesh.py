"""Navmeshes of exact floors: hand-computed rooms, obstacles by height, stairs, bad plans."""

import math

import numpy as np
import pytest
import shapely
from hypothesis import example, given, settings
from hypothesis import strategies as st

from navarena.core.errors import SceneError
from navarena.scenes.scene import Footprint, WalkableSurface
from navarena.simulation.navmesh.building.floor_navmesh import build_floor_navmesh, compute_floor_parts
from navarena.simulation.navmesh.navmesh_settings import NavMeshSettings
from simulation.navmesh.build_meshes import (
    ground_pieces,
    island_areas,
    island_labels,
    plan_polygons,
    plane_height,
    rectangle,
    require_sound,
)

BOW_TIE = ((0, 0), (1, 1), (1, 0), (0, 1))
BODY = NavMeshSettings(radius=0.2, height=1.0)


def floor(
    x0: float,
    z0: float,
    x1: float,
    z1: float,
    plane: tuple[float, float, float] = (0.0, 0.0, 0.0),
    obstacles: tuple[Footprint, ...] = (),
) -> WalkableSurface:
    return WalkableSurface(((x0, z0), (x1, z0), (x1, z1), (x0, z1)), (), plane, obstacles)


def obj(x: float, z: float, half: float, low: float, high: float, turn: float = 0.0) -> Footprint:
    return Footprint(tuple(rectangle(x, z, half, half, turn)), low, high)


def test_an_empty_room_is_two_triangles():
    parts = compute_floor_parts([floor(0, 0, 4, 3, (0, 0, 0.5))], BODY)
    require_sound(parts)
    assert len(parts.triangles) == 2
    assert island_areas(parts) == pytest.approx([3.6 * 2.6])
    assert (parts.vertices[:, 1] == 0.5).all()


@pytest.mark.parametrize(
    ("name", "low", "high", "blocks"),
    [
        ("rug", 0.0, 0.01, False),
        ("step of the climb", 0.0, 0.2, False),
        ("box", 0.0, 0.21, True),
        ("table top", 0.7, 0.75, True),
        ("just under the head", 0.99, 1.2, True),
        ("lamp", 1.0, 1.2, False),
        ("wall", -1.0, 3.0, True),
        ("cellar", -1.0, 0.0, False),
    ],
)
def test_an_obstacle_blocks_by_its_heights(name, low, high, blocks):
    parts = compute_floor_parts([floor(0, 0, 4, 4, obstacles=(obj(2, 2, 0.5, low, high),))], BODY)
    require_sound(parts)
    # the square of 1 m grown by 0.2 m with rounded corners (16-gon instead of the circle)
    cut = 1.0 + 4 * 0.2 + 0.2**2 * 16 * math.sin(math.pi / 16) * math.cos(math.pi / 16) if blocks else 0.0
    assert island_areas(parts) == pytest.approx([3.6**2 - cut], abs=0.01), name


def test_holes_are_walls():
    room = WalkableSurface(
        tuple(rectangle(2, 2, 2, 2)), (tuple(rectangle(2, 2, 0.5, 0.5)),), (0.0, 0.0, 0.0), ()
    )
    same = floor(0, 0, 4, 4, obstacles=(obj(2, 2, 0.5, 0.0, 3.0),))
    assert island_areas(compute_floor_parts([room], BODY)) == pytest.approx(
        island_areas(compute_floor_parts([same], BODY))
    )


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 100_000), st.sampled_from([0.1, 0.18, 0.4]))
def test_the_radius_is_kept_to_a_centimetre(seed, radius):
    draw = np.random.default_rng(seed)
    obstacles = tuple(
        obj(*draw.uniform(0, 6, 2), draw.uniform(0.05, 0.6), 0.0, 1.0, draw.uniform(0, 6))
        for _ in range(draw.integers(0, 20))
    )
    body = NavMeshSettings(radius=radius, height=1.0, region_min_size=2)
    parts = compute_floor_parts([floor(0, 0, 6, 6, obstacles=obstacles)], body)
    require_sound(parts)
    room = shapely.box(0, 0, 6, 6)
    free = room.difference(shapely.union_all([shapely.Polygon(o.polygon) for o in obstacles]))
    blocked = shapely.box(-1, -1, 7, 7).difference(free)
    covered = shapely.union_all(plan_polygons(parts))
    assert shapely.distance(covered, blocked) >= radius - 0.01
    # triangles neither overlap nor leave out more than thin borders and small islands
    assert shapely.area(plan_polygons(parts)).sum() == pytest.approx(covered.area, abs=1e-6)
    exact = free.buffer(-(radius + 0.004), quad_segs=32)
    missing = shapely.get_parts(exact.difference(covered))
    assert all(part.area < body.min_island_area for part in missing)


def test_touching_rooms_are_one_island_and_rooms_apart_are_two():
    one, two = floor(0, 0, 3, 3), floor(3, 1, 6, 2)
    parts = compute_floor_parts([one, two], BODY)
    require_sound(parts)
    # the passage is 1 m wide: 0.6 m after erosion; the corners of its mouth are rounded
    assert len(island_areas(parts)) == 1
    union = shapely.union(shapely.box(0, 0, 3, 3), shapely.box(3, 1, 6, 2)).buffer(-0.2, quad_segs=4)
    assert island_areas(parts) == pytest.approx([union.area], abs=0.01)
    assert len(island_areas(compute_floor_parts([one, floor(3.001, 1, 6, 2)], BODY))) == 2


@pytest.mark.parametrize(("step", "islands"), [(0.0, 1), (0.15, 1), (0.2, 1), (0.25, 2)])
def test_steps_up_to_the_climb_are_linked(step, islands):
    parts = compute_floor_parts([floor(0, 0, 3, 3), floor(3, 0, 6, 3, (0, 0, step))], BODY)
    require_sound(parts)
    assert len(island_areas(parts)) == islands
    pieces, _ = ground_pieces(parts)
    polygons = shapely.polygons(pieces[..., [0, 2]])
    for x, y in ((2.7, 0.0), (3.3, step)):  # the ground keeps the step that the triangles smooth
        at = np.flatnonzero(shapely.intersects(polygons, shapely.Point(x, 1.4)))
        assert plane_height(pieces[at[0]], x, 1.4) == pytest.approx(y, abs=1e-6)


RISE = 2.8


def two_storeys() -> list[WalkableSurface]:
    """A hall, a stair of 4 m along its wall, and a storey over the stair's end and some of the hall."""
    hall = WalkableSurface(((-2, 0), (2, 0), (2, 1), (8, 1), (8, 6), (-2, 6)), (), (0.0, 0.0, 0.0), ())
    slope = RISE / 4
    stair = WalkableSurface(((2, 0), (6, 0), (6, 1), (2, 1)), (), (slope, 0.0, -2 * slope), ())
    return [hall, stair, floor(6, 0, 12, 6, (0.0, 0.0, RISE))]


def test_a_stair_joins_two_storeys():
    parts = compute_floor_parts(two_storeys(), BODY)
    require_sound(parts)
    assert len(set(island_labels(parts).tolist())) == 1
    heights = parts.vertices[parts.triangles][..., 1]
    polygons = plan_polygons(parts)
    lower = shapely.union_all(polygons[heights.max(1) < 0.01])
    upper = shapely.union_all(polygons[heights.min(1) > RISE - 0.01])
    assert shapely.intersection(lower, upper).area > 5


def test_the_side_of_a_stair_is_a_wall_where_it_is_high():
    parts = compute_floor_parts(two_storeys(), BODY)
    ends = parts.vertices[parts.triangles][:, [(0, 1), (1, 2), (2, 0)]]
    linked = ends[parts.neighbors >= 0]
    along_side = linked[np.isclose(linked[..., 2], 1.0).all(1) & (linked[..., 0] > 2 - 1e-6).all(1)]
    # the stair is at most a step above the hall up to 0.2 / 0.7 m from its foot
    assert (along_side[..., 0] <= 2 + 0.2 / 0.7 + 1e-6).all()
    covered = shapely.union_all(plan_polygons(parts)[ends[..., 1].max((1, 2)) < 0.01])
    assert shapely.distance(covered, shapely.LineString([(3, 1), (6, 1)])) == pytest.approx(0.2, abs=0.01)


def test_a_navmesh_answers_for_a_floor():
    navmesh = build_floor_navmesh([floor(0, 0, 4, 3)], BODY)
    assert navmesh.navigable_area == pytest.approx(3.6 * 2.6)
    assert navmesh.settings == BODY


def test_rooms_of_less_than_a_square_metre_are_dropped():
    rooms = [floor(0, 0, 4, 4), floor(10, 0, 11.3, 1.3)]
    assert len(island_areas(compute_floor_parts(rooms, BODY))) == 1


@pytest.mark.parametrize(
    ("walkable", "message"),
    [
        ([], "at least one walkable surface"),
        ([floor(0, 0, 0.3, 5)], "room for a body of radius 0.2"),
        ([floor(0, 0, 1.2, 1.2)], "at least 1 m2"),
        ([floor(0, 0, 4, 4, (1.1, 0.0, 0.0))], "check obstacles, slopes"),
        (
            [WalkableSurface(((0, 0), (1, 1), (1, 0), (0, 1)), (), (0, 0, 0), ())],
            "surface 0.*Self-intersection",
        ),
        ([WalkableSurface(((0, 0), (1, 1)), (), (0, 0, 0), ())], "fewer than three corners"),
        ([floor(0, 0, math.nan, 1)], "NaN"),
        (
            [floor(0, 0, 4, 4, obstacles=(Footprint(BOW_TIE, 0, 1),))],
            "obstacle 0 of walkable surface 0",
        ),
    ],
)
def test_bad_plans_are_explained(walkable, message):
    with pytest.raises(SceneError, match=message):
        compute_floor_parts(walkable, BODY)


def turned(surface: WalkableSurface, turn: float, shift: float) -> WalkableSurface:
    """A level surface turned about the origin and then shifted along x."""
    c, s = math.cos(turn), math.sin(turn)

    def moved(corners: tuple[tuple[float, float], ...]) -> tuple[tuple[float, float], ...]:
        return tuple((shift + c * x - s * z, s * x + c * z) for x, z in corners)

    obstacles = tuple(Footprint(moved(o.polygon), o.low, o.high) for o in surface.obstacles)
    return WalkableSurface(moved(surface.outline), (), surface.plane, obstacles)


@settings(max_examples=30, deadline=None)
@given(st.floats(0, 2 * math.pi), st.floats(-20, 20))
@example(3.5268, 0.0)
def test_turned_rooms_are_linked_as_straight_ones(turn, shift):
    rooms = [floor(0, 0, 3, 3), floor(3, 1, 6, 2), floor(6, -1, 9, 4)]
    straight = compute_floor_parts(rooms, BODY)
    parts = compute_floor_parts([turned(room, turn, shift) for room in rooms], BODY)
    require_sound(parts)
    assert island_areas(parts) == pytest.approx(island_areas(straight), abs=0.02)


def furnished_row(draw: np.random.Generator) -> list[WalkableSurface]:
    """Two to five rooms side by side, with objects in them, half of which stand across their walls."""
    rooms, x = [], 0.0
    for _ in range(draw.integers(2, 6)):
        width, near, far = (round(float(v), int(draw.integers(1, 7))) for v in draw.uniform(0.5, 3, 3))
        objects = []
        for _ in range(draw.integers(0, 4)):
            across = x + width * draw.integers(0, 2) if draw.random() < 0.5 else draw.uniform(x, x + width)
            turn = draw.uniform(0, 6) * draw.integers(0, 2)
            objects.append(obj(across, draw.uniform(-near, far), draw.uniform(0.05, 0.3), 0, 2, turn))
        rooms.append(floor(x, -near, x + width, far, obstacles=tuple(objects)))
        x += width
    return rooms


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 100_000))
@example(3)
@example(209)
@example(94_070)
def test_turned_rooms_with_things_are_those_not_turned(seed):
    """Borders that no longer run along the axes have corners beside their line, by the grid's rounding."""
    draw = np.random.default_rng(seed)
    rooms, turn, shift = furnished_row(draw), draw.uniform(0, 2 * math.pi), draw.uniform(-20, 20)
    try:
        straight = compute_floor_parts(rooms, BODY)
    except SceneError:
        return  # no room for a body
    parts = compute_floor_parts([turned(room, turn, shift) for room in rooms], BODY)
    require_sound(parts)
    assert sorted(island_areas(parts)) == pytest.approx(sorted(island_areas(straight)), abs=0.02)
