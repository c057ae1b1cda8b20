"""Bodies that move in scenes and look at them."""

from navarena.simulation.body import Camera, Embodiment
from navarena.simulation.body_catalog import BODIES, get_body
from navarena.simulation.motion import ACTIONS
from navarena.simulation.simulator import Simulator
from navarena.simulation.world import World, WorldCache, make_navmesh, open_world

__all__ = [
    "ACTIONS",
    "BODIES",
    "Camera",
    "Embodiment",
    "Simulator",
    "World",
    "WorldCache",
    "get_body",
    "make_navmesh",
    "open_world",
]
