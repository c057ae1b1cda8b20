"""Geometry of glTF files that trimesh misreads."""

import base64
import json
from math import pi

import numpy as np
import pytest
from dataset_samples import flat_png

from navarena.core.errors import FileError
from navarena.scenes.formats.importing import read_mesh

BYTE, SHORT, USHORT, UINT, FLOAT = 5121, 5122, 5123, 5125, 5126
DTYPES = {BYTE: np.uint8, SHORT: np.int16, USHORT: np.uint16, UINT: np.uint32, FLOAT: np.float32}
SQUARE = [[0, 0, 0], [1, 0, 0], [1, 0, -1], [0, 0, -1]]
UV = [[0, 0], [1, 0], [1, 1], [0, 1]]
"""v downwards; upwards they are [0, 1], [1, 1], [1, 0], [0, 0]."""


class Gltf:
    """A text file with one primitive, a square under a texture, that a test changes before it is written."""

    def __init__(self):
        self.data = b""
        self.views = []
        self.accessors = []
        self.texture = {"index": 0}
        self.primitive = {
            "attributes": {"POSITION": self.add(SQUARE), "TEXCOORD_0": self.add(UV)},
            "indices": self.add([[0], [1], [2], [0], [2], [3]], UINT),
            "material": 0,
        }
        self.more = {}

    def view(self, content, **options):
        self.data += bytes(-len(self.data) % 4)
        self.views.append({"buffer": 0, "byteOffset": len(self.data), "byteLength": len(content), **options})
        self.data += content
        return len(self.views) - 1

    def add(self, values, component=FLOAT, padding=0, **options):
        """The number of an accessor of rows, each with so many bytes of padding behind it."""
        rows = np.array(values, DTYPES[component])
        content = b"".join(row.tobytes() + bytes(padding) for row in rows)
        stride = {"byteStride": rows.itemsize * rows.shape[1] + padding} if padding else {}
        self.accessors.append(
            {
                "bufferView": self.view(content, **stride),
                "componentType": component,
                "count": len(rows),
                "type": {1: "SCALAR", 2: "VEC2", 3: "VEC3", 4: "VEC4"}[rows.shape[1]],
                **options,
            }
        )
        return len(self.accessors) - 1

    def sparse(self, values, row, value, component=FLOAT):
        """The number of an accessor of `values` in which `row` is replaced."""
        rows = self.view(np.array([row], np.uint16).tobytes())
        place = self.view(np.array([value], DTYPES[component]).tobytes())
        indices = {"bufferView": rows, "componentType": USHORT}
        return self.add(
            values, component, sparse={"count": 1, "indices": indices, "values": {"bufferView": place}}
        )

    def read(self, tmp_path):
        (part,) = self.read_all(tmp_path).parts
        return part

    def read_all(self, tmp_path, without=()):
        image = "data:image/png;base64," + base64.b64encode(flat_png(0x102030)).decode()
        buffer = "data:application/octet-stream;base64," + base64.b64encode(self.data).decode()
        tree = {
            "asset": {"version": "2.0"},
            "scene": 0,
            "scenes": [{"nodes": [0]}],
            "nodes": [{"mesh": 0}],
            "meshes": [{"primitives": [self.primitive]}],
            "materials": [{"pbrMetallicRoughness": {"baseColorTexture": self.texture}}],
            "textures": [{"source": 0}],
            "images": [{"uri": image}],
            "accessors": self.accessors,
            "bufferViews": self.views,
            "buffers": [{"byteLength": len(self.data), "uri": buffer}],
            **self.more,
        }
        path = tmp_path / "a.gltf"
        path.write_text(json.dumps({key: value for key, value in tree.items() if key not in without}))
        return read_mesh(path)


@pytest.fixture
def gltf():
    return Gltf()


def test_diffuse_colours_of_specular_glossiness_are_base_colours(gltf, tmp_path):
    """Of older exporters; by its default the specular colour is white, and must not drown the diffuse one."""
    name = "KHR_materials_pbrSpecularGlossiness"
    image = {"diffuseTexture": {"index": 0}}
    for gloss, color, texel in (
        (image | {"specularFactor": [0.2, 0.2, 0.2]}, (255, 255, 255), [0x10, 0x20, 0x30]),
        (image | {"diffuseFactor": [1, 0, 0.2, 1]}, (255, 0, 51), [0x10, 0x20, 0x30]),
        ({"diffuseFactor": [1, 0, 0.2, 1]}, (255, 0, 51), None),
    ):
        gltf.more = {"materials": [{"extensions": {name: gloss}}], "extensionsRequired": [name]}
        look = gltf.read(tmp_path).look
        assert look.color == color
        assert (None if look.image is None else look.image[0, 0].tolist()) == texel


def _corners(part):
    """The texture coordinates of the square's corners, v upwards."""
    assert part.triangles.tolist() == [[0, 1, 2], [0, 2, 3]]
    assert part.uv[0, 0].tolist() == part.uv[1, 0].tolist()
    return [*part.uv[0].tolist(), part.uv[1, 2].tolist()]


def test_texture_coordinates_of_whole_numbers(gltf, tmp_path):
    attributes = gltf.primitive["attributes"]
    assert _corners(gltf.read(tmp_path)) == [[0, 1], [1, 1], [1, 0], [0, 0]]
    shorts = np.array(UV) * 65535
    attributes["TEXCOORD_0"] = gltf.add(shorts, USHORT, normalized=True)
    assert _corners(gltf.read(tmp_path)) == [[0, 1], [1, 1], [1, 0], [0, 0]]
    attributes["TEXCOORD_0"] = gltf.add(
        np.array(UV) * 51, BYTE, padding=2, normalized=True
    )  # 51/255: a fifth
    np.testing.assert_allclose(_corners(gltf.read(tmp_path)), [[0, 1], [0.2, 1], [0.2, 0.8], [0, 0.8]])


def test_another_set_of_texture_coordinates(gltf, tmp_path):
    gltf.texture["texCoord"] = 1
    gltf.primitive["attributes"]["TEXCOORD_1"] = gltf.add(np.array(UV) / 2)
    assert _corners(gltf.read(tmp_path)) == [[0, 1], [0.5, 1], [0.5, 0.5], [0, 0.5]]
    gltf.texture["texCoord"] = 3
    with pytest.raises(FileError, match="expected the texture coordinates TEXCOORD_3 .*; export it again"):
        gltf.read(tmp_path)


def test_texture_transform(gltf, tmp_path):
    """The example of its specification: the lower left quarter of the image, turned by 90 degrees."""
    turned = {"offset": [0, 1], "rotation": pi / 2, "scale": [0.5, 0.5]}
    gltf.texture["extensions"] = {"KHR_texture_transform": turned}
    gltf.more = {"extensionsRequired": ["KHR_texture_transform"]}
    expected = [[0, 0], [0, 0.5], [0.5, 0.5], [0.5, 0]]
    np.testing.assert_allclose(_corners(gltf.read(tmp_path)), expected, atol=1e-7)
    gltf.texture["extensions"] = {"KHR_texture_transform": {"offset": [0.25, 0], "scale": [2, 1]}}
    assert _corners(gltf.read(tmp_path)) == [[0.25, 1], [2.25, 1], [2.25, 0], [0.25, 0]]
    gltf.primitive["extensions"] = {"KHR_draco_mesh_compression": {"bufferView": 0, "attributes": {}}}
    with pytest.raises(FileError, match=r"KHR_texture_transform; export it again without Draco compression"):
        gltf.read(tmp_path)


def test_normalised_positions(gltf, tmp_path):
    """Beside an exact 1, -32768 stands for -1 as well."""
    shorts = [[0, 0, 0], [32767, 0, 0], [32767, 0, -32767], [0, 0, -32768]]
    gltf.primitive["attributes"]["POSITION"] = gltf.add(shorts, SHORT, padding=2, normalized=True)
    gltf.more = {"extensionsRequired": ["KHR_mesh_quantization"]}
    assert gltf.read(tmp_path).vertices.tolist() == SQUARE


def test_sparse_accessors(gltf, tmp_path):
    attributes = gltf.primitive["attributes"]
    attributes["POSITION"] = gltf.sparse(SQUARE, 2, [1, 7, -1])
    attributes["TEXCOORD_0"] = gltf.sparse(UV, 1, [0.25, 0])
    gltf.primitive["indices"] = gltf.sparse([[0], [1], [2], [0], [2], [2]], 5, [3], UINT)
    part = gltf.read(tmp_path)
    assert part.vertices.tolist() == [[0, 0, 0], [1, 0, 0], [1, 7, -1], [0, 0, -1]]
    assert _corners(part) == [[0, 1], [0.25, 1], [1, 0], [0, 0]]


@pytest.mark.parametrize("order", [None, [0, 1, 2, 3]])
def test_triangle_fans(gltf, tmp_path, order):
    gltf.primitive["mode"] = 6
    if order is None:
        del gltf.primitive["indices"]
    else:
        gltf.primitive["indices"] = gltf.add(np.array(order)[:, None], USHORT)
    assert gltf.read(tmp_path).triangles.tolist() == [[0, 1, 2], [0, 2, 3]]


def test_a_file_without_scenes_gives_all_of_its_nodes(gltf, tmp_path):
    nodes = [{"mesh": 0, "translation": [0, 0, 1]}, {"translation": [5, 0, 0], "children": [0]}, {"mesh": 0}]
    gltf.more = {"nodes": nodes}
    parts = gltf.read_all(tmp_path, without=("scene", "scenes")).parts
    assert sorted(part.vertices[0].tolist() for part in parts) == [[0, 0, 0], [5, 0, 1]]
    gltf.more = {"nodes": nodes, "scenes": []}
    assert len(gltf.read_all(tmp_path, without=("scene",)).parts) == 2


@pytest.mark.parametrize("key", ["extensionsUsed", "extensionsRequired"])
def test_instances(gltf, tmp_path, key):
    """Turned by 90 degrees about y, the square's corner at (1, 0, 0) comes to (0, 0, -1)."""
    name, half = "EXT_mesh_gpu_instancing", 0.5**0.5
    attributes = {
        "TRANSLATION": gltf.add([[0, 0, 0], [0, 3, 0]]),
        "ROTATION": gltf.add([[0, 0, 0, 1], [0, half, 0, half]]),
        "SCALE": gltf.add([[1, 1, 1], [2, 2, 2]]),
    }
    node = {
        "mesh": 0,
        "name": "chair",
        "translation": [10, 0, 0],
        "extensions": {name: {"attributes": attributes}},
    }
    gltf.more = {"nodes": [node], key: [name]}
    mesh = gltf.read_all(tmp_path)
    first, second = sorted((part.vertices for part in mesh.parts), key=lambda one: one[0, 1])
    assert first[:2] == pytest.approx(np.array([[10, 0, 0], [11, 0, 0]]))
    assert second[:2] == pytest.approx(np.array([[10, 3, 0], [10, 3, -2]]), abs=1e-6)
    assert [label.category for label in mesh.labels.values()] == ["chair", "chair"]
    for wrong, got in (({}, "none of them"), (attributes | {"SCALE": gltf.add([[1, 1, 1]])}, "1, 2")):
        node["extensions"][name]["attributes"] = wrong
        with pytest.raises(FileError, match=f"one number of instances, got {got}; export the file again"):
            gltf.read_all(tmp_path)


def test_extensions_that_nobody_reads_are_named(gltf, tmp_path):
    gltf.more = {"extensionsRequired": ["KHR_materials_unlit"]}
    assert len(gltf.read(tmp_path).triangles) == 2
    gltf.more = {"extensionsRequired": ["KHR_materials_unlit", "FOO_bar"]}
    with pytest.raises(FileError, match="expected extensionsRequired among .*, got FOO_bar; export it again"):
        gltf.read(tmp_path)
