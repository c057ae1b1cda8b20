"""Random points, uniform over the area of the ground."""

import numpy as np
from jaxtyping import Float, Int

from navarena.core.arrays import Points
from navarena.core.errors import SceneError


def sample_ground(
    generator: np.random.Generator,
    pieces: Float[np.ndarray, "p 3 3"],
    areas: Float[np.ndarray, "p"],
    islands: Int[np.ndarray, "p"],
    count: int,
    island: int | None,
) -> Points:
    """(count, 3) points on the ground, metres, world frame; three uniform numbers are drawn per point.

    Args:
        generator: the only source of chance.
        pieces: (P, 3, 3) metres, corners of the pieces of the ground.
        areas: (P,) square metres.
        islands: (P,) island of each piece.
        count: how many points.
        island: keep to this island; None for all of them.

    Raises:
        SceneError: the island does not exist or has no area.
    """
    weights = areas if island is None else np.where(islands == island, areas, 0.0)
    total = np.cumsum(weights)
    if not total[-1] > 0:
        raise SceneError(
            f"expected an island with ground to draw from, got {island}; islands are 0 to {islands.max()}"
        )
    draws = generator.random((count, 3))
    chosen = np.searchsorted(total, draws[:, 0] * total[-1], side="right")
    chosen = np.minimum(chosen, int(np.flatnonzero(weights)[-1]))
    root = np.sqrt(draws[:, 1])
    shares = np.stack([1 - root, root * (1 - draws[:, 2]), root * draws[:, 2]], 1)
    return np.asarray((pieces[chosen] * shares[:, :, None]).sum(1))
