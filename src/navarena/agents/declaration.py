"""Declaration of an agent: its privileged inputs, sensors and training, as run.json records them."""

from dataclasses import dataclass, replace
from typing import Any


@dataclass(frozen=True)
class Declaration:
    """Declaration of an agent: its privileged inputs, sensors and training.

    Attributes:
        privileged: whether the agent uses more than its observations.
        privileged_inputs: what else it uses, such as "distance to the goal"; empty if it did not say.
        trained_with: corruptions and augmentations that it was trained with, such as "color_jitter".
        sensors: names of the sensors that it asks for; empty when it asks for all of the protocol.
        worker_episodes: least number of episodes for each worker process; None if copies are expensive.
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
"""Declaration of an agent that says nothing, or of no agent."""


def read_declaration(target: Any) -> Declaration:
    """The declaration in the attributes of a class, a function or an agent; UNDECLARED without them."""
    inputs = tuple(getattr(target, "privileged_inputs", ()))
    return Declaration(
        bool(getattr(target, "privileged", False)) or bool(inputs),
        inputs,
        tuple(getattr(target, "trained_with", ())),
        tuple(getattr(target, "sensors", None) or ()),
        getattr(target, "worker_episodes", None),
    )
