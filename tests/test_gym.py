"""Gymnasium finds the protocols by id."""

from pathlib import Path

import gymnasium
import pytest
from gymnasium.utils.env_checker import check_env

from navarena.core.errors import InputError, UnknownNameError
from navarena.gym import IDS, gymnasium_id, gymnasium_ids
from navarena.tasks import Sources
from navarena.tasks.catalog import TASKS


def test_ids() -> None:
    assert (
        gymnasium_id("pointnav-v1", "navarena.tasks.protocols.point_nav:PointNav") == "navarena/PointNav-v1"
    )
    assert "navarena/PointNav-v1" in IDS and set(IDS) <= set(gymnasium.registry)


def test_a_class_of_a_package_does_not_take_our_id(monkeypatch: pytest.MonkeyPatch) -> None:
    targets = {"a-pointnav-v1": "someones_tasks:PointNav", **TASKS.targets()}
    monkeypatch.setattr(TASKS, "targets", lambda: targets)
    ids = gymnasium_ids()
    assert ids["pointnav-v1"] == "navarena/PointNav-v1" and ids["a-pointnav-v1"] == "navarena/a-pointnav-v1"


def test_make() -> None:
    sensors = ("pointgoal_with_gps_compass",)
    env = gymnasium.make("navarena.gym:navarena/PointNav-v1", split="mini", sensors=sensors)
    observation, info = env.reset(seed=1)
    assert observation["pointgoal_with_gps_compass"].shape == (2,) and info["scene_id"]
    env.step(env.action_space.sample())
    env.close()


def test_make_vec() -> None:
    sensors = ("pointgoal_with_gps_compass",)
    envs = gymnasium.make_vec("navarena.gym:navarena/PointNav-v1", num_envs=3, split="mini", sensors=sensors)
    assert envs.reset(seed=1)[0]["pointgoal_with_gps_compass"].shape == (3, 2)
    envs.close()


def test_tours_in_houses() -> None:
    assert "navarena/IR2RCE-v1" in IDS
    sensors = ("instruction", "phase", "tour_position")
    env = gymnasium.make("navarena.gym:navarena/IR2RCE-v1", split="mini", sensors=sensors)
    check_env(env.unwrapped, skip_render_check=True)
    first = env.reset(seed=1)
    assert first[1]["phase"] == "agent" and first[1] == env.reset(seed=1)[1]
    envs = gymnasium.make_vec("navarena.gym:navarena/IR2RCE-v1", num_envs=2, split="mini", sensors=sensors)
    seen, infos = envs.reset(seed=1)
    assert seen["instruction"][0] == first[0]["instruction"] and infos["tour_id"][0] == first[1]["tour_id"]


def test_a_tour_file_needs_an_episode_file(tmp_path: Path) -> None:
    tours = Sources(tours=str(tmp_path / "tours.json"))
    with pytest.raises(InputError, match="expected an episode file"):
        gymnasium.make("navarena.gym:navarena/IR2RCE-v1", sources=tours)
    with pytest.raises(UnknownNameError, match="val_seen"):
        gymnasium.make("navarena.gym:navarena/IR2RCE-v1", split="valseen")


def test_unknown_protocol_gets_gymnasiums_answer() -> None:
    with pytest.raises(gymnasium.error.NameNotFound):
        gymnasium.make("navarena.gym:navarena/PointNaf-v1")
