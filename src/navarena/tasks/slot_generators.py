"""One random generator for each environment of a vector, seeded as Gymnasium asks."""

from collections.abc import Sequence
from copy import deepcopy

import numpy as np
from gymnasium.utils import seeding

from navarena.core.errors import ActionError, InputError


class SlotGenerators:
    """The generators of N environments; there are none before the first seeding.

    Args:
        count: N.
    """

    def __init__(self, count: int) -> None:
        self._count = count
        self._generators: list[np.random.Generator] = []

    def __getitem__(self, slot: int) -> np.random.Generator:
        return self._generators[slot]

    def seed(self, seed: int | Sequence[int | None] | None) -> None:
        """Seed anew: s stands for s, s + 1, ..., s + N - 1; a sequence holds one for each environment.

        None keeps a generator that is there, and otherwise makes an unforeseeable one. Raises InputError
        for a sequence of another length.
        """
        if isinstance(seed, int | np.integer):
            seeds: Sequence[int | None] = [int(seed) + slot for slot in range(self._count)]
        else:
            seeds = [None] * self._count if seed is None else list(seed)
        if len(seeds) != self._count:
            raise InputError(f"expected {self._count} seeds, one for each environment, got {len(seeds)}")
        self._generators = [
            self._generators[slot] if one is None and self._generators else seeding.np_random(one)[0]
            for slot, one in enumerate(seeds)
        ]

    def require_seeded(self, what: str) -> None:
        """Raise ActionError before the first seeding; `what` runs in every environment."""
        if not self._generators:
            raise ActionError(f"expected a running {what} in every environment, got a step before reset")

    def save_state(self) -> list[np.random.Generator]:
        """Copies of the generators, which can be pickled; for `restore_state`."""
        return deepcopy(self._generators)

    def restore_state(self, saved: list[np.random.Generator]) -> None:
        """Draw on as the generators that `save_state` copied."""
        self._generators = deepcopy(saved)
