"""Number of episodes that a comparison of two agents needs.

With n episodes the mean difference has the variance v / n. A two-sided test at the level a finds a true
difference d with the power 1 - b, in the normal approximation, from

    n = (z(1 - a/2) + z(1 - b))^2 v / d^2

on (Lachin 1981, "Introduction to sample size determination and power analysis for clinical trials",
Controlled Clinical Trials 2, pages 93 to 113). Paired, both agents run the same episodes, and v is the
variance of an episode's difference; unpaired, each has n episodes of its own, and v is the sum of the two
variances. Both count each episode as run once. Episodes in one scene resemble each other, which the formula
does not know.
"""

import math
from statistics import NormalDist

import numpy as np
from jaxtyping import Float

from navarena.core.errors import InputError
from navarena.metrics.repetitions import require_repetitions
from navarena.metrics.statistics import CONFIDENCE

POWER = 0.8
"""Share of the studies that shall find a difference that is there."""


def single_variance(values: Float[np.ndarray, "k n"]) -> float:
    """Variance of the value of an episode that is run once, from (K, N) values: K repetitions of N episodes.

    It is the sum of the two parts of split_variance, without the limit of 0 of the episodes' part, which
    makes it unbiased: the sample variance of the episodes' means, plus (1 - 1 / K) times the mean variance
    within an episode.

    Raises InputError as split_variance.
    """
    values = require_repetitions(values)
    within = float(values.var(0, ddof=1).mean())
    return float(values.mean(0).var(ddof=1)) + (1 - 1 / len(values)) * within


def needed_episodes(
    variance: float, difference: float, confidence: float = CONFIDENCE, power: float = POWER
) -> int:
    """Episodes after which a difference is found; the module's docstring has the formula.

    Args:
        variance: v, of one episode; at least 0.
        difference: d, of the means, above 0.
        confidence: 1 - a, of a two-sided test.
        power: 1 - b.

    At least 2: one episode has no variance. Raises InputError for other numbers.
    """
    if not (math.isfinite(variance) and variance >= 0 and difference > 0):
        raise InputError(
            f"expected a variance of at least 0 and a difference above 0, got {variance} and {difference}"
        )
    normal = NormalDist()
    z = normal.inv_cdf(0.5 + confidence / 2) + normal.inv_cdf(power)
    return max(2, math.ceil(z * z * variance / (difference * difference)))
