"""Returns and advantages of rollouts."""

from typing import Literal

from navarena.learning.distributed import ALONE, Processes
from navarena.learning.tensors import Tensor, torch


def compute_advantages(
    rewards: Tensor,
    values: Tensor,
    next_values: Tensor,
    ended: Tensor,
    discount: float,
    trace: float,
    cut_values: Tensor | None = None,
    lengths: Tensor | None = None,
) -> Tensor:
    """(T, N) float32: generalised advantage estimates; returns are these plus `values`.

    delta_t = r_t + discount V_(t+1) - V_t and A_t = delta_t + discount trace A_(t+1); nothing crosses an end.

    Args:
        rewards: (T, N) float32.
        values: (T, N) float32.
        next_values: (N,) float32, values of the observations after the last step.
        ended: (T, N) bool, whether the episode ended with the step, in any way.
        discount: gamma.
        trace: lambda.
        cut_values: (T, N) float32, values of what truncated episodes showed last, 0 elsewhere: what is
            still to come there. None counts truncations as ends that bring no more.
        lengths: (N,) int64, steps of each slot; what comes behind them gets no advantage. None for T.
    """
    goes_on = (~ended).float()
    gained = rewards if cut_values is None else rewards + discount * cut_values
    advantages = torch.zeros_like(rewards)
    following, later = next_values, torch.zeros_like(next_values)
    for step in range(len(rewards) - 1, -1, -1):
        if lengths is not None:
            following = torch.where(step < lengths - 1, following, next_values)
            later = torch.where(step < lengths - 1, later, 0.0)
        delta = gained[step] + discount * following * goes_on[step] - values[step]
        later = delta + discount * trace * goes_on[step] * later
        advantages[step] = later
        following = values[step]
    if lengths is not None:
        advantages[torch.arange(len(rewards), device=lengths.device)[:, None] >= lengths] = 0.0
    return advantages


def weigh_lengths(lengths: Tensor, steps: int) -> Tensor:
    """(T, N) float32: weight of each step of slots of unequal `lengths` (N,); 0 behind them.

    A slot that has n steps counts as min(1, mean / n) for each, so that fast slots do not outweigh the others
    (VER: (T + 1) / n of habitat-lab, rl/ppo/ppo.py 226-236, whose n counts the step behind the last, too).

    Args:
        lengths: (N,) int64, at least 1 in the mean.
        steps: T.
    """
    each = (lengths.float().mean() / lengths.clamp(min=1)).clamp(max=1.0)
    return torch.where(torch.arange(steps, device=lengths.device)[:, None] < lengths, each, 0.0)


def normalise_advantages(
    advantages: Tensor,
    kind: Literal["none", "variance", "deviation"],
    processes: Processes = ALONE,
    counted: Tensor | None = None,
) -> Tensor:
    """(T, N) `advantages` with mean 0 and scale 1, as `PPOSettings.normalise` names the formulas.

    Mean and scale are those of the advantages of all `processes`, however many steps each has.

    Args:
        advantages: (T, N) float32.
        kind: of the formula.
        processes: that learn together.
        counted: (T, N) bool, those that mean and scale are of; None for all.
    """
    if kind == "none":
        return advantages
    own = advantages if counted is None else advantages[counted]
    total = torch.stack((own.sum(), torch.full_like(own.sum(), own.numel())))
    total, count = processes.add_up(total)
    count = count.clamp_min(1)
    centred = advantages - total / count
    squares = processes.add_up((own - total / count).square().sum())
    if kind == "variance":
        return centred * torch.rsqrt(squares / count + 1e-5)
    return centred / ((squares / (count - 1).clamp_min(1)).sqrt() + 1e-5)


def explained_variance(values: Tensor, returns: Tensor) -> float:
    """1 - var(returns - values) / var(returns): 1 for perfect `values` (T, N) of `returns` (T, N), 0 for a
    constant, below 0 for worse; 0 where all returns are equal, or there are none.
    """
    spread = float(returns.var(correction=0)) if returns.numel() else 0.0
    return 1.0 - float((returns - values).var(correction=0)) / spread if spread > 0 else 0.0
