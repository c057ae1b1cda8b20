"""Measured walks: against a slow reference, in a rendered house, and where nothing tells."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from navarena.core.errors import InputError
from navarena.core.seeding import make_generator
from navarena.mapping.walked_distance import WalkSettings, compare_lengths, measure_walk, shrink_to_grey
from navarena.simulation.body import Camera
from navarena.simulation.simulator import Simulator
from navarena.simulation.world import open_world
from navarena.tasks.catalog import get_body_task

CAMERA = Camera(width_px=40, height_px=30, hfov=math.pi / 2)


def compare_slowly(before, after, metres, weights, camera, length, cap):
    """The difference of one length, by points in space: (x right, y up, z backward) of the camera."""
    rows, columns = after.shape
    focal = columns / 2 / math.tan(camera.hfov / 2)
    # the camera before stands `length` behind along the floor; up and ahead are those of the pitched camera
    behind = length * np.array([0.0, -math.sin(camera.pitch), -math.cos(camera.pitch)])
    total = weight = 0.0
    for i, j in np.ndindex(rows, columns):
        ahead = float(metres[i, j])
        if not ahead > 0:
            continue
        point = np.array([(j + 0.5 - columns / 2) / focal, (rows / 2 - i - 0.5) / focal, -1.0]) * ahead
        x, y, z = point + behind
        column, row = columns / 2 - 0.5 - x / z * focal, rows / 2 - 0.5 + y / z * focal
        if not (0 <= row < rows - 1 and 0 <= column < columns - 1):
            continue
        r, c = math.floor(row), math.floor(column)
        corners = before[r : r + 2, c : c + 2]
        grey = np.array([r + 1 - row, row - r]) @ corners @ np.array([c + 1 - column, column - c])
        total += weights[i, j] * min(abs(grey - after[i, j]), cap)
        weight += weights[i, j]
    return total / weight


@settings(max_examples=10, deadline=None)
@given(st.integers(0, 1000), st.floats(-0.6, 0.6), st.floats(0.01, 0.5))
def test_differences_are_those_of_points_in_space(seed, pitch, length):
    generator = make_generator("walks", seed)
    before, after = generator.uniform(0, 255, (2, 12, 16)).astype(np.float32)
    metres = generator.uniform(0.5, 4, (12, 16)).astype(np.float32)
    metres[generator.random((12, 16)) < 0.2] = 0.0
    weights = generator.uniform(0.5, 2, (12, 16)).astype(np.float32)
    camera = replace(CAMERA, pitch=pitch)
    found, focal = np.zeros(1), 16 / 2 / math.tan(camera.hfov / 2)
    tilt, lengths = (math.sin(pitch), math.cos(pitch)), np.array([length])
    compare_lengths(before, after, metres, weights, focal, tilt, lengths, 90.0, found)
    wanted = compare_slowly(before, after, metres, weights, camera, length, 90.0)
    assert found[0] == pytest.approx(wanted, rel=1e-4)


@pytest.mark.parametrize("pitch", [0.0, -0.5])
def test_walks_in_a_house_are_measured_to_a_few_centimetres(pitch):
    body = get_body_task("pointnav-habitat2020-v1").embodiment
    camera = replace(body.cameras[0], width_px=320, height_px=180, pitch=pitch)
    body = replace(body, cameras=(camera,))
    world = open_world("houses-v1/val/00003", body)
    generator = make_generator("walks in a house")
    count, whole = 24, 0.25
    starts, yaws = world.navmesh.random_point(generator, 400), generator.uniform(-math.pi, math.pi, 400)
    lengths = np.linspace(0.0, whole, 400)
    ends = starts - lengths[:, None] * np.stack((np.sin(yaws), np.zeros(400), np.cos(yaws)), -1)
    chosen = generator.permutation(np.flatnonzero(world.navmesh.is_navigable(ends)))[:count]
    starts, ends, yaws, lengths = (one[chosen] for one in (starts, ends, yaws, lengths))
    simulator = Simulator(body, count, (), threads=1, channels=("rgb", "depth"))
    images = []
    for positions in (starts, ends):
        simulator.place(range(count), [world] * count, positions, yaws)
        simulator.observer.observe(simulator.slot_worlds)
        images.append([simulator.observer.image(name)[1].copy() for name in ("rgb", "depth")])
    before, after = (shrink_to_grey(rgb) for rgb, _ in images)
    assert after.shape == (count, 90, 160)
    metres = np.ascontiguousarray(images[1][1][:, 1::2, 1::2])
    found = np.array(
        [
            measure_walk(before[k], after[k], metres[k], np.ones((90, 160), np.float32), camera, whole)
            for k in range(count)
        ]
    )
    errors = np.abs(found - lengths)
    assert np.median(errors) < 0.015 and (errors < 0.05).mean() > 0.85, (found, lengths)


def test_without_anything_to_see_a_walk_is_whole_and_the_same_image_is_none():
    grey, metres = np.full((30, 40), 90, np.float32), np.full((30, 40), 2.0, np.float32)
    ones = np.ones_like(grey)
    assert measure_walk(grey, grey, np.full_like(metres, np.nan), ones, CAMERA, 0.25) == 0.25
    assert measure_walk(grey, grey, metres, ones, CAMERA, 0.25) == 0.25, "a bare wall looks the same"
    noise = make_generator("noise").uniform(0, 255, (30, 40)).astype(np.float32)
    assert measure_walk(noise, noise, metres, ones, CAMERA, 0.25) == 0.0


def test_grey_is_the_mean_of_squares():
    rgb = make_generator("grey").integers(0, 256, (2, 6, 8, 3), np.uint8)
    grey = shrink_to_grey(rgb, WalkSettings(columns=4))
    assert grey.shape == (2, 3, 4) and grey[1, 2, 3] == pytest.approx(rgb[1, 4:6, 6:8].mean(), rel=1e-6)
    assert shrink_to_grey(rgb, WalkSettings(columns=3)).shape == (2, 2, 2), "the last columns fill no square"
    with pytest.raises(InputError, match="a gain of 0 to 1"):
        WalkSettings(gain=1.5)
