"""Counts and measures of a handful of episodes, worked out by hand."""

from dataclasses import replace

import numpy as np
import pytest

from navarena.core.errors import InputError
from navarena.episodes.episode import Episode
from navarena.episodes.goal_points import GoalPoints, euclidean_distance
from navarena.episodes.goals import (
    GoalImage,
    ImageGoal,
    LifelongGoal,
    MultiGoal,
    ObjectGoal,
    ObjectInstance,
    PointGoal,
    Subtask,
    ViewPoint,
)
from navarena.episodes.statistics import Histogram, Spread, compute_statistics

START = (0.0, 0.0, 0.0)
NEAR = ObjectInstance(
    "1", "bed", (9.0, 1.0, 0.0), (ViewPoint((3.0, 0.0, 4.0), 0.0), ViewPoint((8.0, 0.0, 0.0), 0))
)
BARE = ObjectInstance("2", "bed", (0.0, 0.0, 2.0))


def episode(goal, distance, name="a", scene="s", **more):
    return Episode(name, scene, START, 0.0, goal, distance, **more)


POINTS = [
    episode(PointGoal((3.0, 0.0, 4.0)), 6.0, difficulty="easy"),
    episode(PointGoal((0.0, 0.0, 2.0)), 2.0, scene="t", difficulty="hard"),
    episode(PointGoal((0.0, 0.0, 4.0)), 6.0, difficulty="easy"),
    episode(PointGoal((0.0, 0.0, 1.0)), None),
    episode(PointGoal((0.0, 0.0, 1.0)), np.inf),
    episode(PointGoal((0.0, 0.0, 0.0)), 0.0),
]


def test_points():
    numbers = compute_statistics(POINTS)
    assert (numbers.scenes, numbers.episodes, numbers.hidden, numbers.unreachable) == (2, 6, 1, 1)
    assert numbers.difficulties == {"easy": 2, "hard": 1} and numbers.goals == {1: 6}
    assert numbers.geodesic.spread == Spread(0.0, 3.5, 4.0, 6.0) and numbers.path_length == 14
    assert numbers.euclidean.spread == Spread(0.0, 13 / 6, 1.5, 5.0)
    assert numbers.ratio.spread.mean == pytest.approx((1.2 + 1 + 1.5) / 3)
    assert (numbers.ratio.spread.minimum, numbers.ratio.spread.maximum) == (1.0, 1.5)
    assert not numbers.categories and not numbers.instances_by_category


def test_objects_are_counted_once_and_measured_to_their_view_points():
    shared = (NEAR, BARE)
    numbers = compute_statistics(
        [
            episode(ObjectGoal("bed", shared), 3.0),
            episode(ObjectGoal("bed", shared), 4.0),
            episode(ObjectGoal("bed", (NEAR,)), 6.0, scene="t"),
            episode(ObjectGoal("bed"), None, scene="u"),
            episode(ObjectGoal("mug", arrival=(0.0, 0.0, 3.0)), 3.0, scene="u"),
        ]
    )
    assert numbers.categories == {"bed": 4, "mug": 1}
    assert numbers.instances_by_category == {"bed": 3} and numbers.instances_by_scene == {"s": 2, "t": 1}
    assert numbers.euclidean.spread == Spread(2.0, 3.0, 2.5, 5.0)  # 2, 2, 5 and 3
    listed = compute_statistics(POINTS, {("s", "bed"): {"1"}, ("s", "mug"): {"2", "3"}})
    assert listed.instances_by_category == {"bed": 1, "mug": 2} and listed.instances_by_scene == {"s": 3}


def test_several_goals_are_a_way_through_all_of_them():
    red = replace(BARE, category="red", position=(3.0, 0.0, 4.0))
    goal = MultiGoal((red, replace(BARE, category="blue", position=START)))
    numbers = compute_statistics([episode(goal, 12.0)])
    assert numbers.categories == {"blue": 1, "red": 1} and numbers.goals == {2: 1}
    assert numbers.euclidean.spread.maximum == 10 and numbers.ratio.spread.maximum == 1.2


def test_subtasks_are_measured_to_view_points_alone():
    near, bare = (Subtask("object", "bed", (one,)) for one in (NEAR, BARE))
    numbers = compute_statistics(
        [episode(LifelongGoal((near,)), 6.0), episode(LifelongGoal((near, bare)), 6.0)]
    )
    assert numbers.euclidean.spread == Spread(5.0, 5.0, 5.0, 5.0) and numbers.geodesic.spread.mean == 6
    assert numbers.ratio.spread.maximum == 1.2 and numbers.hidden == 0


def test_images_count_their_objects():
    image = GoalImage((0.0, 1.0, 0.0), (0.0, 0.0, 0.0, 1.0), 1.5, 512, 512)
    episodes = [episode(ImageGoal(replace(NEAR), image), 5.0) for _ in range(3)]
    numbers = compute_statistics(episodes)
    assert numbers.instances_by_category == {"bed": 1} and numbers.euclidean.spread.maximum == 5


def test_hidden_goals_have_no_distance():
    assert euclidean_distance(episode(ObjectGoal("bed"), None), GoalPoints()) is None
    numbers = compute_statistics([episode(ObjectGoal("bed"), None)])
    assert numbers.geodesic.spread is None and numbers.ratio.histogram is None and numbers.path_length == 0


def test_bare_objects_are_where_the_path_of_the_file_ends():
    """RoboTHOR 2020 gives an object and a path that ends where it is seen from; distances are to there."""
    points = GoalPoints()
    (places,) = points.point_sets(ObjectGoal("bed", (BARE,), arrival=(7.0, 0.0, 1.0)))
    assert places.tolist() == [[7, 0, 1]]
    (seen,) = points.point_sets(ObjectGoal("bed", (NEAR, BARE), arrival=(7.0, 0.0, 1.0)))
    assert len(seen) == 3


def test_points_of_shared_objects_are_made_once():
    points = GoalPoints()
    shared = (NEAR, BARE)
    first, second = (points.point_sets(ObjectGoal("bed", shared))[0] for _ in range(2))
    assert first is second and first.tolist() == [[3, 0, 4], [8, 0, 0], [0, 0, 2]]


@pytest.mark.parametrize(
    ("values", "edges", "counts"),
    [
        ([1.0, 1.5, 2.0], (1.0, 1.1), None),
        ([5.0], (5.0, 5.01), (1,)),
        ([0.0] * 5 + [16.0] * 5, (0.0, 1.0), None),
        ([1.0] * 99 + [2.0] * 99 + [1000.0], (1.0, 1.1), None),
    ],
)
def test_histograms_have_round_edges_and_hold_every_value(values, edges, counts):
    histogram = Histogram.of(np.array(values))
    assert histogram.edges[:2] == pytest.approx(edges)
    assert sum(histogram.counts) == len(values) and histogram.edges[-1] >= max(values)
    assert list(histogram.edges) == sorted(histogram.edges) and len(histogram.counts) <= 20
    assert counts is None or histogram.counts == counts


def test_no_episode_is_an_error():
    with pytest.raises(InputError, match="at least one episode"):
        compute_statistics([])
