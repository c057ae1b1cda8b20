"""`navarena train`: train a policy by a recipe, or resume its training."""

import re
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, fields, is_dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_args, get_origin, get_type_hints

import msgspec
import tyro

from navarena.cli.console import Console
from navarena.cli.training.seeds import SeedFailure, SeedTraining, end_with_parent, train_side_by_side
from navarena.core.errors import CheckFailedError, InputError, NavarenaError, require_name
from navarena.core.notices import announce
from navarena.core.threads import count_cores
from navarena.learning.auxiliaries.settings import AUXILIARIES, Auxiliary
from navarena.learning.recipes.base import TrainingRecipe
from navarena.learning.recipes.catalog import RECIPES

if TYPE_CHECKING:
    from navarena.learning.checkpoints.policies import CheckpointInfo
    from navarena.learning.distributed import Machine

CURVES = "curves.html"

DEFAULT = "pointnav-small"
"""Whose settings have flags where no recipe is named."""


@dataclass(frozen=True)
class Train:
    """Train a policy by a recipe and write its checkpoint, for `navarena evaluate --agent checkpoint:DIR`.

    The same command goes on where a training was interrupted: at its last checkpoint, on the processor with
    the same bits as without the interruption. Settings of the recipe have flags of their own, such as
    --method.epochs=2 for --set method.epochs=2. With --json, one document is printed with the keys recipe,
    protocol, out, frames, updates, resumed (frames that were there), seconds, curves, best (null, or frames
    and a mean with interval of the best checkpoint), warnings, runs (with --seeds one for each: seed, out,
    frames, resumed, best), failed (of --seeds: seed, exit_code, reason) and log (the last line of it).
    """

    recipe: Annotated[str, tyro.conf.Positional, tyro.conf.arg(metavar="RECIPE")]
    """Name (`navarena list recipes`)."""
    protocol: str | None = None
    """Protocol with options instead of the recipe's, such as pointnav-v1+sliding=true."""
    out: Path | None = None
    """Folder of the checkpoint and the log; runs/train/RECIPE by default."""
    frames: int | None = None
    """Length of the training; schedules end with it."""
    seed: int | None = None
    """Seed of weights, episodes, actions and minibatches."""
    seeds: int | None = None
    """Number of trainings, with the seeds from --seed on, each in seed-N below --out and in its own
    process."""
    workers: int | None = None
    """Trainings of --seeds that run at a time; by default one for each core."""
    threads: int = 1
    """Threads of PyTorch and of rendering."""
    device: str = "cpu"
    """Where the policy acts and learns: cpu, cuda, or one of several, as cuda:1."""
    set: Annotated[tuple[str, ...], tyro.conf.UseAppendAction] = ()
    """A setting of the recipe, as NAME=VALUE with dots, such as method.epochs=2 (more than once)."""
    demos: Path | None = None
    """Folder of `navarena demos` to imitate instead of a teacher; --frames counts repetitions."""
    tensorboard: bool = False
    """Also write the log for TensorBoard, into the folder tensorboard of --out."""
    with_parent: bool = False
    """Exit when the process that started this one ends."""
    quiet: bool = False
    """Show no progress."""
    json: bool = False
    """Print one JSON document instead of text."""

    def run(self, console: Console) -> int:
        """Train to the end; returns the exit code."""
        with announce("loading the simulator and PyTorch"):
            from navarena.cli.training.curves import write_curves
            from navarena.evaluation.records.lock import FolderLock
            from navarena.learning.checkpoints.files import RESUME
            from navarena.learning.distributed import Machine, join_processes
            from navarena.learning.trainings.setup import FIRST

        recipe = get_recipe(self.recipe)
        given: dict[str, Any] = {"protocol": self.protocol, "frames": self.frames, "seed": self.seed}
        recipe = replace(recipe, **{name: value for name, value in given.items() if value is not None})
        for one in self.set:
            recipe = change_setting(recipe, one)
        if self.demos is not None:
            _require_used(self.set)
        out = self.out or Path("runs") / "train" / re.sub(r"[^\w.+=-]", "_", self.recipe)
        if min(self.threads, self.seeds or 1, self.workers or 1) < 1:
            raise InputError(
                f"expected at least one thread, seed and worker, got {self.threads}, {self.seeds} and "
                f"{self.workers}"
            )
        if self.with_parent:
            end_with_parent()
        began = time.monotonic()
        runs: list[dict[str, Any]] = []
        failed: list[SeedFailure] = []
        seeds = [recipe.seed] if self.seeds is None else range(recipe.seed, recipe.seed + self.seeds)
        processes, device = join_processes(self.device)
        machine = Machine(self.threads, device, processes)
        with closing(processes):
            if len(seeds) > 1 and device == "cpu" and processes.count == 1:
                runs, failed = self._train_side_by_side(console, recipe, out, seeds)
                seeds = []
            for seed in seeds:
                folder = out if self.seeds is None else out / f"seed-{seed}"
                own = replace(recipe, seed=seed)
                is_new = self.demos is None and not (folder / RESUME).exists()
                first = own.make_first() if is_new else None
                with ExitStack() as stack:
                    if not processes.rank:
                        lock = stack.enter_context(FolderLock(folder))
                        stack.callback(lock.release_folder)
                    if first is not None:
                        self._train(console, *first, folder / FIRST, machine)
                    runs.append(self._train(console, self.recipe, own, folder, machine))
        if processes.rank:
            return 0
        if not runs:
            raise describe_failures(failed, len(failed))
        page = write_curves([Path(one["out"]) for one in runs], out / CURVES)
        console.text(f"curves: {page}")
        document = {
            name: runs[-1][name] for name in ("protocol", "frames", "updates", "resumed", "log", "best")
        }
        listed = [{name: one[name] for name in ("seed", "out", "frames", "resumed", "best")} for one in runs]
        warnings = list(dict.fromkeys(text for one in runs for text in one["warnings"]))
        document |= {"recipe": self.recipe, "out": str(out), "runs": listed, "warnings": warnings}
        document["failed"] = [vars(one) for one in failed]
        console.result(document | {"curves": str(page), "seconds": round(time.monotonic() - began, 3)})
        if failed:
            raise describe_failures(failed, len(runs) + len(failed))
        return 0

    def _train_side_by_side(
        self, console: Console, recipe: TrainingRecipe, out: Path, seeds: Sequence[int]
    ) -> tuple[list[dict[str, Any]], list[SeedFailure]]:
        """The trainings of `seeds`, each by this command in a process of its own."""
        given = {
            "protocol": self.protocol,
            "frames": self.frames,
            "threads": self.threads,
            "demos": self.demos,
        }
        options = [f"--{name}={value}" for name, value in given.items() if value is not None]
        options += [part for one in self.set for part in ("--set", one)]
        options += ["--tensorboard"] * self.tensorboard + ["--quiet", "--json", "--with-parent"]
        trainings = [
            SeedTraining(
                seed,
                out / f"seed-{seed}",
                ("train", self.recipe, *options, f"--seed={seed}", f"--out={out / f'seed-{seed}'}"),
                recipe.frames,
            )
            for seed in seeds
        ]
        workers = self.workers or max(count_cores() // self.threads, 1)
        label = f"training {self.recipe}, seeds {seeds[0]} to {seeds[-1]}"
        return train_side_by_side(console, label, trainings, workers, self.threads, self.quiet)

    def _train(
        self,
        console: Console,
        name: str,
        recipe: TrainingRecipe,
        out: Path,
        machine: "Machine",
    ) -> dict[str, Any]:
        """Run one training; returns its JSON document (empty in processes other than the first)."""
        from navarena.learning.checkpoints.policies import CheckpointInfo
        from navarena.learning.trainings.log import describe_health

        training = recipe.begin(out, machine, self.demos)
        resumed, processes = training.frames, machine.processes
        if resumed and not processes.rank:
            console.note(f"going on in {out} after {resumed} frames")
        last: dict[str, Any] = {}

        def describe() -> str:
            numbers = [f"{name} {last[name]:.3g}" for name in recipe.shown if name in last]
            return ", ".join([*numbers, *(describe_health(last) or ["all is well"])]) if last else ""

        def report(row: dict[str, Any]) -> None:
            if row["kind"] == "evaluation":
                scores = ", ".join(f"{name} {row[name]:.3g}" for name in ("success", "spl") if name in row)
                if not self.quiet:
                    console.note(f"{row['frames']} frames, {row['n']} episodes in held-out houses: {scores}")
                return
            progress.advance(int(row["frames"] - last.get("frames", resumed)))
            last.clear()
            last.update(row)

        with ExitStack() as stack:
            stack.enter_context(closing(training))
            write: Callable[[dict[str, Any]], None] = lambda row: None  # noqa: E731
            if self.tensorboard and not processes.rank:
                write = _open_tensorboard(out, stack)
            label = f"training {name}, seed {recipe.seed}"
            is_quiet = self.quiet or processes.rank > 0
            shown = console.progress(recipe.frames - resumed, label, describe, is_quiet)
            progress = stack.enter_context(shown)

            def tell(row: dict[str, Any]) -> None:
                write(row)
                report(row)

            info = training.run(tell)
        if processes.rank:
            return {}
        console.text(f"{info.frames} frames, {info.updates} updates; {describe()}")
        best = describe_best(info) if isinstance(info, CheckpointInfo) else None
        folder = out if best is None else out / "best"
        if best is not None:
            console.text(f"best: {best['by']} {best['mean']:.3g} after {best['frames']} frames, in {folder}")
        console.text(f"checkpoint: {folder}; {recipe.advise(folder)}")
        document = {"protocol": info.protocol, "out": str(out), "frames": info.frames, "seed": recipe.seed}
        return document | {
            "updates": info.updates,
            "resumed": resumed,
            "log": last,
            "best": best,
            "warnings": describe_health(last),
        }


def get_recipe(name: str) -> TrainingRecipe:
    """The recipe `name`; raises UnknownNameError, and InputError for what is none."""
    found = RECIPES.get(name)
    if not isinstance(found, TrainingRecipe):
        raise InputError(f"expected a TrainingRecipe registered as {name!r}, got {type(found).__name__}")
    return found


def describe_failures(failed: Sequence[SeedFailure], count: int) -> NavarenaError:
    """The error of `failed` trainings of `count`; that of a failed check where all are."""
    reasons = "; ".join(f"seed {one.seed}: {one.reason}" for one in failed)
    is_check = all(one.exit_code == CheckFailedError.exit_code for one in failed)
    kind = CheckFailedError if is_check else InputError
    return kind(f"{len(failed)} of {count} trainings failed, the same command goes on with them; {reasons}")


def describe_best(info: "CheckpointInfo") -> dict[str, Any] | None:
    """by, frames, mean, low, high and episodes of the best evaluation by the recipe; None without one."""
    from navarena.learning.checkpoints.selection import choose_best

    if not info.curve:
        return None
    by = info.recipe.get("evaluation", {}).get("by", "success")
    best = choose_best(info.curve, by)
    score = best.scores[by]
    numbers = {"by": by, "frames": best.frames, "mean": score.mean, "low": score.low, "high": score.high}
    return numbers | {"episodes": best.episodes}


def _open_tensorboard(out: Path, stack: ExitStack) -> Callable[[dict[str, Any]], None]:
    """A function that writes lines of the log into `out`/tensorboard; `stack` closes it."""
    from navarena.core.errors import require_extra

    require_extra("tensorboard", "tensorboard")
    writer = require_extra("torch.utils.tensorboard", "tensorboard").SummaryWriter(str(out / "tensorboard"))
    stack.callback(writer.close)

    def write(row: dict[str, Any]) -> None:
        for name, value in row.items():
            if isinstance(value, int | float) and name != "frames":
                writer.add_scalar(f"{row['kind']}/{name}", value, row["frames"])

    return write


def spell_settings(arguments: Sequence[str]) -> list[str]:
    """`arguments` with the flags of settings, --method.epochs=2, written out as --set method.epochs=2."""
    own = {one.name for one in fields(Train)}
    settings: set[str] = set()
    if any(argument.startswith("--") and "=" in argument for argument in arguments):
        recipe = next((argument for argument in arguments if argument in RECIPES), DEFAULT)
        settings = {one.name for one in fields(get_recipe(recipe))} - own
    spelled: list[str] = []
    for argument in arguments:
        name = argument.removeprefix("--").partition("=")[0].replace("-", "_")
        if argument.startswith("--") and "=" in argument and ("." in name or name in settings):
            spelled += ["--set", name + "=" + argument.partition("=")[2]]
        else:
            spelled.append(argument)
    return spelled


_OF_ROLLOUTS = ("method.epochs", "method.minibatches")


def _require_used(settings: Sequence[str]) -> None:
    """Raise InputError for a setting of rollouts, which a training from demonstrations has none of."""
    for text in settings:
        name = text.partition("=")[0]
        if name in _OF_ROLLOUTS:
            raise InputError(
                f"expected settings that --demos uses, got {name}; leave it out: --frames says for how many "
                "passes over the demonstrations"
            )


def change_setting(settings: Any, text: str) -> Any:
    """The dataclass `settings` with the change of `text`, NAME=VALUE, where NAME leads through nested ones.

    Raises UnknownNameError for a name or a choice that is not there, InputError for a value of another type.
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
    if get_origin(kind) is Literal:
        require_name(f"value of {first}", value, map(str, get_args(kind)))
    parts: str | list[Any] = value
    if isinstance(now, tuple):
        parts = value.split(",") if value else []
    if Auxiliary in get_args(kind):
        parts = [AUXILIARIES[require_name("auxiliary loss", one, list(AUXILIARIES))] for one in parts]
    try:
        return replace(settings, **{first: msgspec.convert(parts, kind, strict=False)})
    except msgspec.ValidationError as error:
        raise InputError(f"expected another value of {first}, got {value!r} ({error})") from error
