"""Images that are compared with the goal: what the network says of drawn squares, its loss, bad inputs."""

from dataclasses import replace

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from navarena.core.errors import InputError  # noqa: E402
from navarena.learning.auxiliaries.heads import AuxiliaryHeads, judge_fragment  # noqa: E402
from navarena.learning.auxiliaries.losses import goal_mask_loss, segmentation_loss  # noqa: E402
from navarena.learning.auxiliaries.settings import CLASSES, GOAL_MASK, SEEN_CLASS, SEGMENTATION  # noqa: E402
from navarena.learning.inputs import InputSpec  # noqa: E402
from navarena.learning.networks.encoder_settings import EncoderSettings  # noqa: E402
from navarena.learning.networks.grounding import GroundingNetwork  # noqa: E402
from navarena.learning.policy import RecurrentPolicy  # noqa: E402
from navarena.learning.settings import PolicySettings  # noqa: E402

from .made import fill_rollout  # noqa: E402

pytestmark = pytest.mark.learn

RGB, DEPTH = InputSpec("rgb", (64, 36, 3), "uint8"), InputSpec("depth", (64, 36, 1), "float16")
MAP = InputSpec("occupancy_map", (64, 64, 1), "uint8", categories=(3,))
GOAL, POSE = InputSpec("goal_vector:words", (8,), "float32"), InputSpec("gps", (2,), "float32")
MASK = InputSpec("goal_mask", (64, 36, 1), "uint8", 2)
KINDS = InputSpec(CLASSES, (64, 36, 1), "uint8", 9)
SETTINGS = PolicySettings(
    hidden=32, encoder=EncoderSettings(images="grounding", numbers="embedded", maps="small", goals="unit")
)
COLOURS = ((220, 30, 30), (30, 220, 30), (30, 30, 220))


def draw(generator, count):
    """Images with a square of every colour, goals that name one of them, and where its square is."""
    images = np.full((count, 64, 36, 3), 120, np.uint8)
    masks = np.zeros((count, 64, 36, 1), np.uint8)
    wanted = generator.integers(3, size=count)
    for image, mask, goal in zip(images, masks, wanted, strict=True):
        for number, row in enumerate(generator.permutation(3)):
            top, left = 4 + 20 * int(row), int(generator.integers(0, 24))
            image[top : top + 12, left : left + 12] = COLOURS[number]
            if number == goal:
                mask[top : top + 12, left : left + 12] = 1
    return torch.from_numpy(images), torch.eye(3)[torch.from_numpy(wanted)], torch.from_numpy(masks)


def test_it_learns_where_the_goal_is_and_not_the_others():
    torch.manual_seed(0)
    generator = np.random.default_rng(0)
    network, seen = GroundingNetwork(3, 64, 36, 16, 3), []
    network.compared.register_forward_hook(lambda module, given, output: seen.append(output))
    optimiser = torch.optim.Adam(network.parameters(), 3e-3)
    for _ in range(60):
        images, goals, masks = draw(generator, 32)
        network([images], goals)
        loss = goal_mask_loss(network.locate(*seen[-1]), masks)
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    images, goals, masks = draw(generator, 50)
    assert network([images], goals).shape == (50, 16)
    best = network.locate(*seen[-1]).flatten(1).argmax(1)
    shares = torch.nn.functional.adaptive_avg_pool2d(masks[..., 0].float()[:, None], (16, 9))
    hits = shares.flatten(1).gather(1, best[:, None])[:, 0] > 0
    assert hits.float().mean() > 0.9, "a third would be right without the goal"


def test_the_loss_of_the_goal_by_hand():
    masks = torch.zeros(1, 4, 4, 1, dtype=torch.uint8)
    logits = torch.zeros(1, 2, 2)
    assert goal_mask_loss(logits, masks).item() == pytest.approx(np.log(2))
    masks[0, :2, :2] = 1  # one of four places, wholly
    assert goal_mask_loss(logits, masks).item() == pytest.approx(np.log(2) * (10 + 3) / 4)
    masks[0, 0, 0] = 0  # of which three quarters are left
    assert goal_mask_loss(logits, masks).item() == pytest.approx(np.log(2) * (7.5 + 0.25 + 3) / 4)
    logits[0, 0, 0] = 100.0
    assert goal_mask_loss(logits, masks).item() == pytest.approx((0.25 * 100 + 3 * np.log(2)) / 4)


def test_the_loss_of_classes_by_hand():
    """Two places of 4 x 4 pixels, of which those at (2, 2) and (2, 6) count."""
    classes = torch.zeros(1, 4, 8, 1, dtype=torch.uint8)
    classes[0, 2, 2], classes[0, 2, 6] = 1, 2
    logits = torch.zeros(1, 3, 1, 2)
    assert segmentation_loss(logits, classes).item() == pytest.approx(np.log(3))
    logits[0, 1, 0, 0], logits[0, 1, 0, 1] = 50.0, 50.0  # right at the first, wrong at the second
    assert segmentation_loss(logits, classes).item() == pytest.approx(25.0)


def make(inputs, settings=SETTINGS, seed=0):
    torch.manual_seed(seed)
    return RecurrentPolicy(inputs, 4, settings)


def test_the_policy_sees_the_goal_the_map_and_the_pose():
    policy = make((MAP, RGB, DEPTH, GOAL, POSE))
    blank = {
        one.name: torch.zeros((2, *one.shape), dtype=getattr(torch, one.dtype))
        for one in (MAP, RGB, DEPTH, GOAL, POSE)
    }
    blank["goal_vector:words"][:] = torch.arange(8.0)
    base = policy.encoder(blank)
    assert base.shape == (2, policy.encoder.features)
    for name, value in (("occupancy_map", 2), ("rgb", 99), ("depth", 0.5), ("gps", 3.0)):
        changed = {**blank, name: blank[name].clone()}
        changed[name][1] = value
        after = policy.encoder(changed)
        assert torch.equal(after[0], base[0]) and not torch.equal(after[1], base[1]), name
    scaled = {**blank, "goal_vector:words": blank["goal_vector:words"] * 3}
    assert torch.allclose(policy.encoder(scaled), base, atol=1e-5), "goals=unit"
    turned = {**blank, "goal_vector:words": blank["goal_vector:words"].flip(1)}
    images = slice(SETTINGS.encoder.map_features, SETTINGS.encoder.map_features + SETTINGS.image_features)
    assert not torch.equal(policy.encoder(turned)[:, images], base[:, images]), "images are compared with it"


def test_the_modality_stands_beside_a_goal():
    """The vector is what images are compared with, not the category that says how the goal is given."""
    modality = InputSpec("current_subtask", (1,), "int64", 4)
    policy = make((modality, RGB, GOAL))
    seen = {"rgb": torch.full((2, 64, 36, 3), 99, dtype=torch.uint8), "goal_vector:words": torch.ones(2, 8)}
    features = policy.encoder(seen | {"current_subtask": torch.tensor([[0], [2]])})
    assert torch.equal(*features[:, : SETTINGS.image_features]), "images do not depend on the modality"
    assert not torch.equal(*features)


def test_maps_without_goals_are_read_in_bfloat16():
    policy = make((MAP, GOAL, RGB))
    maps = torch.randint(0, 3, (4, 64, 64, 1), dtype=torch.uint8)
    exact = policy.encoder.maps["occupancy_map"](maps)
    with torch.autocast("cpu", torch.bfloat16):
        rough = policy.encoder.maps["occupancy_map"](maps)
    assert torch.allclose(exact, rough.float(), atol=0.1)


@pytest.mark.parametrize("one", [GOAL_MASK, SEGMENTATION])
def test_the_auxiliary_losses_reach_the_network(one):
    inputs, targets = (RGB, DEPTH, GOAL), (MASK, KINDS)
    policy = make(inputs)
    policy.auxiliaries = AuxiliaryHeads(policy, (one,), inputs, targets, 4, 0)
    rollout = fill_rollout(policy, steps=3, slots=2, inputs=(*inputs, *targets))
    for target, count in ((MASK, 2), (KINDS, 9)):
        rollout.observations[target.name] %= count
    judged, loss, logged = judge_fragment(policy, rollout.fragment(), np.random.default_rng(0))
    assert judged.values.shape == (3, 2) and one.weight * logged[f"{one.kind}_loss"] == pytest.approx(
        loss.item()
    )
    loss.backward()
    assert policy.encoder.images.places[0].weight.grad.abs().sum() > 0
    assert (policy.encoder.numbers["goal_vector:words"].weight.grad is None) == (one is SEGMENTATION)


def test_bad_inputs():
    with pytest.raises(InputError, match="images and one goal .* images=grounding, got rgb, gps"):
        make((RGB, POSE))
    with pytest.raises(InputError, match="images and one goal"):
        make((GOAL, POSE))
    with pytest.raises(InputError, match="images and one goal"):
        make(
            (RGB, InputSpec("multiobjectgoal", (1,), "int64", 8), InputSpec("objectgoal", (1,), "int64", 21))
        )
    with pytest.raises(InputError, match="multiples of 4 pixels, got 37 x 64"):
        make((InputSpec("rgb", (64, 37, 3), "uint8"), GOAL))
    with pytest.raises(InputError, match="numbers=embedded for images=grounding"):
        EncoderSettings(images="grounding")
    other = replace(SETTINGS, encoder=EncoderSettings(numbers="embedded"))
    for one in (GOAL_MASK, SEGMENTATION):
        with pytest.raises(InputError, match=f"policy.encoder.images=grounding for {one.kind}"):
            AuxiliaryHeads(make((RGB, POSE), other), (one,), (RGB, POSE), (MASK, KINDS), 4, 0)
    with pytest.raises(InputError, match="neural_map.kind=recognised for seen_class"):
        AuxiliaryHeads(make((RGB, GOAL)), (replace(SEEN_CLASS, target=CLASSES),), (RGB, GOAL), (KINDS,), 4, 0)
    chosen, numbers = (replace(SEGMENTATION, target="semantic"),), InputSpec("semantic", (64, 36, 1), "int32")
    with pytest.raises(InputError, match="classes of every scene alike for segmentation, got semantic"):
        AuxiliaryHeads(make((RGB, GOAL)), chosen, (RGB, GOAL), (numbers,), 4, 0)
