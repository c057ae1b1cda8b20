"""Rooms and storeys of datasets that only say which objects share a room."""

import numpy as np
from dataset_samples import grid_quad, join

from navarena.scenes.datasets.mesh_reader import ObjectRecord, with_objects
from navarena.scenes.datasets.rooms import plan_hull, rooms_from_objects, storeys
from navarena.scenes.labelling import OrientedBox
from navarena.scenes.scene import Scene
from navarena.scenes.validation import validate_scene


def _scene(meshes, owners):
    points, triangles = join(meshes)
    owner = np.repeat(np.array(owners, np.int32), [len(faces) for _, faces in meshes])
    return Scene(
        "t",
        points.astype(np.float32),
        triangles.astype(np.int32),
        owner,
        np.zeros(len(triangles), np.int32),
    )


def _floor(x, y, size=2.0):
    return grid_quad((x, y, 0), (0, 0, size), (size, 0, 0))


def _wall(x, y, height):
    return grid_quad((x, y, 0), (0, height, 0), (0, 0, 2))


def test_storeys_are_gaps_between_floor_heights():
    assert storeys(np.array([0.1, 3.0, 0.0, 2.9, -2.8, 0.2])).tolist() == [1, 2, 1, 2, 0, 1]
    assert storeys(np.zeros(0)).tolist() == []
    assert storeys(np.array([0.0, 1.0, 2.0])).tolist() == [0, 0, 0]  # steps of a split level


def test_rooms_on_two_storeys():
    meshes = [_floor(0, 0), _wall(0, 0, 2.5), _floor(0, 3), _wall(0, 3, 2.4), _floor(9, 0), _wall(5, 0, 1)]
    scene = _scene(meshes, [1, 2, 3, 4, 5, 6])
    records = {key: ObjectRecord("floor" if key in (1, 3, 5) else "wall") for key in range(1, 7)}
    room_of = {1: 10, 2: 10, 3: 11, 4: 11, 6: 12}
    built = rooms_from_objects(with_objects(scene, records), room_of, ("floor",))
    validate_scene(built)
    assert [(room.room_id, room.level, room.floor_height) for room in built.rooms] == [
        (10, 0, 0.0),
        (11, 1, 3.0),
    ]  # room 12 is a wall alone: it has no plan
    assert [room.ceiling_height for room in built.rooms] == [2.5, np.float32(5.4)]
    assert sorted(built.rooms[0].polygon) == [(0, 0), (0, 2), (2, 0), (2, 2)]
    assert [(obj.room, obj.level) for obj in built.objects] == [
        (10, 0),
        (10, 0),
        (11, 1),
        (11, 1),
        (None, 0),
        (None, 0),
    ]


def test_plans_without_an_area_have_no_hull():
    assert plan_hull(np.array([[0, 0], [1, 1], [2, 2.0]])) is None
    assert plan_hull(np.zeros((2, 2))) is None


def test_objects_need_triangles_or_a_box():
    scene = _scene([_floor(0, 0), _floor(5, 0)], [1, 9])
    box = OrientedBox((1.0, 2.0, 3.0), (0.1, 0.2, 0.3), 0.5)
    records = {1: ObjectRecord("floor"), 2: ObjectRecord("lamp", box=box), 3: ObjectRecord("ghost")}
    built = with_objects(scene, records)
    assert [obj.object_id for obj in built.objects] == [1, 2]
    assert built.objects[1].center == (1.0, 2.0, 3.0) and built.objects[1].yaw == 0.5
    assert sorted(set(built.triangle_object.tolist())) == [0, 1]  # 9 is nobody
