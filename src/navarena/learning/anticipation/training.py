"""Training of occupancy anticipation: windows in minibatches."""

from pathlib import Path

import msgspec
import numpy as np

from navarena import __version__
from navarena.core.seeding import derive_seed, make_generator
from navarena.learning.anticipation.anticipator import STATES, AnticipationInfo, save_anticipation
from navarena.learning.anticipation.settings import AnticipationRecipe
from navarena.learning.anticipation.windows import Windows, encode_states, load_windows
from navarena.learning.fitting import Fitting
from navarena.learning.perception.segmenter import compute_loss
from navarena.learning.precision import choose_precision
from navarena.learning.tensors import Tensor, torch


class AnticipationTraining(Fitting[AnticipationRecipe, AnticipationInfo]):
    """A training of an anticipation that was begun, or goes on from the checkpoint in its folder.

    Windows that are not in the cache folder are drawn first; a training that is interrupted there goes on
    with the next house. Half of the windows of every minibatch are mirrored.

    Args:
        recipe: what is trained.
        folder: of checkpoint and log.
        threads: of PyTorch.
        windows: to learn from; None for those of the recipe.

    Raises InputError for a recipe that differs from the one in `folder`, and FileError for a damaged
    checkpoint.
    """

    kind = "anticipation"

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
            windows=recipe.windows,
            network=recipe.network,
            recipe=msgspec.to_builtins(recipe),
            frames=0,
            updates=0,
            version=__version__,
        )
        with torch.random.fork_rng(devices=()):
            torch.manual_seed(derive_seed(self.kind, recipe.seed, "weights") % 2**63)
            network = info.build()
        network = network.to(memory_format=torch.channels_last).train()
        self._halves = choose_precision(recipe.precision)
        rates = {"lr": recipe.optimiser.rate.first, "eps": recipe.optimiser.epsilon}
        self._begin(info, network, torch.optim.Adam(network.parameters(), **rates))

    def _compute_loss(self) -> Tensor:
        chosen = self._choose(len(self._seen))
        seen, true = self._seen[chosen], self._true[chosen].astype(np.int64)
        generator = make_generator(self.kind, self.recipe.seed, "mirrors", self.updates)
        is_mirrored = generator.random(len(chosen)) < 0.5
        for cells in (seen, true):
            cells[is_mirrored] = cells[is_mirrored, :, ::-1]
        with torch.autocast("cpu", torch.bfloat16, enabled=self._halves):
            scores = self._network(torch.from_numpy(encode_states(seen)))
        weights = torch.ones(len(STATES))
        return compute_loss(scores, torch.from_numpy(true), weights, self.recipe.coarse_weight)

    def _write(self, info: AnticipationInfo) -> None:
        save_anticipation(self.folder, info, self._network)
