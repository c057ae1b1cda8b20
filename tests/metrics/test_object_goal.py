"""Hand-made records of what is near and seen at STOP."""

import numpy as np
import pytest

from navarena.core.errors import InputError
from navarena.metrics import ObjectGoalTrajectory, Trajectory, zone_success, zone_success_seen


def make_record(distances, seen, framed, stopped=True, pixels=1):
    return ObjectGoalTrajectory(
        np.zeros((2, 3)),
        np.zeros(2),
        np.zeros(1, np.int64),
        np.zeros(1, bool),
        np.full(2, 0.05),
        3.0,
        stopped,
        0.1,
        object_distances=np.array(distances, float),
        pixels_seen=np.array(seen, np.int64),
        pixels_framed=np.array(framed, np.int64),
        zone_pixels=pixels,
    )


@pytest.mark.parametrize(
    ("record", "framed", "seen"),
    [
        (make_record([1.0], [5], [9]), 1, 1),
        (make_record([1.0], [0], [9]), 1, 0),
        (make_record([1.0], [9], [0]), 1, 1),  # seen is enough for an oracle
        (make_record([1.01], [5], [9]), 0, 0),
        (make_record([2.0, 0.5], [5, 0], [9, 0]), 0, 0),  # the near one is hidden, the seen one far
        (make_record([2.0, 0.5], [0, 0], [0, 3]), 1, 0),
        (make_record([0.5], [5], [9], pixels=6), 1, 0),
        (make_record([0.5], [5], [9], stopped=False), 0, 0),
        (make_record([], [], []), 0, 0),
    ],
)
def test_table(record, framed, seen):
    assert (zone_success(record), zone_success_seen(record)) == (framed, seen)


def test_other_records_count_by_success():
    one = np.zeros(1, np.int64)
    plain = Trajectory(np.zeros((2, 3)), np.zeros(2), one, one > 0, np.zeros(2), 0.0, True, 0.1)
    assert zone_success(plain) == zone_success_seen(plain) == 1


def test_lengths_must_agree():
    with pytest.raises(InputError, match="expected one distance and two counts of pixels"):
        make_record([1.0], [5], [])
