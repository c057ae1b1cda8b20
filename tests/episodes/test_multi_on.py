"""Generated episodes of MultiON keep the rules of the paper."""

import math
from dataclasses import replace

import numpy as np
import pytest

from episodes.exchange import samples
from navarena.core.errors import InputError, SceneError
from navarena.episodes.catalog import get_recipe, load_episodes
from navarena.episodes.dataset import save_episodes
from navarena.episodes.multi_on import CYLINDERS, SHAPES, MultiOnRecipe, make_recipe
from navarena.episodes.recipe import Stream
from navarena.simulation.body_catalog import MULTION
from navarena.simulation.planning import ActionPlanner
from navarena.tasks.catalog import get_task
from worlds import ROOMS, draw_world

STREAM = Stream("drawn", "test")
HALF_MM = 5.001e-4


def test_recipe_and_protocol_agree():
    for name in (f"multion-{kind}{goals}on-v1" for kind in ("", "shapes-") for goals in (1, 2, 3)):
        task, recipe = get_task(name), get_recipe(name)
        assert (recipe.protocol_id, recipe.embodiment, recipe.goals, recipe.classes) == (
            task.protocol_id,
            task.embodiment,
            task.goals,
            task.kind.classes,
        )


@pytest.mark.parametrize("goals", [1, 3, 8])
def test_the_rules(goals):
    world = draw_world(ROOMS, scene_id="rooms")
    batch = make_recipe(goals).make(world, 20, STREAM)
    assert len(batch.episodes) == 20 and len({one.episode_id for one in batch.episodes}) == 20
    for episode in batch.episodes:
        points = np.array([episode.start_position, *episode.goal.places])
        legs = world.navmesh.geodesic_distance(points[:-1], points[1:])
        assert ((legs >= 2) & (legs <= 20)).all()
        assert episode.geodesic_distance == pytest.approx(legs.sum(), abs=HALF_MM)
        classes = [one.category for one in episode.goal.objects]
        assert len(set(classes)) == goals and set(classes) <= set(CYLINDERS)
        assert [CYLINDERS[int(one.object_id)] for one in episode.goal.objects] == classes
        assert -math.pi <= episode.start_yaw < math.pi


def test_episodes_do_not_depend_on_their_number():
    world = draw_world(ROOMS, scene_id="rooms")
    few, many = (make_recipe(2).make(world, count, STREAM).episodes for count in (3, 7))
    assert few == many[:3]
    assert make_recipe(2).make(world, 3, Stream("drawn", "other")).episodes != few


def test_no_room():
    with pytest.raises(SceneError, match="expected room for episodes in 'tiny' .*choose a larger scene"):
        make_recipe(1).make(draw_world(["."], scene_id="tiny"), 1, STREAM)


def test_too_many_goals():
    with pytest.raises(InputError, match="expected 1 to 8 goals of distinct classes, got 9"):
        MultiOnRecipe("many", MULTION, 9)


def test_the_options_of_a_task_leave_the_episodes_alone():
    plain = load_episodes("multion-1on-v1", "mini")
    assert load_episodes(get_task("multion-1on-v1+found_budget=3"), "mini").hash == plain.hash
    assert len(plain) == 40


def test_shapes_stand_where_the_cylinders_do():
    world = draw_world(ROOMS, scene_id="rooms")
    plain, shapes = get_recipe("multion-3on-v1"), get_recipe("multion-shapes-3on-v1")
    made = shapes.make(world, 5, STREAM).episodes
    assert made == shapes.translate(plain.make(world, 5, STREAM).episodes)
    for one, other in zip(made, plain.make(world, 5, STREAM).episodes, strict=True):
        assert one.goal.places == other.goal.places and one.start_position == other.start_position
        for shape, cylinder in zip(one.goal.objects, other.goal.objects, strict=True):
            assert SHAPES.index(shape.category) == CYLINDERS.index(cylinder.category) == int(shape.object_id)


def test_episodes_can_be_made_from_any_row_on():
    world = draw_world(ROOMS, scene_id="rooms")
    assert (
        make_recipe(2).make(world, 3, STREAM, 4).episodes
        == make_recipe(2).make(world, 7, STREAM).episodes[4:]
    )


def test_unsolvable_candidates_are_dropped_and_counted(monkeypatch):
    """A planner that fails on one leg makes the whole chain unsolvable."""
    solve = ActionPlanner.plan

    def fail_sometimes(self, query):
        plans = solve(self, query)
        return [None if goal[0] < 5 else plan for plan, goal in zip(plans, query.goals, strict=True)]

    monkeypatch.setattr(ActionPlanner, "plan", fail_sometimes)
    batch = make_recipe(2).make(draw_world(ROOMS, scene_id="rooms"), 5, STREAM)
    assert batch.dropped > 0 and len(batch.episodes) == 5
    assert all(place[0] >= 5 for episode in batch.episodes for place in episode.goal.places)


def multion_file(path, *counts):
    """A file of MultiON with an episode of each of these numbers of goals."""
    colours = ("blue", "cyan", "red", "green", "white")
    episodes = [
        {
            **samples.MULTION["episodes"][0],
            "start_rotation": [0, 0, 0, 1],
            "goals": [samples.cylinder(colour, 1.0) for colour in colours[:count]],
        }
        for count in counts
    ]
    return samples.store(path, {**samples.MULTION, "episodes": episodes})


def test_files_have_as_many_goals_as_the_protocol(tmp_path):
    two, five = multion_file(tmp_path / "two.json", 2), multion_file(tmp_path / "five.json", 5)
    mixed, own = multion_file(tmp_path / "mixed.json", 2, 5), tmp_path / "own.json"
    save_episodes(replace(load_episodes("multion-3on-v1+objects=5", dataset=five), name="own"), own)
    for protocol, path, message in (
        ("multion-3on-v1", two, r"expected 3 goals .*, got 2 in 'X-0' of .*two\.json; use multion-2on-v1$"),
        ("multion-3on-v1+step_limit=proportional", two, r"got 2 in .*; use multion-2on-v1$"),
        ("multion-shapes-1on-v1", two, r"got 2 in .*; use multion-shapes-2on-v1$"),
        ("multion-2on-v1", mixed, r"got 5 in 'X-1' of .*; use multion-2on-v1\+objects=5$"),
        ("multion-3on-v1", own, r"got 5 in .*; use multion-3on-v1\+objects=5$"),
        ("multion-2on-v1+path_actions=750", two, "expected a set of scenes to draw"),
    ):
        with pytest.raises(InputError, match=message):
            list(load_episodes(protocol, dataset=path).episodes)
    for protocol, path, count in (
        ("multion-2on-v1", two, 2),
        ("multion-3on-v1+objects=2", two, 2),
        ("multion-3on-v1+objects=5", own, 5),
    ):
        assert [len(one.goal.objects) for one in load_episodes(protocol, dataset=path).episodes] == [count]
