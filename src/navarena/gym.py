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


def gymnasium_ids() -> dict[str, str]:
    """Protocol -> its id; one whose class is called as another's, navarena's first, keeps its own name."""
    found: dict[str, str] = {}
    ours_first = sorted(TASKS.targets().items(), key=lambda one: not one[1].startswith("navarena."))
    for protocol_id, target in ours_first:
        name = gymnasium_id(protocol_id, target)
        found[protocol_id] = f"{NAMESPACE}/{protocol_id}" if name in found.values() else name
    return found


def register_protocols() -> list[str]:
    """Register all protocols that are not registered yet; returns the ids of all."""
    found = gymnasium_ids()
    for protocol_id, name in found.items():
        if name not in gymnasium.registry:
            gymnasium.register(
                name,
                entry_point="navarena.tasks.env:NavigationEnv",
                vector_entry_point="navarena.tasks.vector_env:NavigationVectorEnv",
                kwargs={"task": protocol_id},
            )
    return list(found.values())


IDS = tuple(register_protocols())
"""What this module has registered."""
