"""`navarena cross-view score`: views that a binocular network completes from other views, in houses."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro

from navarena.cli.console import Console


@dataclass(frozen=True)
class CrossViewScore:
    """Score a cross-view completion: errors of masked patches in unseen houses.

    Errors are mean squares of colours whose deviation is about 1. Beside them stand those of two controls, in
    which the other view is one of another pair of the house, or of another house. With --json, one document
    is printed with the keys folder, frames, protocol, split, pairs, error, same_house, other_house and better
    (share of pairs whose error is smaller than that of same_house).
    """

    folder: Annotated[Path, tyro.conf.Positional, tyro.conf.arg(metavar="DIR")]
    """Folder of its checkpoint (`navarena train cross-view-small`)."""
    split: str = "val"
    """Split of the houses."""
    houses: int = 20
    """Number of houses, the first of the split."""
    pairs: int = 50
    """Number in each house."""
    quiet: bool = False
    """Show no progress."""
    json: bool = False
    """Print one JSON document instead of text."""

    def run(self, console: Console) -> int:
        """Draw, complete, compare; returns the exit code."""
        from navarena.learning.cross_view.scoring import score_folder

        with console.progress(self.houses, "drawing", lambda: "", self.quiet) as shown:
            info, score = score_folder(self.folder, self.split, self.houses, self.pairs, shown.advance)
        number = len(score.own)
        error, same, other = (float(one.mean()) for one in score)
        better = float((score.own < score.same_house).mean())
        title = f"{self.folder}: {info.frames} frames, {number} pairs of {self.split}"
        columns = ("error", "view of the same house", "view of another house", "pairs better than the former")
        console.table(title, columns, [(error, same, other, better)])
        document = {"folder": str(self.folder), "frames": info.frames, "protocol": info.protocol}
        document |= {"split": self.split, "pairs": number}
        console.result(
            document | {"error": error, "same_house": same, "other_house": other, "better": better}
        )
        return 0
