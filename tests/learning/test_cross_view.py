"""Cross-view completion: pairs that see common surface, masks, what learns, scores, checkpoints, errors."""

import json
import math
from dataclasses import replace

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from navarena.cli.main import main  # noqa: E402
from navarena.core.errors import InputError, SceneError  # noqa: E402
from navarena.core.seeding import make_generator  # noqa: E402
from navarena.learning.checkpoints.files import MODEL  # noqa: E402
from navarena.learning.checkpoints.fitted import load_fitted  # noqa: E402
from navarena.learning.cross_view.checkpoint import CrossViewInfo  # noqa: E402
from navarena.learning.cross_view.network import CompletionNetwork, cut_patches, draw_visible  # noqa: E402
from navarena.learning.cross_view.pairs import (  # noqa: E402
    ViewPairs,
    draw_view_pairs,
    load_view_pairs,
    measure_share,
)
from navarena.learning.cross_view.scoring import score_folder, score_pairs  # noqa: E402
from navarena.learning.cross_view.settings import CrossViewRecipe, ViewPairSettings  # noqa: E402
from navarena.learning.cross_view.training import CrossViewTraining  # noqa: E402
from navarena.learning.networks.binocular_settings import BinocularSettings  # noqa: E402
from navarena.learning.settings import OptimiserSettings, Schedule  # noqa: E402
from navarena.learning.trainings.log import LOG  # noqa: E402
from navarena.simulation.body import Camera  # noqa: E402
from navarena.simulation.rendering.engine import VisibilityRenderer  # noqa: E402
from navarena.simulation.rendering.views import Frames, Views  # noqa: E402
from navarena.simulation.world import open_world  # noqa: E402
from navarena.tasks.catalog import get_body_task  # noqa: E402

pytestmark = pytest.mark.learn

FEW = ViewPairSettings(houses=1, pairs=24)
SIZES = BinocularSettings(side=32, width=24, layers=1, crossings=1, heads=2, expansion=2)
RECIPE = CrossViewRecipe(
    "made views",
    network=SIZES,
    optimiser=OptimiserSettings(rate=Schedule(3e-3, 1e-4), epsilon=1e-8, max_gradient=5.0),
    frames=16 * 150,
    batch=16,
    masked=0.75,
    save_updates=50,
    log_updates=25,
    precision="float32",
)


@pytest.fixture(scope="module")
def world():
    return open_world("houses-v1/train/00000", get_body_task("instance-imagenav-v1").embodiment)


@pytest.fixture(scope="module")
def drawn(world):
    return draw_view_pairs(world, FEW, 64, 0)


def make_pairs(seed, count=32):
    """Views of one colour each, of which the other view alone tells the masked patches' right half."""
    generator = make_generator("cross-view-test", seed)
    colours = generator.integers(0, 256, (count, 1, 1, 3))
    first = np.broadcast_to(colours, (count, 32, 32, 3)).astype(np.uint8)
    second = first.copy()
    first[:, :, :16] = 128  # grey on the left, the colour on the right
    second[:, 16:] = 128
    return ViewPairs(first, second, np.full(count, 0.5, np.float32), np.zeros((count, 2, 6)))


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    folder = tmp_path_factory.mktemp("cross-view")
    CrossViewTraining(RECIPE, folder, pairs=[make_pairs(0, 64), make_pairs(1, 64)]).run()
    return folder


def rotate(yaw, pitch):
    """World from camera, from the axes: where the camera looks, what is right of it, and what is above."""
    ahead = np.array([-math.sin(yaw) * math.cos(pitch), math.sin(pitch), -math.cos(yaw) * math.cos(pitch)])
    right = np.array([math.cos(yaw), 0.0, -math.sin(yaw)])
    return np.stack([right, np.cross(right, ahead), -ahead], 1)


def render(world, pose, side, channels):
    camera = Camera(width_px=side, height_px=side, hfov=float(pose[5]))
    frames = Frames.allocate(1, camera, channels)
    views = Views(camera, np.zeros(1, np.int32), pose[None, :3].copy(), rotate(pose[3], pose[4])[None])
    VisibilityRenderer([world.render_mesh]).render(views, frames)
    return frames


def count_common(world, pose, other):
    """Share of the surface points of one view that the other shows, in a finer image, one by one."""
    depth = render(world, pose, 64, ("depth",)).depth[0]
    fine = render(world, other, 512, ("depth",)).depth[0]
    focal, fine_focal = 32 / math.tan(pose[5] / 2), 256 / math.tan(other[5] / 2)
    seen = 0
    for row in range(64):
        for column in range(64):
            d = float(depth[row, column])
            ray = np.array([(column + 0.5 - 32) / focal, (31.5 - row) / focal, -1.0])
            point = pose[:3] + rotate(pose[3], pose[4]) @ (ray * d)
            right, up, back = rotate(other[3], other[4]).T @ (point - other[:3])
            if d == 0 or back >= 0:
                continue
            x, y = 256 + fine_focal * right / -back, 256 - fine_focal * up / -back
            if 0 <= x < 512 and 0 <= y < 512:
                seen += abs(float(fine[int(y), int(x)]) + back) <= -0.05 * back
    return seen / 64**2


def test_pairs_see_common_surface(world, drawn):
    """An independent count in finer images, which allows for what the coarse ones round."""
    assert (drawn.overlap >= 0.3).all() and (drawn.overlap <= 0.9).all()
    for k in range(0, 24, 4):
        first, second = drawn.poses[k]
        counted = min(count_common(world, first, second), count_common(world, second, first))
        assert counted == pytest.approx(float(drawn.overlap[k]), abs=0.05)
        assert np.array_equal(render(world, second, 64, ("rgb",)).rgb[0], drawn.second[k])
    apart = count_common(world, drawn.poses[0, 0], drawn.poses[12, 1])
    depth, other = (render(world, pose, 64, ("depth",)).depth[0] for pose in drawn.poses[(0, 12), (0, 1)])
    assert measure_share(depth, drawn.poses[0, 0], other, drawn.poses[12, 1]) == pytest.approx(
        apart, abs=0.05
    )


def test_shares_by_hand():
    """A wall 2 m ahead fills the view of a camera of 90 degrees; 1 m further right it is 3/4 of it."""
    wall = np.full((32, 32), 2.0, np.float32)
    here, right = np.zeros(6), np.array([1.0, 0, 0, 0, 0, math.pi / 2])
    here[5] = math.pi / 2
    assert measure_share(wall, here, wall, here) == 1.0
    assert measure_share(wall, here, wall, right) == 0.75
    assert measure_share(wall, here, wall / 2, here) == 0.0, "something stands before it"
    assert measure_share(wall, here, wall, np.array([0, 0, 0, math.pi, 0, math.pi / 2])) == 0.0
    assert measure_share(0 * wall, here, wall, here) == 0.0, "nothing was hit"


def test_pairs_and_masks_follow_their_seed(world, drawn):
    again, other = (draw_view_pairs(world, FEW, 64, seed) for seed in (0, 1))
    for name, value in vars(drawn).items():
        assert np.array_equal(getattr(again, name), value) and not np.array_equal(getattr(other, name), value)
    kept = load_view_pairs(FEW, 64, "instance-imagenav-v1", "train", 0)
    assert np.array_equal(kept.first, drawn.first)
    masks = [draw_visible(50, 64, 0.9, make_generator("masks", seed)) for seed in (0, 0, 1)]
    assert np.array_equal(masks[0], masks[1]) and not np.array_equal(masks[0], masks[2])
    assert masks[0].shape == (50, 6) and (np.diff(masks[0]) > 0).all() and len(np.unique(masks[0])) > 60
    assert draw_visible(1, 16, 0.999, make_generator("masks")).shape == (1, 1)


def test_patches_are_those_of_the_image():
    image = torch.arange(32 * 32 * 3).reshape(1, 32, 32, 3).remainder(256).to(torch.uint8)
    cut = cut_patches(image)
    assert cut.shape == (1, 16, 192)
    expected = (image[0, 8:16, 16:24].float() - 127.5) / 64
    assert torch.equal(cut[0, 6], expected.flatten())


def test_masked_patches_are_neither_seen_nor_forgotten():
    with torch.random.fork_rng():
        torch.manual_seed(0)
        network = CompletionNetwork(SIZES)
    pairs = make_pairs(0, 4)
    images, others = torch.from_numpy(pairs.first), torch.from_numpy(pairs.second)
    visible = torch.from_numpy(draw_visible(4, 16, 0.75, make_generator("masks")))
    changed = images.clone()
    hidden = [k for k in range(16) if k not in visible[0].tolist()]
    for patch in hidden:
        row, column = 8 * (patch // 4), 8 * (patch % 4)
        changed[0, row : row + 8, column : column + 8] = 7
    assert torch.equal(network(images, visible, others), network(changed, visible, others))
    errors = network.measure_errors(images, visible, others)
    wanted = (network(images, visible, others)[0, hidden] - cut_patches(images)[0, hidden]).square().mean()
    assert errors[0].item() == pytest.approx(wanted.item(), rel=1e-5), "masked patches alone count"
    errors.mean().backward()
    for name, value in network.named_parameters():
        assert value.grad is not None and value.grad.abs().max() > 0, name
    crossing = network.binocular.crossings[0].attentions[1]
    assert all(one.grad.abs().max() > 0 for one in crossing.parameters()), "the other view teaches"


def test_it_learns_from_the_other_view(trained):
    losses = [json.loads(line)["completion_loss"] for line in (trained / LOG).read_text().splitlines()]
    assert losses[-1] < 0.5 * losses[0]
    info, network = load_fitted(trained, CrossViewInfo)
    score = score_pairs(network, [make_pairs(7), make_pairs(8)], info)
    assert len(score.own) == 64
    assert score.own.mean() < 0.8 * min(score.same_house.mean(), score.other_house.mean())
    again = score_pairs(network, [make_pairs(7), make_pairs(8)], info)
    assert all(map(np.array_equal, score, again))


def test_it_goes_on_bit_for_bit(tmp_path):
    short = replace(RECIPE, frames=16 * 30, save_updates=10)
    whole, half = (CrossViewTraining(short, tmp_path / name, pairs=[make_pairs(0)]) for name in "ab")
    whole.run()
    while half.updates < 13:
        half.advance()
    half._save()
    CrossViewTraining(short, tmp_path / "b", pairs=[make_pairs(0)]).run()
    assert (tmp_path / "a" / MODEL).read_bytes() == (tmp_path / "b" / MODEL).read_bytes()


@pytest.mark.slow
@pytest.mark.turns(4)
def test_the_smoke_recipe_learns_in_houses(tmp_path, capsys):
    assert main(["train", "cross-view-smoke", "--out", str(tmp_path), "--quiet"]) == 0
    assert f"navarena cross-view score {tmp_path}" in capsys.readouterr().out
    losses = [json.loads(line)["completion_loss"] for line in (tmp_path / LOG).read_text().splitlines()]
    assert losses[-1] < 0.8 * losses[0]
    command = ["cross-view", "score", str(tmp_path), "--houses=3", "--pairs=20", "--json", "--quiet"]
    assert main(command) == 0
    found = json.loads(capsys.readouterr().out)
    assert set(found) >= {"folder", "frames", "protocol", "split", "pairs", "error", "better"}
    assert found["pairs"] == 60 and found["better"] > 0.5
    assert found["error"] < min(found["same_house"], found["other_house"])


def test_bad_input_is_one_line(trained, tmp_path, world, capsys, monkeypatch):
    for split in ("train", "val"):
        command = ["cross-view", "score", str(trained), "--split", split, "--houses=1", "--pairs=1"]
        assert main([*command, "--quiet"]) == 2
    told = capsys.readouterr().err
    assert "choose val" in told and "at least 2 houses of 2 pairs, got 1 of 1" in told
    assert main(["cross-view", "score", str(tmp_path)]) == 2
    assert "navarena train cross-view-small" in capsys.readouterr().err
    with pytest.raises(InputError, match="multiple of 16 pixels, got 60"):
        BinocularSettings(side=60)
    with pytest.raises(InputError, match="expected overlap within 0 to 1, got 0.9 to 0.3"):
        ViewPairSettings(overlap=(0.9, 0.3))
    with pytest.raises(InputError, match="masked between 0 and 1"):
        replace(RECIPE, masked=1.0)
    monkeypatch.setattr("navarena.learning.cross_view.pairs.ROUNDS", 2)  # all of them take minutes
    with pytest.raises(SceneError, match="expected 24 pairs .* overlaps of 0.999 to 1.0 .*--set pairs.pairs"):
        draw_view_pairs(world, replace(FEW, overlap=(0.999, 1.0)), 32, 0)
    with pytest.raises(InputError, match="1 to .* houses"):
        score_folder(trained, "val", 100_000, 2)
