"""Streams of episodes: houses that stay, blocks that are used up, ranks, curricula, prefetchers."""

import json
import logging
import pickle
from collections import Counter
from itertools import groupby

import numpy as np
import pytest

from navarena.core.errors import InputError, SceneError, UnknownNameError
from navarena.core.seeding import make_generator
from navarena.episodes.catalog import get_recipe, load_episodes
from navarena.episodes.episode import Episode
from navarena.episodes.exchange import make_document, write_document
from navarena.episodes.goals import PointGoal
from navarena.episodes.house_blocks import HouseBlocks, ListedBlocks, RecipeBlocks
from navarena.episodes.prefetch import HouseJob, PrefetchError, Prefetchers
from navarena.episodes.recipe import Stream
from navarena.episodes.stream import Curriculum, EpisodeStream, Stay, find_blocks
from navarena.simulation.body_catalog import LOCOBOT
from navarena.simulation.world import WorldCache, open_world


def make_episode(name: str, scene: str, distance: float = 1.0, tour: str = "") -> Episode:
    goal = PointGoal((0.0, 0.0, 0.0))
    return Episode(name, scene, (0.0, 0.0, 0.0), 0.0, goal, distance, tour_id=tour)


def make_list(scenes: str) -> tuple[Episode, ...]:
    return tuple(make_episode(f"{scene}-{row}", scene) for row, scene in enumerate(scenes))


class Numbered(HouseBlocks):
    """Blocks of 6 episodes called "house-number", 10 of each house; some houses are unfit."""

    def __init__(self, houses: str, unfit: str = ""):
        self.houses, self.block, self.unfit = tuple(houses), 6, unfit

    def count(self, house):
        return 10

    def make(self, world, house, number):
        if house in self.unfit:
            raise SceneError(f"no room in {house}")
        rows = range(6 * number, 6 * number + 6)
        return tuple((make_episode(f"{house}-{row}", house, 1.0 + row % 6),) for row in rows)


def draw(sampler, count, generator, steps=10):
    """Ids of `count` episodes, each ended after so many steps."""
    ids = []
    for _ in range(count):
        episode = sampler.draw(generator)[0]
        sampler.finish(episode, steps)
        ids.append(episode.episode_id)
    return ids


def one_house(source, **options):
    """A stream with one house at a time."""
    stay = Stay(**{"episodes": 6, "houses": 1} | options.pop("stay", {}))
    return EpisodeStream(source, stay=stay, **options)


def block_of(name: str) -> tuple[str, int]:
    house, row = name.split("-")
    return house, int(row) // 6


def test_each_house_comes_once_before_any_comes_again():
    drawn = draw(one_house(Numbered("abcdef")), 72, make_generator("test"))
    visits = [{name[0] for name in drawn[k : k + 6]} for k in range(0, 72, 6)]
    assert all(len(visit) == 1 for visit in visits)
    first, second = visits[:6], visits[6:]
    assert set().union(*first) == set().union(*second) == set("abcdef")
    assert [min(visit) for visit in first] != list("abcdef"), "in random order"


def test_blocks_are_used_up_before_a_house_leaves():
    sampler = EpisodeStream(Numbered("abcdefgh"), stay=Stay(episodes=1, steps=1, houses=3))
    drawn = draw(sampler, 300, make_generator("test"), steps=1_000)
    blocks = Counter(map(block_of, drawn))
    used_up = [block for block, count in blocks.items() if count == 6]
    assert len(used_up) >= len(blocks) - 3 and max(Counter(drawn).values()) == 1


def test_the_next_visit_goes_on_with_the_next_block():
    drawn = draw(one_house(Numbered("ab")), 120, make_generator("test"))
    for house in "ab":
        numbers = [block for (name, block), _ in groupby(drawn, block_of) if name == house]
        assert numbers == [(numbers[0] + k) % 10 for k in range(10)]
    assert len(set(drawn)) == 120


def test_a_longer_stay_goes_on_with_the_next_block():
    drawn = draw(one_house(Numbered("abc"), stay={"episodes": 13}), 36, make_generator("test"))
    assert len({name[0] for name in drawn[:18]}) == 1 and drawn[0][0] != drawn[18][0]
    blocks = [block for (_, block), _ in groupby(drawn[:18], block_of)]
    assert blocks == [(blocks[0] + k) % 10 for k in range(3)]


def test_a_house_leaves_after_its_steps():
    sampler = one_house(Numbered("abcd"), stay={"episodes": 60, "steps": 25})
    drawn = draw(sampler, 12, make_generator("test"), steps=10)
    assert {name[0] for name in drawn[:6]} != {name[0] for name in drawn[6:]}
    sampler = one_house(Numbered("abcd"), stay={"episodes": 60, "steps": 25})
    assert len({name[0] for name in draw(sampler, 24, make_generator("test"), steps=1)}) == 1


def test_steps_in_a_house_that_has_left_count_for_no_other():
    sampler = one_house(make_list("abc"), stay={"episodes": 1})
    generator = make_generator("test")
    first = sampler.draw(generator)[0]
    sampler.draw(generator)
    sampler.finish(first, 1_000)
    assert sampler.state()["steps"] == [0]


def test_few_houses_are_drawn_from_at_a_time():
    sampler = EpisodeStream(Numbered("abcdefgh"), stay=Stay(episodes=6, houses=3))
    generator, seen = make_generator("test"), Counter()
    for _ in range(200):
        episode = sampler.draw(generator)[0]
        assert len(set(sampler.scenes)) <= 3 and episode.scene_id in sampler.scenes
        seen[episode.scene_id] += 1
    assert set(seen) == set("abcdefgh")
    assert sorted(EpisodeStream(make_list("ab"), stay=Stay(houses=9)).scenes) == ["a", "b"]


@pytest.mark.parametrize("world_size", [1, 2, 3])
def test_ranks_share_the_houses_without_overlap(world_size):
    drawn = []
    for rank in range(world_size):
        sampler = EpisodeStream(
            Numbered("abcdefgh"), stay=Stay(6, houses=2), rank=rank, world_size=world_size, seed=rank
        )
        drawn.append({name[0] for name in draw(sampler, 120, make_generator("rank", rank))})
    assert sorted(house for own in drawn for house in own) == list("abcdefgh")


@pytest.mark.parametrize("cut", [0, 1, 17, 40])
def test_an_interrupted_run_draws_what_an_uninterrupted_one_does(cut):
    settings = {"stay": Stay(episodes=7, steps=90, houses=3), "curriculum": Curriculum(2.0, 9.0, 50)}
    make = lambda seed: EpisodeStream(Numbered("abcdefgh", "c"), seed=seed, **settings)  # noqa: E731
    whole = draw(make(7), 60, make_generator("test"))

    generator = make_generator("test")
    before = make(7)
    begun = draw(before, cut, generator)
    saved = json.dumps([before.state(), generator.bit_generator.state])

    state, of_generator = json.loads(saved)
    resumed = make(0)
    resumed.restore(state)
    generator = make_generator("other")
    generator.bit_generator.state = of_generator
    copied = pickle.loads(pickle.dumps((resumed, generator)))
    assert begun + draw(resumed, 60 - cut, generator) == whole
    assert begun + draw(copied[0], 60 - cut, copied[1]) == whole


@pytest.mark.parametrize("unfit", ["", "bdh"])
def test_equal_seeds_give_equal_sequences(unfit):
    """Whatever is known of unfit houses already."""
    sampler = EpisodeStream(Numbered("abcdefgh", unfit), stay=Stay(6, houses=4))
    drawn = []
    for seed in (5, 6, 5):
        sampler.restart(make_generator("restart", seed))
        drawn.append(draw(sampler, 30, make_generator("test")))
    assert drawn[0] == drawn[2] != drawn[1]


def test_a_state_of_another_stream_is_refused():
    sampler = EpisodeStream(make_list("abcd"), stay=Stay(houses=2))
    with pytest.raises(InputError, match="expected a state with as many integers"):
        sampler.restore({})
    with pytest.raises(InputError, match="of 2 houses at a time"):
        sampler.restore(EpisodeStream(make_list("abcd"), stay=Stay(houses=3)).state())


def test_houses_that_cannot_be_prepared_are_counted(caplog):
    sampler = EpisodeStream(Numbered("abcdef", unfit="be"), stay=Stay(6, houses=2))
    with caplog.at_level(logging.WARNING):
        drawn = draw(sampler, 100, make_generator("test"))
    assert {name[0] for name in drawn} == set("acdf")
    assert sampler.dropped == {house: f"no room in {house}" for house in "be"}
    assert [record.levelname for record in caplog.records] == ["WARNING"] * 2
    assert "left out" in caplog.text and "of 6" in caplog.text
    with pytest.raises(SceneError, match="got none among 3; .*no room in"):
        draw(EpisodeStream(Numbered("abc", unfit="abc")), 1, make_generator("test"))


def test_a_curriculum_begins_with_short_episodes():
    curriculum = Curriculum(start=2.0, end=6.0, episodes=40)
    assert [curriculum.limit(begun) for begun in (0, 10, 39)] == pytest.approx([2.0, 3.0, 5.9])
    assert curriculum.limit(40) == np.inf
    sampler = one_house(Numbered("abcd"), curriculum=curriculum)
    drawn = draw(sampler, 100, make_generator("test"))
    lengths = [1 + int(name[2:]) % 6 for name in drawn]
    assert max(lengths[:6]) == 2 and set(lengths[50:]) == set(range(1, 7))
    assert sorted(lengths[:2]) == [1, 2] and len({block_of(name) for name in drawn[:2]}) == 1


def test_a_curriculum_leaves_at_least_the_shortest():
    groups = tuple((make_episode(str(length), "a", length),) for length in (5.0, 4.0, 7.0))
    assert Curriculum(1.0, 2.0, 10).choose(groups, 0) == (groups[1],)
    assert Curriculum(1.0, 2.0, 10).choose(groups, 10) == groups
    assert Curriculum().choose(groups, 0) == groups
    tour = (make_episode("x", "a", 1.0, "t"), make_episode("y", "a", 9.0, "t"))
    assert Curriculum(5.0, 6.0, 10).choose((*groups, tour), 0) == groups[:2]


@pytest.mark.parametrize(
    ("make", "match"),
    [
        (lambda: EpisodeStream(()), "expected at least one episode, got an empty list"),
        (lambda: EpisodeStream(Numbered("")), "at least one house for each of 1 processes, got 0"),
        (lambda: EpisodeStream(make_list("ab"), rank=0, world_size=3), "each of 3 processes, got 2 houses"),
        (lambda: EpisodeStream(make_list("ab"), rank=2, world_size=2), "rank=2, world_size=2"),
        (lambda: EpisodeStream(make_list("ab"), prefetchers=-1), "prefetchers=-1"),
        (lambda: Stay(steps=0), "at least 1 in steps, got 0"),
        (lambda: Curriculum(3.0, 2.0, 5), "0 < start <= end"),
    ],
)
def test_settings_that_draw_nothing_are_refused(make, match):
    with pytest.raises(InputError, match=match):
        make()


def test_houses_can_be_chosen_of_the_source():
    sampler = EpisodeStream(Numbered("abcdef"), houses=("b", "e"), stay=Stay(6))
    assert {name[0] for name in draw(sampler, 40, make_generator("test"))} == {"b", "e"}
    with pytest.raises(UnknownNameError, match="house"):
        EpisodeStream(Numbered("abc"), houses=("x",))


def test_long_lists_come_in_blocks_of_fifty():
    blocks = ListedBlocks(make_list("ab" * 60))
    assert blocks.houses == ("a", "b") and blocks.count("a") == 2
    made = [blocks.make(None, "b", number) for number in range(2)]
    assert [len(block) for block in made] == [50, 10]
    assert [one.episode_id for block in made for (one,) in block] == [f"b-{k}" for k in range(1, 120, 2)]


def test_tours_are_drawn_as_a_whole():
    tours = [make_episode(f"{k}", "a", tour=f"t{k // 3}") for k in range(9)]
    drawn = {tuple(one.episode_id for one in one_house(tours).draw(make_generator("t", k))) for k in range(9)}
    assert drawn <= {("0", "1", "2"), ("3", "4", "5"), ("6", "7", "8")}


@pytest.mark.slow
def test_recipes_data_sets_and_files_are_streamed_alike(tmp_path):
    recipe, dataset = get_recipe("pointnav-v1"), load_episodes("pointnav-v1", "train")
    made, same = find_blocks(recipe), find_blocks(dataset)
    assert isinstance(made, RecipeBlocks) and isinstance(same, RecipeBlocks)
    assert made.houses == same.houses and len(made.houses) == 800 and made.count(made.houses[0]) == 1000
    world = open_world(made.houses[3], LOCOBOT)
    first = (2 * 800 + 3) * 50  # block 2 of house 3, in the order of the split
    block = [one for (one,) in made.make(world, made.houses[3], 2)]
    assert block[:5] == list(dataset.episodes[first : first + 5])
    path = tmp_path / "file.json"
    mini = load_episodes("pointnav-v1", "mini").episodes
    write_document(make_document("habitat-pointnav", mini), path)
    listed = find_blocks(load_episodes("pointnav-v1", dataset=path))
    assert isinstance(listed, ListedBlocks)
    assert len(listed.houses) == len({one.scene_id for one in mini})


HOUSES = [f"houses-v1/train/{k:05d}" for k in range(3)]
SMALL = RecipeBlocks(get_recipe("pointnav-v1"), HOUSES, Stream("houses-v1", "train"), 40, block=4)


@pytest.mark.slow
@pytest.mark.turns(6)
def test_ranks_of_real_houses_are_disjoint_and_go_on_exactly():
    whole = find_blocks(get_recipe("pointnav-v1")).houses
    dealt = [EpisodeStream(get_recipe("pointnav-v1"), rank=rank, world_size=2).houses for rank in (0, 1)]
    assert not set(dealt[0]) & set(dealt[1]) and sorted((*dealt[0], *dealt[1])) == sorted(whole)

    def begin(rank):
        stay = Stay(episodes=5, houses=1)
        return EpisodeStream(SMALL, stay=stay, rank=rank, world_size=2, seed=4, prefetchers=0)

    scenes = []
    for rank in (0, 1):
        stream, generator = begin(rank), make_generator("test", rank)
        first = draw(stream, 7, generator)
        state, kept = json.loads(json.dumps(stream.state())), generator.bit_generator.state
        rest = draw(stream, 9, generator)
        resumed = begin(rank)
        resumed.restore(state)
        generator.bit_generator.state = kept
        assert draw(resumed, 9, generator) == rest and first != rest[:7]
        scenes.append({name.rpartition("-")[0] for name in first + rest})
    assert scenes[0] and scenes[1] and not scenes[0] & scenes[1]


@pytest.mark.slow
def test_prefetchers_change_nothing(monkeypatch):
    prepared = []
    collect = EpisodeStream._collect

    def note(self, number, blocks):
        made = collect(self, number, blocks)
        prepared.append(made is not None)
        return made

    monkeypatch.setattr(EpisodeStream, "_collect", note)
    drawn = {}
    for count in (0, 1, 2):
        prepared.clear()
        sampler = EpisodeStream(SMALL, stay=Stay(episodes=8, houses=2), prefetchers=count, seed=3)
        sampler.open_in(WorldCache(LOCOBOT))
        generator = make_generator("test")
        drawn[count] = draw(sampler, 40, generator)
        for future in sampler._waiting.values():
            future.exception()  # all that was ordered is there
        drawn[count] += draw(sampler, 40, generator)
        assert any(prepared) == (count > 0), "some blocks came from other processes, and were taken"
        assert len(sampler._waiting) <= 2, "the queue is bounded"
        sampler.close()
    assert drawn[0] == drawn[1] == drawn[2] and len(set(drawn[0])) > 70


def test_what_a_prefetcher_cannot_do_is_done_here():
    workers = Prefetchers(1)
    job = HouseJob(open_world, LOCOBOT, "houses-v1/train/99999", None, 0)
    with pytest.raises(PrefetchError, match="UnknownNameError"):
        workers.submit(job).result()
    local = HouseJob(lambda house, body: None, LOCOBOT, "a", None, 0)
    with pytest.raises(PrefetchError, match="pickle"):
        workers.submit(local).result()
    assert workers.submit(HouseJob(open_world, LOCOBOT, HOUSES[0], SMALL, 1)).result() == SMALL.make(
        open_world(HOUSES[0], LOCOBOT), HOUSES[0], 1
    )
    workers.close()
    assert not workers.close.alive


class ClosesWhenPickled:
    """Garbage that is collected in the middle of a job: the pool is closed by its own thread."""

    def __init__(self, pool):
        self.pool = pool

    def __call__(self, house, body):
        raise AssertionError("is never called")

    def __reduce__(self):
        self.pool.close()
        return str, ()


def test_a_pool_may_be_closed_by_its_own_thread():
    workers = Prefetchers(2)
    _, _, (_, threads, processes), _ = workers.close.peek()
    future = workers.submit(HouseJob(ClosesWhenPickled(workers), LOCOBOT, "a", None, 0))
    with pytest.raises(PrefetchError, match="'str' object is not callable"):
        future.result(60)
    for thread in threads:
        thread.join(60)
    assert not any(thread.is_alive() for thread in threads)
    assert [process.poll() is not None for process in processes] == [True]
