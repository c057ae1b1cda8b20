"""Variable collection: unequal numbers of steps of groups that run side by side."""

import time
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

torch = pytest.importorskip("torch")

from navarena.core.errors import CheckFailedError, InputError  # noqa: E402
from navarena.learning.auxiliaries.heads import AuxiliaryHeads  # noqa: E402
from navarena.learning.auxiliaries.settings import (  # noqa: E402
    CPC_ACTION,
    INVERSE_DYNAMICS,
    TEMPORAL_DISTANCE,
    AugmentationSettings,
)
from navarena.learning.distributed import Machine, Processes  # noqa: E402
from navarena.learning.rollouts.returns import compute_advantages, normalise_advantages, weigh_lengths  # noqa: E402
from navarena.learning.rollouts.variable_collection import Claims  # noqa: E402
from navarena.learning.settings import ImitationSettings  # noqa: E402
from navarena.learning.trainings.setup import make_training_task  # noqa: E402
from navarena.learning.trainings.training import Training  # noqa: E402
from navarena.learning.trainings.updates import make_optimiser, update_ppo  # noqa: E402
from navarena.simulation.world import World, WorldCache  # noqa: E402
from worlds import draw_navmesh, draw_scene  # noqa: E402

from .made import INPUTS, fill_rollout, make_policy  # noqa: E402
from .test_training import PPO, ROOM, make_episodes, make_training, same, stop_after  # noqa: E402

pytestmark = pytest.mark.learn

VARIABLE = replace(PPO, collection="variable")
ROOMS = ("room", "other")


def make_variable(folder, recipe=VARIABLE, rooms=ROOMS, **machine):
    """A training of groups of which each has a room of its own."""

    def open_room(scene_id, embodiment):
        return World.of(draw_scene(ROOM, scene_id=scene_id), draw_navmesh(ROOM))

    worlds = WorldCache(make_training_task(recipe).embodiment, open_room)
    episodes = [replace(one, scene_id=rooms[k % len(rooms)]) for k, one in enumerate(make_episodes())]
    return Training(recipe, folder, Machine(**machine), episodes, worlds)


def slow_down(training, group, seconds):
    """Let every step of a group take so much longer."""
    batch = training._batches[group]
    step = batch.step

    def dawdle(actions):
        time.sleep(seconds)
        return step(actions)

    batch.step = dawdle


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32 - 1), st.lists(st.integers(0, 9), min_size=1, max_size=4))
def test_advantages_of_unequal_lengths_are_those_of_a_hand_loop(seed, lengths):
    generator, steps = np.random.default_rng(seed), 9
    rewards, values = generator.normal(size=(2, steps, len(lengths)))
    behind, ended = generator.normal(size=len(lengths)), generator.random((steps, len(lengths))) < 0.3
    expected = np.zeros((steps, len(lengths)))
    for slot, length in enumerate(lengths):
        later, following = 0.0, behind[slot]
        for step in reversed(range(length)):
            goes_on = 0.0 if ended[step, slot] else 1.0
            delta = rewards[step, slot] + 0.9 * goes_on * following - values[step, slot]
            later = delta + 0.9 * 0.8 * goes_on * later
            expected[step, slot], following = later, values[step, slot]
    tensors = (torch.from_numpy(one) for one in (rewards, values, behind, ended))
    found = compute_advantages(*tensors, 0.9, 0.8, lengths=torch.tensor(lengths))
    np.testing.assert_allclose(found.numpy(), expected, atol=1e-6)


def test_weights_by_hand():
    """Eight frames of three slots: 8 / 3 in the mean."""
    weights = weigh_lengths(torch.tensor([2, 4, 2]), 4)
    two = 8 / 3 / 4
    assert weights.tolist() == pytest.approx(
        np.array([[1, two, 1], [1, two, 1], [0, two, 0], [0, two, 0]]), rel=1e-6
    )
    assert weigh_lengths(torch.tensor([3, 3]), 3).tolist() == [[1, 1]] * 3
    assert weigh_lengths(torch.tensor([0, 4]), 4).tolist() == [[0, 0.5]] * 4


def test_scaling_looks_at_what_was_taken():
    advantages = torch.tensor([[1.0, 3.0], [5.0, 1000.0]])
    counted = torch.tensor([[True, True], [True, False]])
    scaled = normalise_advantages(advantages, "deviation", counted=counted)
    assert scaled[counted].tolist() == pytest.approx([-1, 0, 1], abs=1e-4)


def learn(rollout, **change):
    policy = make_policy()
    method = replace(PPO.method, normalise="variance", **change)
    row = update_ppo(
        policy, make_optimiser(policy, method.optimiser), rollout, method, 0.0, np.random.default_rng(0)
    )
    return row, policy.state_dict()


def test_with_even_lengths_an_update_is_that_of_a_synchronous_rollout():
    row, weights = learn(fill_rollout(make_policy()))
    even = fill_rollout(make_policy())
    even.lengths = torch.full((even.slots,), even.steps)
    found, own = learn(even)
    assert found == pytest.approx(row, rel=1e-4, abs=1e-6)
    for name, value in weights.items():
        torch.testing.assert_close(own[name], value, rtol=0, atol=1e-6)


def test_nothing_is_learned_from_what_lies_behind_the_last_steps():
    results = []
    for waste in (0.0, 7.0):
        rollout = fill_rollout(make_policy())
        rollout.lengths = torch.tensor([6, 3, 1, 5] * 4)
        behind = ~rollout.counted
        for name in ("rewards", "values", "log_probs"):
            getattr(rollout, name)[behind] += waste
        rollout.actions[behind] = int(waste > 0)
        rollout.observations["depth"][behind] *= 1 - waste / 8
        results.append(learn(rollout))
    assert results[0][0] == results[1][0] and same(results[0][1], results[1][1])
    assert results[0][0]["ratio_error"] == 0
    assert results[0][0] != learn(fill_rollout(make_policy()))[0]


@pytest.mark.parametrize(
    "change",
    [
        {},
        {"augmentation": AugmentationSettings(0.2, 0.1, per="episode")},
        {"method": replace(PPO.method, auxiliaries=(INVERSE_DYNAMICS, replace(CPC_ACTION, weight=1.0)))},
    ],
    ids=["plain", "augmented", "with auxiliaries"],
)
def test_one_group_is_the_synchronous_collection(tmp_path, change):
    """The same bits are collected; sums are weighted in another order."""
    whole = make_training(tmp_path / "whole", replace(PPO, **change))
    alone = make_training(tmp_path / "alone", replace(VARIABLE, groups=1, **change))
    for one in (whole, alone):
        one.advance()
    taken = alone._rollout.first(PPO.steps)
    for name in ("mask", "actions", "log_probs", "values", "rewards", "cut_values", "terminated"):
        assert torch.equal(getattr(taken, name), getattr(whole._rollout, name)), name
    assert same(taken.observations, whole._rollout.observations)
    assert alone.frames == whole.frames == 64
    for name, value in whole._policy.state_dict().items():
        torch.testing.assert_close(alone._policy.state_dict()[name], value, rtol=0, atol=1e-5)


def test_each_group_changes_its_own_images(tmp_path):
    training = make_variable(tmp_path, replace(VARIABLE, augmentation=AugmentationSettings(0.2, 0.1)))
    augmenters = [one._augmenter for one in training._collector._groups]
    first, second = [one.save_state()["changes"] for one in augmenters]
    assert len(first) == len(second) == 4 and first != second
    assert training.advance()["ratio_error"] == pytest.approx(0, abs=1e-5)
    training.close()


def test_fast_groups_take_more_steps(tmp_path):
    training = make_variable(tmp_path)
    slow_down(training, 1, 0.02)
    row = training.advance()
    assert training.frames == 64 and row["ratio_error"] == pytest.approx(0, abs=1e-5)
    collector = training._collector
    rollout = collector.collect(training._rollout, 0.5)
    fast, slow = rollout.lengths.reshape(2, 4).tolist()
    assert len(set(fast)) == len(set(slow)) == 1
    assert fast[0] > slow[0] >= 0 and fast[0] + slow[0] == 16 and rollout.frames == 64
    assert rollout.steps == fast[0] <= 2 * VARIABLE.steps
    for end in rollout.ends:
        assert (rollout.terminated | rollout.truncated)[end.step, end.slot]
        assert end.episode.scene_id == ROOMS[end.slot // 4]
    training.close()


def test_a_group_that_waits_long_gets_no_more_than_memory_is_there_for(tmp_path):
    training = make_variable(tmp_path)
    slow_down(training, 1, 0.3)
    lengths = training._collector.collect(training._rollout, 0.0).lengths.reshape(2, 4)[:, 0].tolist()
    assert sum(lengths) == 2 * VARIABLE.steps and max(lengths) <= 2 * VARIABLE.steps
    training.close()


@pytest.mark.parametrize("order", ["ranges", "shuffled"])
def test_slots_without_steps_are_in_no_minibatch(order):
    """One group of two took all steps: a minibatch of the other's slots alone would be a mean of nothing."""
    method = replace(PPO.method, order=order, minibatches=2)
    rollout, policy = fill_rollout(make_policy(), steps=3, slots=4), make_policy()
    rollout.lengths = torch.tensor([3, 3, 0, 0])
    optimiser = make_optimiser(policy, method.optimiser)
    row = update_ppo(policy, optimiser, rollout, method, 0.0, np.random.default_rng(0))
    assert np.isfinite(list(row.values())).all() and row["gradient_norm"] > 0


@pytest.mark.parametrize("kinds", [(), (INVERSE_DYNAMICS, CPC_ACTION)])
def test_fewer_slots_with_steps_than_minibatches_learn_from_these(kinds):
    method = replace(PPO.method, minibatches=4, epochs=1, auxiliaries=kinds)
    rollout, policy = fill_rollout(make_policy(), steps=3, slots=4), make_policy()
    if kinds:
        policy.auxiliaries = AuxiliaryHeads(policy, kinds, INPUTS, (), 4, 0)
    rollout.lengths = torch.tensor([3, 3, 0, 0])
    before = {name: value.clone() for name, value in policy.state_dict().items()}
    optimiser = make_optimiser(policy, method.optimiser)
    row = update_ppo(policy, optimiser, rollout, method, 0.0, np.random.default_rng(0))
    assert np.isfinite(list(row.values())).all() and row["gradient_norm"] > 0
    assert not same(before, policy.state_dict())


def test_claims_are_of_whole_steps():
    claims = Claims(9)
    assert [claims.take(4) for _ in range(3)] == [True, True, False] and claims.take(1)
    claims = Claims(9)
    claims.stop()
    assert not claims.take(1)


def test_a_training_that_was_stopped_goes_on(tmp_path):
    with pytest.raises(KeyboardInterrupt):
        make_variable(tmp_path).run(stop_after(3))
    again = make_variable(tmp_path)
    assert (again.frames, again.updates) == (128, 2)
    running = [again._batches[group].episode(0).scene_id for group in range(2)]
    assert running == list(ROOMS)
    again.run()
    assert again.frames == 256
    again.close()


def test_an_error_in_a_group_ends_the_rollout(tmp_path):
    training = make_variable(tmp_path)
    judge = training._batches[1].step

    def break_it(actions):
        result = judge(actions)
        result.reward[2] = np.nan
        return result

    training._batches[1].step = break_it
    with pytest.raises(CheckFailedError, match="finite rewards, got nan in slot 2"):
        training.advance()
    training.close()


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"groups": 3}, "equal size of 8 slots, got 3"),
        ({"groups": 0}, "groups of at least 1"),
        ({"method": replace(PPO.method, auxiliaries=(TEMPORAL_DISTANCE,))}, "loss temporal_distance"),
        ({"method": ImitationSettings()}, "expected PPO"),
    ],
)
def test_settings_that_do_not_go_with_it(change, words):
    with pytest.raises(InputError, match=words):
        replace(VARIABLE, **change)


def test_every_group_of_every_process_has_houses_and_draws_of_its_own(tmp_path):
    rooms = tuple("abcd")
    trainings = [make_variable(tmp_path, rooms=rooms, processes=Processes(rank, 2)) for rank in range(2)]
    houses = [sampler.houses for one in trainings for sampler in one._samplers]
    assert sorted(houses) == [(room,) for room in rooms]
    names = ("episodes", "episodes1", "actions", "actions1")
    draws = [one._generators[name].random() for one in trainings for name in names]
    assert len(set(draws)) == 8
    with pytest.raises(InputError, match="one house for each of 4 processes, got 2"):
        make_variable(tmp_path, processes=Processes(0, 2))
