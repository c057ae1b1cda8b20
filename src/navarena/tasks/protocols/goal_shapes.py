"""The eight shapes of MultiON's variant: equal in colour, 0.4 m wide, each on a thin stand.

Wani et al. 2020, appendix A.4, "Varying target object shapes": cone, cube, cylinder, frustum, joined
inverted frustums, sphere, tetrahedron and torus. The stand's size is not published; ours puts the
middle of a shape 0.4 m high at the height of the camera (0.88 m).
"""

from functools import cache

import numpy as np
from jaxtyping import Float, Int

from navarena.simulation.rendering.extra_objects import make_template
from navarena.simulation.rendering.render_mesh import RenderMesh

WIDTH = 0.4
"""Metres, horizontally (paper, appendix A.4)."""

STAND_HEIGHT, STAND_RADIUS = 0.68, 0.02
"""Metres."""

SIDES = 24
"""Of round shapes."""

Surface = tuple[Float[np.ndarray, "v 3"], Int[np.ndarray, "t 3"]]
"""Vertices (V, 3) in metres and faces (T, 3), counter-clockwise seen from outside."""


def revolve(profile: Float[np.ndarray, "p 2"], sides: int = SIDES) -> Surface:
    """The surface that a profile makes when it turns about the y axis.

    Args:
        profile: (P, 2) metres: radius and height, in the order in which outside lies to the right.
        sides: of each ring.
    """
    angle = np.linspace(0, 2 * np.pi, sides, endpoint=False)
    radius, height = profile[:, 0, None], profile[:, 1, None]
    rings = np.stack([radius * np.cos(angle), height + 0 * angle, -radius * np.sin(angle)], 2)
    this, following = np.arange(sides), (np.arange(sides) + 1) % sides
    faces = []
    for ring in range(len(profile) - 1):
        low, high = ring * sides, (ring + 1) * sides
        if profile[ring, 0] > 0:
            faces.append(np.stack([low + this, low + following, high + following], 1))
        if profile[ring + 1, 0] > 0:
            faces.append(np.stack([low + this, high + following, high + this], 1))
    return rings.reshape(-1, 3), np.concatenate(faces)


def make_surfaces() -> dict[str, Surface]:
    """The shapes by category, in the order of the class ids, standing at height 0."""
    r, h = WIDTH / 2, WIDTH
    arc, turn = np.linspace(-np.pi / 2, np.pi / 2, 13), np.linspace(0, 2 * np.pi, 17)
    sphere = np.stack([r * np.cos(arc), r + r * np.sin(arc)], 1)
    sphere[[0, -1], 0] = 0.0
    tube = 0.3 * r
    torus = np.stack([r - tube + tube * np.cos(turn), tube + tube * np.sin(turn)], 1)
    return {
        "cone": revolve(np.array([(0, 0), (r, 0), (0, h)])),
        "cube": make_cube(WIDTH),
        "cylinder": revolve(np.array([(0, 0), (r, 0), (r, h), (0, h)])),
        "frustum": revolve(np.array([(0, 0), (r, 0), (r / 2, h), (0, h)])),
        "joined_inverted_frustums": revolve(np.array([(0, 0), (r, 0), (r / 2, r), (r, h), (0, h)])),
        "sphere": revolve(sphere),
        "tetrahedron": make_tetrahedron(WIDTH),
        "torus": revolve(torus),
    }


def make_cube(width: float) -> Surface:
    """A cube of `width` metres on the height 0; (8, 3) vertices and (12, 3) faces."""
    corners = np.array([(x, y, z) for y in (0, 1) for x, z in ((0, 0), (0, 1), (1, 1), (1, 0))], float)
    sides = ((3, 2, 1, 0), (4, 5, 6, 7), (0, 1, 5, 4), (1, 2, 6, 5), (2, 3, 7, 6), (3, 0, 4, 7))
    faces = [face for a, b, c, d in sides for face in ((a, b, c), (a, c, d))]
    return (corners - [0.5, 0, 0.5]) * width, np.array(faces)


def make_tetrahedron(edge: float) -> Surface:
    """A regular tetrahedron of `edge` metres on the height 0; (4, 3) vertices and (4, 3) faces."""
    angle = 2 * np.pi * np.arange(3) / 3
    around = edge / np.sqrt(3)
    base = np.stack([around * np.cos(angle), 0 * angle, -around * np.sin(angle)], 1)
    top = [[0.0, edge * np.sqrt(2 / 3), 0.0]]
    return np.concatenate([base, top]), np.array([(2, 1, 0), (0, 1, 3), (1, 2, 3), (2, 0, 3)])


@cache
def shape_templates() -> tuple[RenderMesh, ...]:
    """The shapes on their stands, by class id, standing on their origin."""
    stand = np.array([(0, 0), (STAND_RADIUS, 0), (STAND_RADIUS, STAND_HEIGHT), (0, STAND_HEIGHT)])
    foot, foot_faces = revolve(stand, 8)
    templates = []
    for vertices, faces in make_surfaces().values():
        raised = vertices + [0.0, STAND_HEIGHT, 0.0]
        templates.append(
            make_template(np.concatenate([foot, raised]), np.concatenate([foot_faces, faces + len(foot)]))
        )
    return tuple(templates)
