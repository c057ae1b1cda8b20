"""Objects drawn into single views: the shapes of goals, and their packing for the kernels."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Float32, Int32

from navarena.core.errors import InputError
from navarena.core.kernels import kernel
from navarena.scenes.scene import Scene
from navarena.simulation.rendering import memory_layout as at
from navarena.simulation.rendering.render_mesh import RenderMesh, build_render_mesh
from navarena.simulation.rendering.texel_store import pack_words
from navarena.simulation.rendering.views import ExtraObjects, Views

CYLINDER_HEIGHT, CYLINDER_RADIUS = 0.75, 0.1
"""Metres: the goal cylinders of MultiON (Wani et al. 2020, section 3)."""


def make_cylinder(
    height: float = CYLINDER_HEIGHT, radius: float = CYLINDER_RADIUS, sides: int = 24
) -> RenderMesh:
    """An upright closed cylinder standing on the origin; sizes in metres."""
    angle = np.linspace(0, 2 * np.pi, sides, endpoint=False)
    ring = np.stack([radius * np.cos(angle), np.zeros(sides), -radius * np.sin(angle)], 1)
    top = ring + [0, height, 0]
    vertices = np.concatenate([ring, top, [[0, 0, 0], [0, height, 0]]])
    this, following = np.arange(sides), (np.arange(sides) + 1) % sides
    low, high = np.full(sides, 2 * sides), np.full(sides, 2 * sides + 1)
    faces = np.concatenate(
        [
            np.stack([this, following, following + sides], 1),
            np.stack([this, following + sides, this + sides], 1),
            np.stack([high, this + sides, following + sides], 1),
            np.stack([low, following, this], 1),
        ]
    )
    return make_template(vertices, faces)


def make_template(vertices: np.ndarray, faces: np.ndarray) -> RenderMesh:
    """A shape for ExtraObjects.

    Args:
        vertices: (V, 3) metres, in the frame of the object.
        faces: (T, 3) vertex indices, counter-clockwise seen from outside.
    """
    nothing = np.zeros(len(faces), np.int32)
    vertices = np.ascontiguousarray(vertices, np.float32)
    return build_render_mesh(Scene("template", vertices, faces.astype(np.int32), nothing, nothing))


@dataclass(frozen=True, eq=False)
class PackedExtras:
    """ExtraObjects of N views as the kernels take them, sorted by view; what no camera changes.

    Attributes:
        offset: (N + 1,) where the objects of each view begin.
        view: (E,) the view of each; mesh: (E,) row in the table of meshes.
        position: (E, 3) metres, world frame.
        cosine, sine: (E,) of the yaws.
        words: (E, EXTRA_WORDS) surface, paint and detail, see memory_layout: no texture, full light.
    """

    offset: Int32[np.ndarray, "n1"]
    view: Int32[np.ndarray, "e"]
    mesh: Int32[np.ndarray, "e"]
    position: Float[np.ndarray, "e 3"]
    cosine: Float[np.ndarray, "e"]
    sine: Float[np.ndarray, "e"]
    words: Int32[np.ndarray, "e w"]

    def cameras(self, views: Views, cameras: Float32[np.ndarray, "n 16"]) -> Float32[np.ndarray, "e 16"]:
        """(E, 16) the camera of each object's view, a row of (N, 16), in the frame of the object."""
        moved = np.zeros((len(self.view), at.CAMERA_FLOATS), np.float32)
        if len(moved):
            eyes = np.ascontiguousarray(views.position, np.float64)
            move_cameras(cameras, eyes, self.view, self.position, self.cosine, self.sine, moved)
        return moved


NO_EXTRAS = ExtraObjects(
    (),
    np.zeros(0, np.int64),
    np.zeros(0, np.int64),
    np.zeros((0, 3)),
    np.zeros(0),
    np.zeros((0, 3), np.uint8),
    np.zeros(0, np.int32),
    np.zeros(0, np.int32),
)


def pack_extras(extras: ExtraObjects, views: int, first_template: int) -> PackedExtras:
    """Sort by view; the templates are the rows of the table of meshes from `first_template` on.

    Raises InputError for a view or template that does not exist.
    """
    for name, index, size in (
        ("view_index", extras.view_index, views),
        ("template_index", extras.template_index, len(extras.templates)),
    ):
        if len(index) and not (index.min() >= 0 and index.max() < size):
            raise InputError(f"expected extras.{name} below {size}, got {index.min()} to {index.max()}")
    order = np.argsort(extras.view_index, kind="stable")
    yaw, position = np.asarray(extras.yaw, float)[order], np.asarray(extras.position, float)[order]
    word = pack_words(extras.color[order]).astype(np.int32)
    words = np.zeros((len(order), at.EXTRA_WORDS), np.int32)
    surface, paint, detail = (
        words[:, first:] for first in (at.EXTRA_SURFACE, at.EXTRA_PAINT, at.EXTRA_DETAIL)
    )
    surface[:, at.FLAT_COLOR] = paint[:, at.MEAN_COLOR] = paint[:, at.COLOR] = word
    surface[:, at.INSTANCE] = detail[:, at.DETAIL_INSTANCE] = extras.instance[order]
    surface[:, at.SEMANTIC] = detail[:, at.DETAIL_SEMANTIC] = extras.semantic[order]
    light_is_one = np.float32(1).view(np.int32)
    detail[:, at.DETAIL_TINT + 3 : at.DETAIL_TINT + 12 : 4] = light_is_one
    view = extras.view_index[order].astype(np.int32)
    return PackedExtras(
        np.searchsorted(view, np.arange(views + 1)).astype(np.int32),
        view,
        (extras.template_index[order] + first_template).astype(np.int32),
        np.ascontiguousarray(position),
        np.cos(yaw),
        np.sin(yaw),
        words,
    )


@kernel
def move_cameras(cameras, eyes, view, position, cosine, sine, moved):  # type: ignore[no-untyped-def]
    """Write each object's view's camera, a row of (N, 16) float32, in its own frame into `moved` (E, 16).

    eyes: (N, 3) float64 metres, where the cameras are; the others as in PackedExtras.
    """
    for i in range(view.shape[0]):
        v, c, s = view[i], cosine[i], sine[i]
        for k in range(cameras.shape[1]):
            moved[i, k] = cameras[v, k]
        x, y, z = eyes[v, 0] - position[i, 0], eyes[v, 1] - position[i, 1], eyes[v, 2] - position[i, 2]
        moved[i, 0], moved[i, 1], moved[i, 2] = c * x - s * z, y, s * x + c * z
        for k in (3, 6, 9):
            x, z = np.float64(cameras[v, k]), np.float64(cameras[v, k + 2])
            moved[i, k], moved[i, k + 2] = c * x - s * z, s * x + c * z
