"""Where the goal was seen, around the body: places by hand, evidence of several images, refusals."""

from dataclasses import replace

import numpy as np
import pytest

from navarena.core.errors import InputError
from navarena.episodes.episode import LifelongGoal, ObjectGoal, ObjectInstance, ViewPoint
from navarena.episodes.goals import Subtask
from navarena.mapping.labellers import LABELLERS
from navarena.simulation.world import WorldCache
from navarena.tasks.batch import NavigationBatch
from navarena.tasks.catalog import get_task
from navarena.tasks.sensors.goal_map import PredictedGoalMap
from tasks.small import AHEAD
from worlds import draw_world

BOX = ["..........", "..........", "...##.....", *[".........."] * 7]
"""A hall with a box whose front is two metres ahead of the start, from a metre left to a metre right."""

FORWARD, LEFT, RIGHT, DECLARE = 1, 2, 3, 6
PLACE = (4.0, 0.0, 5.0)


class NearIsSofa:
    """Calls the boxes, which are higher than the floor, sofas in every other image, and floors chairs."""

    classes = ("void", "chair", "sofa")

    def __init__(self, text=""):
        self.told = 0

    def label(self, rgb, depth):
        self.told += 1
        upper = np.arange(depth.shape[1])[:, None] < depth.shape[1] // 2
        box = (depth < 3.5) & upper & (self.told % 2 == 1)
        return np.where(box, 2, 0).astype(np.int32)


@pytest.fixture(autouse=True)
def labeller(monkeypatch):
    made = NearIsSofa()
    monkeypatch.setitem(LABELLERS._objects, "fake", lambda text: made)
    return made


def goal_of(category, *numbers):
    return ObjectGoal(
        category, tuple(ObjectInstance(one, category, PLACE, (ViewPoint(PLACE, 0.0),)) for one in numbers)
    )


def begin(goal, sensors=("goal_map",), slots=1, protocol="objectnav-habitat2020-v1"):
    task = get_task(protocol)
    camera = replace(task.embodiment.cameras[0], width_px=64, height_px=48)
    task.embodiment = replace(task.embodiment, cameras=(camera,))
    worlds = WorldCache(task.embodiment)
    worlds.add(draw_world(BOX, scene_id="hall"))
    batch = NavigationBatch(task, slots, sensors=sensors, worlds=worlds)
    batch.start(range(slots), [replace(AHEAD, start_position=PLACE, goal=goal)] * slots)
    require_looked(batch)
    return batch


def require_looked(batch):
    """Images are taken when they are asked for."""
    assert batch.observations


def act(batch, *actions):
    for action in actions:
        batch.step(np.array([action]))
        require_looked(batch)


def shown(batch, name="goal_map", slot=0):
    return batch.observations[name][slot, :, :, 0]


def test_the_front_of_a_box_is_drawn_where_it_is():
    """Two metres are 13.3 cells of 15 cm, ahead of the middle at row 32; each place has 3 x 3 cells."""
    drawn = shown(begin(goal_of("sofa", "2")))
    assert set(np.unique(drawn)) == {0, 1}
    rows, columns = np.nonzero(drawn)
    assert set(rows) == {17, 18, 19}
    # a metre is 6.7 cells, and the places are means of cubes of 25 cm
    assert 24 <= columns.min() <= 25 and 38 <= columns.max() <= 39


def test_three_images_make_sure_and_the_map_turns_with_the_body():
    batch = begin(goal_of("sofa", "2"))
    act(batch, LEFT, RIGHT)
    drawn = shown(batch)
    assert set(np.unique(drawn)) == {0, 1, 2} and set(np.nonzero(drawn == 2)[0]) == {17, 18, 19}
    act(batch, FORWARD)
    # 1.75 m ahead: 11.7 cells
    assert set(np.nonzero(shown(batch) == 2)[0]) == {19, 20, 21}
    act(batch, RIGHT, RIGHT, RIGHT)
    # a quarter to the right: what was ahead is to the left
    rows, columns = np.nonzero(shown(batch))
    assert set(columns) == {19, 20, 21} and 24 <= rows.min() <= 25 and 38 <= rows.max() <= 39


def test_the_floor_is_no_sofa_and_other_slots_change_nothing():
    alone = begin(goal_of("sofa", "2"))
    together = begin(goal_of("sofa", "2"), slots=2)
    together.step(np.array([LEFT, LEFT]), np.array([False, True]))
    assert np.array_equal(shown(alone), shown(together))
    assert not np.array_equal(shown(alone), shown(together, slot=1))


def test_an_episode_and_another_goal_begin_with_an_empty_map():
    goals = (goal_of("couch", number) for number in ("2", "elsewhere"))
    subtasks = tuple(Subtask("object", "couch", one.instances, "", None) for one in goals)
    batch = begin(LifelongGoal(subtasks), protocol="goat-v1")
    first = shown(batch).copy()
    act(batch, DECLARE)
    assert first.any() and not shown(batch).any()
    batch.start([0], [replace(AHEAD, start_position=PLACE, goal=LifelongGoal(subtasks))])
    assert np.array_equal(shown(batch), first)


def test_predictions_that_a_second_look_takes_back_count_less():
    """1 of one image; 1 - 0.5 of two, still perhaps; 2 - 0.5 after a third; never sure."""
    name = "goal_map_predicted:fake:"
    batch = begin(goal_of("sofa", "2"), ("goal_map", name))
    assert batch.privileged_sensors == ("goal_map",)
    rows, columns = np.nonzero(shown(batch, name))
    assert set(rows) == {17, 18, 19} and columns.min() >= 24
    act(batch, LEFT, RIGHT)
    assert set(np.unique(shown(batch))) == {0, 1, 2} and set(np.unique(shown(batch, name))) == {0, 1}


def test_the_last_goal_is_shown_when_all_have_ended():
    subtasks = (Subtask("object", "sofa", goal_of("sofa", "2").instances, "", None),)
    name = "goal_map_predicted:fake:"
    batch = begin(LifelongGoal(subtasks), (name,), protocol="goat-v1")
    first = shown(batch, name).copy()
    act(batch, DECLARE)
    # every other image shows it: the second look takes a half of the first back
    assert first.any() and np.array_equal(shown(batch, name), first)


def test_a_name_of_goat_is_known_by_what_it_stands_for(labeller):
    """The segmenter knows sofas, and no couch."""
    name, found = "goal_map_predicted:fake:", []
    words = "The white sofa set, beside the bed."
    for kind, word in (
        ("object", "sofa"),
        ("object", "couch"),
        ("object", "sofa set"),
        ("description", "bed"),
    ):
        goal, labeller.told = Subtask(kind, word, goal_of("sofa", "2").instances, words, None), 0
        found.append(shown(begin(LifelongGoal((goal,)), (name,), protocol="goat-v1"), name).copy())
    assert found[0].any() and all(np.array_equal(found[0], other) for other in found)
    lamp = Subtask("object", "lamp", goal_of("sofa", "2").instances, "", None)
    with pytest.raises(InputError, match="knows, got 'lamp'"):
        begin(LifelongGoal((lamp,)), (name,), protocol="goat-v1")


def test_a_restored_batch_goes_on_with_the_same_map():
    batch, other = begin(goal_of("sofa", "2")), begin(goal_of("sofa", "2"))
    act(batch, LEFT, FORWARD)
    other.restore_state(batch.save_state())
    for one in (batch, other):
        act(one, RIGHT)
    assert shown(batch).any() and np.array_equal(shown(batch), shown(other))


@pytest.mark.parametrize("category", ["plant", "bed"])
def test_categories_that_the_segmenter_does_not_know_are_refused(category):
    with pytest.raises(InputError, match=f"segmenter of 'goal_map_predicted:fake:' knows, got '{category}'"):
        begin(goal_of(category, "2"), ("goal_map_predicted:fake:",))


def test_images_and_descriptions_without_a_known_name_leave_the_map_empty(labeller):
    name, goal = "goal_map_predicted:fake:", goal_of("sofa", "2").instances
    for words in ("The thing.", "The bed by the sofa."):
        batch = begin(
            LifelongGoal((Subtask("description", "sofa", goal, words, None),)), (name,), protocol="goat-v1"
        )
        assert not shown(batch, name).any()
        act(batch, LEFT, RIGHT)
        assert not shown(batch, name).any()


def test_goals_that_no_class_shows_are_refused():
    """Such as MultiON's cylinders."""
    state = get_task("multion-1on-v1").make_state(1)
    with pytest.raises(InputError, match="got 'one given otherwise'"):
        PredictedGoalMap(segmenter="fake:").goal_of(state, 0)


@pytest.mark.parametrize("sensor", ["goal_map", "goal_map_predicted:fake:"])
def test_tasks_without_objects_are_refused(sensor):
    point = get_task("pointnav-v1")
    with pytest.raises(InputError, match="whose goals are objects"):
        NavigationBatch(point, 1, sensors=(sensor,), worlds=WorldCache(point.embodiment))
