"""Fast normal numbers against the distribution they stand for."""

import numpy as np
from scipy import stats

from navarena.core.seeding import make_generator
from navarena.corruptions.normals import draw_normals


def test_numbers_are_normal_and_independent() -> None:
    drawn = draw_normals(make_generator("normals"), 1000, 1000)
    assert drawn.dtype == np.float32 and drawn.shape == (1000, 1000)
    assert stats.kstest(drawn.ravel(), "norm").pvalue > 0.01
    moments = [float(np.mean(drawn.astype(np.float64) ** power)) for power in (1, 2, 3, 4)]
    assert np.allclose(moments, [0, 1, 0, 3], atol=0.03), moments
    assert abs(np.corrcoef(drawn[:, :-1].ravel(), drawn[:, 1:].ravel())[0, 1]) < 0.01
    assert 4 < np.abs(drawn).max() < 4.34


def test_same_generator_same_numbers() -> None:
    first, second, other = (draw_normals(make_generator("n", k), 50) for k in (1, 1, 2))
    assert np.array_equal(first, second) and not np.array_equal(first, other)
