"""Training of segmenters: images in minibatches, with a log and checkpoints, from which it goes on."""

import io
import json
import math
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from jaxtyping import Float32, Int64

from navarena import __version__
from navarena.core.errors import CheckFailedError
from navarena.core.files import write_atomic
from navarena.core.seeding import derive_seed, make_generator
from navarena.learning.checkpoints import FORMAT, RESUME, load_resume, require_same_recipe
from navarena.learning.perception.choosing import count_classes
from navarena.learning.perception.images import LabelledImages, load_images
from navarena.learning.perception.labelling import SegmenterInfo, save_segmenter, stack_images
from navarena.learning.perception.segmenter import compute_loss
from navarena.learning.perception.settings import SegmenterRecipe
from navarena.learning.perception.vocabularies import class_names
from navarena.learning.precision import choose_precision
from navarena.learning.tensors import torch

LOG = "log.jsonl"

Row = dict[str, Any]
"""One line of the log."""


class SegmenterTraining:
    """A training of a segmenter that was begun, or goes on from the checkpoint in its folder.

    Images that are not in the cache folder are drawn first; a training that is interrupted there goes on with
    the next house. On a processor it goes on with the same bits.

    Args:
        recipe: what is trained.
        folder: of checkpoint and log.
        threads: of PyTorch.
        images: to learn from; None for those of the recipe.

    Attributes:
        frames: images learned from so far, repetitions included.
        updates: made so far.

    Raises InputError for a recipe that differs from the one in `folder`, and FileError for a damaged
    checkpoint.
    """

    def __init__(
        self,
        recipe: SegmenterRecipe,
        folder: Path,
        threads: int = 1,
        images: list[LabelledImages] | None = None,
    ) -> None:
        torch.set_num_threads(threads)
        self.recipe, self.folder, self.frames, self.updates = recipe, folder, 0, 0
        self._plain: dict[str, Any] = json.loads(msgspec.json.encode(recipe))
        saved = load_resume(folder)
        if saved is not None:
            require_same_recipe(self._plain, json.loads(saved["recipe"]), folder)
        houses = range(recipe.images.houses)
        self._houses = (
            [load_images(recipe.images, "train", k, recipe.seed) for k in houses]
            if images is None
            else images
        )
        sizes = [len(one) for one in self._houses]
        self._owners = np.repeat(np.arange(len(sizes)), sizes)
        self._places = np.concatenate([np.arange(size) for size in sizes])
        self._names = class_names(recipe.images.vocabulary)
        self._info = self._describe()
        with torch.random.fork_rng(devices=()):
            torch.manual_seed(derive_seed("segmenter", recipe.seed, "weights") % 2**63)
            self._network = self._info.build()
        self._network = self._network.to(memory_format=torch.channels_last).train()
        self._optimiser = torch.optim.Adam(
            self._network.parameters(), lr=recipe.optimiser.rate.first, eps=recipe.optimiser.epsilon
        )
        self._weights = torch.from_numpy(self._weigh_classes())
        self._halves = choose_precision(recipe.precision)
        self._losses: list[float] = []
        self._order: tuple[int, np.ndarray] = (-1, np.zeros(0, np.int64))
        if saved is None:
            write_atomic(folder / LOG, b"")
        else:
            self._restore(saved)

    def run(self, report: Callable[[Row], None] = lambda row: None) -> SegmenterInfo:
        """Train until the recipe's frames are learned from; what the last checkpoint is.

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
                row |= {"segmenter_loss": float(np.mean(self._losses)), "rate": self._rate()}
                row |= {"frames_per_second": round(speed, 1)}
                self._losses = []
                with (self.folder / LOG).open("a") as file:
                    file.write(json.dumps(row) + "\n")
                report(row)
            if self.updates % recipe.save_updates == 0 or ends:
                self._save()
        return replace(self._info, frames=self.frames, updates=self.updates)

    def close(self) -> None:
        """Nothing is held open."""

    def advance(self) -> float:
        """One minibatch and the update from it; its loss. Raises CheckFailedError as `run`."""
        recipe = self.recipe
        images, classes = self._draw_batch()
        for group in self._optimiser.param_groups:
            group["lr"] = self._rate()
        with torch.autocast("cpu", torch.bfloat16, enabled=self._halves):
            scores = self._network(torch.from_numpy(images))
        loss = compute_loss(scores, torch.from_numpy(classes), self._weights, recipe.coarse_weight)
        self._optimiser.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self._network.parameters(), recipe.optimiser.max_gradient)
        value = float(loss.detach())
        if not math.isfinite(value):
            raise CheckFailedError(
                f"expected a finite loss in update {self.updates + 1}, got {value}; the checkpoint in "
                f"{self.folder} is good, lower the learning rate"
            )
        self._optimiser.step()
        self.frames += recipe.batch
        self.updates += 1
        return value

    def _rate(self) -> float:
        rate, done = self.recipe.optimiser.rate, min(self.frames / self.recipe.frames, 1.0)
        return rate.last + (rate.first - rate.last) * 0.5 * (1 + math.cos(math.pi * done))

    def _draw_batch(self) -> tuple[Float32[np.ndarray, "b h w 4"], Int64[np.ndarray, "b h w"]]:
        """The minibatch of this update: every image once in each pass, in an order of its own, augmented."""
        recipe, total = self.recipe, len(self._owners)
        chosen = np.zeros(recipe.batch, np.int64)
        for row in range(recipe.batch):
            epoch, place = divmod(self.frames + row, total)
            if self._order[0] != epoch:
                generator = make_generator("segmenter", recipe.seed, "order", epoch)
                self._order = epoch, generator.permutation(total)
            chosen[row] = self._order[1][place]
        one = [(self._houses[self._owners[k]], self._places[k]) for k in chosen.tolist()]
        rgb = np.stack([images.rgb[k] for images, k in one])
        depth = np.stack([images.depth[k] for images, k in one])
        classes = np.stack([images.classes[k] for images, k in one]).astype(np.int64)
        generator = make_generator("segmenter", recipe.seed, "augmentation", self.updates)
        is_flipped = generator.random(len(rgb)) < 0.5
        for images in (rgb, depth, classes):
            images[is_flipped] = images[is_flipped, :, ::-1]
        stacked = stack_images(rgb, depth)
        jitter_colours(stacked, recipe.jitter, generator)
        return stacked, classes

    def _weigh_classes(self) -> Float32[np.ndarray, "c"]:
        """(C,) weights 1 / ln(c + share); of classes that occur nowhere 0."""
        counts = np.zeros(len(self._names))
        for images in self._houses:
            counts += count_classes(np.asarray(images.classes), len(self._names)).sum(0)
        weights = 1 / np.log(self.recipe.smoothing + counts / counts.sum())
        return np.where(counts > 0, weights, 0.0).astype(np.float32)

    def _describe(self) -> SegmenterInfo:
        recipe = self.recipe
        return SegmenterInfo(
            protocol=recipe.protocol,
            vocabulary=recipe.images.vocabulary,
            classes=self._names,
            size=recipe.images.size,
            network=recipe.network,
            recipe=msgspec.to_builtins(recipe),
            frames=0,
            updates=0,
            version=__version__,
        )

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
        info = replace(self._info, frames=self.frames, updates=self.updates)
        save_segmenter(self.folder, info, self._network)

    def _restore(self, saved: dict[str, Any]) -> None:
        """Go on from `saved`; lines of the log that were written after it are taken back."""
        self.frames, self.updates, self._losses = saved["frames"], saved["updates"], saved["losses"]
        self._network.load_state_dict(saved["weights"])
        self._optimiser.load_state_dict(saved["optimiser"])
        path = self.folder / LOG
        lines = path.read_text().splitlines(keepends=True) if path.exists() else []
        kept = [line for line in lines if line.endswith("\n") and json.loads(line)["frames"] <= self.frames]
        write_atomic(path, "".join(kept).encode())


def jitter_colours(
    images: Float32[np.ndarray, "b h w 4"], most: float, generator: np.random.Generator
) -> None:
    """Change brightness, contrast and saturation of `images` (B, H, W, 4), values of 0 to 1, in place.

    Each by a factor of its own of 1 - most to 1 + most for every image; depth, the last channel, stays.
    """
    light, contrast, saturation = generator.uniform(1 - most, 1 + most, (3, len(images), 1, 1, 1)).astype(
        np.float32
    )
    colours = images[..., :3]
    colours *= light
    middle = colours.mean((1, 2, 3), keepdims=True)
    colours -= middle
    colours *= contrast
    colours += middle
    grey = colours.mean(3, keepdims=True)
    colours -= grey
    colours *= saturation
    colours += grey
    np.clip(colours, 0, 1, out=colours)
