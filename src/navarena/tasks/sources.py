"""Sources of a protocol: its episodes, the user's files beside them, and the batch that runs them."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType

import numpy as np

from navarena.core.errors import InputError, require_name
from navarena.core.protocol_ids import base_protocol
from navarena.episodes.catalog import load_episodes
from navarena.episodes.dataset import EpisodeDataset
from navarena.episodes.exchange.r2r import split_of
from navarena.episodes.exchange.r2r_ce import follow_places, load_tour_places
from navarena.episodes.floor_graph import house_graph
from navarena.episodes.graph_episodes import open_graph_split
from navarena.episodes.graph_routes import GRAPH_ROUTE_SET, R2R_GRAPH_V1
from navarena.episodes.house_blocks import HouseBlocks
from navarena.episodes.house_tours import HouseTours, load_graph_tours
from navarena.episodes.route_sets import Recipe, list_houses, load_routes
from navarena.episodes.routes import R2R_CE_V1, ROUTE_SET
from navarena.episodes.scene_places import move_episodes
from navarena.episodes.stream import TRAIN, find_blocks
from navarena.episodes.tours import build_tours, load_tours, pick_split
from navarena.scenes.graphs.atlas import GraphAtlas
from navarena.scenes.graphs.features import ViewFeatures, load_features
from navarena.scenes.graphs.matterport import Connectivity
from navarena.simulation.device_images import ON_CPU, RenderDevice
from navarena.simulation.world import WorldCache
from navarena.tasks.batch import NavigationBatch
from navarena.tasks.graphs.batch import GraphBatch
from navarena.tasks.graphs.house_features import DEFAULT_FEATURES, SIZES, HouseFeatures
from navarena.tasks.graphs.task import GraphTask
from navarena.tasks.task import Task, TaskRules
from navarena.tasks.user_files import NO_SOURCES, Sources

ROUTES: Mapping[str, Recipe] = {ROUTE_SET: R2R_CE_V1, GRAPH_ROUTE_SET: R2R_GRAPH_V1}
"""Data set -> the recipe of its routes through generated houses."""

Batch = NavigationBatch | GraphBatch
"""N episodes of a task side by side: bodies in scenes, or on navigation graphs."""


def load_task_episodes(
    task: TaskRules, split: str, dataset: str | Path | None = None, sources: Sources = NO_SOURCES
) -> EpisodeDataset:
    """The episodes of a task, those of tours one tour after the other.

    Args:
        task: whose rules hold.
        split: of the data set; of an R2R file it is the one in its name, whatever stands here.
        dataset: name of a data set or an episode file; on graphs an R2R file. None for the task's own.
        sources: files beside it.

    Raises FileError for files that are missing or damaged, InputError for files of no use to the task.
    """
    if isinstance(task, GraphTask):
        return _load_graph_episodes(task, split, dataset, sources)
    sources.require_none(("features", "vocabulary"), task.protocol_id)
    if task.tour_scoring is None:
        sources.require_none(("tours", "references"), task.protocol_id)
    found = load_episodes(task, split, dataset, sources.tours)
    if sources.references is not None:
        places = load_tour_places(Path(sources.references), found.split)
        episodes = tuple(follow_places(one, places, sources.references) for one in found.episodes)
        found = replace(found, episodes=episodes, recipe_hash="")
    if sources.scenes is not None:
        moved = move_episodes(found.episodes, Path(sources.scenes))
        found = replace(found, episodes=moved, recipe_hash=found.hash)
    return found


def load_blocks(task: TaskRules, split: str) -> HouseBlocks:
    """The episodes of a task's own split, house by house, from which streams draw.

    Tours of train splits of generated houses are made when they are asked for; those of a whole split take
    minutes.
    """
    routes = ROUTES.get(task.default_dataset)
    if task.tour_scoring is not None and routes is not None and split.startswith(TRAIN):
        return HouseTours(split, recipe=routes)
    return find_blocks(load_task_episodes(task, split))


def _load_graph_episodes(
    task: GraphTask, split: str, dataset: str | Path | None, sources: Sources
) -> EpisodeDataset:
    sources.require_none(("references",), task.protocol_id)
    if sources.scenes is None and dataset in (None, GRAPH_ROUTE_SET):
        sources.require_none(("tours", "vocabulary"), f"{task.protocol_id} in houses")
        if task.tour_scoring is None:
            return load_routes(split, recipe=R2R_GRAPH_V1)
        return load_graph_tours(split, base_protocol(task.protocol_id))
    if dataset is None or sources.scenes is None:
        raise InputError(
            f"expected an R2R file and its connectivity folder for {task.protocol_id}, got one of them; name "
            "both with --dataset FILE --scenes FOLDER, or none for generated houses"
        )
    path = Path(dataset)
    vocabulary = None if sources.vocabulary is None else Path(sources.vocabulary)
    data = open_graph_split(path, Path(sources.scenes), split_of(path) or split, vocabulary)
    protocol_id = base_protocol(task.protocol_id)
    if task.tour_scoring is None:
        if sources.tours is not None:
            raise InputError(
                f"expected no tour file for {task.protocol_id}, got one; use ir2r-v1, or leave it out"
            )
        return data.dataset(protocol_id)
    if sources.tours is None:
        raise InputError(
            f"expected a tour file for {task.protocol_id}, got none; make one with: navarena tours make"
        )
    _, lists = pick_split(load_tours(Path(sources.tours)), data.file.split, Path(sources.tours))
    return data.dataset(protocol_id, build_tours(lists, data.episodes, sources.tours))


def make_batch(
    task: TaskRules,
    slots: int,
    threads: int | None = None,
    sensors: Sequence[str] | None = None,
    worlds: WorldCache | None = None,
    corruptions: Sequence[str] = (),
    sources: Sources = NO_SOURCES,
    scans: Sequence[str] | None = None,
    buffers: Mapping[str, np.ndarray] = MappingProxyType({}),
    device: RenderDevice = ON_CPU,
) -> Batch:
    """The batch that runs N episodes of a task at a time.

    Args:
        task: the rules.
        slots: N.
        threads: for rendering; None for all processors this process may use.
        sensors: names of what to observe; None for all that the task offers.
        worlds: where scenes come from; None for a store of its own.
        corruptions: each as "name:severity"; on graphs of instructions alone.
        sources: on graphs the connectivity and the features; without connectivity the graphs are those of
            generated houses, whose features have a name.
        scans: on graphs the scans of the episodes; None for all that the connectivity has, or all houses of
            the splits that R2R has.
        buffers: name -> an array (N, ...) of the caller into which the observation is written.
        device: where images are drawn; on graphs there are none.

    Raises InputError for corruptions or a device on graphs, and what NavigationBatch raises.
    """
    if isinstance(task, GraphTask):
        if not device.is_cpu:
            raise InputError(f"expected device 'cpu' for {task.protocol_id} on graphs, got {device.name!r}")
        if sources.scenes is None:
            return _make_house_batch(task, slots, sensors, worlds, corruptions, sources, scans, buffers)
        graphs = Connectivity(Path(sources.scenes))
        atlas = GraphAtlas(graphs.graph(scan) for scan in (graphs.scans if scans is None else scans))
        features = None
        if sources.features is not None:
            features = _load_file(sources.features, atlas)
        return GraphBatch(task, atlas, slots, sensors, features, buffers, corruptions)
    if not isinstance(task, Task):
        raise InputError(f"expected a Task or a GraphTask, got {type(task).__name__}")
    return NavigationBatch(task, slots, threads, sensors, worlds, corruptions, buffers, device)


def _make_house_batch(
    task: GraphTask,
    slots: int,
    sensors: Sequence[str] | None,
    worlds: WorldCache | None,
    corruptions: Sequence[str],
    sources: Sources,
    scans: Sequence[str] | None,
    buffers: Mapping[str, np.ndarray],
) -> GraphBatch:
    """The batch on the graphs of generated houses."""
    found = WorldCache(R2R_GRAPH_V1.embodiment) if worlds is None else worlds
    atlas = GraphAtlas(house_graph(found.get(scan)) for scan in (list_houses() if scans is None else scans))
    named = sources.features or DEFAULT_FEATURES
    features: ViewFeatures = (
        HouseFeatures(atlas, found, named) if named in SIZES else _load_file(named, atlas)
    )
    return GraphBatch(task, atlas, slots, sensors, features, buffers, corruptions)


def _load_file(path: str, atlas: GraphAtlas) -> ViewFeatures:
    """The features of the places of `atlas` in FILE or FILE?size=D, the first D numbers of each view.

    Raises UnknownNameError for what is no file at all, InputError for other words behind it.
    """
    file, mark, words = path.partition("?")
    if not Path(file).suffix:
        require_name("features of houses", path, SIZES)
    name, _, size = words.partition("=")
    if mark and not (name == "size" and size.isdecimal() and int(size) > 0):
        raise InputError(f"expected ?size=D, such as ?size=768, behind {file}, got {words!r}")
    features = load_features(Path(file), int(size) if mark else None, atlas.scans)
    features.require(atlas.places())
    return features
