"""Compact lists lose nothing, and damaged ones say so."""

import lzma
from dataclasses import replace

import pytest

from navarena.core.errors import FileError, InputError
from navarena.episodes.catalog import get_recipe
from navarena.episodes.compact import read_list, write_list
from navarena.episodes.dataset import EpisodeDataset
from navarena.episodes.episode import Episode
from navarena.episodes.goals import GoalImage, ImageGoal, MultiGoal, ObjectGoal, ObjectInstance, PointGoal
from navarena.episodes.recipe import Stream
from worlds import ROOMS, draw_world

PLACES = [(0.001 * k, -0.5, round(-12.345 + k, 3)) for k in range(6)]


def episode(row, goal, **changes):
    values = {
        "episode_id": f"set/val/{row // 2:05d}-{row:04d}",
        "scene_id": f"set/val/{row // 2:05d}",
        "start_position": PLACES[row],
        "start_yaw": round(-3.141 + row, 3),
        "goal": goal,
        "geodesic_distance": round(1.001 + row, 3),
        "difficulty": "hard" if row else "easy",
    }
    return Episode(**{**values, **changes})


def make(goals, **changes):
    episodes = tuple(episode(row, goal, **changes) for row, goal in enumerate(goals))
    return EpisodeDataset("protocol-v1", "set", "val", episodes, seed=2, dropped=7)


POINTS = make([PointGoal(place) for place in PLACES[:4]])
CATEGORIES = make(
    [ObjectGoal(word, (), str(7 * k), PLACES[k]) for k, word in enumerate(("bed", "tv", "bed"))]
)
TILTED = make([PointGoal(place) for place in PLACES[:2]], start_tilt=-0.5235987755982988)
SEVERAL = make(
    [MultiGoal(tuple(ObjectInstance(str(n), "abc"[n], PLACES[n + k]) for n in (2, 0))) for k in range(3)]
)


@pytest.mark.parametrize("dataset", [POINTS, CATEGORIES, TILTED, SEVERAL])
def test_nothing_is_lost(tmp_path, dataset):
    path = tmp_path / "val.list.xz"
    words = ("a", "b", "c") if dataset is SEVERAL else ()
    write_list(dataset, path, words)
    assert read_list(path) == dataset and read_list(path).hash == dataset.hash
    first = path.read_bytes()
    write_list(read_list(path), path, words)
    assert path.read_bytes() == first


def test_made_episodes_are_whole_numbers(tmp_path):
    recipe = get_recipe("multion-2on-v1")
    batch = recipe.make(draw_world(ROOMS, scene_id="rooms"), 6, Stream("drawn", "val"))
    dataset = EpisodeDataset("multion-2on-v1", "drawn", "val", batch.episodes)
    write_list(dataset, tmp_path / "val.list.xz", recipe.words)
    assert read_list(tmp_path / "val.list.xz").episodes == batch.episodes


@pytest.mark.parametrize(
    "changes",
    [
        {"start_position": (0.0005, 0.0, 0.0)},
        {"start_yaw": 0.12345},
        {"geodesic_distance": 1.00001},
        {"episode_id": "another-0001"},
    ],
)
def test_what_would_be_lost_is_refused(tmp_path, changes):
    path = tmp_path / "val.list.xz"
    with pytest.raises(InputError, match="save them as JSON"):
        write_list(make([PointGoal(PLACES[0])], **changes), path)
    assert not path.exists()


def test_goals_of_no_column_are_refused(tmp_path):
    seat = ObjectInstance("3", "chair", (0.0, 1.0, 2.0))
    image = GoalImage((0.0, 1.0, 0.0), (0.0, 0.0, 0.0, 1.0), 1.5, 32, 32)
    for goals in ([POINTS.episodes[0].goal, ObjectGoal("bed")], [ImageGoal(seat, image)]):
        with pytest.raises(InputError, match="expected points, categories or several"):
            write_list(replace(POINTS, episodes=tuple(map(episode, range(2), goals))), tmp_path / "x.list.xz")


@pytest.mark.parametrize(
    "spoil",
    [
        lambda data: data[:-9],
        lambda data: b"not xz at all",
        lambda data: lzma.compress(lzma.decompress(data)[:-4]),
        lambda data: lzma.compress(b"{}\n"),
        lambda data: lzma.compress(lzma.decompress(data).replace(b'"seed":2', b'"sead":2')),
        lambda data: lzma.compress(lzma.decompress(data)[:-100] + bytes(100)),
        lambda data: lzma.compress(lzma.decompress(data).replace(b"list-v1", b"list-v9")),
    ],
)
def test_damage_is_named(tmp_path, spoil):
    path = tmp_path / "val.list.xz"
    write_list(POINTS, path)
    path.write_bytes(spoil(path.read_bytes()))
    with pytest.raises(FileError, match=r"val\.list\.xz.*install navarena again"):
        read_list(path)
