import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from navarena.core.errors import ActionError, InputError, UnknownNameError
from navarena.episodes.point_nav import POINTNAV_V1
from navarena.metrics.navigation import success
from navarena.simulation.sensors.catalog import SENSORS
from navarena.simulation.sensors.sensor import BodySensor, ObservationSpec
from navarena.tasks.batch import NavigationBatch
from navarena.tasks.catalog import get_task
from navarena.tasks.protocols.point_nav import PointNav
from navarena.tasks.sensors.catalog import GOAL_SENSORS
from navarena.tasks.sensors.goal_sensor import GoalSensor
from navarena.tasks.sensors.point_goal import polar_goals
from tasks.small import AHEAD, CUT_OFF, LEFT, ROUND, SmallPointNav, make_cache, make_episode

STOP, FORWARD, TURN_LEFT, TURN_RIGHT = range(4)


def begin(*episodes, sensors=("pointgoal_with_gps_compass",)):
    batch = NavigationBatch(SmallPointNav(), len(episodes), sensors=sensors, worlds=make_cache())
    batch.start(range(len(episodes)), episodes)
    return batch


def act(batch, *actions):
    return [batch.step(np.full(batch.slots, action)) for action in actions][-1]


def test_the_protocol():
    task = get_task("pointnav-v1")
    assert isinstance(task, PointNav)
    assert (task.max_steps, task.success_distance) == (500, 0.2)
    assert task.embodiment.name == "locobot"
    assert task.actions == ("stop", "move_forward", "turn_left", "turn_right")


def test_recipe_and_protocol_agree():
    task = get_task("pointnav-v1")
    recipe = POINTNAV_V1
    assert (recipe.protocol_id, recipe.embodiment, recipe.max_steps, recipe.success_distance) == (
        task.protocol_id,
        task.embodiment,
        task.max_steps,
        task.success_distance,
    )


@pytest.mark.parametrize(
    ("yaw", "goal", "distance", "angle"),
    [
        (0.0, (0, 0, -2), 2.0, 0.0),
        (0.0, (-3, 0, 0), 3.0, math.pi / 2),
        (0.0, (3, 0, 0), 3.0, -math.pi / 2),
        (math.pi / 2, (-3, 0, 0), 3.0, 0.0),
        (math.pi / 2, (0, 0, -3), 3.0, -math.pi / 2),
        (-math.pi / 4, (1, 0, -1), math.sqrt(2), 0.0),
        (0.0, (0, 0, 5), 5.0, math.pi),
        (0.7, (0, 9, 0), 0.0, 0.0),  # overhead: no distance in plan, no bearing
    ],
)
def test_pointgoal(yaw, goal, distance, angle):
    out = np.zeros((1, 2))
    position = np.array([[1.0, 0.0, 2.0]])
    polar_goals(position, np.array([yaw]), position + np.array(goal, float), out)
    assert out[0, 0] == pytest.approx(distance)
    assert math.cos(out[0, 1] - angle) == pytest.approx(1)


def test_pointgoal_in_an_episode():
    batch = begin(LEFT)
    assert batch.observations["pointgoal_with_gps_compass"][0] == pytest.approx([2, math.pi / 2])
    act(batch, TURN_LEFT, TURN_LEFT, TURN_LEFT, FORWARD)
    assert batch.observations["pointgoal_with_gps_compass"][0] == pytest.approx([1.75, 0], abs=1e-6)


def test_progress_in_an_episode():
    batch = begin(LEFT, CUT_OFF, sensors=("progress",))
    assert batch.observations["progress"][:, 0].tolist() == [0.0, 0.0]
    act(batch, TURN_LEFT, TURN_LEFT, TURN_LEFT, FORWARD)
    assert batch.observations["progress"][:, 0] == pytest.approx([0.25 / 2, 0.0], abs=1e-6)


def test_rewards_by_hand():
    """1 m to go: four steps of 0.25 m; the fourth stop is a success at distance 0."""
    batch = begin(AHEAD)
    assert act(batch, TURN_LEFT).reward[0] == pytest.approx(-0.01)
    assert act(batch, TURN_RIGHT).reward[0] == pytest.approx(-0.01)
    assert act(batch, FORWARD).reward[0] == pytest.approx(0.24)
    assert act(batch, FORWARD, FORWARD).reward[0] == pytest.approx(0.24)
    result = act(batch, FORWARD)
    assert not result.terminated[0]
    result = act(batch, STOP)
    assert result.reward[0] == pytest.approx(2.49)
    assert result.terminated[0] and not result.truncated[0]
    assert batch.trajectory(0).distance_to_goal[-1] == pytest.approx(0, abs=1e-9)


@pytest.mark.parametrize(("steps", "reward"), [(3, -0.01), (4, 2.49)])
def test_stop_counts_only_near_the_goal(steps, reward):
    """0.25 m away is too far, 0 m is near enough."""
    batch = begin(AHEAD)
    act(batch, *[FORWARD] * steps)
    result = act(batch, STOP)
    assert result.reward[0] == pytest.approx(reward) and result.terminated[0]


def test_the_last_action_truncates_unless_it_stops():
    batch = begin(AHEAD, AHEAD)
    act(batch, *[TURN_LEFT] * 59)
    result = batch.step(np.array([TURN_LEFT, STOP]))
    assert result.truncated.tolist() == [True, False]
    assert result.terminated.tolist() == [False, True]


def test_an_unreachable_goal_gives_no_progress_and_no_nan():
    batch = begin(CUT_OFF)
    assert batch.state.start_distance[0] == math.inf
    for action in (FORWARD, TURN_LEFT, FORWARD):
        assert act(batch, action).reward[0] == pytest.approx(-0.01)
    assert act(batch, STOP).reward[0] == pytest.approx(-0.01)
    assert batch.trajectory(0).start_distance == math.inf


def test_trajectory_records_every_step():
    batch = begin(AHEAD)
    actions = [FORWARD, TURN_LEFT, FORWARD, STOP]
    act(batch, *actions)
    track = batch.trajectory(0)
    assert track.actions.tolist() == actions
    assert track.positions.shape == (5, 3) and track.yaws.shape == (5,)
    assert track.positions[0].tolist() == [5, 0, 5] and track.positions[1].tolist() == [5, 0, 4.75]
    assert track.yaws.tolist() == pytest.approx([0, 0, math.pi / 6, math.pi / 6, math.pi / 6])
    assert track.distance_to_goal[:2] == pytest.approx([1, 0.75])
    assert track.collided.tolist() == [False] * 4
    assert (track.stopped, track.success_distance, track.start_distance) == (True, 0.2, pytest.approx(1))
    batch.start([0], [AHEAD])
    assert len(batch.trajectory(0).actions) == 0 and not batch.trajectory(0).stopped
    assert len(track.actions) == 4, "a trajectory is a copy"


def test_distance_of_every_step_is_the_geodesic_from_there():
    """Only bodies that moved are measured again; the record must not show it."""
    batch = begin(ROUND)
    generator = np.random.default_rng(5)
    for action in generator.integers(1, 4, 50):
        act(batch, action)
    track = batch.trajectory(0)
    navmesh = batch.simulator.slot_worlds.worlds[0].navmesh
    goals = np.repeat([ROUND.goal.position], len(track.positions), 0)
    assert track.distance_to_goal == pytest.approx(navmesh.geodesic_distance(track.positions, goals))


def test_a_step_at_the_wrong_time():
    batch = NavigationBatch(SmallPointNav(), 2, sensors=(), worlds=make_cache())
    with pytest.raises(ActionError, match=r"slot 0, got a step before reset"):
        act(batch, FORWARD)
    batch.start([0, 1], [AHEAD, LEFT])
    batch.step(np.array([STOP, FORWARD]))
    with pytest.raises(ActionError, match="slot 0, got a step after its end"):
        act(batch, FORWARD)
    result = batch.step(np.array([FORWARD, FORWARD]), np.array([False, True]))
    assert result.reward[0] == 0
    assert len(batch.trajectory(0).actions) == 1 and len(batch.trajectory(1).actions) == 2
    assert batch.running.tolist() == [False, True]


def test_a_bad_start_leaves_the_slot_ended():
    batch = begin(AHEAD)
    with pytest.raises(InputError, match="on the floor"):
        batch.start([0], [make_episode("off", (5.0, 0.0, 99.0), (5.0, 0.0, 4.0))])
    with pytest.raises(ActionError, match="after its end"):
        act(batch, FORWARD)


def test_only_what_is_asked_for_is_observed():
    assert set(begin(AHEAD, sensors=()).observations) == set()
    seen = begin(AHEAD, sensors=("gps", "compass", "pointgoal_with_gps_compass", "gps")).observations
    assert list(seen) == ["gps", "compass", "pointgoal_with_gps_compass"]
    assert set(begin(AHEAD, sensors=None).observations) == set(PointNav.sensors)
    for wrong, right in (("compas", "compass"), ("pointgoal_with_gps", "pointgoal_with_gps_compass")):
        with pytest.raises(UnknownNameError, match=f"Did you mean '{right}'"):
            begin(AHEAD, sensors=(wrong,))


def test_depth_is_that_of_the_protocol():
    """The far wall of the hall is missing: nothing is hit straight ahead, so depth is 0."""
    batch = begin(
        make_episode("wall", (5.0, 0.0, 0.25), (5.0, 0.0, 1.0), math.pi, "rooms"), sensors=("depth",)
    )
    depth = batch.observations["depth"]
    assert depth.shape == (1, 24, 32, 1) and depth.dtype == np.float32
    assert depth[0, 12, 16, 0] == pytest.approx((1.75 - 0.5) / 4.5, abs=1e-3)


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 2**32))
def test_rewards_add_up_to_the_way_that_was_gained(seed):
    """Sum = start distance - last distance - 0.01 a step + 2.5 for success; nothing is ever NaN."""
    generator = np.random.default_rng(seed)
    cache = make_cache()
    navmesh = cache.get("rooms").navmesh
    starts, goals = navmesh.random_point(generator, 4), navmesh.random_point(generator, 4)
    episodes = [
        make_episode(
            f"{k}", tuple(starts[k].tolist()), tuple(goals[k].tolist()), generator.uniform(-3, 3), "rooms"
        )
        for k in range(4)
    ]
    batch = NavigationBatch(SmallPointNav(), 4, sensors=(), worlds=cache)
    batch.start(range(4), episodes)
    total = np.zeros(4)
    while (active := batch.running).any():
        result = batch.step(generator.choice(4, 4, p=(0.02, 0.58, 0.2, 0.2)), active)
        assert np.isfinite(result.reward).all()
        assert not (result.terminated & result.truncated).any()
        total += result.reward
    for k in range(4):
        track = batch.trajectory(k)
        gained = (
            track.start_distance - track.distance_to_goal[-1] if np.isfinite(track.start_distance) else 0.0
        )
        expected = gained - 0.01 * len(track.actions) + 2.5 * success(track)
        assert total[k] == pytest.approx(expected, abs=1e-9)
        assert track.stopped == bool(track.actions[-1] == STOP) and len(track.actions) <= 60


def test_a_sensor_of_somebody_else_needs_no_fork(monkeypatch):
    class Odometer(BodySensor):
        """(1,) float32 metres from the start, as the crow flies."""

        name = "odometer"

        def spec(self):
            return ObservationSpec((1,), np.float32, 0.0, 1e9, "metres")

        def observe(self, bodies, out):
            out[:, 0] = np.linalg.norm(bodies.positions - bodies.start_positions, axis=1)

    class TrueDistance(GoalSensor):
        """(1,) float32 metres to the goal."""

        name = "true_distance"

        def spec(self):
            return ObservationSpec((1,), np.float32, 0.0, 1e9, "metres")

        def observe(self, simulator, state, out):
            out[:, 0] = state.distance

    monkeypatch.setitem(SENSORS._objects, "odometer", Odometer)
    monkeypatch.setitem(GOAL_SENSORS._objects, "true_distance", TrueDistance)
    batch = begin(AHEAD, sensors=("odometer", "true_distance"))
    act(batch, FORWARD)
    assert batch.observations["odometer"][0] == pytest.approx(0.25)
    assert batch.observations["true_distance"][0] == pytest.approx(0.75)


@pytest.mark.parametrize(
    ("sensor", "kind"),
    [
        ("multiobjectgoal", "whose goals have classes"),
        ("image_goal", "of GOAT-Bench"),
        ("instruction_tokens", "whose goals are given by an instruction"),
        ("oracle_map", "of MultiON"),
    ],
)
def test_sensors_of_other_protocols_are_refused_by_the_name_of_the_protocol(sensor, kind):
    message = f"expected a protocol {kind} for the sensor '{sensor}', got pointnav-v1"
    with pytest.raises(InputError, match=message):
        NavigationBatch(get_task("pointnav-v1"), 1, sensors=(sensor,), worlds=make_cache())


def test_pointnav_robothor():
    """End within 0.2 m, that distance included, is worth 10."""
    task = get_task("pointnav-robothor-v1")
    assert task.actions == ("move_forward", "turn_left", "turn_right", "stop")
    assert (task.max_steps, task.embodiment.radius, task.embodiment.height) == (500, 0.175, 0.9)
    for distance, reward in ((0.2, 9.99), (0.2001, -0.01)):
        episode = make_episode("near", (5.0, 0.0, 5.0), (5.0, 0.0, 5.0 - distance))
        batch = NavigationBatch(task, 1, sensors=("depth",), worlds=make_cache())
        batch.start([0], [episode])
        batch.state.distance[0] = distance  # not a rounding more or less
        result = batch.step(np.array([3]))
        assert result.terminated[0] and result.reward[0] == pytest.approx(reward)
    assert batch.observations["depth"].shape == (1, 300, 400, 1) and batch.observations["depth"].max() > 1
