import gzip
import hashlib
import math
from dataclasses import replace

import msgspec
import numpy as np
import pytest

from navarena.core.errors import FileError, InputError, SceneError, UnknownNameError
from navarena.episodes.catalog import load_episodes, make_episodes
from navarena.episodes.dataset import (
    EpisodeDataset,
    hash_episodes,
    load_episode_file,
    require_unique_ids,
    save_episodes,
)
from navarena.episodes.episode import (
    GoalImage,
    ImageGoal,
    MultiGoal,
    ObjectGoal,
    ObjectInstance,
    ViewPoint,
    require_point_goal,
)
from navarena.episodes.point_nav import POINTNAV_V1, scene_name
from navarena.episodes.recipe import Stream
from tasks.small import EPISODES
from worlds import HALL, ROOMS, draw_world

DATASET = EpisodeDataset("pointnav-v1", "drawn", "test", EPISODES, seed=3, dropped=1)
RULES = replace(POINTNAV_V1, min_distance=1.0, max_distance=9.0)
STREAM = Stream("drawn", "test")


@pytest.mark.parametrize("name", ["episodes.json", "episodes.json.gz"])
def test_files_round_trip(tmp_path, name):
    path = tmp_path / name
    save_episodes(DATASET, path)
    loaded = load_episode_file(path)
    assert loaded == DATASET and loaded.hash == DATASET.hash
    first = path.read_bytes()
    save_episodes(loaded, path)
    assert path.read_bytes() == first


def test_hash_depends_on_every_field_and_on_the_order():
    hashes = {
        hash_episodes(EPISODES),
        hash_episodes(EPISODES[::-1]),
        hash_episodes(EPISODES[:2]),
        hash_episodes([replace(EPISODES[0], start_yaw=1e-16), *EPISODES[1:]]),
    }
    assert len(hashes) == 4
    assert hash_episodes(EPISODES) == hash_episodes(list(EPISODES))


def damage(data, **changes):
    content = msgspec.json.decode(data)
    content.update(changes)
    return msgspec.json.encode(content)


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda data: b"", "empty"),
        (lambda data: data[: len(data) // 2], "damaged"),
        (lambda data: gzip.compress(data)[:-20], "damaged"),
        (lambda data: b'{"episodes": []}', "format 'navarena-episodes-v1', got None"),
        (lambda data: b"[1, 2]", "got 'list'"),
        (lambda data: damage(data, seed="x"), r"Expected `int`, got `str` - at `\$.seed`"),
        (lambda data: damage(data, hash="0" * 16), "the file was edited"),
        (lambda data: data.replace(b'"start_yaw"', b'"start_yow"'), "start_yaw"),
        (lambda data: data.replace(b'"ahead"', b'"astern"'), "the file was edited"),
    ],
)
def test_bad_files_are_named(tmp_path, damage, message):
    path = tmp_path / "episodes.json"
    save_episodes(DATASET, path)
    path.write_bytes(damage(path.read_bytes()))
    with pytest.raises(FileError, match=message) as error:
        load_episode_file(path)
    assert "episodes.json" in str(error.value)


def test_a_missing_file():
    with pytest.raises(FileError, match="does not exist"):
        load_episodes("pointnav-v1", "val", "nowhere.json.gz")


def test_a_file_of_another_protocol(tmp_path):
    path = tmp_path / "episodes.json"
    save_episodes(replace(DATASET, protocol_id="objectnav-v1"), path)
    with pytest.raises(InputError, match="expected episodes of 'pointnav-v1', got those of 'objectnav-v1'"):
        load_episodes("pointnav-v1", "val", path)


def test_ids_are_unique():
    with pytest.raises(InputError, match="'ahead' twice"):
        require_unique_ids(replace(DATASET, episodes=(EPISODES[0], EPISODES[0])))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("pointnav-v2", "val"), "Did you mean 'pointnav-v1'"),
        (("pointnav-v1", "valid"), "Did you mean 'val'"),
        (("pointnav-v1", "val", "houses-v7"), "Did you mean 'houses-v"),
    ],
)
def test_unknown_names(arguments, message):
    with pytest.raises(UnknownNameError, match=message):
        load_episodes(*arguments)


@pytest.fixture(scope="module")
def drawn():
    return {name: draw_world(rows, scene_id=name) for name, rows in (("hall", HALL), ("rooms", ROOMS))}


def test_generated_episodes_obey_the_rules(drawn):
    batch = RULES.make(drawn["rooms"], 40, STREAM)
    navmesh = drawn["rooms"].navmesh
    starts = np.array([episode.start_position for episode in batch.episodes])
    goals = np.array([episode.goal.position for episode in batch.episodes])
    distances = navmesh.geodesic_distance(starts, goals)
    assert len(batch.episodes) == 40
    assert distances == pytest.approx([episode.geodesic_distance for episode in batch.episodes], abs=5.001e-4)
    assert navmesh.snap_point(starts)[:, [0, 2]] == pytest.approx(starts[:, [0, 2]], abs=1e-6)
    for numbers in (starts, goals, [episode.start_yaw for episode in batch.episodes]):
        assert np.array_equal(np.round(np.array(numbers) * 1000) / 1000, numbers)
    assert ((distances >= 1) & (distances <= 9)).all()
    assert (navmesh.island(starts) == navmesh.island(goals)).all()
    assert len({episode.episode_id for episode in batch.episodes}) == 40
    yaws = np.array([episode.start_yaw for episode in batch.episodes])
    assert (np.abs(yaws) <= math.pi).all() and yaws.std() > 1


def test_straight_ways_are_thinned_out(drawn):
    """In an empty hall every way is straight: ratio 1 is kept with probability 20 * 0.02^2 = 0.008."""
    straight = RULES._is_far(
        np.zeros((100_000, 3)),
        np.tile([2.0, 0.0, 0.0], (100_000, 1)),
        np.full(100_000, 2.0),
        np.random.default_rng(0).random(100_000),
        (1.0, 9.0),
    )
    assert straight.mean() == pytest.approx(0.008, rel=0.15)
    draws = np.array([0.0, 0.09, 0.11, 0.999])
    for ratio, kept in ((1.0501, [1, 1, 1, 1]), (1.05, [1, 1, 1, 1]), (1.0499, [1, 1, 0, 0])):
        far = RULES._is_far(
            np.zeros((4, 3)), np.tile([2.0, 0.0, 0.0], (4, 1)), np.full(4, 2.0 * ratio), draws, (1.0, 9.0)
        )
        assert far.tolist() == [bool(k) for k in kept]
    for distance, kept in ((0.99, False), (1.0, True), (9.0, True), (9.01, False), (math.inf, False)):
        goals = np.array([[0.5, 0.0, 0.0]])
        far = RULES._is_far(np.zeros((1, 3)), goals, np.array([distance]), np.zeros(1), (1.0, 9.0))
        assert far[0] == kept


def test_each_episode_has_a_stream_of_its_own(drawn):
    ten, four = RULES.make(drawn["rooms"], 10, STREAM), RULES.make(drawn["rooms"], 4, STREAM)
    assert ten.episodes[:4] == four.episodes
    for other in (Stream("drawn", "test", 1), Stream("drawn", "val"), Stream("other", "test")):
        assert set(RULES.make(drawn["rooms"], 4, other).episodes).isdisjoint(four.episodes)


def test_a_scene_too_small_for_the_rules():
    with pytest.raises(SceneError, match=r"room for episodes in 'cell'.*larger scene"):
        POINTNAV_V1.make(draw_world(["."], scene_id="cell"), 1, STREAM)


def test_other_floors_are_not_goals(drawn):
    starts = np.array([[1.0, 0.0, 1.0], [1.0, 0.0, 1.0]])
    goals = np.array([[5.0, 0.4, 1.0], [5.0, 0.6, 1.0]])
    assert RULES.fits(drawn["hall"], starts, goals).tolist() == [True, False]


def test_unsolvable_candidates_are_dropped_and_counted(drawn, monkeypatch):
    from navarena.simulation.planning import ActionPlanner

    solve = ActionPlanner.plan

    def fail_sometimes(self, query):
        plans = solve(self, query)
        return [None if goal[0] < 5 else plan for plan, goal in zip(plans, query.goals, strict=True)]

    monkeypatch.setattr(ActionPlanner, "plan", fail_sometimes)
    batch = RULES.make(drawn["rooms"], 10, STREAM)
    assert batch.dropped > 0 and len(batch.episodes) == 10
    assert all(episode.goal.position[0] >= 5 for episode in batch.episodes)


def test_a_mesh_gives_the_same_episodes_wherever_it_lies():
    assert scene_name("houses-v1/val/00017") == "houses-v1/val/00017"
    assert scene_name("/a/b/dungeon.obj") == scene_name("dungeon.obj") == "dungeon.obj"


def test_nothing_to_make():
    for scenes, count in (([], 3), (["houses-v1/val/00000"], 0)):
        with pytest.raises(InputError, match="at least one"):
            make_episodes("pointnav-v1", scenes, count)


def test_fields_of_later_versions_do_not_move_the_hash_of_old_lists():
    first_version = {"episode_id", "scene_id", "start_position", "start_yaw", "goal", "geodesic_distance"}
    digest = hashlib.sha256()
    for episode in EPISODES:
        content = {
            name: value for name, value in msgspec.to_builtins(episode).items() if name in first_version
        }
        digest.update(msgspec.json.encode(content) + b"\n")
    assert hash_episodes(EPISODES) == digest.hexdigest()[:16]
    assert hash_episodes([replace(EPISODES[0], difficulty="easy")]) != hash_episodes(EPISODES[:1])


SEAT = ObjectInstance("3", "chair", (0.0, 1.0, 2.0), (ViewPoint((0.0, 0.0, 1.0), 0.5, 0.25),))


@pytest.mark.parametrize(
    "goal",
    [
        ObjectGoal("chair", (SEAT,), "3"),
        ObjectGoal("chair"),
        MultiGoal((SEAT, replace(SEAT, object_id="4")), distractors=(SEAT,)),
        ImageGoal(SEAT, GoalImage((1.0, 1.0, 1.0), (0.0, 0.0, 0.0, 1.0), 1.5, 512, 512, 0.25)),
    ],
)
def test_every_kind_of_goal_round_trips(tmp_path, goal):
    path = tmp_path / "goals.json"
    dataset = replace(DATASET, episodes=(replace(EPISODES[0], goal=goal),))
    save_episodes(dataset, path)
    assert load_episode_file(path) == dataset
    with pytest.raises(InputError, match=f"expected a point as the goal .* got {type(goal).__name__}"):
        require_point_goal(dataset.episodes[0])


def test_a_goal_of_no_kind_is_named(tmp_path):
    path = tmp_path / "goals.json"
    save_episodes(DATASET, path)
    content = msgspec.json.decode(path.read_bytes())
    content["episodes"][1]["goal"] = {"place": 3}
    path.write_bytes(msgspec.json.encode(content))
    with pytest.raises(FileError, match=r"expected a goal with one of the fields .*\[1\]\.goal"):
        load_episode_file(path)
