"""glTF 2.0, text (.gltf) and binary (.glb)."""

import importlib.util
import io
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import numpy as np
from jaxtyping import Float

from navarena.core.errors import FileError
from navarena.core.files import MAX_QUOTED
from navarena.scenes.formats.gltf_geometry import dictionaries, plain_geometry
from navarena.scenes.formats.gltf_materials import (
    BASIS_EXTENSIONS,
    UNNAMED,
    GltfMaterial,
    number_materials,
    plain_materials,
    read_gltf_materials,
)
from navarena.scenes.formats.gltf_nodes import INSTANCING, plain_nodes
from navarena.scenes.formats.part import (
    Label,
    Look,
    MeshFile,
    Part,
    bare_look,
    color_bytes,
    require_indices,
    vertex_color_bytes,
)
from navarena.scenes.formats.polygons import split_polygons
from navarena.scenes.formats.references import read_gltf_header
from navarena.scenes.formats.texture_images import rgb_image

CATEGORY_KEY, OBJECT_KEY = "category", "object_id"
"""The `extras` of a node or mesh that hold a category make it a labelled object; parts with the
same object id belong together, and other text values become attributes. `export_glb` writes them."""

_NO_ATTRIBUTES = (CATEGORY_KEY, OBJECT_KEY, "units", "name", "node")


def read_gltf(data: bytes, path: Path) -> MeshFile:
    """The parts of a glTF file, one for each mesh primitive of each node, in the world frame.

    The category of a node stands in its extras, or those of its mesh; where the whole file has none,
    names of nodes are taken. A file without scenes gives all of its nodes. Surfaces of double-sided materials
    come twice, once seen from each side.
    """
    import trimesh

    header = read_gltf_header(data)
    _require_extensions(header)
    kind = "glb" if data[:4] == b"glTF" else "gltf"
    if kind == "glb" and int.from_bytes(data[8:12], "little") > len(data):
        size = int.from_bytes(data[8:12], "little")
        raise FileError(f"expected {size} bytes, got {len(data)}; the file is cut short")
    header = plain_materials(plain_nodes(data, header, path))
    materials = read_gltf_materials(data, header, path)
    data = number_materials(data, plain_geometry(data, header, path))
    scene = trimesh.load_scene(io.BytesIO(data), file_type=kind, resolver=_resolver(path), process=False)
    looks: dict[int, Look] = {}  # by identity of the material: meshes share them
    names = _node_names(header)
    order = {name: index for index, name in enumerate(scene.geometry)}
    keys: dict[object, int] = {}
    parts: list[Part] = []
    labels: dict[int, Label] = {}
    # trimesh gives primitives random node names, so these cannot decide the order.
    for node in sorted(scene.graph.nodes_geometry, key=lambda node: _rank(scene, node, order)):
        transform, name = scene.graph[node]
        mesh = scene.geometry[name]
        if not isinstance(mesh, trimesh.Trimesh):
            continue  # lines and points have no surface
        holder = _parent(scene, node) if mesh.metadata.get("from_gltf_primitive") else node
        extras = {**mesh.metadata, **_node_extras(scene, node), **_node_extras(scene, holder)}
        label, key = _label({CATEGORY_KEY: names.get(holder), **extras}), None
        if label is not None:
            key = keys.setdefault(extras.get(OBJECT_KEY, ("node", holder)), len(keys) + 1)
            labels[key] = label
        parts.append(_part(mesh, transform, looks, key, materials))
    return MeshFile(parts, labels, _lost_images(materials, looks.values()))


def _node_names(header: Mapping[str, Any]) -> dict[str, str]:
    """Trimesh's name of a node -> the file's, where no extras of the file hold a category."""
    from trimesh.util import unique_name

    nodes = dictionaries(header, "nodes")
    extras = [one.get("extras") for one in (*nodes, *dictionaries(header, "meshes"))]
    if any(isinstance(one, Mapping) and CATEGORY_KEY in one for one in extras):
        return {}
    known: dict[str, int] = {}
    counts: dict[str, int] = {}
    for index, node in enumerate(nodes):
        known[unique_name(node.get("name", str(index)), known, counts=counts)] = index
    return {name: nodes[index]["name"] for name, index in known.items() if "name" in nodes[index]}


def _resolver(path: Path) -> Any:
    """Finds the files that `path` refers to by URIs, in which a blank reads "%20"."""
    from trimesh.resolvers import FilePathResolver

    class UriResolver(FilePathResolver):  # type: ignore[misc]
        def get(self, name: str) -> bytes:
            data: bytes = super().get(unquote(name))
            return data

    return UriResolver(str(path))


_EXTENSIONS = (
    *BASIS_EXTENSIONS,
    INSTANCING,
    "EXT_texture_webp",
    "KHR_draco_mesh_compression",
    "KHR_lights_punctual",
    "KHR_mesh_quantization",
    "KHR_texture_transform",
)
"""That a file may require: they are read, or, as lights and all of _MATERIALS, change no shape or colour."""

_MATERIALS = "KHR_materials_"


def _require_extensions(header: Mapping[str, Any]) -> None:
    required = header.get("extensionsRequired", [])
    if "EXT_meshopt_compression" in required or "KHR_meshopt_compression" in required:
        raise FileError("meshopt-compressed glTF cannot be read; save it without compression")
    if "KHR_draco_mesh_compression" in required and importlib.util.find_spec("DracoPy") is None:
        raise FileError("Draco-compressed glTF needs one more package; run: pip install DracoPy")
    strange = [name for name in required if name not in _EXTENSIONS and not str(name).startswith(_MATERIALS)]
    if strange:
        raise FileError(
            f"expected extensionsRequired among {', '.join(_EXTENSIONS)} and {_MATERIALS}..., got "
            f"{', '.join(map(str, strange))[:MAX_QUOTED]}; export it again without"
        )


def _lost_images(materials: Sequence[GltfMaterial], looks: Iterable[Look]) -> tuple[str, ...]:
    """One sentence that names the materials whose image could not be decoded, if there are any."""
    textured = {material.name for material in materials if material.textured}
    lost = sorted({look.name for look in looks if look.image is None and look.name in textured})
    return (f"cannot decode the images of {', '.join(lost)}",) if lost else ()


def _rank(scene: Any, node: str, order: Mapping[str, int]) -> tuple[int, str, str]:
    return order[scene.graph[node][1]], _parent(scene, node), node


def _parent(scene: Any, node: str) -> str:
    return str(scene.graph.transforms.parents.get(node, ""))


def _node_extras(scene: Any, node: str) -> Mapping[str, Any]:
    found = scene.graph.transforms.edge_data.get((_parent(scene, node), node), {}).get("metadata")
    return found if isinstance(found, Mapping) else {}


def _label(extras: Mapping[str, Any]) -> Label | None:
    category = extras.get(CATEGORY_KEY)
    if not isinstance(category, str) or not category:
        return None
    texts = {k: v for k, v in extras.items() if isinstance(v, str) and k not in _NO_ATTRIBUTES}
    return Label(category, texts)


def _part(
    mesh: Any,
    transform: Float[np.ndarray, "4 4"],
    looks: dict[int, Look],
    key: int | None,
    materials: Sequence[GltfMaterial],
) -> Part:
    vertices = np.asarray(mesh.vertices, float) @ transform[:3, :3].T + transform[:3, 3]
    triangles, _, _ = split_polygons(np.asarray(mesh.faces))
    require_indices(triangles, len(vertices), "glTF indices")
    if np.linalg.det(transform[:3, :3]) < 0:  # a mirrored copy: keep the fronts in front
        triangles = triangles[:, ::-1]
    visual, described = mesh.visual, GltfMaterial(UNNAMED)
    if visual.kind == "texture":
        # Beside a material, trimesh keeps colours of vertices only here.
        colors = visual.vertex_attributes.get("color")
        material, uv = visual.material, visual.uv
        described = _describe(material, materials)
        if id(material) not in looks:
            looks[id(material)] = _look(material, described)
        look = looks[id(material)]
    else:
        colors = visual.vertex_colors if visual.defined else None
        uv, look = None, bare_look(colors)
    if described.double_sided:
        triangles = np.concatenate([triangles, triangles[:, ::-1]])
    return Part(
        np.ascontiguousarray(vertices),
        np.ascontiguousarray(triangles),
        look,
        None if uv is None else np.asarray(uv, float)[triangles],
        None if colors is None else vertex_color_bytes(np.asarray(colors), len(vertices)),
        object_key=key,
    )


def _describe(material: Any, materials: Sequence[GltfMaterial]) -> GltfMaterial:
    """The entry of the file that became trimesh's `material`; its name is the number."""
    name = str(getattr(material, "name", None) or "")
    return materials[int(name)] if name.isdigit() and int(name) < len(materials) else GltfMaterial(UNNAMED)


def _look(material: Any, described: GltfMaterial) -> Look:
    """Colour and image of a material; the factor is taken as it is, without a gamma step."""
    factor = getattr(material, "baseColorFactor", None)
    texture = getattr(material, "baseColorTexture", None)
    image = described.image
    if image is None and texture is not None:
        image = rgb_image(texture, described.name)
    color = (255, 255, 255) if factor is None else _factor_bytes(np.asarray(factor))
    return Look(described.name, color, image)


def _factor_bytes(factor: np.ndarray) -> tuple[int, int, int]:
    red, green, blue = color_bytes(factor[None, :3])[0].tolist()
    return red, green, blue
