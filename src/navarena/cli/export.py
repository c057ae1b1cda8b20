"""`navarena export`: a run in the layout of reference code."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro

from navarena.cli.console import Console
from navarena.evaluation.exports import export_run


@dataclass(frozen=True)
class Export:
    """Write a finished run in the layout that the scripts of a benchmark's reference code read.

    multion: raw metrics by scene and episode. r2r: the nodes of each episode. robustnav: mean metrics and a
    task_info for each episode. The last two are made by replay. With --json, one document is printed with
    the keys file, layout and episodes.
    """

    folder: Annotated[Path, tyro.conf.Positional, tyro.conf.arg(metavar="FOLDER")]
    """Folder of the run, as `navarena evaluate` printed it."""
    layout: Annotated[str, tyro.conf.Positional, tyro.conf.arg(metavar="LAYOUT")]
    """multion, r2r or robustnav."""
    out: Path
    """The file to write."""
    json: bool = False
    """Print one JSON document instead of text."""

    def run(self, console: Console) -> int:
        """Write the file; the exit code is 0."""
        count = export_run(self.folder, self.layout, self.out)
        console.text(f"{self.out}: {count} episodes in the layout of {self.layout}")
        console.result({"file": str(self.out), "layout": self.layout, "episodes": count})
        return 0
