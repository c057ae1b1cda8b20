"""Which blocks streams draw a split from: tours of train splits are made when they are asked for."""

import pytest

from navarena.episodes.house_blocks import ListedBlocks, RecipeBlocks
from navarena.episodes.house_tours import HouseTours
from navarena.tasks import sources
from navarena.tasks.catalog import get_task


@pytest.mark.parametrize("protocol_id", ["ir2r-ce-v1", "ir2r-v1"])
@pytest.mark.parametrize(("split", "houses"), [("train", 61), ("train_aug", 61)])
def test_nothing_of_a_train_split_is_made_before_it_is_asked_for(protocol_id, split, houses, monkeypatch):
    monkeypatch.setattr(sources, "load_task_episodes", lambda *given: pytest.fail("the whole split was made"))
    blocks = sources.load_blocks(get_task(protocol_id), split)
    assert isinstance(blocks, HouseTours) and len(set(blocks.houses)) == houses
    assert blocks.embodiment == get_task("ir2r-ce-v1").embodiment


def test_tours_of_another_data_set_are_its_own(monkeypatch):
    task, episodes = get_task("ir2r-ce-v1"), sources.load_task_episodes(get_task("pointnav-v1"), "mini")
    monkeypatch.setattr(type(task), "default_dataset", "somebody-elses")
    monkeypatch.setattr(sources, "load_task_episodes", lambda *given: episodes)
    assert isinstance(sources.load_blocks(task, "train"), ListedBlocks)


def test_single_episodes_are_drawn_by_their_recipe_and_listed_ones_from_their_list():
    train = sources.load_blocks(get_task("pointnav-v1"), "train")
    assert isinstance(train, RecipeBlocks) and len(train.houses) == len(set(train.houses)) > 100
    listed = sources.load_blocks(get_task("pointnav-v1"), "mini")
    episodes = sources.load_task_episodes(get_task("pointnav-v1"), "mini").episodes
    assert isinstance(listed, ListedBlocks)
    made = [one for house in listed.houses for (one,) in listed.make(None, house, 0)]
    assert sorted(one.episode_id for one in made) == sorted(one.episode_id for one in episodes)
