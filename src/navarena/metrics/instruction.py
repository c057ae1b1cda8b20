"""Numbers of one instruction-following episode: a walked path beside the path that was described.

Pure functions of distances in metres. Notation:

    P      walked path of N points, R reference path of M points
    L_P    length of P: the sum of the distances between consecutive points (TL)
    L_R    length of R, likewise
    d      (N,) shortest distance from each walked point to the goal
    d_0    shortest distance from the start to the goal

Distances are geodesic on the navigation graph for R2R, Euclidean or geodesic in continuous scenes.

Edge cases, decided once for all of them:

* A goal that cannot be reached (infinite d): failure; success, SPL, sDTW are 0, nDTW is 0, NE is infinite.
* Reference length 0: the path factor of SPL is 1 for a body that never moved and 0 for one that
  did; IVLN defines it as 0 (its reference code divides 0 by 0.01).
* Empty paths and NaN raise InputError.
"""

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
from jaxtyping import Float

from navarena.core.elementary import exp
from navarena.core.errors import InputError
from navarena.metrics.alignment import Costs, dtw, require_costs
from navarena.metrics.navigation import path_factor

SUCCESS_DISTANCE = 3.0
"""Metres; Anderson et al. 2018, "Vision-and-Language Navigation", section 3; nearer is strict."""

MIN_LENGTH = 0.01
"""Metres; the IVLN reference evaluation's guard against a division by 0."""

SplReference = Literal["shortest", "path"]
"""Length by which SPL is normalised: "shortest" d_0 (official R2R), "path" L_R (IVLN)."""


@dataclass(frozen=True)
class PathScores:
    """Scores of one episode.

    Attributes:
        length: L_P, metres (TL).
        path_steps: consecutive points less one.
        navigation_error: metres from the last point to the goal (NE).
        oracle_error: metres from the nearest point to the goal.
        success: 0 or 1 (SR).
        oracle_success: 0 or 1 (OSR).
        spl: success weighted by path length.
        ndtw: normalised dynamic time warping.
        sdtw: success times ndtw.
        cls: coverage weighted by length score.
    """

    length: float
    path_steps: int
    navigation_error: float
    oracle_error: float
    success: float
    oracle_success: float
    spl: float
    ndtw: float
    sdtw: float
    cls: float


def path_success(
    goal_distances: Float[np.ndarray, "n"], stopped: bool = True, threshold: float = SUCCESS_DISTANCE
) -> float:
    """1.0 if the agent stopped and the last of d (N,), metres, is strictly below `threshold`, else 0.0."""
    return float(stopped and goal_distances[-1] < threshold)


def oracle_success(goal_distances: Float[np.ndarray, "n"], threshold: float = SUCCESS_DISTANCE) -> float:
    """1.0 if any of d (N,), metres, is strictly below `threshold`, else 0.0."""
    return float(goal_distances.min() < threshold)


def path_spl(
    success: float,
    length: float,
    reference_length: float,
    min_length: float = 0.0,
) -> float:
    """Success * reference / max(walked, reference, least), lengths in metres; in [0, 1].

    Official R2R: `reference_length` is d_0, `min_length` is 0. IVLN: L_R and MIN_LENGTH.
    """
    if not np.isfinite(reference_length):
        return 0.0
    return success * path_factor(reference_length, max(length, min_length))


def ndtw(costs: Costs, threshold: float = SUCCESS_DISTANCE) -> float:
    """exp(-DTW / (threshold * M)) of distances (N, M) in metres; in [0, 1]."""
    require_threshold(threshold)
    return math.exp(-dtw(costs) / (threshold * costs.shape[1]))


def require_threshold(threshold: float) -> None:
    """Raise InputError for a threshold (metres) by which no distance can be divided."""
    if not threshold > 0:
        raise InputError(f"expected a threshold above 0 m, got {threshold}")


def coverage_length_score(
    costs: Costs, length: float, reference_length: float, threshold: float = SUCCESS_DISTANCE
) -> float:
    """CLS = PC * LS (Jain et al. 2019, "Stay on the Path"), in [0, 1].

    PC is the mean over reference points of exp(-(distance to the nearest walked point) /
    threshold); with EPL = PC * L_R, LS = EPL / (EPL + |EPL - L_P|), and 1 when both are 0.

    Args:
        costs: (N, M) metres from walked to reference points.
        length: L_P, metres.
        reference_length: L_R, metres.
        threshold: metres.

    Raises InputError for lengths below 0 m and for numbers that are not finite.
    """
    require_threshold(threshold)
    if not (0 <= length < math.inf and 0 <= reference_length < math.inf):
        raise InputError(f"expected finite lengths of at least 0 m, got {length} and {reference_length}")
    coverage = float(exp(-costs.min(0) / threshold).mean())
    expected = coverage * reference_length
    whole = expected + abs(expected - length)
    return coverage * (1.0 if whole == 0.0 else expected / whole)


def score_path(
    costs: Costs,
    goal_distances: Float[np.ndarray, "n"],
    length: float,
    reference_length: float,
    start_distance: float,
    stopped: bool = True,
    spl_reference: SplReference = "shortest",
    threshold: float = SUCCESS_DISTANCE,
) -> PathScores:
    """All numbers of one episode.

    Args:
        costs: (N, M) metres from walked to reference points.
        goal_distances: (N,) metres from walked points to the goal, d.
        length: L_P, metres.
        reference_length: L_R, metres.
        start_distance: d_0, metres.
        stopped: whether the agent ended the episode itself; R2R's official evaluation does not ask.
        spl_reference: length by which SPL is normalised.
        threshold: metres.

    Raises InputError for empty paths, NaN or negative distances.
    """
    costs = require_costs(costs)
    distances = np.asarray(goal_distances, np.float64)
    if distances.shape != (len(costs),) or not (distances >= 0).all():
        raise InputError(
            f"expected ({len(costs)},) distances to the goal of at least 0 m, got {distances.shape} "
            f"with least {distances.min() if distances.size else None}"
        )
    success = path_success(distances, stopped, threshold)
    official = spl_reference == "shortest"
    warped = ndtw(costs, threshold)
    return PathScores(
        length=float(length),
        path_steps=len(costs) - 1,
        navigation_error=float(distances[-1]),
        oracle_error=float(distances.min()),
        success=success,
        oracle_success=oracle_success(distances, threshold),
        spl=path_spl(
            success,
            length,
            start_distance if official else reference_length,
            0.0 if official else MIN_LENGTH,
        ),
        ndtw=warped,
        sdtw=success * warped,
        cls=coverage_length_score(costs, length, reference_length, threshold),
    )
