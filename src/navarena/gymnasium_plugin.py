"""Makes the protocols known to `gymnasium.make`; loaded by Gymnasium through an entry point.

Registration holds strings only, so that it imports nothing heavy.
"""

from gymnasium.envs.registration import register

PROTOCOLS = ("pointnav-v1",)
"""Ids of the environments, made as gymnasium.make("navarena/<id>")."""


def register_environments() -> None:
    """Register every protocol in Gymnasium's namespace `navarena`."""
    for protocol_id in PROTOCOLS:
        register(
            protocol_id,
            entry_point="navarena.tasks.env:NavigationEnv",
            vector_entry_point="navarena.tasks.vector_env:NavigationVectorEnv",
            kwargs={"task": protocol_id},
        )
