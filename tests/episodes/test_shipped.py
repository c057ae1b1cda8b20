"""The lists that come with navarena are what their recipe makes.

A list that differs must be made again by scripts/episode_lists, or the change that moved it undone.
"""

import numpy as np
import pytest

from navarena.episodes.catalog import SHIPPED_FOLDER, SPLITS, load_episodes, make_episodes
from navarena.episodes.dataset import load_episode_file
from navarena.scenes.catalog import scene_ids

SHIPPED = sorted(SHIPPED_FOLDER.rglob("*.json.gz"))
COMPARED_SCENES = 2
TOLERANCE = 1e-6


def named(path):
    return "/".join(path.relative_to(SHIPPED_FOLDER).parts)


@pytest.mark.parametrize("path", SHIPPED, ids=named)
def test_a_list_is_complete_and_found(path):
    dataset = load_episode_file(path)
    scenes = scene_ids(dataset.name, dataset.split)
    assert path == SHIPPED_FOLDER / dataset.name / dataset.protocol_id / f"{dataset.split}.json.gz"
    assert [episode.scene_id for episode in dataset.episodes] == [
        scene for scene in scenes for _ in range(SPLITS[dataset.split].per_scene)
    ]
    assert load_episodes(dataset.protocol_id, dataset.split, dataset.name).hash == dataset.hash


def require_same(path, scene_count):
    """The list at `path` is what its recipe makes now, in the first scenes or (None) in all of them.

    Floats may differ in the last bits of other machines.
    """
    shipped = load_episode_file(path)
    count = SPLITS[shipped.split].per_scene
    scenes = scene_ids(shipped.name, shipped.split)[:scene_count]
    made = make_episodes(
        shipped.protocol_id, scenes, count, shipped.seed, name=shipped.name, split=shipped.split
    )
    assert len(made.episodes) == len(scenes) * count
    for old, new in zip(shipped.episodes, made.episodes):
        assert (old.episode_id, old.scene_id) == (new.episode_id, new.scene_id)
        for name in ("start_position", "start_yaw", "geodesic_distance"):
            assert np.allclose(getattr(old, name), getattr(new, name), rtol=0, atol=TOLERANCE), old.episode_id
        assert np.allclose(old.goal.position, new.goal.position, rtol=0, atol=TOLERANCE)
    if scene_count is None:
        assert made.dropped == shipped.dropped


@pytest.mark.parametrize("path", SHIPPED, ids=named)
def test_a_list_begins_as_the_recipe_makes_it(path):
    require_same(path, COMPARED_SCENES)


@pytest.mark.slow
@pytest.mark.parametrize("path", SHIPPED, ids=named)
def test_a_list_is_what_the_recipe_makes(path):
    """Every episode of every scene: minutes, and what CI holds the shipped files to."""
    require_same(path, None)
