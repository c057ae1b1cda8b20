"""Training of occupancy anticipation: windows in minibatches."""

from pathlib import Path

import msgspec
import numpy as np

from navarena.core.seeding import make_generator
from navarena.learning.anticipation.anticipator import STATES, AnticipationInfo
from navarena.learning.anticipation.settings import AnticipationRecipe
from navarena.learning.anticipation.windows import Windows, encode_states, load_windows
from navarena.learning.perception.unet import compute_loss
from navarena.learning.precision import choose_precision
from navarena.learning.tensors import Tensor, torch
from navarena.learning.trainings.fitting import Fitting


class AnticipationTraining(Fitting[AnticipationRecipe, AnticipationInfo]):
    """A training of an anticipation that was begun, or goes on from the checkpoint in its folder.

    Windows that are not in the cache folder are drawn first; a training that is interrupted there goes on
    with the next house. Half of the windows of every minibatch are mirrored.

    Args (the others, and what is raised, are those of `Fitting`):
        windows: to learn from; None for those of the recipe.
    """

    def __init__(
        self,
        recipe: AnticipationRecipe,
        folder: Path,
        threads: int = 1,
        windows: list[Windows] | None = None,
    ) -> None:
        super().__init__(recipe, folder, threads)
        if windows is None:
            houses = range(recipe.windows.houses)
            windows = [load_windows(recipe.windows, recipe.protocol, "train", k, recipe.seed) for k in houses]
        self._seen = np.concatenate([one.seen for one in windows])
        self._true = np.concatenate([one.true for one in windows])
        info = AnticipationInfo(
            protocol=recipe.protocol,
            recipe=msgspec.to_builtins(recipe),
            windows=recipe.windows,
            network=recipe.network,
        )
        self._halves = choose_precision(recipe.precision)
        self._begin(info, lambda: info.build().to(memory_format=torch.channels_last))

    def _compute_loss(self) -> Tensor:
        chosen = self._choose(len(self._seen))
        seen, true = self._seen[chosen], self._true[chosen].astype(np.int64)
        generator = make_generator(self.recipe.kind, self.recipe.seed, "mirrors", self.updates)
        is_mirrored = generator.random(len(chosen)) < 0.5
        for cells in (seen, true):
            cells[is_mirrored] = cells[is_mirrored, :, ::-1]
        with torch.autocast("cpu", torch.bfloat16, enabled=self._halves):
            scores = self._network(torch.from_numpy(encode_states(seen)))
        weights = torch.ones(len(STATES))
        return compute_loss(scores, torch.from_numpy(true), weights, self.recipe.coarse_weight)
