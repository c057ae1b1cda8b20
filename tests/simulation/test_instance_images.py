"""Counted pixels of instance images against NumPy."""

import numpy as np

from navarena.simulation.instance_images import count_pixels


def test_pixels_of_each_image_are_counted_for_its_own_id():
    images = np.random.default_rng(0).integers(0, 4, (5, 7, 33)).astype(np.int32)
    wanted, counts = np.array([0, 1, 2, 3, 9], np.int32), np.full(5, -1.0)
    count_pixels(images, wanted, counts)
    assert np.array_equal(counts, (images == wanted[:, None, None]).sum((1, 2)))
    assert counts[-1] == 0 and (counts[:-1] > 20).all()
    shares = (images == wanted[:, None, None]).mean((1, 2))
    assert np.array_equal(counts / (7 * 33), shares), "not a bit of a coverage changes"
