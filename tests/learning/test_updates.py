"""Advantages, losses and updates, beside hand loops and an independent NumPy implementation."""

from dataclasses import replace

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from navarena.core.errors import InputError  # noqa: E402
from navarena.learning.losses import (  # noqa: E402
    episode_imitation_loss,
    imitation_loss,
    inflection_weights,
    policy_loss,
    turn_inflection_weights,
    value_loss,
)
from navarena.learning.rollouts.returns import (  # noqa: E402
    compute_advantages,
    explained_variance,
    normalise_advantages,
)
from navarena.learning.settings import (  # noqa: E402
    ALLENACT,
    HABITAT_DDPPO,
    MULTION,
    ImitationSettings,
    OptimiserSettings,
    Schedule,
    constant,
)
from navarena.learning.storage import NO_ACTION  # noqa: E402
from navarena.learning.trainings.updates import deal_slots, make_optimiser, update_imitation, update_ppo  # noqa: E402

from .made import SMALL, fill_rollout, make_policy  # noqa: E402

pytestmark = pytest.mark.learn


def advantages_by_hand(rewards, values, next_values, ended, discount, trace, cut):
    """The definition: discounted sums of errors up to the end of the episode, for each step anew."""
    steps, slots = rewards.shape
    out = np.zeros((steps, slots))
    for n in range(slots):
        for t in range(steps):
            factor = 1.0
            for k in range(t, steps):
                following = next_values[n] if k == steps - 1 else values[k + 1, n]
                if ended[k, n]:
                    following = cut[k, n]
                out[t, n] += factor * (rewards[k, n] + discount * following - values[k, n])
                factor *= discount * trace
                if ended[k, n]:
                    break
    return out


@pytest.mark.parametrize("share", [0.0, 0.2, 1.0])
def test_advantages_equal_the_definition(share):
    generator = np.random.default_rng(2)
    rewards, values = generator.normal(size=(2, 12, 9)).astype(np.float32)
    next_values = generator.normal(size=9).astype(np.float32)
    terminated = generator.random((12, 9)) < share / 2
    truncated = (generator.random((12, 9)) < share) & ~terminated
    cut = np.where(truncated, generator.normal(size=(12, 9)), 0.0).astype(np.float32)
    for given in (None, cut):
        expected = advantages_by_hand(
            rewards,
            values,
            next_values,
            terminated | truncated,
            0.9,
            0.8,
            np.zeros_like(cut) if given is None else given,
        )
        arrays = (rewards, values, next_values, terminated | truncated)
        found = compute_advantages(
            *map(torch.from_numpy, arrays), 0.9, 0.8, None if given is None else torch.from_numpy(given)
        )
        np.testing.assert_allclose(found.numpy(), expected, atol=2e-5)


def test_explained_variance_by_hand():
    returns = torch.tensor([[1.0, 2.0], [3.0, 6.0]])  # variance 3.5
    assert explained_variance(returns, returns) == 1.0
    assert explained_variance(torch.full((2, 2), 9.0), returns) == 0.0, "a constant explains nothing"
    missed = torch.tensor([[1.0, 2.0], [3.0, 2.0]])  # errors 0, 0, 0, 4: variance 3
    assert explained_variance(missed, returns) == pytest.approx(1 - 3 / 3.5)
    assert explained_variance(returns, torch.ones(2, 2)) == 0.0


def test_advantages_are_normalised_by_both_formulas():
    values = torch.tensor([[1.0, 2.0], [3.0, 6.0]])  # mean 3, squared deviations 4, 1, 0, 9
    assert normalise_advantages(values, "none") is values
    variance = normalise_advantages(values, "variance")[1, 1].item()
    assert variance == pytest.approx(3 / np.sqrt(14 / 4 + 1e-5))
    deviation = normalise_advantages(values, "deviation")[1, 1].item()
    assert deviation == pytest.approx(3 / (np.sqrt(14 / 3) + 1e-5))


def test_losses_on_tables_by_hand():
    old = torch.zeros(1, 4)
    new = torch.tensor([[1.5, 1.5, 0.5, 0.5]]).log()
    gains = torch.tensor([[1.0, -1.0, 1.0, -1.0]])  # min: 1.2, -1.5, 0.5, -0.8
    assert policy_loss(new, old, gains, 0.2).item() == pytest.approx(-(1.2 - 1.5 + 0.5 - 0.8) / 4)
    now = torch.tensor([[0.1, 1.0, 1.0]], requires_grad=True)
    before, target = torch.zeros(1, 3), torch.tensor([[0.0, 2.0, 0.0]])
    # moved by .1: error .1; moved by 1, clipped to .2: errors 1.8 and .2 against 1 and 1
    assert value_loss(now, before, target, 0.2, "none").item() == pytest.approx(0.5 * (0.01 + 1 + 1) / 3)
    maximum = value_loss(now, before, target, 0.2, "maximum")
    assert maximum.item() == pytest.approx(0.5 * (0.01 + 1.8**2 + 1) / 3)
    detached = value_loss(now, before, target, 0.2, "detached")
    assert detached.item() == pytest.approx(0.5 * (0.01 + 1.8**2 + 0.2**2) / 3)
    detached.backward()
    assert now.grad[0, 0] != 0 and not now.grad[0, 1:].any(), "clipped values get no gradient"


def test_inflection_weights_by_hand():
    labels = torch.tensor([[1, 1], [1, 2], [3, 2], [3, 2]])
    mask = torch.tensor([[True, False], [True, True], [True, True], [False, True]])
    found = inflection_weights(labels, torch.tensor([1, 1]), mask, 3.2)
    expected = [[1.0, 3.2], [1.0, 3.2], [3.2, 1.0], [3.2, 1.0]]
    np.testing.assert_allclose(found.numpy(), expected, rtol=1e-6)
    turns = np.radians([90.0, 30.0, -61.0, 0.0, 60.0, 0.0])
    stops = np.array([False] * 5 + [True])
    np.testing.assert_allclose(turn_inflection_weights(turns, stops), [2, 1, 2, 1, 1, 2])


def test_imitation_losses_by_hand():
    probabilities = torch.tensor([[[0.5, 0.5], [0.9, 0.1]], [[0.25, 0.75], [0.2, 0.8]]])
    labels, weights = torch.tensor([[0, 0], [0, -1]]), torch.tensor([[1.0, 1.0], [3.0, 5.0]])
    first = (np.log(2) + 3 * np.log(4)) / 4
    second = -np.log(0.9)
    whole = (4 * first + second) / 5
    assert imitation_loss(probabilities.log(), labels, weights).item() == pytest.approx(whole)
    own = episode_imitation_loss(probabilities.log(), labels, weights).item()
    assert own == pytest.approx((first + second) / 2)


def test_slots_are_dealt_once_each():
    generator = np.random.default_rng(0)
    for order in ("shuffled", "ranges"):
        parts = [part.tolist() for part in deal_slots(10, 3, order, generator)]
        assert sorted(slot for part in parts for slot in part) == list(range(10)) and sorted(
            map(len, parts)
        ) == [3, 3, 4]
    assert all(part == list(range(part[0], part[0] + len(part))) for part in parts), "ranges"
    with pytest.raises(InputError, match="at most 2 minibatches"):
        list(deal_slots(2, 3, "shuffled", generator))


def ppo_by_numpy(policy, rollout, settings, done, slots):
    """Loss of one minibatch from log-probabilities and values alone, in float64 NumPy."""
    part = rollout.fragment()
    judged = policy.evaluate_sequence(part.observations, part.actions, part.state, part.mask)
    table = judged.distribution.log_probs.detach().double().numpy()
    values = judged.values.detach().double().numpy()
    rewards, old = rollout.rewards.double().numpy(), rollout.values.double().numpy()
    ended = (rollout.terminated | rollout.truncated).numpy()
    cut = rollout.cut_values.double().numpy()
    gains = advantages_by_hand(
        rewards, old, rollout.next_values.double().numpy(), ended, settings.discount, settings.trace, cut
    )
    targets = gains + old
    if settings.normalise == "deviation":
        gains = (gains - gains.mean()) / (gains.std(ddof=1) + 1e-5)
    taken = np.take_along_axis(table, rollout.actions.numpy()[..., None], 2)[..., 0]
    ratio = np.exp(taken - rollout.log_probs.double().numpy())
    clip = settings.clip.at(done)
    surrogate = np.minimum(ratio * gains, np.clip(ratio, 1 - clip, 1 + clip) * gains)[:, slots]
    moved = old + np.clip(values - old, -clip, clip)
    error = (values - targets) ** 2
    if settings.value_clip == "maximum":
        error = np.maximum(error, (moved - targets) ** 2)
    elif settings.value_clip == "detached":
        error = np.where(np.abs(values - old) < clip, error, (moved - targets) ** 2)
    entropy = -(np.exp(table) * table).sum(2)[:, slots].mean()
    return {
        "policy_loss": -surrogate.mean(),
        "value_loss": 0.5 * error[:, slots].mean(),
        "entropy": entropy,
        "clip_fraction": (np.abs(ratio - 1) > clip)[:, slots].mean(),
    }


@pytest.mark.parametrize("preset", [HABITAT_DDPPO, MULTION, ALLENACT])
def test_first_minibatch_equals_numpy(preset):
    """The behaviour policy is another one than the learner, so that ratios and values are clipped."""
    rollout = fill_rollout(make_policy(seed=0))
    learner = make_policy(seed=5)
    with torch.no_grad():
        learner.head.linear.weight.mul_(600.0)
    settings = replace(preset, epochs=1, minibatches=1)
    expected = ppo_by_numpy(learner, rollout, settings, 0.25, np.arange(rollout.slots))
    optimiser = make_optimiser(learner, settings.optimiser)
    found = update_ppo(learner, optimiser, rollout, settings, 0.25, np.random.default_rng(0))
    assert expected["clip_fraction"] > 0.2, "the table must clip"
    for name, value in expected.items():
        assert found[name] == pytest.approx(value, rel=2e-5, abs=1e-6), name
    assert found["rate"] == pytest.approx(settings.optimiser.rate.at(0.25))


@pytest.mark.parametrize("memory", ["gru", "lstm"])
def test_ratio_is_one_before_the_first_step(memory):
    policy = make_policy(settings=replace(SMALL, memory=memory, layers=2))
    rollout = fill_rollout(policy, slots=16)
    settings = replace(HABITAT_DDPPO, epochs=2, minibatches=2)
    found = update_ppo(
        policy, make_optimiser(policy, settings.optimiser), rollout, settings, 0.0, np.random.default_rng(0)
    )
    assert found["ratio_error"] == 0.0


@pytest.mark.parametrize("preset", [HABITAT_DDPPO, MULTION, ALLENACT])
def test_nothing_is_learned_from_steps_that_an_oracle_leads(preset):
    """Without a discount their rewards reach no other step; where all are led, nothing moves."""
    settings = replace(preset, epochs=1, minibatches=1, discount=0.0, entropy_weight=constant(0.01))
    weights = []
    for reward, led in ((0.0, slice(3)), (50.0, slice(3)), (50.0, slice(None))):
        policy = make_policy()
        before = {name: value.clone() for name, value in policy.state_dict().items()}
        rollout = fill_rollout(policy)
        rollout.actions[led], rollout.log_probs[led], rollout.rewards[led] = NO_ACTION, 0.0, reward
        optimiser = make_optimiser(policy, settings.optimiser)
        update_ppo(policy, optimiser, rollout, settings, 0.0, np.random.default_rng(0))
        weights.append(policy.state_dict())
        moved = any(not torch.equal(value, before[name]) for name, value in weights[-1].items())
        assert moved == (led != slice(None))
    assert all(torch.equal(value, weights[1][name]) for name, value in weights[0].items())


def test_updates_raise_what_was_good_and_lower_the_loss():
    policy = make_policy()
    rollout = fill_rollout(policy, steps=8, slots=16)
    rollout.rewards[:] = (rollout.actions == 2).float()
    settings = replace(
        HABITAT_DDPPO,
        epochs=30,
        minibatches=1,
        entropy_weight=constant(0.0),
        normalise="variance",
        discount=0.0,
    )
    settings = replace(
        settings, optimiser=replace(settings.optimiser, rate=constant(1e-2)), clip=constant(10.0)
    )
    before = judge(policy, rollout)
    update_ppo(
        policy, make_optimiser(policy, settings.optimiser), rollout, settings, 0.0, np.random.default_rng(0)
    )
    after = judge(policy, rollout)
    assert after[..., 2].exp().mean() > before[..., 2].exp().mean() + 0.2


def judge(policy, rollout):
    part = rollout.fragment()
    with torch.no_grad():
        return policy.evaluate_sequence(
            part.observations, part.actions, part.state, part.mask
        ).distribution.log_probs


def test_imitation_learns_labels():
    policy = make_policy()
    rollout = fill_rollout(policy, steps=8, slots=16)
    near = rollout.observations["pointgoal_with_gps_compass"][..., 0] < 0.5
    rollout.labels[:] = torch.where(near, 0, 1)
    settings = ImitationSettings(epochs=60, minibatches=1)
    settings = replace(settings, optimiser=replace(settings.optimiser, rate=constant(1e-2)))
    optimiser = make_optimiser(policy, settings.optimiser)
    update_imitation(policy, optimiser, rollout, settings, 0.0, np.random.default_rng(0))
    assert (judge(policy, rollout).argmax(-1) == rollout.labels).float().mean() > 0.85


def test_a_loss_that_is_not_finite_changes_nothing():
    policy = make_policy()
    rollout = fill_rollout(policy)
    rollout.rewards[2, 3] = float("nan")
    before = {name: value.clone() for name, value in policy.state_dict().items()}
    optimiser = make_optimiser(policy, HABITAT_DDPPO.optimiser)
    with pytest.raises(FloatingPointError, match="loss nan"):
        update_ppo(policy, optimiser, rollout, HABITAT_DDPPO, 0.0, np.random.default_rng(0))
    assert all(torch.equal(value, before[name]) for name, value in policy.state_dict().items())


@pytest.mark.parametrize(
    ("critic_share", "actor_ramp", "shares"),
    [
        (0.0, 0.0, [1, 1, 1, 1, 1]),
        (0.2, 0.0, [0, 0, 1, 1, 1]),
        (0.2, 0.4, [0, 0, 0, 0.25, 1]),
        (0.0, 0.4, [0, 0.25, 0.5, 0.75, 1]),
    ],
)
def test_the_ramp_of_the_actor(critic_share, actor_ramp, shares):
    method = replace(HABITAT_DDPPO, critic_share=critic_share, actor_ramp=actor_ramp)
    found = [method.actor_share(done) for done in (0.0, 0.1, 0.2, 0.3, 0.7)]
    assert found == pytest.approx(shares)


def test_weights_decay_by_their_share_of_the_rate():
    """AdamW: a step without a gradient takes rate x decay of each weight; Adam leaves it."""
    for decay, kept in ((0.0, 1.0), (0.01, 0.999)):
        policy = make_policy()
        before = [one.detach().clone() for one in policy.parameters()]
        optimiser = make_optimiser(policy, OptimiserSettings(rate=constant(0.1), weight_decay=decay))
        for one in policy.parameters():
            one.grad = torch.zeros_like(one)
        optimiser.step()
        for old, new in zip(before, policy.parameters(), strict=True):
            assert torch.allclose(new, kept * old, rtol=1e-6)
    with pytest.raises(InputError, match="weight_decay from 0 to below 1, got -1"):
        OptimiserSettings(weight_decay=-1)


def test_presets_are_those_of_the_papers():
    for preset, epochs, minibatches, clip, norm in (
        (HABITAT_DDPPO, 2, 2, 0.2, 0.2),
        (MULTION, 2, 4, 0.2, 0.2),
        (ALLENACT, 4, 1, 0.1, 0.5),
    ):
        assert (preset.epochs, preset.minibatches) == (epochs, minibatches)
        assert preset.clip.first == clip and preset.optimiser.max_gradient == norm
    assert MULTION.optimiser.rate.at(1.0) == pytest.approx(2.5e-4 * (1 - 19_531 / 300_000))
    assert ALLENACT.optimiser.rate.at(0.5) == pytest.approx(1.5e-4) and ALLENACT.optimiser.epsilon == 1e-8
    assert Schedule(1.0, 0.0).at(2.0) == 0.0 and Schedule(1.0, 0.0).at(-1.0) == 1.0
