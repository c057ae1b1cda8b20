"""Probes on numbers made by hand. No PyTorch."""

import numpy as np
import pytest

from navarena.core.seeding import make_generator
from navarena.learning.perception.probing import (
    BINS,
    GRID,
    average_precision,
    describe_by_histograms,
    fit_probe,
    score_probe,
)


def test_average_precision_by_hand():
    scores = np.array([0.9, 0.1, 0.5, 0.4])
    assert average_precision(scores, np.array([True, False, True, False])) == 1.0
    assert average_precision(scores, np.array([False, True, True, False])) == pytest.approx(
        (1 / 2 + 2 / 4) / 2
    )
    assert np.isnan(average_precision(scores, np.zeros(4, bool)))


def test_a_probe_is_the_minimum_of_its_sum():
    generator = make_generator("probe")
    features, present = generator.normal(2, 3, (40, 3)), generator.random((40, 2)) < 0.4
    weights = fit_probe(features, present, 0.2)

    def cost(weights):
        scaled = weights[:-1] * (features.std(0)[:, None] + 1e-6)
        errors = score_probe(weights, features) - np.where(present, 1, -1)
        return (errors**2).sum() + 0.2 * len(features) * (scaled**2).sum()

    for _ in range(20):
        assert cost(weights) <= cost(weights + generator.normal(0, 1e-3, weights.shape))


def test_a_probe_finds_what_is_linear():
    generator = make_generator("linear")
    features = generator.normal(size=(400, 5))
    present = (features @ np.array([1.0, -2, 0, 0, 0.5]) > 0.3)[:, None]
    weights = fit_probe(features[:300], present[:300])
    assert average_precision(score_probe(weights, features[300:])[:, 0], present[300:, 0]) > 0.97


def test_histograms_by_hand():
    image = np.zeros((1, 8, 8, 3), np.uint8)
    image[0, :, 4:, 0] = 255  # red on the right: a vertical edge
    found = describe_by_histograms(image).reshape(4, GRID, GRID, BINS)
    assert (found[0, :, :2, 0] == 1).all() and (found[0, :, 2:, BINS - 1] == 1).all()
    assert (found[1:3, ..., 0] == 1).all(), "no green, no blue"
    assert (found[3, :, 1:3, 0] == 1).all() and (found[3, :, [0, 3]] == 0).all(), "gradients point across"
