"""Mesh references: the path of a mesh file with its up axis and scale, "scan.ply?up=z&scale=0.01".

Episodes, `--scene` and `--dataset` name meshes like this, so that a mesh with another up axis or unit
means the same everywhere.
"""

from typing import NamedTuple

from navarena.core.errors import InputError, require_name

MARK = "?"
OPTIONS = ("scale", "up")


class MeshReference(NamedTuple):
    """A mesh file with its up axis and unit.

    Attributes:
        path: of the file.
        up_axis: the axis of the file that points up.
        scale: metres for one unit of the file.
    """

    path: str
    up_axis: str
    scale: float


def split_reference(text: str, up_axis: str = "y", scale: float = 1.0) -> MeshReference:
    """The file, up axis and scale that `text` names; `up_axis` and `scale` where it says nothing.

    Raises InputError for options that cannot be read.
    """
    path, mark, options = text.partition(MARK)
    for option in options.split("&") if mark else ():
        name, _, value = option.partition("=")
        require_name("option of a mesh file", name, OPTIONS)
        if name == "up":
            up_axis = value
        else:
            try:
                scale = float(value)
            except ValueError:
                raise InputError(f"expected a number for the scale in {text!r}, got {value!r}") from None
    return MeshReference(path, up_axis, scale)


def join_reference(path: str, up_axis: str = "y", scale: float = 1.0) -> str:
    """The text that names all three; the path itself for a mesh in metres with y up."""
    options = [f"up={up_axis}"] if up_axis != "y" else []
    options += [f"scale={scale!r}"] if scale != 1.0 else []
    return path + MARK + "&".join(options) if options else path
