"""The navmesh file that lies beside a scene's mesh, where it is one for the body."""

import logging
from pathlib import Path

import numpy as np

from navarena.core.errors import FileError
from navarena.scenes.scene import Scene
from navarena.simulation.body import Embodiment
from navarena.simulation.navmesh.habitat_file import load_habitat_navmesh
from navarena.simulation.navmesh.navmesh import NavMesh

SAME_SIZE = 1e-4
"""Metres by which radius or height of two equal bodies may differ; files keep them in single precision."""

OUTSIDE = 1.0
"""Metres by which a navmesh may reach beyond the bounds of its scene, as over a floor with holes."""

_log = logging.getLogger(__name__)


def load_given_navmesh(path: Path, embodiment: Embodiment, scene: Scene) -> NavMesh | None:
    """The navmesh of a `.navmesh` file; None, and a notice of the reason, where it is of no use.

    That is one for a body of another radius or height, which Habitat builds anew as well, or one outside
    the scene, as where a mesh was read with another axis up or in another unit than Habitat reads it.

    Raises FileError for a file that is damaged.
    """
    try:
        navmesh = load_habitat_navmesh(path)
    except FileError as error:
        raise FileError(f"{error}; where this file is not there, a navmesh is built") from error
    settings = navmesh.settings
    differences = settings.radius - embodiment.radius, settings.height - embodiment.height
    if np.abs(differences).max() > SAME_SIZE:
        _log.warning(
            "%s is for a body of radius %g m and height %g m; building a navmesh for %g m and %g m",
            path,
            settings.radius,
            settings.height,
            embodiment.radius,
            embodiment.height,
        )
        return None
    low, high = navmesh.bounds
    if (low < scene.vertices.min(0) - OUTSIDE).any() or (high > scene.vertices.max(0) + OUTSIDE).any():
        _log.warning(
            "%s lies outside its scene, from %s to %s; building another navmesh; check up axis and scale",
            path,
            low.round(2).tolist(),
            high.round(2).tolist(),
        )
        return None
    return navmesh
