"""Networks of the papers: numbers of parameters, inputs, and a first update of each recipe at its sizes."""

from dataclasses import replace

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from navarena.core.errors import FileError, InputError  # noqa: E402
from navarena.learning.auxiliaries.heads import AuxiliaryHeads, record_activations  # noqa: E402
from navarena.learning.auxiliaries.settings import INVERSE_DYNAMICS, ROTATION  # noqa: E402
from navarena.learning.inputs import InputSpec  # noqa: E402
from navarena.learning.networks.embedded_encoder import (  # noqa: E402
    EmbeddedEncoder,
    ResNetEncoder,
    resize,
)
from navarena.learning.networks.encoder_settings import EncoderSettings  # noqa: E402
from navarena.learning.networks.normaliser import RunningNormaliser  # noqa: E402
from navarena.learning.networks.resnet import ResNet, shrink  # noqa: E402
from navarena.learning.networks.tiled_encoder import TiledGoalEncoder  # noqa: E402
from navarena.learning.networks.trunks import load_trunk, rename_torchvision  # noqa: E402
from navarena.learning.perception.lite0 import FrozenTrunk, Lite0  # noqa: E402
from navarena.learning.policy import RecurrentPolicy  # noqa: E402
from navarena.learning.settings import PolicySettings  # noqa: E402
from navarena.learning.storage import Fragment  # noqa: E402
from navarena.learning.trainings.training import Training, make_training_task  # noqa: E402
from navarena.learning.trainings.updates import make_optimiser, update_ppo  # noqa: E402

from .made import fill_rollout  # noqa: E402
from .papers import count_trained, get_recipe, paper_inputs, paper_policy, random_observations  # noqa: E402
from .test_training import make_episodes, make_worlds  # noqa: E402

pytestmark = pytest.mark.learn


def add_depth(recipe):
    return replace(recipe, sensors=("rgb", "depth", *recipe.sensors[1:]))


@pytest.mark.parametrize(
    "name, with_depth, count",
    [
        ("multion-nomap-paper", False, 14_582_277),
        ("multion-oracle-map-paper", False, 20_256_613),
        # without one table and half of the first convolution's inputs
        ("multion-oracle-map-occ-paper", False, 20_256_613 - 9 * 16 - 32 * 16 * 16),
        ("multion-oracle-map-obj-paper", False, 20_256_613 - 3 * 16 - 32 * 16 * 16),
        # a category more in each channel: what was not seen
        ("multion-oracle-ego-map-paper", False, 20_256_613 + 2 * 16),
        ("multion-oracle-ego-map-code-paper", False, 20_248_389),
        ("robustnav-pointnav-paper", False, 3_282_853),
        ("robustnav-pointnav-paper", True, 5_773_541),
        ("robustnav-objectnav-paper", False, 3_284_167),
        ("robustnav-objectnav-paper", True, 5_774_855),
        ("objectnav-embclip-paper", False, 3_480_775),
    ],
)
def test_parameters_are_as_many_as_the_papers(name, with_depth, count):
    recipe = get_recipe(name)
    assert count_trained(paper_policy(add_depth(recipe) if with_depth else recipe)) == count


@pytest.mark.parametrize(("loss", "count"), [(INVERSE_DYNAMICS, 9_411), (ROTATION, 6_276)])
def test_heads_have_as_many_parameters_as_robustnavs(loss, count):
    recipe = get_recipe("robustnav-pointnav-paper")
    policy = paper_policy(recipe)
    heads = AuxiliaryHeads(policy, (loss,), paper_inputs(recipe), (), 4, 3)
    assert count_trained(heads) == count
    reached = torch.autograd.grad(
        _turned_loss(policy, heads, paper_inputs(recipe)),
        _trained(policy),
        allow_unused=True,
    )
    names = [name for name, one in policy.named_parameters() if one.requires_grad]
    learned = {name for name, one in zip(names, reached, strict=True) if one is not None}
    assert learned == {name for name in names if name.startswith("encoder.compressors.")}, "no goal in it"


def _trained(policy):
    return [one for one in policy.parameters() if one.requires_grad]


def _turned_loss(policy, heads, inputs):
    frames = {name: torch.stack((one, one)) for name, one in random_observations(inputs, 1).items()}
    mask, actions = torch.tensor([[False], [True]]), torch.tensor([[2], [0]])
    nothing = torch.zeros(2, 1)
    part = Fragment(frames, {}, mask, actions, nothing, nothing, actions, nothing, mask)
    with record_activations(policy) as activations:
        policy.encoder({name: one.flatten(0, 1) for name, one in frames.items()})
    return heads.compute(policy, part, activations, np.random.default_rng(0))[0]


def test_parameters_of_embclip_by_hand():
    compressor = 2048 * 128 + 128 + 128 * 32 + 32
    combiner = (32 + 32) * 128 + 128 + 128 * 32 + 32
    gru = 3 * 512 * (32 * 7 * 7 + 512) + 2 * 3 * 512
    expected = compressor + 12 * 32 + combiner + gru + 512 * 6 + 6 + 513
    recipe = get_recipe("objectnav-embclip-paper")
    policy = paper_policy(recipe)
    assert count_trained(policy) == expected
    # CLIP's network of images has 38,316,896 parameters with its attention at the end
    attention = (49 + 1) * 2048 + 3 * (2048 * 2048 + 2048) + 2048 * 1024 + 1024
    assert sum(one.numel() for one in policy.encoder.trunk.parameters()) == 38_316_896 - attention
    assert not policy.train().encoder.trunk.training
    seen = random_observations(paper_inputs(recipe), 1)
    (frozen,) = policy.encoder.see_frozen(seen).values()
    mean, deviation = torch.tensor(
        [[0.48145466, 0.4578275, 0.40821073], [0.26862954, 0.26130258, 0.27577711]]
    ).reshape(2, 3, 1, 1)
    with torch.no_grad():
        expected = policy.encoder.trunk((seen["rgb"].permute(0, 3, 1, 2) / 255 - mean) / deviation)
    assert frozen.shape == (1, 2048, 7, 7)
    torch.testing.assert_close(frozen, expected)


def test_each_frozen_trunk_takes_its_own_file_alone(tmp_path):
    inputs = (InputSpec("rgb", (70, 100, 3), "uint8"), InputSpec("gps", (2,), "float32"))
    files = {}
    for images in ("frozen_resnet18", "frozen_resnet50", "frozen_clip_resnet50"):
        settings = EncoderSettings(images=images, numbers="embedded", trunk=str(tmp_path / images))
        policy = RecurrentPolicy(inputs, 4, PolicySettings(hidden=8, number_features=4, encoder=settings))
        features = policy.encoder(random_observations(inputs, 1))
        assert features.shape == (1, policy.encoder.features), "sides that are no multiples of 32"
        names = {
            name: f"visual.{name}" if "clip" in images else rename_torchvision(name)
            for name in policy.encoder.trunk.state_dict()
        }
        trunk = policy.encoder.trunk
        torch.save({names[k]: v + 1 for k, v in trunk.state_dict().items()}, settings.trunk)
        files[images] = policy, settings, {k: v + 1 for k, v in trunk.state_dict().items()}
    for images, (policy, settings, wanted) in files.items():
        load_trunk(policy, settings)
        got = policy.encoder.trunk.state_dict()
        assert all(torch.equal(got[name], value) for name, value in wanted.items())
        for other in files.keys() - {images}:
            with pytest.raises(FileError, match="expected other weights in"):
                load_trunk(policy, replace(settings, trunk=str(tmp_path / other)))


def test_a_policy_sees_by_lite0_what_its_trunk_sees(tmp_path):
    """Normalisations folded, the head left out; the scaling of the trunk that reads bytes."""
    torch.manual_seed(3)
    network = Lite0()
    for name, value in network.named_buffers():  # so that folding has something to do
        if name.endswith("running_mean"):
            value.normal_(std=0.1)
        if name.endswith("running_var"):
            value.uniform_(0.5, 2.0)
    settings = EncoderSettings(images="frozen_lite0", numbers="embedded", trunk=str(tmp_path / "lite0.pth"))
    torch.save(network.state_dict(), settings.trunk)
    inputs = (InputSpec("rgb", (70, 100, 3), "uint8"), InputSpec("gps", (2,), "float32"))
    policy = RecurrentPolicy(inputs, 4, PolicySettings(hidden=8, number_features=4, encoder=settings))
    load_trunk(policy, settings)
    seen = random_observations(inputs, 2)
    (frozen,) = policy.encoder.see_frozen(seen).values()
    expected = FrozenTrunk(network.state_dict()).encode(seen["rgb"].numpy(), "map")
    assert frozen.shape == (2, 320, 3, 4) and policy.encoder(seen).shape == (2, policy.encoder.features)
    scale = float(np.abs(expected).mean())
    assert scale > 0
    shown = frozen.permute(0, 2, 3, 1).numpy()
    np.testing.assert_allclose(shown, expected, rtol=2e-3, atol=0.01 * scale)
    assert not any(one.requires_grad for one in policy.encoder.trunk.parameters())
    torch.save({"conv1.weight": torch.zeros(1)}, settings.trunk)
    with pytest.raises(FileError, match="expected other weights in .*lite0.pth.*EfficientNet-Lite0"):
        load_trunk(policy, settings)


def count_resnet50(channels, planes, compressed_to, features):
    """Weights of habitat-lab's ResNet-50 and compression, layer by layer."""

    def layer(into, out, kernel):
        return into * out * kernel**2 + 2 * out  # without bias, with group normalisation

    total, width = layer(channels, planes, 7), planes
    for stage, blocks in enumerate((3, 4, 6, 3)):
        inner = planes * 2**stage
        for number in range(blocks):
            total += layer(width, inner, 1) + layer(inner, inner, 3) + layer(inner, 4 * inner, 1)
            total += layer(width, 4 * inner, 1) if number == 0 else 0
            width = 4 * inner
    return total + layer(width, compressed_to, 3) + compressed_to * 16 * features + features


def test_parameters_of_ddppo_by_hand():
    lstm = 4 * 512 * (640 + 512) + 8 * 512 + 4 * 512 * (512 + 512) + 8 * 512
    numbers = 21 * 32 + (2 * 32 + 32) * 2 + 7 * 32
    expected = count_resnet50(4, 32, 128, 512) + lstm + numbers + 512 * 6 + 6 + 513
    assert count_trained(paper_policy(get_recipe("objectnav-ddppo-paper"))) == expected
    lstm -= 4 * 512 * 2 * 32
    expected = count_resnet50(1, 32, 128, 512) + lstm + 3 * 32 + 32 + 5 * 32 + 512 * 4 + 4 + 513
    assert count_trained(paper_policy(get_recipe("pointnav-ddppo-paper"))) == expected


def test_parameters_of_attention_by_hand():
    image, tables, heads = 12_905_088, 8 * 32 + 4 * 32, 5
    frmqn = 576 * 512 + 512 + 4 * 512 * (1024 + 512) + 8 * 512 + 3 * 512 * 512 + 513 * heads
    assert count_trained(paper_policy(get_recipe("multion-frmqn-paper"))) == image + tables + frmqn
    numbers = 3 * 32 * 2  # gps and compass
    transformer = torch.nn.Transformer(256, 8, 1, 1, 256, 0.0, batch_first=True)
    fusion = 5 * 16 + 16 + (576 + 64 + 16) * 256 + 256 + 256 * 256 + 256
    smt = fusion + sum(one.numel() for one in transformer.parameters()) + 257 * heads
    assert count_trained(paper_policy(get_recipe("multion-smt-paper"))) == image + tables + numbers + smt


@pytest.mark.parametrize(
    "name",
    [
        "multion-nomap-paper",
        "multion-smt-paper",
        "multion-frmqn-paper",
        "multion-oracle-ego-map-code-paper",
        "objectnav-ddppo-paper",
    ],
)
def test_first_update_at_the_papers_sizes(name):
    recipe = get_recipe(name)
    policy = paper_policy(recipe)
    rollout = fill_rollout(policy, 2, 4, inputs=paper_inputs(recipe))
    before = {key: value.clone() for key, value in policy.state_dict().items()}
    settings = replace(recipe.method, epochs=1, minibatches=2)
    optimiser = make_optimiser(policy, settings.optimiser)
    row = update_ppo(policy, optimiser, rollout, settings, 0.0, np.random.default_rng(0))
    # frames that go through matrix products together decide their last bits
    assert row["ratio_error"] < 1e-5 and np.isfinite(list(row.values())).all()
    same = [key for key, value in policy.state_dict().items() if torch.equal(value, before[key])]
    assert all("bias" in key for key in same), f"these learned nothing: {same}"


@pytest.mark.turns(4)
@pytest.mark.parametrize(
    "name",
    [
        "pointnav-ddppo-paper",
        "robustnav-pointnav-paper",
        "robustnav-objectnav-paper",
        "objectnav-embclip-paper",
    ],
)
def test_training_at_the_papers_sizes(tmp_path, name):
    recipe = replace(get_recipe(name), split="mini")
    encoder = replace(recipe.policy.encoder, trunk="random")
    tiny = {"slots": 2, "steps": 2, "scenes": 1, "frames": 4, "log_updates": 1}
    tiny["evaluation"] = replace(recipe.evaluation, updates=0)
    method = replace(recipe.method, epochs=1, minibatches=1)
    recipe = replace(recipe, policy=replace(recipe.policy, encoder=encoder), method=method, **tiny)
    made = make_episodes() if "pointnav" in name else None
    worlds = make_worlds(make_training_task(recipe)) if made else None
    training = Training(recipe, tmp_path, episodes=made, worlds=worlds)
    trunk = {k: v.clone() for k, v in training._policy.state_dict().items() if ".trunk." in k}
    rows = []
    training.run(rows.append)
    assert rows[-1]["frames"] == 4 and rows[-1]["ratio_error"] < 1e-5
    moved = any(not torch.equal(training._policy.state_dict()[k], v) for k, v in trunk.items())
    assert moved is (name == "pointnav-ddppo-paper"), "RobustNav's trunk is frozen, its statistics too"


def test_resnet_shapes():
    assert [shrink(side) for side in (128, 224, 100, 33, 1)] == [4, 7, 4, 2, 1]
    images = torch.randn(1, 2, 100, 70)
    for depth, features in ((18, 64), (50, 256)):
        net = ResNet(2, 8, depth, "group")
        assert net(images).shape == (1, features, shrink(100), shrink(70)) and net.features == features


def test_torchvision_names():
    names = [rename_torchvision(name) for name in ResNet(3, 64, 18, "batch").state_dict()]
    assert len(names) == len(set(names)) == 120
    assert {"conv1.weight", "bn1.running_var", "layer1.0.conv1.weight", "layer2.0.downsample.1.bias",
            "layer4.1.bn2.num_batches_tracked"} <= set(names)  # fmt: skip


def test_trunk_comes_from_a_file(tmp_path):
    recipe = get_recipe("robustnav-pointnav-paper")
    donor, policy = paper_policy(recipe, seed=1), paper_policy(recipe, seed=2)
    trunk = donor.encoder.trunk
    weights = {rename_torchvision(name): value for name, value in trunk.state_dict().items()}
    path = tmp_path / "resnet18.pth"
    torch.save(weights | {"fc.weight": torch.zeros(1000, 512), "fc.bias": torch.zeros(1000)}, path)
    settings = replace(recipe.policy.encoder, trunk=str(path))
    load_trunk(policy, settings)
    assert torch.equal(policy.encoder.trunk.stem[0].weight, trunk.stem[0].weight)
    torch.save(weights | {"conv1.weight": torch.zeros(64, 1, 7, 7)}, path)
    with pytest.raises(FileError, match=r"conv1.weight has shape \(64, 1, 7, 7\) instead of \(64, 3, 7, 7\)"):
        load_trunk(policy, settings)
    path.write_bytes(b"no")
    with pytest.raises(FileError, match="expected tensors and plain values"):
        load_trunk(policy, settings)
    with pytest.raises(FileError, match="not there"):
        load_trunk(policy, replace(settings, trunk=str(tmp_path / "none.pth")))
    with pytest.raises(InputError, match="policy.encoder.trunk=FILE"):
        load_trunk(policy, recipe.policy.encoder)


def test_normaliser_counts_every_frame_once():
    frames = torch.randn(30, 3, 4, 5) * torch.tensor([1.0, 5.0, 0.001])[None, :, None, None] + 2.0
    one = RunningNormaliser(3)
    one.count.zero_()
    for part in frames.split([1, 7, 22]):
        one.learn(part)
    expected = frames.transpose(0, 1).flatten(1)
    torch.testing.assert_close(one.mean.flatten(), expected.mean(1))
    torch.testing.assert_close(one.variance.flatten(), expected.var(1, correction=0))
    assert one.count.item() == 30
    scaled = one(frames).transpose(0, 1).flatten(1)
    assert scaled[:2].std(1).tolist() == pytest.approx([1, 1], abs=0.01)
    assert scaled[2].std().item() == pytest.approx(0.01, abs=1e-3), "deviations below 0.1 count as 0.1"
    fresh = RunningNormaliser(1)
    assert torch.equal(fresh(frames[:, :1]), frames[:, :1]), "nothing learned, nothing scaled"


def small_resnet(**changes):
    settings = EncoderSettings(images="resnet18", numbers="embedded", base_planes=16, normalise=True)
    return replace(settings, **changes)


def test_statistics_change_after_the_updates_and_belong_to_the_weights():
    inputs = (InputSpec("rgb", (64, 64, 3), "uint8"), InputSpec("gps", (2,), "float32"))
    sizes = PolicySettings(hidden=16, image_features=16, number_features=8, encoder=small_resnet())
    torch.manual_seed(0)
    policy = RecurrentPolicy(inputs, 4, sizes)
    normaliser = policy.encoder.images.normaliser
    recipe = get_recipe("objectnav-ddppo-paper")
    optimiser = make_optimiser(policy, recipe.method.optimiser)
    for frames in (1 + 24, 1 + 48):
        rollout = fill_rollout(policy, 4, 6, inputs=inputs)
        row = update_ppo(policy, optimiser, rollout, recipe.method, 0.0, np.random.default_rng(0))
        assert row["ratio_error"] < 1e-4, "acting and learning scale alike"
        assert normaliser.count.item() == frames
    assert {"mean", "variance", "count"} == {
        name.split(".")[-1] for name in policy.state_dict() if "normaliser" in name
    }
    assert normaliser.mean.mean().item() == pytest.approx(0.5 * 48 / 49, abs=0.01)


def test_images_are_averaged_and_cut():
    column = torch.arange(8, dtype=torch.uint8).reshape(1, 1, 8, 1).expand(1, 4, 8, 1)
    seen = resize(column, 2)  # 4 x 8 becomes 2 x 4, of which columns 1 and 2 are the middle
    assert seen[0, 0, :, 0].tolist() == [2, 4] and seen.dtype == torch.uint8, "means 2.5 and 4.5 are bytes"
    floats = resize(column.float(), 2)
    assert floats[0, 0, :, 0].tolist() == [2.5, 4.5] and floats.shape == (1, 2, 2, 1)
    assert resize(torch.rand(2, 9, 6, 3), 3).shape == (2, 3, 3, 3)


def test_numbers_as_the_papers_see_them():
    inputs = tuple(
        InputSpec(name, (size,), "float32")
        for name, size in (("compass", 1), ("gps", 2), ("pointgoal_with_gps_compass", 2))
    )
    encoder = EmbeddedEncoder(inputs, 1, 1, EncoderSettings(numbers="embedded"))
    ones = {name: torch.full_like(layer.weight, 1.0) for name, layer in encoder.numbers.items()}
    for name, layer in encoder.numbers.items():
        layer.weight.data, layer.bias.data = ones[name], torch.zeros(1)
    seen = {
        "compass": torch.tensor([[np.pi / 2]]),
        "gps": torch.tensor([[3.0, 4.0]]),
        "pointgoal_with_gps_compass": torch.tensor([[5.0, np.pi / 2]]),
    }
    # cos + sin; ahead + right; distance + cos(-bearing) + sin(-bearing)
    assert encoder(seen)[0].tolist() == pytest.approx([1.0, 7.0, 4.0], abs=1e-6)
    plain = TiledGoalEncoder((InputSpec("rgb", (32, 32, 3), "uint8"), inputs[2]), 4)
    assert plain.goal_layer.in_features == 2


def test_evaluation_does_not_move_the_frozen_statistics():
    recipe = get_recipe("robustnav-objectnav-paper")
    policy = paper_policy(add_depth(recipe)).train()
    assert not policy.encoder.trunk.training and policy.encoder.compressors.training
    seen = random_observations(paper_inputs(add_depth(recipe)), 2)
    features = policy.encoder(seen)
    assert features.shape == (2, 3136)
    features.sum().backward()
    assert all(one.grad is None for one in policy.encoder.trunk.parameters())
    assert all(one.grad is not None for one in policy.encoder.combiners.parameters())
    blind = dict(seen, depth=seen["depth"] + 1)
    changed = (policy.encoder(blind) != features).float().mean(0).detach()
    assert changed[:1568].max() == 0 and changed[1568:].mean() > 0.9, "colours first, then depth"


def test_wrong_settings_are_refused():
    with pytest.raises(InputError, match="a ResNet that is trained"):
        EncoderSettings(normalise=True)
    with pytest.raises(InputError, match="numbers=embedded for images=resnet50"):
        EncoderSettings(images="resnet50")
    for planes in (14, 17):
        with pytest.raises(InputError, match=f"even number of base_planes from 16 on, got {planes}"):
            small_resnet(base_planes=planes)
    with pytest.raises(InputError, match="memory=smt"):
        PolicySettings(has_pose=True)
    with pytest.raises(InputError, match="at least 64 x 64"):
        ResNetEncoder(3, 63, 64, 8, small_resnet())
    with pytest.raises(InputError, match="one goal"):
        TiledGoalEncoder((InputSpec("rgb", (32, 32, 3), "uint8"),), 8)
    with pytest.raises(InputError, match="gps, compass"):
        RecurrentPolicy((InputSpec("gps", (2,), "float32"),), 4, PolicySettings(memory="smt", has_pose=True))
