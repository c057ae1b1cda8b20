"""Auxiliary losses: tables by hand, and NumPy loops beside each; their heads in both kinds of updates."""

import json
from dataclasses import replace

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from navarena.core.errors import InputError, UnknownNameError  # noqa: E402
from navarena.learning.auxiliaries.heads import AuxiliaryHeads, judge_fragment, record_activations  # noqa: E402
from navarena.learning.auxiliaries.losses import (  # noqa: E402
    contrast_loss,
    count_horizons,
    count_pairs,
    find_categories,
    inverse_dynamics_loss,
    last_steps,
    progress_loss,
    recognition_loss,
    rotation_loss,
    temporal_distance_loss,
    turn_images,
)
from navarena.learning.auxiliaries.settings import (  # noqa: E402
    CPC_ACTION,
    INVERSE_DYNAMICS,
    PROGRESS,
    RECOGNITION,
    ROTATION,
    TEMPORAL_DISTANCE,
    Auxiliary,
)
from navarena.learning.checkpoints.files import MODEL, RESUME  # noqa: E402
from navarena.learning.checkpoints.policies import load_policy  # noqa: E402
from navarena.learning.inputs import InputSpec  # noqa: E402
from navarena.learning.networks.encoder_settings import EncoderSettings  # noqa: E402
from navarena.learning.policy import RecurrentPolicy  # noqa: E402
from navarena.learning.settings import (  # noqa: E402
    HABITAT_DDPPO,
    ImitationSettings,
    PolicySettings,
    constant,
)
from navarena.learning.storage import NO_ACTION  # noqa: E402
from navarena.learning.trainings.updates import make_optimiser, update_imitation, update_ppo  # noqa: E402

from .made import INPUTS, fill_rollout, make_policy  # noqa: E402

pytestmark = pytest.mark.learn

ALL = (PROGRESS, INVERSE_DYNAMICS, ROTATION, RECOGNITION, CPC_ACTION, TEMPORAL_DISTANCE)
TARGETS = (InputSpec("progress", (1,), "float32"), InputSpec("semantic_classes", (4, 4, 1), "uint8", 64))
MASK = torch.tensor([[1, 0], [1, 1], [0, 1], [1, 1], [1, 0]], dtype=torch.bool)
"""Two slots: the first has its second episode from step 2, the second its own from 0 and 4."""


def cross_entropy(logits, label):
    return np.log(np.exp(logits).sum()) - logits[label]


def test_progress_by_hand():
    predicted = torch.tensor([[0.5, 0.0], [-0.5, 1.0]])
    progress = torch.tensor([[1.0, float("nan")], [-1.0, 1.0]])
    assert progress_loss(predicted, progress).item() == pytest.approx((0.25 + 0.25 + 0.0) / 3)
    assert progress_loss(predicted, torch.full((2, 2), float("inf"))).item() == 0.0


def test_pairs_and_inverse_dynamics_by_hand():
    counted = count_pairs(MASK)
    assert counted.int().tolist() == [[1, 1], [0, 1], [1, 1], [1, 0], [0, 0]]
    generator = np.random.default_rng(0)
    logits = generator.normal(size=(5, 2, 3)).astype(np.float32)
    actions = generator.integers(3, size=(5, 2))
    expected = np.mean(
        [cross_entropy(logits[t, n].astype(float), actions[t, n])
         for t in range(5) for n in range(2) if counted[t, n]]
    )  # fmt: skip
    found = inverse_dynamics_loss(torch.from_numpy(logits), torch.from_numpy(actions), counted)
    assert found.item() == pytest.approx(expected, rel=1e-5)
    sure = torch.tensor([[[0.0, 100.0]]])
    assert inverse_dynamics_loss(sure, torch.tensor([[1]]), torch.tensor([[True]])).item() == 0.0


def test_turned_images_and_rotation_by_hand():
    image = torch.arange(9).reshape(1, 3, 3, 1).repeat(4, 1, 1, 1)
    turned = turn_images(image, torch.arange(4))
    for quarter in range(4):
        expected = np.rot90(image[0, :, :, 0].numpy(), quarter)
        np.testing.assert_array_equal(turned[quarter, :, :, 0].numpy(), expected)
    wide = turn_images(torch.arange(8).reshape(1, 2, 4, 1), torch.tensor([1]))[0, :, :, 0]
    assert wide.tolist() == [[3, 3, 7, 7], [1, 1, 5, 5]], "turned and squeezed"
    logits = torch.tensor([[0.0, 0.0, 0.0, 0.0], [2.0, 0.0, 0.0, 0.0]])
    expected = (np.log(4) + cross_entropy(np.array([2.0, 0, 0, 0]), 0)) / 2
    assert rotation_loss(logits, torch.tensor([3, 0])).item() == pytest.approx(expected)


def test_recognition_by_hand():
    labels = torch.tensor([[[0, 2, 9]], [[-1, 1, 1]]])
    present = find_categories(labels, 3)
    assert present.int().tolist() == [[[1, 0, 1]], [[0, 1, 0]]]
    logits = torch.tensor([[[1.0, -1.0, 0.0]], [[0.0, 3.0, 0.0]]])
    signed = np.where(present.numpy(), 1.0, -1.0) * logits.numpy()
    expected = np.log1p(np.exp(-signed)).mean()
    assert recognition_loss(logits, present).item() == pytest.approx(expected, rel=1e-6)


def test_horizons_and_contrast_by_hand():
    start, slot = torch.tensor([0, 0, 2, 3]), torch.tensor([0, 1, 0, 1])
    counted = count_horizons(MASK, start, slot, (1, 2, 3))
    assert counted.int().tolist() == [[1, 0, 0], [1, 1, 1], [1, 1, 0], [0, 0, 0]]
    positive, negative = torch.tensor([[2.0, 9.0]]), torch.tensor([[-1.0, 9.0]])
    expected = (np.log1p(np.exp(-2.0)) + np.log1p(np.exp(-1.0))) / 2
    found = contrast_loss(positive, negative, torch.tensor([[True, False]]))
    assert found.item() == pytest.approx(expected, rel=1e-6)


def test_last_steps_and_temporal_distance_by_hand():
    assert last_steps(MASK).tolist() == [[1, 3], [1, 3], [4, 3], [4, 3], [4, 4]]
    first, second = torch.tensor([0, 1]), torch.tensor([4, 1])
    found = temporal_distance_loss(torch.tensor([0.5, 0.5]), first, second, 8)
    assert found.item() == pytest.approx(0.5 * (0.0 + 0.25))


def make_all(seed=0, chosen=ALL):
    policy = make_policy(seed=seed)
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        policy.auxiliaries = AuxiliaryHeads(policy, chosen, INPUTS, TARGETS, 4, 0)
    return policy


def make_rollout(policy, **more):
    rollout = fill_rollout(policy, steps=8, **more)
    generator = np.random.default_rng(1)
    rollout.observations["progress"] = torch.from_numpy(generator.random((8, 16, 1), np.float32))
    rollout.observations["semantic_classes"] = torch.from_numpy(generator.integers(70, size=(8, 16, 4, 4, 1)))
    return rollout


def test_temporal_pairs_and_contrasts_equal_loops():
    """The heads' numbers from single rows, one after the other."""
    policy = make_all()
    rollout = make_rollout(policy)
    part = rollout.fragment()
    with record_activations(policy) as activations:
        policy.evaluate_sequence(part.observations, part.actions, part.state, part.mask)
    seen, beliefs = activations.seen.reshape(8, 16, -1), activations.beliefs
    head = policy.auxiliaries.heads["cpc_action"]
    start, slot, others = torch.tensor([0, 5]), torch.tensor([3, 1]), torch.tensor([[7, 9], [0, 100]])
    positive, negative = head(part.actions, seen, beliefs, start, slot, (3, 1), others)
    for s, (t, n) in enumerate(((0, 3), (5, 1))):
        for k, horizon in enumerate((3, 1)):
            if t + horizon >= 8:
                continue
            state = beliefs[t, n][None]
            for ahead in range(horizon):
                state = head.cell(head.embedding(part.actions[t + ahead, n])[None], state)
            judged = head.judge(torch.cat((state[0], seen[t + horizon, n])))
            assert positive[s, k].item() == pytest.approx(judged.item(), abs=1e-5)
            other = seen[others[s, k] // 16, others[s, k] % 16]
            assert negative[s, k].item() == pytest.approx(
                head.judge(torch.cat((state[0], other))).item(), abs=1e-5
            )


@pytest.mark.parametrize("method", ["ppo", "imitation"])
def test_updates_learn_them_too(method):
    policy = make_all()
    rollout = make_rollout(policy)
    rollout.labels[:] = 1
    rate = replace(HABITAT_DDPPO.optimiser, rate=constant(3e-3), max_gradient=5.0)
    update, settings = update_ppo, replace(HABITAT_DDPPO, optimiser=rate, epochs=1)
    if method == "imitation":
        update, settings = update_imitation, ImitationSettings(rate, epochs=1)
    optimiser, rows = make_optimiser(policy, rate), []
    for _ in range(25):
        rows.append(update(policy, optimiser, rollout, settings, 0.0, np.random.default_rng(0)))
    for one in ALL:
        name = f"{one.kind}_loss"
        assert rows[-1][name] < rows[0][name], name


def test_weights_add_up_and_reach_the_encoder():
    policy = make_all(chosen=(INVERSE_DYNAMICS, replace(PROGRESS, weight=2.0)))
    rollout = make_rollout(policy)
    _, total, row = judge_fragment(policy, rollout.fragment(), np.random.default_rng(0))
    expected = 0.001 * row["inverse_dynamics_loss"] + 2.0 * row["progress_loss"]
    assert total.item() == pytest.approx(expected, rel=1e-5)
    total.backward()
    assert policy.encoder.image_encoder.layers[0].weight.grad.abs().sum() > 0
    plain = make_policy()
    judged, nothing, logged = judge_fragment(plain, rollout.fragment(), np.random.default_rng(0))
    assert nothing.item() == 0.0 and logged == {} and judged.values.shape == (8, 16)


@pytest.mark.parametrize("images", ["small", "multion", "grounding", "resnet18"])
def test_frames_are_what_images_show_without_poses(images):
    inputs = (
        InputSpec("rgb", (64, 64, 3), "uint8"),
        InputSpec("gps", (2,), "float32"),
        InputSpec("compass", (1,), "float32"),
        InputSpec("objectgoal", (1,), "int64", 6),
    )
    numbers = "joined" if images == "small" else "embedded"
    settings = PolicySettings(
        hidden=16, image_features=24, encoder=EncoderSettings(images=images, numbers=numbers)
    )
    policy, generator = RecurrentPolicy(inputs, 4, settings), torch.Generator().manual_seed(0)
    here = {
        "rgb": torch.randint(0, 256, (3, 64, 64, 3), generator=generator, dtype=torch.uint8),
        "gps": torch.zeros(3, 2),
        "compass": torch.zeros(3, 1),
        "objectgoal": torch.ones(3, 1, dtype=torch.int64),
    }
    elsewhere = here | {"gps": torch.ones(3, 2), "compass": torch.ones(3, 1)}
    found = []
    for one in (here, elsewhere, here | {"rgb": 255 - here["rgb"]}):
        with record_activations(policy) as activations, torch.no_grad():
            encoded = policy.encoder(one)
        found.append((activations.seen, encoded))
    (seen, encoded), (same, moved), (other, _) = found
    assert seen.shape == (3, 24) and torch.equal(seen, same) and not torch.equal(encoded, moved)
    assert not torch.equal(seen, other)


def test_steps_behind_the_last_of_a_slot_do_not_count():
    """Whatever stands there; and where all slots have all steps, nothing changes."""
    chosen, found = (PROGRESS, INVERSE_DYNAMICS, ROTATION, RECOGNITION, CPC_ACTION), []
    for lengths, waste in (([8] * 16, False), ([8, 3, 0, 5] * 4, False), ([8, 3, 0, 5] * 4, True)):
        policy = make_all(chosen=chosen)
        rollout = make_rollout(policy)
        plain = judge_fragment(policy, rollout.fragment(), np.random.default_rng(0))[2]
        rollout.lengths = torch.tensor(lengths)
        behind = ~rollout.counted
        if waste:
            rollout.mask[behind], rollout.actions[behind] = ~rollout.mask[behind], 3
            for seen in rollout.observations.values():
                seen[behind] = 1
        found.append(judge_fragment(policy, rollout.fragment(), np.random.default_rng(0))[2])
    assert found[0] == pytest.approx(plain, rel=1e-5)
    assert found[1] == pytest.approx(found[2], rel=1e-6)
    assert all(found[1][name] != found[0][name] for name in found[0])


def test_steps_that_an_oracle_leads_do_not_count():
    """Whatever is to be predicted there; where no other steps are, nothing is learned."""
    chosen, found = (PROGRESS, INVERSE_DYNAMICS, ROTATION, RECOGNITION, CPC_ACTION, TEMPORAL_DISTANCE), []
    for waste in (False, True):
        policy = make_all(chosen=chosen)
        rollout = make_rollout(policy)
        rollout.actions[2:5, :9] = NO_ACTION
        assert rollout.counted.sum() == 8 * 16 - 3 * 9 and not rollout.counted[2:5, :9].any()
        assert rollout.frames == 8 * 16, "they were collected"
        if waste:
            for one in TARGETS:
                rollout.observations[one.name][2:5, :9] = 1
        found.append(judge_fragment(policy, rollout.fragment(), np.random.default_rng(0))[2])
    assert found[0] == found[1] and set(found[0]) == {f"{one.kind}_loss" for one in chosen}
    rollout.actions[:] = NO_ACTION
    _, total, row = judge_fragment(policy, rollout.fragment(), np.random.default_rng(0))
    assert float(total) == 0.0 and row == {}


def test_pairs_of_the_code_differ_at_the_ends():
    rollouts = []
    for pairs in ("within", "code"):
        policy = make_all(chosen=(replace(INVERSE_DYNAMICS, pairs=pairs),))
        rollouts.append(judge_fragment(policy, make_rollout(policy).fragment(), np.random.default_rng(0))[2])
    assert rollouts[0] != rollouts[1]


def test_settings_that_do_not_fit_are_refused():
    kinds = "progress, goal_distance, recognition, seen_class, goal_mask, segmentation"
    with pytest.raises(InputError, match=f"target for {kinds} alone"):
        Auxiliary("progress", 1.0)
    with pytest.raises(InputError, match="positive weight"):
        Auxiliary("rotation", 0.0)
    policy = make_policy()
    with pytest.raises(UnknownNameError, match="semantic"):
        AuxiliaryHeads(policy, (replace(RECOGNITION, target="semantics"),), INPUTS, TARGETS, 4, 0)
    with pytest.raises(InputError, match="classes of every scene alike for recognition, got progress"):
        AuxiliaryHeads(policy, (replace(RECOGNITION, target="progress"),), INPUTS, TARGETS, 4, 0)
    with pytest.raises(InputError, match="discrete actions for the auxiliary loss cpc_action"):
        AuxiliaryHeads(policy, (CPC_ACTION,), INPUTS, TARGETS, 4, 0, True)


def test_training_goes_on_with_them_and_acts_without(tmp_path):
    from .test_training import TINY, make_training, same

    method = replace(TINY.method, auxiliaries=ALL)
    recipe = replace(
        TINY, method=method, targets=("progress", "semantic_classes"), frames=3 * 64, save_updates=1
    )
    whole = make_training(tmp_path / "a", recipe)
    rows = []
    whole.run(rows.append)
    part = make_training(tmp_path / "b", recipe)

    part.advance()
    part._save()
    again = make_training(tmp_path / "b", recipe)
    again.run()
    assert same(whole._policy.state_dict(), again._policy.state_dict())
    assert {f"{one.kind}_loss" for one in ALL} <= set(rows[0])
    resume = torch.load(tmp_path / "a" / RESUME, weights_only=True)
    assert any(name.startswith("auxiliaries.") for name in resume["weights"])
    info, policy = load_policy(tmp_path / "a")
    assert not any(name.startswith("auxiliaries.") for name in policy.state_dict())
    assert info.privileged_sensors == () and (tmp_path / "a" / MODEL).exists()
    assert json.loads(json.dumps(info.recipe))["targets"] == ["progress", "semantic_classes"]
