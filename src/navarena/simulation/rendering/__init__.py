"""Images of scenes: the visibility-buffer renderer and the reference engine behind one door."""

from navarena.simulation.rendering.engine import Renderer, VisibilityRenderer
from navarena.simulation.rendering.extras import make_cylinder, make_template
from navarena.simulation.rendering.reference import ReferenceRenderer
from navarena.simulation.rendering.render_mesh import RenderMesh, build_render_mesh
from navarena.simulation.rendering.views import ExtraObjects, Frames, Views

__all__ = [
    "ExtraObjects",
    "Frames",
    "ReferenceRenderer",
    "RenderMesh",
    "Renderer",
    "Views",
    "VisibilityRenderer",
    "build_render_mesh",
    "make_cylinder",
    "make_template",
]
