"""Choice of training images that balances the frequency of classes."""

import numpy as np
from jaxtyping import Float, Int64, UInt8


def count_classes(classes: UInt8[np.ndarray, "k h w"], count: int) -> Int64[np.ndarray, "k c"]:
    """(K, C) int64: how many pixels of each image show each of `count` (C) classes."""
    rows = np.arange(len(classes))[:, None] * count
    flat = rows + classes.reshape(len(classes), -1)
    return np.bincount(flat.reshape(-1), minlength=len(classes) * count).reshape(-1, count)


def choose_images(
    shares: Float[np.ndarray, "m c"], count: int, min_share: float, generator: np.random.Generator
) -> Int64[np.ndarray, "k"]:
    """(K,) indices, ascending, of `count` of M candidates: every class but the first takes one in turn.

    A class draws among those in which it fills `min_share` of the pixels, with probability by the root of its
    share; when no class can take any more, the others are drawn alike.

    Args:
        shares: (M, C) shares of the pixels of each candidate that show each class.
        count: K, at most M.
        min_share: share from which a class counts as seen.
        generator: draws.
    """
    free = np.ones(len(shares), bool)
    weights = np.where(shares >= min_share, np.sqrt(shares), 0.0)
    weights[:, 0] = 0.0
    while count > (taken := int((~free).sum())):
        for number in np.flatnonzero((weights * free[:, None]).sum(0) > 0).tolist():
            chances = weights[:, number] * free
            if taken == count or not chances.any():
                continue
            free[generator.choice(len(shares), p=chances / chances.sum())] = False
            taken += 1
        if not (weights * free[:, None]).any() and taken < count:
            rest = generator.choice(np.flatnonzero(free), count - taken, replace=False)
            free[rest] = False
    return np.flatnonzero(~free)
