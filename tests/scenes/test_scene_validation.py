"""Every way in which a scene can be wrong is named with its place."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scene_samples import full_scene, plain_scene

from navarena.core.errors import SceneError
from navarena.scenes.scene import Footprint, Material
from navarena.scenes.validation import validate_scene


def _changed(name, where, value):
    array = getattr(full_scene(), name).copy()
    array[where] = value
    return {name: array}


def _object(**changes):
    scene = full_scene()
    return {"objects": (scene.objects[0], replace(scene.objects[1], **changes))}


def _room(**changes):
    return {"rooms": (replace(full_scene().rooms[0], **changes),)}


def _surface(**changes):
    return {"walkable": (replace(full_scene().walkable[0], **changes),)}


CASES = [
    (_changed("vertices", (3, 1), np.nan), r"finite coordinates within 1,000,000 m, got vertices\[3\] = \["),
    (_changed("vertices", (2, 0), np.inf), r"vertices\[2\] = \[inf"),
    ({"vertices": np.zeros((0, 3), np.float32)}, r"indices from 0 to -1, got triangles\[0\]"),
    ({"vertices": np.zeros((16, 3), np.float32)}, "expected triangles with an area"),
    ({"triangles": np.zeros((0, 3), np.int32)}, "at least one triangle, got none"),
    (_changed("triangles", (5, 2), 16), r"vertex indices from 0 to 15, got triangles\[5\]"),
    (_changed("triangles", (5, 2), -1), r"vertex indices from 0 to 15, got triangles\[5\]"),
    ({"triangle_object": np.zeros(3, np.int32)}, r"triangle_object of shape \(any|\(24\)"),
    (_changed("triangle_object", 4, 9), r"one of the objects, got triangle_object\[4\] = 9"),
    (_changed("triangle_material", 4, 2), r"materials from 0 to 1, got triangle_material\[4\] = 2"),
    ({"materials": ()}, "at least one material"),
    ({"materials": (Material("a", (0, 0, 256)), Material("b"))}, r"materials\[0\], got \(0, 0, 256\)"),
    ({"materials": (Material("a"), Material("b", texture=2))}, r"below 2 in materials\[1\], got 2"),
    ({"triangle_uv": None}, r"expected triangle_uv for the texture of materials\[0\]"),
    (_changed("triangle_uv", (1, 2, 0), np.nan), r"texture coordinates, got triangle_uv\[1\]"),
    ({"textures": (np.zeros((3, 4, 3), np.uint8),) * 2}, r"textures\[0\] .*got \(3, 4, 3\) uint8"),
    ({"vertex_color": np.zeros((3, 3), np.uint8)}, r"vertex_color of shape \(16, 3\)"),
    (_changed("vertex_light", 0, -1), r"got vertex_light\[0\] = -1"),
    (_object(object_id=1), r"each once and rising, got 1 after 1 at objects\[1\]"),
    (_object(object_id=-2), r"got -2 after 1 at objects\[1\]"),
    (_object(category=""), r"expected a category, got none in objects\[1\]"),
    (_object(center=(0.0, np.nan, 0.0)), r"finite box .* in objects\[1\] \(id 5, 'table'\)"),
    (_object(half_size=(0.1, -0.1, 0.1)), "finite box"),
    (_object(room=8), r"expected a known room, got 8 in objects\[1\]"),
    (_room(polygon=((0.0, 0.0), (1.0, 1.0))), r"three finite points .* in rooms\[0\]"),
    (_room(ceiling_height=-1.0), r"ceiling above the floor, got floor 0.0 and ceiling -1.0 in rooms\[0\]"),
    (_surface(outline=()), r"in walkable\[0\].outline"),
    (_surface(holes=(((0.0, 0.0), (1.0, np.nan), (1.0, 1.0)),)), r"in walkable\[0\].holes\[0\]"),
    (_surface(plane=(0.0, np.inf, 0.0)), r"finite plane, .* in walkable\[0\]"),
    (
        _surface(obstacles=(Footprint(((0.0, 0.0), (1.0, 0.0), (1.0, 1.0)), 2.0, 1.0),)),
        r"expected low <= high, got 2.0 and 1.0 in walkable\[0\].obstacles\[0\]",
    ),
]


def _broken(**changes):
    """A scene with changed fields, past the run-time checks of shapes and types."""
    scene = full_scene()
    for name, value in changes.items():
        object.__setattr__(scene, name, value)
    return scene


@pytest.mark.parametrize("changes, message", CASES, ids=[message[:40] for _, message in CASES])
def test_each_fault_is_named(changes, message):
    scene = _broken(**changes)
    with pytest.raises(SceneError, match=message) as caught:
        validate_scene(scene)
    assert str(caught.value).startswith("scene test/full: expected ")


def test_good_scenes_pass():
    validate_scene(full_scene())
    validate_scene(plain_scene())


def test_labels_without_objects():
    with pytest.raises(SceneError, match="0 in a scene without objects, got triangle_object"):
        validate_scene(replace(full_scene(), objects=()))


@settings(max_examples=80, deadline=None)
@given(
    vertices=hnp.arrays(np.float32, st.tuples(st.integers(0, 12), st.just(3)), elements=st.floats(width=32)),
    triangles=hnp.arrays(np.int32, st.tuples(st.integers(0, 9), st.just(3)), elements=st.integers(-2, 12)),
)
def test_random_meshes_pass_only_when_they_can_be_used(vertices, triangles):
    zeros = np.zeros(len(triangles), np.int32)
    scene = replace(
        plain_scene(),
        vertices=vertices,
        triangles=triangles,
        triangle_object=zeros,
        triangle_material=zeros,
    )
    usable = (
        len(triangles) > 0
        and bool((np.abs(vertices) <= 1e6).all())
        and bool(((triangles >= 0) & (triangles < len(vertices))).all())
        and np.count_nonzero(vertices.max(0) > vertices.min(0)) >= 2
    )
    if usable:
        validate_scene(scene)
        assert np.isfinite(scene.bounds).all()
    else:
        with pytest.raises(SceneError):
            validate_scene(scene)
