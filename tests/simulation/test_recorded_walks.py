"""The simulator walks as the field's standard simulator recorded it, action by action."""

import math
from dataclasses import replace

import numpy as np

from navarena.core.geometry import wrap_angle, yaw_from_quaternion
from navarena.simulation.body_catalog import MULTION
from navarena.simulation.navmesh.habitat_file import load_habitat_navmesh
from navarena.simulation.simulator import Simulator
from navarena.simulation.world import World


def refuse():
    raise AssertionError("a walk without images needs no scene")


def test_ten_walks_of_120_actions_that_slide(dungeon_folder):
    navmesh = load_habitat_navmesh(dungeon_folder / "nav_dungeon_r010_h150.navmesh")
    with np.load(dungeon_folder / "nav_dungeon_r010_h150.npz") as answers:
        positions = answers["roll_slide_pos"].astype(float)
        yaws = yaw_from_quaternion(answers["roll_slide_rot_wxyz"][..., [1, 2, 3, 0]].astype(float))
        collided, actions = answers["roll_slide_collided"], answers["roll_actions"].astype(np.int64)
    body = replace(MULTION, turn_angle=math.radians(10), slides=True)
    simulator = Simulator(body, 10, actions=("move_forward", "turn_left", "turn_right"))
    simulator.place(range(10), [World("dungeon", navmesh, refuse)] * 10, positions[:, 0], yaws[:, 0])
    agreed = []
    for step in range(120):
        simulator.step(actions[:, step])
        aside = (simulator.positions - positions[:, step + 1])[:, [0, 2]]
        assert np.abs(aside).max() < 1e-3
        assert np.abs(wrap_angle(simulator.yaws - yaws[:, step + 1])).max() < 1e-5
        agreed.append(simulator.collided == collided[:, step])
    assert np.mean(agreed) > 0.99
