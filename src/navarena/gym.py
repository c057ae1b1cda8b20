"""Gymnasium ids: importing this module registers every protocol that navarena brings.

Gymnasium imports it by itself when the id says so:

    gymnasium.make("navarena.gym:navarena/PointNav-v1", split="mini")
    gymnasium.make_vec("navarena.gym:navarena/PointNav-v1", num_envs=8, split="mini")
    gymnasium.make("navarena.gym:navarena/IR2R-v1", dataset=R2R, sources=Sources(scenes=..., tours=...))
    gymnasium.make("navarena.gym:navarena/IR2RCE-v1", split="mini")
"""

import gymnasium

from navarena.tasks.catalog import TASKS

NAMESPACE = "navarena"


def gymnasium_id(protocol_id: str, target: str) -> str:
    """The id of a protocol: its task's class name and the protocol's version.

    "pointnav-v1", "navarena.tasks.protocols.point_nav:PointNav" -> "navarena/PointNav-v1".
    """
    version = protocol_id.rpartition("-")[2]
    return f"{NAMESPACE}/{target.partition(':')[2]}-{version}"


def register_protocols() -> list[str]:
    """Register all protocols that are not registered yet; returns the ids of all."""
    found = []
    for protocol_id, target in TASKS.targets().items():
        found.append(gymnasium_id(protocol_id, target))
        if found[-1] not in gymnasium.registry:
            gymnasium.register(
                found[-1],
                entry_point="navarena.tasks.env:NavigationEnv",
                vector_entry_point="navarena.tasks.vector_env:NavigationVectorEnv",
                kwargs={"task": protocol_id},
            )
    return found


IDS = tuple(register_protocols())
"""What this module has registered."""
