"""`navarena tours score`, and what it shares with `navarena tours evaluate`: scores, tables, files."""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any

import msgspec
import numpy as np
import tyro
from jaxtyping import Int

from navarena.cli.console import Console
from navarena.core.errors import InputError
from navarena.core.files import write_atomic
from navarena.core.protocol_ids import join_protocol, split_protocol
from navarena.episodes.exchange.r2r import R2RFile
from navarena.episodes.graph_data import GraphData, open_graph_data
from navarena.evaluation.graph_results import load_results
from navarena.evaluation.graph_scores import OFFICIAL_INSTRUCTIONS, TITLES, mean_scores, score_episodes
from navarena.evaluation.identity import Identity
from navarena.evaluation.tour_runner import AnyTour
from navarena.evaluation.tour_scores import TourScores, score_tours
from navarena.metrics.instruction import SplReference
from navarena.metrics.tours import Reading, Weighting
from navarena.reports.tour_alignment import TourDrawing, drawing_on_graph, write_tour_drawing
from navarena.scenes.packs import content_hash
from navarena.tasks.catalog import get_graph_task
from navarena.tasks.vln_graph import GraphTask


@dataclass(frozen=True)
class ScoreOptions:
    """Readings of the numbers, where paper and code differ.

    Attributes:
        reading, weighting: of t-nDTW.
        spl: reading of SPL; None for the protocol's.
        drawings: folder for a drawing of each tour.
        details: JSON file for the numbers of each episode and tour.
    """

    reading: Reading = "code"
    weighting: Weighting = "episodes"
    spl: SplReference | None = None
    drawings: Path | None = None
    details: Path | None = None


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
    """Of t-nDTW: code (the reference's window) or paper."""
    weighting: Weighting = "episodes"
    """Of t-nDTW: tours weigh by episodes, or by changes of episode (continuous reference code)."""
    spl: SplReference | None = None
    """SPL relative to the shortest path (official R2R) or the path (IVLN); the protocol's by default."""
    drawings: Path | None = None
    """Folder for a drawing of each tour with its alignment."""
    details: Path | None = None
    """JSON file for the numbers of every episode and tour."""
    json: bool = False
    """Print one JSON document instead of tables."""

    def run(self, console: Console) -> int:
        """Check, score and print; the exit code is 0."""
        data = open_graph_data(self.r2r, self.connectivity, self.tours, self.split)
        expected = list(expected_ids(data, None if self.all_instructions else OFFICIAL_INSTRUCTIONS))
        answers = load_results(self.results, expected, data.episodes, data.atlas)
        if answers.ignored:
            console.note(f"{answers.ignored} answers to instructions outside this evaluation were ignored")
        options = ScoreOptions(self.reading, self.weighting, self.spl, self.drawings, self.details)
        values = {"results": str(self.results), "ignored": answers.ignored}
        report_on_graphs(console, data, answers.walks, options, values)
        return 0


def expected_ids(data: GraphData, most: int | None) -> Iterable[str]:
    """Ids that must be answered: those in the tours, or the first `most` instructions of each path."""
    if data.iterative:
        return [episode.episode_id for tour in data.tours for episode in tour.episodes]
    return data.file.instruction_ids(most)


def identify(data: GraphData, ids: Iterable[str], protocol_id: str) -> Identity:
    """What the numbers are numbers of."""
    paths = [f"{path.path_id} {path.scan} {' '.join(path.path)}" for path in data.file.paths]
    return Identity(protocol_id, "r2r", data.split, content_hash(*paths, *ids)[:16])


def report_on_graphs(
    console: Console,
    data: GraphData,
    walks: Mapping[str, Int[np.ndarray, "_"]],
    options: ScoreOptions,
    values: dict[str, Any],
    task: GraphTask | None = None,
) -> None:
    """Score walks on graphs, print tables or JSON, write details and drawings.

    Args:
        console: to print on.
        data: the split.
        walks: instruction id -> (K,) node indices.
        options: readings and files.
        values: further members of the JSON document, printed first.
        task: whose rules the walks obeyed; None for the protocol of the data.
    """
    require_goals(data.file)
    rules = task or get_graph_task("ir2r-v1" if data.iterative else "r2r-v1")
    scored = score_episodes(walks, data.episodes, data.atlas, options.spl or rules.spl_reference)
    base, departures = split_protocol(rules.protocol_id)
    if options.spl not in (None, rules.spl_reference):
        departures["spl"] = str(options.spl)
    tours = score_tours(data.tours, scored, options.reading, options.weighting) if data.iterative else None
    shown = Shown(
        str(identify(data, walks, join_protocol(base, departures))),
        {name: asdict(one.scores) for name, one in scored.items()},
        mean_scores(scored),
        TITLES,
        tours,
        order_tours(data.tours) if data.iterative else {},
    )
    drawings = (drawing_on_graph(tour, walks, data.atlas) for tour in data.tours) if tours else ()
    show(console, shown, options, values, drawings)


@dataclass(frozen=True)
class Shown:
    """What the commands show of scores.

    Attributes:
        identity: `protocol@dataset/split#hash`.
        episodes: episode id -> number -> value.
        means: number -> mean over episodes.
        titles: number -> column of the table.
        tours: t-nDTW and its like; None for single episodes.
        tour_of: episode id -> its tour, in the order of the tours; empty for single episodes.
    """

    identity: str
    episodes: Mapping[str, Mapping[str, float]]
    means: Mapping[str, float]
    titles: Mapping[str, str]
    tours: TourScores | None
    tour_of: Mapping[str, str]


def order_tours(tours: Iterable[AnyTour]) -> dict[str, str]:
    """Episode id -> id of its tour, in the order in which the tours have them."""
    return {one.episode_id: tour.tour_id for tour in tours for one in tour.episodes}


def show(
    console: Console,
    shown: Shown,
    options: ScoreOptions,
    values: dict[str, Any],
    drawings: Iterable[TourDrawing] = (),
) -> None:
    """Print tables or JSON, write details and drawings where `options` names files for them.

    Args:
        console: to print on.
        shown: the scores.
        options: readings and files.
        values: further members of the JSON document, printed first.
        drawings: of the tours, made when they are asked for.
    """
    if options.details is not None:
        agent = values.get("agent") or Path(values["results"]).stem
        write_atomic(options.details, msgspec.json.encode(describe_results(shown, agent)))
    if options.drawings is not None:
        for drawing in drawings:
            write_tour_drawing(drawing, options.drawings, options.reading)
    columns = ("episodes", *(shown.titles[name] for name in shown.means))
    console.table(shown.identity, columns, [(len(shown.episodes), *shown.means.values())])
    values |= {"identity": shown.identity, "episodes": len(shown.episodes), "metrics": dict(shown.means)}
    if shown.tours is not None:
        summary = {**asdict(shown.tours), "tours": len(shown.tours.tours)}
        columns = ("tours", "t-nDTW", "t-SR", "t-SPL", "reading", "weighting", "distance")
        keys = ("tours", "t_ndtw", "t_sr", "t_spl", "reading", "weighting", "distance")
        console.table("tours", columns, [tuple(summary[key] for key in keys)])
        values["tours"] = {key: summary[key] for key in keys}
    console.result(values)


def require_goals(file: R2RFile) -> None:
    """Raise InputError for a test split, which nobody can score."""
    if not file.has_goals:
        raise InputError(f"expected paths up to their goals in {file.name}, got starts only (a test split)")


def describe_results(shown: Shown, agent: str) -> dict[str, Any]:
    """The numbers of every episode and tour as `navarena analyse` reads them: a results file."""
    names = [name for name in shown.tour_of if name in shown.episodes] or list(shown.episodes)
    document: dict[str, Any] = {"identity": shown.identity, "agent": agent, "tours": []}
    if shown.tours is not None:
        document |= {"weighting": shown.tours.weighting, "tours": [asdict(one) for one in shown.tours.tours]}
    document["episodes"] = {
        name: {"tour": shown.tour_of.get(name, ""), "metrics": shown.episodes[name]} for name in names
    }
    return document
