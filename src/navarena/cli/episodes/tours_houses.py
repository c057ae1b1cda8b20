"""`navarena tours houses` and `navarena tours coverage`."""

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any

import tyro

from navarena.cli.console import Console
from navarena.core.errors import InputError
from navarena.episodes.catalog import load_episodes
from navarena.episodes.dataset import EpisodeDataset
from navarena.episodes.episode import Episode, require_instruction
from navarena.episodes.exchange import make_document, write_document
from navarena.episodes.exchange.r2r_ce import R2R_CE
from navarena.episodes.house_tours import list_tours, make_episode_tours, read_file_tours
from navarena.episodes.route_sets import ROUTE_SPLITS, find_route_split, load_routes
from navarena.episodes.sequence import group_tours
from navarena.episodes.tours import TourLists, count_tours, save_tours
from navarena.evaluation.analyses import save_analysis, tabulate_coverage
from navarena.evaluation.analyses.tour_coverage import LIMIT, estimate_coverage, measure_coverage
from navarena.simulation.body_catalog import VLN_CE
from navarena.simulation.world import WorldCache


@dataclass(frozen=True)
class ToursHouses:
    """Write the instructions of a split of r2r-houses-v1, and the tours through them."""

    split: Annotated[str, tyro.conf.Positional, tyro.conf.arg(metavar="SPLIT")]
    """mini, train, val_seen, val_unseen or train_aug."""
    out: Path
    """Folder for SPLIT.json.gz (as VLN-CE's) and tours.json (as IVLN-CE's)."""
    seed: int = 0
    """Seed of the order of the tours."""
    workers: int = 1
    """Processes that make houses; the files do not depend on their number."""
    json: bool = False
    """Print one JSON document instead of a table."""

    def run(self, console: Console) -> int:
        """Make, write and count; the exit code is 0."""
        dataset = load_split(console, self.split, self.workers)
        lists = order_split(console, dataset, WorldCache(VLN_CE), self.seed)
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
    """Measure how much of the next path and of the whole tour an oracle has seen after n episodes.

    For runs of agents: navarena analyse tour-coverage RUN.
    """

    split: Annotated[str | None, tyro.conf.Positional, tyro.conf.arg(metavar="SPLIT")] = None
    """Split of r2r-houses-v1 (val_unseen by default), or of the tour file."""
    episodes: Path | None = None
    """Episode file of VLN-CE instead of r2r-houses-v1; its scenes must be available."""
    tours: Path | None = None
    """Tour file of IVLN-CE, beside --episodes."""
    limit: int = LIMIT
    """Number of episodes that the curves cover."""
    copies: bool = False
    """Measure all three tours of each order of paths; they follow the same paths."""
    keep: Path | None = None
    """Store the curves below this folder, as `navarena analyse` stores its tables."""
    json: bool = False
    """Print one JSON document instead of a table."""

    def run(self, console: Console) -> int:
        """Walk every tour with an oracle, count and print; the exit code is 0."""
        if self.limit < 1:
            raise InputError(f"expected --limit of at least 1, got {self.limit}")
        worlds = WorldCache(VLN_CE)
        dataset, split, tours = find_tours(console, worlds, self.split, self.episodes, self.tours)
        if not self.copies:
            paths = {tuple(_paths(tour)): tour for tour in reversed(tours)}
            tours = list(reversed(paths.values()))
        with console.progress(len(tours), "tours") as progress:
            covered = measure_coverage(tours, worlds, progress.advance)
        name = f"{dataset.name}/{split}"
        points = estimate_coverage(covered, name, self.limit)
        note = "Seen is what an oracle sees that follows the described paths."
        analysis = tabulate_coverage(
            "coverage", f"Seen before an episode begins: {name}", {"oracle": points}, note
        )
        console.table(analysis.title, analysis.headings, analysis.texts())
        if self.keep is not None:
            console.text(f"kept in {save_analysis(self.keep, analysis)}")
        curve = [
            {
                "episodes": point.episodes,
                "next_path": point.next_path.mean,
                "whole_tour": point.whole_tour.mean,
                "tours": point.next_path.n,
            }
            for point in points
        ]
        console.result({"split": split, "curve": curve})
        return 0


def load_split(console: Console, split: str, workers: int = 1) -> EpisodeDataset:
    """The episodes of a split of r2r-houses-v1, with a progress bar over its houses."""
    with console.progress(find_route_split(split).count, "houses") as progress:
        dataset = load_routes(split, progress.advance, workers, whole=True)
    return dataset


def order_split(console: Console, dataset: EpisodeDataset, worlds: WorldCache, seed: int = 0) -> TourLists:
    """Tours of a split of r2r-houses-v1 for the body of `worlds`, with a progress bar over its houses."""
    with console.progress(ROUTE_SPLITS[dataset.split].count, "tours of houses") as progress:
        return make_episode_tours(
            dataset.episodes,
            lambda scene: worlds.get(scene).navmesh,
            seed,
            lambda: progress.advance(1),
        )


def find_tours(
    console: Console, worlds: WorldCache, split: str | None, episodes: Path | None, tours: Path | None
) -> tuple[EpisodeDataset, str, list[tuple[Episode, ...]]]:
    """Episodes, split and tours: of r2r-houses-v1 (val_unseen by default), or of files of VLN-CE and IVLN-CE.

    Raises InputError for one file without the other.
    """
    if (episodes is None) != (tours is None):
        raise InputError(
            "expected --episodes and --tours together, got one of them: an episode file of VLN-CE and "
            "IVLN-CE's tours.json"
        )
    if episodes is not None and tours is not None:
        dataset = read_file_tours(load_episodes("r2r-ce-v1", dataset=episodes), tours, split)
        return dataset, dataset.split, group_tours(dataset.episodes)
    name = split or "val_unseen"
    dataset = load_split(console, name)
    ordered = list_tours(order_split(console, dataset, worlds), dataset.episodes, name)
    return dataset, name, group_tours(ordered)


def _paths(tour: tuple[Episode, ...]) -> list[str]:
    """Name of the path of each episode."""
    return [require_instruction(episode).path_id for episode in tour]
