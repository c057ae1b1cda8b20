"""Samplers of episodes: equal draws, few scenes at a time, and runs that are resumed."""

import json
from collections import Counter

import numpy as np
import pytest

from navarena.core.errors import InputError
from navarena.core.seeding import make_generator
from navarena.episodes import lazy
from navarena.episodes.episode import Episode
from navarena.episodes.goals import PointGoal
from navarena.episodes.lazy import SceneEpisodes
from navarena.episodes.recipe import Stream
from navarena.episodes.sampler import SceneSampler, UniformSampler

from .counting import Counting


def make_list(scenes: str) -> tuple[Episode, ...]:
    goal = PointGoal((0.0, 0.0, 0.0))
    return tuple(
        Episode(f"{scene}-{row}", scene, (0.0, 0.0, 0.0), 0.0, goal, 1.0) for row, scene in enumerate(scenes)
    )


def draw(sampler, count, generator, steps=10):
    """Ids of `count` episodes, each ended after so many steps."""
    ids = []
    for _ in range(count):
        episode = sampler.draw(generator)[0]
        sampler.finish(episode, steps)
        ids.append(episode.episode_id)
    return ids


def test_uniform_draws_rows_by_one_integer_each():
    episodes = make_list("abcab")
    rows = np.random.default_rng(3).integers(5, size=40)
    drawn = draw(UniformSampler(episodes), 40, np.random.default_rng(3))
    assert drawn == [episodes[row].episode_id for row in rows]


def test_a_scene_is_replaced_after_its_episodes():
    sampler = SceneSampler(make_list("abcdef" * 10), resident=1, max_episodes=4)
    drawn = [name[0] for name in draw(sampler, 48, make_generator("test"))]
    visits = ["".join(drawn[k : k + 4]) for k in range(0, 48, 4)]
    assert all(len(set(visit)) == 1 for visit in visits)
    first, second = ([visit[0] for visit in visits[k : k + 6]] for k in (0, 6))
    assert sorted(first) == sorted(second) == list("abcdef") and first != list("abcdef")


def test_a_scene_is_replaced_after_its_steps():
    sampler = SceneSampler(make_list("abcdef" * 10), resident=1, max_episodes=100, max_steps=25)
    drawn = [name[0] for name in draw(sampler, 6, make_generator("test"))]
    assert drawn[0] == drawn[1] == drawn[2] != drawn[3] == drawn[4] == drawn[5]


def test_steps_in_a_scene_that_has_left_count_for_no_other():
    sampler = SceneSampler(make_list("abc" * 10), resident=1, max_episodes=1, max_steps=25)
    generator = make_generator("test")
    first = sampler.draw(generator)[0]
    sampler.draw(generator)[0]
    sampler.finish(first, 1_000)
    assert sampler.state()["steps"] == [0]


def test_few_scenes_are_resident_and_each_is_drawn_from():
    sampler = SceneSampler(make_list("abcdefgh" * 10), resident=3, max_episodes=5)
    generator, seen = make_generator("test"), Counter()
    for _ in range(200):
        episode = sampler.draw(generator)[0]
        assert len(set(sampler.scenes)) <= 3 and episode.scene_id in sampler.scenes
        seen[episode.scene_id] += 1
    assert set(seen) == set("abcdefgh")


def test_the_scene_that_comes_next_is_known_in_advance():
    sampler = SceneSampler(make_list("abcdef" * 3), resident=1, max_episodes=3)
    generator = make_generator("test")
    for _ in range(10):
        assert {sampler.draw(generator)[0].scene_id for _ in range(3)} == set(sampler.scenes)
        coming = sampler.upcoming()
        assert coming not in sampler.scenes
        sampler.draw(generator)[0]
        assert sampler.scenes == (coming,)
        sampler.restart(generator)
    assert UniformSampler(make_list("ab")).upcoming() is None


def test_a_visit_repeats_no_episode_before_its_scene_is_through():
    sampler = SceneSampler(make_list("abc" * 7), resident=1, max_episodes=7)
    for _ in range(6):
        assert len(set(draw(sampler, 7, make_generator("test")))) == 7


@pytest.fixture
def stream(monkeypatch):
    monkeypatch.setattr(lazy, "open_world", lambda scene, body: scene)
    return SceneEpisodes(Counting(), list("abcde"), 60, Stream("set", "train"), block=6)


def blocks_of(ids):
    """The blocks of 6 episodes that hold them."""
    return {(name[0], int(name[2:]) // 6) for name in ids}


def test_a_visit_reads_one_block_of_a_stream(stream):
    drawn = draw(SceneSampler(stream, resident=1, max_episodes=6), 30, make_generator("test"))
    assert len(set(drawn)) == 30 and len(blocks_of(drawn)) == 5


def test_a_long_visit_goes_on_with_the_next_block(stream):
    drawn = draw(SceneSampler(stream, resident=1, max_episodes=60), 60, make_generator("test"))
    assert len(set(drawn)) == 60 and len(blocks_of(drawn[:12])) == 2


def test_rows_of_a_stream_name_their_scenes(stream):
    for scene, found in stream.scene_rows().items():
        rows = [start + row for start in found.starts for row in found.rows]
        assert {stream[row].scene_id for row in rows} == {scene} and len(rows) == 60


@pytest.mark.parametrize("cut", [0, 1, 17, 40])
def test_an_interrupted_run_draws_what_an_uninterrupted_one_does(cut):
    episodes = make_list("abcdefgh" * 10)
    settings = {"resident": 3, "max_episodes": 4, "max_steps": 30, "seed": 7}
    whole = draw(SceneSampler(episodes, **settings), 60, make_generator("test"))

    generator = make_generator("test")
    before = SceneSampler(episodes, **settings)
    begun = draw(before, cut, generator)
    saved = json.dumps([before.state(), generator.bit_generator.state])

    state, of_generator = json.loads(saved)
    resumed = SceneSampler(episodes, **settings | {"seed": 0})
    resumed.restore(state)
    generator = make_generator("other")
    generator.bit_generator.state = of_generator
    assert begun + draw(resumed, 60 - cut, generator) == whole


def test_equal_seeds_give_equal_sequences():
    sampler = SceneSampler(make_list("abcdefgh" * 10), resident=2, max_episodes=3)
    drawn = []
    for seed in (5, 6, 5):
        sampler.restart(make_generator("restart", seed))
        drawn.append(draw(sampler, 30, make_generator("test")))
    assert drawn[0] == drawn[2] != drawn[1]


def test_a_state_of_another_sampler_is_refused():
    episodes = make_list("abcd" * 3)
    uniform, scenes = UniformSampler(episodes), SceneSampler(episodes, resident=2)
    uniform.restore(uniform.state())
    with pytest.raises(InputError, match="expected the empty state of UniformSampler, got begun"):
        uniform.restore(scenes.state())
    with pytest.raises(InputError, match="expected a state with as many integers"):
        scenes.restore(uniform.state())
    with pytest.raises(InputError, match="of 2 resident"):
        scenes.restore(SceneSampler(episodes, resident=3).state())


def test_settings_that_draw_nothing_are_refused():
    with pytest.raises(InputError, match="expected at least one episode"):
        UniformSampler(())
    with pytest.raises(InputError, match="max_steps=0"):
        SceneSampler(make_list("ab"), max_steps=0)


def test_more_resident_scenes_than_there_are_mean_all():
    sampler = SceneSampler(make_list("ab"), resident=9)
    assert sorted(sampler.scenes) == ["a", "b"]
