import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from navarena.core.errors import InputError
from navarena.simulation.body import Embodiment
from navarena.simulation.body_catalog import LOCOBOT, MULTION, VLN_CE
from navarena.simulation.navmesh.queries.goal_fields import GoalFields
from navarena.simulation.planning import ActionPlanner, Query
from navarena.simulation.planning.headings import turns_of
from navarena.simulation.planning.lattice import Origin, search_lattice
from navarena.simulation.planning.planner import STOP_MARGIN, action_names
from navarena.simulation.simulator import Simulator
from simulation.plain_planning import PlainPlanner
from worlds import HALL, ROOMS, draw_world

WORLDS = [draw_world(HALL, scene_id="hall"), draw_world(ROOMS, scene_id="rooms")]
ACTION = {"stop": 0, "move_forward": 1, "turn_left": 2, "turn_right": 3}


def test_turns_are_the_fewest_that_reach_every_heading():
    turns = turns_of(LOCOBOT)
    assert turns.tolist() == [0, 1, -1, 2, -2, 3, -3, 4, -4, 5, -5, 6]
    assert len(turns_of(VLN_CE)) == 24


def test_a_lattice_needs_turns_that_close():
    with pytest.raises(InputError, match="divides a whole turn"):
        turns_of(Embodiment("odd", 1.0, 0.1, turn_angle=1.0))


def execute(mesh, start, yaw, plan, body=LOCOBOT):
    simulator = Simulator(body, 1)
    simulator.place([0], [WORLDS[mesh]], np.array([start]), np.array([yaw]))
    for name in plan:
        simulator.step(np.array([ACTION[name]]))
    return simulator


def make_query(mesh, start, yaw, goal):
    return Query(
        [WORLDS[mesh].navmesh], np.array([start], float), np.array([yaw], float), np.array([goal], float)
    )


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 2**32), st.integers(0, 1), st.sampled_from([LOCOBOT, VLN_CE]))
def test_plans_arrive_exactly_as_executed(seed, mesh, body):
    generator = np.random.default_rng(seed)
    navmesh = WORLDS[mesh].navmesh
    start, goal = navmesh.random_point(generator, 2)
    yaw = float(generator.uniform(-np.pi, np.pi))
    (plan,) = ActionPlanner(body, 0.2, 500).plan(make_query(mesh, start, yaw, goal))
    way = navmesh.geodesic_distance(start[None], goal[None])[0]
    if not np.isfinite(way):
        assert plan is None
        return
    assert plan is not None and plan[-1] == "stop" and "stop" not in plan[:-1]
    simulator = execute(mesh, start, yaw, plan, body)
    assert simulator.geodesic_distance(np.array([0]), goal[None])[0] < 0.2
    assert plan.count("move_forward") * 0.25 <= 1.15 * way + 0.5


def test_the_start_may_be_the_goal():
    (plan,) = ActionPlanner(LOCOBOT, 0.2, 500).plan(make_query(0, (5, 0, 5), 0, (5.1, 0, 5)))
    assert plan == ("stop",)


def test_a_plan_must_fit_the_step_limit():
    query = make_query(0, (5, 0, 9), 0, (5, 0, 4))
    assert ActionPlanner(LOCOBOT, 0.2, 21).plan(query)[0] is not None
    assert ActionPlanner(LOCOBOT, 0.2, 20).plan(query)[0] is None


def search(mesh, start, yaw, goal, max_actions):
    fields = GoalFields(1)
    fields.set_goals(0, WORLDS[mesh].navmesh, goal[None])
    return search_lattice(fields, 0, LOCOBOT, Origin(start, yaw), 0.2, max_actions)


def test_search_finds_a_way_where_the_next_step_leads_away():
    """From a dead end with a coarse turn, the first move must increase the distance."""
    start, goal = np.array([3.5, 0.0, 2.9]), np.array([3.5, 0.0, 4.1])
    found = search(1, start, math.pi / 2, goal, 200)
    assert found is not None
    names = [
        n
        for turns in found
        for n in ["turn_left" if turns > 0 else "turn_right"] * abs(turns) + ["move_forward"]
    ]
    simulator = execute(1, start, math.pi / 2, names)
    assert simulator.geodesic_distance(np.array([0]), goal[None])[0] < 0.2


def test_search_gives_up_within_its_bounds():
    start, goal = np.array([5.0, 0.0, 9.0]), np.array([5.0, 0.0, 4.0])
    assert search(0, start, 0.0, goal, 10) is None


@settings(max_examples=8, deadline=None)
@given(st.integers(0, 2**32), st.integers(0, 1), st.sampled_from([LOCOBOT, MULTION, VLN_CE]))
def test_plans_are_those_of_plain_python(seed, mesh, body):
    generator = np.random.default_rng(seed)
    navmesh = WORLDS[mesh].navmesh
    start, goal = navmesh.random_point(generator, 2)
    yaw = float(generator.uniform(-np.pi, np.pi))
    (plan,) = ActionPlanner(body, 0.2, 500).plan(make_query(mesh, start, yaw, goal))
    moves = PlainPlanner(navmesh, body, goal, 0.2 - STOP_MARGIN).plan(start, yaw, 500)
    assert plan == (None if moves is None else action_names(moves))


@pytest.mark.parametrize("yaw", [math.pi / 2, 0.3])
def test_searches_are_those_of_plain_python(yaw):
    start, goal = np.array([3.5, 0.0, 2.9]), np.array([3.5, 0.0, 4.1])
    plain = PlainPlanner(WORLDS[1].navmesh, LOCOBOT, goal, 0.2)
    assert search(1, start, yaw, goal, 200) == plain.search((start, yaw, -1), 200)
