"""Training of cross-view completion: pairs of views in minibatches."""

from pathlib import Path

import msgspec
import numpy as np

from navarena.core.seeding import make_generator
from navarena.learning.cross_view.checkpoint import CrossViewInfo
from navarena.learning.cross_view.network import draw_visible
from navarena.learning.cross_view.pairs import ViewPairs, load_view_pairs
from navarena.learning.cross_view.settings import CrossViewRecipe
from navarena.learning.precision import choose_precision
from navarena.learning.tensors import Tensor, torch
from navarena.learning.trainings.fitting import Fitting


class CrossViewTraining(Fitting[CrossViewRecipe, CrossViewInfo]):
    """A training of cross-view completion, new or resumed from the checkpoint in its folder.

    Pairs that are not in the cache folder are drawn first; a training that is interrupted there goes on with
    the next house. Either view of a pair is completed from the other; half of the pairs are mirrored.

    Args (the others, and what is raised, are those of `Fitting`):
        pairs: to learn from; None for those of the recipe.
    """

    def __init__(
        self, recipe: CrossViewRecipe, folder: Path, threads: int = 1, pairs: list[ViewPairs] | None = None
    ) -> None:
        super().__init__(recipe, folder, threads)
        side = recipe.network.side
        if pairs is None:
            pairs = [
                load_view_pairs(recipe.pairs, side, recipe.protocol, "train", number, recipe.seed)
                for number in range(recipe.pairs.houses)
            ]
        self._views = np.stack(
            [np.concatenate([getattr(one, name) for one in pairs]) for name in ("first", "second")]
        )
        info = CrossViewInfo(
            protocol=recipe.protocol,
            recipe=msgspec.to_builtins(recipe),
            pairs=recipe.pairs,
            network=recipe.network,
            masked=recipe.masked,
        )
        self._halves = choose_precision(recipe.precision)
        self._begin(info, info.build)

    def _compute_loss(self) -> Tensor:
        recipe = self.recipe
        view, row = np.divmod(self._choose(2 * self._views.shape[1]), self._views.shape[1])
        images, others = self._views[view, row], self._views[1 - view, row]
        generator = make_generator(recipe.kind, recipe.seed, "masks", self.updates)
        visible = draw_visible(len(row), recipe.network.grid**2, recipe.masked, generator)
        is_mirrored = generator.random(len(row)) < 0.5
        for one in (images, others):
            one[is_mirrored] = one[is_mirrored, :, ::-1]
        with torch.autocast("cpu", torch.bfloat16, enabled=self._halves):
            errors = self._network.measure_errors(*map(torch.from_numpy, (images, visible, others)))
        return errors.mean()
