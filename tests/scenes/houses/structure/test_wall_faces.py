"""Faces of walls: along the axes the same as at any other angle."""

import numpy as np
import pytest

from navarena.scenes.houses.appearance.finishes import Look
from navarena.scenes.houses.plan.floor_plan import Rect, WallOpening
from navarena.scenes.houses.solids.mesh_builder import HouseObject, MeshBuilder
from navarena.scenes.houses.structure.faces import Face

CORNERS = ((0, 0), (4000, 0), (4000, 3000), (0, 3000))
WALLS = {side: (CORNERS[side], CORNERS[(side + 1) % 4]) for side in range(4)}
"""The walls of a room, which is to the right of each."""


def panel(wall):
    a, b = sorted(wall)
    return Face((a, b), 1 if (a, b) == wall else -1, is_panel=True)


def triangles_of(face, hole):
    builder = MeshBuilder()
    owner = builder.add_object(HouseObject("wall", 0, {}))
    start, end = hole
    lines = sorted({0, start, end, face.length})
    face.add_grid(
        builder, owner, Look("paint", "white"), (lines, (0, 2000, 2600)), [Rect(start, 0, end, 2000)]
    )
    mesh = builder.build([0])
    return mesh.vertices[mesh.triangles]


@pytest.mark.parametrize("side", WALLS)
def test_a_panel_covers_what_a_wall_of_any_direction_covers(side):
    wall = WALLS[side]
    along, any_way = panel(wall), Face(wall)
    length = any_way.length
    hole = (500, 1400)
    mirrored = hole if along.inward > 0 else (length - hole[1], length - hole[0])
    found = [triangles_of(any_way, hole), triangles_of(along, mirrored)]
    normals = [np.cross(t[:, 1] - t[:, 0], t[:, 2] - t[:, 0]) for t in found]
    assert len(found[0]) == len(found[1])
    np.testing.assert_allclose(normals[0].sum(0), normals[1].sum(0))
    np.testing.assert_allclose(
        normals[0].sum(0)[[0, 2]], 2 * (length * 2600 - 900 * 2000) * np.array(any_way.normal), atol=1e-6
    )
    corners = [{tuple(np.round(p)) for p in t.reshape(-1, 3)} for t in found]
    assert corners[0] == corners[1]


@pytest.mark.parametrize("side", WALLS)
def test_points_turns_and_openings_do_not_depend_on_how_a_wall_is_built(side):
    wall = WALLS[side]
    along, any_way = panel(wall), Face(wall)
    middle = any_way.length // 2
    assert along.point(middle, 60) == any_way.point(middle, 60)
    assert along.normal == pytest.approx(any_way.normal)
    assert (along.turn.cosine, along.turn.sine) == (any_way.turn.cosine, any_way.turn.sine)
    door = WallOpening("door", 0, None, wall, 500, 1400, 0, 2050)
    ((start, end, found),) = any_way.openings([door], 0, 0)
    assert (start, end, found) == (500, 1400, door)
    assert any_way.openings([door], 0, 0, from_end=True) == any_way.openings([door], 0, 0)
    assert not any_way.openings([door], 1, 0), "of another room"
    assert not any_way.openings([door], 0, 60), "in another wall"
    ((start, end, _),) = along.openings([door], 0, 0)
    places = {along.point(start), along.point(end)}
    assert places == {any_way.point(500), any_way.point(1400)}


def test_boards_lie_before_the_face():
    look = Look("wood", "oak")
    for wall in WALLS.values():
        board, turned = (face.slab((100, 700), (-4, 14), (0, 80), look) for face in (panel(wall), Face(wall)))
        if panel(wall).inward > 0:
            assert board.at == turned.at
        assert board.plan_rect().width * board.plan_rect().depth == 600 * 18
        assert turned.plan_rect().area == 600 * 18
