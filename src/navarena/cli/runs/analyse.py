"""`navarena analyse`: tables of the papers, computed from finished runs."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import msgspec
import tyro

from navarena.cli.console import Console
from navarena.core.errors import InputError, require_name
from navarena.core.files import unless_read_only
from navarena.evaluation.analyses import (
    ANALYSES,
    Analysis,
    fitting_names,
    read_labelled,
    run_analysis,
    save_analysis,
)


@dataclass(frozen=True)
class Analyse:
    """Compute a table of a paper from finished runs. NAME is one of

    MultiON: backtracking, found-budgets, generalization, distance, goal-counts, lengths; GOAT-Bench:
    modalities, subtasks, lifelong, goal-noise; RobustNav: degradation, severities; IVLN: tours, maps,
    tour-positions, tour-coverage; of any protocol: seeds, metric-choice, metric-variance, metric-ranks.
    docs/analyses.md describes each. The table is kept below the first run, unless that may only be read,
    and its report shows it from then on. Exit code 0, whatever the result. The keys of --json stand in
    docs/json-keys.md.
    """

    name: Annotated[str, tyro.conf.Positional, tyro.conf.arg(metavar="NAME")]
    """Name of the analysis."""
    runs: Annotated[tuple[str, ...], tyro.conf.Positional, tyro.conf.arg(metavar="[LABEL=]RUN")]
    """Folders of runs, several seeds of one method with commas, or the folder of repeats. A label names
    a run in the table; without one it is called by its agent."""
    json: bool = False
    """Print one JSON document instead of a table."""

    def run(self, console: Console) -> int:
        """Analyse, keep and print; the exit code is 0."""
        if self.name not in ANALYSES and Path(self.name.rpartition("=")[2].partition(",")[0]).is_dir():
            raise InputError(_ask_for_name((self.name, *self.runs)))
        require_name("analysis", self.name, ANALYSES)
        kind = ANALYSES[self.name]
        contestants = read_labelled(self.runs, kind.groups)
        total = sum(len(rows) for one in contestants for rows in one.rows) if kind.replays else 0
        with console.progress(total, "replaying") as progress:
            analysis = run_analysis(self.name, contestants, progress.advance)
        return self._show(console, analysis, contestants[0].folders[0])

    def _show(self, console: Console, analysis: Analysis, folder: Path) -> int:
        """Store the analysis in `folder` and print it."""
        file = None
        with unless_read_only():
            file = save_analysis(folder, analysis)
        console.table(analysis.title, analysis.headings, analysis.texts())
        for note in analysis.notes:
            console.text(f"  {note}")
        if file is not None:
            console.text(f"kept in {file}")
        console.result(msgspec.to_builtins(analysis) | {"file": None if file is None else str(file)})
        return 0


def _ask_for_name(runs: tuple[str, ...]) -> str:
    """The error when the name of an analysis is missing before `runs`: it says which would fit them."""
    fitting = fitting_names(read_labelled(runs))
    known = f"those that fit are {', '.join(fitting)}" if fitting else f"they are {', '.join(ANALYSES)}"
    name = fitting[0] if fitting else "NAME"
    return (
        f"expected the name of an analysis before the runs, got the folder {runs[0]}; {known}; such as: "
        f"navarena analyse {name} {' '.join(runs)}"
    )
