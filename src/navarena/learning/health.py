"""Health checks of a training, from the lines of its log."""

from collections.abc import Mapping
from typing import Any

MAX_RATIO_ERROR = 1e-2
"""Of the ratio in the first minibatch from 1: beyond, acting and learning compute different things."""

MAX_KL = 0.1
"""Nats, of a policy's change in an update: clipped updates stay well below."""

LEAST_EXPLAINED = -0.5
"""Explained variance of values: 0 is what a constant explains, far below the critic misleads."""

LEAST_ENTROPY = 1e-3
"""Nats: a policy of discrete actions below it tries nothing any more."""


def describe_health(row: Mapping[str, Any]) -> list[str]:
    """Problems in `row`, a log line of kind "training", in words; empty if there are none."""
    found = []
    if row.get("ratio_error", 0.0) > MAX_RATIO_ERROR:
        found.append(f"ratio {row['ratio_error']:.2g} from 1 before the first step: acting is not learning")
    if row.get("kl", 0.0) > MAX_KL:
        found.append(f"KL {row['kl']:.2g}: the policy changes too fast, lower the rate")
    if row.get("explained_variance", 0.0) < LEAST_EXPLAINED:
        found.append(f"explained variance {row['explained_variance']:.2g}: the critic misleads")
    if "entropy" in row and 0 <= row["entropy"] < LEAST_ENTROPY:
        found.append(f"entropy {row['entropy']:.2g}: the policy tries nothing any more")
    return found
