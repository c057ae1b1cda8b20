"""HAMT's imitation and reinforcement together: the loss by a loop, which steps count, training, bad input."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from navarena.core.errors import InputError  # noqa: E402
from navarena.learning.inputs import InputSpec  # noqa: E402
from navarena.learning.losses import actor_critic_loss  # noqa: E402
from navarena.learning.networks.heads import Categorical  # noqa: E402
from navarena.learning.policy import Judgement, Policy  # noqa: E402
from navarena.learning.recipes.catalog import RECIPES  # noqa: E402
from navarena.learning.settings import ActorCriticSettings, Schedule  # noqa: E402
from navarena.learning.storage import Rollout  # noqa: E402
from navarena.learning.trainings.training import Training  # noqa: E402
from navarena.learning.trainings.updates import update_imitation  # noqa: E402

pytestmark = pytest.mark.learn

STEPS, SLOTS, ACTIONS = 7, 3, 4


class Table(Policy):
    """A policy whose logits and values are numbers that are learned."""

    def __init__(self):
        super().__init__()
        self.logits = torch.nn.Parameter(torch.randn(STEPS, SLOTS, ACTIONS))
        self.values = torch.nn.Parameter(torch.randn(STEPS, SLOTS))

    def evaluate_sequence(self, observations, actions, state, mask):
        slots = observations["slot"][0]
        return Judgement(Categorical(self.logits[:, slots].log_softmax(-1)), self.values[:, slots], state)


def draw():
    rollout = Rollout((InputSpec("slot", (), "int64"),), STEPS, SLOTS)
    rollout.observations["slot"][:] = torch.arange(SLOTS)
    generator = np.random.default_rng(0)

    def numbers(*shape):
        return torch.from_numpy(generator.normal(size=shape)).float()

    rollout.rewards[:], rollout.values[:] = numbers(STEPS, SLOTS), numbers(STEPS, SLOTS)
    rollout.next_values[:] = numbers(SLOTS)
    rollout.actions[:] = torch.from_numpy(generator.integers(0, ACTIONS, (STEPS, SLOTS)))
    rollout.labels[:] = torch.from_numpy(generator.integers(0, ACTIONS, (STEPS, SLOTS)))
    rollout.terminated[2, 0] = rollout.terminated[4, 1] = True
    rollout.truncated[5, 0] = True
    rollout.cut_values[5, 0] = 0.7
    rollout.mask[:] = True
    rollout.mask[3, 0] = rollout.mask[5, 1] = rollout.mask[6, 0] = False
    rollout.led[:3, 0] = rollout.led[:5, 1] = True
    return rollout


def by_loop(rollout, table, settings):
    """The loss, step by step and slot by slot, in NumPy."""
    plain = {name: getattr(rollout, name).numpy() for name in ("rewards", "actions", "labels", "led")}
    log_probs = table.logits.detach().log_softmax(-1).numpy()
    values = table.values.detach().numpy()
    imitated, learned = [], []
    for slot in range(SLOTS):
        coming = float(rollout.next_values[slot])
        for step in reversed(range(STEPS)):
            if rollout.terminated[step, slot]:
                coming = 0.0
            if rollout.truncated[step, slot]:
                coming = float(rollout.cut_values[step, slot])
            coming = plain["rewards"][step, slot] + settings.discount * coming
            own = log_probs[step, slot]
            if plain["led"][step, slot]:
                imitated.append(-own[plain["labels"][step, slot]])
                continue
            error = coming - values[step, slot]
            entropy = -(np.exp(own) * own).sum()
            learned.append(-own[plain["actions"][step, slot]] * error)
            learned[-1] += 0.5 * settings.value_weight * error**2 - settings.entropy_weight * entropy
    return settings.teacher_weight * np.mean(imitated) + np.mean(learned), np.mean(learned)


def test_the_loss_is_that_of_a_loop():
    table, rollout, settings = Table(), draw(), ActorCriticSettings()
    expected, learned = by_loop(rollout, table, settings)
    given = replace(RECIPES.get("hamt-a2c-small").method, minibatches=1, actor_critic=settings)
    steps, seen = [], SimpleNamespace(param_groups=[{}], zero_grad=lambda set_to_none: None)
    seen.step = lambda: steps.append([one.grad.clone() for one in table.parameters()])
    row = update_imitation(table, seen, rollout, given, 0.0, np.random.default_rng(0))
    assert row["actor_critic_loss"] == pytest.approx(learned, abs=1e-5)
    total = settings.teacher_weight * row["imitation_loss"] + row["actor_critic_loss"]
    assert total == pytest.approx(expected, abs=1e-5)
    of_logits, of_values = steps[0]
    assert of_logits.abs().sum(-1).gt(0).all(), "all steps are learned from, one way or the other"
    assert not of_values[rollout.led].any() and of_values[~rollout.led].any()


def test_values_get_no_gradient_from_the_actor():
    values = torch.zeros(2, 1, requires_grad=True)
    loss = actor_critic_loss(
        torch.tensor([[-1.0], [-2.0]]), values, torch.zeros(2, 1), torch.tensor([[1.0], [3.0]]),
        torch.tensor([[True], [True]]), 1.0, 0.0,
    )  # fmt: skip
    assert float(loss.detach()) == pytest.approx((0.5 + 1.0 + 4.5 + 6.0) / 2)
    loss.backward()
    assert values.grad.tolist() == [[-0.5], [-1.5]]


def shrink(recipe):
    """The `recipe` of HAMT with a tiny network, in one house."""
    sizes = replace(recipe.policy.hamt, width=16, inner=16, heads=2, text_layers=1, cross_layers=1)
    return replace(
        recipe, split="mini", slots=2, steps=8, frames=48, save_updates=2, log_updates=1, scenes=1, first="",
        policy=replace(recipe.policy, hamt=sizes), method=replace(recipe.method, minibatches=1),
    )  # fmt: skip


def test_it_is_trained_from_imitation(tmp_path):
    training = Training(shrink(RECIPES.get("hamt-a2c-small")), tmp_path)
    rewards, led = [], []
    for _ in range(3):
        row = training.advance()
        assert np.isfinite([row["actor_critic_loss"], row["imitation_loss"], row["gradient_norm"]]).all()
        rewards.append(training._rollout.rewards.clone())
        led.append(training._rollout.led.clone())
    stops = torch.cat(led)[torch.cat(rewards) >= 2.0]
    assert stops.any(), "the teacher stops at the goal, which brings at least 2"
    assert (torch.cat(rewards).abs() <= 4.0).all()


def test_no_return_crosses_the_episodes_of_a_tour(tmp_path):
    recipe = replace(shrink(RECIPES.get("hamt-a2c-small")), protocol="ir2r-v1", slots=4, steps=48)
    training = Training(recipe, tmp_path)
    training.advance()
    rollout = training._rollout
    ended = {(one.step, one.slot) for one in rollout.ends}
    is_over = np.argwhere((rollout.terminated | rollout.truncated).numpy())
    assert ended == set(map(tuple, is_over.tolist())) and len(ended) >= 4
    assert not rollout.cut_values[~rollout.truncated].any()


def test_bad_settings_are_refused(tmp_path):
    recipe = RECIPES.get("hamt-a2c-small")
    with pytest.raises(InputError, match="mixing=episode"):
        replace(recipe.method, mixing="step")
    with pytest.raises(InputError, match="a discount of 0 to 1"):
        ActorCriticSettings(discount=1.1)
    other = RECIPES.get("pointnav-bc-small")
    method = replace(other.method, actor_critic=ActorCriticSettings(), teacher_share=Schedule(0.5, 0.5))
    with pytest.raises(InputError, match="memory=hamt for actor_critic"):
        Training(replace(other, method=method, split="mini", slots=2, scenes=1), tmp_path)
