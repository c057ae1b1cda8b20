"""Random draws that give the same house on every machine.

Only `Generator.integers` and `Generator.random` are called: both are fixed by PCG64 alone
and involve no platform-dependent function.
"""

from collections.abc import Sequence
from typing import TypeVar

from navarena.core.seeding import make_generator

T = TypeVar("T")


class Draws:
    """A named stream of draws; see core.seeding for what a name is.

    Args:
        name: path of strings and integers; equal names give equal streams.
    """

    def __init__(self, *name: str | int) -> None:
        self._name = name
        self._generator = make_generator(*name)

    def branch(self, *name: str | int) -> "Draws":
        """An independent stream below this one; it depends on the names alone."""
        return Draws(*self._name, *name)

    def integer(self, low: int, high: int, step: int = 1) -> int:
        """A multiple of `step` above `low`: low, low + step, ... up to `high` at most."""
        return low + step * int(self._generator.integers(0, max(0, high - low) // step + 1))

    def chance(self, percent: int) -> bool:
        """True in `percent` of 100 cases."""
        return int(self._generator.integers(0, 100)) < percent

    def choose(self, choices: Sequence[T]) -> T:
        """Draw one of `choices` uniformly."""
        return choices[int(self._generator.integers(0, len(choices)))]

    def weighted(self, choices: Sequence[T], weights: Sequence[int]) -> T:
        """Draw one of `choices` with probability proportional to its integer weight."""
        ticket = int(self._generator.integers(0, sum(weights)))
        for choice, weight in zip(choices, weights, strict=True):
            ticket -= weight
            if ticket < 0:
                return choice
        raise AssertionError("weights sum to the number of tickets")

    def shuffled(self, items: Sequence[T]) -> list[T]:
        """All `items` in random order (Fisher-Yates)."""
        result = list(items)
        for i in range(len(result) - 1, 0, -1):
            j = int(self._generator.integers(0, i + 1))
            result[i], result[j] = result[j], result[i]
        return result
