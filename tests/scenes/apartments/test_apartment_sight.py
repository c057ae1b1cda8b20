"""Lines of sight past boxes, by hand and beside a plain reference."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from navarena.scenes.apartments.sight import meets_a_box

BOX = np.array([[100.0, 0.0, -50.0, 200.0, 500.0, 50.0]])


def test_lines_by_hand():
    target = np.array([300.0, 100.0, 0.0])
    eyes = np.array(
        [
            [0.0, 100.0, 0.0],  # straight through the box
            [0.0, 2000.0, 0.0],  # from high above: comes down behind it, at x = 200 still at 733
            [0.0, 100.0, 400.0],  # from the side: at x = 200 it passes z = 133
            [250.0, 100.0, 0.0],  # between box and target
            [400.0, 100.0, 0.0],  # from the other side
        ]
    )
    assert meets_a_box(eyes, target, BOX).tolist() == [True, False, False, False, False]


@settings(max_examples=30, deadline=None)
@given(st.lists(st.integers(-1000, 1000), min_size=6, max_size=6, unique=True))
def test_lines_beside_many_points_on_them(numbers):
    eye, target = np.array(numbers[:3], float), np.array(numbers[3:], float)
    points = eye + (target - eye) * np.linspace(0, 1, 4001)[:, None]
    deep = (points > BOX[0, :3]) & (points < BOX[0, 3:])
    inside = deep.all(1)
    met = bool(meets_a_box(eye[None], target, BOX)[0])
    if inside.any():
        assert met
    elif met:  # only a corner may be cut between two of the points
        grown = (points > BOX[0, :3] - 1) & (points < BOX[0, 3:] + 1)
        assert grown.all(1).any()
