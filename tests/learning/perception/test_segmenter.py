"""The segmenter: its network, loss and training on made images; it goes on bit for bit and labels alike."""

import json
import math
from dataclasses import replace

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from navarena.cli.main import main  # noqa: E402
from navarena.core.errors import CheckFailedError, FileError, InputError  # noqa: E402
from navarena.core.seeding import make_generator  # noqa: E402
from navarena.learning.checkpoints.files import INFO, MODEL, RESUME, encode_info  # noqa: E402
from navarena.learning.checkpoints.fitted import read_fitted_info  # noqa: E402
from navarena.learning.inputs import resize_nearest  # noqa: E402
from navarena.learning.joint.encoder import JointInfo  # noqa: E402
from navarena.learning.perception.images import LabelledImages  # noqa: E402
from navarena.learning.perception.labelling import (  # noqa: E402
    SegmenterInfo,
    SegmenterLabeller,
    choose_size,
    find_segmenter,
    stack_images,
)
from navarena.learning.perception.settings import (  # noqa: E402
    ImageSettings,
    SegmenterRecipe,
    UNetSettings,
)
from navarena.learning.perception.training import (  # noqa: E402
    SegmenterTraining,
    compute_offsets,
    jitter_colours,
)
from navarena.learning.perception.unet import UNet, compute_loss  # noqa: E402
from navarena.learning.settings import OptimiserSettings, Schedule  # noqa: E402
from navarena.learning.trainings.log import LOG  # noqa: E402

pytestmark = pytest.mark.learn

TINY = UNetSettings(widths=(6, 8, 8, 8))
RECIPE = SegmenterRecipe(
    "made images",
    images=ImageSettings(vocabulary="gibson", size=(32, 32), houses=2, images=8),
    network=TINY,
    optimiser=OptimiserSettings(rate=Schedule(1e-2, 1e-3), max_gradient=5.0),
    frames=8 * 100,
    batch=8,
    save_updates=50,
    log_updates=5,
)


def make_images(seed, count=8, side=32):
    """Coloured squares on grey: what is red is class 1, what is green class 2."""
    generator = make_generator("squares", seed)
    rgb = np.full((count, side, side, 3), 90, np.uint8)
    classes = np.zeros((count, side, side), np.uint8)
    for k in range(count):
        for number, colour in ((1, (220, 40, 40)), (2, (30, 210, 50))):
            row, column = generator.integers(0, side - 12, 2)
            rgb[k, row : row + 12, column : column + 12] = colour
            classes[k, row : row + 12, column : column + 12] = number
    depth = np.full((count, side, side), 3.0, np.float16)
    return LabelledImages(rgb, depth, classes)


def train(folder, recipe=RECIPE):
    training = SegmenterTraining(recipe, folder, 1, [make_images(0), make_images(1)])
    return training, training.run()


def test_scales_halve_and_every_output_learns():
    torch.manual_seed(0)
    network = UNet(5, TINY)
    scores = network(torch.rand(2, 32, 48, 4))
    assert [tuple(one.shape) for one in scores] == [
        (2, 5, 32 // step, 48 // step) for step in (1, 2, 4, 8, 16)
    ]
    classes = torch.randint(0, 5, (2, 32, 48))
    compute_loss(scores, classes, torch.ones(5), 0.25).backward()
    assert all(one.grad is not None and one.grad.abs().sum() > 0 for one in network.parameters())
    assert sum(one.numel() for one in UNet(13, UNetSettings()).parameters()) == 489_665


@pytest.mark.parametrize("corner", [(0, 0), (0, 1), (1, 0), (1, 1)])
def test_a_quarter_of_the_pixels_is_scored_as_in_the_whole(corner):
    torch.manual_seed(0)
    network = UNet(5, TINY)
    images, classes = torch.rand(2, 32, 48, 4), torch.randint(0, 5, (2, 32, 48))
    whole, part = network(images), network(images, corner)
    row, column = corner
    assert torch.allclose(part[0], whole[0][:, :, row::2, column::2], atol=1e-6)
    assert [one.shape for one in part[1:]] == [one.shape for one in whole[2:]]
    weights = torch.rand(5)
    quarter = torch.nn.functional.cross_entropy(part[0], classes[:, row::2, column::2], weights)
    assert torch.isclose(compute_loss(part, classes, weights, 0.0, corner), quarter)
    network.eval()
    assert len(network(images)) == 1


def test_quarters_learn_all_pixels_in_turn(tmp_path):
    train(tmp_path, replace(RECIPE, quarters=True))
    fresh = make_images(7)
    told = SegmenterLabeller(tmp_path).label(fresh.rgb, fresh.depth.astype(np.float32))
    for row, column in ((0, 0), (0, 1), (1, 0), (1, 1)):
        assert (told == fresh.classes)[:, row::2, column::2].mean() > 0.9
    with pytest.raises(InputError, match="quarters=false of RedNet"):
        replace(RECIPE, quarters=True, network=None)


def test_the_loss_is_that_of_a_loop():
    generator = make_generator("loss")
    scores = [torch.from_numpy(generator.normal(size=(2, 3, side, side))).float() for side in (4, 2)]
    classes = generator.integers(0, 3, (2, 4, 4))
    weights = np.array([0.5, 2.0, 1.0])
    total = 0.0
    for score, step, share in ((scores[0].numpy(), 1, 1.0), (scores[1].numpy(), 2, 0.3)):
        above = below = 0.0
        for b in range(2):
            for i in range(4 // step):
                for j in range(4 // step):
                    own = classes[b, i * step + step // 2, j * step + step // 2]
                    logits = score[b, :, i, j].astype(float)
                    log_prob = logits[own] - math.log(sum(math.exp(one) for one in logits))
                    above -= weights[own] * log_prob
                    below += weights[own]
        total += share * above / below
    found = compute_loss(scores, torch.from_numpy(classes), torch.from_numpy(weights).float(), 0.3)
    assert float(found) == pytest.approx(total, rel=1e-5)


def test_jitter_keeps_bounds():
    images = make_generator("jitter").random((3, 4, 5, 3)).astype(np.float32)
    before = images.copy()
    jitter_colours(images, 0.0, make_generator("none"))
    assert np.allclose(images, before, atol=1e-6)
    jitter_colours(images, 0.5, make_generator("some"))
    assert not np.allclose(images, before, atol=0.05)
    assert images.min() >= 0 and images.max() <= 1


def test_it_learns_and_labels_images_of_any_size_alike(tmp_path):
    _, info = train(tmp_path)
    assert info.frames == 800 and info.updates == 100 and info.classes[0] == "void"
    losses = [json.loads(line)["segmenter_loss"] for line in (tmp_path / LOG).read_text().splitlines()]
    assert losses[-1] < 0.5 * losses[0]
    labeller = SegmenterLabeller(tmp_path)
    fresh = make_images(7)
    told = labeller.label(fresh.rgb, fresh.depth.astype(np.float32))
    assert (told == fresh.classes).mean() > 0.9
    alone = [
        labeller.label(fresh.rgb[k : k + 1], fresh.depth[k : k + 1].astype(np.float32)) for k in range(8)
    ]
    assert np.array_equal(np.concatenate(alone), told), "labels do not depend on the batch"
    large = fresh.rgb.repeat(3, 1).repeat(3, 2), fresh.depth.repeat(3, 1).repeat(3, 2).astype(np.float32)
    assert np.array_equal(labeller.label(*large), told.repeat(3, 1).repeat(3, 2))
    assert np.array_equal(labeller.label(large[0], fresh.depth.astype(np.float32)), told)
    with pytest.raises(InputError, match="one view"):
        labeller.label(fresh.rgb[:, :16], fresh.depth.astype(np.float32))
    assert find_segmenter(str(tmp_path)) is find_segmenter(str(tmp_path)), "loaded once"


def test_scores_at_use_are_lowered_by_the_weights_of_the_loss(tmp_path):
    weights = np.array([2, 0, 8], np.float32)
    half = [np.log(2) / 2, np.log(8) / 2, np.log(8) / 2]
    assert compute_offsets(weights, 0.5) == pytest.approx(half), "a class of no image is as the rarest"
    assert not compute_offsets(weights, 0.0).any()
    _, info = train(tmp_path, replace(RECIPE, frames=80, correction=1.0))
    # void fills most of every image, so that the others weigh more in the loss
    assert info.offsets[0] < min(info.offsets[1:]) and len(info.offsets) == len(info.classes)
    assert read_fitted_info(tmp_path, SegmenterInfo).offsets == info.offsets
    fresh = make_images(7)
    path = tmp_path / INFO
    for banned in (1, 2):
        offsets = [1e9 if k == banned else 0.0 for k in range(len(info.classes))]
        path.write_text(json.dumps(json.loads(path.read_text()) | {"offsets": offsets}))
        found = SegmenterLabeller(tmp_path).label(fresh.rgb, fresh.depth.astype(np.float32))
        assert banned not in found
    with pytest.raises(InputError, match="correction of 0 to 1, got 1.5"):
        replace(RECIPE, correction=1.5)


def test_an_interrupted_training_goes_on_bit_for_bit(tmp_path):
    recipe = replace(RECIPE, frames=8 * 12)
    train(tmp_path / "whole", recipe)
    begun = SegmenterTraining(recipe, tmp_path / "cut", 1, [make_images(0), make_images(1)])
    for _ in range(3):
        begun._losses.append(begun.advance())
    begun._save()
    begun.advance()  # lost: killed before the next checkpoint
    train(tmp_path / "cut", recipe)
    for name in (MODEL, LOG):
        whole, cut = (tmp_path / folder / name for folder in ("whole", "cut"))
        if name == MODEL:
            assert whole.read_bytes() == cut.read_bytes()
            continue
        rows = [[json.loads(line) for line in file.read_text().splitlines()] for file in (whole, cut)]
        for row in (*rows[0], *rows[1]):
            row.pop("frames_per_second")
        assert rows[0] == rows[1]
    with pytest.raises(InputError, match=r"expected batch=8 .* got 4"):
        train(tmp_path / "cut", replace(recipe, batch=4))


def test_every_image_comes_once_in_a_pass(tmp_path):
    training = SegmenterTraining(RECIPE, tmp_path, 1, [make_images(0), make_images(1)])
    flat = [one.tobytes() for images in training._images.houses for one in images.classes]
    seen = []
    for _ in range(2):
        drawn = training._draw_batch()[1]
        training.frames += 8
        seen += [one.astype(np.uint8).tobytes() for one in drawn]
        seen += [one.astype(np.uint8)[:, ::-1].tobytes() for one in drawn]
    assert all(one in seen for one in flat)


def test_what_is_damaged_or_of_another_kind_is_named(tmp_path):
    train(tmp_path, replace(RECIPE, frames=8))
    good = (tmp_path / MODEL).read_bytes()
    (tmp_path / MODEL).write_bytes(good[:-4] + b"1234")
    with pytest.raises(FileError, match="does not belong to"):
        SegmenterLabeller(tmp_path)
    (tmp_path / INFO).write_text('{"format": "navarena-checkpoint-v1"}')
    with pytest.raises(FileError, match=r"expected a segmenter .* got 'navarena-checkpoint-v1'"):
        SegmenterLabeller(tmp_path)
    with pytest.raises(FileError, match="does not exist"):
        find_segmenter(str(tmp_path / "nowhere"))
    assert (tmp_path / RESUME).exists()


def test_descriptions_that_are_on_disks_are_read(tmp_path):
    plain = {"protocol": "r2r-ce-v1", "vocabulary": "ivln", "classes": ["void", "bed"], "size": [128, 64]}
    plain |= {"network": {"widths": [6, 8, 8, 8]}, "recipe": {"seed": 3}, "frames": 32, "updates": 2}
    plain |= {"version": "0.2.0", "model_sha256": "0f", "format": "navarena-segmenter-v1"}
    plain |= {"offsets": [0.0, 1.5]}
    (tmp_path / INFO).write_text(json.dumps(plain))
    info = read_fitted_info(tmp_path, SegmenterInfo)
    assert json.loads(encode_info(info)) == plain and info.size == (128, 64) and info.network == TINY
    with pytest.raises(FileError, match="expected a joint space .* got 'navarena-segmenter-v1'; train it"):
        read_fitted_info(tmp_path, JointInfo)


def test_a_loss_that_is_not_finite_stops(tmp_path):
    wild = replace(RECIPE, optimiser=OptimiserSettings(rate=Schedule(1e30, 1e30), max_gradient=1e30))
    with pytest.raises(CheckFailedError, match="lower the learning rate"):
        train(tmp_path, wild)


def test_a_gradient_that_is_not_finite_changes_nothing(tmp_path):
    """A loss that is 0 where its gradient is infinite: the root of 0."""
    training = SegmenterTraining(RECIPE, tmp_path, 1, [make_images(0), make_images(1)])
    training._compute_loss = lambda: (
        sum(one.abs().sum() for one in training._network.parameters()) * 0.0
        + (next(training._network.parameters()).sum() * 0.0).sqrt()
    )
    before = [one.detach().clone() for one in training._network.parameters()]
    with pytest.raises(CheckFailedError, match="in update 1, got a loss of 0.0 and a norm of nan"):
        training.advance()
    assert all(torch.equal(a, b) for a, b in zip(before, training._network.parameters(), strict=True))


def test_sizes_keep_the_aspect_and_the_nearest_pixel():
    assert choose_size((480, 640), (128, 128)) == (112, 144)
    assert choose_size((256, 256), (128, 128)) == (128, 128)
    assert choose_size((12, 20), (128, 128)) == (96, 160)
    assert choose_size((4000, 10), (32, 32)) == (640, 16)
    images = np.arange(12).reshape(1, 3, 4)
    assert resize_nearest(images, (1, 2)).tolist() == [[[5, 7]]]
    assert resize_nearest(images, (3, 8))[0, 0].tolist() == [0, 0, 1, 1, 2, 2, 3, 3]
    stacked = stack_images(np.full((1, 1, 1, 3), 51, np.uint8), np.array([[[25.0]]], np.float32))
    assert np.allclose(stacked, [0.2, 0.2, 0.2, 1.0])


def test_the_commands_train_and_score(tmp_path, monkeypatch, capsys):
    from navarena.learning.perception import evaluation, images

    monkeypatch.setattr(images, "load_images", lambda settings, split, number, seed: make_images(number))
    scored = set()

    def load(settings, split, number):
        scored.add((settings.scenes, split))
        return make_images(number + 9)

    monkeypatch.setattr(evaluation, "load_images", load)
    settings = ("images.vocabulary=gibson", "images.size=32,32", "images.houses=2", "batch=8")
    settings += ("images.scenes=robothor-like-v1",)
    flags = [word for one in settings for word in ("--set", one)]
    out = str(tmp_path / "it")
    assert (
        main(["train", "segmenter-smoke", "--out", out, "--frames", "160", *flags, "--json", "--quiet"]) == 0
    )
    document = json.loads(capsys.readouterr().out)
    assert document["frames"] == 160 and document["log"]["segmenter_loss"] > 0
    assert main(["segmenter", "score", out, "--houses", "2", "--images", "8", "--json", "--quiet"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert len(document["classes"]) == 10 and 0 <= document["mean_iou"] <= 1
    assert scored == {("robothor-like-v1", "val")}, "the scenes that it learned from"
    assert main(["segmenter", "score", out, "--split", "train"]) == 2
    assert "has not learned from" in capsys.readouterr().err


def test_a_shipped_segmenter_goes_by_its_name(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(
        "navarena.learning.perception.labelling.find_folder", lambda name: tmp_path / name.replace("-", "_")
    )
    with pytest.raises(FileError, match="segmenter_small"):
        find_segmenter("segmenter-small")
    (tmp_path / "segmenter-small").mkdir()
    for folder in ("segmenter-small", "segmenter-other"):  # a folder of that name comes first
        with pytest.raises(FileError, match=folder):
            find_segmenter(folder)
