"""Supervised training of networks: minibatches, a log, and checkpoints that resume it.

Policies are trained from rollouts (`training`); segmenters and the joint space from what is kept on disk.
"""

import io
import json
import math
import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar, Generic, Protocol, TypeVar, runtime_checkable

import msgspec
import numpy as np

from navarena.core.errors import CheckFailedError
from navarena.core.files import write_atomic
from navarena.core.seeding import make_generator
from navarena.learning.checkpoints import FORMAT, RESUME, load_resume, require_same_recipe
from navarena.learning.settings import OptimiserSettings
from navarena.learning.tensors import Tensor, torch

LOG = "log.jsonl"

Row = dict[str, Any]
"""One line of the log."""


@runtime_checkable
class FittingRecipe(Protocol):
    """Interface of recipes of supervised trainings; see SegmenterRecipe."""

    @property
    def optimiser(self) -> OptimiserSettings:
        """Adam; the rate falls along half a cosine from `first` to `last`."""
        ...

    @property
    def frames(self) -> int:
        """Examples learned from, repetitions included."""
        ...

    @property
    def batch(self) -> int:
        """Examples of an update."""
        ...

    @property
    def seed(self) -> int:
        """Seed of all random draws."""
        ...

    @property
    def save_updates(self) -> int:
        """Updates between checkpoints."""
        ...

    @property
    def log_updates(self) -> int:
        """Updates in a line of the log."""
        ...


AnyRecipe = TypeVar("AnyRecipe", bound=FittingRecipe)
Info = TypeVar("Info")


class Fitting(ABC, Generic[AnyRecipe, Info]):
    """A supervised training, new or resumed from the checkpoint in its folder.

    On a processor it goes on with the same bits. Derive from this, call `_begin` at the end of the
    constructor, and write what is abstract.

    Args:
        recipe: what is trained.
        folder: of checkpoint and log.
        threads: of PyTorch.

    Attributes:
        frames: examples learned from so far, repetitions included.
        updates: made so far.

    Raises InputError for a recipe that differs from the one in `folder`, and FileError for a damaged
    checkpoint.
    """

    kind: ClassVar[str]
    """What is trained: "segmenter"; names its loss in the log, and its random streams."""

    def __init__(self, recipe: AnyRecipe, folder: Path, threads: int = 1) -> None:
        torch.set_num_threads(threads)
        self.recipe, self.folder, self.frames, self.updates = recipe, folder, 0, 0
        self._plain: dict[str, Any] = json.loads(msgspec.json.encode(recipe))
        self._saved = load_resume(folder)
        if self._saved is not None:
            require_same_recipe(self._plain, json.loads(self._saved["recipe"]), folder)
        self._losses: list[float] = []
        self._order: tuple[int, np.ndarray] = (-1, np.zeros(0, np.int64))

    def _begin(self, info: Info, network: Any, optimiser: Any) -> None:
        """Train `network` by `optimiser`, from where the checkpoint stopped; `info` describes it."""
        self._info, self._network, self._optimiser = info, network, optimiser
        if self._saved is None:
            write_atomic(self.folder / LOG, b"")
        else:
            self._restore(self._saved)
        self._saved = None

    @abstractmethod
    def _compute_loss(self) -> Tensor:
        """() the loss of the minibatch of this update."""

    @abstractmethod
    def _write(self, info: Info) -> None:
        """Write the network for its users, and the state that resumes the training."""

    def run(self, report: Callable[[Row], None] = lambda row: None) -> Info:
        """Train on the recipe's number of frames; returns the last checkpoint's description.

        Args:
            report: called with every line of the log.

        Raises CheckFailedError for a loss that is not finite; the last checkpoint stays. Raises StorageError
        when a file cannot be written.
        """
        recipe = self.recipe
        began, first = time.perf_counter(), self.frames
        while self.frames < recipe.frames:
            self._losses.append(self.advance())
            ends = self.frames >= recipe.frames
            if self.updates % recipe.log_updates == 0 or ends:
                speed = (self.frames - first) / (time.perf_counter() - began)
                row: Row = {"kind": "training", "frames": self.frames, "updates": self.updates}
                row |= {f"{self.kind}_loss": float(np.mean(self._losses)), "rate": self._rate()}
                row |= {"frames_per_second": round(speed, 1)}
                self._losses = []
                with (self.folder / LOG).open("a") as file:
                    file.write(json.dumps(row) + "\n")
                report(row)
            if self.updates % recipe.save_updates == 0 or ends:
                self._save()
        return self._describe_now()

    def close(self) -> None:
        """Nothing is held open."""

    def advance(self) -> float:
        """Draw a minibatch and update; returns its loss. Raises CheckFailedError as `run` does."""
        for group in self._optimiser.param_groups:
            group["lr"] = self._rate()
        loss = self._compute_loss()
        self._optimiser.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self._network.parameters(), self.recipe.optimiser.max_gradient)
        value = float(loss.detach())
        if not math.isfinite(value):
            raise CheckFailedError(
                f"expected a finite loss in update {self.updates + 1}, got {value}; the checkpoint in "
                f"{self.folder} is good, lower the learning rate"
            )
        self._optimiser.step()
        self.frames += self.recipe.batch
        self.updates += 1
        return value

    def _rate(self) -> float:
        rate, done = self.recipe.optimiser.rate, min(self.frames / self.recipe.frames, 1.0)
        return rate.last + (rate.first - rate.last) * 0.5 * (1 + math.cos(math.pi * done))

    def _choose(self, total: int) -> np.ndarray:
        """(batch,) int64 examples of this update: each of `total` once per pass, in random order."""
        chosen = np.zeros(self.recipe.batch, np.int64)
        for row in range(self.recipe.batch):
            epoch, place = divmod(self.frames + row, total)
            if self._order[0] != epoch:
                generator = make_generator(self.kind, self.recipe.seed, "order", epoch)
                self._order = epoch, generator.permutation(total)
            chosen[row] = self._order[1][place]
        return chosen

    def _describe_now(self) -> Info:
        return replace(self._info, frames=self.frames, updates=self.updates)  # type: ignore[type-var]

    def _save(self) -> None:
        weights = {name: value.detach().contiguous() for name, value in self._network.state_dict().items()}
        resume = {
            "format": FORMAT,
            "weights": weights,
            "recipe": json.dumps(self._plain),
            "frames": self.frames,
            "updates": self.updates,
            "optimiser": self._optimiser.state_dict(),
            "losses": self._losses,
        }
        buffer = io.BytesIO()
        torch.save(resume, buffer)
        write_atomic(self.folder / RESUME, buffer.getvalue())
        self._write(self._describe_now())

    def _restore(self, saved: dict[str, Any]) -> None:
        """Restore `saved`, and remove lines of the log that were written after it."""
        self.frames, self.updates, self._losses = saved["frames"], saved["updates"], saved["losses"]
        self._network.load_state_dict(saved["weights"])
        self._optimiser.load_state_dict(saved["optimiser"])
        path = self.folder / LOG
        lines = path.read_text().splitlines(keepends=True) if path.exists() else []
        kept = [line for line in lines if line.endswith("\n") and json.loads(line)["frames"] <= self.frames]
        write_atomic(path, "".join(kept).encode())
