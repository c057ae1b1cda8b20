"""Corruptions of timing: tables by hand, and shares of lost images."""

import numpy as np
import pytest

from navarena.core.errors import InputError
from navarena.core.seeding import make_generator
from navarena.corruptions import find_corruption, write_corruption


@pytest.mark.parametrize(
    ("text", "expected"), [("latency:1", [0, 0, 1, 2, 3]), ("latency:3", [0, 0, 0, 0, 1])]
)
def test_latency_by_hand(text, expected):
    assert find_corruption(text).draw(make_generator("any"), 5)[:, 0].tolist() == expected


def test_dropped_images_repeat_the_last_one_that_arrived():
    generator, count = make_generator("drops"), 20_000
    shown = find_corruption("frame_drop:30").draw(generator, count)[:, 0]
    steps = np.arange(count)
    arrived = shown == steps
    assert arrived[0] and abs(arrived.mean() - 0.7) < 4 * (0.21 / count) ** 0.5
    assert (np.diff(shown)[~arrived[1:]] == 0).all()
    first = find_corruption("frame_drop:30").draw(make_generator("drops"), 50)[:, 0]
    assert np.array_equal(first, shown[:50]), "longer episodes begin alike"


def test_amounts_are_steps_and_percent():
    assert [write_corruption(name) for name in ("latency", "frame_drop")] == ["latency:2", "frame_drop:50"]
    for text in ("latency:0", "latency:11", "frame_drop:5", "frame_drop:100"):
        with pytest.raises(InputError, match="a severity among"):
            find_corruption(text)
