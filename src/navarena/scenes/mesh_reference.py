"""Mesh references: the path of a mesh file with the options it is read with, "scan.ply?up=z&scale=0.01".

Episodes, `--scene` and `--dataset` name meshes like this, so that a mesh with another up axis or unit
means the same everywhere.
"""

from pathlib import Path
from typing import NamedTuple

from navarena.core.errors import InputError, require_name

MARK = "?"
NAVMESH_SUFFIX = ".navmesh"
OPTIONS = ("categories", "scale", "sides", "up")

SIDES = ("front", "back", "both")
"""Sides of triangles that are surfaces: that from which corners run counter-clockwise, the other, or both."""


class MeshReference(NamedTuple):
    """A mesh file with the options it is read with.

    Attributes:
        path: of the file.
        up_axis: the axis of the file that points up.
        scale: metres for one unit of the file.
        sides: one of SIDES.
        categories: path of a JSON file that maps names of objects to categories; "" for none.
    """

    path: str
    up_axis: str = "y"
    scale: float = 1.0
    sides: str = "front"
    categories: str = ""


def split_reference(text: str, up_axis: str = "y", scale: float = 1.0) -> MeshReference:
    """The file and options that `text` names; `up_axis` and `scale` where it says nothing.

    Raises InputError for options that cannot be read.
    """
    path, mark, options = text.partition(MARK)
    found = {"up": up_axis, "sides": "front", "categories": ""}
    for option in options.split("&") if mark else ():
        name, _, value = option.partition("=")
        require_name("option of a mesh file", name, OPTIONS)
        if name == "scale":
            try:
                scale = float(value)
            except ValueError:
                raise InputError(f"expected a number for the scale in {text!r}, got {value!r}") from None
        else:
            found[name] = value
    require_name("sides of a mesh", found["sides"], SIDES)
    return MeshReference(path, found["up"], scale, found["sides"], found["categories"])


def join_reference(
    path: str, up_axis: str = "y", scale: float = 1.0, sides: str = "front", categories: str = ""
) -> str:
    """The text that names all of them; the path itself for a mesh in metres with y up and fronts alone."""
    options = [f"up={up_axis}"] if up_axis != "y" else []
    options += [f"scale={scale!r}"] if scale != 1.0 else []
    options += [f"sides={sides}"] if sides != "front" else []
    options += [f"categories={categories}"] if categories else []
    return path + MARK + "&".join(options) if options else path


def navmesh_beside(mesh: Path) -> Path | None:
    """Habitat's navmesh of a mesh file, such as X.navmesh or X.basis.navmesh for X.glb and X.basis.glb."""
    plain = mesh.stem.removesuffix(".basis")
    names = dict.fromkeys((mesh.stem, plain, f"{plain}.basis"))
    found = (mesh.with_name(f"{name}{NAVMESH_SUFFIX}") for name in names)
    return next((path for path in found if path.is_file()), None)
