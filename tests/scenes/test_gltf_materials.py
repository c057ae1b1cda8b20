"""Double-sided surfaces, Basis images, materials that share a name."""

import importlib.util
import sys
from importlib.machinery import ModuleSpec
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest
from dataset_samples import GlbMesh, flat_png, glb, grid_quad, ktx2

from navarena.core.errors import FileError, MissingExtraError
from navarena.scenes.formats import import_mesh
from navarena.scenes.formats.gltf_materials import decode_basis


def _floor(**fields):
    points, triangles = grid_quad((0, 0, 0), (0, 0, 1), (1, 0, 0))
    return GlbMesh(points, triangles, np.zeros((len(points), 2)), **fields)


def _import(tmp_path, *meshes):
    path = tmp_path / "a.glb"
    path.write_bytes(glb(meshes))
    return import_mesh(path)


def test_double_sided_surfaces_are_seen_from_both_sides(tmp_path):
    scene = _import(tmp_path, _floor(double_sided=True, image=flat_png(0x102030)))
    corners = scene.vertices[scene.triangles].astype(float)
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    assert normals[:, 1].tolist() == [1, 1, -1, -1]
    np.testing.assert_array_equal(scene.triangle_uv[:2], scene.triangle_uv[2:, ::-1])
    assert len(_import(tmp_path, _floor()).triangles) == 2


def test_materials_of_one_name_stay_apart(tmp_path):
    one, two = _floor(image=flat_png(0x102030)), _floor(image=flat_png(0x405060), double_sided=True)
    scene = _import(tmp_path, one, two)
    assert [material.name for material in scene.materials] == ["surface", "surface"]
    shown = [tuple(scene.textures[material.texture][0, 0].tolist()) for material in scene.materials]
    assert shown == [(0x10, 0x20, 0x30), (0x40, 0x50, 0x60)]
    assert np.bincount(scene.triangle_material).tolist() == [2, 4]


@pytest.fixture
def fake_decoder(monkeypatch):
    """A stand-in for opengl_basisu: the image is red on top when its file says so, else at the bottom."""
    module = ModuleType("opengl_basisu")
    module.__spec__ = ModuleSpec("opengl_basisu", None)

    def open_texture(data):
        if b"broken" in data:
            raise ValueError("not a valid file")
        pixels = np.zeros((4, 4, 4), np.uint8)
        pixels[0] = [255, 0, 0, 255]
        flipped = b"flipped" in data
        return SimpleNamespace(y_flipped=flipped, transcode=lambda target: SimpleNamespace(data=pixels))

    module.open = open_texture
    monkeypatch.setitem(sys.modules, "opengl_basisu", module)


@pytest.mark.parametrize(
    ("extension", "mime"),
    [
        ("KHR_texture_basisu", "image/ktx2"),
        ("GOOGLE_texture_basis", "image/x-basis"),
        (None, "image/x-basis"),
    ],
)
def test_basis_images_are_decoded(tmp_path, fake_decoder, extension, mime):
    for data, red_row in ((b"sB plain", 0), (b"sB flipped", 3)):
        scene = _import(tmp_path, _floor(image=data, mime=mime, extension=extension))
        assert scene.textures[0].shape == (4, 4, 3)
        assert np.flatnonzero(scene.textures[0][:, 0, 0]).tolist() == [red_row]


def test_a_basis_image_that_is_damaged(tmp_path, fake_decoder):
    with pytest.raises(FileError, match=r"a\.glb: the Basis image '0' cannot be decoded: not a valid file"):
        _import(tmp_path, _floor(image=b"sB broken", mime="image/x-basis", extension="GOOGLE_texture_basis"))


def test_without_the_extra_the_plain_archive_is_named(tmp_path, monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    monkeypatch.setattr("navarena.scenes.formats.gltf_materials.find_spec", lambda name: None)
    with pytest.raises(MissingExtraError) as error:
        _import(tmp_path, _floor(image=b"sB", mime="image/x-basis", extension="GOOGLE_texture_basis"))
    text = str(error.value)
    assert "a.glb" in text and "navarena[hm3d]" in text and "-glb-" in text


def test_the_real_decoder(tmp_path):
    pytest.importorskip("opengl_basisu", reason="the extra hm3d is not installed")
    image = ktx2((200, 100, 50), 8)
    assert decode_basis(image, "a").shape == (8, 8, 3)
    scene = _import(tmp_path, _floor(image=image, mime="image/ktx2", extension="KHR_texture_basisu"))
    assert (scene.textures[0] == [200, 100, 50]).all()
    with pytest.raises(FileError, match="cannot be decoded"):
        decode_basis(image[:-10], "a")
