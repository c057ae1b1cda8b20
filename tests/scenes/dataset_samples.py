"""Small files in the exact layouts of the community's datasets, written by hand.

All show one room: 4 m x 4 m, 2.5 m high, with a bed of 2 x 1.5 x 0.5 m and a chair. Scans have z up.
"""

import gzip
import io
import json
import struct
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from PIL import Image
from scene_samples import box_triangles

ROOM = ((-2.0, -2.0, 0.0), (2.0, 2.0, 2.5))
BED = ((-1.8, -1.8, 0.0), (0.2, -0.3, 0.5))
CHAIR = ((1.0, 1.0, 0.0), (1.5, 1.5, 0.9))
OFFER_HM3D = "https://matterport.com/habitat-matterport-3d-research-dataset"

FLOOR_COLOR, WALL_COLOR, BED_COLOR, CHAIR_COLOR = 0x10A020, 0x3040F0, 0xC01010, 0xFFEE00
HM3D_TABLE = (
    "HM3D Semantic Annotations\n"
    f'1,{FLOOR_COLOR:06X},"floor",0\n'
    f'2,{WALL_COLOR:06X},"wall",0\n'
    f'16,{BED_COLOR:06X},"bed",0\n'
    f'30,{CHAIR_COLOR:06X},"armchair",1\n'
)


def grid_quad(origin, u, v, n=1):
    """(V, 3) points and (T, 3) triangles of a rectangle cut into n x n, seen from the side of u x v."""
    origin, u, v = (np.asarray(a, float) for a in (origin, u, v))
    steps = np.linspace(0, 1, n + 1)
    points = (origin + steps[:, None, None] * u + steps[None, :, None] * v).reshape(-1, 3)
    i = np.arange(n * (n + 1)).reshape(n, n + 1)[:, :n].reshape(-1)
    triangles = np.concatenate([np.stack([i, i + n + 1, i + n + 2], 1), np.stack([i, i + n + 2, i + 1], 1)])
    return points, triangles


def floor_mesh(n=1):
    return grid_quad((-2, -2, 0), (4, 0, 0), (0, 4, 0), n)


def wall_sides(n=1):
    return [
        grid_quad((-2, -2, 0), (0, 0, 2.5), (4, 0, 0), n),
        grid_quad((-2, 2, 0), (4, 0, 0), (0, 0, 2.5), n),
        grid_quad((-2, -2, 0), (0, 4, 0), (0, 0, 2.5), n),
        grid_quad((2, -2, 0), (0, 0, 2.5), (0, 4, 0), n),
    ]


def walls_mesh(n=1):
    return join(wall_sides(n))


def join(meshes):
    starts = np.cumsum([0, *(len(points) for points, _ in meshes)])
    return (
        np.concatenate([points for points, _ in meshes]),
        np.concatenate(
            [triangles + start for (_, triangles), start in zip(meshes, starts[:-1], strict=True)]
        ),
    )


def open_box(low, high):
    """A box without its bottom, which no scanner sees."""
    points, triangles = box_triangles(low, high)
    below = (points[triangles][:, :, 2] == low[2]).all(1)
    return points, triangles[~below]


def room_meshes(n=1):
    """Floor, walls, bed and chair, each as (points, triangles), z up."""
    return [floor_mesh(n), walls_mesh(n), open_box(*BED), open_box(*CHAIR)]


@dataclass
class GlbMesh:
    points: np.ndarray
    triangles: np.ndarray
    uv: np.ndarray | None = None  # v downwards, as glTF has it
    image: bytes | None = None
    mime: str = "image/png"
    extension: str | None = None  # of the texture, for Basis images
    color: tuple[int, int, int] | None = None  # of vertices
    double_sided: bool = False
    name: str = "surface"


def png(pixels):
    data = io.BytesIO()
    Image.fromarray(np.asarray(pixels, np.uint8)).save(data, "PNG")
    return data.getvalue()


def flat_png(color, size=4):
    return png(np.full((size, size, 3), [color >> 16, color >> 8 & 255, color & 255]))


def glb(meshes):
    """A binary glTF file with a node, a mesh and a material for each of `meshes`."""
    binary, views, accessors, out = b"", [], [], {}
    tree = {
        "asset": {"version": "2.0"},
        "scene": 0,
        "scenes": [{"nodes": list(range(len(meshes)))}],
        "nodes": [{"mesh": i} for i in range(len(meshes))],
        "meshes": [],
        "materials": [],
        "textures": [],
        "images": [],
    }

    def view(data):
        nonlocal binary
        binary += b"\0" * (-len(binary) % 4)
        views.append({"buffer": 0, "byteOffset": len(binary), "byteLength": len(data)})
        binary += data
        return len(views) - 1

    def accessor(array, kind, component, **more):
        accessors.append(
            {
                "bufferView": view(array.tobytes()),
                "componentType": component,
                "count": len(array) if kind != "SCALAR" else array.size,
                "type": kind,
                **more,
            }
        )
        return len(accessors) - 1

    for mesh in meshes:
        points = np.asarray(mesh.points, np.float32)
        attributes = {
            "POSITION": accessor(points, "VEC3", 5126, min=points.min(0).tolist(), max=points.max(0).tolist())
        }
        if mesh.uv is not None:
            attributes["TEXCOORD_0"] = accessor(np.asarray(mesh.uv, np.float32), "VEC2", 5126)
        if mesh.color is not None:
            colors = np.tile(np.array([*mesh.color, 255], np.uint8), (len(points), 1))
            attributes["COLOR_0"] = accessor(colors, "VEC4", 5121, normalized=True)
        indices = accessor(np.asarray(mesh.triangles, np.uint32).reshape(-1), "SCALAR", 5125)
        tree["meshes"].append(
            {
                "primitives": [
                    {"attributes": attributes, "indices": indices, "material": len(tree["materials"])}
                ]
            }
        )
        material = {"name": mesh.name, "doubleSided": mesh.double_sided, "pbrMetallicRoughness": {}}
        if mesh.image is not None:
            source = {"source": len(tree["images"])}
            tree["images"].append({"bufferView": view(mesh.image), "mimeType": mesh.mime})
            texture = {"extensions": {mesh.extension: source}} if mesh.extension else source
            material["pbrMetallicRoughness"]["baseColorTexture"] = {"index": len(tree["textures"])}
            tree["textures"].append(texture)
        tree["materials"].append(material)
    out = {key: value for key, value in tree.items() if value != []}
    out |= {"bufferViews": views, "accessors": accessors, "buffers": [{"byteLength": len(binary)}]}
    text = json.dumps(out).encode()
    text += b" " * (-len(text) % 4)
    binary += b"\0" * (-len(binary) % 4)
    chunks = struct.pack("<2I", len(text), 0x4E4F534A) + text
    chunks += struct.pack("<2I", len(binary), 0x004E4942) + binary
    return struct.pack("<4s2I", b"glTF", 2, 12 + len(chunks)) + chunks


def plain_glb(meshes):
    return glb([GlbMesh(points, triangles) for points, triangles in meshes])


# HM3D


def painted_meshes(n=3):
    """The room, one colour for each object in textures; cut otherwise than the image mesh."""
    colors = (FLOOR_COLOR, WALL_COLOR, BED_COLOR, CHAIR_COLOR)
    return [
        GlbMesh(points, triangles, np.full((len(points), 2), 0.5), flat_png(color))
        for (points, triangles), color in zip(room_meshes(n), colors, strict=True)
    ]


def write_hm3d(root, name="val/00800-TEEsavR23oF", basis=False, semantic=True):
    folder = Path(root) / name
    stem = folder.name.partition("-")[2]
    folder.mkdir(parents=True)
    (folder / f"{stem}{'.basis' * basis}.glb").write_bytes(plain_glb(room_meshes(8)))
    if semantic:
        (folder / f"{stem}.semantic.glb").write_bytes(glb(painted_meshes()))
        (folder / f"{stem}.semantic.txt").write_text(HM3D_TABLE)
    return folder


def ktx2(color, side=4):
    """A KTX 2 file with one UASTC image of `side` x `side` pixels, all of this (red, green, blue)."""
    block = 0b10111  # mode 8: one colour
    for index, channel in enumerate((*color, 255)):
        block |= channel << (5 + 8 * index)
    blocks = block.to_bytes(16, "little") * (side // 4) ** 2
    descriptor = struct.pack("<IIHHBBBB", 44, 0, 2, 40, 166, 1, 2, 0)
    descriptor += bytes([3, 3, 0, 0, 16]) + bytes(7)
    descriptor += struct.pack("<HBB4xII", 0, 127, 0, 0, 0xFFFFFFFF)
    start = 12 + 36 + 32 + 24
    head = b"\xabKTX 20\xbb\r\n\x1a\n" + struct.pack("<9I", 0, 1, side, side, 0, 0, 1, 1, 0)
    head += struct.pack("<4I2Q", start, len(descriptor), 0, 0, 0, 0)
    first = start + len(descriptor)
    first += -first % 16
    head += struct.pack("<3Q", first, len(blocks), len(blocks))
    return (head + descriptor).ljust(first, b"\0") + blocks


# MP3D

MP3D_HOUSE = """ASCII 1.1
H 17DRP5sb8fy 17DRP5sb8fy 0 0 4 1 4 4 3 1 0 1  0 0 0 0 0  -2 -2 0  2 2 2.5  0 0 0 0 0
L 0 1 A  0 0 1  -2 -2 0  2 2 2.5  0 0 0 0 0
R 0 0 0 0 b  0 0 1  -2 -2 0  2 2 2.5  2.5  0 0 0 0
S 0 0 0 f  0 0 0  0 0 1  -2 -2 0  2 2 0  0 0 0 0 0
V 0 0 v  -2 -2 0  0 0 1  0 0 0
V 1 0 v  2 -2 0  0 0 1  0 0 0
V 2 0 v  2 2 0  0 0 1  0 0 0
V 3 0 v  -2 2 0  0 0 1  0 0 0
C 0 10 floor 2 floor 0 0 0 0 0
C 1 20 king#size#bed 11 bed 0 0 0 0 0
C 2 30 wall 1 wall 0 0 0 0 0
O 0 0 0  0 0 0  1 0 0  0 1 0  2 2 0.01  0 0 0 0 0 0 0 0
O 1 0 2  0 0 1.25  1 0 0  0 1 0  2 2 1.25  0 0 0 0 0 0 0 0
O 2 0 1  -0.8 -1.05 0.25  1 0 0  0 1 0  1 0.75 0.25  0 0 0 0 0 0 0 0
O 3 0 -1  1.25 1.25 0.45  1 0 0  0 1 0  0.25 0.25 0.45  0 0 0 0 0 0 0 0
E 0 0 1000 16 0 0 0  -2 -2 0 2 2 0  0 0 0 0 0
E 1 1 1001 40 0 0 1  -2 -2 0 2 2 2.5  0 0 0 0 0
E 2 2 1002 5 0 0 0  -2 -2 0 0 0 0.5  0 0 0 0 0
E 3 3 1003 2 0 0 0  1 1 0 1.5 1.5 0.9  0 0 0 0 0
"""


def ply(meshes, properties, values, quads=False, colors=None):
    """A binary PLY; `values` holds for each mesh the values of its faces' `properties`."""
    points, triangles = join(meshes)
    rows = np.repeat(np.arange(len(meshes)), [len(faces) for _, faces in meshes])
    head = ["ply", "format binary_little_endian 1.0", f"element vertex {len(points)}"]
    head += ["property float x", "property float y", "property float z"]
    head += ["property float nx", "property float ny", "property float nz"]
    head += ["property float tx", "property float ty"]
    head += ["property uchar red", "property uchar green", "property uchar blue"]
    head += [f"element face {len(triangles)}", "property list uchar int vertex_indices"]
    head += [f"property int {name}" for name in properties] + ["end_header", ""]
    vertex = np.zeros(len(points), [("p", "<f4", 3), ("n", "<f4", 5), ("c", "u1", 3)])
    vertex["p"], vertex["c"] = points, 200 if colors is None else colors
    face = np.zeros(len(triangles), [("k", "u1"), ("v", "<i4", 3), *((name, "<i4") for name in properties)])
    face["k"], face["v"] = 3, triangles
    for index, name in enumerate(properties):
        face[name] = np.array([value[index] for value in values])[rows]
    return "\n".join(head).encode() + vertex.tobytes() + face.tobytes()


def quad_ply(meshes, values, with_ids=True):
    """Replica's layout: quads with colours of vertices, and object ids if wanted."""
    points = np.concatenate([points for points, _ in meshes])
    rows = []
    start = 0
    for (own, triangles), value in zip(meshes, values, strict=True):
        half = len(triangles) // 2
        for first, second in zip(triangles[:half], triangles[half:], strict=True):
            a, b, c = first
            d = next(k for k in second if k not in first)
            rows.append(([a + start, b + start, c + start, d + start], value))
        start += len(own)
    head = ["ply", "format binary_little_endian 1.0", f"element vertex {len(points)}"]
    head += ["property float x", "property float y", "property float z"]
    head += ["property uchar red", "property uchar green", "property uchar blue"]
    head += [f"element face {len(rows)}", "property list uchar int vertex_indices"]
    head += ["property int object_id"] * with_ids + ["end_header", ""]
    vertex = np.zeros(len(points), [("p", "<f4", 3), ("c", "u1", 3)])
    vertex["p"], vertex["c"] = points, 90
    kind = [("k", "u1"), ("v", "<i4", 4), *([("o", "<i4")] * with_ids)]
    face = np.zeros(len(rows), kind)
    face["k"], face["v"] = 4, [row for row, _ in rows]
    if with_ids:
        face["o"] = [value for _, value in rows]
    return "\n".join(head).encode() + vertex.tobytes() + face.tobytes()


def write_mp3d(root, name="17DRP5sb8fy", house=MP3D_HOUSE):
    folder = Path(root) / name
    folder.mkdir(parents=True)
    (folder / f"{name}.glb").write_bytes(plain_glb(room_meshes(8)))
    values = [(1000, 0, 10), (1001, 1, 30), (1002, 2, 20), (1003, 3, -1)]
    (folder / f"{name}_semantic.ply").write_bytes(
        ply(room_meshes(3), ("material_id", "segment_id", "category_id"), values)
    )
    (folder / f"{name}.house").write_text(house)
    return folder


# Gibson

GIBSON_TABLE = {
    "objects": [
        {
            "id": 3,
            "class_": "bed",
            "location": [-0.8, -1.05, 0.25],
            "size": [2.0, 1.5, 0.5],
            "parent_room": 1,
        },
        {"id": 7, "class_": "chair", "location": [1.25, 1.25, 0.45], "size": [0.5, 0.5, 0.9]},
    ],
    "rooms": [{"id": 1, "scene_category": "living_room", "location": [0, 0, 1.25], "size": [4.0, 4.0, 2.5]}],
}


def write_gibson(root, name="Adrian", table=True, labels=True):
    root = Path(root)
    root.mkdir(parents=True, exist_ok=True)
    (root / f"{name}.glb").write_bytes(plain_glb(room_meshes(8)))
    if table:
        (root / f"{name}.scn").write_text(json.dumps(GIBSON_TABLE))
    if labels:
        upright = [(points[:, [0, 2, 1]] * [1, 1, -1], faces) for points, faces in room_meshes(3)]
        (root / f"{name}_semantic.ply").write_bytes(ply(upright, ("object_id",), [(0,), (0,), (3,), (7,)]))
    return root


# Replica


def replica_table():
    def obj(key, kind, center, sizes, turn=(0, 0, 0, 1), moved=(0, 0, 0)):
        box = {
            "abb": {"center": center, "sizes": sizes},
            "orientation": {"rotation": list(turn), "translation": list(moved)},
        }
        return {"id": key, "class_id": kind, "oriented_bbox": box}

    quarter = float(np.sqrt(0.5))
    return {
        "classes": [{"id": 7, "name": "bed"}, {"id": 20, "name": "chair"}, {"id": 40, "name": "floor"}],
        "objects": [
            obj(1, 40, [0, 0, 0], [4, 4, 0.02]),
            obj(5, 7, [0, 0, 0], [1.5, 2, 0.5], (0, 0, quarter, quarter), (-0.8, -1.05, 0.25)),
            obj(9, 20, [1.25, 1.25, 0.45], [0.5, 0.5, 0.9]),
        ],
    }


def write_replica(root, name="room_0", own_ids=False):
    folder = Path(root) / name
    (folder / "habitat").mkdir(parents=True)
    values = [1, 0, 0, 0, 0, 5, 9]
    boxes = [box_quads(BED), box_quads(CHAIR)]
    (folder / "mesh.ply").write_bytes(
        quad_ply([floor_mesh(8), *wall_sides(8), *boxes], values, with_ids=own_ids)
    )
    (folder / "habitat" / "info_semantic.json").write_text(json.dumps(replica_table()))
    if not own_ids:
        (folder / "habitat" / "mesh_semantic.ply").write_bytes(
            quad_ply([floor_mesh(3), *wall_sides(3), *boxes], values)
        )
    return folder


def box_quads(bounds):
    """A box whose triangles come as `grid_quad` orders them: all first halves, then all second ones."""
    points, triangles = open_box(*bounds)
    return points, np.concatenate([triangles[0::2], triangles[1::2]])


# ProcTHOR


def _point(x, y, z):
    return {"x": x, "y": y, "z": z}


def procthor_house():
    """Two rooms side by side with a doorway between them, a window, a table with a cup; Unity's frame."""
    rooms = {"room|2": (0, 4, "LivingRoom"), "room|3": (4, 7, "Kitchen")}
    walls = []
    for key, (x0, x1, _) in rooms.items():
        number = key.split("|")[1]
        corners = [(x0, 0), (x0, 3), (x1, 3), (x1, 0)]
        for index, (a, b) in enumerate(zip(corners, corners[1:] + corners[:1], strict=True)):
            low = [_point(a[0], 0, a[1]), _point(b[0], 0, b[1])]
            high = [_point(b[0], 2.5, b[1]), _point(a[0], 2.5, a[1])]
            walls.append({"id": f"wall|{number}|{index}", "roomId": key, "polygon": low + high})
    exterior = {**walls[0], "id": "wall|exterior|0", "polygon": walls[0]["polygon"]}
    return {
        "rooms": [
            {
                "id": key,
                "roomType": kind,
                "floorPolygon": [_point(x0, 0, 0), _point(x0, 0, 3), _point(x1, 0, 3), _point(x1, 0, 0)],
            }
            for key, (x0, x1, kind) in rooms.items()
        ],
        "walls": [*walls, exterior],
        "doors": [
            {
                "id": "door|2|3",
                "assetId": "Doorway_1",
                "openable": False,
                "room0": "room|2",
                "room1": "room|3",
                "wall0": "wall|2|2",
                "wall1": "wall|3|0",
                "holePolygon": [_point(0.5, 0, 0), _point(1.5, 2.1, 0)],
            }
        ],
        "windows": [
            {
                "id": "window|2",
                "assetId": "Window_1",
                "wall0": "wall|2|0",
                "wall1": "wall|exterior|0",
                "boundingBox": {"min": _point(1, 1, 0), "max": _point(2, 2, 0)},
            }
        ],
        "objects": [
            {
                "id": "DiningTable|2|0",
                "assetId": "Dining_Table_1",
                "position": _point(2, 0.4, 1),
                "rotation": _point(0, 90, 0),
                "kinematic": True,
                "children": [
                    {"id": "Cup|2|1", "assetId": "Cup_1", "position": _point(2, 0.85, 1.3)},
                ],
            },
            {"id": "Fridge|3|0", "assetId": "Fridge_1", "position": _point(6.5, 0.9, 2.5)},
        ],
        "proceduralParameters": {},
    }


def procthor_assets():
    def asset(name, kind, x, y, z):
        return {"assetId": name, "objectType": kind, "boundingBox": _point(x, y, z)}

    return {
        "DiningTable": [asset("Dining_Table_1", "DiningTable", 1.6, 0.8, 0.8)],
        "Cup": [asset("Cup_1", "Cup", 0.1, 0.1, 0.1)],
        "Fridge": [asset("Fridge_1", "Fridge", 0.8, 1.8, 0.8)],
    }


def write_procthor(root, house=None):
    root = Path(root)
    root.mkdir(parents=True, exist_ok=True)
    line = json.dumps(procthor_house() if house is None else house)
    (root / "val.jsonl.gz").write_bytes(gzip.compress(f"{line}\n{line}\n".encode()))
    (root / "mine.json").write_text(line)
    (root / "asset-database.json").write_text(json.dumps(procthor_assets()))
    return root


# Habitat scene datasets


def write_habitat(root, name="tiny"):
    """A stage with z up, a stool given by its middle and a lamp given by its own origin."""
    root = Path(root)
    for folder in ("stages", "objects/seats", "scenes", "semantics"):
        (root / folder).mkdir(parents=True)
    (root / "stages" / "room.glb").write_bytes(plain_glb([floor_mesh(4), walls_mesh(2)]))
    (root / "objects" / "seats" / "stool.glb").write_bytes(plain_glb([box_triangles((0, 0, 0), (1, 2, 1))]))
    (root / "objects" / "lamp.glb").write_bytes(plain_glb([box_triangles((0, 0, 0), (1, 1, 1))]))
    files = {
        f"{name}.scene_dataset_config.json": {
            "stages": {"paths": {".json": ["stages"]}},
            "objects": {"paths": {".json": ["objects", "objects/*"]}},
            "scene_instances": {
                "default_attributes": {"semantic_scene_instance": "names"},
                "paths": {".json": ["scenes"]},
            },
            "semantic_scene_descriptor_instances": {"names": "semantics/names.json"},
        },
        "stages/room.stage_config.json": {"render_asset": "room.glb", "up": [0, 0, 1], "front": [0, 1, 0]},
        "objects/seats/stool.object_config.json": {"render_asset": "stool.glb", "semantic_id": 4},
        "objects/lamp.object_config.json": {"render_asset": "lamp.glb", "scale": [0.2, 0.5, 0.2]},
        "scenes/one.scene_instance.json": {
            "stage_instance": {"template_name": "stages/room"},
            "object_instances": [
                {
                    "template_name": "stool",
                    "translation": [1, 0.5, 0],
                    "rotation": [0.9238795325112867, 0, 0.3826834323650898, 0],
                    "uniform_scale": 0.5,
                    "motion_type": "STATIC",
                },
                {
                    "template_name": "objects/lamp",
                    "translation": [-1, 0, -1],
                    "translation_origin": "asset_local",
                },
            ],
        },
        "semantics/names.json": {"classes": [{"id": 4, "name": "stool"}]},
    }
    for path, content in files.items():
        (root / path).write_text(json.dumps(content))
    return root
