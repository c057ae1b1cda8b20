"""Training of the joint space: frozen features of crops and of words, brought together by their pairs."""

from pathlib import Path

import msgspec
import numpy as np
from jaxtyping import Bool, Float32, Int64

from navarena.core.errors import InputError
from navarena.core.seeding import make_generator
from navarena.episodes.encoding.cached import CachedEncoder
from navarena.episodes.encoding.encoder import GoalEncoder
from navarena.learning.joint.encoder import JointInfo, make_text_encoder
from navarena.learning.joint.network import JointNetwork, contrast
from navarena.learning.joint.pairs import HousePairs, load_pairs
from navarena.learning.joint.settings import JointRecipe
from navarena.learning.perception.houses import first_scene_ids
from navarena.learning.perception.lite0 import POOLED, find_trunk
from navarena.learning.tensors import Tensor, torch
from navarena.learning.trainings.fitting import Fitting
from navarena.scenes.houses.vocabulary import GOAT


class JointTraining(Fitting[JointRecipe, JointInfo]):
    """A training of a joint space, new or resumed from the checkpoint in its folder.

    Crops and features that are not in the cache folder are made first, house by house.

    Args (the others, and what is raised, are those of `Fitting`):
        houses: to learn from; None for those of the recipe.

    Raises InputError for fewer crops than a batch, and MissingExtraError without the packages of the frozen
    networks.
    """

    def __init__(
        self, recipe: JointRecipe, folder: Path, threads: int = 1, houses: list[HousePairs] | None = None
    ) -> None:
        super().__init__(recipe, folder, threads)
        texts, trunk = CachedEncoder(make_text_encoder(recipe.texts)), find_trunk()
        if houses is None:
            count = len(first_scene_ids(recipe.pairs.scenes, "train", recipe.pairs.houses))
            houses = [load_pairs(recipe.pairs, "train", k, recipe.seed) for k in range(count)]
        self._examples = Examples(houses, texts)
        if len(self._examples.owners) < recipe.batch:
            raise InputError(
                f"expected at least {recipe.batch} crops, as many as a batch, got "
                f"{len(self._examples.owners)}; --set pairs.houses=N takes more houses"
            )
        info = JointInfo(
            protocol=recipe.protocol,
            texts=recipe.texts,
            text_features=texts.dimension,
            trunk_sha256=trunk.digest,
            side=recipe.pairs.side,
            network=recipe.network,
            recipe=msgspec.to_builtins(recipe),
        )
        self._begin(info, lambda: JointNetwork(texts.dimension, recipe.network, recipe.temperature))

    def _compute_loss(self) -> Tensor:
        recipe, network = self.recipe, self._network
        rows = self._choose(len(self._examples.owners))
        generator = make_generator(recipe.kind, recipe.seed, "words", self.updates)
        texts, others = self._examples.draw(rows, recipe.names, generator)
        seen = network.embed_images(self._examples.images(rows))
        described = network.embed_texts(self._examples.words(texts))
        fits = torch.from_numpy(self._examples.fits(rows, texts))
        loss = contrast(seen, described, network.factor(), fits)
        if recipe.views:
            again = network.embed_images(self._examples.images(others))
            owners = self._examples.owners[rows]
            same = torch.from_numpy(owners[:, None] == owners)
            loss = loss + recipe.views * contrast(seen, again, network.factor(), same)
        return loss


class Examples:
    """Crops and texts of all houses together.

    Args:
        houses: crops and words.
        texts: encoder of words.

    Attributes:
        owners: (C,) int64 object of each crop, counted over all houses.
    """

    def __init__(self, houses: list[HousePairs], texts: GoalEncoder) -> None:
        trunk = find_trunk()
        features = [trunk.load_or_encode(np.asarray(one.crops)) for one in houses if len(one.crops)]
        self._features = np.concatenate([np.asarray(one) for one in features] or [np.zeros((0, POOLED))])
        sizes = np.cumsum([0, *(len(one.categories) for one in houses)])
        owners = [np.asarray(one.owners, np.int64) + first for one, first in zip(houses, sizes)]
        self.owners: np.ndarray = np.concatenate([*owners, np.zeros(0, np.int64)])
        self._crops = [np.flatnonzero(self.owners == number) for number in range(int(sizes[-1]))]
        categories = [name for one in houses for name in one.categories]
        kinds = sorted(set(categories))
        self._categories = np.array([kinds.index(name) for name in categories], np.int64)
        names = sorted({name for one in houses for own in one.names for name in own})
        numbers = {name: k for k, name in enumerate(names)}
        self._names = [[numbers[name] for name in own] for one in houses for own in one.names]
        described = [text for one in houses for own in one.descriptions for text in own]
        self._descriptions: list[list[int]] = []
        first = len(names)
        for own in (own for one in houses for own in one.descriptions):
            self._descriptions.append(list(range(first, first + len(own))))
            first += len(own)
        self._vectors = texts.encode_words([*names, *described])
        about = [k for k, own in enumerate(self._descriptions) for _ in own]
        self._about = np.array([-1] * len(names) + about, np.int64)
        self._meant = np.array(
            [[kind == name or kind in GOAT.get(name, ()) for kind in kinds] for name in names], bool
        )

    def draw(
        self, rows: Int64[np.ndarray, "b"], share: float, generator: np.random.Generator
    ) -> tuple[Int64[np.ndarray, "b"], Int64[np.ndarray, "b"]]:
        """(B,) a text for each crop in `rows`, and (B,) another crop of its object.

        Args:
            rows: crops.
            share: of names; the others are descriptions, where there is one.
            generator: draws.
        """
        texts, others = np.zeros_like(rows), np.zeros_like(rows)
        for k, row in enumerate(rows.tolist()):
            owner = int(self.owners[row])
            own, is_name = self._descriptions[owner], generator.random() < share
            listed = self._names[owner] if is_name or not own else own
            texts[k] = listed[int(generator.integers(len(listed)))]
            crops = self._crops[owner]
            others[k] = crops[int(generator.integers(len(crops)))]
        return texts, others

    def images(self, rows: Int64[np.ndarray, "b"]) -> Tensor:
        """(B, 1280) float32 features of crops."""
        return torch.from_numpy(self._features[rows].astype(np.float32))

    def words(self, texts: Int64[np.ndarray, "b"]) -> Float32[Tensor, "b f"]:
        """(B, F) float32 vectors of texts."""
        return torch.from_numpy(self._vectors[texts])

    def fits(self, rows: Int64[np.ndarray, "b"], texts: Int64[np.ndarray, "b"]) -> Bool[np.ndarray, "b b"]:
        """(B, B) bool: whether text k (column) may be said of crop j (row).

        A name may be said of all objects of its categories, a description of its own alone.
        """
        owners = self.owners[rows]
        own = owners[:, None] == self._about[texts]
        is_name = self._about[texts] < 0
        named = self._meant[np.where(is_name, texts, 0)][:, self._categories[owners]].T
        return np.where(is_name, named, own)
