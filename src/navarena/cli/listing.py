"""`navarena list`: what can be named on the command line, installed packages included."""

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import tyro

from navarena.cli.console import Console
from navarena.core.errors import NavarenaError
from navarena.core.registry import Registry

Kind = Literal["protocols", "agents", "sensors", "scenes", "metrics", "corruptions", "augmentations"]


@dataclass(frozen=True)
class List:
    """Name what can be chosen, objects that other installed packages add included."""

    kind: tyro.conf.Positional[Kind]
    """What to list."""
    json: bool = False
    """Print one JSON document instead of a table."""

    def run(self, console: Console) -> int:
        """Print the list; returns the exit code."""
        items = list_items(self.kind)
        if not items:
            console.text(f"no {self.kind} are registered")
            console.result({"kind": self.kind, "items": []})
            return 0
        columns = [key for key, value in items[0].items() if key != "target" and not isinstance(value, list)]
        console.table(self.kind, columns, [[_cell(item[key]) for key in columns] for item in items])
        console.result({"kind": self.kind, "items": items})
        return 0


def list_items(kind: Kind) -> list[dict[str, Any]]:
    """One mapping for each object of `kind`, with at least its name, description and target."""
    listers: dict[Kind, Callable[[], list[dict[str, Any]]]] = {
        "protocols": _list_protocols,
        "agents": _list_agents,
        "sensors": _list_sensors,
        "scenes": _list_scenes,
        "metrics": _list_metrics,
        "corruptions": _list_corruptions,
        "augmentations": _list_augmentations,
    }
    return listers[kind]()


def _cell(value: object) -> object:
    if isinstance(value, dict):
        return ", ".join(f"{key} {number}" for key, number in value.items())
    return value


def _describe(registry: Registry) -> list[dict[str, Any]]:
    """name, description and target of everything in `registry`; one that fails to load says why."""
    rows = []
    for name, target in registry.targets().items():
        try:
            description = first_line(registry.get(name))
        except (ImportError, NavarenaError) as error:
            description = f"cannot be loaded: {error}"
        rows.append({"name": name, "description": description, "target": target})
    return rows


def first_line(obj: object) -> str:
    """The first line of the docstring of `obj`, a class or function; "" without one."""
    return (inspect.getdoc(obj) or "").split("\n")[0]


def _list_protocols() -> list[dict[str, Any]]:
    from navarena.tasks.catalog import TASKS, get_task

    found = _describe(TASKS)
    for row in found:
        task = get_task(row["name"])
        row.update(
            dataset=task.default_dataset,
            max_steps=task.max_steps,
            actions=list(task.actions),
            sensors=list(task.sensors),
            metrics=list(task.metrics),
        )
    return found


def _list_agents() -> list[dict[str, Any]]:
    from navarena.agents.catalog import AGENTS

    return _describe(AGENTS)


def _list_sensors() -> list[dict[str, Any]]:
    from navarena.simulation.sensors.catalog import SENSORS
    from navarena.tasks.sensors.catalog import GOAL_SENSORS

    return [
        {**row, "of": owner}
        for owner, registry in (("body", SENSORS), ("goal", GOAL_SENSORS))
        for row in _describe(registry)
    ]


def _list_scenes() -> list[dict[str, Any]]:
    from navarena.scenes.catalog import SCENE_SETS, scene_sets

    targets = SCENE_SETS.targets()
    return [
        {
            "name": name,
            "description": scene_set.description,
            "splits": {split: len(ids) for split, ids in scene_set.splits.items()},
            "example": next((ids[0] for ids in scene_set.splits.values() if ids), ""),
            "target": targets.get(name, ""),
        }
        for name, scene_set in scene_sets().items()
    ]


def _list_metrics() -> list[dict[str, Any]]:
    from navarena.metrics.catalog import METRICS, get_metric

    rows = []
    for name, target in METRICS.targets().items():
        metric = get_metric(name)
        rows.append(
            {
                "name": name,
                "description": first_line(metric.compute),
                "unit": metric.unit,
                "better": metric.better or "",
                "target": target,
            }
        )
    return rows


def _list_corruptions() -> list[dict[str, Any]]:
    from navarena.corruptions.catalog import CORRUPTIONS

    return _describe(CORRUPTIONS)


def _list_augmentations() -> list[dict[str, Any]]:
    from navarena.corruptions.catalog import AUGMENTATIONS

    return _describe(AUGMENTATIONS)
