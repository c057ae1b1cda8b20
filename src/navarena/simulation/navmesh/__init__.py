"""Navmeshes: the ground that a body can stand on, and geometric queries on it."""

from navarena.simulation.navmesh.habitat_file import load_habitat_navmesh
from navarena.simulation.navmesh.navmesh import NavMesh
from navarena.simulation.navmesh.navmesh_settings import NavMeshSettings
from navarena.simulation.navmesh.queries.goal_fields import GoalFields
from navarena.simulation.navmesh.queries.navmesh_table import NavMeshTable, TopDownMap

__all__ = ["GoalFields", "NavMesh", "NavMeshSettings", "NavMeshTable", "TopDownMap", "load_habitat_navmesh"]
