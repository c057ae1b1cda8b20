"""Benchmark of navigation graphs: geodesics, tours, steps, t-nDTW, on drawn graphs."""

import time
from dataclasses import replace

import numpy as np

from navarena.cli.benchmarks.measurement import Measurement, median_seconds
from navarena.core.seeding import make_generator
from navarena.episodes.episode import Episode
from navarena.episodes.graph_episodes import make_graph_episode
from navarena.episodes.tour_order import order_paths
from navarena.metrics.tours import tour_ndtw
from navarena.scenes.graphs.atlas import GraphAtlas
from navarena.scenes.graphs.graph import NavGraph
from navarena.tasks.graphs.batch import GraphBatch
from navarena.tasks.graphs.task import IR2R

SCANS, SIDE = 61, 11
"""As many scans as R2R's train split has, each a grid of about as many places as a scan has."""

SPACING = 2.27
"""Metres: the mean edge of Matterport3D's graphs."""

BATCH = 256
PATHS, TOUR = 77, 20
"""Paths of a scan (R2R train's mean), and episodes of a timed tour."""


def measure(quick: bool) -> list[Measurement]:
    """Seconds and steps per second of the work on navigation graphs, on one core.

    Args:
        quick: fewer steps and scans.
    """
    graphs = [draw_graph(f"scan{k}") for k in range(SCANS)]
    begin = time.thread_time()
    for graph in graphs:
        graph.distances  # noqa: B018 - computed when first read
    geodesics = time.thread_time() - begin
    return [
        Measurement(f"all-pairs geodesics, {SCANS} scans", geodesics, "s", 2.0, "SciPy, one core"),
        measure_ordering(graphs[0], quick),
        measure_steps(graphs, 100 if quick else 1_000),
        measure_alignment(2_349, 7, 1.0),
        measure_alignment(1_800, 100, 20.0),
    ]


def draw_graph(scan: str) -> NavGraph:
    """A square grid whose places are a little displaced."""
    rows, columns = np.divmod(np.arange(SIDE * SIDE), SIDE)
    flat = np.stack([columns, rows], 1) * SPACING
    flat = flat + make_generator("bench", scan).uniform(-0.5, 0.5, flat.shape)
    number = np.arange(SIDE * SIDE).reshape(SIDE, SIDE)
    across = np.stack([number[:, :-1].ravel(), number[:, 1:].ravel()], 1)
    down = np.stack([number[:-1].ravel(), number[1:].ravel()], 1)
    edges = np.concatenate([across, down]).astype(np.int64)
    positions = np.stack([flat[:, 0], np.full(len(flat), 1.5), flat[:, 1]], 1)
    names = tuple(f"p{k}" for k in range(len(flat)))
    return NavGraph(scan, names, positions, edges, np.full(len(flat), 1.5))


def measure_ordering(graph: NavGraph, quick: bool) -> Measurement:
    """Seconds to order all tours of a train split: one scan of the mean size, times their number."""
    generator = make_generator("bench", "paths")
    ends, starts = generator.integers(0, len(graph), (2, PATHS))
    gaps = np.ascontiguousarray(graph.distances[np.ix_(ends, starts)])
    seconds = median_seconds(lambda: order_paths(gaps), 1 if quick else 3, time.thread_time)
    return Measurement("tours of a train split", seconds * SCANS, "s", 180.0, "one scan times 61, one core")


def measure_steps(graphs: list[NavGraph], steps: int) -> Measurement:
    """Steps/s of ir2r-v1 with all observations except image features, random actions and oracle phases."""
    atlas = GraphAtlas(graphs)
    tours = [_draw_tour(graph, k) for k, graph in enumerate(graphs)]
    batch = GraphBatch(IR2R(), atlas, BATCH)
    batch.start(range(BATCH), [tours[slot % SCANS][0] for slot in range(BATCH)])
    places = np.zeros(BATCH, np.int64)
    actions = make_generator("bench", "steps").integers(0, 5, (steps, BATCH))
    batch.step(actions[0])
    done = 0
    begin = time.thread_time()
    for row in actions:
        for slot in np.flatnonzero(~batch.running & ~batch.led).tolist():
            tour = tours[slot % SCANS]
            places[slot] = (places[slot] + 1) % TOUR
            go_on = batch.follow if places[slot] else batch.start
            go_on([slot], [tour[places[slot]]])
        batch.step(row)
        done += len(batch.observations["viewpoint"])
    seconds = time.thread_time() - begin
    name = f"ir2r-v1, batch of {BATCH}, no image features"
    return Measurement(name, done / seconds, "steps/s", 50_000, "one core, with oracle phases and resets")


def _draw_tour(graph: NavGraph, number: int) -> list[Episode]:
    ends = make_generator("bench", "tour", number).permutation(len(graph))[: 2 * TOUR].reshape(TOUR, 2)
    episodes = []
    for k, (a, b) in enumerate(ends):
        path = [graph.viewpoints[row] for row in graph.shortest_path(int(a), int(b))]
        episode = make_graph_episode(f"{number}_{k}", graph, path, "Walk there.")
        episodes.append(replace(episode, tour_id=str(number)))
    return episodes


def measure_alignment(episodes: int, points: int, limit: float) -> Measurement:
    """Seconds of t-nDTW over so many episodes of so many points each."""
    table = make_generator("bench", "costs", points).random((points, points))
    seconds = median_seconds(lambda: tour_ndtw([table] * episodes), 3, time.thread_time)
    return Measurement(f"t-nDTW, {episodes:,} episodes of {points} points", seconds, "s", limit, "one core")
