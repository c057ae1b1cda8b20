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
    """
    goes_on = (~ended).float()
    gained = rewards if cut_values is None else rewards + discount * cut_values
    advantages = torch.zeros_like(rewards)
    following, later = next_values, torch.zeros_like(next_values)
    for step in range(len(rewards) - 1, -1, -1):
        delta = gained[step] + discount * following * goes_on[step] - values[step]
        later = delta + discount * trace * goes_on[step] * later
        advantages[step] = later
        following = values[step]
    return advantages


def normalise_advantages(
    advantages: Tensor, kind: Literal["none", "variance", "deviation"], processes: Processes = ALONE
) -> Tensor:
    """(T, N) `advantages` with mean 0 and scale 1, as `PPOSettings.normalise` names the formulas.

    Mean and scale are those of the advantages of all `processes`, however many steps each has.
    """
    if kind == "none":
        return advantages
    total = torch.stack((advantages.sum(), torch.full_like(advantages.sum(), advantages.numel())))
    total, count = processes.add_up(total)
    centred = advantages - total / count
    squares = processes.add_up(centred.square().sum())
    if kind == "variance":
        return centred * torch.rsqrt(squares / count + 1e-5)
    return centred / ((squares / (count - 1)).sqrt() + 1e-5)


def explained_variance(values: Tensor, returns: Tensor) -> float:
    """1 - var(returns - values) / var(returns): 1 for perfect `values` (T, N) of `returns` (T, N), 0 for a
    constant, below 0 for worse; 0 where all returns are equal.
    """
    spread = float(returns.var(correction=0))
    return 1.0 - float((returns - values).var(correction=0)) / spread if spread > 0 else 0.0
