"""Optimiser steps for one rollout, by PPO and by imitation."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Literal, NamedTuple

import numpy as np

from navarena.core.errors import InputError
from navarena.learning.auxiliaries.heads import judge_fragment
from navarena.learning.auxiliaries.proxies import proxy_loss
from navarena.learning.checkpoints.policies import AUXILIARIES
from navarena.learning.distributed import ALONE, Processes
from navarena.learning.graph_policy import GraphPolicy
from navarena.learning.losses import actor_critic_loss, average, imitation_loss, policy_loss, value_loss
from navarena.learning.networks.heads import Categorical
from navarena.learning.networks.normaliser import RunningNormaliser
from navarena.learning.policy import Policy
from navarena.learning.rollouts.returns import (
    compute_advantages,
    explained_variance,
    normalise_advantages,
    weigh_lengths,
)
from navarena.learning.settings import ImitationSettings, OptimiserSettings, PPOSettings
from navarena.learning.storage import NO_LABEL, Fragment, Rollout
from navarena.learning.tensors import Tensor, torch
from navarena.learning.trainings.inflections import count_inflections

Statistics = dict[str, float]
"""Name -> mean over the minibatches of an update."""

Loss = Callable[[Fragment, Tensor], tuple[Tensor, Statistics]]
"""A minibatch and its slots (K,) -> its loss, and what is logged of it."""


def make_optimiser(policy: Policy, settings: OptimiserSettings, has_ramp: bool = False) -> Any:
    """Adam over all parameters of `policy`; where `has_ramp`, in two groups, what `_is_new` apart."""
    groups: Any = policy.parameters()
    if has_ramp:
        named = list(policy.named_parameters())
        groups = [
            {"params": [one for name, one in named if not _is_new(name)], "has_ramp": True},
            {"params": [one for name, one in named if _is_new(name)], "has_ramp": False},
        ]
    return torch.optim.AdamW(
        groups,
        lr=settings.rate.first,
        eps=settings.epsilon,
        weight_decay=settings.weight_decay,
        fused=True,
    )


def _is_new(name: str) -> bool:
    """Whether a parameter may be random still where all others were imitated.

    Such are the value's last layer and the heads of auxiliary losses.
    """
    return name.startswith(("critic.", AUXILIARIES))


def deal_slots(
    slots: int, minibatches: int, order: Literal["shuffled", "ranges"], generator: np.random.Generator
) -> Iterator[Tensor]:
    """The slots (K,) int64 of each minibatch of an epoch: whole rows of a rollout, each slot once.

    Args:
        slots: N.
        minibatches: of nearly equal sizes; not more than N.
        order: as of PPOSettings.
        generator: shuffles.

    Raises InputError for more minibatches than slots.
    """
    if minibatches > slots:
        raise InputError(f"expected at most {slots} minibatches of {slots} slots, got {minibatches}")
    if order == "shuffled":
        parts = np.array_split(generator.permutation(slots), minibatches)
    else:
        ranges = np.array_split(np.arange(slots), minibatches)
        parts = [ranges[one] for one in generator.permutation(minibatches).tolist()]
    for part in parts:
        yield torch.from_numpy(part.astype(np.int64))


def update_ppo(
    policy: Policy,
    optimiser: Any,
    rollout: Rollout,
    settings: PPOSettings,
    done: float,
    generator: np.random.Generator,
    processes: Processes = ALONE,
) -> Statistics:
    """Learn from one rollout by PPO; returns the log.

    Args:
        policy: whose parameters change.
        optimiser: of them.
        rollout: complete.
        settings: of PPO.
        done: share of all frames that was collected before, 0 to 1; schedules follow it.
        generator: deals the slots.
        processes: that learn together, each from a rollout of its own.

    Raises FloatingPointError for a loss that is not finite; nothing was changed by its minibatch.
    """
    ended = rollout.terminated | rollout.truncated
    cut_values = rollout.cut_values if settings.bootstrap_truncated else None
    advantages = compute_advantages(
        rollout.rewards,
        rollout.values,
        rollout.next_values,
        ended,
        settings.discount,
        settings.trace,
        cut_values,
        rollout.lengths,
    )
    returns, counted = advantages + rollout.values, rollout.counted
    if rollout.is_stale is not None:  # as in VER (ver_rollout_storage.py 523-546)
        returns = torch.where(rollout.is_stale, rollout.returns, returns)
        advantages = returns - rollout.values
    rollout.returns[:] = returns
    scaled = normalise_advantages(advantages, settings.normalise, processes, counted)
    weights = None if rollout.lengths is None else weigh_lengths(rollout.lengths, rollout.steps)
    if counted is not None:
        weights = counted.float() if weights is None else weights * counted
    clip, entropy_weight = settings.clip.at(done), settings.entropy_weight.at(done)

    def loss(part: Fragment, slots: Tensor) -> tuple[Tensor, Statistics]:
        judged, beside, noted = judge_fragment(policy, part, generator)
        own = None if weights is None else weights[:, slots]
        of_values = value_loss(judged.values, part.values, returns[:, slots], clip, settings.value_clip, own)
        if done < settings.critic_share:
            return of_values + beside, noted | {"value_loss": float(of_values.detach())}
        log_probs = judged.distribution.log_prob(part.actions)
        entropy = average(judged.distribution.entropy(), own)
        of_actions = policy_loss(log_probs, part.log_probs, scaled[:, slots], clip, own)
        total = of_actions + settings.value_weight * of_values - entropy_weight * entropy + beside
        change = (log_probs - part.log_probs).detach()
        if own is not None:
            change = change[own > 0] if own.any() else change.new_zeros(1)
        ratio = change.exp()
        if rollout.stale is None:  # older policies act differently, and so do the states behind their steps
            noted = noted | {"ratio_error": float((ratio - 1.0).abs().max())}
        return total, noted | {
            "policy_loss": float(of_actions.detach()),
            "value_loss": float(of_values.detach()),
            "entropy": float(entropy.detach()),
            "kl": float((ratio - 1.0 - change).mean()),
            "clip_fraction": float(((ratio - 1.0).abs() > clip).float().mean()),
        }

    order = settings.order
    with _freeze(policy, done < settings.critic_share):
        found = _run_epochs(policy, optimiser, rollout, settings, order, done, generator, loss, processes)
    values = rollout.values
    if counted is not None:
        values, returns = values[counted], returns[counted]
    return found | {"explained_variance": explained_variance(values, returns)}


@contextmanager
def _freeze(policy: Policy, is_on: bool) -> Iterator[None]:
    """Context that, if `is_on`, freezes everything but the value's last layer."""
    frozen = [one for name, one in policy.named_parameters() if is_on and not _is_new(name)]
    frozen = [one for one in frozen if one.requires_grad]
    for one in frozen:
        one.requires_grad_(False)
    try:
        yield
    finally:
        for one in frozen:
            one.requires_grad_(True)


def update_imitation(
    policy: Policy,
    optimiser: Any,
    rollout: Rollout,
    settings: ImitationSettings,
    done: float,
    generator: np.random.Generator,
    processes: Processes = ALONE,
) -> Statistics:
    """Learn the labels of one rollout; returns the log. Arguments and errors as in `update_ppo`.

    Raises InputError for a policy of continuous actions.
    """
    returns: Tensor | None = None
    if settings.actor_critic is not None:
        ended, discount = rollout.terminated | rollout.truncated, settings.actor_critic.discount
        returns = rollout.values + compute_advantages(
            *(rollout.rewards, rollout.values, rollout.next_values, ended),
            discount,
            1.0,
            rollout.cut_values,
        )

    def loss(part: Fragment, slots: Tensor) -> tuple[Tensor, Statistics]:
        if settings.proxies is not None and isinstance(policy, GraphPolicy):
            return proxy_loss(policy, settings.proxies, part, generator)
        judged, beside, noted = judge_fragment(policy, part, generator)
        if not isinstance(judged.distribution, Categorical):
            raise InputError("expected a policy of discrete actions, which alone have labels")
        log_probs = judged.distribution.log_probs
        weights = part.weights if returns is None else part.weights * part.led
        own, share = imitation_loss(log_probs, part.labels, weights), 1.0
        if settings.actor_critic is not None and returns is not None:
            beside = beside + actor_critic_loss(
                judged.distribution.log_prob(part.actions),
                judged.values,
                judged.distribution.entropy(),
                returns[:, slots],
                ~part.led if part.counted is None else part.counted & ~part.led,
                settings.actor_critic.value_weight,
                settings.actor_critic.entropy_weight,
            )
            noted = noted | {"actor_critic_loss": float(beside.detach())}
            share = settings.actor_critic.teacher_weight
        counted = part.labels != NO_LABEL
        right = ((log_probs.argmax(-1) == part.labels) & counted).sum() / counted.sum().clamp_min(1)
        return share * own + beside, noted | {
            "imitation_loss": float(own.detach()),
            "agreement": float(right),
            "entropy": float(judged.distribution.entropy().mean().detach()),
        }

    found = _run_epochs(policy, optimiser, rollout, settings, "shuffled", done, generator, loss, processes)
    counted = count_inflections(rollout.labels.cpu().numpy(), ~rollout.mask.cpu().numpy())
    return found | {"steps_per_inflection": counted.weight}


def descend(
    policy: Policy,
    optimiser: Any,
    loss: Tensor,
    max_gradient: float,
    processes: Processes = ALONE,
    weight: Tensor | None = None,
) -> float:
    """One step of the optimiser down the gradient of `loss` (); the norm of the gradient before clipping.

    The gradient is the mean over `processes`, by the `weight` () of each, 1 for None. Raises
    FloatingPointError for a loss or gradient that is not finite; nothing was changed then.
    """
    optimiser.zero_grad(set_to_none=True)
    if loss.requires_grad:  # else no step counts, as where oracles lead in all of them
        loss.backward()
    own = torch.ones_like(loss) if weight is None else weight
    mean = processes.average_gradients(policy.parameters(), loss, own)
    if not torch.isfinite(mean):
        raise FloatingPointError(f"loss {float(mean)}")
    norm = torch.nn.utils.clip_grad_norm_(policy.parameters(), max_gradient)
    if not torch.isfinite(norm):
        raise FloatingPointError(f"gradient of norm {float(norm)}")
    optimiser.step()
    return float(norm)


def _run_epochs(
    policy: Policy,
    optimiser: Any,
    rollout: Rollout,
    settings: PPOSettings | ImitationSettings,
    order: Literal["shuffled", "ranges"],
    done: float,
    generator: np.random.Generator,
    loss: Loss,
    processes: Processes,
) -> Statistics:
    rate = settings.optimiser.rate.at(done)
    share = settings.actor_share(done) if isinstance(settings, PPOSettings) else 1.0
    for group in optimiser.param_groups:
        group["lr"] = rate * share if group.get("has_ramp") else rate
    rows: list[Statistics] = []
    present = torch.arange(rollout.slots)
    if rollout.lengths is not None:  # a group that reset throughout brings no steps
        some = present[rollout.lengths.cpu() > 0]
        if len(some) >= settings.minibatches:  # else some are of nothing: all processes make as many
            present = some
    for _ in range(settings.epochs):
        for dealt in deal_slots(len(present), settings.minibatches, order, generator):
            slots = present[dealt]
            part = rollout.fragment(slots)
            total, row = loss(part, slots)
            weight = _weigh(part, settings)
            norm = descend(policy, optimiser, total, settings.optimiser.max_gradient, processes, weight)
            rows.append(row | {"gradient_norm": norm})
    learn_statistics(policy, rollout, processes)
    names = dict.fromkeys(name for row in rows for name in row)
    means = {name: float(np.mean([row[name] for row in rows if name in row])) for name in names}
    first = {"ratio_error": rows[0]["ratio_error"]} if "ratio_error" in rows[0] else {}
    return means | first | {"rate": rate}


def _weigh(part: Fragment, settings: PPOSettings | ImitationSettings) -> Tensor:
    """() float32: divisor of the mean in the loss of `part`."""
    if isinstance(settings, PPOSettings) or settings.actor_critic is not None:
        return torch.tensor(float(part.mask.numel())) if part.counted is None else part.counted.sum().float()
    return (part.weights * (part.labels != NO_LABEL)).sum()


class NotFinite(NamedTuple):
    """The first numbers of an update that are not finite.

    Attributes:
        name: of what the rollout holds, or of what the policy makes of it.
        slot: in which they are.
    """

    name: str
    slot: int


def find_not_finite(policy: Policy, rollout: Rollout) -> NotFinite | None:
    """Where numbers stop being finite, in `rollout` or in what `policy` makes of it; None if all are."""
    seen = {name: value for name, value in rollout.observations.items() if value.is_floating_point()}
    stored = {name: getattr(rollout, name) for name in ("rewards", "values", "log_probs")}
    for name, numbers in {**seen, **stored}.items():
        wrong = torch.nonzero(~torch.isfinite(numbers))
        if len(wrong):
            return NotFinite(name, int(wrong[:, 1].min()))
    for slot in range(rollout.slots):
        part = rollout.fragment(torch.tensor([slot]))
        with torch.no_grad():
            judged = policy.evaluate_sequence(part.observations, part.actions, part.state, part.mask)
        log_probs = judged.distribution.log_prob(part.actions)
        for name, numbers in (("new values", judged.values), ("new log_probs", log_probs)):
            if not torch.isfinite(numbers).all():
                return NotFinite(name, slot)
    return None


def learn_statistics(policy: Policy, rollout: Rollout, processes: Processes = ALONE) -> None:
    """Count the observations of `rollout` and of the other `processes` in the normalisers of `policy`."""
    normalisers = [one for one in policy.modules() if isinstance(one, RunningNormaliser)]
    before = [one.moments() for one in normalisers]
    seen, fresh = rollout.observations, rollout.fresh
    if fresh is not None:
        seen = {name: value[fresh][None] for name, value in seen.items()}
    policy.learn_statistics(seen)
    if processes.count == 1:
        return
    for one, known in zip(normalisers, before):
        one.restore_moments(known + processes.add_up(one.moments() - known))
