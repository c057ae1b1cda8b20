"""RoboTHOR's rules: success by what is visible within a metre, one object or any, options, the expert."""

import math
from dataclasses import replace

import numpy as np
import pytest

from navarena.agents.agent import Boundary, Start
from navarena.agents.loading import load_agent
from navarena.core.errors import InputError
from navarena.episodes.episode import Episode, ObjectGoal
from navarena.episodes.view_points import find_view_points
from navarena.metrics import compute_metrics
from navarena.scenes.scene import SceneObject
from navarena.simulation.instance_images import Nearness, render_instances
from navarena.simulation.world import World, WorldCache
from navarena.tasks.batch import NavigationBatch
from navarena.tasks.catalog import get_task
from navarena.tasks.teacher import make_teacher
from worlds import HALL, draw_navmesh, draw_scene

ONE, ANY = "objectnav-robothor2020-v1", "objectnav-robothor2021-v1"
FORWARD, RIGHT, LEFT, UP, DOWN, STOP = range(6)


def furnished():
    """The hall with two boxes of 1 m by 1 m, 2 m high, called vases: 2 at (5.5, 5.5), 3 at (1.5, 5.5)."""
    rows = list(HALL)
    rows[5] = ".#...#...."
    scene = draw_scene(rows, scene_id="furnished")
    owners = scene.triangle_object.copy()
    corners = scene.vertices[scene.triangles].mean(1)
    owners[(owners == 2) & (corners[:, 0] < 3)] = 3
    boxes = tuple(SceneObject(k, "Vase", (x, 1.0, 5.5), (0.5, 1.0, 0.5)) for k, x in ((2, 5.5), (3, 1.5)))
    scene = replace(scene, triangle_object=owners, objects=(scene.objects[0], *boxes))
    return World.of(scene, draw_navmesh(rows))


WORLD = furnished()


def episode(x=5.5, z=9.0, yaw=0.0, tilt=0.0, closest="2"):
    goal = ObjectGoal("Vase", closest=closest)
    return Episode("one", "furnished", (x, 0.0, z), yaw, goal, 2.0, start_tilt=tilt)


def begin(protocol_id=ANY, one=None, agent=None):
    task = get_task(protocol_id)
    cache = WorldCache(task.embodiment)
    cache.add(WORLD)
    batch = NavigationBatch(task, 1, sensors=("objectgoal",), worlds=cache)
    batch.start([0], [one or episode()])
    return batch


def act(batch, *names):
    results = [batch.step(np.array([batch.task.actions.index(name)])) for name in names]
    return results[-1]


def scores(batch):
    return compute_metrics(batch.task.metrics, batch.trajectory(0))


def test_the_protocols():
    one, any_of = get_task(ONE), get_task(ANY)
    assert one.actions == (
        "move_forward", "move_backward", "turn_right", "turn_left", "look_up", "look_down", "stop",
    )  # fmt: skip
    assert any_of.actions == ("move_forward", "turn_right", "turn_left", "look_up", "look_down", "stop")
    assert one.max_steps == any_of.max_steps == 500
    camera = one.embodiment.cameras[0]
    assert 2 * math.atan(math.tan(camera.hfov / 2) * 480 / 640) == pytest.approx(math.radians(60))
    assert math.degrees(any_of.embodiment.cameras[0].hfov) == pytest.approx(79)
    assert one.categories[6] == "HousePlant" and len(one.categories) == 12


def test_options():
    short = get_task(f"{ONE}+max_steps=100+actions=paper+view=paper")
    assert short.max_steps == 100 and "move_backward" not in short.actions
    assert math.degrees(short.embodiment.cameras[0].hfov) == pytest.approx(79)
    assert "custom" in short.protocol_id
    assert begin(f"{ANY}+start_distance=measured").trajectory(0).start_distance == pytest.approx(2.1, abs=0.1)
    assert begin(ANY).trajectory(0).start_distance == 2.0
    with pytest.raises(InputError, match="visible_within above 0.1"):
        get_task(f"{ANY}+visible_within=0.1")


@pytest.mark.parametrize(
    ("z", "yaw", "tilt", "seen"),
    [
        (7.05, 0.0, 0.0, 0.0),  # the face of the box is 1.05 m ahead
        (6.95, 0.0, 0.0, 1.0),  # 0.95 m
        (6.95, math.pi, 0.0, 0.0),  # looking away
        (6.95, math.radians(60), 0.0, 0.0),  # the box's nearest pixels are then beyond the metre
        (6.95, 0.0, -math.radians(30), 1.0),
    ],
)
def test_success_is_what_is_seen_within_a_metre(z, yaw, tilt, seen):
    batch = begin(one=episode(z=z, yaw=yaw, tilt=tilt))
    result = act(batch, "stop")
    assert scores(batch)["success"] == seen and result.terminated[0]
    assert result.reward[0] == pytest.approx(-0.01 + 10 * seen)


def test_visible_within_is_an_option():
    batch = begin(f"{ANY}+visible_within=1.2", episode(z=7.05))
    act(batch, "stop")
    assert scores(batch)["success"] == 1


def test_one_object_or_any_of_its_type():
    beside_the_other = episode(x=1.5, z=6.9)
    for protocol_id, seen in ((ONE, 0), (ANY, 1)):
        batch = begin(protocol_id, beside_the_other)
        act(batch, "stop")
        assert scores(batch)["success"] == seen
    assert begin(ONE, beside_the_other).state.distance[0] > begin(ANY, beside_the_other).state.distance[0] + 2


def test_moving_back():
    batch = begin(ONE)
    act(batch, "move_backward")
    assert batch.simulator.positions[0].tolist() == pytest.approx([5.5, 0.0, 9.25], abs=0.03)  # noise
    assert abs(batch.simulator.yaws[0]) < 0.03


def test_the_camera_starts_tilted_and_stays_within_its_range():
    batch = begin(one=episode(tilt=-math.radians(30)))
    assert batch.simulator.tilts[0] == pytest.approx(-math.radians(30))
    act(batch, "look_down")
    assert batch.simulator.tilts[0] == pytest.approx(-math.radians(30))
    steep = begin(one=episode(tilt=-1.0))
    assert steep.simulator.tilts[0] == pytest.approx(-math.radians(30))


def test_near_pixels_against_every_point_by_itself():
    """The pixels that stay are those whose surface point, unprojected one by one, is near."""
    camera = replace(get_task(ANY).embodiment.cameras[0], width_px=40, height_px=30)
    place, yaw, tilt = np.array([[4.9, 0.0, 7.1]]), np.array([0.3]), np.array([-0.4])
    ((_, _, everything),) = [
        (a, b, c.copy()) for a, b, c in render_instances(WORLD, camera, place, yaw, tilt)
    ]
    ((_, _, near),) = list(render_instances(WORLD, camera, place, yaw, tilt, Nearness(1.3, 1.1)))
    f = 20 / math.tan(camera.hfov / 2)
    checked = 0
    for row in range(30):
        for column in range(40):
            if everything[0, row, column] != 2:
                continue
            right, up, ahead = (column + 0.5 - 20) / f, (15 - row - 0.5) / f, 1.0
            up, ahead = (
                up * math.cos(tilt[0]) + ahead * math.sin(tilt[0]),
                ahead * math.cos(tilt[0]) - up * math.sin(tilt[0]),
            )
            east = right * math.cos(yaw[0]) - ahead * math.sin(yaw[0])
            south = -right * math.sin(yaw[0]) - ahead * math.cos(yaw[0])
            # the ray meets the front of the box (z = 6), else its left side (x = 5)
            reach = (6.0 - 7.1) / south
            if not 5.0 <= 4.9 + reach * east <= 6.0:
                reach = (5.0 - 4.9) / east
            distance, height = reach * math.hypot(east, south), 0.88 + reach * up
            if min(abs(distance - 1.3), abs(height - 1.1)) > 0.02:
                assert (near[0, row, column] == 2) == (distance <= 1.3 and height <= 1.1)
                checked += 1
    assert checked > 100 and (near == 2).any() and ((everything == 2) & (near != 2)).any()


def test_the_expert_turns_to_the_object():
    for protocol_id in (ONE, ANY):
        for yaw, x in ((0.0, 5.5), (2.0, 9.0), (-1.0, 3.4)):
            batch = begin(protocol_id, episode(x=x, yaw=yaw, tilt=math.radians(30)))
            agent = load_agent("expert", batch.task, 0)
            agent.attach(batch)
            agent.reset([Start(0, "one", "furnished", Boundary.SCENE, 0)])
            while batch.running[0]:
                batch.step(agent.act(batch.observations, batch.running))
            assert scores(batch)["success"] == 1, (protocol_id, yaw, x)


def test_the_teacher_turns_to_the_object():
    """From afar, and from a place of the goal with the object behind the body."""
    for protocol_id in (ONE, ANY):
        for yaw, x, z in ((0.0, 5.5, 9.0), (-1.0, 3.4, 9.0), (math.pi, 5.5, 6.8)):
            batch = begin(protocol_id, episode(x=x, z=z, yaw=yaw, tilt=math.radians(30)))
            teacher = make_teacher(batch)
            while batch.running[0]:
                batch.step(teacher.label())
            assert scores(batch)["success"] == 1, (protocol_id, yaw, x)


def test_places_see_the_object():
    task = get_task(ANY)
    views = find_view_points(WORLD, task.view_points)
    assert views.categories == ("Vase", "Vase")
    edge = np.maximum(np.abs(views.positions[:, ::2] - [[5.5, 5.5]]) - 0.5, 0)
    own = views.rows_of_objects([2])
    assert (np.linalg.norm(edge[own], axis=1) <= 0.9 + 1e-6).all()
