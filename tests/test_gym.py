"""Gymnasium finds the protocols by id."""

import gymnasium
import pytest

from navarena.gym import IDS, gymnasium_id


def test_ids() -> None:
    assert gymnasium_id("pointnav-v1", "navarena.tasks.point_nav:PointNav") == "navarena/PointNav-v1"
    assert "navarena/PointNav-v1" in IDS and set(IDS) <= set(gymnasium.registry)


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


def test_unknown_protocol_gets_gymnasiums_answer() -> None:
    with pytest.raises(gymnasium.error.NameNotFound):
        gymnasium.make("navarena.gym:navarena/PointNaf-v1")
