"""`navarena import`: results that other code wrote, as a run."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro

from navarena.cli.console import Console
from navarena.evaluation.imports import import_results


@dataclass(frozen=True)
class Import:
    """Make a run folder of results that a benchmark's own code wrote, to report on and compare.

    robothor2021: the challenge's .json.gz with trajectories; needs --episodes. multion: the metrics .json
    with raw_metrics. Metrics are computed from trajectories and lengths by our formulas, and what disagrees
    or cannot be verified is said; the result shows as imported. With --json, one document is printed with the
    keys identity, agent, episodes, out and notices.
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
    """Split that the results are of."""
    episodes: Path | None = None
    """RoboTHOR: the episode file of the split, or the folder of them."""
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
