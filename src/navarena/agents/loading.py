"""From what a user types after --agent to an agent."""

import inspect
from collections.abc import Callable
from typing import Any

from navarena.agents.agent import Agent, SingleAgent, wrap
from navarena.agents.catalog import AGENTS, GRAPH_AGENTS
from navarena.core.errors import InputError
from navarena.core.registry import Registry, load_target
from navarena.tasks.task import Task
from navarena.tasks.vln_graph import GraphTask


def load_agent(name: str, task: Task | GraphTask, seed: int = 0) -> Agent:
    """The agent called `name`, or the one of "module:Class", made for `task`.

    A class that takes two arguments is called as Class(task, seed), one that takes none as
    Class(). A SingleAgent is wrapped: one for each slot of the batch.

    Raises UnknownNameError for an unknown name, InputError for what is no agent.
    """
    target = find_agent(name, GRAPH_AGENTS if isinstance(task, GraphTask) else AGENTS)
    make = _bind(name, target, task, seed)
    if isinstance(target, type) and issubclass(target, SingleAgent):
        return wrap(make, sensors=target.sensors)
    agent = make()
    if isinstance(agent, SingleAgent):
        return wrap(make, sensors=agent.sensors)
    if not isinstance(agent, Agent):
        raise InputError(
            f"expected {name!r} to make an Agent or SingleAgent, got {type(agent).__name__}; derive it from "
            "navarena.Agent or navarena.SingleAgent"
        )
    return agent


def find_agent(name: str, agents: Registry = AGENTS) -> Callable[..., Any]:
    """What makes the agent `name`: a class, or a function that returns an agent. Nothing is made yet.

    Raises UnknownNameError for an unknown name, InputError for what cannot make an agent.
    """
    target = load_target(name) if ":" in name else agents.get(name)
    if not callable(target):
        raise InputError(f"expected {name!r} to be an Agent or SingleAgent class, got {target!r}")
    return target


def _bind(name: str, target: Callable[..., Any], task: Task | GraphTask, seed: int) -> Callable[[], Any]:
    """A call of `target` with the arguments it takes."""
    try:
        signature = inspect.signature(target)
    except ValueError as error:
        raise InputError(f"expected {name!r} to be an Agent or SingleAgent class, got {target!r}") from error
    for arguments in ((task, seed), ()):
        try:
            signature.bind(*arguments)
        except TypeError:
            continue
        return lambda: target(*arguments)
    raise InputError(f"expected agent {name!r} to take (task, seed) or nothing, got {name}{signature}")
