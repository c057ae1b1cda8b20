"""`navarena train`: train a policy or a segmenter by a recipe, or go on with it."""

import re
import time
from contextlib import closing
from dataclasses import dataclass, fields, is_dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_type_hints

import msgspec
import tyro

from navarena.cli.console import Console
from navarena.core.errors import InputError, require_name
from navarena.learning.recipes.catalog import RECIPES

if TYPE_CHECKING:
    from navarena.learning.perception.settings import SegmenterRecipe
    from navarena.learning.perception.training import SegmenterTraining
    from navarena.learning.recipes.recipe import Recipe
    from navarena.learning.training import Training


@dataclass(frozen=True)
class Train:
    """Train a policy by a recipe and write its checkpoint, for `navarena evaluate --agent checkpoint:DIR`.

    The same command goes on where a training was interrupted: at its last checkpoint, on the processor with
    the same bits as without the interruption. With --json, one document is printed with the keys recipe,
    protocol, out, frames, updates, resumed (frames that were there), seconds and log (the last line of it).
    """

    recipe: Annotated[str, tyro.conf.Positional, tyro.conf.arg(metavar="RECIPE")]
    """Name (`navarena list recipes`)."""
    protocol: str | None = None
    """Protocol with options in the place of the recipe's, such as pointnav-v1+sliding=true."""
    out: Path | None = None
    """Folder of the checkpoint and the log; runs/train/RECIPE by default."""
    frames: int | None = None
    """Length of the training; schedules end with it."""
    seed: int | None = None
    """Of weights, episodes, actions and minibatches."""
    threads: int = 1
    """Of PyTorch and of rendering."""
    set: Annotated[tuple[str, ...], tyro.conf.UseAppendAction] = ()
    """A setting of the recipe, as NAME=VALUE with dots, such as method.epochs=2 (more than once)."""
    quiet: bool = False
    """Show no progress."""
    json: bool = False
    """Print one JSON document instead of text."""

    def run(self, console: Console) -> int:
        """Train to the end; returns the exit code."""
        recipe: Recipe | SegmenterRecipe = RECIPES.get(self.recipe)
        given: dict[str, Any] = {"protocol": self.protocol, "frames": self.frames, "seed": self.seed}
        recipe = replace(recipe, **{name: value for name, value in given.items() if value is not None})
        for one in self.set:
            recipe = change_setting(recipe, one)
        out = self.out or Path("runs") / "train" / re.sub(r"[^\w.+=-]", "_", self.recipe)
        if self.threads < 1:
            raise InputError(f"expected at least one thread, got {self.threads}")
        began = time.monotonic()
        training = begin_training(recipe, out, self.threads)
        resumed = training.frames
        if resumed:
            console.note(f"going on in {out} after {resumed} frames")
        last: dict[str, float] = {}

        def describe() -> str:
            names = ("success", "spl", "reward", "imitation_loss", "segmenter_loss", "frames_per_second")
            return ", ".join(f"{name} {last[name]:.3g}" for name in names if name in last)

        def report(row: dict[str, float]) -> None:
            progress.advance(int(row["frames"] - last.get("frames", resumed)))
            last.clear()
            last.update(row)

        label = f"training {self.recipe}"
        shown = console.progress(recipe.frames - resumed, label, describe, self.quiet)
        with closing(training), shown as progress:
            info = training.run(report)
        console.text(f"{info.frames} frames, {info.updates} updates; {describe()}")
        console.text(f"checkpoint: {out}; {training.advice}")
        document = {"recipe": self.recipe, "protocol": info.protocol, "out": str(out), "frames": info.frames}
        document |= {"updates": info.updates, "resumed": resumed, "log": last}
        console.result(document | {"seconds": round(time.monotonic() - began, 3)})
        return 0


def begin_training(
    recipe: "Recipe | SegmenterRecipe", out: Path, threads: int
) -> "Training | SegmenterTraining":
    """The training by `recipe` in the folder `out`, begun or gone on with; raises as its class does."""
    from navarena.learning.perception.settings import SegmenterRecipe

    if isinstance(recipe, SegmenterRecipe):
        from navarena.learning.perception.training import SegmenterTraining

        return SegmenterTraining(recipe, out, threads)
    from navarena.learning.training import Training

    return Training(recipe, out, threads)


def change_setting(settings: Any, text: str) -> Any:
    """The dataclass `settings` with the change of `text`, NAME=VALUE, where NAME leads through nested ones.

    Raises UnknownNameError for a name that is not there, InputError for a value of another type.
    """
    name, mark, value = text.partition("=")
    if not mark:
        raise InputError(f"expected NAME=VALUE of a setting, got {text!r}")
    first, _, rest = name.partition(".")
    require_name(f"setting of {type(settings).__name__}", first, [one.name for one in fields(settings)])
    now = getattr(settings, first)
    if rest:
        if not is_dataclass(now):
            raise InputError(f"expected no setting within {first}, got {rest!r}")
        return replace(settings, **{first: change_setting(now, f"{rest}={value}")})
    if is_dataclass(now):
        inner = ", ".join(f"{first}.{one.name}" for one in fields(now))
        raise InputError(f"expected one of {inner}, got {first} itself")
    kind = get_type_hints(type(settings))[first]
    parts = value.split(",") if isinstance(now, tuple) else value
    try:
        return replace(settings, **{first: msgspec.convert(parts, kind, strict=False)})
    except msgspec.ValidationError as error:
        raise InputError(f"expected another value of {first}, got {value!r} ({error})") from error
