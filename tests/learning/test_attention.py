"""Memories of attention against plain ones: a list of embeddings for each slot, emptied at every start."""

import math

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings

torch = pytest.importorskip("torch")

from navarena.core.errors import InputError  # noqa: E402
from navarena.learning.inputs import InputSpec  # noqa: E402
from navarena.learning.networks import attention  # noqa: E402
from navarena.learning.networks.attention import (  # noqa: E402
    POSE,
    FRMQNMemory,
    Ring,
    SMTMemory,
    relate_poses,
)
from navarena.learning.settings import PolicySettings  # noqa: E402

from .made import fill_rollout, make_policy  # noqa: E402

pytestmark = pytest.mark.learn

INPUTS, HIDDEN = 7, 8


def make_memory(kind, size):
    with torch.random.fork_rng():
        torch.manual_seed(5)
        if kind == "frmqn":
            return FRMQNMemory(INPUTS, HIDDEN, size)
        return SMTMemory(INPUTS, HIDDEN, size, 2, has_pose=kind == "smt with poses")


class PlainSMT:
    """One slot of SMT: a list of what it saw."""

    def __init__(self, memory, size):
        self.memory, self.size, self.seen = memory, size, []

    def step(self, features, begins):
        self.seen = [*([] if begins else self.seen), features][-self.size :]
        rows = []
        for age, one in zip(reversed(range(len(self.seen))), self.seen, strict=True):
            if self.memory._has_pose:
                turn = float(features[2])
                ahead, right = (one[:2] - features[:2]).tolist()
                # the body's axes in the start frame: ahead is turned to the left, away from right
                axes = ((math.cos(turn), -math.sin(turn)), (math.sin(turn), math.cos(turn)))
                x, y = (a * ahead + b * right for a, b in axes)
                apart = float(one[2]) - turn
                pose = torch.tensor([x, y, math.cos(apart), math.sin(apart), math.exp(-age)])
                one = torch.cat((one[POSE:], self.memory.pose_layer(pose)))
            rows.append(self.memory.fusion(one))
        rows = torch.stack(rows)
        remembered = self.transform(self.memory.encoder, rows, rows)
        return self.transform(self.memory.decoder, rows[-1:], remembered)[0]

    def transform(self, layer, queries, memory):
        norms = list(layer.norms)
        if len(layer.attentions) == 2:
            queries = norms.pop(0)(queries + attend(layer.attentions[0], queries, queries))
        queries = norms.pop(0)(queries + attend(layer.attentions[-1], queries, memory))
        return layer.last_norm(norms.pop(0)(queries + layer.forward_layers(queries)))


def attend(attention, queries, memory):
    query, key, value = (
        layer(one) for layer, one in zip(attention.into, (queries, memory, memory), strict=True)
    )
    half, parts = HIDDEN // 2, []
    for head in (slice(0, half), slice(half, HIDDEN)):
        scores = query[:, head] @ key[:, head].T / math.sqrt(half)
        parts.append(scores.softmax(1) @ value[:, head])
    return attention.out(torch.cat(parts, 1))


class PlainFRMQN:
    """One slot of FRMQN: lists of keys and values."""

    def __init__(self, memory, size):
        self.memory, self.size = memory, size
        self.start()

    def start(self):
        self.seen, self.state, self.read = [], (torch.zeros(1, HIDDEN),) * 2, torch.zeros(HIDDEN)

    def step(self, features, begins):
        if begins:
            self.start()
        net, embedded = self.memory, self.memory.embedding(features)
        self.seen = [*self.seen, embedded][-self.size :]
        self.state = net.cell(torch.cat((embedded, self.read))[None], self.state)
        hidden = self.state[0][0]
        scores = torch.stack([net.key(one) @ hidden for one in self.seen])
        self.read = sum(p * net.value(one) for p, one in zip(scores.softmax(0), self.seen, strict=True))
        output = net.output(hidden) + self.read
        return torch.cat((output[: HIDDEN // 2].relu(), output[HIDDEN // 2 :]))


def plain(memory, features, mask, size):
    """(T, N, H) outputs of one plain memory for each slot; the rollout begins new episodes."""
    kind = PlainFRMQN if isinstance(memory, FRMQNMemory) else PlainSMT
    rows = []
    for slot in range(mask.shape[1]):
        one = kind(memory, size)
        steps = zip(features[:, slot], mask[:, slot].tolist(), strict=True)
        rows.append([one.step(x, not keep) for x, keep in steps])
    return torch.stack([torch.stack(row) for row in rows], 1)


@pytest.mark.parametrize("kind", ["smt", "smt with poses", "frmqn"])
@settings(max_examples=25)
@given(st.data())
def test_unrolling_equals_steps_and_lists(kind, data):
    steps, slots = data.draw(st.integers(1, 9)), data.draw(st.integers(1, 3))
    size, cut = data.draw(st.integers(1, 5)), data.draw(st.integers(0, steps))
    keeps = data.draw(st.lists(st.booleans(), min_size=steps * slots, max_size=steps * slots))
    generator = np.random.default_rng(data.draw(st.integers(0, 99)))
    memory = make_memory(kind, size)
    features = torch.from_numpy(generator.normal(size=(steps, slots, INPUTS))).float()
    mask = torch.tensor(keeps).reshape(steps, slots)
    mask[0] = False
    with torch.no_grad():
        # what stood there before is of other episodes
        state = {k: torch.full_like(v, 3) for k, v in memory.initial_state(slots).items()}
        whole, after = memory.unroll(features, state, mask)
        first, between = memory.unroll(features[:cut], state, mask[:cut]) if cut else (whole[:0], state)
        second, last = (
            memory.unroll(features[cut:], between, mask[cut:]) if cut < steps else (whole[:0], between)
        )
        torch.testing.assert_close(whole, plain(memory, features, mask, size), rtol=1e-4, atol=1e-5)
    if kind == "frmqn":
        assert torch.equal(torch.cat((first, second)), whole)
    torch.testing.assert_close(torch.cat((first, second)), whole, rtol=1e-5, atol=1e-6)
    for name, value in after.items():
        torch.testing.assert_close(last[name], value, rtol=1e-5, atol=1e-6)


def test_ring_keeps_the_last_ones():
    ring = Ring(3, 1)
    state = ring.initial_state(1, "cpu")
    for step in range(5):
        entries, ages, lives, state = ring.write(
            torch.tensor([[float(step)]]), state, torch.tensor([step > 0])
        )
        rows = zip(entries[0, :, 0], ages[0], lives[0], strict=True)
        present = {int(age): float(entry) for entry, age, alive in rows if alive}
        assert present == {age: float(step - age) for age in range(min(step + 1, 3))}
    _, _, lives, state = ring.write(torch.tensor([[9.0]]), state, torch.tensor([False]))
    assert lives.sum() == 1 and state["steps"].item() == 1
    with pytest.raises(InputError, match="at least 1 step"):
        Ring(0, 1)


def test_poses_by_hand():
    # the body stands 2 m ahead of its start and has turned a quarter to the left
    present = torch.tensor([[2.0, 0.0, math.pi / 2]])
    poses = torch.tensor([[[2.0, 0.0, math.pi / 2], [0.0, 0.0, 0.0], [2.0, 3.0, math.pi]]])
    seen = relate_poses(poses, present, torch.tensor([[0, 1, 2]]))[0]
    expected = [
        [0.0, 0.0, 1.0, 0.0, 1.0],
        [0.0, -2.0, 0.0, -1.0, math.exp(-1)],  # the start is 2 m to the left, and it looked to the right
        [-3.0, 0.0, 0.0, 1.0, math.exp(-2)],  # what was to the right is behind now
    ]
    torch.testing.assert_close(seen, torch.tensor(expected), rtol=0, atol=1e-6)


@pytest.mark.parametrize("kind", ["smt", "frmqn"])
def test_only_the_present_step_passes_gradients_to_its_features(kind):
    memory = make_memory(kind, 4)
    generator = np.random.default_rng(0)
    features = torch.from_numpy(generator.normal(size=(3, 1, INPUTS))).float().requires_grad_()
    mask = torch.tensor([[False], [True], [True]])
    outputs, state = memory.unroll(features, memory.initial_state(1), mask)
    outputs[2, 0, -1].backward()
    assert features.grad[2].any()
    assert kind == "frmqn" or not features.grad[:2].any(), "FRMQN's LSTM alone leads back"
    assert not state["entries"].requires_grad
    assert all(one.grad is not None for one in memory.parameters())


@pytest.mark.parametrize("kind", ["smt", "smt with poses"])
def test_gradients_of_weights_are_those_of_lists(kind, monkeypatch):
    """Of steps with 1 to 4 entries, some of which are read together."""
    monkeypatch.setattr(attention, "ROWS", 4)
    memory = make_memory(kind, 4)
    features = torch.from_numpy(np.random.default_rng(1).normal(size=(7, 2, INPUTS))).float()
    mask = torch.ones(7, 2, dtype=torch.bool)
    mask[0], mask[4, 1] = False, False
    expected = plain(memory, features, mask, 4)
    found, _ = memory.unroll(features.requires_grad_(), memory.initial_state(2), mask)
    torch.testing.assert_close(found, expected, rtol=1e-4, atol=1e-5)
    wanted = torch.randn(found.shape, generator=torch.Generator().manual_seed(0))
    for one, other in zip(
        torch.autograd.grad((found * wanted).sum(), list(memory.parameters())),
        torch.autograd.grad((expected * wanted).sum(), list(memory.parameters())),
        strict=True,
    ):
        torch.testing.assert_close(one, other, rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("kind", ["smt", "frmqn"])
def test_policies_judge_as_they_act(kind):
    inputs = (
        InputSpec("depth", (36, 36, 1), "float16"),
        InputSpec("gps", (2,), "float32"),
        InputSpec("compass", (1,), "float32"),
    )
    sizes = PolicySettings(kind, 16, 1, 16, 8, 4, memory_steps=3, heads=2, has_pose=kind == "smt")
    policy = make_policy(inputs=inputs, settings=sizes)
    rollout = fill_rollout(policy, inputs=inputs)
    part = rollout.fragment()
    judged = policy.evaluate_sequence(part.observations, part.actions, part.state, part.mask)
    torch.testing.assert_close(judged.values, rollout.values, rtol=0, atol=1e-6)
    assert torch.equal(judged.state["steps"] > 0, torch.ones(16, dtype=torch.bool))
    judged.values.sum().backward()
    assert policy.encoder.image_encoder.layers[0].weight.grad.any()


def test_sizes_that_do_not_fit():
    with pytest.raises(InputError, match="3 heads can share, got 8"):
        SMTMemory(4, 8, 2, 3, has_pose=False)
