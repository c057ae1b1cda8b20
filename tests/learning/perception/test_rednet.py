"""RedNet: its size, its scales, and the layout of published weights."""

import json
from dataclasses import replace

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from navarena.cli.main import main  # noqa: E402
from navarena.core.errors import FileError, InputError  # noqa: E402
from navarena.learning.perception.labelling import SegmenterLabeller  # noqa: E402
from navarena.learning.perception.rednet import RedNet, load_published  # noqa: E402
from navarena.mapping.semantic_map import CLASSES  # noqa: E402

pytestmark = pytest.mark.learn


@pytest.fixture(scope="module")
def network():
    torch.manual_seed(0)
    return RedNet(13)


def count_up(channels, features, blocks):
    """Parameters of a stage of the decoder, by hand: kept blocks, then one that doubles."""
    kept = 2 * (9 * channels * channels + 2 * channels)
    last = 9 * channels * channels + 2 * channels + 9 * channels * features + 2 * features
    return (blocks - 1) * kept + last + 4 * channels * features + 2 * features


def test_parameters_are_those_counted_by_hand(network):
    resnet50 = 25_557_032 - 2_049_000  # without its classifier
    sides = sum(a * b + 2 * b for a, b in ((64, 64), (256, 64), (512, 128), (1024, 256), (2048, 512)))
    stages = ((512, 256, 6), (256, 128, 4), (128, 64, 3), (64, 64, 3))
    final = 3 * 2 * (9 * 64 * 64 + 2 * 64) + 64 * 13 * 4 + 13
    outs = sum(13 * width + 13 for width in (256, 128, 64, 64))
    expected = 2 * resnet50 - 2 * 64 * 49 + sides + sum(count_up(*one) for one in stages) + final + outs
    assert sum(one.numel() for one in network.parameters()) == expected


def test_names_and_shapes_are_the_published_ones(network):
    weights = network.state_dict()
    shapes = {
        "conv1.weight": (64, 3, 7, 7),
        "conv1_d.weight": (64, 1, 7, 7),
        "bn1_d.running_var": (64,),
        "layer1.0.downsample.0.weight": (256, 64, 1, 1),
        "layer3_d.5.conv3.weight": (1024, 256, 1, 1),
        "layer4.0.downsample.1.num_batches_tracked": (),
        "agant4.0.weight": (512, 2048, 1, 1),
        "agant0.1.bias": (64,),
        "deconv1.5.conv2.weight": (512, 256, 3, 3),
        "deconv1.5.upsample.0.weight": (512, 256, 2, 2),
        "deconv4.2.upsample.1.weight": (64,),
        "final_conv.2.bn2.weight": (64,),
        "final_deconv.weight": (64, 13, 2, 2),
        "out5_conv.weight": (13, 256, 1, 1),
        "out2_conv.bias": (13,),
    }
    assert {name: tuple(weights[name].shape) for name in shapes} == shapes
    assert "deconv1.0.upsample.0.weight" not in weights and "final_conv.0.upsample.0.weight" not in weights


def test_scales_halve(network):
    with torch.inference_mode():
        scores = network.eval()(torch.rand(1, 32, 64, 4))
        again = network(torch.rand(1, 32, 64, 4))
    assert [tuple(one.shape[2:]) for one in scores] == [(32 // s, 64 // s) for s in (1, 2, 4, 8, 16)]
    assert scores[0].shape[1] == 13 and not torch.equal(scores[0], again[0])


def test_published_files_load_or_say_what_does_not_fit(network, tmp_path):
    weights = network.state_dict()
    torch.save({"model_state": {f"module.{name}": value for name, value in weights.items()}}, tmp_path / "a")
    loaded = load_published(tmp_path / "a", 13)
    assert all(torch.equal(value, weights[name]) for name, value in loaded.state_dict().items())
    small = {name: value for name, value in weights.items() if value.numel() < 2000}
    torch.save(small, tmp_path / "b")
    with pytest.raises(InputError, match=r"expected 'conv1.weight' \(64, 3, 7, 7\)"):
        load_published(tmp_path / "b", 13)
    (tmp_path / "c").write_bytes(b"nothing")
    with pytest.raises(FileError, match="damaged"):
        load_published(tmp_path / "c", 13)
    with pytest.raises(
        InputError, match=r"'out5_conv.weight' of the shape \(5, 256, 1, 1\)|final_deconv|out"
    ):
        load_published(tmp_path / "a", 5)


def test_an_imported_file_labels_images(network, tmp_path, capsys):
    torch.save(network.state_dict(), tmp_path / "published.pkl")
    out = str(tmp_path / "it")
    assert main(["segmenter", "import", str(tmp_path / "published.pkl"), "--out", out, "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"folder": out, "classes": list(CLASSES)}
    labeller = SegmenterLabeller(tmp_path / "it")
    rgb = np.zeros((1, 24, 32, 3), np.uint8)
    told = labeller.label(rgb, np.ones((1, 24, 32), np.float32))
    assert told.shape == (1, 24, 32) and told.max() < len(CLASSES)
    assert main(["segmenter", "import", out + "/checkpoint.json", "--out", out]) == 2


def test_a_recipe_trains_it(tmp_path):
    from navarena.learning.perception.training import SegmenterTraining
    from navarena.learning.recipes.perception import SEGMENTER_PAPER

    from .test_segmenter import make_images

    recipe = replace(SEGMENTER_PAPER, batch=2, precision="float32")
    training = SegmenterTraining(recipe, tmp_path, 1, [make_images(0)])
    assert training.advance() > 0 and training.updates == 1
