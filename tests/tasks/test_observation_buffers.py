"""Observations in arrays of the caller: slabs of T x N, without a copy on the way to other libraries."""

import numpy as np
import pytest

from navarena.core.errors import InputError, UnknownNameError
from navarena.tasks.batch import NavigationBatch
from tasks.small import AHEAD, SmallPointNav, make_cache, make_episode

EPISODES = [AHEAD, make_episode("other", (4.0, 0.0, 5.0), (5.0, 0.0, 4.0), yaw=1.0)]
STEPS = 5


def make_batch():
    batch = NavigationBatch(SmallPointNav(), 2, 1, worlds=make_cache())
    batch.start([0, 1], EPISODES)
    return batch


def walk(batch, observe):
    """What is observed before each of STEPS steps; the second slot rests in every other one."""
    for step in range(STEPS):
        observe(step)
        batch.step(np.array([1, 2]), np.array([True, step % 2 == 0]))


def test_slabs_hold_what_fresh_arrays_hold():
    plain, seen = make_batch(), []
    walk(plain, lambda step: seen.append({k: v.copy() for k, v in plain.observations.items()}))
    batch = make_batch()
    slabs = {name: np.zeros((STEPS, 2, *spec.shape), spec.dtype) for name, spec in batch.specs.items()}
    walk(batch, lambda step: batch.observe_into({name: slab[step] for name, slab in slabs.items()}))
    assert set(slabs) == {"rgb", "depth", "pointgoal_with_gps_compass"}
    for name, slab in slabs.items():
        assert slab.any() and np.array_equal(slab, np.stack([one[name] for one in seen])), name


def test_observations_are_shared_without_a_copy():
    batch = make_batch()
    mine = np.zeros((2, *batch.specs["rgb"].shape), np.uint8)
    seen = batch.observe_into({"rgb": mine})
    assert seen["rgb"] is mine and mine.any()
    taken = np.from_dlpack(seen["depth"])
    assert np.shares_memory(taken, batch.observations["depth"])
    batch.step(np.array([2, 2]))
    assert np.array_equal(taken, batch.observations["depth"]), "the same memory is rewritten"


def test_buffers_that_do_not_fit_are_refused():
    batch = make_batch()
    with pytest.raises(InputError, match="expected a writable C-contiguous buffer"):
        batch.observe_into({"rgb": np.zeros((2, 3), np.uint8)})
    with pytest.raises(InputError, match="expected a writable C-contiguous buffer"):
        batch.observe_into({"pointgoal_with_gps_compass": np.zeros((1, 2), np.float32)})
    with pytest.raises(UnknownNameError, match="rgb"):
        batch.observe_into({"rbg": np.zeros((2, 3), np.uint8)})
