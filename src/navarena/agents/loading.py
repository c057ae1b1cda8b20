"""Loading of agents by name.

NAME                        registered (`navarena list agents`)
module:Class                anything that Python can import; behind agents of one environment stands
                            ?sensors=rgb,depth,semantic
habitat:module:Class        the same, for agents of the field's standard interface; they are known
                            without the prefix, too
checkpoint:DIR              a trained policy; ?sample=true behind it samples its actions, as behind the
                            name of one that is registered
vlm?url=URL&model=NAME      a language model that sees, behind HTTP
occupancy-anticipation:DIR  PointNav on a map that a network continues beyond what was seen
predicted-depth:DIR:AGENT   any of these that maps by depth, which the network in DIR predicts from colours
skill-chain:DIR,DIR,DIR     trained skills of GOAT-Bench, one for each modality of goals
stopping:DIR:AGENT          any of these that stops where the checkpoint DIR believes the goal to be near
oracle-stop:AGENT           any of these with an oracle that declares
compensating:AGENT          any of these, steered against corruptions of motion that a calibration shows
process:AGENT               any unprivileged one of these in a process of its own
http://host:port            an agent behind the protocol of `navarena.agents.serve`
"""

import inspect
import itertools
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, TypeVar

from navarena.agents.agent import Agent, SingleAgent, wrap
from navarena.agents.catalog import AGENT_FILES, AGENTS, HUMAN, INSTALL_SHIPPED, SHIPPED
from navarena.agents.declaration import UNDECLARED, Declaration, join_hashes, name_of, read_declaration
from navarena.agents.habitat import StandardAgent, adapt, our_sensors
from navarena.agents.oracles import OracleStopAgent
from navarena.agents.process import ProcessAgent
from navarena.agents.remote import REMOTE, Connection, RemoteAgent, declare_remote
from navarena.core.errors import InputError, NavarenaError, describe_error
from navarena.core.registry import load_target
from navarena.tasks.catalog import require_body_task
from navarena.tasks.graphs.task import GraphTask
from navarena.tasks.sensors.catalog import find_goal_sensor
from navarena.tasks.task import Task, TaskRules

HABITAT, ORACLE_STOP, PROCESS, COMPENSATING = "habitat:", "oracle-stop:", "process:", "compensating:"
_SENSORS_MARK = "?sensors="


Result = TypeVar("Result")

AgentName = str | Callable[..., Any] | Agent
"""How a user names an agent: by a text (see the module's docstring), its class, or the agent itself."""


def load_agent(name: AgentName, task: TaskRules, seed: int = 0, patience: float | None = None) -> Agent:
    """The agent that `name` names, made for `task`; an Agent is returned as it is.

    A class that takes two arguments is called as Class(task, seed), one that takes none as
    Class(). A SingleAgent, or an agent of the standard interface, is wrapped: one for each slot of the
    batch. Agents elsewhere may take `patience` seconds to answer; None means as long as they like. It is
    given to classes with an argument of this name.

    Raises UnknownNameError for an unknown name, InputError for what is no agent, and
    AgentUnreachableError when nobody answers at an address.
    """
    if isinstance(name, Agent):
        return name
    if not isinstance(name, str):
        return _make_agent(name_of(name), find_agent(name, task), task, seed, patience)
    if name.startswith(ORACLE_STOP):
        inner = load_agent(name.removeprefix(ORACLE_STOP), task, seed, patience)
        return OracleStopAgent(inner, require_body_task(task))
    if name.startswith(COMPENSATING):
        from navarena.agents.compensation import CompensatingAgent  # brings what maps, which few runs need

        inner = load_agent(name.removeprefix(COMPENSATING), task, seed, patience)
        return CompensatingAgent(inner, require_body_task(task), seed)
    if name.startswith(REMOTE):
        return RemoteAgent(Connection(name, patience), require_body_task(task), seed)
    if name.startswith(PROCESS):
        bare = _require_inside(name)
        _require_unprivileged(bare, declare_agent(bare))
        return ProcessAgent(bare, require_body_task(task), seed, patience)
    return _make_agent(name, find_agent(name, task, patience), task, seed, patience)


def _make_agent(
    name: str, target: Callable[..., Any], task: TaskRules, seed: int, patience: float | None
) -> Agent:
    """The Agent that `target`, called `name`, makes for `task`."""
    make = _bind(name, target, task, seed, patience)
    if isinstance(target, type) and issubclass(target, SingleAgent):
        return wrap(make, sensors=_sensors_of(name, target))
    agent = guard(name, "made", make)
    if isinstance(agent, Agent):
        if "?" in name and not isinstance(target, type):
            raise InputError(f"expected no options behind a function that makes an Agent, got {name!r}")
        return agent
    again = _first(agent, make)
    if isinstance(agent, SingleAgent):
        return wrap(again, sensors=_sensors_of(name, agent))
    if isinstance(agent, StandardAgent):
        in_space = require_body_task(task)
        offered = _sensors_of(name, agent) or in_space.sensors
        return wrap(adapt(again, in_space.actions, in_space.is_continuous), sensors=our_sensors(offered))
    raise InputError(
        f"expected {name!r} to make an Agent or SingleAgent, got {type(agent).__name__}; derive it from "
        "navarena.Agent or navarena.SingleAgent, or give it the methods reset() and act(observations)"
    )


def guard(name: AgentName, what: str, call: Callable[..., Result], *arguments: Any) -> Result:
    """The result of `call`; errors say that agent `name` could not be `what`, such as "imported".

    Raises InputError, of one line, for whatever the agent's code raises beside errors made on purpose.
    """
    try:
        return call(*arguments)
    except (NavarenaError, KeyboardInterrupt):
        raise
    except BaseException as error:
        raise InputError(
            f"the agent {name_of(name)!r} cannot be {what}; it raised {describe_error(error)}"
        ) from error


def declare_agent(
    name: AgentName, task: TaskRules | None = None, patience: float | None = None
) -> Declaration:
    """The declaration of the agent `name`, without making the agent.

    Agents at an address are asked when they know the `task`, else they have declared nothing; they may take
    `patience` seconds to answer.

    Raises UnknownNameError for an unknown name, InputError for what cannot make an agent.
    """
    if not isinstance(name, str):
        return _declare(name if isinstance(name, Agent) else find_agent(name, task), task)
    if name.startswith(ORACLE_STOP):
        inner = declare_agent(name.removeprefix(ORACLE_STOP), task, patience)
        return inner.looking_at(*OracleStopAgent.privileged_inputs)
    if name.startswith(COMPENSATING):
        return declare_agent(name.removeprefix(COMPENSATING), task, patience)
    if name.startswith(REMOTE):
        return UNDECLARED if task is None else declare_remote(name, require_body_task(task), patience)
    bare = _require_inside(name) if name.startswith(PROCESS) else name
    return _declare(find_agent(bare, task, patience), task)


def _declare(target: Any, task: TaskRules | None) -> Declaration:
    declared = read_declaration(target)
    if not isinstance(task, Task) or not (isinstance(target, type) and issubclass(target, Agent)):
        return declared
    seen = (find_goal_sensor(name, task.find_sensor) for name in declared.sensors)
    weights = (*(one.model_sha256 for one in seen if one is not None), *target.weights_beside())
    declared = replace(
        declared,
        trained_with=declared.trained_with + target.trained_beside(task),
        model_sha256=join_hashes(declared.model_sha256, *weights),
    )
    inputs = target.inputs_in(task, declared.privileged_inputs)
    if inputs == declared.privileged_inputs:
        return declared
    return replace(declared, privileged=bool(inputs), privileged_inputs=inputs)


def find_agent(
    name: str | Callable[..., Any], task: TaskRules | None = None, patience: float | None = None
) -> Callable[..., Any]:
    """The factory of the agent `name`: a class, or a function that returns an agent.

    Of agents that come in two forms, the one that fits `task`: for bodies in scenes, or on navigation graphs.
    An agent elsewhere that one of a file leads is asked what it is; it may take `patience` seconds to answer.

    Raises UnknownNameError for an unknown name, InputError for what cannot make an agent for the task.
    """
    target: Any = name
    if isinstance(name, str):
        kind, _, path = name.partition(":")
        if path and kind in AGENT_FILES:
            find = AGENT_FILES.get(kind)
            context = _choose_known(inspect.signature(find), task=task, patience=patience)
            target = guard(name, "opened", partial(find, path, **context))
        else:
            bare, _, options = name.removeprefix(HABITAT).partition("?")
            target = guard(name, "imported", load_target if ":" in bare else _get_registered, bare)
            if options and isinstance(target, type) and issubclass(target, Agent):
                target = target.with_options(options)
    if not callable(target):
        raise InputError(f"expected {name!r} to be an Agent or SingleAgent class, got {target!r}")
    if task is None:
        return target
    on_graphs = getattr(target, "on_graphs", True)
    if isinstance(task, GraphTask) and isinstance(on_graphs, str):
        return load_target(on_graphs)  # type: ignore[no-any-return]
    if not _fits(target, task):
        runs = "navigation graphs" if isinstance(task, GraphTask) else "bodies in scenes"
        fitting = [one for one in AGENTS.own_names() if _fits(AGENTS.get(one), task)]
        trained = f", trained on {target.trained_on}" if hasattr(target, "trained_on") else ""
        raise InputError(
            f"expected an agent for {runs} on {task.protocol_id}, got {name!r}{trained}; choose of "
            f"{', '.join(fitting)}"
        )
    return target


def _get_registered(name: str) -> Any:
    """The agent registered under `name`; raises UnknownNameError, and InputError for one not installed."""
    if name == HUMAN:
        raise InputError(
            f"expected an agent that acts by itself, got {name!r}; people act by: navarena play PROTOCOL"
        )
    if name in SHIPPED and name not in AGENTS:
        raise InputError(
            f"expected the trained agent {name!r} to be installed, got no distribution navarena-checkpoints; "
            f"in the folder of the repository run: {INSTALL_SHIPPED}"
        )
    return AGENTS.get(name)


def _fits(target: object, task: TaskRules) -> bool:
    """Whether an agent runs where the task does; one of the user's own may run anywhere."""
    kind = "on_graphs" if isinstance(task, GraphTask) else "in_scenes"
    return bool(getattr(target, kind, True))


def _choose_known(signature: inspect.Signature, **arguments: Any) -> dict[str, Any]:
    """Those of `arguments` that a signature has by their names."""
    return {name: value for name, value in arguments.items() if name in signature.parameters}


def _bind(
    name: str, target: Callable[..., Any], task: TaskRules, seed: int, patience: float | None
) -> Callable[[], Any]:
    """A call of `target` with the arguments it takes."""
    try:
        signature = inspect.signature(target)
    except ValueError as error:
        raise InputError(f"expected {name!r} to be an Agent or SingleAgent class, got {target!r}") from error
    context = _choose_known(signature, patience=patience)
    for arguments in ((task, seed), ()):
        try:
            signature.bind(*arguments, **context)
        except TypeError:
            continue
        return partial(target, *arguments, **context)
    raise InputError(
        f"expected agent {name!r} to take (task, seed) or nothing, got {name}{signature}; name a function "
        "without arguments that makes it"
    )


def _first(agent: Any, make: Callable[[], Any]) -> Callable[[], Any]:
    """A factory that returns `agent` on its first call, since agents may be expensive to make."""
    ready = itertools.chain([agent], iter(make, object()))
    return lambda: next(ready)


def _sensors_of(name: str, agent: Any) -> tuple[str, ...]:
    """Sensor names of a SingleAgent or standard agent: typed, or its attribute; empty if neither is given."""
    _, mark, typed = name.partition(_SENSORS_MARK)
    if mark:
        return tuple(typed.split(","))
    if "?" in name:
        raise InputError(f"expected {_SENSORS_MARK}rgb,depth,... behind an agent, got {name!r}")
    return read_declaration(agent).sensors


def _require_inside(name: str) -> str:
    """What stands behind "process:"; raises InputError for what must stand before it, or has its own."""
    bare = name.removeprefix(PROCESS)
    outer = next((one for one in (ORACLE_STOP, COMPENSATING) if bare.startswith(one)), "")
    if outer:
        raise InputError(
            f"expected {outer}{PROCESS}{bare.removeprefix(outer)}, got {name!r}; {outer} acts in the "
            "process of the evaluation"
        )
    if bare.startswith((PROCESS, *REMOTE)):
        raise InputError(
            f"expected an agent of this process behind {PROCESS}, got {name!r}; leave the prefix out"
        )
    return bare


def _require_unprivileged(name: str, declaration: Declaration) -> None:
    if declaration.privileged:
        raise InputError(
            f"expected an agent that only observes in a process of its own, got the privileged {name!r}; "
            "leave the prefix out"
        )
