"""Import and export of mesh files: glTF, OBJ and PLY, by trimesh."""

from navarena.scenes.formats.exporting import export_glb
from navarena.scenes.formats.importing import SUFFIXES, import_mesh, read_mesh, read_ply_property

__all__ = ["SUFFIXES", "export_glb", "import_mesh", "read_mesh", "read_ply_property"]
