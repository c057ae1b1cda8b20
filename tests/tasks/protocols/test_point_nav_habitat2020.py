"""The protocol of the Habitat challenge 2020: what it sees, how it strays, when it succeeds."""

import math
from dataclasses import replace

import numpy as np
import pytest

from navarena.core.errors import InputError, UnknownNameError
from navarena.simulation.world import WorldCache
from navarena.tasks.batch import NavigationBatch
from navarena.tasks.catalog import get_task
from tasks.small import EPISODES, make_cache, make_episode

FORWARD, TURN_LEFT = 1, 2


def small(options=""):
    """The protocol with images of 64 x 36 pixels, taken by the same lens."""
    task = get_task(f"pointnav-habitat2020-v1{options}")
    camera = replace(task.embodiment.cameras[0], width_px=64, height_px=36)
    task.embodiment = replace(task.embodiment, cameras=(camera,))
    return task


def begin(task, episode=EPISODES[0], sensors=None):
    batch = NavigationBatch(task, 1, None, sensors, make_cache())
    batch.start([0], [episode])
    return batch


def test_settings_of_the_challenge():
    task = get_task("pointnav-habitat2020-v1")
    camera = task.embodiment.cameras[0]
    assert (camera.width_px, camera.height_px) == (640, 360) and camera.hfov == math.radians(70)
    assert camera.mount == (0.0, 0.88, 0.0) and task.embodiment.radius == 0.18
    assert (task.max_steps, task.success_distance, task.embodiment.slides) == (500, 0.36, False)
    assert task.embodiment.turn_angle == math.radians(30) and task.embodiment.forward_step == 0.25
    assert task.actions == ("stop", "move_forward", "turn_left", "turn_right")
    assert task.sensors == ("rgb", "depth", "pointgoal")


@pytest.mark.parametrize(("distance", "succeeds"), [(0.359, True), (0.36, False)])
def test_success_is_nearer_than_twice_the_radius(distance, succeeds):
    batch = begin(small(), make_episode("near", (5.0, 0.0, 5.0), (5.0, 0.0, 5.0 - distance)), ())
    batch.state.distance[0] = distance
    result = batch.step(np.array([0]))
    assert result.terminated[0] and (result.reward[0] > 2) == succeeds


def test_noise_corrupts_images_and_motion():
    noisy, clean = begin(small()), begin(small("+rgb_noise=false+depth_noise=false+actuation_noise=false"))
    difference = noisy.observations["rgb"].astype(float) - clean.observations["rgb"]
    mid = (clean.observations["rgb"] > 80) & (clean.observations["rgb"] < 175)
    assert difference[mid].std() == pytest.approx(25.5, rel=0.05), "a tenth of full brightness"
    assert not np.array_equal(noisy.observations["depth"], clean.observations["depth"])
    for batch in (noisy, clean):
        batch.step(np.array([FORWARD]))
        batch.step(np.array([TURN_LEFT]))
    assert clean.simulator.positions[0].tolist() == pytest.approx([5.0, 0.0, 4.75])
    assert clean.simulator.yaws[0] == pytest.approx(math.radians(30))
    assert not np.allclose(noisy.simulator.positions[0], clean.simulator.positions[0], atol=1e-3)


def test_options_leave_single_noises_out():
    assert small().corruptions == ("gaussian_noise", "redwood_depth:fit", "pyrobot:proportional:half")
    assert small("+rgb_noise=false").corruptions == ("redwood_depth:fit", "pyrobot:proportional:half")
    assert small("+rgb_noise=false").protocol_id == "pointnav-habitat2020-v1+custom+rgb_noise=false"
    assert "redwood_depth:published" in small("+redwood_table=published").corruptions
    with pytest.raises(UnknownNameError, match="rgb_noise"):
        small("+rgb_noize=false")
    with pytest.raises(InputError):
        small("+rgb_noise=maybe")


def test_another_corruption_takes_the_place_of_the_noise():
    task = small("+rgb_noise=false")
    batch = NavigationBatch(task, 1, None, None, WorldCache(task.embodiment), ("speckle_noise:2",))
    assert batch.specs["rgb"].shape == (36, 64, 3)
    noisy = NavigationBatch(small(), 1, None, None, make_cache(), ("gaussian_noise:5",))
    alone = NavigationBatch(small("+rgb_noise=false"), 1, None, None, make_cache(), ("gaussian_noise:5",))
    for other in (noisy, alone):
        other.start([0], EPISODES[:1])
    difference = noisy.observations["rgb"].astype(int) - alone.observations["rgb"]
    assert abs(difference.mean()) < 1, "their own noise is gone"
