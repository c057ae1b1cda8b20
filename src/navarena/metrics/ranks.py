"""Agreement of rankings of agents between metrics, halves of the episodes, repetitions and small studies.

Values are (A, K, N): A agents, K repetitions of the same N episodes. In repetition k an episode has the same
noise for every agent.
"""

import itertools

import numpy as np
from jaxtyping import Float

from navarena.core.errors import InputError

STUDIES = 1_000
"""Resampled studies: a share of one half is known to 1.6 points (one standard error)."""

SPLITS = 200
"""Random splits of the episodes into halves."""


def kendall_tau(first: Float[np.ndarray, "a"], second: Float[np.ndarray, "a"]) -> float | None:
    """Agreement of two rankings of A agents by their scores, in [-1, 1] (Kendall 1945, tau-b, with ties).

    Pairs in the same order minus pairs in opposite orders, divided by the geometric mean of the numbers of
    pairs that are not tied in the first and in the second. None where a ranking ties all. InputError for
    fewer than two agents, for other numbers of them, and for NaN.
    """
    first, second = np.asarray(first, np.float64), np.asarray(second, np.float64)
    if first.ndim != 1 or first.shape != second.shape or first.size < 2:
        raise InputError(
            f"expected two scores or more of the same agents, got shapes {first.shape} and {second.shape}"
        )
    if np.isnan(first).any() or np.isnan(second).any():
        raise InputError("expected numbers to rank agents by, got NaN")
    one, two = pair_signs(first), pair_signs(second)
    untied = float(np.abs(one).sum() * np.abs(two).sum())
    return float((one * two).sum() / np.sqrt(untied)) if untied else None


def pair_signs(scores: Float[np.ndarray, "*s a"]) -> Float[np.ndarray, "*s p"]:
    """(..., P) for the P = A (A - 1) / 2 pairs of agents, in the order of itertools.combinations: 1 where
    the first one has the higher score, -1 where the second one, 0 for a tie.
    """
    pairs = list(itertools.combinations(range(scores.shape[-1]), 2))
    first, second = (list(places) for places in zip(*pairs, strict=True))
    signs: Float[np.ndarray, "*s p"] = np.sign(scores[..., first] - scores[..., second])
    return signs


def tau_of_repetitions(values: Float[np.ndarray, "a k n"]) -> float | None:
    """Mean of kendall_tau over the pairs of repetitions of (A, K, N) scores, each ranking by its means.

    None where no repetition ranks anything. Raises InputError for fewer than two agents, and values that are
    not finite.
    """
    means = _require_agents(values).mean(2)
    return _mean(
        [kendall_tau(means[:, k], means[:, m]) for k, m in itertools.combinations(range(means.shape[1]), 2)]
    )


def tau_of_halves(
    values: Float[np.ndarray, "a k n"], generator: np.random.Generator, splits: int = SPLITS
) -> float | None:
    """Mean of kendall_tau between two halves of the episodes of (A, K, N) scores, over random splits.

    What two studies of N / 2 episodes each, with no episode in common, agree in: each half is ranked by one
    repetition, drawn for it. Of an odd number one episode is left out. None where no split ranks anything.
    """
    _, repeats, n = _require_agents(values).shape
    if n < 2:
        raise InputError(f"expected at least 2 episodes to halve, got {n}")
    taus = []
    for _ in range(splits):
        order = generator.permutation(n)
        drawn = generator.integers(0, repeats, 2)
        halves = (order[: n // 2], order[n // 2 : 2 * (n // 2)])
        first, second = (values[:, k][:, half].mean(1) for k, half in zip(drawn, halves, strict=True))
        taus.append(kendall_tau(first, second))
    return _mean(taus)


def share_in_order(
    values: Float[np.ndarray, "a k n"], count: int, generator: np.random.Generator, studies: int = STUDIES
) -> Float[np.ndarray, "p"]:
    """(P,) for each pair of agents, the share of resampled studies that rank it as all values do.

    A study draws `count` pairs of an episode and a repetition, with replacement, the same for all agents. A
    tie in a study is not in order. NaN for a pair that is tied over all values. Pairs are in the order of
    pair_signs.
    """
    agents = len(_require_agents(values))
    if count < 1 or studies < 1:
        raise InputError(f"expected at least 1 episode and 1 study, got {count} and {studies}")
    cells = values.reshape(agents, -1)
    drawn = (
        generator.integers(0, cells.shape[1], (studies, count)) + cells.shape[1] * np.arange(studies)[:, None]
    )
    counts = np.bincount(drawn.ravel(), minlength=studies * cells.shape[1]).reshape(studies, -1)
    true = pair_signs(cells.mean(1))
    kept = (pair_signs(counts @ cells.T) == true).mean(0)
    return np.where(true == 0, np.nan, kept)


def _require_agents(values: Float[np.ndarray, "a k n"]) -> Float[np.ndarray, "a k n"]:
    if values.ndim != 3 or len(values) < 2 or not values.size or not np.isfinite(values).all():
        raise InputError(
            f"expected finite values (agents, repetitions, episodes) of 2 agents, got {values.shape}"
        )
    return values


def _mean(taus: list[float | None]) -> float | None:
    known = [tau for tau in taus if tau is not None]
    return float(np.mean(known)) if known else None
