"""`navarena episodes make` and `navarena episodes info`."""

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any

import msgspec
import numpy as np
import tyro

from navarena.cli.console import Console, count_of
from navarena.cli.episodes.sources import DEFAULT_PROTOCOL, is_community_file, load_own
from navarena.cli.flags import OutputFile
from navarena.core.errors import InputError, require_name
from navarena.episodes.catalog import (
    get_recipe,
    make_episodes,
    make_split,
    order_tours,
    split_scenes,
    split_sizes,
)
from navarena.episodes.dataset import FORMAT, EpisodeDataset, save_episodes
from navarena.episodes.episode import Episode
from navarena.episodes.errata import Erratum, find_errata
from navarena.episodes.exchange import (
    EXPORTS,
    EpisodeFile,
    EpisodeFileWarning,
    make_document,
    open_episode_file,
    write_document,
)
from navarena.episodes.goals import Position
from navarena.episodes.listed_objects import with_objects
from navarena.episodes.object_nav import ObjectNavRecipe
from navarena.episodes.statistics import Statistics, compute_statistics
from navarena.scenes.catalog import SCENE_SETS, scene_ids
from navarena.simulation.world import WorldCache, open_world
from navarena.tasks.catalog import get_task

CUSTOM = "custom"
"""Data set and split of episodes in a scene of the user's choice."""

USUAL_PER_SCENE = 10


@dataclass(frozen=True)
class EpisodesMake:
    """Draw the episodes of a protocol in one scene or in all scenes of a split."""

    protocol: Annotated[str, tyro.conf.Positional, tyro.conf.arg(metavar="PROTOCOL")]
    """Protocol id, such as pointnav-v1."""
    out: Annotated[Path, OutputFile(".json", ".json.gz")]
    """File to write, .json or .json.gz."""
    scene: str | None = None
    """Scene id, or the path of a mesh file."""
    split: str | None = None
    """Split of the data set whose scenes are used, instead of --scene."""
    dataset: str | None = None
    """Set of scenes that --split belongs to; by default the protocol's own."""
    per_scene: int | None = None
    """Episodes in each scene; by default 10, or as many as the split has."""
    seed: int = 0
    """Seed of the random draws."""
    layout: str | None = None
    """Write this layout of the community instead of navarena's own: habitat-pointnav,
    habitat-objectnav-hm3d, multion, robothor-2020, robothor-2021, robustnav-objectnav or
    robustnav-pointnav."""
    up: str = "y"
    """Axis of a mesh file that points up: y, z, x, or one with a minus sign (--up=-z)."""
    scale: float = 1.0
    """Metres per unit of a mesh file."""
    workers: int = 1
    """Processes that share the scenes."""
    json: bool = False
    """Print one JSON document instead of a table."""

    def run(self, console: Console) -> int:
        """Make and write the episodes; the exit code is 0."""
        if (self.scene is None) == (self.split is None):
            raise InputError("expected either --scene or --split, got both or none of them")
        if self.layout is not None:
            require_name("layout to write", self.layout, EXPORTS)
        dataset = self._make(console)
        if self.layout is None:
            save_episodes(dataset, self.out)
        else:
            recipe = get_recipe(self.protocol)
            worlds = WorldCache(
                recipe.embodiment, lambda scene, body: open_world(scene, body, self.up, self.scale)
            )
            episodes: Sequence[Episode] = dataset.episodes
            if isinstance(recipe, ObjectNavRecipe):  # objects, which ObjectNav leaves to the scene
                episodes = with_objects(episodes, worlds.get, recipe.view_points)
            write_document(make_document(self.layout, episodes, recipe.words, _path_finder(worlds)), self.out)
        numbers = compute_statistics(dataset.episodes)
        console.text(f"{_describe_counts(numbers)} written to {self.out}")
        console.text(f"hash {dataset.hash}, {dataset.dropped} unsolvable candidates dropped")
        console.result(describe(dataset, self.out, numbers))
        return 0

    def _make(self, console: Console) -> EpisodeDataset:
        """The episodes: the split as it is published, or what the flags ask for."""
        get_task(self.protocol)  # refuses options that the protocol does not have
        recipe = get_recipe(self.protocol)
        name = self.dataset or recipe.default_dataset
        if self.split is None:
            if self.dataset is not None:
                raise InputError(f"expected --dataset with --split, got {name!r} with --scene; leave it out")
            return self._make_in(console, [str(self.scene)], CUSTOM, CUSTOM)
        sizes = split_sizes(name, recipe)
        if self.split not in sizes and name in SCENE_SETS:
            require_name("split", self.split, {**sizes, **SCENE_SETS.get(name).splits})
        if self.split not in sizes:
            return self._make_in(console, scene_ids(name, self.split), name, self.split)
        if (self.up, self.scale) != ("y", 1.0):
            raise InputError(
                "expected --up and --scale with a mesh file as --scene, got --split; leave them out"
            )
        size = sizes[self.split]
        if size.block is not None and self.per_scene is None:
            raise InputError(
                f"expected --per-scene for {self.split!r}, got none: its {size.per_scene:,} episodes of each "
                "scene are made when they are read"
            )
        with console.progress(len(split_scenes(self.split, name, recipe)), "scenes") as progress:
            made = make_split(
                recipe, self.split, name, progress.advance, self.workers, self.per_scene, self.seed
            )
        return order_tours(made, self.protocol)

    def _make_in(self, console: Console, scenes: list[str], name: str, split: str) -> EpisodeDataset:
        """Episodes in scenes of which no published split is made."""
        with console.progress(len(scenes), "scenes") as progress:
            return make_episodes(
                self.protocol,
                scenes,
                USUAL_PER_SCENE if self.per_scene is None else self.per_scene,
                self.seed,
                name,
                split,
                self.up,
                self.scale,
                progress.advance,
                self.workers,
            )


def _describe_counts(numbers: Statistics) -> str:
    return f"{count_of(numbers.episodes, 'episode')} in {count_of(numbers.scenes, 'scene')}"


def _path_finder(worlds: WorldCache) -> Callable[[str, Position, Position], list[Position]]:
    """(scene id, start, end), positions in metres -> corners of the shortest path."""

    def find_path(scene_id: str, start: Position, end: Position) -> list[Position]:
        corners = worlds.get(scene_id).navmesh.shortest_path(np.array(start), np.array(end))
        return [(x, y, z) for x, y, z in corners.tolist()]

    return find_path


@dataclass(frozen=True)
class EpisodesInfo:
    """Describe episodes and their known errors: a file of any format, or a split."""

    source: Annotated[str, tyro.conf.Positional, tyro.conf.arg(metavar="SOURCE")]
    """Episode file (.json, .json.gz), the stub of a data set in parts, a folder of such files, or a split
    such as val or houses-v1/val."""
    protocol: str = DEFAULT_PROTOCOL
    """Protocol of the split; files name their own."""
    json: bool = False
    """Print one JSON document instead of a table."""

    def run(self, console: Console) -> int:
        """Read, check and summarise; the exit code is 0."""
        if is_community_file(self.source):
            with quiet_notices(console):
                file = open_episode_file(Path(self.source))
                numbers = compute_statistics(file.episodes, file.listed_objects())
            _print_community_file(console, file, numbers)
            errata = find_errata(file.format.name, file.split, scenes=frozenset(file.scene_names))
            known = _describe_community_file(file)
        else:
            dataset = load_own(self.source, self.protocol)
            numbers = compute_statistics(dataset.episodes)
            console.text(f"{dataset.protocol_id}@{dataset.name}/{dataset.split}#{dataset.hash}")
            console.text(
                f"{_describe_counts(numbers)}, seed {dataset.seed}, "
                f"{dataset.dropped} unsolvable candidates dropped"
            )
            _print_distances(console, self.source, numbers)
            errata = find_errata(dataset.name, dataset.split, dataset.protocol_id)
            known = describe(dataset, self.source, numbers)
        _print_errata(console, errata)
        console.result(self._document(numbers, **known, errata=msgspec.to_builtins(errata)))
        return 0

    def _document(self, numbers: Statistics, **known: Any) -> dict[str, Any]:
        """The same keys for every kind of file; null for what a kind does not have."""
        return {
            "file": self.source,
            "format": FORMAT,
            "files": 1,
            "protocol": None,
            "dataset": None,
            "split": None,
            "seed": None,
            "dropped": None,
            "unknown_fields": {},
            "notices": [],
            "categories": numbers.categories,
            "objects": numbers.instances_by_category,
            "difficulties": numbers.difficulties,
            "hidden": numbers.hidden,
            "unreachable": numbers.unreachable,
            **_counts(numbers),
            **known,
        }


def _print_errata(console: Console, errata: Sequence[Erratum]) -> None:
    """Print the known errors of a list, or that there are none."""
    if not errata:
        console.text("errata: none")
        return
    rows = [
        (one.scene or "all", ", ".join(one.episodes) or "all", one.problem, one.source, one.mended_in or None)
        for one in errata
    ]
    console.table("errata", ("scene", "episodes", "problem", "source", "corrected in"), rows)


def _print_community_file(console: Console, file: EpisodeFile, numbers: Statistics) -> None:
    rows: list[tuple[str, object]] = [
        ("format", f"{file.format.title} ({file.format.name})"),
        ("files", len(file.parts)),
        ("hash", file.hash),
        ("scenes", numbers.scenes),
        ("episodes", numbers.episodes),
        ("categories", shorten(numbers.categories)),
        ("objects", sum(numbers.instances_by_category.values()) or None),
        ("goals in an episode", None if set(numbers.goals) == {1} else shorten(numbers.goals)),
        ("difficulties", shorten(numbers.difficulties)),
        ("without a distance", numbers.hidden or None),
        ("unreachable in the file", numbers.unreachable or None),
        ("undocumented fields (kept)", ", ".join(file.notices.unknown_fields) or None),
    ]
    console.table(str(file.path), ("what", "value"), [row for row in rows if row[1] is not None])
    _print_distances(console, "distances", numbers)


def _describe_community_file(file: EpisodeFile) -> dict[str, Any]:
    return {
        "format": file.format.name,
        "files": len(file.parts),
        "split": file.split,
        "hash": file.hash,
        "unknown_fields": file.notices.unknown_fields,
        "notices": list(file.notices.mended.values()),
    }


@contextmanager
def quiet_notices(console: Console) -> Iterator[None]:
    """Print each correction of a file as a line on stderr instead of a Python warning."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", EpisodeFileWarning)
        yield
    for one in caught:
        console.note(f"note: {one.message}")


def shorten(counts: Mapping[Any, int], listed: int = 12) -> str | None:
    """Counts as one line, such as "bed 3, chair 5"; None for no counts."""
    parts = [f"{name} {count}" for name, count in counts.items()]
    more = f", ... ({len(parts)} in all)" if len(parts) > listed else ""
    return ", ".join(parts[:listed]) + more or None


def _print_distances(console: Console, title: str, numbers: Statistics) -> None:
    """The table of distances; nothing for files that hide them all."""
    rows = [
        (label, spread.minimum, spread.mean, spread.median, spread.maximum)
        for label, spread in (
            ("geodesic distance, m", numbers.geodesic.spread),
            ("Euclidean distance, m", numbers.euclidean.spread),
            ("geodesic / Euclidean", numbers.ratio.spread),
        )
        if spread is not None
    ]
    if rows:
        console.table(title, ("start to goal", "minimum", "mean", "median", "maximum"), rows)


def describe(dataset: EpisodeDataset, file: Path | str, numbers: Statistics) -> dict[str, Any]:
    """The JSON output of the commands for navarena's own files."""
    return {
        "file": str(file),
        "protocol": dataset.protocol_id,
        "dataset": dataset.name,
        "split": dataset.split,
        "seed": dataset.seed,
        "hash": dataset.hash,
        "dropped": dataset.dropped,
        **_counts(numbers),
    }


def _counts(numbers: Statistics) -> dict[str, Any]:
    """Scenes, episodes and the spreads of the distances; null where files hide them."""
    spreads = {
        "geodesic": numbers.geodesic.spread,
        "euclidean": numbers.euclidean.spread,
        "ratio": numbers.ratio.spread,
    }
    return {
        "scenes": numbers.scenes,
        "episodes": numbers.episodes,
        **{name: asdict(spread) if spread else None for name, spread in spreads.items()},
    }


def describe_statistics(numbers: Statistics) -> dict[str, Any]:
    """All numbers for --json; `goals` is keyed by text, as JSON wants it."""
    described = asdict(numbers)
    described["goals"] = {str(count): episodes for count, episodes in numbers.goals.items()}
    return described
