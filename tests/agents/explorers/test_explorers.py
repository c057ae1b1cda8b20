"""Explorers in drawn worlds, where the right moves are known, and cylinders in painted images."""

import math
from dataclasses import replace

import numpy as np
import pytest

from navarena.agents.agent import Boundary, Start
from navarena.agents.explorers.cylinders import find_cylinders, match_colors
from navarena.agents.explorers.explorer import Aim, Explorer, ExplorerSettings
from navarena.agents.explorers.frontier import trace_coverage
from navarena.agents.explorers.goal_finders import values_of_goal
from navarena.agents.explorers.mapping_agent import stretch
from navarena.agents.explorers.sightings import DepthView, locate
from navarena.agents.loading import declare_agent, load_agent
from navarena.core.errors import InputError
from navarena.core.geometry import forward_from_yaw
from navarena.core.seeding import make_generator
from navarena.episodes.episode import Episode
from navarena.episodes.goals import MultiGoal, ObjectInstance, PointGoal
from navarena.mapping import MapGrid, SteeringSettings, TerrainSettings
from navarena.scenes.scene import SceneObject
from navarena.simulation.body import Camera
from navarena.simulation.world import WorldCache
from navarena.tasks.catalog import get_task
from navarena.tasks.protocols.goal_objects import CYLINDER_COLORS
from worlds import draw_world

from .episodes import begin

ROOMS = [
    "############",
    "#....#.....#",
    "#....#.....#",
    "#..........#",
    "#....#.....#",
    "##.#########",
    "#..........#",
    "#..........#",
    "############",
]
WORLD = draw_world(ROOMS, scene_id="rooms")
START, GOALS = (2.5, 0.0, 2.2), [(9.1, 0.0, 2.1), (9.4, 0.0, 7.2)]


def run(name, protocol_id, goal, steps=400, world=WORLD, start=START):
    """The batch after an agent's episode, from the upper left corner of the drawn rooms or elsewhere."""
    batch, agent = begin(name, protocol_id, goal, world, start)
    for _ in range(steps):
        if not batch.running[0]:
            break
        batch.step(agent.act(batch.observations, np.ones(1, bool)))
    return batch, agent


def test_point_goals_are_reached_around_walls():
    batch, _ = run("frontier", "pointnav-v1", PointGoal(GOALS[1]))
    assert batch.state.stopped[0] and batch.state.distance[0] < 0.2
    track = batch.trajectory(0)
    walked = np.linalg.norm(np.diff(track.positions, axis=0), axis=1).sum()
    assert walked < 2 * track.start_distance, "it does not know the map before"


@pytest.mark.parametrize("name", ["frontier", "frontier-rgb"])
def test_goal_objects_are_found_in_order(name):
    kinds = ("cylinder_red", "cylinder_cyan")
    goal = MultiGoal(
        tuple(ObjectInstance(kind, kind, place) for kind, place in zip(kinds, GOALS, strict=True))
    )
    batch, _ = run(name, "multion-2on-v1", goal)
    assert batch.state.stopped[0] and len(batch.state.found_after[0]) == 2


def test_explore_only_sees_the_rooms_that_can_be_reached_and_never_declares():
    task = get_task("pointnav-v1")
    worlds = WorldCache(task.embodiment)
    worlds.add(WORLD)
    episodes = [Episode("one", "rooms", START, yaw, PointGoal(GOALS[1]), None) for yaw in (0.0, 1.0)]
    curves = trace_coverage(load_agent("explore-only", task, 0), episodes, 150, worlds)
    assert curves.shape == (2, 151) and (np.diff(curves) >= 0).all()
    assert (curves[:, 0] < 0.3).all() and (curves[:, -1] > 0.95).all()
    with pytest.raises(InputError, match="at least one episode"):
        trace_coverage(load_agent("explore-only", task, 0), [], 10)
    with pytest.raises(InputError, match="has acted"):
        _ = load_agent("explore-only", task, 0).maps


def test_all_words_of_a_scene_for_a_goal_are_known():
    """An armchair and an office chair are chairs in ObjectNav; a stool is none."""
    words = ("armchair", "stool", "office_chair", "armchair")
    box = {"center": (0.0, 0.5, 0.0), "half_size": (0.5, 0.5, 0.5), "yaw": 0.0}
    objects = tuple(SceneObject(k, word, **box) for k, word in enumerate(words))
    scene = replace(WORLD.scene, objects=objects)  # its images: 1 armchair, 2 office_chair, 3 stool
    assert values_of_goal(scene, "chair", ("table", "chair", "stool")) == (1, 2)
    assert values_of_goal(scene, "table", ("table", "chair", "stool")) == ()


def test_agents_declare_what_they_look_at():
    assert declare_agent("frontier").privileged_inputs[0] == "semantic images"
    assert not declare_agent("frontier-rgb").privileged and not declare_agent("explore-only").privileged
    with pytest.raises(InputError, match="MultiON with cylinders"):
        load_agent("frontier-rgb", get_task("multion-shapes-1on-v1"), 0)


CAMERA = Camera(width_px=100, height_px=100, hfov=math.pi / 2)
POSE = np.eye(4)
POSE[1, 3] = 0.88


def paint(color, rows, columns, metres=2.0):
    """A rectangle of a colour, `metres` away, before a grey wall at 4 m; a pixel is 2 cm at 1 m."""
    rgb, depth = np.full((100, 100, 3), 99, np.uint8), np.full((100, 100), 4.0)
    rgb[rows, columns], depth[rows, columns] = color, metres
    return rgb, depth


def view_of(metres):
    """A view of depth images as habitat normalises them."""
    return DepthView((metres - 0.5) / 4.5, 4.5, 0.5, (0.5, 5.0), CAMERA, POSE)


def seen(rgb, depth):
    return set(find_cylinders(rgb, view_of(depth)))


# at 2 m a pixel is 4 cm: 0.75 m are 19 rows, 0.2 m are 5 columns; the floor is 22 rows under the middle
FITTING = (slice(53, 72), slice(40, 45))


@pytest.mark.parametrize("kind", range(8))
def test_cylinders_are_known_by_their_colours(kind):
    assert seen(*paint(CYLINDER_COLORS[kind], *FITTING)) == {kind}


@pytest.mark.parametrize(
    ("rows", "columns"),
    [
        (slice(53, 72), slice(40, 60)),  # too wide
        (slice(53, 72), slice(40, 41)),  # too narrow
        (slice(33, 72), slice(40, 45)),  # too high
        (slice(33, 52), slice(40, 45)),  # on the wall
    ],
)
def test_other_things_of_the_colour_are_none(rows, columns):
    assert seen(*paint(CYLINDER_COLORS[0], rows, columns)) == set()


def test_pixels_have_the_colours_that_are_near_in_every_channel():
    image = np.array(CYLINDER_COLORS, np.int64)[:, None] + np.arange(-5, 6)[None, :, None] * [1, 0, -1]
    rgb = np.clip(image, 0, 255).astype(np.uint8)
    bits = match_colors(rgb, 3)
    for i, j in np.ndindex(bits.shape):
        near = [
            max(abs(int(a) - b) for a, b in zip(rgb[i, j], color, strict=True)) <= 3
            for color in CYLINDER_COLORS
        ]
        assert [bool(bits[i, j] >> k & 1) for k in range(8)] == near


def test_colours_near_by_and_depths_unknown_are_none():
    assert seen(*paint((235, 0, 6), *FITTING)) == set()
    assert seen(*paint(CYLINDER_COLORS[0], *FITTING, metres=5.0)) == set()


def test_things_are_located_or_known_to_lie_beyond():
    mask = np.zeros((100, 100), bool)
    mask[49:51, 49:51] = True
    near = locate(mask, view_of(np.full((100, 100), 2.0)))
    assert np.allclose(near.points.mean(0), [0, 0.88, -2]) and near.beyond is None
    far = locate(mask, view_of(np.full((100, 100), 5.0)))
    assert not len(far.points) and far.beyond is not None and abs(far.beyond[2] + 5) < 1e-9
    nothing = locate(np.zeros_like(mask), view_of(np.full((100, 100), 2.0)))
    assert not len(nothing.points) and nothing.beyond is None


def explorer():
    settings = ExplorerSettings(TerrainSettings(0.15), SteeringSettings(), first_turns=0)
    return Explorer(settings, make_generator("test"))


OPEN = np.full((120, 120), -5, np.int8)
GRID = MapGrid.centered(120, 120, 0.05)


def test_a_step_that_fails_is_not_tried_again():
    """An invisible wall 0.5 m ahead, as wide as the body: the explorer goes around it."""
    body, place, yaw = explorer(), np.zeros(3), 0.0
    aim = Aim(np.array([[0.0, 0.3, -2.0]]), np.zeros(1), 0.3, 0.0)
    for _ in range(60):
        move = body.act(OPEN, GRID, place, yaw, aim)
        if move == "arrived":
            return
        following = place + 0.25 * forward_from_yaw(yaw) * (move == "forward")
        is_blocked = abs(following[0]) < 0.25 and -0.8 < following[2] < -0.4
        place = place if is_blocked else following
        yaw += math.radians(30) * ((move == "left") - (move == "right"))
    raise AssertionError("never arrived")


def test_an_aim_behind_furniture_is_made_do_with():
    """It hangs 0.5 m behind the front of a cupboard, not in plain view; `spare` of that depth allows it."""
    scores = OPEN.copy()
    scores[:20] = 5  # from 2 m ahead
    plain = Aim(np.array([[0.0, 1.2, -2.5]]), np.zeros(1), 0.8, 0.1)

    def arrives(aim):
        place, yaw, body = np.zeros(3), 0.0, explorer()
        for _ in range(20):
            move = body.act(scores, GRID, place, yaw, aim)
            if move == "arrived":
                return math.hypot(place[0], place[2] + 2.5) < 1.0
            place = place + 0.25 * forward_from_yaw(yaw) * (move == "forward")
            yaw += math.radians(30) * ((move == "left") - (move == "right"))
        return False

    assert not arrives(plain)
    assert arrives(replace(plain, fallbacks=((0.8, 0.3), (0.8, 0.6))))


def test_goal_objects_are_no_obstacles():
    """The only way leads through a goal object: bodies pass through them, so it is left out of the map."""
    world = draw_world(["#####", "#...#", "##.##", "#...#", "#####"], scene_id="gate")
    kinds, places = ("cylinder_red", "cylinder_cyan"), [(2.5, 0.0, 2.5), (3.4, 0.0, 3.4)]
    goal = MultiGoal(
        tuple(ObjectInstance(kind, kind, place) for kind, place in zip(kinds, places, strict=True))
    )
    batch, agent = run("frontier", "multion-2on-v1", goal, 60, world, (2.5, 0.0, 1.2))
    cell = agent._maps.grid(0).cells_of(np.array(places[0]) - np.array([2.5, 0.0, 1.2]))
    assert agent._maps.states(0)[cell[0] - 4 : cell[0] + 5, cell[1] - 2 : cell[1] + 3].max() == 1
    assert len(batch.state.found_after[0]) == 2


def test_a_body_that_cannot_leave_its_place_breaks_free():
    scores = OPEN.copy()
    scores[50:70, 50:70] = 5
    body = explorer()
    moves = [body.act(scores, GRID, np.zeros(3), 0.0, None) for _ in range(30)]
    assert "forward" in moves


def test_without_frontiers_it_wanders():
    body = explorer()
    scores = np.full((120, 120), 5, np.int8)
    scores[20:100, 20:100] = -5
    assert body.act(scores, GRID, np.zeros(3), 0.0, None) in ("forward", "left", "right")
    assert body.is_done


def test_without_frontiers_for_long_it_begins_anew():
    body = explorer()
    scores = np.full((120, 120), 5, np.int8)
    scores[50:70, 50:70] = -5
    for _ in range(body.settings.resignation + 1):
        assert not body.gives_up
        body.act(scores, GRID, np.zeros(3), 0.0, None)
    assert body.gives_up
    body.begin_anew()
    moves = [body.act(np.zeros_like(scores), GRID, np.zeros(3), 0.0, None) for _ in range(12)]
    assert moves == ["left"] * 12 and not body.gives_up


def test_resized_images_are_stretched_to_the_camera():
    small = np.arange(4, dtype=np.float32).reshape(1, 2, 2)
    assert stretch(small, 2, 4)[0].tolist() == [[0, 0, 1, 1], [2, 2, 3, 3]]
    assert stretch(small, 2, 2) is small


def test_it_walks_by_the_resized_images_of_robustnav():
    batch, agent = run("frontier", "robustnav-pointnav-v1", PointGoal(GOALS[0]), 300)
    assert batch.observations["depth"].shape == (1, 224, 224, 1) and agent.depth_range == (0.0, 10.0)
    distances = batch.trajectory(0).distance_to_goal
    assert distances[-1] < distances[0] / 4, "past the wall, by noisy steps"


@pytest.mark.parametrize("name", ["frontier", "explore-only", "frontier-odometry"])
def test_mapping_agents_need_discrete_actions(name):
    with pytest.raises(InputError, match="expected a protocol of discrete actions for the agent '"):
        load_agent(name, get_task("objectnav-stretch2023-v1"), 0)


def test_a_map_begins_anew_with_every_episode_even_where_memory_lasts():
    """It lies in the frame of the start, and the body of the next episode starts elsewhere."""
    goal = MultiGoal((ObjectInstance("cylinder_red", "cylinder_red", GOALS[0]),))
    batch, agent = run("frontier", "multion-1on-v1", goal, steps=30)
    fresh = load_agent("frontier", batch.task, 0)
    fresh.attach(batch)
    batch.start([0], [Episode("two", "rooms", (9.5, 0.0, 7.0), 1.0, goal, None)])
    agent.reset([Start(0, "two", "rooms", Boundary.SUBTASK, 0)])
    fresh.reset([Start(0, "two", "rooms", Boundary.SCENE, 0)])
    for _ in range(20):
        action = agent.act(batch.observations, np.ones(1, bool))
        assert action.tolist() == fresh.act(batch.observations, np.ones(1, bool)).tolist()
        assert np.array_equal(agent.maps.scores, fresh.maps.scores)
        batch.step(action)
