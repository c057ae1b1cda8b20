"""`navarena tours score` and `navarena tours draw`."""

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any

import msgspec
import numpy as np
import tyro

from navarena.cli.console import Console
from navarena.cli.flags import OutputFile
from navarena.core.errors import InputError
from navarena.core.files import write_atomic
from navarena.core.protocol_ids import join_protocol, split_protocol
from navarena.episodes.graph_episodes import open_graph_split
from navarena.episodes.tours import build_tours, load_tours, pick_split
from navarena.evaluation.exchange.exports import require_atlas
from navarena.evaluation.exchange.r2r_results import (
    OFFICIAL_INSTRUCTIONS,
    TITLES,
    load_results,
    score_answers,
)
from navarena.evaluation.identity import Identity
from navarena.evaluation.records.journal import Row, read_rows
from navarena.evaluation.records.record import read_record
from navarena.evaluation.records.results import require_complete, summarize_tours
from navarena.evaluation.records.tour_scores import group_tours, score_tours
from navarena.evaluation.running.replay import execute_actions, open_recorded_benchmark
from navarena.evaluation.running.rows import pair_rows
from navarena.metrics.instruction import SplReference
from navarena.metrics.tours import Reading, TourScoring, Weighting
from navarena.metrics.trajectory import Trajectory
from navarena.reports.tour_alignment import drawing_in_house, drawing_on_graph, write_tour_drawing
from navarena.scenes.graphs.atlas import GraphAtlas
from navarena.simulation.world import WorldCache
from navarena.tasks.catalog import get_task
from navarena.tasks.graphs.task import GraphTask
from navarena.tasks.task import Task


@dataclass(frozen=True)
class ToursScore:
    """Score a results file: the official R2R numbers, and with a tour file t-nDTW, t-SR and t-SPL."""

    results: Annotated[Path, tyro.conf.Positional, tyro.conf.arg(metavar="FILE")]
    """JSON list of {instr_id, trajectory: [[viewpoint, heading, elevation], ...]}."""
    r2r: Path
    """R2R file of the split, .json or .json.gz."""
    connectivity: Path
    """Folder or tarball of Matterport3D connectivity files."""
    tours: Path | None = None
    """Tour file: score tours (ir2r-v1); without it, single episodes (r2r-v1)."""
    split: str | None = None
    """Name of the split; the one in the R2R file's name by default."""
    all_instructions: bool = False
    """Expect a fourth instruction of a path to be answered too; the official evaluation ignores it."""
    reading: Reading = "code"
    """Alignment of t-nDTW: code (the reference's window) or paper."""
    weighting: Weighting = "episodes"
    """Weights of tours in t-nDTW: episodes, or changes of episode (continuous reference code)."""
    spl: SplReference | None = None
    """SPL relative to the shortest path (official R2R) or the described one (IVLN); the protocol's by
    default."""
    drawings: Path | None = None
    """Folder for a drawing of each tour with its alignment."""
    details: Annotated[Path | None, OutputFile()] = None
    """JSON file for the numbers of every episode and tour."""
    json: bool = False
    """Print one JSON document instead of tables."""

    def run(self, console: Console) -> int:
        """Check, score and print; the exit code is 0."""
        data = open_graph_split(self.r2r, self.connectivity, self.split)
        task = get_task("r2r-v1" if self.tours is None else "ir2r-v1")
        if not isinstance(task, GraphTask):
            raise InputError(f"expected {task.protocol_id} to run on navigation graphs")
        episodes = list(data.episodes.values())
        if self.tours is not None:
            _, lists = pick_split(load_tours(self.tours), data.file.split, self.tours)
            episodes = list(build_tours(lists, data.episodes, str(self.tours)))
        elif not self.all_instructions:
            kept = set(data.file.instruction_ids(OFFICIAL_INSTRUCTIONS))
            episodes = [one for one in episodes if one.episode_id in kept]
        expected = [one.episode_id for one in episodes]
        answers = load_results(self.results, expected, data.episodes, data.atlas)
        if answers.ignored:
            console.note(f"{answers.ignored} answers to instructions outside this evaluation were ignored")
        if not data.file.has_goals:
            raise InputError(
                f"expected paths up to their goals in {data.file.name}, got starts only (a test split)"
            )
        base, departures = split_protocol(task.protocol_id)
        if self.spl not in (None, task.spl_reference):
            departures["spl"] = str(self.spl)
        digest = data.dataset(base, tuple(episodes)).hash
        identity = str(Identity(join_protocol(base, departures), "r2r", data.file.split, digest))
        scored = score_answers(answers.nodes, episodes, data.atlas, task, identity, self.spl)
        rows = [row for row, _ in scored]
        if self.drawings is not None and self.tours is not None:
            tracks = {row.episode_id: track for row, track in scored}
            draw_rows(rows, tracks, self.drawings, self.reading, data.atlas)
        scoring = None if self.tours is None else TourScoring(self.reading, self.weighting)
        values = {"results": str(self.results), "ignored": answers.ignored, "identity": identity}
        show_scores(console, values, rows, list(task.metrics), scoring)
        if self.details is not None:
            write_atomic(self.details, msgspec.json.encode(describe_scores(identity, rows, scoring)))
        return 0


@dataclass(frozen=True)
class ToursDraw:
    """Draw each tour of a finished run from above: described path, walked path, and their alignment."""

    run_folder: Annotated[Path, tyro.conf.Positional, tyro.conf.arg(metavar="FOLDER")]
    """Folder of the run, as `navarena evaluate` printed it."""
    out: Path
    """Folder for the drawings, tour-ID-SCENE.svg."""
    reading: Reading = "code"
    """Alignment: code (the reference's window) or paper."""
    json: bool = False
    """Print one JSON document instead of text."""

    def run(self, console: Console) -> int:
        """Replay the run, draw and say where; the exit code is 0."""
        record, rows = read_record(self.run_folder), read_rows(self.run_folder)
        benchmark = open_recorded_benchmark(record)
        require_complete(rows, record.identity, [one.episode_id for one in benchmark.episodes])
        tracks = {}
        with console.progress(len(rows), "replaying") as progress:
            for row, _, outcome in execute_actions(benchmark, pair_rows(benchmark, rows)):
                tracks[row.episode_id] = outcome.trajectory
                progress.advance()
        task = get_task(str(record.settings["protocol"]))
        atlas = require_atlas(benchmark) if isinstance(task, GraphTask) else None
        worlds = WorldCache(task.embodiment) if isinstance(task, Task) else None
        files = draw_rows(rows, tracks, self.out, self.reading, atlas, worlds)
        console.text(f"{len(files)} tours drawn into {self.out}")
        console.result({"folder": str(self.out), "files": [str(file) for file in files]})
        return 0


def draw_rows(
    rows: list[Row],
    tracks: dict[str, Trajectory],
    folder: Path,
    reading: Reading,
    atlas: GraphAtlas | None = None,
    worlds: WorldCache | None = None,
) -> list[Path]:
    """Write a drawing of each tour of `rows`, above the graphs of `atlas` or the floors of `worlds`."""
    files = []
    for own in group_tours(rows):
        records = [(row.episode_id, tracks[row.episode_id]) for row in own]
        tour_id, scene = score_tours(own)[0].tour_id, own[0].scene_id
        if atlas is not None:
            drawing = drawing_on_graph(tour_id, scene, records, atlas)
        elif worlds is not None:
            drawing = drawing_in_house(tour_id, scene, records, worlds.get(scene).navmesh)
        else:
            raise InputError("expected graphs or scenes to draw tours above, got neither")
        files.append(write_tour_drawing(drawing, folder, reading))
    return files


def show_scores(
    console: Console,
    values: dict[str, Any],
    rows: list[Row],
    names: Iterable[str],
    scoring: TourScoring | None,
) -> None:
    """Print the means over episodes, and the numbers of tours, as tables or JSON."""
    means = {name: float(np.mean([row.metric(name) for row in rows])) for name in names}
    columns = ("episodes", *(TITLES[name] for name in means))
    console.table(values["identity"], columns, [(len(rows), *means.values())])
    values |= {"episodes": len(rows), "metrics": means}
    if scoring is not None:
        tours = summarize_tours(rows, scoring)
        summary = {name: one.mean for name, one in tours.metrics.items()}
        known = {"tours": tours.tours, **summary, "reading": tours.reading, "weighting": tours.weighting}
        console.table(
            "tours", ("tours", "t-nDTW", "t-SR", "t-SPL", "reading", "weighting"), [tuple(known.values())]
        )
        values["tours"] = known
    console.result(values)


def describe_scores(identity: str, rows: list[Row], scoring: TourScoring | None) -> dict[str, Any]:
    """The numbers of every episode and tour."""
    tours = [] if scoring is None else [asdict(one) for one in score_tours(rows, scoring.reading)]
    return {
        "identity": identity,
        "tours": tours,
        "episodes": {
            row.episode_id: {"tour": "" if row.tour is None else row.tour.tour_id, "metrics": row.metrics}
            for row in rows
        },
    }
