"""The navmesh: where a body can stand, and every question about walking."""

from navarena.simulation.navmesh.habitat_file import load_habitat_navmesh
from navarena.simulation.navmesh.navmesh import NavMesh
from navarena.simulation.navmesh.settings import NavMeshSettings

__all__ = ["NavMesh", "NavMeshSettings", "load_habitat_navmesh"]
