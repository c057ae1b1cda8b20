"""Agents of the field's standard interface, unchanged: `reset()`, `act(observations) -> {"action": ...}`.

That is the interface of habitat-lab (`habitat.Agent`) and of its challenges. What differs between there
and here is names:

* `semantic` holds object ids there, which are `instance` here; `agent_position` (MultiON) is `position`;
* an action is a name in any case ("MOVE_FORWARD", "move_forward"), an index, or {"action": either}.
"""

import contextlib
import numbers
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol, runtime_checkable

import numpy as np

from navarena.agents.agent import SingleAgent
from navarena.core.errors import ActionError
from navarena.core.suggest import describe_choices

OUR_NAMES = {"semantic": "instance", "agent_position": "position"}
"""Name of an observation there -> here, where they differ."""

_THEIR_NAMES = {ours: theirs for theirs, ours in OUR_NAMES.items()}


@runtime_checkable
class StandardAgent(Protocol):
    """What `habitat.Agent` asks for."""

    def reset(self) -> Any:
        """A new episode begins."""
        ...

    def act(self, observations: Mapping[str, np.ndarray]) -> Any:
        """The action for one environment's observations, each (...) without a leading N."""
        ...


def our_sensors(names: Sequence[str]) -> tuple[str, ...]:
    """Names of sensors there, cameras' prefixes included ("left_semantic"), as they are called here."""
    return tuple(_renamed(name, OUR_NAMES) for name in names)


def read_action(answer: object, actions: Sequence[str]) -> int:
    """Index into `actions` of what a standard agent returned.

    Args:
        answer: {"action": x} or x; x is a name in any case, an integer, or an array or tensor of one.
        actions: the protocol's.

    Raises ActionError for anything else. Whether an index is within range is checked by who carries it out.
    """
    chosen = answer
    if isinstance(answer, Mapping):
        if "action" not in answer:
            raise ActionError(f"expected {{'action': ...}} from the agent, got the keys {sorted(answer)}")
        chosen = answer["action"]
    if isinstance(chosen, str):
        if chosen.lower() not in actions:
            raise ActionError(f"unknown action {chosen!r} from the agent; known: {describe_choices(actions)}")
        return list(actions).index(chosen.lower())
    item = getattr(chosen, "item", None)  # arrays, and tensors of any library
    if item is not None:
        with contextlib.suppress(ValueError, RuntimeError, TypeError):  # those of more than one number
            chosen = item()
    if not isinstance(chosen, numbers.Integral) or isinstance(chosen, bool):
        raise ActionError(
            f"expected an action's name or index from the agent, got {answer!r}; "
            f"known: {describe_choices(actions)}"
        )
    return int(chosen)


class HabitatAgent(SingleAgent):
    """A standard agent as a SingleAgent.

    Args:
        inner: the agent.
        actions: names, of the protocol.
    """

    def __init__(self, inner: StandardAgent, actions: Sequence[str]) -> None:
        self._inner, self._actions = inner, tuple(actions)

    def reset(self) -> None:
        self._inner.reset()

    def act(self, observations: Mapping[str, np.ndarray]) -> int:
        seen = {_renamed(name, _THEIR_NAMES): value.copy() for name, value in observations.items()}
        return read_action(self._inner.act(seen), self._actions)


def adapt(make: Callable[[], StandardAgent], actions: Sequence[str]) -> Callable[[], HabitatAgent]:
    """Makes a HabitatAgent around each agent that `make` returns."""
    return lambda: HabitatAgent(make(), actions)


def _renamed(name: str, names: Mapping[str, str]) -> str:
    camera, mark, channel = name.rpartition("_")
    if name in names:
        return names[name]
    return camera + mark + names.get(channel, channel) if mark else name
