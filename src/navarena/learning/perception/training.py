"""Training of segmenters: images in minibatches."""

from pathlib import Path

import msgspec
import numpy as np
from jaxtyping import Float32, Float64, Int64

from navarena.core.seeding import make_generator
from navarena.learning.perception.choosing import count_classes
from navarena.learning.perception.images import HouseImages, LabelledImages, load_all
from navarena.learning.perception.labelling import SegmenterInfo, stack_images
from navarena.learning.perception.settings import SegmenterRecipe
from navarena.learning.perception.unet import Corner, compute_loss
from navarena.learning.precision import choose_precision
from navarena.learning.tensors import Tensor, torch
from navarena.learning.trainings.fitting import Fitting
from navarena.mapping.vocabularies import class_names


class SegmenterTraining(Fitting[SegmenterRecipe, SegmenterInfo]):
    """A training of a segmenter, new or resumed from the checkpoint in its folder.

    Images that are not in the cache folder are drawn first; a training that is interrupted there goes on with
    the next house.

    Args (the others, and what is raised, are those of `Fitting`):
        images: to learn from; None for those of the recipe.
    """

    def __init__(
        self,
        recipe: SegmenterRecipe,
        folder: Path,
        threads: int = 1,
        images: list[LabelledImages] | None = None,
    ) -> None:
        super().__init__(recipe, folder, threads)
        self._images = HouseImages(load_all(recipe.images, recipe.seed) if images is None else images)
        self._names = class_names(recipe.images.vocabulary)
        weights = self._weigh_classes()
        info = SegmenterInfo(
            protocol=recipe.protocol,
            recipe=msgspec.to_builtins(recipe),
            vocabulary=recipe.images.vocabulary,
            classes=self._names,
            size=recipe.images.size,
            network=recipe.network,
            offsets=tuple(compute_offsets(weights, recipe.correction).tolist()),
        )
        self._weights = torch.from_numpy(weights)
        self._halves = choose_precision(recipe.precision)
        self._begin(info, lambda: info.build().to(memory_format=torch.channels_last))

    def _compute_loss(self) -> Tensor:
        images, classes = self._draw_batch()
        corner = self._draw_corner()
        with torch.autocast("cpu", torch.bfloat16, enabled=self._halves):
            seen = torch.from_numpy(images)
            scores = self._network(seen) if corner is None else self._network(seen, corner)
        wanted, coarse = torch.from_numpy(classes), self.recipe.coarse_weight
        return compute_loss(scores, wanted, self._weights, coarse, corner)

    def _draw_corner(self) -> Corner | None:
        """Where the quarter of the pixels begins that this update learns; None where it learns all."""
        if not self.recipe.quarters:
            return None
        generator = make_generator(self.recipe.kind, self.recipe.seed, "quarter", self.updates)
        row, column = generator.integers(2, size=2).tolist()
        return row, column

    def _draw_batch(self) -> tuple[Float32[np.ndarray, "b h w 4"], Int64[np.ndarray, "b h w"]]:
        """The augmented minibatch of this update: every image once per pass, in random order."""
        recipe = self.recipe
        generator = make_generator(recipe.kind, recipe.seed, "augmentation", self.updates)
        images = self._images.pick(self._choose(len(self._images)), generator)
        stacked = stack_images(images.rgb, images.depth)
        jitter_colours(stacked[..., :3], recipe.jitter, generator)
        return stacked, images.classes.astype(np.int64)

    def _weigh_classes(self) -> Float32[np.ndarray, "c"]:
        """(C,) weights 1 / ln(c + share); of classes that occur nowhere 0."""
        counts = np.zeros(len(self._names))
        for images in self._images.houses:
            counts += count_classes(np.asarray(images.classes), len(self._names)).sum(0)
        weights = 1 / np.log(self.recipe.smoothing + counts / counts.sum())
        return np.where(counts > 0, weights, 0.0).astype(np.float32)


def compute_offsets(weights: Float32[np.ndarray, "c"], correction: float) -> Float64[np.ndarray, "c"]:
    """(C,) subtracted from the scores of a network that was trained with class `weights` (C,).

    Classes of weight 0, which occurred nowhere, are treated as the rarest. See SegmenterRecipe.correction.
    """
    return correction * np.log(np.where(weights > 0, weights, weights.max()), dtype=float)


def jitter_colours(
    colours: Float32[np.ndarray, "b h w 3"], max_change: float, generator: np.random.Generator
) -> None:
    """Change brightness, contrast and saturation of `colours` (B, H, W, 3), values of 0 to 1, in place.

    Each by a factor of its own of 1 - most to 1 + most for every image.
    """
    light, contrast, saturation = generator.uniform(
        1 - max_change, 1 + max_change, (3, len(colours), 1, 1, 1)
    ).astype(np.float32)
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
