"""RoboTHOR's ObjectNav: cameras of unknown tilt, goals that count once they are seen, depth without edges."""

import math
from dataclasses import replace

import numpy as np
import pytest

from navarena.agents.agent import Boundary, Start
from navarena.agents.explorers.mapping_agent import forget_edges
from navarena.agents.explorers.sightings import DepthView, locate
from navarena.agents.explorers.tilt_estimation import TiltEstimator, half_view
from navarena.agents.explorers.visible_goals import VisibleFinder
from navarena.agents.loading import declare_agent, load_agent
from navarena.episodes.episode import Episode
from navarena.episodes.goals import ObjectGoal
from navarena.metrics import compute_metrics
from navarena.scenes.scene import SceneObject
from navarena.simulation.body import Camera
from navarena.simulation.body_catalog import LOCOBOT_ROBUSTNAV
from navarena.simulation.world import World, WorldCache
from navarena.tasks.batch import NavigationBatch
from navarena.tasks.catalog import get_task
from worlds import draw_navmesh, draw_scene

ROOMS = [
    "##########",
    "#...#....#",
    "#...#....#",
    "#........#",
    "####.#####",
    "#........#",
    "#.....#..#",
    "#........#",
    "##########",
]
"""The square at (6.5, 6.5) becomes the vase."""

UP, LEVEL, DOWN = math.radians(30), 0.0, math.radians(-30)


def furnished(height):
    """The rooms with a vase, a metre wide, of a height in metres."""
    scene = draw_scene(ROOMS, scene_id="rooms")
    corners = scene.vertices[scene.triangles].mean(1)
    is_vase = (np.abs(corners[:, [0, 2]] - 6.5) <= 0.51).all(1) & (scene.triangle_object == 2)
    vertices, owners = scene.vertices.copy(), np.where(is_vase, 3, scene.triangle_object)
    numbers = np.unique(scene.triangles[is_vase])
    vertices[numbers, 1] = np.minimum(vertices[numbers, 1], height)
    vase = SceneObject(3, "Vase", (6.5, height / 2, 6.5), (0.5, height / 2, 0.5))
    scene = replace(
        scene, vertices=vertices, triangle_object=owners.astype(np.int32), objects=(*scene.objects, vase)
    )
    return World.of(scene, draw_navmesh(ROOMS))


def run(name, protocol_id, height, tilt, watch=lambda agent, bodies: None, steps=1000):
    """The batch after an agent's episode, or its first steps, and its actions."""
    task, world = get_task(protocol_id), furnished(height)
    worlds = WorldCache(task.embodiment)
    worlds.add(world)
    agent = load_agent(name, task, 0)
    batch = NavigationBatch(task, 1, 1, agent.sensors, worlds)
    agent.attach(batch)
    one = Episode("one", "rooms", (2.0, 0.0, 2.0), 0.3, ObjectGoal("Vase", closest="3"), 6.0, start_tilt=tilt)
    batch.start([0], [one])
    agent.reset([Start(0, "one", "rooms", Boundary.SCENE, 0)])
    names, tilts = [], []
    watch(agent, batch.simulator.bodies)
    while batch.running[0] and len(names) < steps:
        actions = agent.act(batch.observations, np.ones(1, bool))
        names.append(task.actions[actions[0]])
        tilts.append((agent._tilt_estimator.knows(0), agent._tilt_estimator.tilt(0)))
        watch(agent, batch.simulator.bodies)
        batch.step(actions)
        if tilts[-1][0]:
            assert tilts[-1][1] == pytest.approx(batch.simulator.bodies.tilts[0]), "it knows its tilt"
    return batch, names


@pytest.mark.parametrize(
    ("protocol_id", "height", "tilt"),
    [
        ("robustnav-objectnav-v1", 1.0, DOWN),
        ("robustnav-objectnav-v1", 0.15, DOWN),
        ("objectnav-robothor2021-v1", 0.15, DOWN),
        ("objectnav-robothor2020-v1", 1.0, LEVEL),
    ],
)
def test_it_stops_where_it_sees_the_goal(protocol_id, height, tilt):
    batch, names = run("frontier", protocol_id, height, tilt)
    scores = compute_metrics(("success", "spl"), batch.trajectory(0))
    assert scores["success"] == 1 and names[-1] == "stop"
    looks = ["look_up", "look_up", "look_down"]
    assert names[:3] == looks, "up as far as it goes, whatever the start, then level"
    if height < 0.2:
        assert "look_down" in names[3:], "a metre ahead the level image begins 0.26 m above the floor"


def test_with_predicted_depth_the_camera_stays_level_and_nothing_else_is_mapped():
    mapped = []

    def watch(agent, bodies):
        if agent._maps is None:
            agent.doubt_depth()
        else:
            mapped.append((bool(agent.maps.scores.any()), bodies.tilts[0] == 0.0))

    _, names = run("frontier", "robustnav-objectnav-v1", 0.15, DOWN, watch, 60)
    assert names[:3] == ["look_up", "look_up", "look_down"] and len(names) == 60
    assert not {"look_up", "look_down"}.intersection(names[3:]), "not even to a vase on the floor"
    assert mapped[:4] == [(False, False), (False, True), (False, False), (True, True)]


@pytest.mark.parametrize("tilt", [UP, LEVEL, DOWN])
def test_a_tilt_estimator_learns_its_tilt_at_the_upper_end(tilt):
    low, high = LOCOBOT_ROBUSTNAV.tilt_range
    estimator, steps = TiltEstimator(LOCOBOT_ROBUSTNAV), {"look_up": UP, "look_down": DOWN}
    estimator.begin(0)
    for _ in range(2):
        assert not estimator.knows(0) and estimator.tilt_towards(0, DOWN) == "look_up"
        estimator.note(0, "look_up")
        tilt = min(max(tilt + UP, low), high)
    assert estimator.knows(0) and estimator.tilt(0) == pytest.approx(tilt) == pytest.approx(UP)
    for elevation, reached in ((-1.5, DOWN), (DOWN + 0.3, DOWN), (0.0, LEVEL), (0.3, LEVEL), (1.0, UP)):
        while (look := estimator.tilt_towards(0, elevation)) is not None:
            estimator.note(0, look)
            tilt = min(max(tilt + steps[look], low), high)
        assert estimator.tilt(0) == pytest.approx(tilt) == pytest.approx(reached, abs=1e-9)
    estimator.note(0, "turn_left")
    assert estimator.tilt(0) == pytest.approx(UP)
    estimator.note(0, "look_down")
    for action, reached in (("look_up", UP), ("turn_left", UP), ("look_down", LEVEL)):
        estimator.overrule(0, action)
        assert estimator.tilt(0) == pytest.approx(reached), "one action was executed, the last that is told"


def test_looks_of_others_do_not_make_a_tilt_known():
    estimator = TiltEstimator(LOCOBOT_ROBUSTNAV)
    estimator.begin(0)
    for other in ("move_forward", "look_down"):
        estimator.note(0, "look_up")
        estimator.overrule(0, other)
    known = []
    for _ in range(2):
        estimator.note(0, "look_up")
        known.append(estimator.knows(0))
    assert known == [False, True], "both looks up are still to be made"


def test_a_body_that_others_lead_knows_its_tilt():
    task, world = get_task("robustnav-objectnav-v1"), furnished(1.0)
    worlds = WorldCache(task.embodiment)
    worlds.add(world)
    agent = load_agent("frontier", task, 0)
    batch = NavigationBatch(task, 1, 1, agent.sensors, worlds)
    agent.attach(batch)
    goal = ObjectGoal("Vase", closest="3")
    batch.start([0], [Episode("one", "rooms", (2.0, 0.0, 2.0), 0.3, goal, 6.0, start_tilt=DOWN)])
    agent.reset([Start(0, "one", "rooms", Boundary.SCENE, 0)])
    others = ("look_down", "turn_left", "look_up", "look_up", "look_down", "look_down", "move_forward")
    for name in others:
        agent.act(batch.observations, np.ones(1, bool))
        actions = np.array([task.actions.index(name)])
        agent.overrule(actions)
        batch.step(actions)
    assert agent._tilt_estimator.knows(0)
    assert agent._tilt_estimator.tilt(0) == pytest.approx(batch.simulator.bodies.tilts[0]) == DOWN


def test_half_of_the_view():
    """Of RobustNav's camera: 63.45 degrees vertically (spec 2.6)."""
    assert math.degrees(2 * half_view(LOCOBOT_ROBUSTNAV)) == pytest.approx(63.453, abs=0.001)


def wall_and_floor(rows=224, columns=224):
    """Depth (1, R, C) of a level camera 0.88 m above a floor, a wall 4 m away, a box at 2 m to the left."""
    down = (np.arange(rows) + 0.5 - rows / 2) / (rows / 2) * math.tan(half_view(LOCOBOT_ROBUSTNAV))
    floor = np.where(down > 0, 0.88 / np.maximum(down, 1e-6), np.inf)
    depths = np.repeat(np.minimum(floor, 4.0)[:, None], columns, 1)
    depths[:, : columns // 3] = np.minimum(depths[:, : columns // 3], 2.0)
    return depths[None].astype(np.float32)


def test_edges_of_resized_depth_are_left_out_and_planes_are_not():
    depths = wall_and_floor()
    edge = 224 // 3
    depths[0, :100, edge - 1 : edge + 1] = 2.7, 3.4  # what a filter puts between 2 m and 4 m
    known = ~np.isnan(forget_edges(depths))[0]
    assert not known[1:99, edge - 1 : edge + 1].any()
    assert known[1:99, : edge - 4].all() and known[1:99, edge + 4 :].all(), "walls"
    assert known[:, edge + 4 :].all(), "the floor as far as the wall, and the crease between them"
    np.testing.assert_array_equal(forget_edges(depths)[0][known], depths[0][known])


def test_unmeasured_pixels_of_a_thing_are_not_looked_at():
    camera = Camera(width_px=4, height_px=4, hfov=math.pi / 2)
    depth, mask = np.full((4, 4), np.nan, np.float32), np.ones((4, 4), bool)
    view = DepthView(depth, 1.0, 0.0, (0.0, 10.0), camera, np.eye(4))
    assert len(locate(mask, view).points) == 0 and locate(mask, view).beyond is None
    depth[1, 1] = 3.0
    assert locate(mask, view).points[:, 2].tolist() == [-3.0]


def test_near_pixels_are_counted_as_the_protocol_measures():
    """Horizontally from the body's axis, and up to 1 m above its centre (1.9 m above the floor)."""
    finder = VisibleFinder(get_task("robustnav-objectnav-v1"))
    camera, pose = Camera(width_px=3, height_px=3, hfov=math.pi / 2), np.eye(4)
    pose[:3, 3] = 2.0, 0.88, 1.0
    for metres, count in ((0.97, 0), (0.9, 3), (0.75, 9)):
        # outer columns: 2/3 of the depth to the side, so 1.2 times as far away
        view = DepthView(np.full((3, 3), metres, np.float32), 1.0, 0.0, (0.0, 10.0), camera, pose)
        assert finder._count_near(np.ones((3, 3), bool), view) == count
    pose[1, 3] = 1.5  # the upper row, 0.5 m higher at 0.75 m, is above 1.86 m
    view = DepthView(np.full((3, 3), 0.75, np.float32), 1.0, 0.0, (0.0, 10.0), camera, pose)
    assert finder._count_near(np.ones((3, 3), bool), view) == 9 - 3


@pytest.mark.parametrize(
    ("protocol", "agent", "is_told"),
    [
        ("robustnav-objectnav-v1", "frontier", False),
        ("objectnav-robothor2021-v1", "explore-only", False),
        ("objectnav-habitat2020-v1", "explore-only", True),
        ("robustnav-pointnav-v1", "explore-only", True),
        ("pointnav-habitat2020-v1", "frontier-odometry", True),
    ],
)
def test_poses_that_no_observation_tells_are_a_privilege(protocol, agent, is_told):
    task = get_task(protocol)
    for declared in (declare_agent(agent, task), load_agent(agent, task)):
        assert ("pose" not in declared.privileged_inputs) == is_told
        assert declared.privileged or is_told
