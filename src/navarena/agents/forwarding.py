"""Base class of agents that let another agent act and change what it sees or does."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from navarena.agents.agent import Agent, Start
from navarena.tasks.calibration_env import CalibrationEnv
from navarena.tasks.task import Actions, Task


class ForwardingAgent(Agent):
    """Hands everything but observations and actions on to another agent.

    Derive from this and write `act`; what else is overridden calls this class's method, too, unless the other
    agent is not to know.

    Args:
        inner: the other agent.

    Attributes:
        inner_name: its name, where the class is made for one; empty where whoever declares it knows.
    """

    inner_name: ClassVar[str] = ""

    @classmethod
    def inputs_beyond(cls, task: Task) -> tuple[str, ...]:
        """Those of the other agent."""
        if not cls.inner_name:
            return ()
        from navarena.agents.loading import declare_agent

        inputs = declare_agent(cls.inner_name, task).privileged_inputs
        return tuple(name for name in inputs if name not in cls.privileged_inputs)

    def __init__(self, inner: Agent) -> None:
        self.sensors, self.calibration_sensors = inner.sensors, inner.calibration_sensors
        self._inner = inner

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
