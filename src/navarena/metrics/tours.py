"""Numbers of tours (Krantz et al. 2023, "Iterative Vision-and-Language Navigation"): t-nDTW, t-SR, t-SPL,
coverage.

t-nDTW aligns the concatenated paths of a tour, with infinite distance between points of different
episodes. A finite alignment of the whole can therefore leave an episode's block only through its
last corner and enter the next only through its first: its cost is the sum of the costs of the
episodes' own alignments. That is how it is computed; the tests compare it with the whole table.

Two readings:

* "paper": as just said.
* "code": as the reference's window. At every border between episodes k and k + 1, the last
  reference point of k is matched by the last walked point of k alone, and the first reference point
  of k + 1 by the first walked point of k + 1 alone. It equals "paper" for a perfect path, one that
  stops early, and a body that never moves, and is stricter otherwise. Some episodes have no such
  alignment (InputError): in a tour of several, one reference point and two walked ones or more;
  between two others, two reference points and three walked ones or more.

Two weightings of tours with n_i episodes: "episodes" n_i (paper, discrete code), "changes" n_i - 1
(continuous code, which counts the changes of the episode id along a tour).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from jaxtyping import Bool, Float, Int

from navarena.core.errors import InputError
from navarena.metrics.alignment import Costs, dtw, dtw_alignment, require_costs
from navarena.metrics.instruction import SUCCESS_DISTANCE, require_threshold

Reading = Literal["code", "paper"]
Weighting = Literal["episodes", "changes"]


@dataclass(frozen=True)
class TourScoring:
    """Settings of the scores of tours.

    Attributes:
        reading: of t-nDTW.
        weighting: of t-nDTW over tours; t-SR and t-SPL always weigh by episodes.
    """

    reading: Reading = "code"
    weighting: Weighting = "episodes"


TourCosts = Sequence[Float[np.ndarray, "_ _"]]
"""For each episode, (N, M) metres from walked to reference points."""


def constrain_costs(costs: Costs, is_first: bool, is_last: bool) -> Costs:
    """(N, M) metres of one episode with what the "code" reading forbids made infinite.

    Args:
        costs: (N, M) metres from walked to reference points.
        is_first: whether the episode begins its tour; then its first reference point is free.
        is_last: whether it ends its tour; then its last reference point is free.
    """
    table = np.array(costs, np.float64)
    if not is_first:
        table[1:, 0] = np.inf
    if not is_last:
        table[:-1, -1] = np.inf
    return table


def _episode_costs(costs: TourCosts, reading: Reading) -> list[Float[np.ndarray, "_ _"]]:
    if not costs:
        raise InputError("expected at least one episode in a tour, got none")
    tables = [require_costs(table) for table in costs]
    if reading == "paper":
        return tables
    last = len(tables) - 1
    bound = [constrain_costs(table, k == 0, k == last) for k, table in enumerate(tables)]
    for k, (table, free) in enumerate(zip(bound, tables)):
        if np.isfinite(free).all() and not np.isfinite(dtw(table)):
            raise InputError(
                f"expected an alignment of episode {k} of a tour in the 'code' reading, got none "
                f"for {np.shape(free)[0]} walked and {np.shape(free)[1]} reference points; use 'paper'"
            )
    return bound


def tour_dtw(costs: TourCosts, reading: Reading = "code") -> float:
    """Metres: cost of the best alignment of a whole tour; infinite where points cannot be reached.

    Args:
        costs: for each episode, (N, M) metres from walked to reference points.
        reading: see the module's docstring.
    """
    return float(sum(dtw(table) for table in _episode_costs(costs, reading)))


def tour_ndtw(
    costs: TourCosts,
    reading: Reading = "code",
    threshold: float = SUCCESS_DISTANCE,
    reference_points: int | None = None,
) -> float:
    """exp(-DTW / (threshold * |R|)) of one tour, in [0, 1].

    Args:
        costs: for each episode, (N, M) metres from walked to reference points.
        reading: see the module's docstring.
        threshold: metres.
        reference_points: |R| if it is not the number of columns: the continuous reference code
            counts every step of the reference, turns in place included.
    """
    require_threshold(threshold)
    points = sum(table.shape[1] for table in costs) if reference_points is None else reference_points
    return math.exp(-tour_dtw(costs, reading) / (threshold * points))


def tour_alignment(costs: TourCosts, reading: Reading = "code") -> list[Int[np.ndarray, "k 2"]]:
    """For each episode, (K, 2) indices (walked, reference) of a best alignment within the episode.

    Args:
        costs: for each episode, (N, M) metres from walked to reference points.
        reading: see the module's docstring.
    """
    return [dtw_alignment(table) for table in _episode_costs(costs, reading)]


def tour_weights(episodes: Sequence[int], weighting: Weighting = "episodes") -> Float[np.ndarray, "t"]:
    """(T,) weights, not normalised, of tours with that many episodes.

    Raises InputError when all are 0 (no tour, or "changes" with single episodes only).
    """
    counts = np.asarray(episodes, np.float64) - (1.0 if weighting == "changes" else 0.0)
    if counts.size == 0 or counts.sum() <= 0 or (counts < 0).any():
        raise InputError(
            f"expected tours whose weights ({weighting}) have a positive sum, got {len(episodes)} tours of "
            f"{list(episodes)[:5]} episodes; use the weighting 'episodes'"
        )
    return counts


def mean_over_tours(
    values: Sequence[float], episodes: Sequence[int], weighting: Weighting = "episodes"
) -> float:
    """Weighted mean of one value per tour, such as its nDTW; t-nDTW is this over `tour_ndtw`.

    Raises InputError as `tour_weights`.
    """
    weights = tour_weights(episodes, weighting)
    return float(weights @ np.asarray(values, np.float64) / weights.sum())


@dataclass(frozen=True)
class TourSuccess:
    """Success of one tour, its episodes weighted by max(L_R, L_P) / L_R.

    Attributes:
        success: in [0, 1] (t-SR of one tour).
        spl: in [0, 1] (t-SPL of one tour).
    """

    success: float
    spl: float


def tour_success(
    success: Float[np.ndarray, "e"],
    spl: Float[np.ndarray, "e"],
    lengths: Float[np.ndarray, "e"],
    reference_lengths: Float[np.ndarray, "e"],
) -> TourSuccess:
    """Weighted means over the episodes (E) of one tour, as the discrete reference code prints them.

    Args:
        success: (E,) 0 or 1.
        spl: (E,) in [0, 1].
        lengths: (E,) metres walked, L_P.
        reference_lengths: (E,) metres, L_R; an episode with 0 weighs 1.
    """
    reference = np.asarray(reference_lengths, np.float64)
    longer = np.maximum(reference, lengths)
    weights = np.divide(longer, reference, out=np.ones_like(longer), where=reference > 0)
    weights = weights / weights.sum()
    return TourSuccess(float(weights @ success), float(weights @ spl))


@dataclass(frozen=True)
class TourCoverage:
    """Coverage before each of the E episodes of a tour (Krantz et al. 2023, figure 2b).

    Attributes:
        next_path: (E,) share, in [0, 1], of what the described path of the episode shows.
        whole_tour: (E,) share, in [0, 1], of what the described paths of the tour show together.
    """

    next_path: Float[np.ndarray, "e"]
    whole_tour: Float[np.ndarray, "e"]


def tour_coverage(
    shown: Sequence[Bool[np.ndarray, "..."]], seen: Sequence[Bool[np.ndarray, "..."]]
) -> TourCoverage:
    """Shares of what described paths show that were seen before each of the E episodes of a tour.

    Args:
        shown: E arrays (...,) of cells of a scene or nodes of a graph: those that the described path of the
            episode shows.
        seen: E arrays of the same shape: what was seen before the episode began.

    Raises InputError without episodes, and for a path that shows nothing.
    """
    if not shown or len(shown) != len(seen):
        raise InputError(
            f"expected as many maps of what was seen as of described paths, at least one, got {len(seen)} "
            f"and {len(shown)}"
        )
    for place, own in enumerate(shown):
        if not own.any():
            raise InputError(
                f"expected every described path to show something, got nothing in episode {place}"
            )
    whole = np.logical_or.reduce(shown)
    following = [(own & before).sum() / own.sum() for own, before in zip(shown, seen, strict=True)]
    return TourCoverage(
        np.array(following), np.array([(whole & before).sum() / whole.sum() for before in seen])
    )
