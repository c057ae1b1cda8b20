"""Views of painted halls: where they are put, what makes room, and which of them a goal leads to."""

from dataclasses import replace
from hashlib import sha256

import numpy as np
import pytest

from agents.encoders.tiny_models import write_clip
from navarena.agents.agent import Boundary, Start
from navarena.agents.explorers.sightings import DepthView
from navarena.agents.goat.cow import CowSettings, ModularCowAgent
from navarena.agents.loading import declare_agent, load_agent
from navarena.core.errors import FileError, InputError, UnknownNameError
from navarena.core.geometry import rotation_from_yaw_pitch
from navarena.episodes.encoding.encoder import GoalEncoder, unit_rows
from navarena.tasks.catalog import get_task


def pose(x=0.0, z=0.0, yaw=0.0):
    out = np.eye(4)
    out[:3, :3] = rotation_from_yaw_pitch(yaw, 0.0)
    out[:3, 3] = x, 1.0, z
    return out


class Brightness(GoalEncoder):
    """Bright and dark: "bright ..." and a white image are one direction, all else the other."""

    name, dimension, sees_images = "brightness", 2, True

    def encode_words(self, texts):
        return unit_rows(np.array([[1.0, 0.0] if "bright" in text else [0.0, 1.0] for text in texts]))

    def encode_images(self, images):
        return unit_rows(np.array([[one.mean() + 1, 256 - one.mean()] for one in images]))


def see(agent, brightness, goal, at=None):
    """The aim of an agent that sees a wall of that brightness 2 m ahead."""
    camera = agent.camera
    observed = {"objectgoal": "", "language_goal": "", "image_goal": np.zeros((8, 8, 3), np.uint8)} | goal
    seen = {
        "rgb": np.full((camera.height_px, camera.width_px, 3), brightness, np.uint8),
    }
    depth = np.full((camera.height_px, camera.width_px), (2.0 - 0.5) / 4.5, np.float32)
    view = DepthView(depth, 4.5, 0.5, (0.5, 5.0), camera, pose() if at is None else at)
    texts = {name: np.str_(text) if isinstance(text, str) else text for name, text in observed.items()}
    return agent.finder.find_aim(0, seen | texts, view, False)


def make_agent(encoder, **settings):
    task = get_task("goat-v1")
    (camera,) = task.embodiment.cameras
    task.embodiment = replace(task.embodiment, cameras=(replace(camera, width_px=20, height_px=40),))
    agent = ModularCowAgent(task, 0, encoder, CowSettings(**settings))
    agent.reset([Start(0, "one", "hall", Boundary.SCENE, 0)])
    return agent


BRIGHT = {"language_goal": "bright lamp"}


def test_the_most_similar_view_is_gone_to_and_remembered_for_the_next_goal():
    agent = make_agent(Brightness())
    first = see(agent, 250, BRIGHT)
    assert np.allclose(first.points[0, [0, 2]], [0.0, -2.0], atol=1e-6)
    agent.reset([Start(0, "one", "hall", Boundary.SUBTASK, 0)])
    later = see(agent, 3, BRIGHT, pose(x=8.0))
    assert np.allclose(later.points[0, [0, 2]], [0.0, -2.0], atol=1e-6), "the bright wall from before"
    agent.reset([Start(0, "one", "hall", Boundary.EPISODE, 0)])
    assert see(agent, 3, BRIGHT, pose(x=8.0)) is None, "forgotten, and a dark wall is not like it"


def test_patience_ends_with_the_best_view_and_then_with_giving_up():
    agent = make_agent(Brightness(), patience=2, last=1)
    aims = [see(agent, 3, BRIGHT) for _ in range(4)]
    assert aims[:2] == [None, None]
    assert aims[2].arrival is None and aims[3].arrival is not None


def test_without_weights_only_images_are_known():
    agent = make_agent("images", patience=1, last=1)
    assert [see(agent, 200, BRIGHT) is None for _ in range(3)] == [True, True, False]
    shown = {"image_goal": np.full((64, 64, 3), 200, np.uint8)}
    agent = make_agent("images")
    assert see(agent, 200, shown) is not None
    assert not declare_agent("modular-cow").privileged


def test_encoders_must_see_and_tasks_must_be_of_goat():
    with pytest.raises(InputError, match="encoder that sees images, got 'words'"):
        make_agent("words")
    with pytest.raises(InputError, match="expected goat-v1"):
        ModularCowAgent(get_task("pointnav-v1"), 0)


@pytest.mark.learn
@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning")
def test_clip_from_disk_knows_words_and_images(tmp_path):
    pytest.importorskip("transformers")
    agent = make_agent(f"clip:{write_clip(tmp_path / 'clip')}", patience=0, last=5)
    assert see(agent, 200, {"objectgoal": "couch"}).arrival is None
    agent.reset([Start(0, "one", "hall", Boundary.SUBTASK, 0)])
    assert see(agent, 200, {"image_goal": np.full((64, 64, 3), 200, np.uint8)}).arrival is None


def test_an_encoder_is_named_behind_the_agent():
    task = get_task("goat-v1")
    with pytest.raises(InputError, match="sees images, got 'words'"):
        load_agent("modular-cow?encoder=words", task)
    with pytest.raises(InputError, match="modular-cow as name=value, each once, got 'images'"):
        load_agent("modular-cow?images", task)
    with pytest.raises(InputError, match="option encoder: expected a text, got none"):
        load_agent("modular-cow?encoder=", task)
    with pytest.raises(UnknownNameError, match="option of modular-cow"):
        load_agent("modular-cow?encoders=images", task)
    assert load_agent("modular-cow?encoder=images", task).finder._encoder.name == "images"


def test_thresholds_are_calibrated(tmp_path):
    task, path = get_task("goat-v1"), tmp_path / "thresholds.json"
    path.write_text('{"image": 0.99}')
    name = f"modular-cow?encoder=images&thresholds={path}"
    assert declare_agent(name, task).model_sha256 == sha256(b'{"image": 0.99}').hexdigest()
    agents = [load_agent(one, task) for one in ("modular-cow", name)]
    # two images of one brightness and another pattern are like each other, but not so much
    pattern = np.indices((64, 64)).sum(0)[..., None] % 2 * np.full(3, 20) + 190
    shown = {"image_goal": pattern.astype(np.uint8)}
    for agent in agents:
        agent.reset([Start(0, "one", "hall", Boundary.EPISODE, 0)])
    assert [see(agent, 200, shown) is None for agent in agents] == [False, True]
    with pytest.raises(FileError, match="thresholds .* does not exist"):
        load_agent(f"modular-cow?thresholds={tmp_path / 'none.json'}", task)
