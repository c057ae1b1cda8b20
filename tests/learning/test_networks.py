"""Memories, heads and policies: sequences equal steps, states are reset, distributions are right."""

import math
from dataclasses import replace

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from navarena.core.errors import InputError, UnknownNameError  # noqa: E402
from navarena.learning.inputs import InputSpec, choose_inputs, resize_nearest  # noqa: E402
from navarena.learning.networks.embedded_encoder import apply_number_layer, make_number_layer  # noqa: E402
from navarena.learning.networks.encoder_kernels import stack_images  # noqa: E402
from navarena.learning.networks.encoders import CENTRE, ROWS, SPREAD, ImageEncoder, ObservationEncoder  # noqa: E402
from navarena.learning.networks.heads import Categorical, CategoricalHead, TanhGaussian  # noqa: E402
from navarena.learning.networks.memories import RecurrentMemory  # noqa: E402
from navarena.learning.policy import PREVIOUS  # noqa: E402
from navarena.learning.precision import choose_precision  # noqa: E402
from navarena.learning.storage import Rollout  # noqa: E402
from navarena.simulation.sensors.sensor import ObservationSpec  # noqa: E402

from .made import INPUTS, SMALL, draw_from, fill_rollout, make_policy  # noqa: E402

pytestmark = pytest.mark.learn


def make_memory(kind, layers):
    torch.manual_seed(3)
    return RecurrentMemory(5, 7, layers, kind)


@pytest.mark.parametrize("kind, layers", [("gru", 1), ("gru", 2), ("lstm", 1), ("lstm", 2)])
def test_packed_equals_stepwise(kind, layers):
    memory, generator = make_memory(kind, layers), np.random.default_rng(1)
    for steps, slots, kept in ((1, 3, 0.5), (9, 6, 0.7), (5, 4, 1.0), (6, 5, 0.0)):
        features = torch.from_numpy(generator.normal(size=(steps, slots, 5))).float()
        state = memory.initial_state(slots)
        state = {k: torch.from_numpy(generator.normal(size=v.shape)).float() for k, v in state.items()}
        mask = torch.from_numpy(generator.random((steps, slots)) < kept)
        outputs, after = memory.unroll(features, state, mask)
        packed, packed_after = memory.unroll_packed(features, state, mask)
        torch.testing.assert_close(packed, outputs, rtol=0, atol=1e-6)
        for name in after:
            torch.testing.assert_close(packed_after[name], after[name], rtol=0, atol=1e-6)
        packed.sum().backward()


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
@pytest.mark.parametrize("kind", ["gru", "lstm"])
def test_mixed_products_leave_recurrences_of_a_gpu_in_float32(kind):
    memory, mask = make_memory(kind, 2).cuda(), torch.rand(9, 6, device="cuda") > 0.3
    features = torch.randn(9, 6, 5, device="cuda")
    plain, _ = memory.unroll_packed(features, memory.initial_state(6), mask)
    with torch.autocast("cuda", torch.bfloat16):
        mixed, _ = memory.unroll_packed(features.bfloat16(), memory.initial_state(6), mask)
    assert mixed.dtype == torch.float32
    torch.testing.assert_close(mixed, plain, rtol=0, atol=0.02)


@pytest.mark.parametrize("kind, layers", [("gru", 1), ("gru", 2), ("lstm", 1), ("lstm", 2)])
def test_recurrences_by_hand_have_the_numbers_and_gradients_of_pytorch(kind, layers):
    """PyTorch's own cells, step by step, in float64."""
    memory = make_memory(kind, layers)
    for parameter in memory.parameters():
        parameter.data += 0.1 * torch.randn_like(parameter)
    features = torch.randn(9, 6, 5, requires_grad=True)
    start = {name: torch.randn(6, layers, 7, requires_grad=True) for name in memory.initial_state(1)}
    mask, weights = torch.rand(9, 6) > 0.3, torch.randn(9, 6, 7)
    inputs = [features, *start.values(), *memory.parameters()]
    outputs, after = memory.unroll(features, start, mask)
    ends = sum(one.square().sum() for one in after.values())
    found = torch.autograd.grad((outputs * weights).sum() + ends, inputs)
    cells = memory.cells.double()
    states, plain = [one.double().transpose(0, 1) for one in start.values()], []
    for one, keep in zip(features.double(), mask, strict=True):
        own = tuple((state * keep[None, :, None]).contiguous() for state in states)
        output, states = cells(one[None], own if kind == "lstm" else own[0])
        states = states if kind == "lstm" else (states,)
        plain.append(output[0])
    total = (torch.stack(plain) * weights).sum() + sum(state.square().sum() for state in states)
    expected = torch.autograd.grad(total, [features, *start.values(), *cells.parameters()])
    torch.testing.assert_close(outputs, torch.stack(plain).float(), rtol=0, atol=1e-6)
    for name, state in zip(after, states, strict=True):
        torch.testing.assert_close(after[name], state.transpose(0, 1).float(), rtol=0, atol=1e-6)
    for mine, other in zip(found, expected, strict=True):
        torch.testing.assert_close(mine, other.float(), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("width, dtype", [(48, torch.uint8), (50, torch.uint8), (48, torch.float16)])
def test_images_are_encoded_as_by_the_plain_layers(width, dtype):
    """In parts, and with columns that count as channels where they can."""
    encoder = ImageEncoder(3, 40, width, 12)
    images = torch.rand(ROWS + 9, 40, width, 3)
    images = (255 * images).to(dtype) if dtype == torch.uint8 else images.to(dtype)
    plain = images.float() / 255 if dtype == torch.uint8 else images.float()
    expected = encoder.layers(plain.permute(0, 3, 1, 2))
    found = encoder([images])
    torch.testing.assert_close(found, expected, rtol=1e-5, atol=1e-6)
    apart = encoder([images[..., :1], images[..., 1:]])
    assert torch.equal(apart, found)
    weight = encoder.layers[0].weight
    gradients = [torch.autograd.grad(one.square().sum(), weight)[0] for one in (found, expected)]
    torch.testing.assert_close(*gradients, rtol=1e-4, atol=1e-4)


def test_stacked_images_are_those_of_separate_passes():
    """Bit for bit, of bytes, half precision and float32, of rows that are apart in memory."""
    colours = torch.randint(0, 256, (5, 7, 9, 3), dtype=torch.uint8)
    depth, labels = torch.rand(5, 7, 9, 1).half(), torch.rand(5, 7, 9, 2)
    for centre, spread in ((0.0, 255.0), (CENTRE, SPREAD)):
        expected = torch.cat(((colours.float() - centre) / spread, depth.float(), labels), 3)
        assert torch.equal(stack_images([colours, depth, labels], centre, spread), expected)
        strided = stack_images([colours[::2], depth[::2], labels[::2]], centre, spread)
        assert torch.equal(strided, expected[::2])
    labels.requires_grad_()
    stack_images([depth, labels], 0.0, 255.0).sum().backward()
    assert torch.equal(labels.grad, torch.ones_like(labels)), "gradients reach features that are learned"


def test_precision_follows_the_processor():
    assert choose_precision("bfloat16") and not choose_precision("float32")
    assert choose_precision("auto", flags=frozenset({"avx2", "amx_bf16"}))
    assert not choose_precision("auto", flags=frozenset({"avx2", "avx512f"}))


@pytest.mark.parametrize("memory", ["gru", "lstm"])
def test_bfloat16_stays_inside_of_encoders_and_memories(memory):
    policy, exact = (make_policy(settings=replace(SMALL, memory=memory)) for _ in range(2))
    policy.in_bfloat16 = True
    rollout = fill_rollout(policy)
    assert all(value.dtype == torch.float32 for name, value in rollout.state.items() if name != PREVIOUS)
    judged, other = (
        one.evaluate_sequence(rollout.observations, rollout.actions, rollout.state, rollout.mask)
        for one in (policy, exact)
    )
    assert judged.values.dtype == judged.distribution.log_probs.dtype == torch.float32
    assert not torch.equal(judged.values, other.values)
    torch.testing.assert_close(judged.values, other.values, rtol=0, atol=0.03)
    ratio = (judged.distribution.log_prob(rollout.actions) - rollout.log_probs).exp()
    assert (ratio - 1).abs().max() < 1e-2
    judged.values.sum().backward()
    assert all(one.grad is None or one.grad.dtype == torch.float32 for one in policy.parameters())


def test_an_episode_knows_nothing_of_what_came_before():
    memory = make_memory("gru", 1)
    features = torch.randn(4, 2, 5)
    mask = torch.tensor([[True, True], [True, True], [False, True], [True, True]])
    state = {"hidden": torch.randn(2, 1, 7)}
    whole, _ = memory.unroll(features, state, mask)
    alone, _ = memory.unroll(features[2:, :1], memory.initial_state(1), torch.ones(2, 1, dtype=torch.bool))
    torch.testing.assert_close(whole[2:, :1], alone, rtol=0, atol=1e-6)
    zeroed, _ = memory.unroll(features, memory.initial_state(2), mask)
    assert not torch.allclose(whole[1], zeroed[1]) and torch.equal(whole[2:, 0], zeroed[2:, 0])


def test_weights_start_orthogonal():
    memory = make_memory("lstm", 2)
    for name, parameter in memory.cells.named_parameters():
        if "weight" in name:
            product = parameter.T @ parameter
            torch.testing.assert_close(product, torch.eye(len(product)), atol=1e-5, rtol=0)
        else:
            assert not parameter.any()


@pytest.mark.parametrize("memory", ["gru", "lstm"])
def test_evaluate_sequence_is_acting_bit_for_bit(memory):
    policy = make_policy(settings=replace(SMALL, memory=memory))
    rollout = fill_rollout(policy)
    part = rollout.fragment()
    judged = policy.evaluate_sequence(part.observations, part.actions, part.state, part.mask)
    assert torch.equal(judged.values, rollout.values)
    assert torch.equal(judged.distribution.log_prob(part.actions), rollout.log_probs)


def test_previous_action_counts_until_the_episode_ends():
    policy = make_policy()
    observations = {one.name: torch.zeros(8, *one.shape) for one in INPUTS}
    fresh = policy.initial_state(8)
    taken = policy.replace_actions(fresh, torch.full((8,), 2))
    goes_on, begins = torch.ones(8, dtype=torch.bool), torch.zeros(8, dtype=torch.bool)
    values = [policy.act(observations, state, mask).values for state, mask in
              ((fresh, begins), (taken, begins), (taken, goes_on))]  # fmt: skip
    assert torch.equal(values[0], values[1]) and not torch.equal(values[0], values[2])


def test_categorical_by_hand():
    log_probs = torch.tensor([[0.5, 0.25, 0.25]]).log().expand(4, 3)
    one = Categorical(log_probs)
    drawn = torch.tensor([[0.0], [0.4999], [0.5001], [0.9999]], dtype=torch.float64)
    assert one.sample(lambda rows, columns: drawn).tolist() == [0, 0, 1, 2]
    assert one.mode().tolist() == [0, 0, 0, 0]
    assert one.entropy()[0].item() == pytest.approx(1.5 * math.log(2.0))
    assert one.log_prob(torch.tensor([0, 1, 2, 0])).exp().tolist() == pytest.approx([0.5, 0.25, 0.25, 0.5])


def test_masked_actions_are_never_taken():
    head = CategoricalHead(6, 3, masked=(0, 2))
    one = head(torch.randn(50, 6))
    assert set(one.sample(draw_from(np.random.default_rng(0))).tolist()) == {1}
    assert one.entropy().abs().max() < 1e-6 and torch.isfinite(one.entropy()).all()
    with pytest.raises(InputError, match="one left"):
        CategoricalHead(6, 3, masked=(0, 1, 2))


def test_tanh_gaussian_has_a_density():
    one = TanhGaussian(torch.tensor([[0.3]]), torch.tensor([[-0.5]]))
    edges = torch.linspace(-1 + 1e-5, 1 - 1e-5, 200_001, dtype=torch.float64)[:, None]
    mass = torch.trapezoid(one.log_prob(edges).exp(), edges[:, 0])
    assert mass.item() == pytest.approx(1.0, abs=1e-4)
    many = TanhGaussian(torch.full((20_000, 1), 0.3), torch.full((20_000, 1), -0.5))
    drawn = many.sample(draw_from(np.random.default_rng(0)))
    before = torch.atanh(drawn)
    assert before.mean().item() == pytest.approx(0.3, abs=0.02)
    assert before.std().item() == pytest.approx(math.exp(-0.5), abs=0.02)
    assert many.mode()[0, 0].item() == pytest.approx(math.tanh(0.3))
    extreme = TanhGaussian(torch.full((1, 1), 50.0), torch.zeros(1, 1))
    assert torch.isfinite(extreme.log_prob(extreme.mode())).all()


def test_continuous_policies_act_and_are_judged_alike():
    policy = make_policy(actions=2, is_continuous=True)
    rollout = fill_rollout(policy, numbers=2)
    part = rollout.fragment()
    judged = policy.evaluate_sequence(part.observations, part.actions, part.state, part.mask)
    assert torch.equal(judged.distribution.log_prob(part.actions), rollout.log_probs)
    assert rollout.actions.abs().max() < 1


def test_subsampling_takes_the_centres():
    image = np.arange(480 * 640).reshape(1, 480, 640, 1)
    seen = resize_nearest(image, (48, 64))
    assert seen[0, 0, 0, 0] == 5 * 640 + 5 and seen[0, -1, -1, 0] == 475 * 640 + 635
    odd = resize_nearest(image, (64, 64))  # 7.5 rows each: the centres 3.75, 11.25, ...
    assert odd[0, :3, 0, 0].tolist() == [3 * 640 + 5, 11 * 640 + 5, 18 * 640 + 5]
    assert resize_nearest(seen, (48, 64)) is seen


def test_inputs_are_chosen_of_what_there_is():
    specs = {
        "rgb": ObservationSpec((480, 640, 3), np.uint8, 0, 255),
        "depth": ObservationSpec((480, 640, 1), np.float32, 0, 1),
        "gps": ObservationSpec((2,), np.float32, -np.inf, np.inf),
        "objectgoal": ObservationSpec((1,), np.int64, 0, 20),
    }
    chosen = choose_inputs(specs, tuple(specs), (48, 64))
    assert [(one.shape, one.dtype, one.classes) for one in chosen] == [
        ((48, 64, 3), "uint8", 0), ((48, 64, 1), "float16", 0), ((2,), "float32", 0), ((1,), "int64", 21),
    ]  # fmt: skip
    rollout = Rollout(chosen[1:2], 3, 2)
    seen = rollout.observe(1, {"depth": np.full((2, 480, 640, 1), 0.3, np.float32)})["depth"].numpy()
    assert (seen == np.float16(0.3)).all() and seen.shape == (2, 48, 64, 1)
    assert not rollout.observations["depth"][[0, 2]].any()
    with pytest.raises(UnknownNameError, match="did you mean 'depth'|depth"):
        choose_inputs(specs, ("depht",), (48, 64))
    with pytest.raises(InputError, match="at least 1000 x 48 pixels, got 640 x 480"):
        choose_inputs(specs, ("rgb",), (48, 1000))


def test_numbers_of_other_sensors_are_taken_as_they_are():
    theirs = InputSpec("their_numbers", (2, 2), "float32")
    encoder = ObservationEncoder((theirs,), 8, 5)
    values = torch.tensor([[[1.0, -2.0], [0.5, 30.0]]])
    torch.testing.assert_close(
        encoder({"their_numbers": values}), encoder.number_encoder(torch.tensor([[1.0, -2.0, 0.5, 30.0]]))
    )
    layer = make_number_layer(theirs, 5)
    torch.testing.assert_close(apply_number_layer(theirs, layer, values), layer(values.flatten(1)))


def test_encoders_refuse_what_they_cannot_read():
    with pytest.raises(InputError, match="at least 36 x 36"):
        ObservationEncoder((InputSpec("rgb", (20, 64, 3), "uint8"),), 8, 8)
    goal = InputSpec("objectgoal", (1,), "int64", 3)
    encoder = ObservationEncoder((goal,), 8, 8)
    assert encoder.number_encoder[0].in_features == 3 and encoder.features == 8
    assert encoder({"objectgoal": torch.tensor([[2], [0]])}).shape == (2, 8)


def test_a_temperature_sharpens_distributions():
    """Probabilities 0.2 and 0.8 at 0.5: squares 0.04 and 0.64, of 0.68; a deviation of 2 at 0.25: 1."""
    chosen = Categorical(torch.tensor([[0.2, 0.8]]).log())
    torch.testing.assert_close(chosen.sharpen(0.5).log_probs.exp(), torch.tensor([[0.04, 0.64]]) / 0.68)
    assert chosen.sharpen(1.0) is chosen
    numbers = TanhGaussian(torch.zeros(1, 1), torch.full((1, 1), math.log(2.0))).sharpen(0.25)
    torch.testing.assert_close(numbers.log_deviation, torch.zeros(1, 1))
