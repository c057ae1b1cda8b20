"""Buffers that the caller owns, and batches that are saved and restored."""

import numpy as np
import pytest

from navarena.core.errors import InputError, UnknownNameError
from navarena.tasks.batch import NavigationBatch
from tasks.small import EPISODES, SmallPointNav, make_cache

SENSORS = (
    *("rgb", "depth", "semantic", "gps", "compass", "odometry", "pointgoal", "occupancy_map_iterative"),
    "frontier_direction",
)
CORRUPTIONS = (
    "speckle_noise",
    "depth_holes",
    "native_noise",
    "pyrobot:teleport",
    "localisation_drift",
    "localisation_dropout:5",
    "odometry_noise",
    "frame_drop:60",
)
SLOTS = 3


def make_batch(**more):
    return NavigationBatch(SmallPointNav(), SLOTS, None, SENSORS, make_cache(), CORRUPTIONS, **more)


def go_on(batch, steps, seed):
    """Observations, rewards and poses of `steps` random steps; bytes."""
    generator, seen = np.random.default_rng(seed), []
    for _ in range(steps):
        active = (generator.random(SLOTS) < 0.7) & batch.running
        result = batch.step(generator.integers(1, 4, SLOTS), active)
        seen += [array.tobytes() for _, array in sorted(batch.observations.items())]
        seen += [result.reward.tobytes(), batch.simulator.positions.tobytes()]
    return seen


@pytest.mark.parametrize("is_observed", [True, False])
def test_a_restored_batch_goes_on_with_the_same_bytes(is_observed):
    batch = make_batch()
    batch.start(range(SLOTS), EPISODES[:SLOTS])
    go_on(batch, 4, 0)
    batch.start([1], EPISODES[3:])
    batch.step(np.ones(SLOTS, np.int64))
    before = dict(batch.observations) if is_observed else {}
    saved = batch.save_state()
    before = {name: array.copy() for name, array in before.items()}
    other = make_batch()
    other.restore_state(saved)
    for name, array in before.items():
        assert np.array_equal(other.observations[name], array), name
    assert go_on(other, 5, 1) == go_on(batch, 5, 1)
    for one in (batch, other):
        one.start([0, 2], EPISODES[2:])
    assert go_on(other, 2, 2) == go_on(batch, 2, 2)
    for slot in range(SLOTS):
        mine, its = (one.trajectory(slot) for one in (batch, other))
        assert np.array_equal(mine.positions, its.positions) and np.array_equal(mine.actions, its.actions)


def test_observations_are_written_into_the_arrays_of_the_caller():
    own = make_batch()
    buffers = {name: np.zeros((SLOTS, *spec.shape), spec.dtype) for name, spec in own.specs.items()}
    given = make_batch(buffers=buffers)
    for batch in (own, given):
        batch.start(range(SLOTS), EPISODES[:SLOTS])
        batch.step(np.ones(SLOTS, np.int64))
    for name, array in own.observations.items():
        assert given.observations[name] is buffers[name] or given.observations[name].base is buffers[name]
        assert np.array_equal(buffers[name], array), name


def test_bad_buffers_are_refused():
    with pytest.raises(
        InputError, match=r"expected a writable C-contiguous buffer \(3, 24, 32, 3\) of uint8"
    ):
        make_batch(buffers={"rgb": np.zeros((SLOTS, 24, 32, 3), np.float32)})
    with pytest.raises(UnknownNameError, match="rgb"):
        make_batch(buffers={"rgd": np.zeros((SLOTS, 24, 32, 3), np.uint8)})
