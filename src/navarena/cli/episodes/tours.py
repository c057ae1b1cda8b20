"""`navarena tours make` and `navarena tours stats`."""

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any

import tyro

from navarena.cli.console import Console
from navarena.cli.flags import OutputFile
from navarena.core.errors import InputError
from navarena.episodes.exchange.r2r import R2RFile, load_r2r
from navarena.episodes.exchange.rxr import load_rxr
from navarena.episodes.graph_episodes import list_episodes
from navarena.episodes.tour_order import ITERATIONS, Solver
from navarena.episodes.tours import (
    build_tours,
    count_tours,
    load_tours,
    make_tours,
    measure_gaps,
    pick_split,
    save_tours,
)
from navarena.scenes.graphs.matterport import Connectivity


@dataclass(frozen=True)
class ToursMake:
    """Order the paths of a split of R2R or RxR into tours."""

    connectivity: Path
    """Folder or tarball of Matterport3D connectivity files."""
    out: Annotated[Path, OutputFile(".json")]
    """JSON file to write: {split: {scan: [[instruction id, ...], ...]}}."""
    r2r: Path | None = None
    """R2R file with paths and instructions, .json or .json.gz."""
    rxr: Path | None = None
    """Guides of RxR with paths and instructions, .jsonl or .jsonl.gz, instead of --r2r."""
    language: str = ""
    """Language of RxR's instructions, or a prefix such as en; all by default."""
    split: str | None = None
    """Name of the split; the one in the file's name by default."""
    solver: Solver = "pyvrp"
    """pyvrp, or lkh (pip install 'navarena[lkh]'; not for commercial use)."""
    seed: int = 0
    """Seed of the solver: the same seed gives the same tours."""
    iterations: int = ITERATIONS
    """Iterations of the solver for each scan; it never stops by time."""
    json: bool = False
    """Print one JSON document instead of a table."""

    def run(self, console: Console) -> int:
        """Make, write and describe the tours; the exit code is 0."""
        file = self._load()
        connectivity = Connectivity(self.connectivity)
        with console.progress(len(file.scans), "scans") as progress:
            lists = make_tours(
                file, connectivity, self.solver, self.seed, self.iterations, advance=progress.advance
            )
        if not lists:
            raise InputError(f"expected a scan with two paths in {file.name}, got none: no tour can be made")
        save_tours({file.split: lists}, self.out)
        tours = build_tours(lists, list_episodes(file, connectivity), str(self.out))
        values = {"file": str(self.out), "split": file.split, **asdict(count_tours(lists))}
        values["gaps"] = asdict(measure_gaps(tours, connectivity))
        console.text(f"{values['tours']} tours written to {self.out}")
        _print(console, [values])
        console.result(values)
        return 0

    def _load(self) -> R2RFile:
        """The paths of either file."""
        if (self.r2r is None) == (self.rxr is None):
            raise InputError("expected --r2r or --rxr, got " + ("none" if self.r2r is None else "both"))
        if self.rxr is not None:
            return load_rxr(self.rxr, self.split, self.language)
        if self.language:
            raise InputError(f"expected --language with --rxr alone, got {self.language!r}")
        assert self.r2r is not None
        return load_r2r(self.r2r, self.split)


@dataclass(frozen=True)
class ToursStats:
    """Count tours and their episodes."""

    file: Annotated[Path, tyro.conf.Positional, tyro.conf.arg(metavar="FILE")]
    """Tour file."""
    split: str | None = None
    """Only this split."""
    r2r: Path | None = None
    """R2R file of the split, to measure the gaps between episodes (with --connectivity)."""
    connectivity: Path | None = None
    """Folder or tarball of Matterport3D connectivity files."""
    json: bool = False
    """Print one JSON document instead of a table."""

    def run(self, console: Console) -> int:
        """Read, count and describe the file; the exit code is 0."""
        splits = load_tours(self.file)
        chosen = [
            pick_split(splits, name, self.file) for name in (splits if self.split is None else [self.split])
        ]
        described: list[dict[str, Any]] = [
            {"split": name, **asdict(count_tours(lists))} for name, lists in chosen
        ]
        if (self.r2r is None) != (self.connectivity is None):
            raise InputError("expected --r2r and --connectivity together, got one of them")
        if self.r2r is not None and self.connectivity is not None:
            file = load_r2r(self.r2r, self.split)
            name, lists = pick_split(splits, file.split, self.file)
            connectivity = Connectivity(self.connectivity)
            tours = build_tours(lists, list_episodes(file, connectivity), str(self.file))
            gaps = asdict(measure_gaps(tours, connectivity))
            next(row for row in described if row["split"] == name)["gaps"] = gaps
        _print(console, described)
        console.result({"file": str(self.file), "splits": {row.pop("split"): row for row in described}})
        return 0


def _print(console: Console, rows: list[dict[str, Any]]) -> None:
    columns = ("split", "scenes", "tours", "episodes", "tours/scene", "mean", "min", "max", "SD", "gap, m")
    keys = ("split", "scenes", "tours", "episodes", "tours_per_scene", "mean", "min", "max", "sd")
    cells = [(*(row[key] for key in keys), row.get("gaps", {}).get("mean")) for row in rows]
    console.table("tours", columns, cells)
