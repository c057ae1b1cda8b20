"""The rules of ObjectNav in drawn worlds: success, rewards, options, and where goals come from."""

from dataclasses import replace

import numpy as np
import pytest

from navarena.agents.agent import Boundary, Start
from navarena.agents.loading import load_agent
from navarena.core.errors import InputError, SceneError, UnknownNameError
from navarena.episodes.episode import ObjectGoal, ObjectInstance, ViewPoint
from navarena.metrics import compute_metrics, success
from navarena.scenes.scene import SceneObject
from navarena.simulation.world import World, WorldCache
from navarena.tasks.batch import NavigationBatch
from navarena.tasks.catalog import get_task
from navarena.tasks.protocols.success_zone import aligned, axis_distance
from tasks.small import AHEAD, OBJECT_GOALS, as_object, make_cache
from worlds import HALL, draw_navmesh, draw_scene

STOP, FORWARD, LEFT, RIGHT, UP, DOWN = range(6)
CHAIR = as_object(AHEAD, "chair")
"""One metre straight ahead is a view point of a chair."""


def begin(protocol_id="objectnav-habitat2020-v1", episode=CHAIR, sensors=("objectgoal",), cache=None):
    batch = NavigationBatch(get_task(protocol_id), 1, sensors=sensors, worlds=cache or make_cache())
    batch.start([0], [episode])
    return batch


def act(batch, *actions):
    return [batch.step(np.array([action])) for action in actions][-1]


def test_the_protocols():
    for name, count, television in (("objectnav-habitat2020-v1", 21, 13), ("objectnav-hm3d2022-v1", 6, 4)):
        task = get_task(name)
        assert len(task.categories) == count and task.categories[television] == "tv_monitor"
        assert (task.max_steps, task.success_distance, task.embodiment.name) == (500, 0.1, "locobot")
        assert task.actions[4:] == ("look_up", "look_down")


def test_an_episode_by_hand():
    batch = begin()
    assert batch.observations["objectgoal"].tolist() == [[0]]
    assert act(batch, UP).reward[0] == pytest.approx(-0.001)
    assert batch.simulator.tilts[0] == pytest.approx(np.pi / 6)
    assert act(batch, FORWARD).reward[0] == pytest.approx(0.249)
    result = act(batch, FORWARD, FORWARD, FORWARD, STOP)
    assert result.reward[0] == pytest.approx(2.499) and result.terminated[0]
    scores = compute_metrics(batch.task.metrics, batch.trajectory(0))
    assert scores["success"] == scores["spl"] == 1 and scores["num_actions"] == 6


def test_stop_too_early():
    batch = begin()
    result = act(batch, FORWARD, FORWARD, FORWARD, STOP)
    assert result.terminated[0] and success(batch.trajectory(0)) == 0


def test_any_view_point_of_any_instance_counts():
    far, near = ((8.0, 0.0, 8.0), (5.0, 0.0, 4.5))
    instances = tuple(
        ObjectInstance(str(k), "sofa", place, (ViewPoint((1.0, 0.0, 1.0), 0.0), ViewPoint(place, 0.0)))
        for k, place in enumerate((far, near))
    )
    batch = begin(episode=replace(AHEAD, goal=ObjectGoal("sofa", instances)))
    assert batch.state.distance[0] == pytest.approx(0.5)
    assert len(batch.state.goal_places[0]) == 4
    assert batch.observations["objectgoal"].tolist() == [[5]]


def test_options():
    task = get_task("objectnav-habitat2020-v1+track=rgb+sliding=true+max_steps=9")
    assert "depth" not in task.sensors and task.embodiment.slides and task.max_steps == 9
    filed = begin("objectnav-habitat2020-v1+start_distance=file", replace(CHAIR, geodesic_distance=7.0))
    assert filed.trajectory(0).start_distance == 7.0
    with pytest.raises(InputError, match="its file hides it; take start_distance=measured"):
        begin("objectnav-habitat2020-v1+start_distance=file", replace(CHAIR, geodesic_distance=None))
    with pytest.raises(InputError, match="expected a positive success_distance, got 0"):
        get_task("objectnav-habitat2020-v1+success_distance=0")
    near = begin("objectnav-habitat2020-v1+success_distance=0.3")
    act(near, FORWARD, FORWARD, FORWARD, STOP)
    assert success(near.trajectory(0)) == 1


def test_bad_episodes():
    with pytest.raises(InputError, match="expected a category as the goal of episode 'ahead', got PointGoal"):
        begin(episode=AHEAD)
    with pytest.raises(UnknownNameError, match="Did you mean 'chair'"):
        begin(episode=as_object(AHEAD, "chairs"))
    with pytest.raises(UnknownNameError, match="unknown object category 'towel'"):
        begin("objectnav-hm3d2022-v1", as_object(AHEAD, "towel"))


def make_furnished(labelled=True):
    """The hall with a chest of 1 m by 1 m by 0.8 m in its middle, which nobody can stand in."""
    rows = list(HALL)
    rows[5] = ".....#...."
    scene = draw_scene(rows, scene_id="furnished")
    chest = SceneObject(2, "bed", (5.5, 1.0, 5.5), (0.5, 1.0, 0.5))
    scene = replace(scene, objects=(scene.objects[0], chest) if labelled else ())
    cache = WorldCache(get_task("objectnav-hm3d2022-v1").embodiment)
    cache.add(World.of(scene, draw_navmesh(rows)))
    return cache


def test_goals_that_an_episode_does_not_list_are_found_in_the_scene():
    episode = replace(CHAIR, scene_id="furnished", start_position=(5.5, 0.0, 9.0), goal=ObjectGoal("bed"))
    batch = begin(episode=episode, cache=make_furnished())
    assert batch.state.distance[0] == pytest.approx(2.0, abs=0.09)
    act(batch, *[FORWARD] * 9, STOP)
    assert success(batch.trajectory(0)) == 1
    with pytest.raises(InputError, match="expected a view point of 'chair' for episode 'ahead'"):
        begin(episode=replace(episode, goal=ObjectGoal("chair")), cache=make_furnished())
    with pytest.raises(SceneError, match="got scene 'furnished' without semantics"):
        begin(episode=episode, cache=make_furnished(labelled=False))


def zone_scores(protocol_id, x, z, yaw, cache):
    """Scores of a body that stops at once in the furnished hall."""
    start = (x, 0.0, z)
    goal = ObjectGoal("bed", (ObjectInstance("2", "bed", (5.5, 1.0, 5.5), (ViewPoint(start, 0.0),)),))
    episode = replace(CHAIR, scene_id="furnished", start_position=start, start_yaw=yaw, goal=goal)
    batch = begin(protocol_id, episode, cache=cache)
    act(batch, STOP)
    scores = compute_metrics(batch.task.metrics, batch.trajectory(0))
    return [scores[name] for name in ("success", "zone_success", "zone_success_seen")]


@pytest.mark.parametrize(
    ("place", "options", "scores"),
    [
        ((5.5, 6.9, 0.0), "", [1, 1, 1]),  # 0.9 m in front of it, looking at it
        ((5.5, 6.9, np.pi), "", [1, 1, 0]),  # turned away: an oracle would see it
        ((5.5, 7.1, 0.0), "", [1, 0, 0]),  # 1.1 m away
        ((5.5, 7.1, 0.0), "+zone_distance=1.2", [1, 1, 1]),
        ((5.5, 6.9, 0.0), "+zone_pixels=400000", [1, 0, 0]),
        ((6.8, 6.8, 0.8), "", [1, 0, 0]),  # 1.13 m from the corner
        ((6.6, 6.6, 0.8), "", [1, 1, 1]),
    ],
)
def test_the_success_zone_of_the_consensus(place, options, scores):
    assert zone_scores(f"objectnav-hm3d2022-v1{options}", *place, make_furnished()) == scores


def test_the_zone_is_around_the_object_that_the_file_names():
    """As in MP3D's files, in a scene with other numbers: object_id 3, object_name "0_0_3"."""
    cache = make_furnished()
    world = cache.get("furnished")
    chest = replace(world.scene.objects[1], object_id=4, attributes={"name": "0_0_3"})
    chair = SceneObject(3, "chair", (1.0, 1.0, 1.0), (0.3, 0.5, 0.3), attributes={"name": "0_0_2"})
    owners = np.where(world.scene.triangle_object == 2, 4, 0).astype(np.int32)
    scene = replace(world.scene, objects=(chair, chest), triangle_object=owners)
    cache.add(World.of(scene, world.navmesh))
    place = (5.5, 0.0, 6.9)
    bed = ObjectInstance("3", "bed", chest.center, (ViewPoint(place, 0.0),), "0_0_3")
    episode = replace(CHAIR, scene_id="furnished", start_position=place, goal=ObjectGoal("bed", (bed,)))
    batch = begin("objectnav-hm3d2022-v1", episode, cache=cache)
    act(batch, STOP)
    assert batch.task.goal_ids(batch.state, 0) == [frozenset({4})]
    assert compute_metrics(batch.task.metrics, batch.trajectory(0))["zone_success"] == 1


def test_aligned_boxes_are_larger():
    obj = SceneObject(1, "bed", (0.0, 0.5, 0.0), (1.0, 0.5, 0.5), np.pi / 4)
    assert aligned(obj).half_size == pytest.approx((1.5 / np.sqrt(2), 0.5, 1.5 / np.sqrt(2)))
    place = np.array([2.0, 0.0, 2.0])
    assert axis_distance(place, 0.88, aligned(obj)) < axis_distance(place, 0.88, obj)
    assert axis_distance(np.array([0.0, -2.0, 0.0]), 0.88, obj) == pytest.approx(1.12)


def test_without_labels_the_view_points_decide():
    place = (5.5, 7.1, 0.0)
    assert zone_scores("objectnav-hm3d2022-v1", *place, make_furnished(labelled=False)) == [1, 1, 1]


def test_an_episode_without_stop_is_outside_the_zone():
    batch = begin(sensors=())
    act(batch, FORWARD)
    scores = compute_metrics(batch.task.metrics, batch.trajectory(0))
    assert scores["zone_success"] == scores["zone_success_seen"] == 0


def test_the_expert_arrives():
    task = get_task("objectnav-hm3d2022-v1")
    agent = load_agent("expert", task, 0)
    batch = NavigationBatch(task, len(OBJECT_GOALS), sensors=(), worlds=make_cache())
    agent.attach(batch)
    batch.start(range(len(OBJECT_GOALS)), OBJECT_GOALS)
    agent.reset(
        [Start(k, one.episode_id, one.scene_id, Boundary.SCENE, 0) for k, one in enumerate(OBJECT_GOALS)]
    )
    while (active := batch.running).any():
        batch.step(agent.act(batch.observations, active), active)
    assert [success(batch.trajectory(k)) for k in range(len(OBJECT_GOALS))] == [1] * len(OBJECT_GOALS)


def test_goals_are_the_objects_that_fulfil_them():
    task = get_task("objectnav-habitat2020-v1")
    state = task.make_state(2)
    box = {"center": (0.0, 0.5, 0.0), "half_size": (0.5, 0.5, 0.5), "yaw": 0.0}
    state.goal_objects[0] = (SceneObject(7, "armchair", **box), SceneObject(9, "office_chair", **box))
    assert task.goal_ids(state, 0) == [frozenset({7, 9})], "any of them will do"
    assert task.goal_ids(state, 1) == [frozenset()], "none is known without labels"
