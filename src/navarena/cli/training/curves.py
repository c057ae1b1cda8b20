"""`navarena checkpoint curves`: the learning curves of trainings on one page."""

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any

import tyro

from navarena.cli.console import Console
from navarena.cli.flags import OutputFile
from navarena.core.errors import FileError
from navarena.core.files import read_json, read_text
from navarena.learning.trainings.log import LOG

INFO = "checkpoint.json"


@dataclass(frozen=True)
class CheckpointCurves:
    """Draw the learning curves of trainings into one HTML page: each against frames and core-minutes.

    With --json, one document is printed with the keys out and runs (for each: folder, group, seed, frames,
    evaluations).
    """

    folders: Annotated[tuple[Path, ...], tyro.conf.Positional, tyro.conf.arg(metavar="DIR")]
    """Folders of `navarena train`, or folders of such folders (seed-0, seed-1, ...)."""
    out: Annotated[Path, OutputFile()] = Path("curves.html")
    """The page."""
    json: bool = False
    """Print one JSON document instead of text."""

    def run(self, console: Console) -> int:
        """Write the page; returns the exit code."""
        found = [one for folder in self.folders for one in find_trainings(folder)]
        page = write_curves(found, self.out)
        console.text(f"curves: {page}")
        runs = read_trainings(found)
        rows = [
            {
                "folder": str(folder),
                "group": one.group,
                "seed": one.seed,
                "frames": max((row["frames"] for row in one.rows), default=0),
                "evaluations": len(one.of_kind("evaluation")),
            }
            for folder, one in zip(found, runs)
        ]
        console.result({"out": str(page), "runs": rows})
        return 0


def find_trainings(folder: Path) -> list[Path]:
    """`folder` if a training is in it, else those within it; raises FileError for neither."""
    if (folder / LOG).exists():
        return [folder]
    found = sorted(path.parent for path in folder.glob(f"*/{LOG}"))
    if not found:
        raise FileError(f"expected a folder of `navarena train`, or one of such folders, got {folder}")
    return found


def read_training(folder: Path) -> Any:
    """The LearningRun of a training's folder; raises FileError for a missing or damaged file."""
    from navarena.reports.learning_curves import LearningRun

    info = _read_info(folder)
    rows = []
    for line in read_text(folder / LOG, "log of a training").splitlines():
        try:
            rows.append(json.loads(line))
        except ValueError as error:
            raise FileError(
                f"{folder / LOG} is damaged ({error}); go on with the training, which mends it"
            ) from error
    recipe = info.get("recipe", {})
    seed = int(recipe.get("seed", 0))
    name = _group_folder(folder, seed).name
    by = recipe.get("evaluation", {}).get("by", "success")
    return LearningRun(name, seed, str(info.get("protocol", "")), tuple(rows), _find_best(rows, by))


def read_trainings(folders: Sequence[Path]) -> list[Any]:
    """The LearningRuns of trainings; of equal names those of other recipes are called by their paths.

    Raises FileError for a missing or damaged file.
    """
    runs = [read_training(folder) for folder in folders]
    groups = [_group_folder(folder, one.seed) for folder, one in zip(folders, runs)]
    recipes = [_read_recipe(folder) for folder in folders]
    for name in dict.fromkeys(one.group for one in runs):
        places = [place for place, one in enumerate(runs) if one.group == name]
        if any(recipes[place] != recipes[places[0]] for place in places):
            above = os.path.commonpath([groups[place].parent for place in places])
            for place in places:
                runs[place] = replace(runs[place], group=groups[place].relative_to(above).as_posix())
    return runs


def _group_folder(folder: Path, seed: int) -> Path:
    """The folder that names a training: that of its seeds where it is one of them."""
    path = folder.absolute()
    return path.parent if path.name == f"seed-{seed}" else path


def _read_recipe(folder: Path) -> dict[str, Any]:
    """The recipe of a training but for its seed."""
    recipe = _read_info(folder).get("recipe", {})
    return {name: value for name, value in recipe.items() if name != "seed"}


def _read_info(folder: Path) -> dict[str, Any]:
    info: dict[str, Any] = read_json(folder / INFO, "checkpoint", dict[str, Any], "train it again")
    return info


def write_curves(folders: Sequence[Path], out: Path) -> Path:
    """Draw the trainings in `folders` into the page `out`; returns it. Raises FileError and StorageError."""
    from navarena.reports.learning_curves import write_learning_curves

    write_learning_curves(out, read_trainings(folders))
    return out


def _find_best(rows: Sequence[dict[str, Any]], by: str) -> dict[str, Any] | None:
    """The best evaluation among `rows` of a log; of equal ones the later."""
    known = [row for row in rows if row.get("kind") == "evaluation" and by in row]
    if not known:
        return None
    best = max(known, key=lambda row: (row[by], row["frames"]))
    interval = {name: best[f"{by}_{name}"] for name in ("low", "high")}
    return {"by": by, "frames": best["frames"], "mean": best[by], "episodes": best["n"], **interval}
