"""`navarena depth score`: errors of depth that a network predicts from colours."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro

from navarena.cli.console import Console


@dataclass(frozen=True)
class DepthErrors:
    """Score depth from colours: its errors in images of unseen houses.

    Agents map the pixels alone of which the network is certain: where the error that it predicts is small.

    With --json, one document is printed with the keys folder, frames, protocol, split, images, relative
    (mean of |predicted - true| / true), close (share of pixels within a ratio of 1.25), metres (mean error),
    pixels, and certain: the last four of the pixels of which it is certain.
    """

    folder: Annotated[Path, tyro.conf.Positional, tyro.conf.arg(metavar="DIR")]
    """Folder of its checkpoint (`navarena train depth-small`)."""
    split: str = "val"
    """Split of the houses."""
    houses: int = 40
    """Number of houses, the first of the split."""
    images: int = 25
    """Images of each house."""
    quiet: bool = False
    """Show no progress."""
    json: bool = False
    """Print one JSON document instead of text."""

    def run(self, console: Console) -> int:
        """Draw, predict, compare; returns the exit code."""
        from navarena.learning.depth.predictor import find_depth_predictor
        from navarena.learning.depth.scoring import score_depth, score_settings

        predictor = find_depth_predictor(self.folder)
        settings = score_settings(predictor, self.houses, self.images)
        with console.progress(self.houses, "predicting depth", lambda: "", self.quiet) as shown:
            scores = score_depth(predictor, settings, self.split, shown.advance)
        number, info = self.houses * self.images, predictor.info
        title = f"{self.folder}: {info.frames} frames, {number} images of {settings.scenes}/{self.split}"
        columns = ("pixels", "share", "mean relative error", "within a ratio of 1.25", "mean error, metres")
        rows = [
            (name, one.pixels / scores[0].pixels, one.relative, one.close, one.metres)
            for name, one in zip(("all", "certain"), scores)
        ]
        console.table(title, columns, rows)
        document = {"folder": str(self.folder), "frames": info.frames, "protocol": info.protocol}
        document |= {"split": self.split, "images": number}
        console.result(document | vars(scores[0]) | {"certain": vars(scores[1])})
        return 0
