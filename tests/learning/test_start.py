"""A training that starts from another one's weights: imitation first, reinforcement then."""

import json
from dataclasses import replace

import pytest

torch = pytest.importorskip("torch")

import safetensors.torch  # noqa: E402

from navarena.cli.main import main  # noqa: E402
from navarena.core.errors import FileError, InputError  # noqa: E402
from navarena.learning.auxiliaries.settings import INVERSE_DYNAMICS, ROTATION  # noqa: E402
from navarena.learning.checkpoints.policies import HEADS, load_policy, read_info, save_policy  # noqa: E402
from navarena.learning.checkpoints.selection import TrainingEvaluationSettings  # noqa: E402
from navarena.learning.recipes.catalog import RECIPES  # noqa: E402
from navarena.learning.settings import HABITAT_DDPPO, PPOSettings  # noqa: E402
from navarena.learning.trainings.log import LOG  # noqa: E402
from navarena.learning.trainings.setup import (  # noqa: E402
    FIRST,
    describe_policy,
    load_start,
    make_training_task,
)
from navarena.tasks.batch import NavigationBatch  # noqa: E402

from .test_training import PPO, TINY, make_training, same, stop_after  # noqa: E402

pytestmark = pytest.mark.learn


@pytest.fixture(scope="module")
def imitated(tmp_path_factory):
    folder = tmp_path_factory.mktemp("imitated")
    make_training(folder).run()
    return folder


def test_weights_are_those_of_the_start(imitated, tmp_path):
    own = make_training(tmp_path / "own", PPO)
    started = make_training(tmp_path / "started", replace(PPO, start=str(imitated)))
    _, found = load_policy(imitated)
    assert same(started._policy.state_dict(), found.state_dict())
    assert not same(own._policy.state_dict(), found.state_dict())
    assert started.frames == 0


def test_heads_of_losses_are_those_of_the_start_where_it_has_them(tmp_path):
    first = replace(TINY.method, auxiliaries=(INVERSE_DYNAMICS,))
    make_training(tmp_path / "first", replace(TINY, method=first)).run()
    method = replace(HABITAT_DDPPO, auxiliaries=(INVERSE_DYNAMICS, ROTATION))
    recipe = replace(PPO, method=method)
    own, started = (
        make_training(tmp_path / name, one)._policy.auxiliaries.heads
        for name, one in (("own", recipe), ("started", replace(recipe, start=str(tmp_path / "first"))))
    )
    saved = safetensors.torch.load_file(tmp_path / "first" / HEADS)
    for name, value in started["inverse_dynamics"].state_dict().items():
        assert torch.equal(value, saved[f"heads.inverse_dynamics.{name}"])
        assert not torch.equal(value, own["inverse_dynamics"].state_dict()[name])
    assert same(started["rotation"].state_dict(), own["rotation"].state_dict()), "it had none"


def test_the_first_part_sees_the_same_features():
    recipe = RECIPES.get("hamt-a2c-small")
    assert replace(recipe, features="colours").make_first()[1].features == "colours"


@pytest.mark.parametrize("name", ["robustnav-pointnav-rgb-small", "multion-nomap-small"])
def test_the_first_part_has_the_losses_of_its_recipe(name):
    recipe = RECIPES.get(name)
    changed = replace(recipe, method=replace(recipe.method, auxiliaries=(ROTATION,)))
    for one in (recipe, changed):
        called, first = one.make_first()
        own = RECIPES.get(called)
        assert first.method == replace(own.method, auxiliaries=one.method.auxiliaries)
        assert first == replace(own, method=first.method), "nothing else differs"


def test_it_goes_on_from_itself_and_not_from_the_start(imitated, tmp_path):
    recipe = replace(PPO, start=str(imitated))
    with pytest.raises(KeyboardInterrupt):
        make_training(tmp_path, recipe).run(stop_after(3))
    again = make_training(tmp_path, recipe)
    assert again.frames == 2 * 64
    assert not same(again._policy.state_dict(), load_policy(imitated)[1].state_dict())


@pytest.mark.parametrize("ramp", [0.0, 0.5])
@pytest.mark.parametrize("losses", [(), (INVERSE_DYNAMICS,)])
def test_the_critic_and_heads_learn_alone_at_first(losses, ramp, imitated, tmp_path):
    method = replace(HABITAT_DDPPO, critic_share=0.5, actor_ramp=ramp, auxiliaries=losses)
    training = make_training(tmp_path, replace(PPO, start=str(imitated), method=method))

    def weights():
        return {name: value.clone() for name, value in training._policy.named_parameters()}

    def changed(before):
        return {name for name, value in weights().items() if not torch.equal(value, before[name])}

    before = weights()
    for _ in range(2):  # half of four updates
        row = training.advance()
        assert "policy_loss" not in row and row["value_loss"] > 0
    heads = {name for name in before if name.startswith("auxiliaries.")}
    assert bool(heads) == bool(losses) and changed(before) == {"critic.weight", "critic.bias"} | heads
    before = weights()
    assert "policy_loss" in training.advance()
    assert ("head.linear.weight" in changed(before)) == (not ramp), "the ramp begins at 0"
    assert all(one.requires_grad for one in training._policy.parameters())


def test_the_actor_is_ramped_after_the_critic(imitated, tmp_path):
    """Four updates: the critic alone, then rates of the actor of 0, of half and of all of the critic's."""
    method = replace(HABITAT_DDPPO, critic_share=0.25, actor_ramp=0.5)
    training = make_training(tmp_path, replace(PPO, start=str(imitated), method=method))
    moves = []
    for _ in range(4):
        before = {name: value.clone() for name, value in training._policy.named_parameters()}
        training.advance()
        after = dict(training._policy.named_parameters())
        change = {
            name: float((after[name] - before[name]).abs().max().detach())
            for name in ("head.linear.weight", "critic.weight")
        }
        moves.append(tuple(value > 0 for value in change.values()))
        rates = {one["has_ramp"]: one["lr"] for one in training._optimiser.param_groups}
        assert rates[False] == method.optimiser.rate.first
        expected = {1: 0.0, 2: 0.0, 3: 0.5, 4: 1.0}[len(moves)]
        assert rates[True] == pytest.approx(expected * rates[False])
    assert moves == [(False, True), (False, True), (True, True), (True, True)]


def test_a_start_that_does_not_fit_is_refused(imitated, tmp_path):
    for change, words in (
        ({"image_size": (72, 96)}, "expected inputs of .*72, 96.*got .*36, 48"),
        ({"policy": replace(TINY.policy, hidden=48)}, "expected policy of .*hidden=48"),
    ):
        with pytest.raises(InputError, match=words):
            make_training(tmp_path / "one", replace(PPO, start=str(imitated), **change))
    # a temperature is of evaluations alone
    warmer = replace(PPO, start=str(imitated), policy=replace(TINY.policy, temperature=0.5))
    make_training(tmp_path / "two", warmer)
    with pytest.raises(FileError, match="does not exist"):
        make_training(tmp_path / "three", replace(PPO, start=str(tmp_path / "nothing")))
    with pytest.raises(InputError, match=r"discount, trace and critic_share of 0 to 1, got .*1\.5"):
        PPOSettings(critic_share=1.5)
    with pytest.raises(InputError, match=r"an actor_ramp of 0 to 1 - critic_share, got 0\.7 after 0\.5"):
        PPOSettings(critic_share=0.5, actor_ramp=0.7)


def test_a_start_in_other_units_is_refused(tmp_path):
    """Depth in shares of 5 m is not one in shares of 10 m, though their shapes are the same."""
    policies = {}
    for protocol in ("multion-1on-v1", "multion-1on-v1+depth=far"):
        recipe = replace(TINY, protocol=protocol, sensors=("depth",), image_size=(36, 36))
        recipe = replace(recipe, start=str(tmp_path))
        task = make_training_task(recipe)
        info = describe_policy(recipe, task, NavigationBatch(task, 1, 1, recipe.sensors))
        policies[protocol] = info.build(), info, recipe, tmp_path / "own", task
    policy, info, *_ = policies["multion-1on-v1"]
    save_policy(tmp_path, info, policy)
    load_start(*policies["multion-1on-v1"])
    with pytest.raises(InputError, match="a protocol with depth in shares of 5 m of .*shares of 10 m"):
        load_start(*policies["multion-1on-v1+depth=far"])


def test_the_first_recipe_is_trained_first(tmp_path, capsys, monkeypatch):
    """By one command, with what both must have in common, once."""
    small = replace(RECIPES.get("pointnav-smoke"), slots=8, steps=4, scenes=1, episodes=2, frames=64)
    monkeypatch.setitem(
        RECIPES._objects, "tiny-first", replace(small, evaluation=TrainingEvaluationSettings(updates=0))
    )
    tiny = [
        "slots=8",
        "steps=4",
        "scenes=1",
        "episodes=2",
        "split=mini",
        "evaluation.updates=0",
        "first=tiny-first",
    ]
    sizes = ["policy.hidden=32", "policy.image_features=16", "image_size=36,48", "policy.number_features=8"]
    settings = [word for one in (*tiny, *sizes) for word in ("--set", one)]
    command = ["train", "pointnav-ppo-small", *settings, "--frames", "32", "--out", str(tmp_path), "--json"]
    resumed = []
    for frames in ("32", "32"):
        command[command.index("--frames") + 1] = frames
        assert main([*command, "--seed", "3"]) == 0
        resumed.append(json.loads(capsys.readouterr().out)["resumed"])
    assert resumed == [0, 32]
    first = read_info(tmp_path / FIRST)
    assert (first.frames, first.seeds["training"], first.policy.hidden) == (64, 3, 32)
    assert (
        "value_loss" in (tmp_path / LOG).read_text()
        and "imitation_loss" in (tmp_path / FIRST / LOG).read_text()
    )
    with pytest.raises(InputError, match="expected start or first"):
        replace(PPO, start="a", first="b")
    with pytest.raises(FileError, match="does not exist"):
        make_training(tmp_path / "alone", replace(PPO, first="tiny-first"))
