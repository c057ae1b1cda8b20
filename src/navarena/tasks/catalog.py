"""The protocols, by id."""

from navarena.core.errors import InputError
from navarena.core.registry import Registry
from navarena.tasks.task import Task
from navarena.tasks.vln_graph import GraphTask

TASKS = Registry("protocol", {"pointnav-v1": "navarena.tasks.point_nav:PointNav"}, "navarena.tasks")
"""Protocol id -> Task class (called without arguments). Packages add theirs in the entry-point group."""


def get_task(protocol_id: str) -> Task:
    """The task of a protocol; raises UnknownNameError with the nearest choice."""
    task = TASKS.get(protocol_id)()
    if not isinstance(task, Task):
        raise InputError(f"expected protocol {protocol_id!r} to name a Task, got {type(task).__name__}")
    return task


GRAPH_TASKS = Registry(
    "graph protocol",
    {
        "ir2r-v1": "navarena.tasks.vln_graph:IR2R",
        "r2r-v1": "navarena.tasks.vln_graph:R2R",
    },
    "navarena.graph_tasks",
)
"""Protocol id -> GraphTask class of the protocols on navigation graphs, called without arguments."""


def get_graph_task(protocol_id: str) -> GraphTask:
    """The task of a protocol on navigation graphs; raises UnknownNameError with the nearest choice."""
    task = GRAPH_TASKS.get(protocol_id)()
    if not isinstance(task, GraphTask):
        raise InputError(f"expected protocol {protocol_id!r} to name a GraphTask, got {type(task).__name__}")
    return task
