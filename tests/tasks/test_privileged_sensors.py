"""Sensors that show what no body measures are known, and mark the run of whoever asks for them."""

import json
from dataclasses import dataclass, replace

import numpy as np
import pytest

from navarena.agents import Agent
from navarena.evaluation import EvaluationSettings, evaluate
from navarena.evaluation.benchmark import Benchmark
from navarena.evaluation.identity import Identity
from navarena.simulation.sensors import SENSORS
from navarena.tasks import get_task
from navarena.tasks.batch import NavigationBatch
from navarena.tasks.sensors import GOAL_SENSORS
from navarena.tasks.sensors.catalog import shows_no_more
from tasks.small import AHEAD, LEFT, SmallPointNav, make_cache

PRIVILEGED = {
    *("heading", "instance", "occupancy_map_known", "oracle_ego_map", "oracle_ego_map_code", "oracle_map"),
    *("position", "progress", "semantic", "semantic_map", "semantic_map_iterative", "semantic_map_known"),
    *("goal_distance", "goal_map", "goal_mask", "nearest_seen_class", "nearest_seen_class_5m", "seen_goals"),
    *("oracle_map_150", "oracle_map_600", "oracle_map_dynamic", "oracle_map_objects"),
    *("oracle_map_objects_dynamic", "oracle_map_occupancy", "oracle_map_paper", "oracle_map_stacked"),
    *("oracle_ego_map_dynamic", "semantic_classes", "world_from_camera"),
}


def test_the_registries_say_which_are_privileged():
    known = {name: registry.get(name) for registry in (SENSORS, GOAL_SENSORS) for name in registry.names()}
    assert {name for name, sensor in known.items() if sensor.privileged} == PRIVILEGED


def test_a_batch_names_them():
    batch = NavigationBatch(SmallPointNav(), 1, 1, ("gps", "instance", "semantic_map", "rgb"), make_cache())
    assert batch.privileged_sensors == ("instance", "semantic_map")


POINTS = ("pointgoal", "pointgoal_with_gps_compass")


@pytest.mark.parametrize(
    "protocol_id, asked, expected",
    [
        ("pointnav-v1", POINTS, ()),  # that of the start is the first observation of the other
        ("pointnav-habitat2020-v1", POINTS, ("pointgoal_with_gps_compass",)),
        ("objectnav-habitat2020-v1", ("gps", "pointgoal", "objectgoal"), ("pointgoal",)),
        ("multion-1on-v1", ("pointgoal_with_gps_compass", "compass"), ("pointgoal_with_gps_compass",)),
    ],
)
def test_where_the_goal_is_may_be_asked_in_pointnav_alone(protocol_id, asked, expected):
    assert NavigationBatch(get_task(protocol_id), 1, 1, asked, make_cache()).privileged_sensors == expected


@pytest.mark.parametrize(
    "protocol_id, asked, expected",
    [
        ("pointnav-v1+track=rgb", ("rgb", "depth", "occupancy_map", "gps"), ("depth", "occupancy_map")),
        ("pointnav-v1", ("rgb", "depth", "occupancy_map", "gps", "compass"), ()),
        ("pointnav-habitat2020-v1", ("depth", "gps", "compass", "odometry"), ("gps", "compass", "odometry")),
        ("pointnav-v1", ("depth", "odometry"), ()),
        ("pointnav-v1+poses=odometry", ("depth", "odometry"), ("odometry",)),
        ("objectnav-habitat2020-v1", ("gps", "compass"), ()),
        ("pointnav-habitat2020-v1", ("depth", "occupancy_map"), ("occupancy_map",)),
        ("pointnav-habitat2020-v1+poses=estimated", ("depth", "occupancy_map"), ("occupancy_map",)),
        ("pointnav-habitat2020-v1+poses=odometry", ("depth", "occupancy_map"), ()),
    ],
)
def test_what_a_protocol_does_not_offer_is_privileged(protocol_id, asked, expected):
    assert NavigationBatch(get_task(protocol_id), 1, 1, asked, make_cache()).privileged_sensors == expected


@pytest.mark.parametrize(
    ("protocol_id", "name", "expected"),
    [
        ("objectnav-habitat2020-v1", "objectgoal", True),
        ("objectnav-habitat2020-v1", "odometry", True),
        ("objectnav-habitat2020-v1", "pointgoal_with_gps_compass", False),
        ("objectnav-habitat2020-v1", "semantic", False),
        ("objectnav-habitat2020-v1", "no_such_sensor", False),
        ("pointnav-v1", "pointgoal_with_gps_compass", True),
        ("ir2r-ce-v1", "gps", False),
        ("r2r-v1", "gps", False),
    ],
)
def test_a_sensor_shows_no_more_than_the_protocol(protocol_id, name, expected):
    assert shows_no_more(get_task(protocol_id), name) is expected


class Liar(Agent):
    """Asks for the true pose only when it is made, and says that it is honest."""

    privileged = False

    def __init__(self):
        self.sensors = self.wanted

    def reset(self, starts):
        pass

    def act(self, observations, active):
        return np.zeros(len(active), np.int64)


@dataclass(frozen=True)
class Setup:
    wanted: tuple[str, ...]

    def make_batch(self, slots, sensors, threads):
        return NavigationBatch(SmallPointNav(), slots, 1, sensors, make_cache())

    def make_agent(self):
        return type("Liar", (Liar,), {"wanted": self.wanted})()


@pytest.mark.parametrize(("wanted", "inputs"), [(("gps", "position"), ["position"]), (("gps",), [])])
def test_asking_for_one_marks_the_run(tmp_path, wanted, inputs):
    task = SmallPointNav()
    identity = Identity("pointnav-v1", "drawn", "mini", "0" * 16)
    benchmark = Benchmark(identity, (AHEAD, LEFT), task.actions, ("success",), Setup(wanted))
    settings = EvaluationSettings("pointnav-v1", out=tmp_path)
    record = evaluate(settings, benchmark).record
    assert (record.privileged, list(record.privileged_inputs)) == (bool(inputs), inputs)
    assert json.loads((tmp_path / "run.json").read_text())["privileged_inputs"] == inputs
    again = evaluate(replace(settings, seed=0), benchmark).record  # what is finished keeps its mark
    assert again.privileged == bool(inputs)
