"""Base class of agents that let another agent act and change what it sees or does."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from jaxtyping import Bool

from navarena.agents.agent import Agent, Start
from navarena.tasks.calibration_env import CalibrationEnv
from navarena.tasks.task import Actions


class ForwardingAgent(Agent):
    """Hands everything but observations and actions on to another agent.

    Derive from this and write `act`, which tells the other agent of actions in place of its own by `replace`;
    what else is overridden calls this class's method, too, unless the other agent is not to know.

    Args:
        inner: the other agent.
    """

    def __init__(self, inner: Agent) -> None:
        self.sensors, self.calibration_sensors = inner.sensors, inner.calibration_sensors
        self.privileged = self.privileged or inner.privileged
        self.privileged_inputs = tuple(dict.fromkeys((*inner.privileged_inputs, *self.privileged_inputs)))
        self._inner = inner

    @property
    def adapts(self) -> bool:
        """Whether the other agent does."""
        return self._inner.adapts

    def adapt(self, env: CalibrationEnv) -> None:
        """Let the other agent adapt."""
        self._inner.adapt(env)

    def attach(self, batch: Any) -> None:
        """Hand the batch on."""
        self._inner.attach(batch)

    def reset(self, starts: Sequence[Start]) -> None:
        self._inner.reset(starts)

    def forgo_declaration(self) -> None:
        self._inner.forgo_declaration()

    def episode_costs(self, slot: int) -> Mapping[str, float]:
        return self._inner.episode_costs(slot)

    def overrule(self, actions: Actions) -> None:
        self._inner.overrule(actions)

    def replace(self, chosen: Actions, executed: Actions, active: Bool[np.ndarray, "n"]) -> Actions:
        """The `executed` actions (N,), of which the other agent is told unless they are what it has `chosen`.

        Args:
            chosen: (N,) actions of the other agent.
            executed: (N,) actions in their place.
            active: (N,) bool, slots that count.
        """
        if not np.array_equal(chosen[active], executed[active]):
            self._inner.overrule(executed)
        return executed
