"""Episodes in twins are those of the apartments, and suffer what robots suffer in twins."""

from dataclasses import replace

import numpy as np
import pytest

from navarena.core.errors import InputError
from navarena.episodes import lazy
from navarena.episodes.catalog import make_split
from navarena.episodes.dataset import EpisodeDataset
from navarena.episodes.episode import Episode
from navarena.episodes.goals import PointGoal
from navarena.episodes.sequence import MappedEpisodes
from navarena.episodes.twins import to_twins
from navarena.scenes.apartments import TWIN_CORRUPTIONS
from navarena.scenes.catalog import scene_corruptions
from navarena.scenes.twin_ids import APARTMENT_SET, TWIN_SET
from navarena.simulation.body_catalog import LOCOBOT_ROBOTHOR
from navarena.simulation.world import open_world
from navarena.tasks.catalog import get_task
from navarena.tasks.corruption_checks import keep_applicable, require_applicable

from .counting import Counting


def apartment_episodes() -> EpisodeDataset:
    episodes = tuple(
        Episode(str(k), f"robothor-like-v1/val/0000{k}", (1.0, 0.0, k), 0.5, PointGoal((2.0, 0.0, 1.0)), 1.5)
        for k in range(3)
    )
    return EpisodeDataset("pointnav-robothor-v1", "robothor-like-v1", "val", episodes)


def test_episodes_are_paired():
    own = apartment_episodes()
    twins = to_twins(own)
    assert twins.name == "robothor-like-v1-twin" and twins.hash != own.hash
    for one, two in zip(own.episodes, twins.episodes, strict=True):
        assert two == replace(one, scene_id=one.scene_id.replace("v1/", "v1-twin/"))
    with pytest.raises(InputError, match="expected the id of an apartment"):
        to_twins(replace(own, episodes=(replace(own.episodes[0], scene_id="houses-v1/val/00000"),)))


def test_training_episodes_are_paired_as_they_are_read():
    own = replace(apartment_episodes(), split="train", recipe_hash="0123456789abcdef")
    twins = to_twins(own)
    assert isinstance(twins.episodes, MappedEpisodes) and len(twins) == 3
    assert own.hash != twins.hash and len(twins.hash) == 16
    read = to_twins(replace(apartment_episodes(), recipe_hash="0123456789abcdef")).episodes
    assert [episode.episode_id for episode in read[1:]] == ["1", "2"] == [read[1].episode_id, "2"]
    assert [episode.scene_id for episode in read] == [f"robothor-like-v1-twin/val/0000{k}" for k in range(3)]


def test_what_is_drawn_for_twins_is_drawn_for_apartments(monkeypatch):
    monkeypatch.setattr(lazy, "open_world", lambda scene, body: scene)
    for options in ({}, {"per_scene": 1, "seed": 3}):
        own, twins = (make_split(Counting(), "mini", name, **options) for name in (APARTMENT_SET, TWIN_SET))
        assert twins == to_twins(own) and len(own) == 10 * options.get("per_scene", 4)


@pytest.mark.slow
def test_bodies_walk_alike_in_the_twin():
    ids = [f"{name}/val/00003" for name in ("robothor-like-v1", "robothor-like-v1-twin")]
    own, twin = (open_world(scene_id, LOCOBOT_ROBOTHOR).navmesh for scene_id in ids)
    assert np.array_equal(own.vertices, twin.vertices) and np.array_equal(own.triangles, twin.triangles)


def test_what_robots_suffer_in_twins():
    assert scene_corruptions(["robothor-like-v1-twin/val/00003"]) == TWIN_CORRUPTIONS
    assert scene_corruptions(["robothor-like-v1/val/00003", "houses-v1/val/00000", "a.glb"]) == ()
    with pytest.raises(InputError, match="robothor-like-v1, robothor-like-v1-twin"):
        scene_corruptions(["robothor-like-v1-twin/val/00003", "robothor-like-v1/val/00003"])
    task = get_task("objectnav-robothor2021-v1")
    require_applicable(task, TWIN_CORRUPTIONS)
    assert keep_applicable(task, TWIN_CORRUPTIONS) == TWIN_CORRUPTIONS
    blind = get_task("pointnav-v1")
    kept = keep_applicable(blind, (*TWIN_CORRUPTIONS, "odometry_noise"))
    assert "pyrobot" in kept and "odometry_noise" not in kept
