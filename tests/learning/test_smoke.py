"""Smoke recipes: learned on five seeds, and not learned with a sign or a mask turned round."""

import pytest

torch = pytest.importorskip("torch")

from navarena.learning.networks.heads import CategoricalHead  # noqa: E402
from navarena.learning.policy import RecurrentPolicy  # noqa: E402
from navarena.learning.settings import (  # noqa: E402
    ImitationSettings,
    OptimiserSettings,
    PPOSettings,
    Schedule,
    constant,
)
from navarena.learning.trainings import updates  # noqa: E402

from .cue_task import known_task, make_recipe, make_training, success_after  # noqa: E402

pytestmark = pytest.mark.learn

PPO = PPOSettings(
    OptimiserSettings(Schedule(7e-3, 1e-3)),
    minibatches=1,
    entropy_weight=Schedule(0.1, 0.0),
    value_clip="none",
    normalise="variance",
)
DAGGER = ImitationSettings(
    OptimiserSettings(constant(2e-2), max_gradient=1.0),
    epochs=4,
    minibatches=1,
    teacher_share=constant(0.5),
    veto=0.5,
)
METHODS = {"ppo": (PPO, 22), "dagger": (DAGGER, 10)}
"""Name -> settings and number of updates."""

REMEMBERED = 0.8
FORGOTTEN = 0.65
"""Success that no failed training reaches; without memory 0.5 is possible."""


@pytest.fixture(autouse=True)
def task():
    with known_task():
        yield


def learn(folder, method, seed=0):
    settings, count = METHODS[method]
    recipe = make_recipe(settings, seed=seed)
    recipe = make_recipe(settings, seed=seed, frames=recipe.slots * recipe.steps * count)
    return success_after(make_training(folder, recipe), count)


@pytest.mark.turns(4)
@pytest.mark.parametrize("method", METHODS)
def test_five_seeds_learn_the_task(tmp_path, method):
    found = [learn(tmp_path / str(seed), method, seed) for seed in range(5)]
    assert min(found) >= REMEMBERED


def negate(monkeypatch, name):
    function = getattr(updates, name)
    monkeypatch.setattr(updates, name, lambda *arguments: -function(*arguments))


def turn_mask_round(monkeypatch):
    act, evaluate = RecurrentPolicy.act, RecurrentPolicy.evaluate_sequence

    def act_turned(self, observations, state, mask, generator=None):
        return act(self, observations, state, ~mask, generator)

    def evaluate_turned(self, observations, actions, state, mask):
        return evaluate(self, observations, actions, state, ~mask)

    monkeypatch.setattr(RecurrentPolicy, "act", act_turned)
    monkeypatch.setattr(RecurrentPolicy, "evaluate_sequence", evaluate_turned)


def turn_action_mask_round(monkeypatch):
    forward = CategoricalHead.forward

    def turned(self, features):
        self.forbidden = ~self.forbidden
        try:
            return forward(self, features)
        finally:
            self.forbidden = ~self.forbidden

    monkeypatch.setattr(CategoricalHead, "forward", turned)


def turn_round(monkeypatch, what):
    if what == "mask":
        turn_mask_round(monkeypatch)
    elif what == "actions":
        turn_action_mask_round(monkeypatch)
    else:
        negate(monkeypatch, what)


@pytest.mark.parametrize("broken", ["policy_loss", "value_loss", "normalise_advantages", "mask", "actions"])
def test_ppo_with_something_turned_round_does_not_learn(tmp_path, monkeypatch, broken):
    turn_round(monkeypatch, broken)
    assert learn(tmp_path, "ppo") < FORGOTTEN


@pytest.mark.parametrize("broken", ["imitation_loss", "mask", "actions"])
def test_dagger_with_something_turned_round_does_not_learn(tmp_path, monkeypatch, broken):
    turn_round(monkeypatch, broken)
    assert learn(tmp_path, "dagger") < FORGOTTEN
