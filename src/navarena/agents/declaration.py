"""Declaration of an agent: its privileged inputs, sensors and training, as run.json records them."""

import re
import reprlib
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Any

from navarena.core.errors import InputError
from navarena.core.protocol_ids import IMAGE_SIZE

SHA256 = re.compile("[0-9a-f]{64}")


@dataclass(frozen=True)
class Declaration:
    """Declaration of an agent: its privileged inputs, sensors and training.

    Attributes:
        privileged: whether the agent uses more than its observations.
        privileged_inputs: what else it uses, such as "distance to the goal"; empty if it did not say.
        trained_with: corruptions and augmentations that it was trained with, such as "color_jitter".
        sensors: names of the sensors that it asks for; empty when it asks for all of the protocol.
        worker_episodes: least number of episodes for each worker process; None if copies are expensive.
        resizes: sizes to which it brings the protocol's images itself, such as "depth=64x64".
        model_sha256: of its weights; empty of an agent that names none.
    """

    privileged: bool = False
    privileged_inputs: tuple[str, ...] = ()
    trained_with: tuple[str, ...] = ()
    sensors: tuple[str, ...] = ()
    worker_episodes: int | None = None
    resizes: tuple[str, ...] = ()
    model_sha256: str = ""

    def looking_at(self, *inputs: str) -> "Declaration":
        """A copy with further privileged inputs."""
        known = tuple(dict.fromkeys((*self.privileged_inputs, *inputs)))
        return replace(self, privileged=True, privileged_inputs=known)


UNDECLARED = Declaration()
"""Declaration of an agent that says nothing, or of no agent."""


def read_declaration(target: Any) -> Declaration:
    """The declaration in the attributes of a class, a function or an agent; UNDECLARED without them.

    Raises InputError for attributes of other types.
    """
    inputs = _read_names(target, "privileged_inputs")
    return Declaration(
        bool(getattr(target, "privileged", False)) or bool(inputs),
        inputs,
        _read_names(target, "trained_with"),
        _read_names(target, "sensors"),
        getattr(target, "worker_episodes", None),
        _read_sizes(target),
        _read_hash(target),
    )


def join_hashes(*hashes: str) -> str:
    """One hash of several weights, in order; that of a single one is its own, and that of none empty."""
    named = [one for one in hashes if one]
    return named[0] if len(named) == 1 else sha256(" ".join(named).encode()).hexdigest() if named else ""


def _read_hash(target: Any) -> str:
    """The hash in `model_sha256`; raises InputError unless it has 64 hex digits."""
    named = getattr(target, "model_sha256", "")
    if named == "" or (isinstance(named, str) and SHA256.fullmatch(named)):
        return named
    raise InputError(f"expected model_sha256 of the agent as 64 hex digits, got {reprlib.repr(named)}")


def _read_sizes(target: Any) -> tuple[str, ...]:
    """The sizes in `resizes`; raises InputError for a text that is not of the form "depth=64x64"."""
    named = _read_names(target, "resizes")
    for one in named:
        name, _, size = one.partition("=")
        if not (name and IMAGE_SIZE.fullmatch(size)):
            raise InputError(f'expected resizes of the agent as in "depth=64x64", got {one!r}')
    return named


def _read_names(target: Any, attribute: str) -> tuple[str, ...]:
    """The names in an attribute; none where it is absent, None, or computed by each object."""
    value = getattr(target, attribute, None)
    if value is None or isinstance(value, property):
        return ()
    if not isinstance(value, list | tuple | set | frozenset) or not all(
        isinstance(one, str) for one in value
    ):
        raise InputError(
            f"expected {attribute} of the agent to be a tuple of names, got {reprlib.repr(value)}; "
            'write ("NAME",)'
        )
    return tuple(value)


def name_of(agent: object) -> str:
    """Name of an agent in results: as typed, or "module:Class" of a class or object."""
    if isinstance(agent, str):
        return agent
    kind = agent if hasattr(agent, "__qualname__") else type(agent)  # a class or a function has a name
    return f"{kind.__module__}:{kind.__qualname__}"  # type: ignore[attr-defined]
