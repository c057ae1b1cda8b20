"""Training of depth from colours: images in minibatches."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import msgspec
import numpy as np

from navarena.core.errors import InputError
from navarena.core.seeding import make_generator
from navarena.learning.depth.network import FARTHEST, NEAREST, see_floor
from navarena.learning.depth.predictor import DepthInfo, count_rows
from navarena.learning.depth.settings import DepthRecipe
from navarena.learning.perception.images import HouseImages, LabelledImages, camera_body, load_all
from navarena.learning.perception.training import jitter_colours
from navarena.learning.precision import choose_precision
from navarena.learning.tensors import Tensor, torch
from navarena.learning.trainings.fitting import Fitting
from navarena.tasks.catalog import get_body_task


class DepthTraining(Fitting[DepthRecipe, DepthInfo]):
    """A training of depth from colours, new or resumed from the checkpoint in its folder.

    Images that are not in the cache folder are drawn first; a training that is interrupted there goes on with
    the next house. Half of the images of every minibatch are mirrored.

    Args (the others, and what is raised, are those of `Fitting`):
        images: to learn from; None for those of the recipe.
    """

    def __init__(
        self,
        recipe: DepthRecipe,
        folder: Path,
        threads: int = 1,
        images: list[LabelledImages] | None = None,
    ) -> None:
        super().__init__(recipe, folder, threads)
        settings = replace(recipe.images, cameras=(recipe.protocol,))
        camera, (height, width) = get_body_task(recipe.protocol).embodiment.cameras[0], settings.size
        if (count := count_rows(camera, width)) > height:
            raise InputError(
                f"expected images of {count} rows or more for {width} columns, as many as the camera of "
                f"{recipe.protocol} sees, got {height}; set images.size"
            )
        self._images = HouseImages(load_all(settings, recipe.seed) if images is None else images)
        info = DepthInfo(
            protocol=recipe.protocol,
            recipe=msgspec.to_builtins(recipe),
            size=recipe.images.size,
            network=recipe.network,
        )
        camera = camera_body(recipe.protocol, settings.size).cameras[0]
        self._rows = torch.from_numpy(see_floor(camera, height))
        self._halves = choose_precision(recipe.precision)
        self._begin(info, lambda: info.build().to(memory_format=torch.channels_last))

    def _compute_loss(self) -> Tensor:
        recipe = self.recipe
        generator = make_generator(recipe.kind, recipe.seed, "augmentation", self.updates)
        images = self._images.pick(self._choose(len(self._images)), generator)
        colours = images.rgb.astype(np.float32) / np.float32(255)
        jitter_colours(colours, recipe.jitter, generator)
        spread = generator.uniform(0, recipe.noise, (len(colours), 1, 1, 1)).astype(np.float32)
        colours += spread * generator.standard_normal(colours.shape, np.float32)
        np.clip(colours, 0, 1, out=colours)
        with torch.autocast("cpu", torch.bfloat16, enabled=self._halves):
            predicted = self._network(torch.from_numpy(colours), self._rows)
        metres = torch.from_numpy(images.depth.astype(np.float32))
        return compute_depth_loss(predicted, metres, recipe.coarse_weight)


def compute_depth_loss(predicted: Sequence[Tensor], metres: Tensor, coarse_weight: float) -> Tensor:
    """Mean negative log-likelihood of the logarithm of depth at all scales: () float32.

    Errors have a Laplace distribution of the predicted scale, less its constant ln 2. Pixels where nothing
    was hit do not count; coarse scales compare with the pixel nearest to the middle of what one of theirs
    covers.

    Args:
        predicted: (B, 2, H / s, W / s) as of `DepthNetwork.forward`, finest first.
        metres: (B, H, W) float32, 0 where nothing was hit.
        coarse_weight: of every scale but the first.
    """
    total = torch.zeros(())
    for number, one in enumerate(predicted):
        step = metres.shape[1] // one.shape[2]
        wanted = metres[:, step // 2 :: step, step // 2 :: step]
        is_hit = (wanted > 0).float()
        logs, scales = one.unbind(1)
        errors = (logs - wanted.clamp(NEAREST, FARTHEST).log()).abs()
        loss = ((errors * (-scales).exp() + scales) * is_hit).sum() / is_hit.sum().clamp(min=1)
        total = total + (coarse_weight if number else 1.0) * loss
    return total
