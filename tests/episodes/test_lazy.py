"""Episodes that are made when they are read: kept lists, and streams for training."""

import shutil
from functools import cache

import pytest

from navarena.core.errors import InputError
from navarena.episodes import lazy
from navarena.episodes.catalog import get_recipe, load_episodes, make_episodes, make_split
from navarena.episodes.lazy import SceneEpisodes
from navarena.episodes.recipe import Stream
from navarena.evaluation import EvaluationSettings
from navarena.evaluation.benchmark import open_benchmark
from worlds import ROOMS, draw_world

from .counting import Counting


@pytest.fixture
def stream(monkeypatch):
    monkeypatch.setattr(lazy, "open_world", lambda scene, body: scene)
    recipe = Counting()
    return recipe, SceneEpisodes(recipe, ["a", "b", "c"], 6, Stream("set", "train"), block=2)


def test_a_stream_goes_round_the_scenes(stream):
    episodes = stream[1]
    names = [one.episode_id for one in episodes]
    assert names == [f"{scene}-{row + k}" for row in (0, 2, 4) for scene in "abc" for k in (0, 1)]
    assert len(episodes) == 18 and [episodes[k].episode_id for k in range(18)] == names
    assert [one.episode_id for one in episodes[4:9]] == names[4:9] and episodes[-1].episode_id == names[-1]
    with pytest.raises(IndexError, match="below 18, got 18"):
        episodes[18]


def test_only_the_block_that_is_read_is_made(stream):
    recipe, episodes = stream
    assert episodes[8].episode_id == "b-2" and recipe.asked == [("b", 2, 2)]
    episodes[9]
    assert len(recipe.asked) == 1


@pytest.fixture
def quick_worlds(monkeypatch):
    """Every scene is a small one: type checks look at an episode whenever a list of them is passed on."""
    rooms = cache(lambda scene: draw_world(ROOMS, scene_id=scene))
    monkeypatch.setattr(lazy, "open_world", lambda scene, body: rooms(scene))


def test_training_has_fifty_thousand_episodes_for_each_house(quick_worlds):
    train = load_episodes("multion-3on-v1", "train")
    assert len(train) == 800 * 50_000 and train.hash == load_episodes("multion-3on-v1", "train").hash
    assert train.hash != load_episodes("multion-2on-v1", "train").hash
    late = train.episodes[800 * 49_950]
    assert late.episode_id == "houses-v1/train/00000-49950" and len(late.goal.objects) == 3


def test_a_part_of_a_split_begins_with_its_episodes(quick_worlds):
    recipe = get_recipe("pointnav-v1")
    whole, part = (
        make_split(recipe, "mini", "houses-v1"),
        make_split(recipe, "mini", "houses-v1", per_scene=1),
    )
    assert part.episodes == whole.episodes[::4] and len(part) == 10
    lite = make_split(recipe, "lite", "houses-v1", per_scene=1)  # 200 of all houses without the number
    assert len(lite) == 100 and lite.episodes[:10] == part.episodes
    other = make_split(recipe, "mini", "houses-v1", seed=1)
    assert len(other) == 40 and other.seed == 1 and not set(other.episodes) & set(whole.episodes)
    assert [one.scene_id for one in other.episodes] == [one.scene_id for one in whole.episodes]
    with pytest.raises(InputError, match="one worker, got 10 scenes, 4 episodes and 0 workers"):
        make_split(recipe, "mini", "houses-v1", workers=0)


def test_a_copy_of_a_mesh_has_episodes_of_its_own_name(dungeon_folder, tmp_path):
    made = []
    for name in ("one/a.obj", "b.obj", "two/a.obj"):
        copy = tmp_path / name
        copy.parent.mkdir(exist_ok=True)
        shutil.copy(dungeon_folder / "dungeon.obj", copy)
        made += make_episodes("pointnav-v1", [str(copy)], 1).episodes
    assert [one.episode_id for one in made] == ["a.obj-0000", "b.obj-0000", "a.obj-0000"]
    assert made[0].start_position == made[2].start_position != made[1].start_position


def test_an_endless_stream_is_not_evaluated_by_mistake(quick_worlds):
    with pytest.raises(InputError, match="expected --episodes N for a stream of 40,000,000 episodes"):
        open_benchmark(EvaluationSettings("pointnav-v1", "expert", "train"))


@pytest.mark.slow
def test_workers_do_not_move_the_episodes():
    scenes = ["houses-v1/val/00000", "houses-v1/val/00003"]
    done = []
    two = make_episodes("pointnav-v1", scenes, 3, 5, progress=done.append, workers=2)
    assert sum(done) == 2 and two.episodes == make_episodes("pointnav-v1", scenes, 3, 5).episodes
    with pytest.raises(InputError, match="one worker"):
        make_episodes("pointnav-v1", scenes, 3, workers=0)
