"""`navarena anticipation score`: maps that a network continues, beside what a survey of the house knows."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

import tyro

from navarena.cli.console import Console


@dataclass(frozen=True)
class AnticipationScore:
    """Score an anticipation: intersection over union of free and occupied cells, in unseen houses.

    What was seen alone stands beside it. With --json, one document is printed with the keys folder, frames,
    protocol, split, windows, mean_iou, seen_mean_iou and states: a list of name, iou, seen_iou, recall and
    share (of all cells). Means are of free and occupied.
    """

    folder: Annotated[Path, tyro.conf.Positional, tyro.conf.arg(metavar="DIR")]
    """Folder of its checkpoint (`navarena train anticipation-small`)."""
    split: str = "val"
    """Split of the houses."""
    houses: int = 40
    """Number of houses, the first of the split."""
    windows: int = 25
    """Number in each house."""
    quiet: bool = False
    """Show no progress."""
    json: bool = False
    """Print one JSON document instead of text."""

    def run(self, console: Console) -> int:
        """Draw, anticipate, count; returns the exit code."""
        from navarena.learning.anticipation.anticipator import STATES, find_anticipator
        from navarena.learning.anticipation.scoring import count_window_confusions
        from navarena.learning.perception.scoring import mean_iou, score_classes

        anticipator = find_anticipator(self.folder)
        info = anticipator.info
        settings = replace(info.windows, houses=self.houses, windows=self.windows)
        with console.progress(self.houses, "anticipating", lambda: "", self.quiet) as shown:
            counts = count_window_confusions(anticipator, settings, self.split, shown.advance)
        seen, anticipated = (score_classes(one, STATES) for one in counts)
        rows = [(b.name, a.iou, b.iou, b.recall, b.share) for a, b in zip(seen, anticipated, strict=True)]
        means = mean_iou(seen[1:]), mean_iou(anticipated[1:])
        number = self.houses * self.windows
        title = f"{self.folder}: {info.frames} frames, {number} windows of {self.split}"
        columns = ("state", "iou of what was seen", "iou", "recall", "share")
        console.table(title, columns, [*rows, ("mean of free and occupied", *means, None, None)])
        states = [
            {"name": name, "iou": iou, "seen_iou": before, "recall": recall, "share": share}
            for name, before, iou, recall, share in rows
        ]
        document = {"folder": str(self.folder), "frames": info.frames, "split": self.split}
        document |= {"protocol": info.protocol, "windows": number, "states": states}
        console.result(document | {"mean_iou": means[1], "seen_mean_iou": means[0]})
        return 0
