"""Ways through generated houses, and tours of them."""

from dataclasses import replace

import numpy as np
import pytest

from flat import draw_flat
from navarena.core.errors import InputError, SceneError, UnknownNameError
from navarena.core.seeding import make_generator
from navarena.episodes.catalog import load_episodes
from navarena.episodes.dataset import EpisodeDataset, save_episodes
from navarena.episodes.episode import Episode, InstructionGoal, PointGoal
from navarena.episodes.graph_routes import R2R_GRAPH_V1
from navarena.episodes.house_tours import (
    HouseTours,
    end_to_start,
    list_tours,
    make_episode_tours,
    make_scene_tours,
)
from navarena.episodes.recipe import Stream
from navarena.episodes.route_sets import ROUTE_SPLITS, RouteSplit, load_routes, route_episodes
from navarena.episodes.routes import R2R_CE_V1, RouteRecipe
from navarena.episodes.sequence import group_tours
from navarena.episodes.stream import EpisodeStream
from navarena.simulation.body_catalog import VLN_CE
from navarena.simulation.world import WorldCache
from worlds import ROOMS, draw_world

STREAM = Stream("test", "val")
RECIPE = RouteRecipe("test", VLN_CE, min_distance=4.0, max_distance=12.0)


@pytest.fixture(scope="module")
def flat():
    return draw_flat()


@pytest.fixture(scope="module")
def episodes(flat):
    return RECIPE.make(flat, 18, STREAM).episodes


def test_three_instructions_of_each_way(episodes):
    assert len(episodes) == 18
    for first in range(0, 18, 3):
        way = episodes[first : first + 3]
        assert len({episode.goal.path for episode in way}) == 1
        assert len({episode.goal.instruction for episode in way}) == 3
        assert [episode.episode_id for episode in way] == [f"{way[0].goal.path_id}_{k}" for k in range(3)]


def test_ways_run_from_start_to_goal_along_the_floor(flat, episodes):
    for episode in episodes:
        path = np.array(episode.goal.path)
        assert episode.start_position == episode.goal.path[0]
        assert 4 <= len(path) <= 7
        geodesic = flat.navmesh.geodesic_distance(path[:1], path[-1:])[0]
        assert 4.0 <= geodesic <= 12.0
        assert episode.geodesic_distance == pytest.approx(geodesic, abs=2e-3)
        assert np.linalg.norm(np.diff(path, axis=0), axis=1).sum() <= geodesic + 0.02
        assert flat.navmesh.is_navigable(path + [0, 0, 0]).mean() > 0.8


def test_episodes_do_not_depend_on_how_many_are_made(flat, episodes):
    assert RECIPE.make(flat, 4, STREAM, first=5).episodes == episodes[5:9]


def test_another_stream_other_ways(flat, episodes):
    other = RECIPE.make(flat, 3, Stream("test", "val", 1)).episodes
    assert other[0].start_position != episodes[0].start_position


def test_a_house_that_is_too_small_is_named(flat):
    with pytest.raises(SceneError, match="larger house"):
        RouteRecipe("test", VLN_CE, min_distance=15.0, max_distance=16.0).make(flat, 1, STREAM)


def follow(path_id, start, goal, k=0, scene="rooms"):
    """An episode whose way leads straight from start to goal."""
    return Episode(
        f"{path_id}_{k}", scene, start, 0.0, InstructionGoal(f"go {k}", (start, goal), path_id), 1.0
    )


def test_a_tour_breaks_where_no_way_leads():
    north = [follow("a", (1.5, 0, 1.5), (8.5, 0, 1.5)), follow("b", (8.5, 0, 5.5), (1.5, 0, 5.5))]
    south = [follow("c", (1.5, 0, 8.5), (8.5, 0, 8.5)), follow("d", (8.5, 0, 9.5), (1.5, 0, 9.5))]
    tours = make_scene_tours(draw_world(ROOMS).navmesh, [north[0], south[0], north[1], south[1]])
    assert sorted(map(sorted, tours)) == [["a_0", "b_0"], ["c_0", "d_0"]]


def test_gaps_lead_from_the_end_of_a_row_to_the_start_of_a_column():
    ways = [follow("a", (1.5, 0, 1.5), (8.5, 0, 1.5)), follow("b", (8.5, 0, 2.0), (1.5, 0, 5.5))]
    gaps = end_to_start(draw_world(ROOMS).navmesh, ways)
    assert gaps[0, 1] == pytest.approx(0.5)
    assert gaps[0, 0] == pytest.approx(7.0)


def test_each_instruction_has_a_tour_of_its_own_and_single_ways_have_none(flat, episodes):
    lists = make_episode_tours(episodes, lambda scene: flat.navmesh)
    (tours,) = lists.values()
    assert len(tours) == 3 and all(len(tour) == 6 for tour in tours)
    assert sorted(name for tour in tours for name in tour) == sorted(e.episode_id for e in episodes)
    assert [{name[-1] for name in tour} for tour in tours] == [{"0"}, {"1"}, {"2"}]
    assert len({tuple(name[:-2] for name in tour) for tour in tours}) == 1
    assert make_scene_tours(flat.navmesh, episodes[:3]) == []


def test_tours_are_built_from_ids(episodes):
    names = [episodes[3].episode_id, episodes[0].episode_id]
    tour = list_tours({"flat": [names]}, episodes, "val")
    assert [episode.episode_id for episode in tour] == names
    assert {(one.tour_id, one.scene_id) for one in tour} == {("0", "flat")}
    assert group_tours(tour) == [tour]
    with pytest.raises(InputError, match="'nobody'"):
        list_tours({"flat": [["nobody"]]}, episodes, "val")


def test_a_file_keeps_its_tours(tmp_path, episodes):
    toured = tuple(replace(one, tour_id=str(k // 2)) for k, one in enumerate(episodes[3::-1]))
    file = tmp_path / "tours.json"
    save_episodes(EpisodeDataset("ir2r-ce-v1", "own", "own", toured), file)
    assert load_episodes("ir2r-ce-v1+oracle_radius=0.5", dataset=file).episodes == toured
    with pytest.raises(InputError, match="expected episodes of 'r2r-ce-v1', got those of 'ir2r-ce-v1'"):
        load_episodes("r2r-ce-v1", dataset=file)


def test_a_tour_lies_in_one_scene_and_has_instructions():
    here, there = follow("a", (1, 0, 1), (2, 0, 2)), follow("b", (1, 0, 1), (2, 0, 2), scene="hall")
    with pytest.raises(InputError, match="tour 0 of val in 'rooms', got episode 'b_0' in 'hall'; give"):
        list_tours({"rooms": [["a_0", "b_0"]]}, [here, there], "val")
    with pytest.raises(InputError, match="tour 0 of train in 'mp3d/a/a.glb', got episode 'b_0' in 'hall'"):
        list_tours({"mp3d/a/a.glb": [["b_0"]]}, [there], "train")
    assert len(list_tours({"a": [["b_0"]]}, [replace(there, scene_id="mp3d/a/a.glb")], "val")) == 1
    with pytest.raises(InputError, match="expected an instruction"):
        make_scene_tours(
            draw_world(ROOMS).navmesh, [Episode("p", "rooms", (1, 0, 1), 0.0, PointGoal((2, 0, 2)), 1)]
        )


@pytest.mark.slow
@pytest.mark.turns(6)
def test_the_splits_are_as_large_as_those_of_r2r():
    sizes = {name: (len(split.scenes), len(route_episodes(name))) for name, split in ROUTE_SPLITS.items()}
    assert sizes == {
        "mini": (2, 24),
        "train": (61, 14091),
        "val_seen": (56, 1008),
        "val_unseen": (11, 2343),
        "train_aug": (61, 146400),
        "val_unseen_further": (60, 2160),
        "val_seen_lite": (56, 1008),
        "val_unseen_lite": (11, 2343),
        "val_unseen_further_lite": (60, 2160),
    }
    assert not set(ROUTE_SPLITS["val_unseen_further"].scenes) & set(ROUTE_SPLITS["val_unseen"].scenes)
    assert set(ROUTE_SPLITS["val_seen"].scenes) < set(ROUTE_SPLITS["train"].scenes)
    assert not set(ROUTE_SPLITS["val_unseen"].scenes) & set(ROUTE_SPLITS["train"].scenes)


def test_the_smallest_split_is_told_and_made_once():
    dataset = load_routes("mini")
    assert len(dataset) == 24 and dataset.protocol_id == R2R_CE_V1.protocol_id
    assert load_routes("mini").hash == dataset.hash
    words = [len(episode.goal.instruction.split()) for episode in dataset.episodes]
    assert min(words) >= 8 and max(words) <= 60


def test_a_lite_split_has_every_path_once_by_its_first_instruction(monkeypatch):
    monkeypatch.setitem(ROUTE_SPLITS, "val_unseen", RouteSplit("val", 2, 4))
    monkeypatch.setitem(ROUTE_SPLITS, "val_unseen_lite", RouteSplit("val", 2, 4, part_of="val_unseen"))
    for recipe in (R2R_CE_V1, R2R_GRAPH_V1):
        whole, lite = load_routes("val_unseen", recipe=recipe), load_routes("val_unseen_lite", recipe=recipe)
        assert lite.split == "val_unseen_lite"
        assert lite.episodes == tuple(one for one in whole.episodes if one.episode_id.endswith("_0"))
        assert len({one.goal.path_id for one in whole.episodes}) == len(lite)
        world = WorldCache(recipe.embodiment).get(lite.episodes[0].scene_id)
        long, short = (
            HouseTours(split, recipe=recipe).make(world, world.scene_id, 0)
            for split in ("val_unseen", "val_unseen_lite")
        )
        assert short == long[:: recipe.wordings]


def test_unknown_splits_are_named():
    with pytest.raises(UnknownNameError, match="val_unseen"):
        load_routes("val_unsen")


def test_generators_of_other_ways_are_other_generators():
    one, two = (make_generator("test", "way", k).random() for k in range(2))
    assert one != two


@pytest.fixture
def streamed_split(monkeypatch):
    monkeypatch.setitem(ROUTE_SPLITS, "streamed", RouteSplit("val", 2, 4, block=2))


def test_a_whole_split_holds_what_is_streamed(streamed_split):
    stream, whole = load_routes("streamed"), load_routes("streamed", whole=True)
    assert tuple(stream.episodes) == whole.episodes and stream.hash == whole.hash
    houses = [episode.scene_id for episode in whole.episodes]
    assert houses[:6] == houses[12:18] != houses[6:12] == houses[18:]


@pytest.mark.slow
def test_drawn_tours_are_those_of_the_split(streamed_split):
    worlds = WorldCache(VLN_CE)
    episodes = load_routes("streamed", whole=True).episodes
    lists = make_episode_tours(episodes, lambda scene: worlds.get(scene).navmesh)
    blocks = HouseTours("streamed")
    groups = [blocks.make(worlds.get(house), house, 0) for house in blocks.houses]
    made = [[one.episode_id for one in tour] for own in groups for tour in own]
    assert made == [tour for tours in lists.values() for tour in tours]
    generator, drawn = make_generator("tours"), EpisodeStream(blocks)
    drawn.open_in(worlds)
    names = {drawn.draw(generator)[0].tour_id for _ in range(60)}
    drawn.close()
    assert names == {f"val/0000{house}-{k}" for house in range(2) for k in range(3)}
