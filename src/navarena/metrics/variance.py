"""Where the variance of a mean comes from: other episodes, or another roll of the agent's dice.

The same N episodes are run K times. Values are modelled as x_kn = mean + episode_n + agent_kn; the two
variances are estimated by one-way analysis of variance with random effects:

    agent    mean over episodes of the sample variance within an episode
    episode  (sample variance of the episodes' means) - agent / K, at least 0
"""

import math
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from navarena.core.errors import InputError


@dataclass(frozen=True)
class VarianceSplit:
    """The two parts, and what they mean for a reported mean.

    Attributes:
        mean: over everything.
        episode: variance between episodes.
        agent: variance between repetitions of one episode.
        standard_error: of the mean over these N episodes and K repetitions.
        single_error: of a mean over N episodes run once.
        spread: sample standard deviation of the K means: what a reader of K single runs sees.
        n, repeats: N and K.
    """

    mean: float
    episode: float
    agent: float
    standard_error: float
    single_error: float
    spread: float
    n: int
    repeats: int

    @property
    def agent_share(self) -> float | None:
        """Share of an episode's variance that is the agent's, in [0, 1]; None without any variance."""
        total = self.agent + self.episode
        return self.agent / total if total > 0.0 else None


def split_variance(values: Float[np.ndarray, "k n"]) -> VarianceSplit:
    """Split the variance of (K, N) values: K repetitions of N episodes, K and N at least 2.

    Raises InputError for fewer, and for values that are not finite.
    """
    values = np.asarray(values, np.float64)
    if values.ndim != 2 or min(values.shape) < 2:
        raise InputError(f"expected at least 2 repetitions of 2 episodes, got values of shape {values.shape}")
    if not np.isfinite(values).all():
        raise InputError("expected finite values, got infinity or NaN; leave those episodes out")
    repeats, n = values.shape
    agent = float(values.var(0, ddof=1).mean())
    episode = max(0.0, float(values.mean(0).var(ddof=1)) - agent / repeats)
    return VarianceSplit(
        mean=float(values.mean()),
        episode=episode,
        agent=agent,
        standard_error=math.sqrt(episode / n + agent / (n * repeats)),
        single_error=math.sqrt((episode + agent) / n),
        spread=float(values.mean(1).std(ddof=1)),
        n=n,
        repeats=repeats,
    )
