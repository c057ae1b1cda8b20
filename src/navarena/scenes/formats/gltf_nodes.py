"""Rewrites what trimesh skips of the nodes in glTF files: files without scenes, and instances of a mesh."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from navarena.core.errors import FileError
from navarena.core.files import LIMITS, MAX_QUOTED
from navarena.scenes.formats.gltf_geometry import Accessors, dictionaries

INSTANCING = "EXT_mesh_gpu_instancing"

_SHARED = ("mesh", "name", "extras")
"""What an instance takes from its node: each is an object of its own unless the extras join them."""

_TRANSFORMS = {
    "matrix": (16, LIMITS.number),
    "translation": (3, LIMITS.number),
    "scale": (3, LIMITS.number),
    "rotation": (4, 1.001),
}
"""Of nodes: how many numbers, and the largest one; rotations are unit quaternions, written in float32."""


def plain_nodes(data: bytes, header: Mapping[str, Any], path: Path) -> dict[str, Any]:
    """The header of a file in which every instance is a node, and a scene holds the nodes.

    A file without scenes is a library: its scene has all nodes that are in no other. Raises FileError for
    transforms that are not finite numbers within bounds, and for instances without one number of them.
    """
    nodes = [dict(node) for node in dictionaries(header, "nodes")]
    changed: dict[str, Any] = {**header, "nodes": nodes}
    if not dictionaries(header, "scenes"):
        held = {child for node in nodes for child in node.get("children", [])}
        roots = [index for index in range(len(nodes)) if index not in held]
        changed |= {"scenes": [{"nodes": roots}], "scene": 0}
    accessors = Accessors(data, header, path)
    for node in tuple(nodes):
        if "mesh" in node and INSTANCING in node.get("extensions", {}):
            instances = list(_instances(node, accessors))
            children = range(len(nodes), len(nodes) + len(instances))
            nodes += instances
            node["children"] = [*node.get("children", []), *children]
            del node["mesh"]
    _require_good_nodes(nodes)
    return changed


def _instances(node: Mapping[str, Any], accessors: Accessors) -> Iterator[dict[str, Any]]:
    """The instances of a node's mesh, as nodes within it."""
    attributes = node["extensions"][INSTANCING].get("attributes", {})
    given = {name: attributes[name.upper()] for name in _TRANSFORMS if name.upper() in attributes}
    counts = sorted({accessors.count(index) for index in given.values()})
    if len(counts) != 1:
        raise FileError(
            f"expected TRANSLATION, ROTATION or SCALE of {INSTANCING} with one number of instances, got "
            f"{', '.join(map(str, counts)) or 'none of them'}; export the file again without"
        )
    columns = [accessors.read_floats(index).tolist() for index in given.values()]
    for values in zip(*columns, strict=True):
        yield {name: node[name] for name in _SHARED if name in node} | dict(zip(given, values, strict=True))


def _require_good_nodes(nodes: Sequence[Mapping[str, Any]]) -> None:
    """Raise FileError unless the transforms of all nodes are finite numbers within bounds."""
    for index, node in enumerate(nodes):
        for name, (count, most) in _TRANSFORMS.items():
            values = node.get(name)
            if values is not None and not (
                isinstance(values, list)
                and len(values) == count
                and all(isinstance(value, int | float) and abs(value) <= most for value in values)
            ):
                raise FileError(
                    f"expected {count} numbers of at most {most:g} as {name!r} of node {index}, got "
                    f"{str(values)[:MAX_QUOTED]}"
                )
