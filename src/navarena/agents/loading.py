"""From what a user types after --agent to an agent.

NAME                        registered (`navarena list agents`)
module:Class                anything that Python can import
habitat:module:Class        the same, for agents of the field's standard interface; they are known
without the prefix, too, which takes ?sensors=rgb,depth,semantic behind it
oracle-stop:AGENT           any of these with an oracle that declares
process:AGENT               any unprivileged one of these in a process of its own
http://host:port            an agent behind the protocol of `navarena.agents.serve`
"""

import inspect
import itertools
from collections.abc import Callable
from typing import Any

from navarena.agents.agent import Agent, SingleAgent, wrap
from navarena.agents.catalog import AGENTS, GRAPH_AGENTS
from navarena.agents.declaration import UNDECLARED, Declaration, read_declaration
from navarena.agents.habitat import StandardAgent, adapt, our_sensors
from navarena.agents.oracles import OracleStopAgent
from navarena.agents.process import ProcessAgent
from navarena.agents.remote import REMOTE, Connection, RemoteAgent, declare_remote
from navarena.core.errors import InputError
from navarena.core.registry import Registry, load_target
from navarena.tasks.task import Task
from navarena.tasks.vln_graph import GraphTask

HABITAT, ORACLE_STOP, PROCESS = "habitat:", "oracle-stop:", "process:"
_SENSORS_MARK = "?sensors="


def load_agent(name: str, task: Task | GraphTask, seed: int = 0, patience: float | None = None) -> Agent:
    """The agent that `name` names (see the module's head), made for `task`.

    A class that takes two arguments is called as Class(task, seed), one that takes none as
    Class(). A SingleAgent, or an agent of the standard interface, is wrapped: one for each slot of the
    batch. Agents elsewhere may take `patience` seconds to answer; None means as long as they like.

    Raises UnknownNameError for an unknown name, InputError for what is no agent, and
    AgentUnreachableError when nobody answers at an address.
    """
    if name.startswith(ORACLE_STOP):
        inner = load_agent(name.removeprefix(ORACLE_STOP), task, seed, patience)
        return OracleStopAgent(inner, _require_task(task))
    if name.startswith(REMOTE):
        return RemoteAgent(Connection(name, patience), _require_task(task), seed)
    if name.startswith(PROCESS):
        bare = name.removeprefix(PROCESS)
        _require_unprivileged(bare, declare_agent(bare))
        return ProcessAgent(bare, _require_task(task), seed, patience)
    target = find_agent(name, GRAPH_AGENTS if isinstance(task, GraphTask) else AGENTS)
    make = _bind(name, target, task, seed)
    if isinstance(target, type) and issubclass(target, SingleAgent):
        return wrap(make, sensors=target.sensors)
    agent = make()
    if isinstance(agent, Agent):
        return agent
    again = _first(agent, make)
    if isinstance(agent, SingleAgent):
        return wrap(again, sensors=agent.sensors)
    if isinstance(agent, StandardAgent):
        in_space = _require_task(task)
        offered = _sensors_of(name, agent) or in_space.sensors
        return wrap(adapt(again, in_space.actions, in_space.is_continuous), sensors=our_sensors(offered))
    raise InputError(
        f"expected {name!r} to make an Agent or SingleAgent, got {type(agent).__name__}; derive it from "
        "navarena.Agent or navarena.SingleAgent, or give it the methods reset() and act(observations)"
    )


def declare_agent(name: str, task: Task | None = None) -> Declaration:
    """What the agent `name` declares of itself; nothing is made yet.

    Agents at an address are asked when they know the `task`, else they have declared nothing.

    Raises UnknownNameError for an unknown name, InputError for what cannot make an agent.
    """
    if name.startswith(ORACLE_STOP):
        inner = declare_agent(name.removeprefix(ORACLE_STOP), task)
        return inner.looking_at(*OracleStopAgent.privileged_inputs)
    if name.startswith(REMOTE):
        return UNDECLARED if task is None else declare_remote(name, task)
    target = find_agent(name.removeprefix(PROCESS))
    declared = read_declaration(target)
    if task is None or not (isinstance(target, type) and issubclass(target, Agent)):
        return declared
    beyond = target.inputs_beyond(task)
    return declared.looking_at(*beyond) if beyond else declared


def find_agent(name: str, agents: Registry = AGENTS) -> Callable[..., Any]:
    """What makes the agent `name`: a class, or a function that returns an agent. Nothing is made yet.

    Raises UnknownNameError for an unknown name, InputError for what cannot make an agent.
    """
    bare = name.removeprefix(HABITAT).partition("?")[0]
    target = load_target(bare) if ":" in bare else agents.get(bare)
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
    raise InputError(
        f"expected agent {name!r} to take (task, seed) or nothing, got {name}{signature}; name a function "
        "without arguments that makes it"
    )


def _first(agent: Any, make: Callable[[], Any]) -> Callable[[], Any]:
    """A maker that hands out `agent` first: what is dear to make is not made for nothing."""
    ready = itertools.chain([agent], iter(make, object()))
    return lambda: next(ready)


def _sensors_of(name: str, agent: StandardAgent) -> tuple[str, ...]:
    """What a standard agent looks at, by its own names: typed, or its attribute; empty when unsaid."""
    _, mark, typed = name.partition(_SENSORS_MARK)
    if mark:
        return tuple(typed.split(","))
    if "?" in name:
        raise InputError(f"expected {_SENSORS_MARK}rgb,depth,... behind an agent, got {name!r}")
    return tuple(getattr(agent, "sensors", ()))


def _require_unprivileged(name: str, declaration: Declaration) -> None:
    if declaration.privileged:
        raise InputError(
            f"expected an agent that only observes in a process of its own, got the privileged {name!r}; "
            "leave the prefix out"
        )


def _require_task(task: Task | GraphTask) -> Task:
    if isinstance(task, GraphTask):
        raise InputError(
            f"expected a protocol with bodies for this agent, got {task.protocol_id!r} on navigation graphs"
        )
    return task
