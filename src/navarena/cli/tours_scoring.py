"""`navarena tours evaluate` and `navarena tours score`."""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any

import msgspec
import numpy as np
import tyro
from jaxtyping import Int

from navarena.agents.loading import load_agent
from navarena.cli.console import Console
from navarena.cli.tours_houses import HouseTours, is_house_protocol
from navarena.core.errors import InputError
from navarena.core.files import write_atomic
from navarena.core.protocol_ids import join_protocol, split_protocol
from navarena.episodes.exchange.r2r import R2RFile
from navarena.episodes.graph_data import GraphData, open_graph_data, require_kind
from navarena.evaluation.graph_results import load_results, save_results
from navarena.evaluation.graph_runner import SLOTS, run_tours
from navarena.evaluation.graph_scores import (
    OFFICIAL_INSTRUCTIONS,
    TITLES,
    TourScores,
    mean_scores,
    score_episodes,
    score_tours,
)
from navarena.evaluation.identity import Identity
from navarena.evaluation.tour_runner import SLOTS as HOUSE_SLOTS
from navarena.metrics.instruction import SplReference
from navarena.metrics.tours import Reading, Weighting
from navarena.reports.tour_alignment import write_tour_drawing
from navarena.scenes.graphs.features import load_features
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
    """SPL relative to the shortest way (official R2R) or the path (IVLN); the protocol's by default."""
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
        report(console, data, answers.walks, options, values)
        return 0


@dataclass(frozen=True)
class ToursEvaluate:
    """Run an agent over tours (ir2r-v1, ir2r-ce-v1) or episodes (r2r-v1), write and score its results."""

    protocol: Annotated[str, tyro.conf.Positional, tyro.conf.arg(metavar="PROTOCOL")]
    """ir2r-v1 or r2r-v1 on navigation graphs, ir2r-ce-v1 in houses; with options such as
    ir2r-v1+reveals_next_path=true."""
    agent: str
    """Name of an agent, or module:Class."""
    out: Path
    """Results file to write: on graphs as R2R's evaluation server reads it, in houses with actions and
    numbers."""
    r2r: Path | None = None
    """On graphs: R2R file of the split, .json or .json.gz."""
    connectivity: Path | None = None
    """On graphs: folder or tarball of Matterport3D connectivity files."""
    tours: Path | None = None
    """Tour file, for ir2r-v1, and beside --episodes."""
    episodes: Path | None = None
    """In houses: episode file of VLN-CE in the place of r2r-houses-v1; its scenes must be at hand."""
    references: Path | None = None
    """In houses: gt_ndtw.json of IVLN-CE, the paths that t-nDTW compares with."""
    split: str | None = None
    """Name of the split: by default the one in the R2R file's name, in houses val_unseen."""
    features: Path | None = None
    """Features of the 36 views: .tsv (R2R) or .hdf5 (HAMT)."""
    vocabulary: Path | None = None
    """File of words that encodes instructions for the sensor instruction_tokens."""
    slots: int | None = None
    """Tours side by side; results do not depend on it."""
    seed: int = 0
    """Of the agent."""
    reading: Reading = "code"
    """Of t-nDTW: code (the reference's window) or paper."""
    weighting: Weighting | None = None
    """Of t-nDTW: tours weigh by episodes (the default on graphs), or by changes of episode (in houses)."""
    drawings: Path | None = None
    """Folder for a drawing of each tour with its alignment."""
    details: Path | None = None
    """JSON file for the numbers of every episode and tour."""
    json: bool = False
    """Print one JSON document instead of tables."""

    def run(self, console: Console) -> int:
        """Run, write, score and print; the exit code is 0."""
        if self.slots is not None and self.slots < 1:
            raise InputError(f"expected --slots of at least 1, got {self.slots}")
        return (
            self._run_in_houses(console) if is_house_protocol(self.protocol) else self._run_on_graphs(console)
        )

    def _run_in_houses(self, console: Console) -> int:
        named = {
            "--r2r": self.r2r,
            "--connectivity": self.connectivity,
            "--features": self.features,
            "--vocabulary": self.vocabulary,
            "--drawings": self.drawings,
            "--details": self.details,
        }
        given = [flag for flag, value in named.items() if value is not None]
        if given or (self.tours is not None and self.episodes is None):
            given = given or ["--tours"]
            raise InputError(
                f"expected no {given[0]} for {self.protocol}, which runs in houses: leave it out, or name "
                "--episodes and --tours of VLN-CE"
            )
        tours = HouseTours(
            self.protocol,
            self.agent,
            self.split or "val_unseen",
            self.out,
            self.episodes,
            self.tours,
            self.references,
            self.slots or HOUSE_SLOTS,
            self.seed,
            self.reading,
            self.weighting or "changes",
        )
        return tours.run(console)

    def _run_on_graphs(self, console: Console) -> int:
        if self.r2r is None or self.connectivity is None:
            raise InputError(f"expected --r2r and --connectivity for {self.protocol}, which runs on graphs")
        slots, weighting = self.slots or SLOTS, self.weighting or "episodes"
        task = get_graph_task(self.protocol)
        data = open_graph_data(self.r2r, self.connectivity, self.tours, self.split, self.vocabulary)
        require_kind(data, task.iterative, self.protocol)
        features = None if self.features is None else load_features(self.features, scans=data.file.scans)
        agent = load_agent(self.agent, task, self.seed)
        total = sum(len(tour.episodes) for tour in data.tours)
        with console.progress(total, "episodes") as progress:
            walks = run_tours(
                agent,
                task,
                data.atlas,
                data.tours,
                slots,
                self.seed,
                features,
                progress.advance,
            )
        save_results(walks.values(), data.atlas, self.out)
        console.text(f"{len(walks)} walks written to {self.out}")
        options = ScoreOptions(self.reading, weighting, None, self.drawings, self.details)
        values = {"agent": self.agent, "privileged": agent.privileged, "results": str(self.out)}
        report(console, data, {k: walk.nodes for k, walk in walks.items()}, options, values, task)
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


def report(
    console: Console,
    data: GraphData,
    walks: Mapping[str, Int[np.ndarray, "_"]],
    options: ScoreOptions,
    values: dict[str, Any],
    task: GraphTask | None = None,
) -> None:
    """Score walks, print tables or JSON, write details and drawings.

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
    means = mean_scores(scored)
    base, departures = split_protocol(rules.protocol_id)
    if options.spl not in (None, rules.spl_reference):
        departures["spl"] = str(options.spl)
    identity = identify(data, walks, join_protocol(base, departures))
    tours = score_tours(data.tours, scored, options.reading, options.weighting) if data.iterative else None
    if options.details is not None:
        write_details(options.details, {name: asdict(one.scores) for name, one in scored.items()}, tours)
    if options.drawings is not None and tours is not None:
        for tour in data.tours:
            write_tour_drawing(tour, walks, data.atlas, options.drawings, options.reading)
    console.table(str(identity), ("episodes", *TITLES.values()), [(len(scored), *means.values())])
    values |= {"identity": str(identity), "episodes": len(scored), "metrics": means}
    if tours is not None:
        summary = {**asdict(tours), "tours": len(tours.tours)}
        columns = ("tours", "t-nDTW", "t-SR", "t-SPL", "reading", "weighting")
        keys = ("tours", "t_ndtw", "t_sr", "t_spl", "reading", "weighting")
        console.table("tours", columns, [tuple(summary[key] for key in keys)])
        values["tours"] = {key: summary[key] for key in keys}
    console.result(values)


def require_goals(file: R2RFile) -> None:
    """Raise InputError for a test split, which nobody can score."""
    if not file.has_goals:
        raise InputError(f"expected paths up to their goals in {file.name}, got starts only (a test split)")


def write_details(path: Path, episodes: Mapping[str, Any], tours: TourScores | None) -> None:
    """Write the numbers of every episode, and of every tour, as JSON; raises StorageError."""
    document = {"episodes": episodes, "tours": [] if tours is None else [asdict(t) for t in tours.tours]}
    write_atomic(path, msgspec.json.encode(document))
