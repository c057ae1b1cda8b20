"""Losses of reinforcement and imitation: pure functions of tensors."""

from typing import Literal

import numpy as np
from jaxtyping import Bool, Float

from navarena.learning.storage import NO_LABEL
from navarena.learning.tensors import Tensor, torch


def average(terms: Tensor, weights: Tensor | None = None) -> Tensor:
    """The mean () of `terms` (T, N), each times its weight; those of weight 0 do not count in the number."""
    if weights is None:
        return terms.mean()
    return (terms * weights).sum() / (weights > 0).sum().clamp_min(1)


def policy_loss(
    log_probs: Tensor,
    old_log_probs: Tensor,
    advantages: Tensor,
    clip: float,
    weights: Tensor | None = None,
) -> Tensor:
    """PPO's clipped surrogate, () float32: -mean min(ratio A, clip(ratio, 1 - clip, 1 + clip) A).

    Args:
        log_probs: (T, N) float32, of the policy now.
        old_log_probs: (T, N) float32, when the actions were chosen.
        advantages: (T, N) float32.
        clip: bound of |ratio - 1|.
        weights: (T, N) float32, of `average`; None for 1.
    """
    ratio = (log_probs - old_log_probs).exp()
    gains = torch.minimum(ratio * advantages, ratio.clamp(1.0 - clip, 1.0 + clip) * advantages)
    return -average(gains, weights)


def value_loss(
    values: Tensor,
    old_values: Tensor,
    returns: Tensor,
    clip: float,
    reading: Literal["detached", "maximum", "none"],
    weights: Tensor | None = None,
) -> Tensor:
    """Half the mean squared error of values, () float32, clipped in one of two readings.

    "detached" (habitat-lab, rl/ppo/ppo.py 210-224): a value that moved by `clip` or more counts as the old
    one moved by clip, and gets no gradient. "maximum" (multiON, AllenAct): the larger of the two errors.

    Args:
        values: (T, N) float32, now.
        old_values: (T, N) float32, when the actions were chosen.
        returns: (T, N) float32.
        clip: bound of the change of a value.
        reading: see above; "none" clips nothing.
        weights: (T, N) float32, of `average`; None for 1.
    """
    if reading == "detached":
        change = (values - old_values).detach()
        values = torch.where(change.abs() < clip, values, old_values + change.clamp(-clip, clip))
    errors = (values - returns).square()
    if reading == "maximum":
        clipped = old_values + (values - old_values).clamp(-clip, clip)
        errors = torch.maximum(errors, (clipped - returns).square())
    return 0.5 * average(errors, weights)


def imitation_loss(log_probs: Tensor, labels: Tensor, weights: Tensor) -> Tensor:
    """Weighted cross-entropy over a batch, () float32: sum of w times -log p(label), over the sum of w.

    Args:
        log_probs: (T, N, A) float32, of all actions.
        labels: (T, N) int64; steps with NO_LABEL count nothing.
        weights: (T, N) float32.
    """
    counted = weights * (labels != NO_LABEL)
    return (counted * _cross_entropy(log_probs, labels)).sum() / counted.sum().clamp_min(1e-8)


def episode_imitation_loss(log_probs: Tensor, labels: Tensor, weights: Tensor) -> Tensor:
    """Imitation loss per episode, then the mean over episodes, () float32.

    As VLN-CE (base_il_trainer.py 204), where every column is one padded episode. Columns without labels do
    not count.

    Args:
        log_probs: (T, N, A) float32, of all actions.
        labels: (T, N) int64, NO_LABEL behind the end of an episode.
        weights: (T, N) float32.
    """
    counted = weights * (labels != NO_LABEL)
    total = counted.sum(0)
    own = (counted * _cross_entropy(log_probs, labels)).sum(0) / total.clamp_min(1e-8)
    return own.sum() / (total > 0).sum().clamp_min(1)


def actor_critic_loss(
    log_probs: Tensor,
    values: Tensor,
    entropies: Tensor,
    returns: Tensor,
    counted: Tensor,
    value_weight: float,
    entropy_weight: float,
) -> Tensor:
    """Loss of an actor and its critic (A2C), () float32, mean over the steps that count; 0 without one.

    -log p (R - V) + value_weight (R - V)^2 / 2 - entropy_weight H, no gradient through the first R - V: HAMT
    (finetune_src/r2r/agent_cmt.py, normalize_loss "total").

    Args:
        log_probs: (T, N) float32, of the actions that were taken.
        values: (T, N) float32, now.
        entropies: (T, N) float32, of the distributions.
        returns: (T, N) float32.
        counted: (T, N) bool.
        value_weight: see above.
        entropy_weight: see above.
    """
    errors = returns - values
    each = value_weight * 0.5 * errors.square() - log_probs * errors.detach() - entropy_weight * entropies
    return (each * counted).sum() / counted.sum().clamp_min(1)


def _cross_entropy(log_probs: Tensor, labels: Tensor) -> Tensor:
    return -log_probs.gather(-1, labels.clamp_min(0)[..., None])[..., 0]


def inflection_weights(labels: Tensor, previous: Tensor, mask: Tensor, coefficient: float) -> Tensor:
    """(T, N) float32: `coefficient` where a label differs from the one before, and at first steps; else 1.

    The formula of VLN-CE (dagger_trainer.py 202-213).

    Args:
        labels: (T, N) int64.
        previous: (N,) int64, the labels before the first step.
        mask: (T, N) bool, False where the step is the first of an episode.
        coefficient: such as steps per inflection in the data.
    """
    before = torch.cat((previous[None], labels[:-1]))
    return torch.where((labels != before) | ~mask, coefficient, 1.0)


def turn_inflection_weights(
    turns: Float[np.ndarray, "t"], stops: Bool[np.ndarray, "t"]
) -> Float[np.ndarray, "t"]:
    """(T,) float64 weights of the steps of one episode on a graph: steps per inflection where one is, else 1.

    The formula of the iterative R2R code (r2r/env.py): turns of more than 60 degrees and the stop are
    inflections; the first step is none.

    Args:
        turns: (T,) radians, changes of heading, not wrapped.
        stops: (T,) bool, whether the step stops.
    """
    inflections = (np.abs(turns) > np.radians(60.0)) | stops
    count = max(int(inflections.sum()), 1)
    return np.where(inflections, len(turns) / count, 1.0)
