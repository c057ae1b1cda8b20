"""Small scenes made by hand, for the tests of this folder."""

from types import MappingProxyType

import numpy as np

from navarena.scenes.scene import (
    Footprint,
    Material,
    Room,
    Scene,
    SceneObject,
    WalkableSurface,
)


def box_triangles(low, high):
    """(8, 3) corners and (12, 3) triangles of a box seen from outside."""
    low, high = np.asarray(low, float), np.asarray(high, float)
    corners = np.array([[x, y, z] for x in (0, 1) for y in (0, 1) for z in (0, 1)])
    quads = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    triangles = [t for a, b, c, d in quads for t in ((a, b, c), (a, c, d))]
    return low + corners * (high - low), np.array(triangles, np.int32)


def full_scene(scene_id: str = "test/full") -> Scene:
    """A floor and a table with everything a scene can carry."""
    floor, floor_triangles = box_triangles((-2, -0.1, -2), (2, 0, 2))
    table, table_triangles = box_triangles((0, 0, 0), (1, 0.7, 0.5))
    generator = np.random.default_rng(7)
    vertices = np.concatenate([floor, table]).astype(np.float32)
    triangles = np.concatenate([floor_triangles, table_triangles + 8]).astype(np.int32)
    return Scene(
        scene_id=scene_id,
        vertices=vertices,
        triangles=triangles,
        triangle_object=np.repeat(np.array([1, 5], np.int32), 12),
        triangle_material=np.repeat(np.array([1, 0], np.int32), 12),
        materials=(Material("wood", (200, 150, 100), 1), Material("tile", texture=0)),
        triangle_uv=generator.random((24, 3, 2), np.float32),
        textures=(
            generator.integers(0, 255, (4, 8, 3), dtype=np.uint8),
            generator.integers(0, 255, (2, 2, 3), dtype=np.uint8),
        ),
        vertex_color=generator.integers(0, 255, (16, 3), dtype=np.uint8),
        vertex_light=generator.random(16, np.float32),
        objects=(
            SceneObject(1, "floor", (0.0, -0.05, 0.0), (2.0, 0.05, 2.0), room=3),
            SceneObject(
                5,
                "table",
                (np.float64(0.5), np.float32(0.35).item(), 0.25),
                (0.5, 0.35, 0.25),
                yaw=0.1,
                room=3,
                attributes=MappingProxyType({"color": "brown", "material": "wood"}),
            ),
        ),
        rooms=(Room(3, "kitchen", ((-2.0, -2.0), (2.0, -2.0), (2.0, 2.0), (-2.0, 2.0))),),
        ambiguous_share=0.0125,
        walkable=(
            WalkableSurface(
                ((-2.0, -2.0), (2.0, -2.0), (2.0, 2.0), (-2.0, 2.0)),
                (((1.5, 1.5), (1.6, 1.5), (1.6, 1.6)),),
                (0.0, 0.0, 0.0),
                (Footprint(((0.0, 0.0), (1.0, 0.0), (1.0, 0.5), (0.0, 0.5)), 0.0, 0.7),),
            ),
        ),
    )


def plain_scene(scene_id: str = "test/plain") -> Scene:
    """A floor without meaning or looks."""
    vertices, triangles = box_triangles((-2, -0.1, -2), (2, 0, 2))
    zeros = np.zeros(12, np.int32)
    return Scene(scene_id, vertices.astype(np.float32), triangles, zeros, zeros.copy())


def assert_scenes_equal(first: Scene, second: Scene) -> None:
    for name in (
        "vertices",
        "triangles",
        "triangle_object",
        "triangle_material",
        "triangle_uv",
        "vertex_color",
        "vertex_light",
    ):
        a, b = getattr(first, name), getattr(second, name)
        assert (a is None) == (b is None), name
        if a is not None:
            assert a.dtype == b.dtype, name
            np.testing.assert_array_equal(a, b, err_msg=name)
    assert len(first.textures) == len(second.textures)
    for a, b in zip(first.textures, second.textures, strict=True):
        np.testing.assert_array_equal(a, b)
    for name in ("scene_id", "materials", "objects", "rooms", "walkable", "ambiguous_share"):
        assert getattr(first, name) == getattr(second, name), name
