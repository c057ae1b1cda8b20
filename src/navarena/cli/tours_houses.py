"""`navarena tours houses`, `navarena tours coverage`, and tours in houses for `navarena tours evaluate`."""

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any

import msgspec
import tyro

from navarena.agents.loading import load_agent
from navarena.cli.console import Console
from navarena.core.errors import InputError
from navarena.core.files import write_atomic
from navarena.core.protocol_ids import base_protocol
from navarena.episodes.catalog import load_community_file
from navarena.episodes.dataset import EpisodeDataset
from navarena.episodes.exchange import make_document, write_document
from navarena.episodes.exchange.r2r_ce import R2R_CE, load_tour_places
from navarena.episodes.route_sets import ROUTE_SPLITS, find_route_split, load_routes
from navarena.episodes.route_tours import EpisodeTour, build_episode_tours, make_episode_tours
from navarena.episodes.tours import TourLists, count_tours, load_tours, pick_split, save_tours
from navarena.evaluation.identity import Identity
from navarena.evaluation.tour_coverage import measure_coverage
from navarena.evaluation.tour_runner import SLOTS, run_episode_tours, score_records
from navarena.metrics.tours import Reading, Weighting
from navarena.simulation.body_catalog import VLN_CE
from navarena.simulation.world import WorldCache
from navarena.tasks.catalog import get_tour_task


@dataclass(frozen=True)
class ToursHouses:
    """Write the instructions of a split of r2r-houses-v1, and the tours through them."""

    split: Annotated[str, tyro.conf.Positional, tyro.conf.arg(metavar="SPLIT")]
    """mini, train, val_seen, val_unseen or train_aug."""
    out: Path
    """Folder for SPLIT.json.gz (as VLN-CE's) and tours.json (as IVLN-CE's)."""
    seed: int = 0
    """Of the order of the tours."""
    workers: int = 1
    """Processes that make houses; the files do not depend on it."""
    json: bool = False
    """Print one JSON document instead of a table."""

    def run(self, console: Console) -> int:
        """Make, write and count; the exit code is 0."""
        dataset = _load(console, self.split, self.workers)
        lists = _order(console, dataset, self.seed)
        self.out.mkdir(parents=True, exist_ok=True)
        file = self.out / f"{self.split}.json.gz"
        write_document(make_document(R2R_CE.name, dataset.episodes), file)
        save_tours({self.split: lists}, self.out / "tours.json")
        words = [len(episode.goal.instruction.split()) for episode in dataset.episodes]  # type: ignore[attr-defined]
        values: dict[str, Any] = {
            "file": str(file),
            "tours_file": str(self.out / "tours.json"),
            "split": self.split,
            "hash": dataset.hash,
            "dropped": dataset.dropped,
            "words": sum(words) / len(words),
            **asdict(count_tours(lists)),
        }
        columns = ("split", "scenes", "tours", "episodes", "mean", "min", "max", "SD", "words")
        keys = ("split", "scenes", "tours", "episodes", "mean", "min", "max", "sd", "words")
        console.text(f"written: {file} and {self.out / 'tours.json'}")
        console.table("tours", columns, [tuple(values[key] for key in keys)])
        console.result(values)
        return 0


@dataclass(frozen=True)
class ToursCoverage:
    """Say how much of the next path and of the whole tour has been seen after n episodes."""

    split: Annotated[str, tyro.conf.Positional, tyro.conf.arg(metavar="SPLIT")] = "val_unseen"
    """Split of r2r-houses-v1."""
    most: int = 30
    """Episodes up to which the curves run."""
    copies: bool = False
    """Measure all three tours of each order of paths; they follow the same paths."""
    json: bool = False
    """Print one JSON document instead of a table."""

    def run(self, console: Console) -> int:
        """Walk every tour with an oracle, count and print; the exit code is 0."""
        if self.most < 1:
            raise InputError(f"expected --most of at least 1, got {self.most}")
        dataset = _load(console, self.split)
        tours = build_episode_tours(_order(console, dataset), dataset.episodes, self.split)
        if not self.copies:
            paths = {tuple(_paths(tour)): tour for tour in reversed(tours)}
            tours = tuple(reversed(paths.values()))
        with console.progress(len(tours), "tours") as progress:
            coverage = measure_coverage(tours, WorldCache(VLN_CE), self.most, progress.advance)
        rows = list(zip(coverage.next_path.tolist(), coverage.whole_tour.tolist(), coverage.tours.tolist()))
        console.table(
            f"r2r-houses-v1/{self.split}: seen after n episodes",
            ("n", "next path", "whole tour", "tours"),
            [
                (n, f"{following:.1%}", f"{whole:.1%}", count)
                for n, (following, whole, count) in enumerate(rows)
            ],
        )
        curve = [
            {"episodes": n, "next_path": following, "whole_tour": whole, "tours": count}
            for n, (following, whole, count) in enumerate(rows)
        ]
        console.result({"split": self.split, "curve": curve})
        return 0


@dataclass(frozen=True)
class HouseTours:
    """How tours in houses are run.

    Attributes:
        protocol: such as "ir2r-ce-v1".
        agent: name, or module:Class.
        split: of r2r-houses-v1, or of the files.
        out: JSON file for what every episode and tour scored.
        episodes, tours, references: files of VLN-CE and IVLN-CE in the place of r2r-houses-v1.
        slots: tours side by side.
        seed: of the agent.
        reading, weighting: of t-nDTW.
    """

    protocol: str
    agent: str
    split: str
    out: Path
    episodes: Path | None = None
    tours: Path | None = None
    references: Path | None = None
    slots: int = SLOTS
    seed: int = 0
    reading: Reading = "code"
    weighting: Weighting = "changes"

    def run(self, console: Console) -> int:
        """Run, score, write and print; the exit code is 0."""
        task = get_tour_task(self.protocol)
        dataset, tours = self._find_tours(console)
        paths = None if self.references is None else load_tour_places(self.references, self.split)
        agent = load_agent(self.agent, task, self.seed)
        with console.progress(sum(len(tour.episodes) for tour in tours), "episodes") as progress:
            records = run_episode_tours(agent, task, tours, self.slots, self.seed, advance=progress.advance)
        scores = score_records(task, tours, records, self.reading, self.weighting, paths)
        identity = str(Identity(task.protocol_id, dataset.name, self.split, dataset.hash))
        summary = {
            "tours": len(tours),
            "t_ndtw": scores.tours.t_ndtw,
            "t_sr": scores.tours.t_sr,
            "t_spl": scores.tours.t_spl,
            "reading": self.reading,
            "weighting": self.weighting,
        }
        rows = {
            name: {
                "tour": record.tour_id,
                "actions": record.trajectory.actions.tolist(),
                "metrics": scores.episodes[name],
            }
            for name, record in records.items()
        }
        whole = {"identity": identity, "agent": self.agent, "episodes": rows}
        tour_rows = [asdict(tour) for tour in scores.tours.tours]
        write_atomic(self.out, msgspec.json.encode({**whole, "tours": tour_rows}))
        console.text(f"{len(records)} episodes written to {self.out}")
        console.table(identity, ("episodes", *scores.means), [(len(records), *scores.means.values())])
        columns = ("tours", "t-nDTW", "t-SR", "t-SPL", "reading", "weighting")
        console.table("tours", columns, [tuple(summary.values())])
        console.result(
            {
                "agent": self.agent,
                "privileged": agent.privileged,
                "results": str(self.out),
                "identity": identity,
                "episodes": len(records),
                "metrics": scores.means,
                "tours": summary,
            }
        )
        return 0

    def _find_tours(self, console: Console) -> tuple[EpisodeDataset, tuple[EpisodeTour, ...]]:
        """The episodes and the tours through them: of r2r-houses-v1, or of files."""
        if self.episodes is None:
            dataset = _load(console, self.split)
            lists: TourLists = _order(console, dataset)
        elif self.tours is None:
            raise InputError("expected --tours beside --episodes, got none; it is IVLN-CE's tours.json")
        else:
            dataset = load_community_file(self.episodes, "r2r-ce-v1")
            _, lists = pick_split(load_tours(self.tours), self.split, self.tours)
        return dataset, build_episode_tours(lists, dataset.episodes, self.split)


def is_house_protocol(protocol: str) -> bool:
    """Whether tours of the protocol run in houses, and not on navigation graphs."""
    return base_protocol(protocol).removeprefix("i").startswith("r2r-ce")


def _load(console: Console, split: str, workers: int = 1) -> EpisodeDataset:
    """The episodes of a split of r2r-houses-v1, with a progress bar over its houses."""
    with console.progress(find_route_split(split).count, "houses") as progress:
        dataset = load_routes(split, progress.advance, workers)
    return dataset


def _order(console: Console, dataset: EpisodeDataset, seed: int = 0) -> TourLists:
    worlds = WorldCache(VLN_CE)
    with console.progress(ROUTE_SPLITS[dataset.split].count, "tours of houses") as progress:
        return make_episode_tours(
            dataset.episodes,
            lambda scene: worlds.get(scene).navmesh,
            seed,
            lambda: progress.advance(1),
        )


def _paths(tour: EpisodeTour) -> list[str]:
    """What names the path of each episode."""
    return [episode.episode_id.rpartition("_")[0] for episode in tour.episodes]
