"""`navarena tours evaluate`: on navigation graphs, and in houses."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Annotated, Any

import msgspec
import tyro

from navarena.agents.agent import Agent
from navarena.agents.loading import load_agent
from navarena.cli.console import Console
from navarena.cli.tours_houses import find_tours
from navarena.cli.tours_scoring import (
    ScoreOptions,
    Shown,
    describe_results,
    identify,
    order_tours,
    report_on_graphs,
    show,
)
from navarena.core.errors import InputError
from navarena.core.files import write_atomic
from navarena.core.protocol_ids import base_protocol
from navarena.episodes.exchange.r2r_ce import load_tour_places
from navarena.episodes.graph_data import open_graph_data, require_kind
from navarena.episodes.route_tours import EpisodeTour
from navarena.evaluation.graph_results import save_results
from navarena.evaluation.graph_runner import GraphTours
from navarena.evaluation.house_runner import HouseTours
from navarena.evaluation.house_scores import (
    TITLES,
    geodesic_costs,
    refer_records,
    require_references,
    score_records,
)
from navarena.evaluation.identity import Identity
from navarena.evaluation.tour_journal import TourRun, open_tour_journal
from navarena.evaluation.tour_runner import RecordT, TourSource, TourT, run_tours
from navarena.evaluation.tour_scores import Distance
from navarena.metrics.alignment import Costs
from navarena.metrics.tours import Reading, Weighting
from navarena.reports.tour_alignment import drawing_in_house
from navarena.scenes.graphs.features import load_features
from navarena.scenes.packs import content_hash
from navarena.simulation.world import WorldCache
from navarena.tasks.catalog import get_graph_task, get_tour_task
from navarena.tasks.tour_batch import TourRecord


@dataclass(frozen=True)
class ToursEvaluate:
    """Run an agent over tours (ir2r-v1, ir2r-ce-v1) or episodes (r2r-v1), write and score its results.

    The same command goes on where an earlier one was cut off, tour by tour.
    """

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
    """Name of the split: by default the one in the name of the R2R or episode file; of r2r-houses-v1
    val_unseen."""
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
    distance: Distance | None = None
    """Of t-nDTW in houses: euclidean (the default, as the reference code) or geodesic (paper: along the
    floor). On graphs it is geodesic."""
    drawings: Path | None = None
    """Folder for a drawing of each tour with its alignment."""
    details: Path | None = None
    """JSON file for the numbers of every episode and tour."""
    fresh: bool = False
    """Throw away what an earlier command has finished of these results, in place of going on with it."""
    json: bool = False
    """Print one JSON document instead of tables."""

    def run(self, console: Console) -> int:
        """Run, write, score and print; the exit code is 0."""
        if self.slots is not None and self.slots < 1:
            raise InputError(f"expected --slots of at least 1, got {self.slots}")
        return (
            self._run_in_houses(console) if is_house_protocol(self.protocol) else self._run_on_graphs(console)
        )

    def _run_on_graphs(self, console: Console) -> int:
        if self.r2r is None or self.connectivity is None:
            raise InputError(f"expected --r2r and --connectivity for {self.protocol}, which runs on graphs")
        if self.distance == "euclidean":
            raise InputError(f"expected --distance geodesic for {self.protocol}, which runs on graphs")
        task = get_graph_task(self.protocol)
        data = open_graph_data(self.r2r, self.connectivity, self.tours, self.split, self.vocabulary)
        require_kind(data, task.iterative, self.protocol)
        features = None if self.features is None else load_features(self.features, scans=data.file.scans)
        if features is not None:
            features.require(data.atlas.places())
        agent = load_agent(self.agent, task, self.seed)
        source = GraphTours(task, data.atlas, data.tours, features)
        order = [episode.episode_id for tour in data.tours for episode in tour.episodes]
        identity = identify(data, order, task.protocol_id)
        with self._run(console, source, agent, identity) as walks:
            save_results(walks.values(), data.atlas, self.out)
        console.text(f"{len(walks)} walks written to {self.out}")
        if not data.file.has_goals:
            console.note(f"{data.file.name} hides its goals (a test split): nothing was scored")
            unscored = {"identity": str(identity), "episodes": len(walks), "metrics": {}}
            console.result(self._describe(agent) | unscored)
            return 0
        nodes = {name: walk.nodes for name, walk in walks.items()}
        report_on_graphs(console, data, nodes, self._options("episodes"), self._describe(agent), task)
        return 0

    def _run_in_houses(self, console: Console) -> int:
        self._refuse_flags_of_graphs()
        task = get_tour_task(self.protocol)
        worlds = WorldCache(task.embodiment)
        dataset, split, tours = find_tours(console, worlds, self.split, self.episodes, self.tours)
        paths = None if self.references is None else load_tour_places(self.references, split)
        order = [[episode.episode_id for episode in tour.episodes] for tour in tours]
        if paths is not None:
            require_references(chain(*order), paths)
        agent = load_agent(self.agent, task, self.seed)
        digest = content_hash(dataset.hash, *("\n".join(ids) for ids in order))[:16]
        identity = Identity(task.protocol_id, dataset.name, split, digest)
        options = self._options("changes")
        with self._run(console, HouseTours(task, tours, worlds), agent, identity) as records:
            compared = records if paths is None else refer_records(records, paths)
            tables = self._measure_geodesics(compared, tours, worlds)
            scores = score_records(task, tours, compared, options.reading, options.weighting, tables)
            titles = {name: TITLES.get(name, name) for name in scores.means}
            tour_of = order_tours(tours)
            shown = Shown(str(identity), scores.episodes, scores.means, titles, scores.tours, tour_of)
            self._write(shown, records)
        console.text(f"{len(records)} episodes written to {self.out}")
        drawings = (
            drawing_in_house(tour, compared, worlds.get(tour.scene_id).navmesh, tables) for tour in tours
        )
        show(console, shown, options, self._describe(agent), drawings)
        return 0

    def _measure_geodesics(
        self, records: Mapping[str, TourRecord], tours: Sequence[EpisodeTour], worlds: WorldCache
    ) -> dict[str, Costs] | None:
        """Episode id -> metres along the floor, if t-nDTW is to align by them."""
        if self.distance != "geodesic":
            return None
        return {
            one.episode_id: geodesic_costs(records[one.episode_id], worlds.get(tour.scene_id).navmesh)
            for tour in tours
            for one in tour.episodes
        }

    @contextmanager
    def _run(
        self, console: Console, source: TourSource[TourT, RecordT], agent: Agent, identity: Identity
    ) -> Iterator[dict[str, RecordT]]:
        """The records of all tours; what was finished stays in a journal until the block ends well."""
        files = {"features": self.features, "vocabulary": self.vocabulary}
        settings: dict[str, str | int | None] = {"agent": self.agent, "seed": self.seed}
        settings |= {name: str(path.absolute()) for name, path in files.items() if path is not None}
        run = TourRun(identity=str(identity), settings=settings)
        with open_tour_journal(self.out, run, self.fresh) as journal:
            if journal.tours:
                console.note(f"{journal.tours} of {len(source.tours)} tours were finished before; going on")
            total = sum(len(tour.episodes) for tour in source.tours)
            with console.progress(total, "episodes") as progress:
                records = run_tours(agent, source, self.slots, self.seed, journal, progress.advance)
            yield records
            journal.discard()

    def _refuse_flags_of_graphs(self) -> None:
        named = {
            "--r2r": self.r2r,
            "--connectivity": self.connectivity,
            "--features": self.features,
            "--vocabulary": self.vocabulary,
        }
        given = [flag for flag, value in named.items() if value is not None]
        if self.tours is not None and self.episodes is None:
            given.append("--tours")
        if given:
            raise InputError(
                f"expected no {given[0]} for {self.protocol}, which runs in houses: leave it out, or name "
                "--episodes and --tours of VLN-CE"
            )

    def _options(self, weighting: Weighting) -> ScoreOptions:
        """How to score, by `weighting` unless a flag says otherwise."""
        return ScoreOptions(self.reading, self.weighting or weighting, None, self.drawings, self.details)

    def _describe(self, agent: Agent) -> dict[str, Any]:
        return {"agent": self.agent, "privileged": agent.privileged, "results": str(self.out)}

    def _write(self, shown: Shown, records: Mapping[str, TourRecord]) -> None:
        """The results file in houses: what it scored, and what was done."""
        document = describe_results(shown, self.agent)
        for name, row in document["episodes"].items():
            row["actions"] = records[name].trajectory.actions.tolist()
        write_atomic(self.out, msgspec.json.encode(document))


def is_house_protocol(protocol: str) -> bool:
    """Whether tours of the protocol run in houses, and not on navigation graphs."""
    return base_protocol(protocol).removeprefix("i").startswith("r2r-ce")
