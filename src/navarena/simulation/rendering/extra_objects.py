"""Objects drawn into single views: the shapes of goals, and their packing for the kernels."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float32, Int32

from navarena.core.errors import InputError
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
    """ExtraObjects as the kernels take them, sorted by view.

    Attributes:
        view: (E,) the view of each; mesh: (E,) row in the table of meshes.
        cameras: (E, 16) the view's camera in the frame of the object, see memory_layout.
        words: (E, EXTRA_WORDS) surface, paint and detail, see memory_layout: no texture, full light.
    """

    view: Int32[np.ndarray, "e"]
    mesh: Int32[np.ndarray, "e"]
    cameras: Float32[np.ndarray, "e 16"]
    words: Int32[np.ndarray, "e w"]

    def offset(self, views: int) -> Int32[np.ndarray, "n1"]:
        """(views + 1,) int32, where the objects of each view begin."""
        return np.searchsorted(self.view, np.arange(views + 1)).astype(np.int32)


NO_EXTRAS = PackedExtras(
    np.zeros(0, np.int32),
    np.zeros(0, np.int32),
    np.zeros((0, at.CAMERA_FLOATS), np.float32),
    np.zeros((0, at.EXTRA_WORDS), np.int32),
)


def pack_extras(
    extras: ExtraObjects, views: Views, cameras: Float32[np.ndarray, "n 16"], first_template: int
) -> PackedExtras:
    """Sort by view and move each view's camera, a row of (N, 16) float32, into the frames of its objects.

    Raises InputError for a view or template that does not exist.
    """
    for name, index, size in (
        ("view_index", extras.view_index, len(views)),
        ("template_index", extras.template_index, len(extras.templates)),
    ):
        if len(index) and not (index.min() >= 0 and index.max() < size):
            raise InputError(f"expected extras.{name} below {size}, got {index.min()} to {index.max()}")
    order = np.argsort(extras.view_index, kind="stable")
    view = extras.view_index[order]
    yaw, position = np.asarray(extras.yaw, float)[order], np.asarray(extras.position, float)[order]
    c, s = np.cos(yaw), np.sin(yaw)

    def turn_back(world: np.ndarray) -> np.ndarray:
        """World directions (E, 3) in the frames of the objects."""
        x, y, z = world.T
        return np.stack([c * x - s * z, y, s * x + c * z], 1)

    moved = cameras[view].copy()
    moved[:, 0:3] = turn_back(np.asarray(views.position, float)[view] - position)
    for first in (3, 6, 9):
        moved[:, first : first + 3] = turn_back(cameras[view, first : first + 3].astype(float))
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
    return PackedExtras(
        view.astype(np.int32),
        (extras.template_index[order] + first_template).astype(np.int32),
        np.ascontiguousarray(moved),
        words,
    )
