"""GOAT-Bench by hand: goals follow one another, both rules of success, budgets, rewards, images, errors."""

from dataclasses import replace

import numpy as np
import pytest

from navarena.agents.agent import Boundary, Start
from navarena.agents.loading import load_agent
from navarena.core.errors import InputError
from navarena.episodes.encoding.catalog import ENCODERS, find_encoder
from navarena.episodes.encoding.encoder import GoalEncoder
from navarena.episodes.episode import LifelongGoal, ObjectGoal, ObjectInstance, ViewPoint
from navarena.episodes.goals import Subtask
from navarena.metrics import compute_metrics
from navarena.scenes.scene import SceneObject
from navarena.simulation.world import World, WorldCache
from navarena.tasks.batch import NavigationBatch
from navarena.tasks.catalog import get_task
from navarena.tasks.sensors.goal_vector import GoalVector
from navarena.tasks.sensors.lifelong_goal import render_goal_image
from tasks.small import AHEAD, as_life, as_subtask
from worlds import HALL, ROOMS, draw_navmesh, draw_scene, draw_world

STOP, FORWARD, LEFT, RIGHT, UP, DOWN, DECLARE = range(7)

HERE = AHEAD.start_position
"""(5, 0, 5), looking along -z."""

THERE = AHEAD.goal.places[0]
"""One metre ahead: four steps."""

BACK = (5.0, 0.0, 6.0)
"""One metre behind the start."""


def make_batch(protocol_id="goat-v1", slots=1, sensors=("gps", "compass"), world=None):
    task = get_task(protocol_id)
    cache = WorldCache(task.embodiment)
    for one in (world or draw_world(HALL, scene_id="hall"), draw_world(ROOMS, scene_id="rooms")):
        cache.add(one)
    return NavigationBatch(task, slots, sensors=sensors, worlds=cache)


def begin(*places, options="", modalities=("object", "description", "image"), **given):
    """An episode whose goals are at `places`, begun."""
    batch = make_batch("goat-v1" + options, **given)
    subtasks = [as_subtask(k, place, modalities[k % len(modalities)]) for k, place in enumerate(places)]
    batch.start([0], [replace(AHEAD, goal=LifelongGoal(tuple(subtasks)))])
    return batch


def walk(batch, *actions):
    """The results of steps in slot 0: rewards, and the last step's (terminated, truncated, began)."""
    results = [batch.step(np.array([action])) for action in actions]
    last = results[-1]
    ends = bool(last.terminated[0]), bool(last.truncated[0]), bool(last.began[0])
    return [float(result.reward[0]) for result in results], ends


def measure(batch, *names):
    values = compute_metrics(batch.task.metrics, batch.trajectory(0))
    return [values[name] for name in names]


def test_a_right_stop_pays_and_the_next_goal_begins_where_it_was_made():
    batch = begin(THERE, BACK)
    assert batch.state.distance[0] == pytest.approx(1.0)
    rewards, ends = walk(batch, FORWARD, FORWARD, FORWARD, FORWARD, DECLARE)
    assert rewards == pytest.approx([0.249] * 4 + [5 - 0.001])
    assert ends == (False, False, True)
    assert batch.state.distance[0] == pytest.approx(2.0), "two metres from there to the second"
    rewards, ends = walk(batch, FORWARD, DECLARE)
    assert rewards == pytest.approx([-0.251, -0.001]), "the change of goal makes no progress"
    assert ends == (True, False, False)
    names = (
        "success",
        "subtask_success",
        "subtask_spl",
        "subtask_soft_spl",
        "subtask_1_spl",
        "description_spl",
    )
    assert measure(batch, *names) == pytest.approx([0, 0.5, 0.5, 0.5, 1, 0])
    record = batch.trajectory(0)
    assert (record.begun_at.tolist(), record.ended_at.tolist()) == (
        pytest.approx([1, 2]),
        pytest.approx([0, 2.25]),
    )
    assert record.start_distance == pytest.approx(3.0), "along both goals"


def test_a_wrong_stop_goes_on_and_costs_nothing():
    batch = begin(THERE, HERE)
    rewards, ends = walk(batch, DECLARE)
    assert rewards == pytest.approx([-0.001]) and ends == (False, False, True)
    rewards, ends = walk(batch, DECLARE)
    assert rewards == pytest.approx([5 - 0.001]) and ends == (True, False, False)
    assert measure(batch, "subtask_success", "subtask_1_success", "subtask_2_spl") == [0.5, 0, 1]


def test_all_goals_pay_once_more():
    batch = begin(HERE, HERE)
    rewards, _ = walk(batch, DECLARE, DECLARE)
    assert rewards == pytest.approx([4.999, 14.999])
    assert measure(batch, "success", "subtasks") == [1, 2]


def test_stop_ends_the_episode_and_reaches_nothing():
    batch = begin(HERE, HERE)
    rewards, ends = walk(batch, STOP)
    assert rewards == pytest.approx([-0.001]) and ends == (True, False, False)
    assert measure(batch, "subtask_success", "view_point_success", "near_object_success") == [0, 0, 0]
    assert batch.trajectory(0).stopped


@pytest.mark.parametrize(("steps", "reached"), [(3, False), (4, True)])
def test_view_points_must_be_strictly_nearer_than_a_quarter_of_a_metre(steps, reached):
    """Three steps of four end exactly 0.25 m away."""
    batch = begin(THERE, BACK)
    walk(batch, *[FORWARD] * steps, DECLARE)
    assert bool(batch.trajectory(0).reached[0]) == reached


BOX = SceneObject(7, "chair", (5.0, 0.5, 3.0), (0.5, 0.5, 0.5))
"""Its face is at z = 3.5; the body begins at z = 5."""


def make_labelled_world():
    scene = draw_scene(HALL, scene_id="hall")
    return World.of(replace(scene, objects=(*scene.objects, BOX)), draw_navmesh(HALL))


def begin_at_box(options, view_point):
    batch = make_batch("goat-v1" + options, world=make_labelled_world())
    chair = ObjectInstance("7", "chair", BOX.center, (ViewPoint(view_point, 0.0),))
    goal = LifelongGoal((Subtask("object", "chair", (chair,)), as_subtask(1, HERE, "description")))
    batch.start([0], [replace(AHEAD, goal=goal)])
    return batch


@pytest.mark.parametrize(
    ("options", "steps", "reached"),
    [("", 1, False), ("", 2, False), ("+success=object", 1, False), ("+success=object", 2, True)],
)
def test_both_rules_are_measured_and_the_option_chooses(options, steps, reached):
    """1.25 m from the box after one step, exactly 1 m after two; the view point is far away."""
    batch = begin_at_box(options, (8.0, 0.0, 8.0))
    walk(batch, *[FORWARD] * steps)
    assert batch.task.has_arrived(batch.simulator, batch.state, np.array([0])).tolist() == [reached]
    rewards, _ = walk(batch, DECLARE)
    assert rewards == pytest.approx([5 * reached - 0.001])
    record = batch.trajectory(0)
    assert (record.near_view_point[0], record.near_object[0]) == (False, steps == 2)
    assert bool(record.reached[0]) == reached
    assert batch.task.goal_ids(batch.state, 0) == [frozenset({7}), frozenset()]


def test_a_restored_episode_measures_to_all_view_points():
    """The expert's view point is 0.7 m from the box; the nearest is 2.5 m from it, a step ahead."""
    batch, other = (make_batch("goat-v1+success=object", world=make_labelled_world()) for _ in range(2))
    views = ViewPoint((5.0, 0.0, 4.2), 0.0), ViewPoint((5.0, 0.0, 6.0), 0.0)
    goal = LifelongGoal((Subtask("object", "chair", (ObjectInstance("7", "chair", BOX.center, views),)),))
    batch.start([0], [replace(AHEAD, start_position=(5.0, 0.0, 6.25), goal=goal)])
    other.restore_state(batch.save_state())
    for one in (batch, other):
        assert one.state.goal_places[0].tolist() == [[5.0, 0.0, 4.2]]
        assert walk(one, FORWARD)[0] == pytest.approx([0.25 - 0.001])
        assert one.state.distance[0] == pytest.approx(0.0, abs=1e-9)


def test_progress_is_that_of_episodes_of_one_goal():
    with pytest.raises(InputError, match="expected episodes of one goal for 'progress', got one of 2"):
        begin(THERE, BACK, sensors=("progress",))
    batch = begin(THERE, sensors=("progress",))
    walk(batch, FORWARD)
    assert batch.observations["progress"][0].tolist() == pytest.approx([0.25], abs=1e-6)


def test_objects_are_known_by_the_names_that_files_of_goat_bench_write():
    scene = draw_scene(HALL, scene_id="hall")
    named = replace(BOX, attributes={"name": "chair_12"})
    world = World.of(replace(scene, objects=(*scene.objects, named)), draw_navmesh(HALL))
    chair = ObjectInstance("chair_12", "chair", BOX.center, (ViewPoint((8.0, 0.0, 8.0), 0.0),))
    goal = LifelongGoal((Subtask("object", "chair", (chair,)),))
    batch = make_batch(world=world)
    batch.start([0], [replace(AHEAD, goal=goal)])
    assert batch.task.goal_ids(batch.state, 0) == [batch.state.current_ids(0)] == [frozenset({7})]
    walk(batch, FORWARD, FORWARD, DECLARE)
    assert batch.trajectory(0).near_object[0], "1 m from its face, farther from its middle"
    bare = LifelongGoal((Subtask("object", "chair", (replace(chair, view_points=()),)),))
    with pytest.raises(InputError, match=r"a view point of .* got none of the objects \['chair_12'\]"):
        batch.start([0], [replace(AHEAD, goal=bare)])  # it is known, but nothing is drawn there


def test_the_budget_of_a_subtask_begins_the_next_and_ends_the_last():
    batch = begin(THERE, HERE, options="+subtask_budget=3")
    _, ends = walk(batch, LEFT, LEFT)
    assert ends == (False, False, False)
    _, ends = walk(batch, RIGHT)
    assert ends == (False, False, True) and batch.state.modality[0] == 1
    _, ends = walk(batch, LEFT, RIGHT)
    assert ends == (False, False, False)
    _, ends = walk(batch, LEFT)
    assert ends == (False, True, False) and batch.state.modality[0] == 3
    record = batch.trajectory(0)
    assert record.ended_after.tolist() == [3, 6] and not record.reached.any() and not record.stopped
    assert not record.declared.any()
    assert not record.near_view_point.any(), "it was at the second goal, but never said so"


def test_the_budget_starts_anew_after_a_stop():
    batch = begin(THERE, HERE, HERE, options="+subtask_budget=3")
    walk(batch, LEFT, DECLARE, LEFT, LEFT)
    assert batch.state.modality[0] == 1
    walk(batch, LEFT)
    assert batch.state.modality[0] == 2


def test_a_declaration_with_the_last_action_of_a_budget_counts():
    batch = begin(HERE, HERE, options="+subtask_budget=1")
    rewards, ends = walk(batch, DECLARE)
    assert rewards == pytest.approx([4.999]) and ends == (False, False, True)


def test_the_step_limit_leaves_the_current_subtask_unfinished():
    batch = begin(THERE, HERE, options="+max_steps=2")
    _, ends = walk(batch, FORWARD, FORWARD)
    assert ends == (False, True, False)
    record = batch.trajectory(0)
    assert len(record.ended_after) == 0 and len(record.modalities) == 2
    assert measure(batch, "subtask_soft_spl", "subtasks") == [0, 2]


def test_agents_are_told_each_goal_in_its_way_and_no_other():
    names = ("current_subtask", "objectgoal", "language_goal", "image_goal", "gps")
    batch = begin(THERE, BACK, HERE, sensors=names)

    def look():
        seen = batch.observations
        name, words = str(seen["objectgoal"][0]), str(seen["language_goal"][0])
        return int(seen["current_subtask"][0, 0]), name, words, bool(seen["image_goal"].any())

    assert look() == (0, "chair", "", False)
    walk(batch, FORWARD, DECLARE)
    assert look() == (1, "", "the bed number 1", False)
    assert batch.observations["gps"][0] == pytest.approx([0.25, 0.0]), "not set back"
    walk(batch, DECLARE)
    assert look() == (2, "", "", True)
    image = batch.episode(0).goal.subtasks[2].image
    expected = render_goal_image(draw_world(HALL, scene_id="hall"), image)
    assert expected.shape == (512, 512, 3)
    assert np.array_equal(batch.observations["image_goal"][0], expected)
    walk(batch, DECLARE)
    assert look() == (3, "", "", False)


class Told(GoalEncoder):
    """Vectors of what is told of goals: modality, letters of name and text, brightness of the image."""

    dimension, needs_weights, sees_images = 4, True, True
    calls: list = []

    def __init__(self, path):
        self.name = f"told:{path}"

    def encode_raw(self, goal):
        self.calls.append(goal.modality)
        light = 0.0 if goal.image is None else float(goal.image.mean())
        return np.array([len(goal.modality), len(goal.category), len(goal.text), light], np.float32)


@pytest.fixture
def told(monkeypatch, tmp_path):
    """The name of the sensor with an encoder that counts what it encodes, and an empty cache."""
    monkeypatch.setenv("NAVARENA_CACHE", str(tmp_path))
    monkeypatch.setitem(ENCODERS._objects, "told", Told)
    monkeypatch.setattr(Told, "calls", [])
    find_encoder.cache_clear()
    yield "goal_vector:told:FOLDER"
    find_encoder.cache_clear()


def test_goals_as_vectors_are_made_once_each_of_what_is_told(told):
    batch = begin(THERE, BACK, HERE, sensors=(told, "image_goal"))
    assert batch.specs[told].shape == (4,) and batch.specs[told].dtype == np.float32
    seen = [batch.observations[told][0].tolist()]
    for moves in ((FORWARD, DECLARE), (LEFT, RIGHT, DECLARE)):
        walk(batch, *moves)
        seen.append(batch.observations[told][0].tolist())
    light = pytest.approx(float(batch.observations["image_goal"][0].mean()))
    assert seen == [[6, 5, 0, 0], [11, 0, 16, 0], [5, 0, 0, light]] and light.expected > 0
    walk(batch, DECLARE)
    assert not batch.observations[told].any(), "none is left"
    assert Told.calls == ["object", "description", "image"]
    with pytest.raises(InputError, match="expected an encoder of goals, got none.* goal_vector:words"):
        begin(THERE, sensors=("goal_vector",))
    with pytest.raises(InputError, match="of GOAT-Bench"):
        NavigationBatch(get_task("pointnav-v1"), 1, sensors=(told,))


def test_a_second_run_encodes_no_goal(told):
    """Neither in this process, nor in another one, whose encoder is loaded anew."""
    rows = []
    for _ in range(3):
        batch = begin(THERE, BACK, HERE, sensors=(told,))
        rows.append([batch.observations[told][0].copy()])
        for moves in ((FORWARD, DECLARE), (LEFT, RIGHT, DECLARE)):
            walk(batch, *moves)
            rows[-1].append(batch.observations[told][0].copy())
        assert Told.calls == ["object", "description", "image"]
        find_encoder.cache_clear()
    np.testing.assert_array_equal(rows[1:], rows[:-1])


def test_the_sensor_takes_the_encoder_itself(told):
    sensor = GoalVector(Told("here"))
    assert sensor.name == "goal_vector:told:here" and sensor.spec().shape == (4,)


def test_the_image_of_a_goal_looks_where_its_camera_does():
    """Half the image of a level camera in a hall without walls is floor, below the horizon."""
    image = as_subtask(0, THERE, "image").image
    seen = render_goal_image(draw_world(HALL, scene_id="hall"), image)
    assert not seen[:250].any() and seen[-1].any()
    wall = render_goal_image(draw_world(ROOMS, scene_id="rooms"), replace(image, position=(1.0, 1.0, 5.0)))
    assert wall[200].any(), "a wall is ahead"


def run(batch, name="expert"):
    agent = load_agent(name, batch.task, 0)
    agent.attach(batch)
    starts = [Start(k, str(k), "hall", Boundary.SCENE, 0) for k in range(batch.slots)]
    agent.reset(starts)
    while batch.running.any():
        result = batch.step(agent.act(batch.observations, batch.running), batch.running)
        began = np.flatnonzero(result.began)
        if len(began):
            agent.reset([replace(starts[k], boundary=Boundary.SUBTASK) for k in began])
    return [compute_metrics(batch.task.metrics, batch.trajectory(k)) for k in range(batch.slots)]


LIFE = as_life(AHEAD, 0, (3.0, 0.0, 1.0), (7.0, 0.0, 1.5), (7.0, 0.0, 8.0), HERE)


@pytest.mark.parametrize("options", ["", "+subtask_budget=500", "+success=object+subtask_budget=500"])
def test_the_expert_reaches_all_goals(options):
    batch = make_batch("goat-v1" + options)
    batch.start([0], [LIFE])
    (values,) = run(batch)
    assert values["success"] == values["subtask_success"] == values["view_point_success"] == 1
    assert values["subtask_spl"] > 0.85 and values["subtasks"] == 5


@pytest.mark.parametrize(("options", "near"), [("", False), ("+success=object", True)])
def test_the_expert_goes_near_the_object_where_that_counts(options, near):
    """View points are 1 m and 0.5 m from the box; the first is on the way to the second."""
    batch = make_batch("goat-v1" + options, world=make_labelled_world())
    points = (ViewPoint((5.0, 0.0, 4.5), 0.0), ViewPoint((5.0, 0.0, 4.0), 0.0))
    chair = ObjectInstance("7", "chair", BOX.center, points)
    start = replace(AHEAD, start_position=(5.0, 0.0, 6.7))
    batch.start([0], [replace(start, goal=LifelongGoal((Subtask("object", "chair", (chair,)),)))])
    (values,) = run(batch)
    assert (values["success"], values["near_object_success"]) == (1, near)


def test_the_expert_gives_up_what_cannot_be_reached_and_goes_on():
    """The third room is cut off from the others."""
    start = replace(AHEAD, scene_id="rooms", start_position=(2.0, 0.0, 1.0))
    places = ((3.0, 0.0, 9.0), (7.0, 0.0, 1.0))
    goal = LifelongGoal(tuple(as_subtask(k, place, "object") for k, place in enumerate(places)))
    batch = make_batch()
    batch.start([0], [replace(start, goal=goal)])
    (values,) = run(batch)
    assert values["subtask_1_success"] == 0 and values["subtask_2_success"] == 1
    assert batch.trajectory(0).start_distance == np.inf


def test_a_random_walk_ends_by_itself():
    batch = make_batch()
    batch.start([0], [LIFE])
    (values,) = run(batch, "random")
    assert 0 <= values["subtask_spl"] <= values["subtask_success"] <= 1


@pytest.mark.parametrize(
    ("protocol_id", "modality", "limit"),
    [
        ("ovon-v1", "object", 500),
        ("languagenav-v1", "description", 500),
        ("instance-imagenav-v1", "image", 1000),
    ],
)
def test_single_skills_end_with_their_goal(protocol_id, modality, limit):
    batch = make_batch(protocol_id)
    assert batch.task.max_steps == limit and "subtask_stop" not in batch.task.actions
    batch.start([0], [as_life(AHEAD, 0, modalities=(modality,))])
    rewards, ends = walk(batch, *[FORWARD] * 4, STOP)
    assert rewards[-1] == pytest.approx(2.5 - 0.001) and ends == (True, False, False)
    assert measure(batch, "success", "spl", "soft_spl") == [1, 1, 1]
    whole, without = batch.trajectory(0), batch.trajectory(0, with_path=False)
    assert whole.start_distance == without.start_distance == pytest.approx(1.0)
    batch.start([0], [as_life(AHEAD, 0, modalities=(modality,))])
    rewards, ends = walk(batch, FORWARD, STOP)
    assert rewards[-1] == pytest.approx(-0.001) and ends == (True, False, False)
    assert measure(batch, "success", "spl") == [0, 0]


def test_categories_and_images_of_other_tasks_serve_as_goals():
    obj = as_subtask(0, THERE, "object").instances[0]
    batch = make_batch("ovon-v1", sensors=("objectgoal",))
    batch.start([0], [replace(AHEAD, goal=ObjectGoal("chair", (obj,)))])
    assert str(batch.observations["objectgoal"][0]) == "chair"


GOOD = as_subtask(0, THERE, "image")


@pytest.mark.parametrize(
    ("subtask", "message"),
    [
        (replace(GOOD, instances=()), r"sub-task 1 \('chair'\) of episode 'ahead' in 'hall', got none"),
        (replace(GOOD, image=None), r"camera of an image of 'chair' \['object-0'\], got none"),
        (replace(GOOD, image=replace(GOOD.image, width_px=64)), "512 x 512 pixels of 'chair'.* 64 x 512"),
        (replace(GOOD, modality="description"), "a description of 1 to 1024 letters, got 0"),
        (replace(GOOD, modality="object", category="x" * 65), "a category of 1 to 64 letters, got 65"),
        (
            replace(GOOD, instances=(replace(GOOD.instances[0], view_points=()),)),
            r"objects of 'hall' as goals of sub-task 1 .* got the unknown \['object-0'\]; leave",
        ),
    ],
)
def test_bad_goals_are_refused(subtask, message):
    with pytest.raises(InputError, match=message):
        make_batch(world=make_labelled_world()).start([0], [replace(AHEAD, goal=LifelongGoal((subtask,)))])


def test_other_episodes_options_and_sensors_are_refused():
    with pytest.raises(InputError, match="goals of GOAT-Bench in episode 'ahead', got PointGoal"):
        make_batch().start([0], [AHEAD])
    assert [get_task(f"goat-v1+subtasks={n}").max_steps for n in (1, 10, 200)] == [5000, 5000, 100_000]
    assert get_task("goat-v1+subtasks=20+max_steps=600").max_steps == 1200
    with pytest.raises(InputError, match="expected 0 to 1000 subtasks, got 1001"):
        get_task("goat-v1+subtasks=1001")
    with pytest.raises(InputError, match="subtask_budget of at least 0"):
        get_task("goat-v1+subtask_budget=-1")
    with pytest.raises(InputError, match="success"):
        get_task("goat-v1+success=never")
