"""The navmesh: where a body can stand, and every question about walking."""

from navarena.simulation.navmesh.goal_fields import GoalFields
from navarena.simulation.navmesh.habitat_file import load_habitat_navmesh
from navarena.simulation.navmesh.navmesh import NavMesh
from navarena.simulation.navmesh.settings import NavMeshSettings
from navarena.simulation.navmesh.table import NavMeshTable
from navarena.simulation.navmesh.topdown import TopDownMap

__all__ = ["GoalFields", "NavMesh", "NavMeshSettings", "NavMeshTable", "TopDownMap", "load_habitat_navmesh"]
