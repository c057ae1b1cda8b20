"""Supervised training of networks: minibatches, a log, and checkpoints that resume it.

Policies are trained from rollouts (`training`); segmenters and the joint space from what is kept on disk.
"""

import json
import math
import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, Generic, TypeVar

import msgspec
import numpy as np

from navarena.core.errors import CheckFailedError
from navarena.core.seeding import make_generator
from navarena.learning.checkpoints.files import (
    RESUME,
    complete_files,
    describe_last_checkpoint,
    encode_resume,
    load_resume,
    require_same_recipe,
    write_together,
)
from navarena.learning.checkpoints.fitted import FittedInfo, encode_fitted
from navarena.learning.recipes.base import FittingRecipe
from navarena.learning.tensors import Tensor, seeded, torch
from navarena.learning.trainings.log import Row, append_row, cut_log

AnyRecipe = TypeVar("AnyRecipe", bound=FittingRecipe)
Info = TypeVar("Info", bound=FittedInfo)


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

    def __init__(self, recipe: AnyRecipe, folder: Path, threads: int = 1) -> None:
        torch.set_num_threads(threads)
        self.recipe, self.folder, self.frames, self.updates = recipe, folder, 0, 0
        self._plain: dict[str, Any] = json.loads(msgspec.json.encode(recipe))
        self._saved = load_resume(folder)
        if self._saved is not None:
            require_same_recipe(self._plain, json.loads(self._saved["recipe"]), folder)
        self._losses: list[float] = []
        self._order: tuple[int, np.ndarray] = (-1, np.zeros(0, np.int64))

    def _begin(self, info: Info, build: Callable[[], torch.nn.Module]) -> None:
        """Train what `build` makes with random weights, or go on with the checkpoint in the folder.

        Args:
            info: describes it.
            build: makes the network.
        """
        with seeded(self.recipe.kind, self.recipe.seed, "weights"):
            self._network = build().train()
        self._info, settings = info, self.recipe.optimiser
        self._optimiser = torch.optim.AdamW(
            self._network.parameters(),
            lr=settings.rate.first,
            eps=settings.epsilon,
            weight_decay=settings.weight_decay,
        )
        if self._saved is not None:
            self._restore(self._saved)
        self._saved = None
        cut_log(self.folder, self.frames)

    @abstractmethod
    def _compute_loss(self) -> Tensor:
        """() the loss of the minibatch of this update."""

    def run(self, report: Callable[[Row], None] = lambda row: None) -> Info:
        """Train on the recipe's number of frames; returns the last checkpoint's description.

        Args:
            report: called with every line of the log.

        Raises CheckFailedError for a loss that is not finite; the last checkpoint stays. Raises StorageError
        when a file cannot be written.
        """
        recipe = self.recipe
        began, first = time.perf_counter(), self.frames
        if self.frames >= recipe.frames:
            info, network = self._describe_now(), self._network
            complete_files(self.folder, self.frames, lambda: encode_fitted(info, network))
        while self.frames < recipe.frames:
            self._losses.append(self.advance())
            ends = self.frames >= recipe.frames
            if self.updates % recipe.log_updates == 0 or ends:
                speed = (self.frames - first) / (time.perf_counter() - began)
                row: Row = {"kind": "training", "frames": self.frames, "updates": self.updates}
                row |= {f"{self.recipe.kind}_loss": float(np.mean(self._losses)), "rate": self._rate()}
                row |= {"frames_per_second": round(speed, 1)}
                self._losses = []
                append_row(self.folder, row)
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
        learned = [one for one in self._network.parameters() if one.grad is not None]
        norm = torch.nn.utils.clip_grad_norm_(learned, self.recipe.optimiser.max_gradient)
        value = float(loss.detach())
        # gradients whose norm alone is beyond float32 were scaled to 0
        is_finite = bool(norm.isfinite()) or all(bool(one.grad.isfinite().all()) for one in learned)
        if not (math.isfinite(value) and is_finite):
            raise CheckFailedError(
                f"expected a finite loss and gradient in update {self.updates + 1}, got a loss of {value} "
                f"and a norm of {float(norm)}; {describe_last_checkpoint(self.folder)}, lower the learning "
                "rate"
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
                generator = make_generator(self.recipe.kind, self.recipe.seed, "order", epoch)
                self._order = epoch, generator.permutation(total)
            chosen[row] = self._order[1][place]
        return chosen

    def _describe_now(self) -> Info:
        return replace(self._info, frames=self.frames, updates=self.updates)

    def _save(self) -> None:
        resume = {
            "recipe": json.dumps(self._plain),
            "frames": self.frames,
            "updates": self.updates,
            "optimiser": self._optimiser.state_dict(),
            "losses": self._losses,
        }
        files = encode_fitted(self._describe_now(), self._network)
        write_together(self.folder, {**files, RESUME: encode_resume(self._network, resume)})

    def _restore(self, saved: dict[str, Any]) -> None:
        self.frames, self.updates, self._losses = saved["frames"], saved["updates"], saved["losses"]
        self._network.load_state_dict(saved["weights"])
        self._optimiser.load_state_dict(saved["optimiser"])
