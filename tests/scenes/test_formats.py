"""Mesh files made by hand come in with everything they hold."""

import base64
import io
import json
import logging
import struct

import numpy as np
import pytest
import trimesh
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from PIL import Image
from scene_samples import assert_scenes_equal, box_triangles, full_scene

from navarena.core.errors import FileError, InputError, SceneError, UnknownNameError
from navarena.scenes import cache_store
from navarena.scenes.catalog import load_scene
from navarena.scenes.formats import export_glb, import_mesh
from navarena.scenes.formats.importing import read_mesh
from navarena.scenes.formats.part import color_bytes
from navarena.scenes.formats.polygons import split_polygons
from navarena.scenes.formats.references import referenced_files
from navarena.scenes.formats.texture_images import fit_texture
from navarena.scenes.validation import validate_scene

TWO_GROUPS = """
mtllib looks.mtl
v 0 0 0
v 1 0 0
v 1 0 1
v 0 0 1
v 0 1 0
vt 0 0
vt 1 0
vt 1 1
vt 0 1
o room
g floor
usemtl red
f 1/1 4/4 3/3 2/2
g wall_a
usemtl picture
f 1/1 2/2 5/3
"""
LOOKS = """newmtl red
Kd 1 0 0.2
newmtl picture
map_Kd picture.png
"""


def _png(height=4, width=4, seed=0):
    pixels = np.random.default_rng(seed).integers(0, 255, (height, width, 3), dtype=np.uint8)
    data = io.BytesIO()
    Image.fromarray(pixels).save(data, "PNG")
    return pixels, data.getvalue()


def _write(path, text):
    path.write_text(text)
    return path


def _normals(scene):
    a, b, c = (scene.vertices[scene.triangles[:, k]].astype(float) for k in range(3))
    normals = np.cross(b - a, c - a)
    return normals / np.linalg.norm(normals, axis=1, keepdims=True)


# OBJ


@pytest.fixture
def grouped(tmp_path):
    (tmp_path / "looks.mtl").write_text(LOOKS)
    pixels, data = _png()
    (tmp_path / "picture.png").write_bytes(data)
    return _write(tmp_path / "room.obj", TWO_GROUPS), pixels


def test_obj_groups_need_split_objects_and_split_groups(grouped):
    path, pixels = grouped
    scene = import_mesh(path)
    assert [(o.object_id, o.category, dict(o.attributes)) for o in scene.objects] == [
        (1, "floor", {"object": "room"}),
        (2, "wall_a", {"object": "room"}),
    ]
    assert scene.triangle_object.tolist() == [1, 1, 2]
    assert [(m.name, m.color) for m in scene.materials] == [
        ("red", (255, 0, 51)),
        ("picture", (255, 255, 255)),
    ]
    assert scene.triangle_material.tolist() == [0, 0, 1]
    np.testing.assert_array_equal(scene.textures[0], pixels)
    np.testing.assert_array_equal(scene.triangle_uv[2], [[0, 0], [1, 0], [1, 1]])
    assert scene.objects[1].center == (0.5, 0.5, 0.0) and scene.objects[1].half_size == (0.5, 0.5, 0.0)
    np.testing.assert_allclose(_normals(scene), [[0, 1, 0], [0, 1, 0], [0, 0, 1]])
    assert scene.scene_id == str(path)


def test_obj_groups_that_return_and_share_names_with_materials(tmp_path):
    text = "v 0 0 0\nv 1 0 0\nv 0 0 1\nv 1 0 1\n" + "".join(
        f"{kind} {name}\nusemtl {material}\nf {face}\n"
        for kind, name, material, face in (
            ("g", "a_b", "c", "1 3 2"),
            ("g", "a", "b_c", "2 3 4"),
            ("g", "a_b", "d", "1 2 3"),
        )
    )
    scene = import_mesh(_write(tmp_path / "a.obj", text))
    assert [o.category for o in scene.objects] == ["a_b", "a"]
    assert sorted(scene.triangle_object.tolist()) == [1, 1, 2]
    assert sorted({m.name for m in scene.materials}) == ["b_c", "c", "d"]


@pytest.mark.parametrize(
    ("lines", "chairs"),
    [
        ("o chair|V|F|o chair|V|F", 2),  # each object writes its own vertices
        ("V|V|o chair|F|o chair|F", 2),  # all vertices first
        ("g chair|V|F|g chair|V|F", 2),
        ("V|g chair|F|V|g chair|F", 2),
        ("V|V|g chair|F|g table|F|g chair|F", 1),  # a group goes on
        ("o chair|V|usemtl wood|F|usemtl metal|F|o chair|V|F", 2),
        ("o a|V|g chair|F|o b|V|g chair|F", 2),
        ("V|o a|g chair|F|o a|g chair|F", 2),
    ],
)
def test_obj_objects_of_one_name_stay_two(tmp_path, lines, chairs):
    stands_for = {"V": "v 0 0 0\nv 1 0 0\nv 0 0 1", "F": "f 1 3 2"}
    text = "\n".join(stands_for.get(line, line) for line in f"{lines}|o rest|F".split("|"))
    scene = import_mesh(_write(tmp_path / "a.obj", text))
    assert [one.category for one in scene.objects].count("chair") == chairs
    assert len(scene.triangles) == lines.count("F") + 1 == (scene.triangle_object > 0).sum()


def test_obj_without_groups_or_with_one_name_has_no_objects(tmp_path):
    for number, head in enumerate(("", "o scan\n", "g default\n", "o scan\ng default\n")):
        path = _write(tmp_path / f"{number}.obj", f"v 0 0 0\nv 1 0 0\nv 0 0 1\n{head}f 1 3 2\n")
        scene = import_mesh(path)
        assert scene.objects == () and not scene.has_semantics
        assert scene.materials[0].color == (180, 170, 150)


def test_obj_without_its_mtl_is_plain_and_says_so(tmp_path, caplog):
    path = _write(tmp_path / "room.obj", TWO_GROUPS)
    with caplog.at_level(logging.WARNING):
        scene = import_mesh(path)
    assert "looks.mtl not found" in caplog.text
    assert {m.name for m in scene.materials} == {"red", "picture"}
    assert {m.color for m in scene.materials} == {(180, 170, 150)}
    assert scene.textures == ()


@pytest.mark.parametrize(
    "options", ["-s 1 1 1", "-s 1.0 -o 0 0 0", "-clamp on -mm 0 1", "-blendu off\t-t 0 0"]
)
def test_options_of_images_of_obj(tmp_path, options):
    Image.fromarray(np.full((2, 2, 3), 77, np.uint8)).save(tmp_path / "oak 2.png")
    _write(tmp_path / "a.mtl", f"newmtl wood\nmap_Kd {options} oak 2.png\n")
    path = _write(
        tmp_path / "a.obj",
        "mtllib a.mtl\nv 0 0 0\nv 0 0 1\nv 1 0 0\nvt 0 0\nusemtl wood\nf 1/1 2/1 3/1\n",
    )
    assert (import_mesh(path).textures[0] == 77).all()
    assert [name for name, _ in referenced_files(path)] == ["a.mtl", "oak 2.png"]
    _write(tmp_path / "a.mtl", "newmtl wood\nmap_Kd -s 2 2 1 oak 2.png\n")
    with pytest.raises(FileError, match="nor moved, got map_Kd '-s 2 2 1 oak 2.png'; apply -s to"):
        import_mesh(path)


@pytest.mark.parametrize("lines", ["mtllib a.mtl b.mtl\n", "mtllib a.mtl\nmtllib b.mtl\n"])
def test_obj_with_several_libraries(tmp_path, lines):
    _write(tmp_path / "a.mtl", "newmtl red\nKd 1 0 0\n")
    _write(tmp_path / "b.mtl", "newmtl green\nKd 0 1 0\nmap_Kd missing.png\n")
    text = "v 0 0 0\nv 0 0 1\nv 1 0 0\nv 2 0 0\nusemtl red\nf 1 2 3\nusemtl green\nf 2 4 3\n"
    path = _write(tmp_path / "a.obj", lines + text)
    with pytest.raises(FileError, match="expected the file 'missing.png'"):
        import_mesh(path)
    _write(tmp_path / "b.mtl", "newmtl green\nKd 0 1 0\n")
    assert [(m.name, m.color) for m in import_mesh(path).materials] == [
        ("red", (255, 0, 0)),
        ("green", (0, 255, 0)),
    ]


def test_obj_layouts_found_in_the_wild(tmp_path):
    text = (
        "# usemtl not this\r\n  v\t0 0 0 1 0 0\r\nv 1 0 0 0 1 0\r\nv 0 0 1 0 0 1\r\nv 1 0 1 1 1 1\r\n"
        "vn 0 1 0\r\nf\t-4//-1 -2//-1 -3//-1\r\nv 0 0 2 0 0 0\r\nf 3//1 \\\r\n 5//1 4//1 2//1\r\n"
    )
    scene = import_mesh(_write(tmp_path / "wild.obj", text))
    marked = import_mesh(_write(tmp_path / "marked.obj", "\ufeff" + text.partition("\r\n")[2].lstrip()))
    np.testing.assert_array_equal(marked.vertices[marked.triangles], scene.vertices[scene.triangles])
    assert len(scene.triangles) == 3
    np.testing.assert_allclose(_normals(scene), [[0, 1, 0]] * 3)
    corners = scene.vertices[scene.triangles[0]].tolist()
    assert corners == [[0, 0, 0], [0, 0, 1], [1, 0, 0]]
    assert scene.vertex_color[scene.triangles[0]].tolist() == [[255, 0, 0], [0, 0, 255], [0, 255, 0]]
    assert [material.color for material in scene.materials] == [(255, 255, 255)]  # it multiplies the colours


@pytest.mark.parametrize("most", [1, 255])
def test_obj_vertices_without_a_colour_are_white_beside_others(tmp_path, most):
    """A group without any stays plain."""
    text = (
        f"g one\nv 0 0 0 {most} 0 0\nv 1 0 0\nv 0 0 -1 0 {most} 0\nf 1 2 3\n"
        "g two\nv 0 2 0\nv 1 2 0 1.0\nv 0 2 -1\nf 4 5 6\n"
    )
    one, two = read_mesh(_write(tmp_path / "a.obj", text)).parts
    assert one.vertex_color.tolist() == [[255, 0, 0], [255, 255, 255], [0, 255, 0]]
    assert two.vertex_color is None and two.look.color == (180, 170, 150)
    assert two.vertices.tolist() == [[0, 2, 0], [1, 2, 0], [0, 2, -1]]


@pytest.mark.parametrize("white", [1, 255])
def test_obj_colours_of_a_dark_group_are_scaled_as_those_of_the_file(tmp_path, white):
    """A group of numbers up to 1 in a file of 0 to 255 is nearly black, not up to white."""
    dark, light = (1, 0, 1), (200, 100, 0)
    lines = []
    for number, color in enumerate((light, dark)):
        lines.append(f"o part_{number}")
        values = " ".join(str(one * white / 255) for one in color)
        lines += [f"v {x} {number} {z} {values}" for x, z in ((0, 0), (1, 0), (0, 1))]
        lines.append("f " + " ".join(str(3 * number + k) for k in (1, 3, 2)))
    parts = read_mesh(_write(tmp_path / "two.obj", "\n".join(lines))).parts
    assert [part.vertex_color.tolist() for part in parts] == [[list(light)] * 3, [list(dark)] * 3]


@pytest.mark.parametrize("corners", [5, 6, 8])
def test_obj_polygons_become_fans(tmp_path, corners):
    angles = -np.arange(corners) * 2 * np.pi / corners
    lines = [f"v {np.cos(a):.6f} 0 {np.sin(a):.6f}" for a in angles]
    lines.append("f " + " ".join(str(k + 1) for k in range(corners)))
    scene = import_mesh(_write(tmp_path / "p.obj", "\n".join(lines)))
    assert len(scene.triangles) == corners - 2
    np.testing.assert_allclose(_normals(scene), [[0, 1, 0]] * (corners - 2), atol=1e-5)


# a room around a corner, seen from above: 4 x 3 m without 2 x 2 m
CONCAVE = [(0, 0), (4, 0), (4, 3), (3, 3), (3, 1), (1, 1), (1, 3), (0, 3)]
CONCAVE_AREA = 8.0


def _area(scene):
    normals = np.cross(
        *(scene.vertices[scene.triangles[:, k]] - scene.vertices[scene.triangles[:, 0]] for k in (1, 2))
    )
    assert (normals[:, 1] > 0).all()
    return normals[:, 1].sum() / 2


@pytest.mark.parametrize("first", range(8))
def test_concave_polygons_end_at_their_outline(tmp_path, first):
    ring = CONCAVE[first:] + CONCAVE[:first]
    points = "".join(f"v {x} 0 {-z}\nvt {x} {z}\n" for x, z in ring)
    face = "f " + " ".join(f"{k}/{k}" for k in range(1, 9))
    assert _area(import_mesh(_write(tmp_path / "a.obj", f"{points}{face}\n"))) == CONCAVE_AREA
    text = (
        "ply\nformat ascii 1.0\nelement vertex 8\nproperty float x\nproperty float y\nproperty float z\n"
        "element face 1\nproperty list uchar int vertex_indices\nend_header\n"
    )
    rows = "".join(f"{x} 0 {-z}\n" for x, z in ring)
    assert _area(import_mesh(_write(tmp_path / "a.ply", f"{text}{rows}8 0 1 2 3 4 5 6 7\n"))) == CONCAVE_AREA


def test_polygons_that_cross_themselves_stay_fans(tmp_path):
    text = "v 0 0 0\nv 1 0 -1\nv 1 0 0\nv 0 0 -1\nv 0.2 0 -0.1\nf 1 2 3 4 5\n"
    assert len(import_mesh(_write(tmp_path / "a.obj", text)).triangles) == 3


# PLY

PLY_HEAD = """ply
format {format} 1.0
element vertex 5
property float x
property float y
property float z
property uchar red
property uchar green
property uchar blue
element face 2
property list uchar int vertex_indices
property int object_id
property int category_id
end_header
"""
PLY_POINTS = [(0, 0, 0), (1, 0, 0), (1, 0, 1), (0, 0, 1), (2, 0, 0)]


def _ply_with_objects(path, binary, corners=4, order="<"):
    faces = [([0, 3, 2, 1], 7, 3), ([1, 2, 4, 4], 2, 5)]
    if corners == 3:
        faces = [([0, 2, 1], 7, 3), ([1, 2, 4], 2, 5)]
    if corners == "mixed":
        faces = [([1, 2, 4], 2, 5), ([0, 3, 2, 1], 7, 3)]
    kind = {"<": "binary_little_endian", ">": "binary_big_endian"}[order] if binary else "ascii"
    data = PLY_HEAD.format(format=kind).encode()
    for number, point in enumerate(PLY_POINTS):
        color = (10 * number, 20, 30)
        data += (
            struct.pack(f"{order}3f3B", *point, *color)
            if binary
            else (" ".join(map(str, (*point, *color))) + "\n").encode()
        )
    for face, obj, category in faces:
        data += (
            struct.pack(f"{order}B{len(face)}iii", len(face), *face, obj, category)
            if binary
            else (" ".join(map(str, (len(face), *face, obj, category))) + "\n").encode()
        )
    path.write_bytes(data)
    return path


@pytest.mark.parametrize("binary", [True, False])
def test_ply_face_properties_survive_triangulation(tmp_path, binary):
    scene = import_mesh(_ply_with_objects(tmp_path / "a.ply", binary))
    assert scene.triangle_object.tolist() == [7, 7, 2, 2]
    assert [(o.object_id, o.category) for o in scene.objects] == [(2, "category 5"), (7, "category 3")]
    assert scene.objects[1].center == (0.5, 0.0, 0.5)
    assert scene.vertex_color[:, 0].tolist() == [0, 10, 20, 30, 40]
    three = import_mesh(_ply_with_objects(tmp_path / "b.ply", binary, corners=3))
    assert three.triangle_object.tolist() == [7, 2]


@pytest.mark.parametrize("binary, order", [(True, "<"), (True, ">"), (False, "<")])
def test_ply_faces_of_different_size(tmp_path, binary, order):
    scene = import_mesh(_ply_with_objects(tmp_path / "a.ply", binary, "mixed", order))
    assert scene.triangles.tolist() == [[1, 2, 4], [0, 3, 2], [0, 2, 1]]
    assert scene.triangle_object.tolist() == [2, 7, 7]
    assert [o.category for o in scene.objects] == ["category 5", "category 3"]
    assert scene.vertex_color[:, 0].tolist() == [0, 10, 20, 30, 40]
    np.testing.assert_array_equal(scene.vertices, np.array(PLY_POINTS, np.float32))
    cut = (tmp_path / "a.ply").read_bytes()
    for end in (len(cut) - (1 if binary else 20), len(cut) - 60):
        (tmp_path / "b.ply").write_bytes(cut[:end])
        with pytest.raises(FileError):
            import_mesh(tmp_path / "b.ply")


@pytest.mark.parametrize("prefix", ["", "diffuse_"])
def test_ply_colors_of_vertices_have_two_names(tmp_path, prefix):
    colors = "".join(f"property uchar {prefix}{name}\n" for name in ("red", "green", "blue"))
    text = (
        "ply\nformat ascii 1.0\nelement vertex 3\nproperty float x\nproperty float y\nproperty float z\n"
        f"{colors}element face 1\nproperty list uchar int vertex_indices\nend_header\n"
        "0 0 0 9 8 7\n0 0 1 9 8 7\n1 0 0 9 8 7\n3 0 1 2\n"
    )
    scene = import_mesh(_write(tmp_path / "a.ply", text))
    assert scene.vertex_color.tolist() == [[9, 8, 7]] * 3
    assert [material.color for material in scene.materials] == [(255, 255, 255)]  # it multiplies the colours


def test_ply_face_colors_go_to_the_corners_of_each_triangle(tmp_path):
    text = """ply
format ascii 1.0
element vertex 4
property float x
property float y
property float z
element face 2
property list uchar int vertex_indices
property uchar red
property uchar green
property uchar blue
end_header
0 0 0
1 0 0
1 0 1
0 0 1
4 0 3 2 1 200 100 50
3 0 1 2 1 2 3
"""
    scene = import_mesh(_write(tmp_path / "mixed.ply", text))  # faces of four and of three corners
    assert len(scene.triangles) == 3 and len(scene.vertices) == 9
    assert scene.vertex_color[scene.triangles].tolist() == [[[200, 100, 50]] * 3] * 2 + [[[1, 2, 3]] * 3]


@pytest.mark.parametrize("mixed", [False, True])
def test_ply_texture_coordinates_of_faces(tmp_path, mixed):
    _, data = _png(3, 5)
    (tmp_path / "t.png").write_bytes(data)
    text = """ply
format ascii 1.0
comment TextureFile t.png
element vertex 3
property float x
property float y
property float z
element face 2
property list uchar int vertex_indices
property list uchar float texcoord
end_header
0 0 0
0 0 1
1 0 0
3 0 1 2 6 0 0 0.5 0 0.5 1
3 2 1 0 6 0.5 1 0.5 0 0 0
"""
    path = _write(tmp_path / "a.ply", text)
    if mixed:
        head = text[: text.index("0 0 0")].replace("ascii", "binary_big_endian")
        rows = struct.pack(">9f", 0, 0, 0, 0, 0, 1, 1, 0, 0)
        rows += struct.pack(">B3iB6f", 3, 0, 1, 2, 6, 0, 0, 0.5, 0, 0.5, 1)
        rows += struct.pack(">B4iB8f", 4, 2, 1, 0, 0, 8, 0.5, 1, 0.5, 0, 0, 0, 1, 1)
        path.write_bytes(head.encode() + rows)
    scene = import_mesh(path)
    assert scene.triangle_uv[0].tolist() == [[0, 0], [0.5, 0], [0.5, 1]]
    assert scene.triangle_uv[1].tolist() == [[0.5, 1], [0.5, 0], [0, 0]]
    assert not mixed or scene.triangle_uv[2].tolist() == [[0.5, 1], [0, 0], [1, 1]]
    assert scene.textures[0].shape == (4, 4, 3)


# glTF


def _glb(path, scene):
    path.write_bytes(scene.export(file_type="glb"))
    return path


def _box(low=(0, 0, 0), high=(1, 2, 3), **options):
    vertices, faces = box_triangles(low, high)
    return trimesh.Trimesh(vertices, faces, process=False, **options)


def test_glb_vertex_colors_sit_in_visual_vertex_attributes(tmp_path):
    colors = np.random.default_rng(3).integers(0, 255, (8, 4), dtype=np.uint8)
    material = trimesh.visual.material.PBRMaterial(baseColorFactor=[255, 128, 0, 255])
    mesh = _box(visual=trimesh.visual.TextureVisuals(material=material))
    mesh.visual.vertex_attributes["color"] = colors
    with_material = import_mesh(_glb(tmp_path / "a.glb", trimesh.Scene(mesh)))
    np.testing.assert_array_equal(with_material.vertex_color, colors[:, :3])
    assert with_material.materials[0].color == (255, 128, 0)
    bare = import_mesh(_glb(tmp_path / "b.glb", trimesh.Scene(_box(vertex_colors=colors))))
    np.testing.assert_array_equal(bare.vertex_color, colors[:, :3])


def test_glb_nodes_are_placed_and_mirrors_keep_their_fronts(tmp_path):
    scene = trimesh.Scene()
    box = _box()
    scene.add_geometry(box, geom_name="box", node_name="here")
    turned = trimesh.transformations.rotation_matrix(np.pi / 2, (0, 1, 0), (0, 0, 0))
    turned[:3, 3] = (10, 0, 0)
    scene.graph.update("turned", geometry="box", matrix=turned)
    mirror = np.diag([-1.0, 1, 1, 1])
    mirror[0, 3] = -5
    scene.graph.update("mirror", geometry="box", matrix=mirror)
    got = import_mesh(_glb(tmp_path / "a.glb", scene))
    assert len(got.triangles) == 36 and len(got.vertices) == 24
    low, high = got.bounds
    np.testing.assert_allclose(low, (-6, 0, -1), atol=1e-6)
    np.testing.assert_allclose(high, (13, 2, 3), atol=1e-6)
    centers = got.vertices[got.triangles].mean(1)
    for first in (0, 12, 24):  # every box seen from outside
        part = slice(first, first + 12)
        outward = centers[part] - centers[part].mean(0)
        assert (np.einsum("ij,ij->i", _normals(got)[part], outward) > 0).all()


def test_glb_textures_and_extras(tmp_path):
    pixels, data = _png(8, 4)
    image = Image.open(io.BytesIO(data))
    uv = np.random.default_rng(0).random((8, 2))
    material = trimesh.visual.material.PBRMaterial(name="cloth", baseColorTexture=image)
    sofa = _box(visual=trimesh.visual.TextureVisuals(uv=uv, material=material))
    sofa.metadata.update({"category": "sofa", "color": "blue"})
    floor = _box((-5, -1, -5), (5, 0, 5))
    scene = trimesh.Scene()
    scene.add_geometry(floor, geom_name="ground")
    scene.add_geometry(sofa, geom_name="object")
    got = import_mesh(_glb(tmp_path / "a.glb", scene))
    assert [(o.object_id, o.category, dict(o.attributes)) for o in got.objects] == [
        (1, "sofa", {"color": "blue"})
    ]
    assert np.count_nonzero(got.triangle_object == 1) == 12
    np.testing.assert_array_equal(got.textures[0], pixels)
    mine = got.triangle_object == 1
    corners = got.triangles[mine] - got.triangles[mine].min()
    np.testing.assert_allclose(got.triangle_uv[mine], uv[corners], atol=1e-6)


def test_grey_images_of_16_bits(tmp_path):
    pixels = np.array([[0, 257], [25700, 65535]], np.uint16)
    material = trimesh.visual.material.PBRMaterial(baseColorTexture=Image.fromarray(pixels))
    box = _box(visual=trimesh.visual.TextureVisuals(uv=np.zeros((8, 2)), material=material))
    texture = import_mesh(_glb(tmp_path / "a.glb", trimesh.Scene(box))).textures[0]
    assert texture.tolist() == [[[0] * 3, [1] * 3], [[100] * 3, [255] * 3]]


def test_glb_with_an_image_nobody_decodes_is_plain_and_says_so(tmp_path, caplog):
    material = trimesh.visual.material.PBRMaterial(
        name="cloth", baseColorTexture=Image.open(io.BytesIO(_png()[1]))
    )
    box = _box(visual=trimesh.visual.TextureVisuals(uv=np.zeros((8, 2)), material=material))
    path = _glb(tmp_path / "a.glb", trimesh.Scene(box))
    assert len(import_mesh(path).textures) == 1 and not caplog.text
    path.write_bytes(path.read_bytes().replace(b"\x89PNG", b"KTX2"))
    assert import_mesh(path).textures == ()
    assert "cannot decode the images of cloth; using plain colours" in caplog.text


def test_gltf_with_files_beside_it_and_16_bit_colors(tmp_path):
    points = np.array([[0, 0, 0], [0, 0, 1], [1, 0, 0]], np.float32)
    colors = np.array([[65535, 0, 257, 0], [0, 32768, 0, 0], [0, 0, 0, 0]], np.uint16)
    (tmp_path / "my data.bin").write_bytes(points.tobytes() + colors.tobytes())
    header = {
        "asset": {"version": "2.0"},
        "scene": 0,
        "scenes": [{"nodes": [0]}],
        "nodes": [{"mesh": 0, "extras": {"category": "rug"}}, {"mesh": 0}],
        "meshes": [{"primitives": [{"attributes": {"POSITION": 0, "COLOR_0": 1}, "material": 0}]}],
        "materials": [{}],
        "accessors": [
            {"bufferView": 0, "componentType": 5126, "count": 3, "type": "VEC3"},
            {"bufferView": 1, "componentType": 5123, "count": 3, "type": "VEC4", "normalized": True},
        ],
        "bufferViews": [
            {"buffer": 0, "byteOffset": 0, "byteLength": 36},
            {"buffer": 0, "byteOffset": 36, "byteLength": 24},
        ],
        "buffers": [{"uri": "my%20data.bin", "byteLength": 60}],
    }
    path = _write(tmp_path / "a.gltf", json.dumps(header))
    scene = import_mesh(path)
    assert scene.vertex_color.tolist() == [[255, 0, 1], [0, 128, 0], [0, 0, 0]]
    del header["meshes"][0]["primitives"][0]["material"]
    bare = import_mesh(_write(tmp_path / "bare.gltf", json.dumps(header)))
    assert bare.vertex_color.tolist() == scene.vertex_color.tolist()
    header["accessors"][1]["type"] = "VEC2"
    with pytest.raises(FileError, match=r"3 or 4 numbers of colour for each of 3 vertices, got \(3, 2\)$"):
        import_mesh(_write(tmp_path / "b.gltf", json.dumps(header)))
    (tmp_path / "my data.bin").unlink()
    with pytest.raises(FileError, match="cannot import .*a.gltf"):
        import_mesh(path)


@pytest.mark.parametrize("extras", [{}, {"extras": {"category": "rug"}}])
def test_names_of_nodes_are_objects_where_no_category_is_told(tmp_path, extras):
    """Two nodes of one name stay two; a node without a name is nothing."""
    points = np.array([[0, 0, 0], [0, 0, 1], [1, 0, 0]], np.float32)
    places = {"Chair": [0, 0, 0], "Table": [3, 0, 0], "": [6, 0, 0]}
    nodes = [
        {"mesh": 0, "translation": place} | ({"name": name} if name else {}) for name, place in places.items()
    ]
    header = {
        "asset": {"version": "2.0"},
        "scenes": [{"nodes": [0, 1, 2, 3]}],
        "nodes": [*nodes, {"mesh": 0, "name": "Chair", "translation": [9, 0, 0]} | extras],
        "meshes": [{"primitives": [{"attributes": {"POSITION": 0}}]}],
        "accessors": [{"bufferView": 0, "componentType": 5126, "count": 3, "type": "VEC3"}],
        "bufferViews": [{"buffer": 0, "byteOffset": 0, "byteLength": 36}],
        "buffers": [{"uri": "a.bin", "byteLength": 36}],
    }
    (tmp_path / "a.bin").write_bytes(points.tobytes())
    scene = import_mesh(_write(tmp_path / "a.gltf", json.dumps(header)))
    told = [("rug", 9.5)] if extras else [("Chair", 0.5), ("Chair", 9.5), ("Table", 3.5)]
    assert sorted((one.category, one.center[0]) for one in scene.objects) == told
    assert (scene.triangle_object > 0).sum() == len(told)


def test_several_primitives_of_one_node_are_one_object(tmp_path):
    points = np.array([[0, 0, 0], [0, 0, 1], [1, 0, 0]], np.float32)
    attributes = {"attributes": {"POSITION": 0}}
    header = {
        "asset": {"version": "2.0"},
        "scenes": [{"nodes": [0, 1]}],
        "nodes": [
            {"mesh": 0, "name": "a", "extras": {"category": "rug"}},
            {"mesh": 1, "name": "b", "translation": [3, 0, 0]},
        ],
        "meshes": [
            {"primitives": [{**attributes, "material": 1}, {**attributes, "material": 0}]},
            {"primitives": [attributes]},
        ],
        "materials": [
            {"name": "dark", "pbrMetallicRoughness": {"baseColorFactor": [0.2, 0.2, 0.2, 1]}},
            {"name": "light"},
        ],
        "accessors": [{"bufferView": 0, "componentType": 5126, "count": 3, "type": "VEC3"}],
        "bufferViews": [{"buffer": 0, "byteOffset": 0, "byteLength": 36}],
        "buffers": [{"uri": "a.bin", "byteLength": 36}],
    }
    (tmp_path / "a.bin").write_bytes(points.tobytes())
    path = _write(tmp_path / "a.gltf", json.dumps(header))
    scene = import_mesh(path)
    assert [o.category for o in scene.objects] == ["rug"]
    assert scene.triangle_object.tolist() == [1, 1, 0]
    assert [m.name for m in scene.materials] == ["light", "dark", "plain"]
    assert_scenes_equal(scene, import_mesh(path))  # the reading library names primitives at random


def test_export_and_import_keep_geometry_looks_and_meaning(tmp_path):
    scene = full_scene()
    export_glb(scene, tmp_path / "a.glb")
    got = import_mesh(tmp_path / "a.glb")
    assert [(o.category, dict(o.attributes)) for o in got.objects] == [
        ("floor", {}),
        ("table", {"color": "brown", "material": "wood"}),
    ]
    np.testing.assert_allclose(
        np.sort(got.vertices[got.triangles].reshape(24, -1), 0),
        np.sort(scene.vertices[scene.triangles].reshape(24, -1), 0),
    )
    assert {m.name for m in got.materials} == {"wood", "tile"}
    assert sorted(t.shape for t in got.textures) == [(2, 2, 3), (4, 8, 3)]
    np.testing.assert_allclose(np.sort(got.triangle_uv, None), np.sort(scene.triangle_uv, None), atol=1e-6)
    lit = np.rint(scene.vertex_color * scene.vertex_light[:, None])
    assert set(map(tuple, got.vertex_color.tolist())) == set(map(tuple, lit.astype(int).tolist()))


# Options


@pytest.mark.parametrize(
    "up_axis, expected",
    [
        ("y", (1, 2, 3)),
        ("-y", (1, -2, -3)),
        ("z", (1, 3, -2)),
        ("-z", (1, -3, 2)),
        ("x", (-2, 1, 3)),
        ("-x", (2, -1, 3)),
    ],
)
def test_up_axis_and_scale(tmp_path, up_axis, expected):
    path = _write(tmp_path / "a.obj", "v 1 2 3\nv 1 2 4\nv 2 3 5\nf 1 2 3\n")
    plain, turned = import_mesh(path), import_mesh(path, up_axis, 0.01)
    np.testing.assert_allclose(turned.vertices[0], np.array(expected) * 0.01, rtol=1e-6)
    edge = [np.diff(s.vertices[[0, 1, 2]].astype(float), axis=0) for s in (plain, turned)]
    np.testing.assert_allclose(edge[1] @ edge[1].T, edge[0] @ edge[0].T * 1e-4, atol=1e-8)  # rigid
    assert np.linalg.det([*edge[1], np.cross(*edge[1])]) > 0


def test_wrong_options(tmp_path):
    path = _write(tmp_path / "a.obj", "v 0 0 0\nv 1 0 0\nv 0 0 1\nf 1 3 2\n")
    with pytest.raises(UnknownNameError, match="unknown up axis 'up'.*Known: -x, -y, -z, x, y, z"):
        import_mesh(path, "up")
    for scale in (0.0, -1.0, float("nan"), float("inf")):
        with pytest.raises(InputError, match="expected a scale above 0"):
            import_mesh(path, scale=scale)


# Bad files


def _bad_files(folder):
    good_obj = TWO_GROUPS.encode()
    box = trimesh.Scene(_box()).export(file_type="glb")
    ply = _ply_with_objects(folder / "good.ply", True).read_bytes()
    ascii_ply = _ply_with_objects(folder / "good2.ply", False).read_bytes()
    nan_ply = ply.replace(struct.pack("<3f", *PLY_POINTS[4]), struct.pack("<3f", 0, np.nan, 0))
    huge = good_obj.replace(b"f 1/1 2/2 5/3", b"f 1/1 2/2 99999999/3")
    return {
        "empty.obj": (b"", FileError, "is empty"),
        "empty.glb": (b"", FileError, "is empty"),
        "text.obj": (b"hello world\n", SceneError, "expected triangles, got none"),
        "binary.obj": (bytes(range(256)) * 9, SceneError, "expected triangles, got none"),
        "points.obj": (b"v 0 0 0\nv 1 1 1\n", SceneError, "point cloud"),
        "short.obj": (good_obj + b"f 1/1 2", FileError, "at least three corners.*'f 1/1 2' in line 19"),
        "zero.obj": (b"v 0 0 0\nv 1 0 0\nv 0 0 1\nf 0 1 2\n", FileError, "indices from 1 upwards"),
        "huge.obj": (huge, FileError, "cannot import"),
        "before.obj": (b"v 0 0 0\nv 1 0 0\nv 0 0 1\nf -4 -1 -2\n", FileError, "indices from 1 upwards"),
        "long_before.obj": (b"v 0 0 0\nv 1 0 0\nv 0 0 1\nf -1 -2 -9\n", FileError, "from 1 upwards"),
        "words.obj": (b"v a b c\nv 1 0 0\nv 0 0 1\nf 1 2 3\n", FileError, "cannot import"),
        "flat.obj": (b"v 0 0\nv 1 0\nv 0 1\nf 1 2 3\n", FileError, "three coordinates"),
        "nan.obj": (b"v 0 nan 0\nv 1 0 0\nv 0 0 1\nf 1 2 3\n", SceneError, r"\[0.0, nan, 0.0\]"),
        "inf.obj": (b"v 0 1e39 0\nv 1 0 0\nv 0 0 1\nf 1 2 3\n", SceneError, "finite coordinates"),
        "same.obj": (b"v 1 1 1\nv 1 1 1\nv 1 1 1\nf 1 2 3\n", SceneError, "triangles with an area"),
        "text.ply": (b"not a ply", FileError, "no PLY file"),
        "cut.ply": (ply[:-9], FileError, "cut short"),
        "cut_head.ply": (ply[:60], FileError, "cannot import"),
        "cut_ascii.ply": (ascii_ply[:-18], FileError, "cut short"),
        "cloud.ply": (
            b"ply\nformat ascii 1.0\nelement vertex 1\nproperty float x\nproperty float y\n"
            b"property float z\nend_header\n0 0 0\n",
            FileError,
            "point cloud",
        ),
        "nan.ply": (nan_ply, SceneError, "finite coordinates"),
        "range.ply": (ascii_ply.replace(b"4 0 3 2 1", b"4 0 3 2 9"), FileError, "indices from 0 to 4, got 9"),
        "text.glb": (b"hello", FileError, "expected a glTF file"),
        "cut.glb": (box[: len(box) // 2], FileError, "cannot import"),
        "cut_end.glb": (box[:-20], FileError, "cut short"),
        "cut_head.glb": (box[:100], FileError, "expected a glTF file"),
        "none.gltf": (b'{"asset": {"version": "2.0"}}', (FileError, SceneError), "none|cannot import"),
        "list.gltf": (b"[1, 2]", FileError, "got other JSON"),
        "packed.gltf": (
            b'{"asset": {"version": "2.0"}, "extensionsRequired": ["EXT_meshopt_compression"]}',
            FileError,
            "meshopt",
        ),
        "scene.stl": (b"solid", FileError, "unknown mesh suffix '.stl'.*Known: .glb, .gltf, .obj, .ply"),
        "scene": (b"solid", FileError, "unknown mesh suffix"),
    }


def test_bad_files_give_one_clear_error(tmp_path):
    for name, (data, kind, message) in _bad_files(tmp_path).items():
        path = tmp_path / name
        path.write_bytes(data)
        with pytest.raises(kind, match=message) as caught:
            import_mesh(path)
        assert str(path) in str(caught.value), name


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_damaged_files_never_raise_anything_else(tmp_path, data):
    kinds = {
        "obj": TWO_GROUPS.encode(),
        "glb": trimesh.Scene(_box()).export(file_type="glb"),
        "ply": _ply_with_objects(tmp_path / "good.ply", True).read_bytes(),
        "mixed": _ply_with_objects(tmp_path / "good.ply", True, "mixed").read_bytes(),
        "ascii": _ply_with_objects(tmp_path / "good.ply", False).read_bytes(),
    }
    kind = data.draw(st.sampled_from(sorted(kinds)))
    content = bytearray(kinds[kind])
    for _ in range(data.draw(st.integers(1, 4))):
        place = data.draw(st.integers(0, len(content) - 1))
        content[place] = data.draw(st.one_of(st.integers(0, 255), st.sampled_from(b"0123456789-. \n")))
    if data.draw(st.booleans()):
        del content[data.draw(st.integers(1, len(content))) :]
    path = tmp_path / f"a.{kind if kind in ('obj', 'glb') else 'ply'}"
    path.write_bytes(bytes(content))
    try:
        scene = import_mesh(path)
    except (FileError, SceneError):
        return
    validate_scene(scene)


def test_missing_files_and_folders(tmp_path):
    with pytest.raises(FileError, match="does not exist; check the path"):
        import_mesh(tmp_path / "no.obj")
    with pytest.raises(FileError, match="got the folder"):
        import_mesh(tmp_path)


def _textured_gltf(path, uri):
    """A glTF file of one triangle whose picture lies in a file of its own; returns its path."""
    high = {"min": [0, 0, 0], "max": [1, 0, 1]}
    data = np.array([[0, 0, 0], [0, 0, 1], [1, 0, 0]], "<f4").tobytes() + np.zeros((3, 2), "<f4").tobytes()
    content = {
        "asset": {"version": "2.0"},
        "scene": 0,
        "scenes": [{"nodes": [0]}],
        "nodes": [{"mesh": 0}],
        "meshes": [{"primitives": [{"attributes": {"POSITION": 0, "TEXCOORD_0": 1}, "material": 0}]}],
        "materials": [{"name": "oak", "pbrMetallicRoughness": {"baseColorTexture": {"index": 0}}}],
        "textures": [{"source": 0}],
        "images": [{"uri": uri}],
        "buffers": [{"byteLength": 60, "uri": "data:;base64," + base64.b64encode(data).decode()}],
        "bufferViews": [
            {"buffer": 0, "byteOffset": 0, "byteLength": 36},
            {"buffer": 0, "byteOffset": 36, "byteLength": 24},
        ],
        "accessors": [
            {"bufferView": 0, "componentType": 5126, "count": 3, "type": "VEC3", **high},
            {"bufferView": 1, "componentType": 5126, "count": 3, "type": "VEC2"},
        ],
    }  # fmt: skip
    path.write_text(json.dumps(content))
    return path


def _packs_below(folder):
    return [path for path in folder.rglob("*") if path.is_file() and path.suffix == ".pack"]


def test_a_missing_texture_is_an_error_that_names_it_and_leaves_nothing(tmp_path, monkeypatch):
    monkeypatch.setattr(cache_store, "cache_folder", lambda: tmp_path / "cache")
    path = _textured_gltf(tmp_path / "room.gltf", "images/oak%20dark.png")
    with pytest.raises(FileError, match=r"room\.gltf: expected the file 'images/oak dark.png'"):
        load_scene(path)
    assert not _packs_below(tmp_path)
    (tmp_path / "images").mkdir()
    (tmp_path / "images" / "oak dark.png").write_bytes(_png()[1])
    assert len(load_scene(path).textures) == 1 and len(_packs_below(tmp_path)) == 1

    (tmp_path / "looks.mtl").write_text(LOOKS)
    with pytest.raises(FileError, match=r"room\.obj: expected the file 'picture.png'"):
        load_scene(_write(tmp_path / "room.obj", TWO_GROUPS))
    assert len(_packs_below(tmp_path)) == 1


def test_a_damaged_image_is_named(tmp_path):
    (tmp_path / "looks.mtl").write_text(LOOKS)
    (tmp_path / "picture.png").write_bytes(_png(64, 64)[1][:200])
    path = _write(tmp_path / "room.obj", TWO_GROUPS)
    with pytest.raises(FileError, match="the image of material 'picture' cannot be read"):
        import_mesh(path)


# Pieces


def test_fans_by_hand():
    triangles, polygon, corner = split_polygons(
        [np.array([9, 8, 7, 6]), np.array([1, 2]), np.array([3, 4, 5])]
    )
    assert triangles.tolist() == [[9, 8, 7], [9, 7, 6], [3, 4, 5]]
    assert polygon.tolist() == [0, 0, 2]
    assert corner.tolist() == [[0, 1, 2], [0, 2, 3], [0, 1, 2]]
    same, _, _ = split_polygons(np.array([[9, 8, 7, 6]]))
    assert same.tolist() == [[9, 8, 7], [9, 7, 6]]
    assert split_polygons([])[0].shape == (0, 3)


def test_color_bytes_by_hand():
    assert color_bytes(np.array([[0.0, 0.5, 1.0, 1.0]])).tolist() == [[0, 128, 255]]
    assert color_bytes(np.array([[0.0, 128.0, 255.0]])).tolist() == [[0, 128, 255]]
    assert color_bytes(np.array([[np.nan, 300.0, -4.0]])).tolist() == [[0, 255, 0]]
    assert color_bytes(np.array([[0, 32896, 65535]], np.uint16)).tolist() == [[0, 128, 255]]


@pytest.mark.parametrize("shape, fitted", [((4, 8), (4, 8)), ((100, 5), (128, 4)), ((1, 3), (1, 4))])
def test_textures_get_sides_of_powers_of_two(shape, fitted):
    image = np.full((*shape, 3), 77, np.uint8)
    assert fit_texture(image).shape == (*fitted, 3)
    assert (fit_texture(image) == 77).all()


def test_the_dungeon(dungeon_folder):
    scene = import_mesh(dungeon_folder / "dungeon.obj")
    assert scene.triangles.shape == (10133, 3) and scene.objects == ()
    low, _ = scene.bounds
    np.testing.assert_allclose(low, (-25.0152, -0.0027, -90.0413), atol=1e-3)


@pytest.mark.real_data
def test_the_dungeon_with_vertex_colors(real_data, dungeon_folder):
    colored = import_mesh(real_data / "meshes" / "dungeon_vcol.glb")
    plain = import_mesh(dungeon_folder / "dungeon.obj")
    golden = np.load(real_data / "goldens" / "mesh_dungeon.npz")
    for scene in (colored, plain):
        np.testing.assert_array_equal(
            scene.vertices[scene.triangles], golden["vertices"][golden["faces"]].astype(np.float32)
        )
    np.testing.assert_array_equal(
        colored.vertex_color[colored.triangles], golden["vcol_rgb"][golden["faces"]]
    )
