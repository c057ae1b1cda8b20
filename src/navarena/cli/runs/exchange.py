"""`navarena export` and `navarena import`: results in the layouts of reference code."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro

from navarena.cli.console import Console
from navarena.cli.flags import OutputFile
from navarena.evaluation.exchange.exports import export_run
from navarena.evaluation.exchange.imports import import_results


@dataclass(frozen=True)
class Export:
    """Write a finished run in the layout that the scripts of a benchmark's reference code read.

    multion: raw metrics by scene and episode. r2r: the nodes of each episode. robothor2021: its poses and
    actions. robustnav: mean metrics and a task_info for each episode. The last three are made by replay. With
    --json, one document is printed with the keys file, layout and episodes.
    """

    folder: Annotated[Path, tyro.conf.Positional, tyro.conf.arg(metavar="FOLDER")]
    """Folder of the run, as `navarena evaluate` printed it."""
    layout: Annotated[str, tyro.conf.Positional, tyro.conf.arg(metavar="LAYOUT")]
    """multion, r2r, robothor2021 or robustnav."""
    out: Annotated[Path, OutputFile()]
    """The file to write."""
    json: bool = False
    """Print one JSON document instead of text."""

    def run(self, console: Console) -> int:
        """Write the file; the exit code is 0."""
        count = export_run(self.folder, self.layout, self.out)
        console.text(f"{self.out}: {count} episodes in the layout of {self.layout}")
        console.result({"file": str(self.out), "layout": self.layout, "episodes": count})
        return 0


@dataclass(frozen=True)
class Import:
    """Turn results of a benchmark's own code into a run folder, to report on and compare.

    robothor2021: the challenge's .json.gz with trajectories; needs --episodes. multion: the metrics .json
    with raw_metrics. Metrics are computed from trajectories and lengths by navarena's formulas; notices name
    what disagrees or cannot be verified. The result shows as imported. With --json, one document is printed
    with the keys identity, agent, episodes, out and notices.
    """

    layout: Annotated[str, tyro.conf.Positional, tyro.conf.arg(metavar="LAYOUT")]
    """robothor2021 or multion."""
    file: Annotated[Path, tyro.conf.Positional, tyro.conf.arg(metavar="FILE")]
    """The results."""
    out: Path
    """Folder of the run to make."""
    agent: str = "imported"
    """Name of the agent in tables."""
    split: str = "val"
    """Split of the results."""
    episodes: Path | None = None
    """RoboTHOR: the episode file of the split, or the folder of such files."""
    json: bool = False
    """Print one JSON document instead of text."""

    def run(self, console: Console) -> int:
        """Read, check and write; the exit code is 0."""
        results = import_results(self.layout, self.file, self.out, self.agent, self.split, self.episodes)
        for notice in results.notices:
            console.note(f"note: {notice}")
        console.text(f"{len(results.rows)} episodes of {results.identity} imported to {self.out}")
        console.result(
            {
                "identity": str(results.identity),
                "agent": self.agent,
                "episodes": len(results.rows),
                "out": str(self.out),
                "notices": list(results.notices),
            }
        )
        return 0
