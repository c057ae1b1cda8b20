"""Collection: labels that count nothing, and where the state of a policy begins anew."""

from dataclasses import replace

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from navarena.learning.settings import constant  # noqa: E402
from navarena.learning.storage import NO_LABEL  # noqa: E402
from navarena.tasks.task import StepResult  # noqa: E402

from .test_training import DAGGER, SMALL, TINY, make_training  # noqa: E402

pytestmark = pytest.mark.learn


@pytest.mark.parametrize("skips", [False, True])
def test_labels_of_a_stuck_teacher_count_nothing_if_wanted(tmp_path, skips):
    training = make_training(tmp_path, replace(TINY, method=replace(DAGGER, skips_stuck=skips)))
    teacher = training._collector._teacher
    label, count = teacher.label, 0

    def label_stuck(active=None):
        nonlocal count
        labels, count = label(active), count + 1
        teacher.stuck[:] = np.arange(TINY.slots) == count % TINY.slots
        return labels

    teacher.label = label_stuck
    training.advance()
    expected = np.zeros((TINY.steps, TINY.slots), bool)
    expected[np.arange(TINY.steps), (np.arange(TINY.steps) + 1) % TINY.slots] = skips
    np.testing.assert_array_equal((training._rollout.weights == 0).numpy(), expected)


def test_labels_of_masked_actions_count_nothing(tmp_path):
    training = make_training(tmp_path, replace(TINY, method=DAGGER, masked=("turn_left",)))
    label, wanted = training._collector._teacher.label, []

    def note(active=None):
        wanted.append(label(active))
        return wanted[-1]

    training._collector._teacher.label = note
    row = training.advance()
    left = training._info.actions.index("turn_left")
    expected = np.array(wanted)
    assert (expected == left).any() and row["imitation_loss"] < 10.0
    np.testing.assert_array_equal(training._rollout.labels, np.where(expected == left, NO_LABEL, expected))


@pytest.mark.parametrize(
    ("remembers", "expected"),
    [
        ("subtask", [0, 0, 1, 0, 0]),
        ("episode", [0, 1, 1, 0, 0]),
        ("tour", [1, 1, 1, 0, 0]),
        ("scene", [1, 1, 1, 1, 0]),
    ],
)
def test_states_go_on_as_far_as_the_policy_remembers(tmp_path, remembers, expected):
    """Slots: the next episode of a tour, a sub-task, a step, the end of a tour, and one of another scene."""
    policy = replace(SMALL, remembers=remembers)
    recipe = replace(TINY, policy=policy, slots=5, method=replace(DAGGER, minibatches=1))
    training = make_training(tmp_path, recipe)
    training.advance()
    here = training._batch.episode(0)
    over = {0: here, 3: here, 4: replace(here, scene_id="elsewhere")}
    none, ended = np.zeros(5, bool), np.array([False, False, False, True, True])
    result = StepResult(np.zeros(5), none, none, began=np.array([False, True, False, False, False]))
    assert training._collector._find_kept(result, over, ended).astype(int).tolist() == expected


def test_who_leads_is_drawn_for_every_episode_of_a_tour(tmp_path):
    """Slots: a step, the next episode of a tour, and the end of a tour, for which the next one draws."""
    method = replace(DAGGER, teacher_share=constant(0.0), minibatches=1)
    collector = make_training(tmp_path, replace(TINY, slots=3, method=method))._collector
    collector._mix.led[:] = True
    collector._draw_leaders([1, 2], np.array([False, False, True]), 0.0)
    assert collector._mix.led.tolist() == [True, False, True]
    before = collector._generators["teacher"].bit_generator.state
    collector._draw_leaders([2], np.array([False, False, True]), 0.0)
    assert collector._generators["teacher"].bit_generator.state == before, "nothing is drawn without tours"


def test_ends_of_episodes_are_noted(tmp_path):
    training = make_training(tmp_path, replace(TINY, steps=48))
    training.advance()
    rollout = training._rollout
    ended = torch.nonzero(rollout.terminated | rollout.truncated)
    assert sorted([end.step, end.slot] for end in rollout.ends) == ended.tolist() != []
    assert all(end.episode.scene_id == "room" for end in rollout.ends)


@pytest.mark.parametrize("mixing", ["episode", "step"])
def test_a_policy_only_follows_a_teacher_that_decides_everywhere(tmp_path, mixing, monkeypatch):
    hashes = []
    for number, follows in enumerate((True, False)):
        method = replace(DAGGER, teacher_share=constant(1.0), mixing=mixing)
        training = make_training(tmp_path / str(number), replace(TINY, method=method))
        collector = training._collector
        if follows:
            monkeypatch.setattr(collector, "_draw", None)  # nothing is sampled
        else:
            monkeypatch.setattr(collector._mix, "leads_all", lambda done: False)
        training.advance()
        rollout = training._rollout
        assert torch.equal(rollout.actions, rollout.labels)
        assert bool((rollout.values != 0).any()) is not follows
        hashes.append({name: value.clone() for name, value in training._policy.state_dict().items()})
    assert all(torch.equal(value, hashes[1][name]) for name, value in hashes[0].items())
