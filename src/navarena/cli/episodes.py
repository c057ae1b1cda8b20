"""`navarena episodes make` and `navarena episodes info`."""

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any

import tyro

from navarena.cli.console import Console
from navarena.core.errors import InputError
from navarena.episodes.catalog import make_episodes
from navarena.episodes.dataset import EpisodeDataset, load_episode_file, save_episodes
from navarena.episodes.summary import summarise
from navarena.scenes.catalog import scene_ids

DEFAULT_SCENES = "houses-v0"


@dataclass(frozen=True)
class EpisodesMake:
    """Make the episodes of a protocol in one scene or in all scenes of a split."""

    protocol: Annotated[str, tyro.conf.Positional]
    """Protocol id, such as pointnav-v1."""
    out: Path
    """File to write, .json or .json.gz."""
    scene: str | None = None
    """Scene id, or the path of a mesh file."""
    split: str | None = None
    """Split of the data set whose scenes are used, in the place of --scene."""
    dataset: str = DEFAULT_SCENES
    """Set of scenes that --split belongs to."""
    per_scene: int = 10
    """Episodes in each scene."""
    seed: int = 0
    """Another seed, other episodes."""
    up_axis: str = "y"
    """Up axis of a mesh file: y or z."""
    scale: float = 1.0
    """Metres per unit of a mesh file."""
    json: bool = False
    """Print one JSON document instead of a table."""

    def run(self, console: Console) -> int:
        """Make and write the episodes; the exit code is 0."""
        if (self.scene is None) == (self.split is None):
            raise InputError("expected either --scene or --split, got both or none of them")
        if not self.out.name.endswith((".json", ".json.gz")):
            raise InputError(f"expected --out to end in .json or .json.gz, got {self.out}")
        if self.scene is not None:
            scenes, name, split = [self.scene], "custom", "custom"
        else:
            split = str(self.split)
            scenes, name = scene_ids(self.dataset, split), self.dataset
        with console.progress(len(scenes), "scenes") as progress:
            dataset = make_episodes(
                self.protocol,
                scenes,
                self.per_scene,
                self.seed,
                name,
                split,
                self.up_axis,
                self.scale,
                progress.advance,
            )
        save_episodes(dataset, self.out)
        summary = summarise(dataset)
        console.text(f"{summary.episodes} episodes in {summary.scenes} scenes written to {self.out}")
        console.text(f"hash {dataset.hash}, {dataset.dropped} unsolvable candidates dropped")
        console.result(describe(dataset, self.out))
        return 0


@dataclass(frozen=True)
class EpisodesInfo:
    """Describe an episode file."""

    file: Annotated[Path, tyro.conf.Positional]
    """File written by `navarena episodes make`."""
    json: bool = False
    """Print one JSON document instead of a table."""

    def run(self, console: Console) -> int:
        """Read, check and summarise the file; the exit code is 0."""
        dataset = load_episode_file(self.file)
        summary = summarise(dataset)
        console.text(f"{dataset.protocol_id}@{dataset.name}/{dataset.split}#{dataset.hash}")
        console.text(
            f"{summary.episodes} episodes in {summary.scenes} scenes, seed {dataset.seed}, "
            f"{dataset.dropped} unsolvable candidates dropped"
        )
        rows = [
            (label, spread.least, spread.mean, spread.median, spread.most)
            for label, spread in (
                ("geodesic distance, m", summary.geodesic),
                ("Euclidean distance, m", summary.euclidean),
                ("geodesic / Euclidean", summary.ratio),
            )
        ]
        console.table(str(self.file), ("start to goal", "least", "mean", "median", "most"), rows)
        console.result(describe(dataset, self.file))
        return 0


def describe(dataset: EpisodeDataset, file: Path) -> dict[str, Any]:
    """What the commands print with --json."""
    return {
        "file": str(file),
        "protocol": dataset.protocol_id,
        "dataset": dataset.name,
        "split": dataset.split,
        "seed": dataset.seed,
        "hash": dataset.hash,
        "dropped": dataset.dropped,
        **asdict(summarise(dataset)),
    }
