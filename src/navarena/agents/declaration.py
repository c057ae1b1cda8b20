"""What an agent says of itself before it acts; it stands in run.json."""

from dataclasses import dataclass, replace
from typing import Any


@dataclass(frozen=True)
class Declaration:
    """What a reader must know to compare a result.

    Attributes:
        privileged: whether the agent looks behind its observations.
        privileged_inputs: at what, such as "distance to the goal"; empty when it did not say.
        trained_with: corruptions and augmentations that it was trained with, such as "color_jitter".
        sensors: names of the sensors that it asks for; empty when it asks for all of the protocol.
        worker_episodes: how many episodes are worth a process of their own; None where copies may be dear.
    """

    privileged: bool = False
    privileged_inputs: tuple[str, ...] = ()
    trained_with: tuple[str, ...] = ()
    sensors: tuple[str, ...] = ()
    worker_episodes: int | None = None

    def looking_at(self, *inputs: str) -> "Declaration":
        """The same with further privileged inputs."""
        known = tuple(dict.fromkeys((*self.privileged_inputs, *inputs)))
        return replace(self, privileged=True, privileged_inputs=known)


UNDECLARED = Declaration()
"""Of an agent that says nothing, or of none."""


def read_declaration(target: Any) -> Declaration:
    """What a class, a function or an agent declares by attributes; nothing where it has none."""
    inputs = tuple(getattr(target, "privileged_inputs", ()))
    return Declaration(
        bool(getattr(target, "privileged", False)) or bool(inputs),
        inputs,
        tuple(getattr(target, "trained_with", ())),
        tuple(getattr(target, "sensors", None) or ()),
        getattr(target, "worker_episodes", None),
    )
