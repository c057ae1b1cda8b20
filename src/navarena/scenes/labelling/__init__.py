"""Transfer of labels from one mesh of a place to another mesh of it."""

from navarena.scenes.labelling.boxes import OrientedBox, upright_box
from navarena.scenes.labelling.nearest_triangles import Nearest, TriangleTree
from navarena.scenes.labelling.transfer import LabelledSurface, LabelReport, SurfacePart, transfer_labels

__all__ = [
    "LabelReport",
    "LabelledSurface",
    "Nearest",
    "OrientedBox",
    "SurfacePart",
    "TriangleTree",
    "transfer_labels",
    "upright_box",
]
