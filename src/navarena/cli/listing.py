"""`navarena list`: names that commands and environments take, those of installed packages included."""

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any

import tyro

from navarena.cli.console import Console
from navarena.core.errors import NavarenaError, describe_error, require_name
from navarena.core.registry import load_target


@dataclass(frozen=True)
class List:
    """List names with descriptions, those of installed packages included. KIND is one of

    protocols, agents, recipes, sensors, labellers, encoders, scenes, scene-datasets, episode-formats,
    metrics, corruptions, augmentations, gymnasium.
    """

    kind: Annotated[str, tyro.conf.Positional, tyro.conf.arg(metavar="KIND")]
    """What to list."""
    json: bool = False
    """Print one JSON document instead of a table."""

    def run(self, console: Console) -> int:
        """Print the list; returns the exit code."""
        items = list_items(self.kind)
        columns = [
            key
            for key in dict.fromkeys(key for item in items for key in item)
            if key != "target" and not any(isinstance(item.get(key), list) for item in items)
        ]
        if items:
            console.table(self.kind, columns, [[_cell(item.get(key)) for key in columns] for item in items])
        else:
            console.text(f"no {self.kind} are registered")
        console.result({"kind": self.kind, "items": items})
        return 0


def _cell(value: object) -> object:
    if isinstance(value, dict):
        return ", ".join(f"{key} {number}" for key, number in value.items())
    return value


def first_line(obj: object) -> str:
    """The first line of the docstring of `obj`, a class or function; "" without one."""
    return (inspect.getdoc(obj) or "").split("\n")[0]


def _describe_protocol(name: str, _: Any) -> dict[str, Any]:
    from navarena.tasks.catalog import get_task

    task = get_task(name)
    return {
        "dataset": task.default_dataset,
        "max_steps": task.max_steps,
        "actions": list(task.actions),
        "sensors": list(task.sensors),
        "metrics": list(task.metrics),
    }


def _describe_recipe(_: str, recipe: Any) -> dict[str, Any]:
    found = {name: getattr(recipe, name) for name in ("description", "protocol", "frames")}
    return found | {"core_hours": recipe.core_hours or None}


def _describe_scenes(_: str, scenes: Any) -> dict[str, Any]:
    return {
        "description": scenes.description,
        "splits": {split: len(ids) for split, ids in scenes.splits.items()},
        "example": next((ids[0] for ids in scenes.splits.values() if ids), ""),
    }


def _describe_metric(_: str, metric: Any) -> dict[str, Any]:
    return {"description": first_line(metric.compute), "unit": metric.unit, "better": metric.better or ""}


def _describe_gymnasium(name: str, _: Any) -> dict[str, Any]:
    from navarena.gym import gymnasium_ids

    return {"name": gymnasium_ids()[name], "protocol": name}


@dataclass(frozen=True)
class Listing:
    """Registries of one kind of names, and the fields that describe them.

    Attributes:
        registries: "module:attribute" of each registry, by what its names are of; "" for one registry.
        describe: further fields of a name and its object; they may replace its name and description.
    """

    registries: Mapping[str, str]
    describe: Callable[[str, Any], dict[str, Any]] = field(default=lambda name, found: {})


LISTINGS: Mapping[str, Listing] = {
    "protocols": Listing({"": "navarena.tasks.catalog:TASKS"}, _describe_protocol),
    "agents": Listing({"": "navarena.agents.catalog:AGENTS"}),
    "recipes": Listing({"": "navarena.learning.recipes.catalog:RECIPES"}, _describe_recipe),
    "sensors": Listing(
        {
            "body": "navarena.simulation.sensors.catalog:SENSORS",
            "goal": "navarena.tasks.sensors.catalog:GOAL_SENSORS",
        }
    ),
    "labellers": Listing({"": "navarena.mapping.labellers:LABELLERS"}),
    "encoders": Listing(
        {"": "navarena.episodes.encoding.catalog:ENCODERS"},
        lambda name, encoder: {"needs": "weights, as name:PATH" if encoder.needs_weights else ""},
    ),
    "scenes": Listing({"": "navarena.scenes.catalog:SCENE_SETS"}, _describe_scenes),
    "scene-datasets": Listing(
        {"": "navarena.scenes.datasets.catalog:DATASETS"},
        lambda name, dataset: {"layout": dataset.layout},
    ),
    "episode-formats": Listing(
        {"": "navarena.episodes.exchange.detection:EPISODE_FORMATS"},
        lambda name, layout: {"description": layout.title, "task": layout.task},
    ),
    "metrics": Listing({"": "navarena.metrics.catalog:METRICS"}, _describe_metric),
    "corruptions": Listing({"": "navarena.corruptions.catalog:CORRUPTIONS"}),
    "augmentations": Listing({"": "navarena.corruptions.catalog:AUGMENTATIONS"}),
    "gymnasium": Listing({"": "navarena.tasks.catalog:TASKS"}, _describe_gymnasium),
}
"""Kind -> how it is listed; gymnasium.make("navarena.gym:NAME") takes the names of the last one."""


def list_items(kind: str) -> list[dict[str, Any]]:
    """name, description, target and further fields of everything of a kind; UnknownNameError for no kind.

    What fails to load says so in its description.
    """
    listing = LISTINGS[require_name("kind of names", kind, LISTINGS)]
    rows = []
    for owner, place in listing.registries.items():
        registry = load_target(place)
        for name, target in registry.targets().items():
            row = {"name": name, "description": "", "target": target}
            try:
                found = registry.get(name)
                row |= {"description": first_line(found)} | listing.describe(name, found)
            except (ImportError, NavarenaError) as error:
                row["description"] = f"cannot be loaded: {error}"
            except Exception as error:  # an object of another kind
                row["description"] = f"cannot be described: {describe_error(error)}"
            rows.append(row | {"of": owner} if owner else row)
    return rows
