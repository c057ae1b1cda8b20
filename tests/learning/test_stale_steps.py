"""Rollouts that others end early: which steps of older policies stay, and what is learned from them."""

from dataclasses import replace
from threading import Condition

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from navarena.core.errors import InputError  # noqa: E402
from navarena.learning.distributed import Processes  # noqa: E402
from navarena.learning.rollouts.collection import Collector  # noqa: E402
from navarena.learning.rollouts.returns import weigh_lengths  # noqa: E402
from navarena.learning.rollouts.variable_collection import Claims, VariableCollector, count_stale  # noqa: E402
from navarena.learning.settings import constant  # noqa: E402
from navarena.learning.storage import Rollout  # noqa: E402
from navarena.learning.trainings.updates import make_optimiser, update_ppo  # noqa: E402

from .made import INPUTS, fill_rollout, make_policy  # noqa: E402
from .test_training import PPO, make_training, same, stop_after  # noqa: E402

pytestmark = pytest.mark.learn

VARIABLE = replace(PPO, collection="variable", groups=1)


class Hurried(Processes):
    """A process alone whose rollouts end after so many frames, as if others were complete.

    Args:
        plan: frames of each rollout; None, and after that, for all.
    """

    def __init__(self, *plan):
        super().__init__()
        self._plan = plan

    def can_end(self, share):
        return share < 1.0

    def must_end(self, done, steps, share):
        last = self._plan[self._rollouts - 1] if self._rollouts <= len(self._plan) else None
        return self.can_end(share) and last is not None and done >= last


class Turns:
    """Who takes the next step, and its number in the whole training."""

    def __init__(self):
        self.number, self.left, self.changed = 0, "", Condition()


class Numbered(Collector):
    """A group of one slot: step number k is rewarded with k, and the policy's state before it is k."""

    def __init__(self, name, turns):
        self._name, self._turns, self.ended = name, turns, []

    @property
    def state(self):
        return {"memory": torch.tensor([float(self._turns.number)])}

    def collect(self, part, done, claim):
        turns, step, part.ends, part.state = self._turns, 0, [], {"memory": torch.zeros(1)}
        with turns.changed:
            while turns.changed.wait_for(lambda: not turns.left or turns.left[0] == self._name, 10):
                if not turns.left:
                    break
                if step == 0:
                    part.state = self.state
                assert claim(step)
                part.rewards[step] = part.observations["pointgoal_with_gps_compass"][step] = turns.number
                step, turns.number, turns.left = step + 1, turns.number + 1, turns.left[1:]
                turns.changed.notify_all()
        part = part.first(step)
        part.next_values = torch.zeros(1)
        return part


def test_the_oldest_steps_are_overwritten_first():
    """Two slots of which each is a group, 4 steps in the mean: who stepped when, and what is learned from."""
    turns = Turns()
    collector = VariableCollector([Numbered(name, turns) for name in "ab"], 8, Hurried(), 0.6)
    storage = Rollout(INPUTS, 8, 2)
    for order, rows, stale, weights in (
        ("aabbaabb", ([0, 1, 4, 5], [2, 3, 6, 7]), None, (1, 1)),
        ("aab", ([4, 5, 8, 9], [3, 6, 7, 10]), [2, 3], (1, 1)),
        ("aaaab", ([11, 12, 13, 14], [6, 7, 10, 15]), [0, 3], (1, 1)),
        ("aaaaab", ([16, 17, 18, 19, 20], [10, 15, 21]), [0, 2], (4 / 5, 1)),  # 7 is the oldest of 7, 10, 15
        ("", ([16, 17, 18, 19, 20], [10, 15, 21]), [5, 3], (4 / 5, 1)),
        ("bbbbbbba", ([29], [22, 23, 24, 25, 26, 27, 28]), None, (1, 4 / 7)),  # complete: 17 to 20 go, too
    ):
        turns.left = order
        rollout = collector.collect(storage, 0.0)
        found = [rollout.rewards[rollout.counted[:, slot], slot].tolist() for slot in range(2)]
        assert found == list(rows), order
        assert rollout.lengths.tolist() == list(map(len, rows))
        assert rollout.state["memory"].tolist() == [own[0] for own in rows], order
        seen = rollout.observations["pointgoal_with_gps_compass"]
        assert (seen == rollout.rewards[..., None])[rollout.counted].all()
        assert (rollout.stale if stale is None else rollout.stale.tolist()) == stale, order
        assert rollout.frames == len(order)
        own = weigh_lengths(rollout.lengths, rollout.steps)
        assert own[0].tolist() == pytest.approx(weights)
    collector.close()


@pytest.mark.parametrize(
    ("stored", "fresh", "stale"),
    [
        ([[], []], [2, 1], [0, 0]),
        ([[0, 2, 4, 5], [1, 3]], [1, 2], [3, 0]),
        ([[0, 2, 4, 5], [1, 3]], [0, 3], [3, 0]),
        ([[0, 2, 4, 5], [1, 3]], [2, 0], [2, 2]),
        ([[0, 2, 4, 5], [1, 3]], [3, 3], [0, 0]),
        ([[1, 6, 7], [2, 3, 8]], [0, 4], [2, 0]),
        ([[1, 6, 7], [2, 3]], [0, 0], [3, 2]),
    ],
)
def test_the_newest_steps_of_all_groups_fill_up_six(stored, fresh, stale):
    assert count_stale(stored, fresh, 6) == stale


def test_claims_end_with_the_other_processes():
    processes = Hurried(6)
    processes.begin_rollout()
    claims = Claims(12, processes, 0.6)
    assert [claims.take(4) for _ in range(3)] == [True, True, False]
    assert Claims(12, processes, 1.0).take(12), "this one waits for all"


def test_old_returns_stay_and_fresh_ones_are_reckoned():
    """Two slots with 2 and 1 stale steps, discount and trace of a half; old rewards are of no more use."""
    rollout = fill_rollout(make_policy(), steps=3, slots=2)
    rollout.lengths, rollout.stale = torch.tensor([3, 2]), torch.tensor([2, 1])
    rollout.values[:] = torch.tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 9.0]])
    rollout.rewards[:] = torch.tensor([[np.nan, np.nan], [np.nan, 7.0], [8.0, 9.0]])
    rollout.returns[:] = torch.tensor([[1.5, 3.0], [2.0, 0.0], [0.0, 0.0]])
    rollout.terminated[:] = rollout.truncated[:] = False
    rollout.next_values = torch.tensor([6.0, 2.0])
    old = rollout.log_probs.clone()
    old[:, 0] += 0.3  # the actions were likelier then: ratios of exp(-0.3), which is clipped where it is good
    rollout.log_probs[:] = old
    method = replace(PPO.method, discount=0.5, trace=0.5, epochs=1, minibatches=1, clip=constant(0.2))
    policy = make_policy()
    row = update_ppo(
        policy, make_optimiser(policy, method.optimiser), rollout, method, 0.0, np.random.default_rng(0)
    )
    # fresh: 8 + 6 / 2 = 11, and 7 + 2 / 2 = 8
    assert rollout.returns[0].tolist() == [1.5, 3.0] and rollout.returns[:2, 1].tolist() == [3.0, 8.0]
    assert rollout.returns[:, 0].tolist() == [1.5, 2.0, 11.0]
    # advantages 0.5, -1, 6 and 1, 4; weights 2.5 / 3 of the first slot, 1 of the second
    ratio, share = np.exp(-0.3), 2.5 / 3
    gains = share * (0.5 * ratio - 1.0 * 0.8 + 6 * ratio) + 1 + 4
    assert row["policy_loss"] == pytest.approx(-gains / 5, rel=1e-5)
    assert "ratio_error" not in row, "older policies differ"


def test_without_an_early_end_a_process_of_several_learns_bit_for_bit_as_one_alone(tmp_path):
    alone = make_training(tmp_path / "alone", VARIABLE)
    one = make_training(tmp_path / "one", VARIABLE, processes=Hurried())
    for _ in range(3):
        assert alone.advance() == one.advance()
    assert same(alone._policy.state_dict(), one._policy.state_dict())


def test_a_rollout_that_was_ended_is_filled_up_by_the_steps_before_it(tmp_path):
    """All of it is one sequence: judged from the state before its first step, nothing has changed."""
    training = make_training(tmp_path, VARIABLE, processes=Hurried(None, 24, 40))
    collector, storage = training._collector, training._rollout
    before = collector.collect(storage, 0.0)
    kept = {name: getattr(before, name)[3:].clone() for name in ("actions", "values", "rewards", "mask")}
    after = collector.collect(storage, 0.0)
    assert after.lengths.tolist() == [8] * 8 and after.stale.tolist() == [5] * 8 and after.frames == 24
    assert same(kept, {name: getattr(after, name)[:5] for name in kept})
    again = collector.collect(storage, 0.0)
    assert again.stale.tolist() == [3] * 8, "of the second rollout; 5 more steps have overwritten the first"
    part = again.fragment()
    with torch.inference_mode():
        judged = training._policy.evaluate_sequence(part.observations, part.actions, part.state, part.mask)
    assert torch.equal(judged.distribution.log_prob(part.actions), again.log_probs)
    assert torch.equal(judged.values, again.values)


def test_frames_are_counted_once_and_stale_steps_are_not_saved(tmp_path):
    recipe = replace(VARIABLE, frames=64 + 2 * 32, save_updates=1)
    rows = []
    with pytest.raises(KeyboardInterrupt):
        training = make_training(tmp_path, recipe, processes=Hurried(None, 32))
        training.run(lambda row: (rows.append(row), stop_after(1)(row) if len(rows) == 2 else None))
    assert [row["stale_share"] for row in rows] == [0, 0.5] and [row["frames"] for row in rows] == [64, 96]
    again = make_training(tmp_path, recipe, processes=Hurried(32, 32))
    assert again.frames == 64
    assert again.advance()["stale_share"] == 0 and again.frames == 128, "there is nothing to fill it up with"
    assert again.advance()["stale_share"] == 0.5 and again.frames == 160


def test_states_that_are_too_large_to_be_stored_are_refused(tmp_path):
    recipe = replace(VARIABLE, policy=replace(VARIABLE.policy, memory="smt", memory_steps=4, heads=2))
    with pytest.raises(InputError, match="gru or lstm for .* got smt; --set preemption=1"):
        make_training(tmp_path, recipe, processes=Hurried())
    training = make_training(tmp_path, replace(recipe, preemption=1.0), processes=Hurried(8))
    training.advance()
    assert training.frames == 64, "nobody ends it"
