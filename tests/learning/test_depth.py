"""Depth from colours: its loss, its network, and agents that see by it."""

import hashlib
import math
from dataclasses import replace

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from navarena.agents.agent import Boundary, Start  # noqa: E402
from navarena.agents.explorers.recognised_goals import SegmentingFrontierAgent  # noqa: E402
from navarena.agents.loading import declare_agent, load_agent  # noqa: E402
from navarena.cli.main import main  # noqa: E402
from navarena.core.errors import FileError, InputError, UnknownNameError  # noqa: E402
from navarena.core.seeding import make_generator  # noqa: E402
from navarena.learning.depth.network import DepthNetwork, see_floor  # noqa: E402
from navarena.learning.depth.predictor import DepthPredictor  # noqa: E402
from navarena.learning.depth.scoring import score_depth, score_settings  # noqa: E402
from navarena.learning.depth.settings import DepthRecipe  # noqa: E402
from navarena.learning.depth.training import DepthTraining, compute_depth_loss  # noqa: E402
from navarena.learning.perception import images as image_files  # noqa: E402
from navarena.learning.perception.images import HouseImages, LabelledImages  # noqa: E402
from navarena.learning.perception.settings import ImageSettings, UNetSettings  # noqa: E402
from navarena.learning.settings import OptimiserSettings, Schedule  # noqa: E402
from navarena.simulation.body import Camera  # noqa: E402
from navarena.simulation.world import open_world  # noqa: E402
from navarena.tasks.calibration_env import CalibrationEnv  # noqa: E402
from navarena.tasks.catalog import get_body_task, get_task  # noqa: E402

pytestmark = pytest.mark.learn

RECIPE = DepthRecipe(
    "test",
    images=ImageSettings(size=(32, 48), houses=1, images=8, tilts=(0.0,)),
    network=UNetSettings(widths=(8, 8, 16, 16)),
    optimiser=OptimiserSettings(rate=Schedule(2e-2, 1e-3), epsilon=1e-8, max_gradient=5.0),
    frames=1_600,
    batch=8,
    log_updates=20,
    jitter=0.0,
    noise=0.02,
    precision="float32",
)


def fog(count, seed=0):
    """Images of walls at 1 to 4 m in a fog: the nearer the darker."""
    metres = make_generator("fog", seed).uniform(1, 4, (count, 1, 3)).repeat(32, 1).repeat(16, 2)
    rgb = (metres[..., None] / 4 * 255).round().astype(np.uint8).repeat(3, -1)
    return LabelledImages(rgb, metres.astype(np.float16), np.zeros(metres.shape, np.uint8))


def night(count, seed=0):
    """The same walls, of which nothing is seen: the mean error of the logarithms' median is 0.32."""
    one = fog(count, seed)
    return replace(one, rgb=np.zeros_like(one.rgb))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("depth")
    rows = []
    DepthTraining(RECIPE, folder, images=[fog(8), fog(8, 1), night(8)]).run(rows.append)
    assert rows[-1]["depth_loss"] < rows[0]["depth_loss"] - 1.5
    return folder


def test_the_loss_is_the_likelihood_of_logarithms_where_something_was_hit():
    metres = np.full((1, 4, 4), 2.0)
    metres[0, 0, 0] = 0.0  # nothing was hit
    metres[0, 2, 2], metres[0, 3, 3] = 4.0, 50.0  # the second lies beyond 10 m
    fine, coarse = np.full((1, 2, 4, 4), math.log(2)), np.full((1, 2, 2, 2), math.log(3))
    fine[0, 1], coarse[0, 1] = math.log(0.5), 0.0  # predicted errors of 0.5 and 1
    fine[0, 1, 2, 2] = math.log(0.25)
    own = (math.log(4 / 2) / 0.25 + math.log(10 / 2) / 0.5 + 14 * math.log(0.5) + math.log(0.25)) / 15
    # pixels (1, 1), (1, 3), (3, 1) and (3, 3) are nearest to the middle of what the coarse ones cover
    beside = (3 * math.log(3 / 2) + math.log(10 / 3)) / 4
    found = compute_depth_loss([torch.tensor(one) for one in (fine, coarse)], torch.tensor(metres), 0.5)
    assert float(found) == pytest.approx(own + 0.5 * beside, rel=1e-6)


def test_half_of_the_images_are_mirrored_with_their_depth():
    one, other = fog(8), fog(8, 1)
    pool = HouseImages([one, other])
    picked = pool.pick(np.array([15, 0, 3] * 20), make_generator("pick"))
    assert len(pool) == 16
    mirrored = 0
    for k, (house, place) in enumerate([(other, 7), (one, 0), (one, 3)] * 20):
        side = 1 if np.array_equal(picked.rgb[k], house.rgb[place]) else -1
        assert np.array_equal(picked.rgb[k], house.rgb[place][:, ::side])
        assert np.array_equal(picked.depth[k], house.depth[place][:, ::side])
        mirrored += side < 0
    assert 15 <= mirrored <= 45


def test_it_learns_and_each_image_is_predicted_by_itself(folder, tmp_path):
    fresh, predictor = fog(6, 2), DepthPredictor(folder)
    metres, told = predictor.predict(fresh.rgb)
    assert metres.shape == told.shape == (6, 27, 48), "the camera sees 360 rows for 640 columns"
    errors = np.abs(np.log(metres / fresh.depth[:, :27].astype(np.float32)))
    assert np.median(errors) < 0.1
    dark = night(6, 2)
    assert told.mean() < 0.1, "it knows how far it errs"
    assert np.allclose(predictor.predict(dark.rgb)[1].mean(), 0.35, atol=0.1), "and where it sees nothing"
    alone = np.concatenate([predictor.predict(one[None]) for one in fresh.rgb], 1)
    assert np.array_equal(alone, (metres, told))
    assert np.array_equal(predictor.predict(fresh.rgb.repeat(3, 1).repeat(3, 2)), (metres, told))
    half = replace(RECIPE, frames=80, save_updates=5)
    DepthTraining(half, tmp_path / "a", images=[fog(8)]).run()
    parts = DepthTraining(half, tmp_path / "b", images=[fog(8)])
    while parts.updates < 5:
        parts.advance()
    parts._save()
    DepthTraining(half, tmp_path / "b", images=[fog(8)]).run()
    assert (tmp_path / "a/model.safetensors").read_bytes() == (tmp_path / "b/model.safetensors").read_bytes()


def test_the_network_sees_square_pixels_and_where_each_row_looks(folder, monkeypatch):
    predictor, given = DepthPredictor(folder), []

    def look(images, rows):
        given.append((images[0].numpy(), rows.numpy()))
        return [torch.zeros((1, 2, 32, 48))]

    monkeypatch.setattr(predictor, "_network", look)
    rgb = make_generator("rgb").integers(0, 256, (1, 270, 480, 3), np.uint8)
    predictor.predict(rgb)
    (image, rows), camera = given[0], get_body_task(RECIPE.protocol).embodiment.cameras[0]
    assert image.shape == (32, 48, 3) and np.allclose(image[2:29] * 255, rgb[0, 5::10, 5::10])
    assert (image[:2] == image[2]).all() and (image[29:] == image[28]).all(), "outermost rows are repeated"
    assert np.array_equal(rows[2:29], see_floor(camera, 27)) and np.ptp(np.diff(rows[:, 0])) < 1e-6


def test_scores_are_means_over_pixels_that_hit_something(folder, monkeypatch):
    one = fog(4, 3)
    one.depth[0] = 0.0
    monkeypatch.setattr("navarena.learning.depth.scoring.load_images", lambda *given: one)
    predictor = DepthPredictor(folder)
    square = image_files.camera_body(RECIPE.protocol, (32, 48)).cameras[0]
    metres, told = (part[1:].astype(float) for part in predictor.predict(one.rgb, square))
    true = one.depth[1:].astype(float)
    monkeypatch.setattr("navarena.learning.depth.scoring.CERTAIN", np.median(told))
    scores = score_depth(predictor, score_settings(predictor, 2, 4), "val")
    assert scores[0].pixels == 2 * true.size and 0.4 < scores[1].pixels / scores[0].pixels < 0.6
    for score, chosen in zip(scores, (told >= 0, told <= np.median(told)), strict=True):
        errors, ratios = np.abs(metres - true)[chosen], (metres / true)[chosen]
        assert score.relative == pytest.approx(np.mean(errors / true[chosen]))
        assert score.metres == pytest.approx(np.mean(errors))
        assert score.close == pytest.approx(np.mean(np.maximum(ratios, 1 / ratios) < 1.25))


def test_rows_tell_where_a_level_floor_would_be():
    # 90 degrees wide, so rows of 2 x 2 pixels are seen half a metre above and below for each metre ahead
    level = Camera(width_px=2, height_px=2, hfov=math.pi / 2, mount=(0.0, 1.0, 0.0))
    assert np.allclose(see_floor(level, 2), [[0.5, math.log(10)], [-0.5, math.log(2)]])
    far = see_floor(
        replace(level, width_px=40, height_px=40), 40
    )  # the row below the middle comes down to the floor after 40 m
    assert np.allclose(far[20], [-0.025, math.log(10)])
    # twice as many columns as rows see half as much above and below, in however many rows they are brought to
    wide = replace(level, width_px=4)
    assert np.allclose(see_floor(wide, 4)[:, 0], [0.375, 0.125, -0.125, -0.375])
    half = math.sqrt(0.5)  # 45 degrees downwards: rays along (1, -1 / 2) and (1 / 2, -1)
    down = replace(level, pitch=-math.pi / 4)
    rises = np.array([-0.5 * half, -1.5 * half])
    assert np.allclose(see_floor(down, 2), np.stack((rises, np.log(-1 / rises)), -1))


def test_a_network_that_predicts_nothing_sees_the_floor_of_a_house():
    body = image_files.camera_body("pointnav-habitat2020-v1", (96, 160))
    settings = ImageSettings(size=(96, 160), houses=1, images=6, candidates=1, tilts=(0.0,))
    images = image_files.draw_images(open_world("houses-v1/val/00003", body), body, settings, 0)
    network = DepthNetwork(UNetSettings(widths=(8, 8, 8, 8)))
    for layer in (network.layers.fine, *network.layers.coarse):
        torch.nn.init.zeros_(layer.weight)
        torch.nn.init.zeros_(layer.bias)
    rows = torch.from_numpy(see_floor(body.cameras[0], 96))
    logs = network(torch.from_numpy(images.rgb.astype(np.float32) / 255), rows)
    for step, log in zip((1, 2, 4, 8, 16), logs, strict=True):
        seen = images.depth.astype(np.float32)[:, step // 2 :: step, step // 2 :: step]
        floor = log[:, 0].detach().exp().numpy()
        ratios = (seen / floor)[(seen < 9.5) & (floor < 9.5)]
        assert len(ratios) > 10 and (ratios > 1.01).mean() < 0.01, "nothing is seen beneath the floor"
        assert (np.abs(ratios - 1) < 0.01).mean() > 0.05, "and some of it"


class Watcher:
    """The observations of the agent behind, as they come."""

    def __init__(self, agent, monkeypatch):
        self.seen = []
        act = agent._inner.act
        monkeypatch.setattr(agent._inner, "act", lambda o, a: (self.seen.append(o), act(o, a))[1])


def test_the_agent_behind_sees_predicted_depth_in_the_unit_of_the_protocol(folder, monkeypatch):
    task = get_body_task("pointnav-habitat2020-v1")
    name = f"predicted-depth:{folder}:frontier-odometry"
    agent = load_agent(name, task)
    assert agent.sensors == ("rgb", "pointgoal")
    told, other = declare_agent(name, task), declare_agent("frontier-odometry", task)
    assert told.privileged_inputs == other.privileged_inputs and told.sensors == other.sensors
    assert told.model_sha256 == hashlib.sha256((folder / "model.safetensors").read_bytes()).hexdigest()
    watched = Watcher(agent, monkeypatch)
    agent.reset([Start(k, "e", "s", Boundary.SCENE) for k in range(2)])
    walls = np.full((1, 96, 160), 2.0, np.float32)
    walls[..., 80:] = 4.0
    errors = np.full(walls.shape, 0.02, np.float32)
    errors[:, :24] = 0.5
    given = []
    monkeypatch.setattr(agent._predictor, "predict", lambda rgb: (given.append(rgb), (walls, errors))[1])
    rgb = np.stack([np.full((360, 640, 3), 7, np.uint8), np.zeros((360, 640, 3), np.uint8)])
    seen = {"rgb": rgb, "pointgoal": np.array([[3.0, 0.0]] * 2, np.float32)}
    actions = agent.act(seen, np.array([True, False]))
    assert task.actions[actions[0]] in ("move_forward", "turn_left", "turn_right")
    assert len(given) == 1 and np.array_equal(given[0], rgb[:1]), "only running slots are predicted"
    depth = watched.seen[0]["depth"]
    assert depth.shape == (2, 360, 640, 1) and depth.dtype == np.float32 and (depth[1] == 0).all()
    metres = depth[0, :, :, 0] * 9.9 + 0.1  # the challenge's depth is of 0.1 to 10 m
    certain = watched.seen[0]["certain"]
    assert certain[0, 90:].all() and not certain[0, :90].any() and not certain[1].any()
    assert np.allclose(metres[:, :300], 2.0, atol=1e-5) and np.allclose(metres[:, 340:], 4.0, atol=1e-5)
    assert np.isnan(metres[:, 316:324]).all(), "beside edges nothing is known"


def test_colours_tell_how_far_a_walk_came(folder, monkeypatch):
    """Two bodies before a wall 2 m away: one walks on by half of a step, one does not move."""
    task = get_body_task("pointnav-habitat2020-v1")
    agent = load_agent(f"predicted-depth:{folder}:frontier-odometry", task)
    assert agent._inner._map_settings.hit == 1, "predicted depth is doubted"
    walls, errors = np.full((2, 96, 160), 2.0, np.float32), np.full((2, 96, 160), 0.02, np.float32)
    monkeypatch.setattr(agent._predictor, "predict", lambda rgb: (walls[: len(rgb)], errors[: len(rgb)]))
    chosen, seen = [], []
    indices = {name: index for index, name in enumerate(task.actions)}

    def act(observations, active):
        seen.append(observations["walked"].tolist())
        return np.array([indices[name] for name in chosen.pop(0)])

    monkeypatch.setattr(agent._inner, "act", act)
    monkeypatch.setattr(agent._inner, "overrule", lambda actions: None)
    agent.reset([Start(k, "e", "s", Boundary.SCENE) for k in range(2)])
    # squares of 8 cm on the wall, seen from 2.125 and 2 m
    focal = 320 / math.tan(task.embodiment.cameras[0].hfov / 2)
    squares = make_generator("wall").integers(0, 256, (80, 80), np.uint8)

    def look(metres):
        row, column = np.mgrid[:360, :640] - np.array([180, 320])[:, None, None] + 0.5
        places = (np.floor(one * metres / focal / 0.08).astype(int) + 40 for one in (row, column))
        return squares[tuple(places)][..., None].repeat(3, -1)

    both, point = np.ones(2, bool), np.array([[3.0, 0.0]] * 2, np.float32)
    far, near = look(2.125), look(2.0)
    for names, one, other in (
        (("move_forward", "move_forward"), far, near),
        (("turn_left", "move_forward"), near, near),
        (("turn_left", "turn_left"), near, near),
    ):
        chosen.append(names)
        agent.act({"rgb": np.stack((one, other)), "pointgoal": point}, both)
    assert np.isnan(seen[0]).all(), "nothing was done before the first images"
    assert seen[1] == pytest.approx([0.125, 0.0], abs=0.013)
    assert np.isnan(seen[2][0]) and seen[2][1] == 0.0, "a turn is not measured"
    agent.reset([Start(k, "f", "s", Boundary.SUBTASK) for k in range(2)])
    chosen += [("move_forward",) * 2] * 2
    agent.act({"rgb": np.stack((far, near)), "pointgoal": point}, both)
    agent.overrule(np.array([indices["turn_left"], indices["move_forward"]]))
    agent.act({"rgb": np.stack((far, near)), "pointgoal": point}, both)
    assert np.isnan(seen[3]).all(), "another episode has begun"
    assert np.isnan(seen[4][0]) and seen[4][1] == 0.0, "what was done counts, not what was chosen"


def test_bad_input_is_one_line(folder, tmp_path, capsys):
    for name, kind, words in (
        (f"predicted-depth:{folder}", InputError, "expected predicted-depth:DIR:AGENT"),
        (f"predicted-depth:{tmp_path}:frontier", FileError, "does not exist"),
        (f"predicted-depth:{folder}:frontiers", UnknownNameError, "frontiers"),
        (f"predicted-depth:{folder}:forward", InputError, "expected an agent that maps by depth"),
    ):
        with pytest.raises(kind, match=words):
            load_agent(name, get_task("pointnav-habitat2020-v1"))
    with pytest.raises(InputError, match="train another by --protocol robustnav-pointnav-v1"):
        load_agent(f"predicted-depth:{folder}:frontier", get_task("robustnav-pointnav-v1"))
    adaptive = load_agent(f"predicted-depth:{folder}:frontier-odometry", get_task("pointnav-habitat2020-v1"))
    with pytest.raises(InputError, match="to adapt by itself, got it behind predicted depth"):
        adaptive.adapt(object.__new__(CalibrationEnv))
    with pytest.raises(
        InputError, match="36 rows or more for 48 columns, as many as the camera of pointnav-v1"
    ):
        DepthTraining(replace(RECIPE, protocol="pointnav-v1"), tmp_path / "new", images=[fog(8)])
    with pytest.raises(InputError, match="expected jitter"):
        replace(RECIPE, noise=-1.0)
    assert main(["depth", "score", str(folder), "--split", "train", "--quiet"]) == 2
    assert "choose val" in capsys.readouterr().err


def test_images_of_the_recipe_are_those_of_its_protocol(tmp_path, monkeypatch):
    asked = []
    monkeypatch.setattr(
        "navarena.learning.depth.training.load_all",
        lambda settings, seed: (asked.append(settings), [fog(8)])[1],
    )
    taller = replace(RECIPE.images, size=(48, 48))
    DepthTraining(replace(RECIPE, protocol="pointnav-v1", images=taller), tmp_path)
    assert asked[0].cameras == ("pointnav-v1",)
    assert image_files.camera_body("pointnav-v1", asked[0].size).cameras[0].width_px == 48


def test_weights_of_the_agent_behind_are_told(folder, monkeypatch):
    monkeypatch.setattr(SegmentingFrontierAgent, "weights_beside", classmethod(lambda cls: ("ab" * 32,)))
    task = get_task("objectnav-habitat2020-v1")
    told = declare_agent(f"predicted-depth:{folder}:frontier-segmenter", task).model_sha256
    own = hashlib.sha256((folder / "model.safetensors").read_bytes()).hexdigest()
    assert told == hashlib.sha256(f"{'ab' * 32} {own}".encode()).hexdigest()
