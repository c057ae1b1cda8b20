"""Agents of the field's standard interface, unchanged: `reset()`, `act(observations) -> {"action": ...}`.

That is the interface of habitat-lab (`habitat.Agent`) and of its challenges. What differs between there
and here is names:

* `semantic` holds object ids there, which are `instance` here; `agent_position` (MultiON) is `position`;
* an action is a name in any case ("MOVE_FORWARD", "move_forward"), an index, or {"action": either};
* of a continuous protocol it is {"action": ("velocity_control", "velocity_stop"), "action_args": {...}}, as
  in the Habitat challenge of 2023, or K numbers.
"""

import contextlib
import numbers
import reprlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol, runtime_checkable

import numpy as np
from jaxtyping import Float64

from navarena.agents.agent import SingleAgent
from navarena.agents.serve import OUR_NAMES, THEIR_NAMES, rename
from navarena.core.errors import ActionError, describe_choices

COLUMNS = {
    "xyt_waypoint": ("waypoint_x", "waypoint_y", "waypoint_yaw"),
    "delta_camera_pitch_angle": ("delta_camera_pitch",),
}
"""Argument of a continuous action there -> columns here, where they differ."""

_OPTIONAL = ("camera_pitch_velocity", "delta_camera_pitch", "velocity_stop")
"""Columns that the challenge's own agents leave out; 0 tilts nothing and stops nothing."""


@runtime_checkable
class StandardAgent(Protocol):
    """Interface of `habitat.Agent`."""

    def reset(self) -> Any:
        """A new episode begins."""
        ...

    def act(self, observations: Mapping[str, np.ndarray]) -> Any:
        """The action for one environment's observations, each (...) without a leading N."""
        ...


def our_sensors(names: Sequence[str]) -> tuple[str, ...]:
    """Names of sensors there, cameras' prefixes included ("left_semantic"), as they are called here."""
    return tuple(rename(name, OUR_NAMES) for name in names)


def read_action(answer: object, actions: Sequence[str]) -> int:
    """Index into `actions` of a standard agent's return value.

    Args:
        answer: {"action": x} or x; x is a name in any case, an integer, or an array or tensor of one.
        actions: the protocol's.

    Raises ActionError for anything else. Whether an index is within range is checked by who carries it out.
    """
    chosen = answer
    if isinstance(answer, Mapping):
        if "action" not in answer:
            raise ActionError(
                f"expected {{'action': ...}} from the agent, got the keys {reprlib.repr(list(answer))}"
            )
        chosen = answer["action"]
    if isinstance(chosen, str):
        if chosen.lower() not in actions:
            raise ActionError(
                f"unknown action {reprlib.repr(chosen)} from the agent; known: {describe_choices(actions)}"
            )
        return list(actions).index(chosen.lower())
    item = getattr(chosen, "item", None)  # arrays, and tensors of any library
    if item is not None:
        with contextlib.suppress(ValueError, RuntimeError, TypeError):  # those of more than one number
            chosen = item()
    if not isinstance(chosen, numbers.Integral) or isinstance(chosen, bool):
        raise ActionError(
            f"expected an action's name or index from the agent, got {reprlib.repr(answer)}; "
            f"known: {describe_choices(actions)}"
        )
    return int(chosen)


def read_command(answer: object, names: Sequence[str]) -> Float64[np.ndarray, "k"]:
    """The numbers (K,), as the protocol bounds them, that a standard agent returned for the columns `names`.

    Args:
        answer: {"action": ..., "action_args": {argument: number or numbers}}; or K numbers, alone or as
            {"action": numbers}. Columns that have no argument are 0; tilts, the stop, and, for an agent that
            stops, all others may be left out.
        names: of the protocol's actions.

    Raises ActionError for anything else. Bounds are checked by who carries it out.
    """
    if isinstance(answer, Mapping) and isinstance(answer.get("action_args"), Mapping):
        found: dict[str, float] = {}
        for argument, value in answer["action_args"].items():
            columns = COLUMNS.get(argument, (argument,))
            if not set(columns) <= set(names):
                raise ActionError(
                    f"unknown argument {argument!r} from the agent; known columns: {describe_choices(names)}"
                )
            found |= zip(columns, _numbers(value, len(columns), f"as {argument}"), strict=True)
        missing = [name for name in names if name not in found and name not in _OPTIONAL]
        if missing and not found.get("velocity_stop", 0) > 0:
            raise ActionError(
                f"expected {', '.join(missing)} in the agent's action_args, got {sorted(found)}"
            )
        return np.array([found.get(name, 0.0) for name in names])
    chosen = answer.get("action") if isinstance(answer, Mapping) else answer
    return _numbers(chosen, len(names), f"({', '.join(names)}), or 'action_args',")


def _numbers(value: Any, count: int, what: str) -> Float64[np.ndarray, "k"]:
    try:
        found = np.asarray(value, np.float64).reshape(-1)
    except (TypeError, ValueError, RuntimeError):
        found = np.zeros(0)
    if len(found) != count:
        raise ActionError(f"expected {count} numbers {what} from the agent, got {value!r}")
    return found


class HabitatAgent(SingleAgent):
    """A standard agent as a SingleAgent.

    Args:
        inner: the agent.
        actions: names, of the protocol.
        is_continuous: whether an action is a number for each of them.
    """

    def __init__(self, inner: StandardAgent, actions: Sequence[str], is_continuous: bool = False) -> None:
        self._inner, self._actions = inner, tuple(actions)
        self._read = read_command if is_continuous else read_action

    def reset(self) -> None:
        self._inner.reset()

    def act(self, observations: Mapping[str, np.ndarray]) -> int | np.ndarray:
        seen = {rename(name, THEIR_NAMES): value.copy() for name, value in observations.items()}
        return self._read(self._inner.act(seen), self._actions)


def adapt(
    make: Callable[[], StandardAgent], actions: Sequence[str], is_continuous: bool = False
) -> Callable[[], HabitatAgent]:
    """Makes a HabitatAgent around each agent that `make` returns."""
    return lambda: HabitatAgent(make(), actions, is_continuous)
