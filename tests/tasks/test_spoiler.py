"""Corruptions spoil colour pictures and nothing else, alike in every batch."""

import numpy as np

from navarena.core.seeding import make_generator
from navarena.corruptions import CORRUPTIONS, find_corruption
from navarena.corruptions.noise import SpeckleNoise
from navarena.tasks.batch import NavigationBatch
from tasks.small import EPISODES, SmallPointNav, make_cache

SENSORS = ("rgb", "depth", "gps")


def walk(slots, corruptions, read=range(4)):
    """Observations of each of EPISODES after each step in `read`, run `slots` at a time."""
    cache, seen = make_cache(), {}
    for first in range(0, len(EPISODES), slots):
        batch = NavigationBatch(SmallPointNav(), slots, None, SENSORS, cache, corruptions)
        batch.start(range(slots), EPISODES[first : first + slots])
        for step in range(4):
            if step:
                batch.step(np.ones(slots, np.int64))
            if step in read:
                for slot in range(slots):
                    arrays = {name: value[slot].copy() for name, value in batch.observations.items()}
                    seen[EPISODES[first + slot].episode_id, step] = arrays
    return seen


def test_only_colours_are_spoilt_and_every_batch_sees_the_same():
    clean = walk(4, ())
    spoilt = walk(4, ("speckle_noise:5",))
    alone = walk(1, ("speckle_noise:5",), read=(2,))
    for key, arrays in clean.items():
        assert np.array_equal(arrays["depth"], spoilt[key]["depth"])
        assert np.array_equal(arrays["gps"], spoilt[key]["gps"])
        assert not np.array_equal(arrays["rgb"], spoilt[key]["rgb"])
    for key, arrays in alone.items():
        assert arrays["rgb"].tobytes() == spoilt[key]["rgb"].tobytes()


def test_corruptions_follow_one_another_with_their_own_draws(monkeypatch):
    monkeypatch.setitem(CORRUPTIONS._objects, "again", SpeckleNoise)
    twice = walk(4, ("speckle_noise:1", "again:1"))
    clean = walk(4, ())
    picture = clean["left", 1]["rgb"]
    scene = next(one.scene_id for one in EPISODES if one.episode_id == "left")
    for place, text in enumerate(("speckle_noise:1", "again:1")):
        generator = make_generator("corruption", text, place, "rgb", scene, "left", 1)
        picture = find_corruption(text).corrupt(picture[None], [generator])[0]
    assert np.array_equal(twice["left", 1]["rgb"], picture)
