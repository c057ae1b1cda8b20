"""The protocols, by id."""

from typing import Any

from navarena.core.errors import InputError
from navarena.core.protocol_ids import split_protocol
from navarena.core.registry import Registry
from navarena.tasks.options import read_options
from navarena.tasks.task import Task
from navarena.tasks.vln_ce_tours import IR2RCE
from navarena.tasks.vln_graph import GraphTask

TASKS = Registry(
    "protocol",
    {
        "goat-v1": "navarena.tasks.goat:Goat",
        "instance-imagenav-v1": "navarena.tasks.goat_skills:InstanceImageNav",
        "languagenav-v1": "navarena.tasks.goat_skills:LanguageNav",
        "multion-1on-v1": "navarena.tasks.multi_on:MultiOn1",
        "multion-2on-v1": "navarena.tasks.multi_on:MultiOn2",
        "multion-3on-v1": "navarena.tasks.multi_on:MultiOn3",
        "multion-shapes-1on-v1": "navarena.tasks.multi_on:MultiOnShapes1",
        "multion-shapes-2on-v1": "navarena.tasks.multi_on:MultiOnShapes2",
        "multion-shapes-3on-v1": "navarena.tasks.multi_on:MultiOnShapes3",
        "objectnav-habitat2020-v1": "navarena.tasks.object_nav:ObjectNavHabitat2020",
        "objectnav-hm3d2022-v1": "navarena.tasks.object_nav:ObjectNavHm3d2022",
        "objectnav-robothor2020-v1": "navarena.tasks.object_nav_robothor:ObjectNavRobothor2020",
        "objectnav-robothor2021-v1": "navarena.tasks.object_nav_robothor:ObjectNavRobothor2021",
        "objectnav-stretch2023-v1": "navarena.tasks.object_nav_stretch:ObjectNavStretch2023",
        "ovon-v1": "navarena.tasks.goat_skills:Ovon",
        "pointnav-habitat2020-v1": "navarena.tasks.point_nav_habitat2020:PointNavHabitat2020",
        "pointnav-robothor-v1": "navarena.tasks.point_nav_robothor:PointNavRobothor",
        "pointnav-v1": "navarena.tasks.point_nav:PointNav",
        "r2r-ce-v1": "navarena.tasks.vln_ce:R2RCE",
        "robustnav-objectnav-v1": "navarena.tasks.object_nav_robustnav:RobustObjectNav",
        "robustnav-pointnav-v1": "navarena.tasks.point_nav_robothor:RobustPointNav",
    },
    "navarena.tasks",
)
"""Protocol id -> Task class, called without arguments or with its options.

Packages add theirs in the entry-point group."""


def get_task(protocol_id: str) -> Task:
    """The task of a protocol, with options if the id has some: "multion-3on-v1+found_budget=5".

    Raises UnknownNameError with the nearest choice, InputError for an option that does not fit.
    """
    base, _ = split_protocol(protocol_id)
    if base not in TASKS and base in GRAPH_TASKS:
        raise InputError(
            f"{base!r} runs on navigation graphs, which the user brings; use: navarena tours evaluate {base}"
        )
    if base not in TASKS and base in TOUR_TASKS:
        raise InputError(f"{base!r} runs in tours; use: navarena tours evaluate {base}")
    task = _make_task(TASKS, protocol_id)
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
"""Protocol id -> GraphTask class of the protocols on navigation graphs, called as those of TASKS."""

TOUR_TASKS = Registry(
    "tour protocol", {"ir2r-ce-v1": "navarena.tasks.vln_ce_tours:IR2RCE"}, "navarena.tour_tasks"
)
"""Protocol id -> class of the protocols whose episodes come in tours, called as those of TASKS."""


def get_tour_task(protocol_id: str) -> IR2RCE:
    """The task of a protocol of tours in houses, with options as of `get_task`; raises the same."""
    task = _make_task(TOUR_TASKS, protocol_id)
    if not isinstance(task, IR2RCE):
        raise InputError(f"expected protocol {protocol_id!r} to name an IR2RCE, got {type(task).__name__}")
    return task


def get_graph_task(protocol_id: str) -> GraphTask:
    """The task of a protocol on navigation graphs, with options as of `get_task`; raises the same."""
    task = _make_task(GRAPH_TASKS, protocol_id)
    if not isinstance(task, GraphTask):
        raise InputError(f"expected protocol {protocol_id!r} to name a GraphTask, got {type(task).__name__}")
    return task


def _make_task(registry: Registry, protocol_id: str) -> Any:
    """What the id names in a registry, made with the options in the id."""
    base, texts = split_protocol(protocol_id)
    make = registry.get(base)
    task = make()
    if not texts:
        return task
    kind = getattr(task, "options_type", None)
    if kind is None:
        raise InputError(f"expected no options of {base!r}, got {protocol_id!r}")
    return make(read_options(kind, texts))
