import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from navarena.core.errors import InputError
from navarena.core.geometry import wrap_angle
from navarena.simulation.body import Embodiment
from navarena.simulation.body_catalog import LOCOBOT, VLN_CE
from navarena.simulation.planning import ActionPlanner, Query
from navarena.simulation.planning.greedy import Progress
from navarena.simulation.planning.lattice import search_lattice
from navarena.simulation.planning.move_outcomes import MoveSimulator, headings_after, turns_of
from navarena.simulation.simulator import Simulator
from worlds import HALL, ROOMS, draw_world

WORLDS = [draw_world(HALL, scene_id="hall"), draw_world(ROOMS, scene_id="rooms")]
ACTION = {"stop": 0, "move_forward": 1, "turn_left": 2, "turn_right": 3}


def test_turns_are_the_fewest_that_reach_every_heading():
    turns = turns_of(LOCOBOT)
    assert turns.tolist() == [0, 1, -1, 2, -2, 3, -3, 4, -4, 5, -5, 6]
    assert len(turns_of(VLN_CE)) == 24
    headings = np.sort(np.asarray(wrap_angle(headings_after(np.array([0.3]), turns, LOCOBOT.turn_angle)[0])))
    assert np.diff(headings) == pytest.approx(np.full(11, math.pi / 6))


def test_headings_round_as_single_turns_do():
    simulator, lattice = Simulator(LOCOBOT, 1), turns_of(LOCOBOT)
    headings = headings_after(np.array([1.234]), lattice, LOCOBOT.turn_angle)[0]
    for heading, turns in zip(headings, lattice, strict=True):
        simulator.place([0], WORLDS[:1], np.array([[5.0, 0, 5]]), np.array([1.234]))
        for _ in range(abs(turns)):
            simulator.step(np.array([2 if turns > 0 else 3]))
        assert heading == simulator.yaws[0]


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


def on_mesh(mesh, goal):
    return MoveSimulator(LOCOBOT, [WORLDS[mesh].navmesh], goal[None])


def test_search_finds_a_way_where_the_next_step_leads_away():
    """From a dead end with a coarse turn, the first move must increase the distance."""
    start, goal = np.array([3.5, 0.0, 2.9]), np.array([3.5, 0.0, 4.1])
    found = search_lattice(on_mesh(1, goal), 0, Progress(start, math.pi / 2, 1.0), 0.2, 200)
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
    assert search_lattice(on_mesh(0, goal), 0, Progress(start, 0.0, 5.0), 0.2, 10) is None
