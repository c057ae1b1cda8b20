"""`navarena corruptions recognise`: static recognition under corruptions, beside the drop of navigation."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

import numpy as np
import tyro

from navarena.cli.console import Console
from navarena.core.errors import InputError
from navarena.evaluation.analyses.analysis import format_cell
from navarena.evaluation.analyses.robustness import find_runs, read_robustness, relative_drop
from navarena.metrics.ranks import kendall_tau
from navarena.metrics.statistics import estimate_rate

MIN_RANKED = 3
"""Corruptions that both were measured under, below which nothing is ranked."""


@dataclass(frozen=True)
class CorruptionsRecognise:
    """Recognise objects in single pictures, and the corruption of images, by linear probes.

    Probes of a frozen trunk (EfficientNet-Lite0, extras learn and trunk) are fitted in train apartments and
    scored in val apartments, clean and under each corruption. With --runs the drop of recognition is ranked
    beside the drop of success of an agent's runs under the same corruptions (Kendall's tau). With --json, one
    document is printed with the keys rows, corruptions (how many are ranked) and kendall_tau.
    """

    corruption: Annotated[tuple[str, ...], tyro.conf.UseAppendAction] = ()
    """A corruption of images, as spatter:5; may be repeated. RobustNav's at severity 5 by default."""
    runs: Annotated[tuple[Path, ...], tyro.conf.UseAppendAction] = ()
    """Folder of an agent's finished runs, a clean one among them, as of --suite; may be repeated."""
    scenes: int = 12
    """Number of apartments of each split, the first ones."""
    images: int = 40
    """Images of each apartment."""
    json: bool = False
    """Print one JSON document instead of a table."""

    def run(self, console: Console) -> int:
        """Draw, fit, score and print; the exit code is 0."""
        from navarena.learning.perception.lite0 import find_trunk
        from navarena.learning.perception.recognition import VISUAL, RecognitionSettings, score_recognition

        drops = read_drops(self.runs)
        settings = RecognitionSettings()
        images = replace(settings.images, houses=self.scenes, images=self.images)
        found = score_recognition(find_trunk(), replace(settings, images=images), self.corruption or VISUAL)
        rows = []
        for one in found:
            shares = [
                estimate_rate(np.arange(n) < right)
                for right, n in (
                    (one.right, one.n),
                    (one.identified, one.images),
                    (one.identified_together, one.groups),
                )
            ]
            lost = 1 - one.accuracy / found[0].accuracy if found[0].right else None
            rows.append((one.corruption, shares, lost, drops.get(one.corruption)))
        shared = [(lost, drop) for _, _, lost, drop in rows[1:] if None not in (lost, drop)]
        tau = kendall_tau(*map(np.array, zip(*shared))) if len(shared) >= MIN_RANKED else None
        console.table(
            f"static recognition, {self.scenes} val apartments",
            (
                "corruption",
                "object recognised",
                "corruption identified",
                "by images together",
                "drop",
                "navigation",
            ),
            [
                (name, *(format_cell(share, "rate") for share in shares), percent(lost), percent(drop))
                for name, shares, lost, drop in rows
            ],
        )
        if self.runs:
            console.text(describe_rank(tau, len(shared)))
        keys = ("recognised", "identified", "identified_together")
        console.result(
            {
                "rows": [
                    {"corruption": name, "drop": lost, "navigation_drop": drop}
                    | {
                        key: {"mean": share.mean, "low": share.low, "high": share.high, "n": share.n}
                        for key, share in zip(keys, shares)
                    }
                    for name, shares, lost, drop in rows
                ],
                "corruptions": len(shared),
                "kendall_tau": tau,
            }
        )
        return 0


def read_drops(runs: Sequence[Path]) -> Mapping[str, float]:
    """Corruption -> relative drop of success of the one agent whose runs are in `runs`; empty without runs.

    Raises InputError for runs of several agents or protocols.
    """
    if not runs:
        return {}
    columns = read_robustness(find_runs(runs), ("success",))
    if len(columns) != 1:
        raise InputError(
            f"expected runs of one agent on one protocol, got {len(columns)}; name the folders of one"
        )
    found = {}
    for row in columns[0].rows:
        drop = relative_drop(row.changes["success"]) if "success" in row.changes else None
        if len(row.corruptions) == 1 and drop is not None:
            found[row.corruptions[0]] = drop
    return found


def percent(share: float | None) -> str:
    """A relative drop as text."""
    return "" if share is None else f"{100 * share:.1f} %"


def describe_rank(tau: float | None, corruptions: int) -> str:
    """A sentence about the correlation of ranks."""
    if tau is None:
        return f"no rank correlation: expected {MIN_RANKED} corruptions in common at least, got {corruptions}"
    return f"Kendall's tau between both drops: {tau:.2f} over {corruptions} corruptions"
