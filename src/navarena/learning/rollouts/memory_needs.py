"""Memory that a training needs: what its rollouts take, and what to lower where there is too little."""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import numpy as np

from navarena.core.errors import InputError
from navarena.learning.inputs import InputSpec
from navarena.learning.recipes.recipe import Recipe

_REFUSALS = ("can't allocate memory", "out of memory", "not enough memory")
"""What PyTorch says where it gets none."""


def rollout_bytes(recipe: Recipe, inputs: Sequence[InputSpec]) -> int:
    """Bytes of the observations in a rollout of `recipe`, which dominate memory before learning."""
    each = sum(int(np.prod(one.shape)) * np.dtype(one.dtype).itemsize for one in inputs)
    return each * recipe.slots * recipe.stored_steps


def total_bytes() -> int | None:
    """Bytes of memory of this machine; None where it does not say."""
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):
        return None


@contextmanager
def telling_memory_needs(
    recipe: Recipe, inputs: Sequence[InputSpec] = (), checks: bool = False
) -> Iterator[None]:
    """Turn a MemoryError in the block into an InputError that names the recipe's needs and remedies.

    Args:
        recipe: of the training.
        inputs: of its policy; none where they are not known yet.
        checks: whether to look first, since a system may grant what it does not have.
    """
    needed = rollout_bytes(recipe, inputs)
    rollout = f"{recipe.slots} slots x {recipe.steps} steps"
    alone = f"the observations of {rollout} alone take {needed / 1e9:.2f} GB" if needed else rollout
    advice = (
        f"{alone}; lower slots, steps, image_size or the sizes of the policy, or raise method.minibatches, "
        "by --slots=N"
    )
    total = total_bytes() if checks else None
    if total is not None and needed > total:
        raise InputError(f"there is too little memory, {total / 1e9:.2f} GB: {advice}")
    try:
        yield
    except MemoryError as error:
        raise InputError(f"there is too little memory: {advice}") from error
    except RuntimeError as error:  # PyTorch has no kind of its own for the processor
        if not any(words in str(error) for words in _REFUSALS):
            raise
        raise InputError(f"there is too little memory: {advice}") from error
