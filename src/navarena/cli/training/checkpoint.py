"""`navarena checkpoint info|export|select`: describe checkpoints, write small copies, choose among them."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import tyro

from navarena.cli.console import Console
from navarena.cli.training.train import describe_best

if TYPE_CHECKING:
    from navarena.learning.checkpoints.policies import CheckpointInfo

Folder = Annotated[Path, tyro.conf.Positional, tyro.conf.arg(metavar="DIR")]


@dataclass(frozen=True)
class CheckpointInfoCommand:
    """Describe a checkpoint: protocol, settings and length of its training, and its observations.

    With --json, one document is printed with the keys folder, protocol, recipe (all settings), frames,
    updates, cpu_seconds, seeds, version, commit, actions, masked, inputs (name, shape, dtype, classes),
    vocabulary, privileged_sensors, trained_with, corruptions, augmentations, selection, curve (frames,
    updates, cpu_seconds, episodes, scores: for each metric mean, low, high), best (null, or as of train),
    parameters, bytes, model_sha256 and resumes (whether the training can go on).
    """

    folder: Folder
    json: bool = False
    """Print one JSON document instead of text."""

    def run(self, console: Console) -> int:
        """Describe the checkpoint; returns the exit code."""
        from navarena.learning.checkpoints.files import MODEL, RESUME
        from navarena.learning.checkpoints.policies import load_policy

        info, policy = load_policy(self.folder)
        more = {
            "parameters": sum(one.numel() for one in policy.parameters()),
            "bytes": (self.folder / MODEL).stat().st_size,
            "resumes": (self.folder / RESUME).exists(),
        }
        document = describe_checkpoint(info, self.folder) | more
        for name, value in _rows(info, document):
            console.text(f"{name + ':':20}{value}")
        if info.curve:
            names = list(info.curve[-1].scores)
            rows = [
                [point.frames, point.cpu_seconds / 60, point.episodes]
                + [_interval(point.scores.get(name)) for name in names]
                for point in info.curve
            ]
            console.table("evaluations", ["frames", "core-minutes", "n", *names], rows)
        console.result(document)
        return 0


@dataclass(frozen=True)
class CheckpointExport:
    """Write a small copy of a checkpoint for evaluation: half-precision weights, without the training state.

    With --json, one document is printed with the keys folder, out, bytes, before (bytes of the original's
    weights) and largest_change (of a weight, relative to the largest of its tensor).
    """

    folder: Folder
    out: Annotated[Path, tyro.conf.Positional, tyro.conf.arg(metavar="OUT")]
    """Folder of the copy; existing content is replaced."""
    json: bool = False
    """Print one JSON document instead of text."""

    def run(self, console: Console) -> int:
        """Write the copy; returns the exit code."""
        from navarena.learning.checkpoints.exporting import export_checkpoint

        done = export_checkpoint(self.folder, self.out)
        console.text(
            f"{done.size / 1e6:.2f} MB in {self.out} ({done.before / 1e6:.2f} MB in {self.folder}); weights "
            f"changed by up to {done.largest_change:.1e} of the largest of their tensor"
        )
        document: dict[str, Any] = {"folder": str(self.folder), "out": str(self.out), "bytes": done.size}
        console.result(document | {"before": done.before, "largest_change": done.largest_change})
        return 0


@dataclass(frozen=True)
class CheckpointSelect:
    """Choose the best of a training's stored checkpoints by an evaluation metric.

    It becomes the folder `best`. With --json, one document is printed with the keys folder, best and
    candidates (for each: folder, frames, mean, low, high).
    """

    folder: Folder
    by: str = "success"
    """Metric of the evaluations during the training, the higher the better."""
    json: bool = False
    """Print one JSON document instead of a table."""

    def run(self, console: Console) -> int:
        """Choose; returns the exit code."""
        from navarena.learning.checkpoints.exporting import select_checkpoint

        best, candidates = select_checkpoint(self.folder, self.by)
        rows: list[dict[str, Any]] = []
        for path, point in candidates:
            score = point.scores[self.by]
            numbers = {"mean": score.mean, "low": score.low, "high": score.high}
            rows.append({"folder": str(path), "frames": point.frames, **numbers})
        if rows:
            console.table(f"by {self.by}", list(rows[0]), [list(row.values()) for row in rows])
        console.text(f"best: {best}")
        console.result({"folder": str(self.folder), "best": str(best), "candidates": rows})
        return 0


def describe_checkpoint(info: "CheckpointInfo", folder: Path) -> dict[str, Any]:
    """The content of checkpoint.json as plain values."""
    import msgspec

    plain: dict[str, Any] = msgspec.to_builtins(info)
    for name in ("format", "policy", "is_continuous", "act_rows"):
        plain.pop(name)
    best = describe_best(info)
    return plain | {"folder": str(folder), "trained_with": list(info.trained_with), "best": best}


def _rows(info: "CheckpointInfo", document: dict[str, Any]) -> list[tuple[str, str]]:
    """Name and text of each line that is printed."""
    seen = ", ".join(
        f"{one.name} {' x '.join(map(str, one.shape))} {one.dtype}"
        + (f" of {one.classes} categories" if one.classes else "")
        for one in info.inputs
    )
    best = document["best"]
    rows = [
        ("protocol", info.protocol),
        ("recipe", str(info.recipe.get("description", ""))),
        ("learned from", f"{info.frames:,} frames in {info.updates:,} updates"),
        ("time of a core", f"{info.cpu_seconds / 60:.1f} minutes" if info.cpu_seconds else "not known"),
        ("seeds", ", ".join(f"{name} {seed}" for name, seed in info.seeds.items()) or "not known"),
        ("code", f"navarena {info.version}" + (f", commit {info.commit}" if info.commit else "")),
        ("sees", seen),
        ("privileged", ", ".join(info.privileged_sensors) or "no"),
        ("trained with", ", ".join(info.trained_with) or "nothing corrupted"),
        ("selection", info.selection),
        ("parameters", f"{document['parameters']:,} in {document['bytes'] / 1e6:.2f} MB"),
    ]
    if best is not None:
        rows.append(("best", f"{best['by']} {best['mean']:.3f} after {best['frames']:,} frames"))
    return rows


def _interval(score: Any) -> str | None:
    if score is None:
        return None
    known = score.low is not None and score.high is not None
    return f"{score.mean:.3f}" + (f" ({score.low:.3f} to {score.high:.3f})" if known else "")
