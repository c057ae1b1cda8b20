"""Frames and rotations on hand-computed tables, and their laws on random ones."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from navarena.core.geometry import (
    episode_frame,
    focal_length,
    forward_from_yaw,
    intrinsic_matrix,
    quaternion_from_yaw,
    rotation_from_quaternion,
    rotation_from_yaw_pitch,
    world_from_unity,
    wrap_angle,
    yaw_from_quaternion,
    yaw_from_unity,
)

HALF = math.sqrt(0.5)
RIGHT, UP, BACK = np.eye(3)
angles = st.floats(-20, 20)
coordinates = st.floats(-1e3, 1e3)


@pytest.mark.parametrize(
    ("angle", "wrapped"),
    [
        (0, 0),
        (math.pi, -math.pi),
        (-math.pi, -math.pi),
        (3 * math.pi / 2, -math.pi / 2),
        (7, 7 - 2 * math.pi),
    ],
)
def test_wrap_angle(angle: float, wrapped: float) -> None:
    assert wrap_angle(np.array(angle, float)) == pytest.approx(wrapped, abs=1e-12)


@pytest.mark.parametrize(
    ("yaw", "forward", "quaternion"),
    [
        (0.0, (0, 0, -1), (0, 0, 0, 1)),
        (math.pi / 2, (-1, 0, 0), (0, HALF, 0, HALF)),  # a quarter turn to the left looks along -x
        (-math.pi / 2, (1, 0, 0), (0, -HALF, 0, HALF)),
        (math.pi, (0, 0, 1), (0, 1, 0, 0)),
    ],
)
def test_yaw_tables(yaw: float, forward: tuple[float, ...], quaternion: tuple[float, ...]) -> None:
    assert forward_from_yaw(np.array(yaw)) == pytest.approx(forward, abs=1e-12)
    assert quaternion_from_yaw(np.array(yaw)) == pytest.approx(quaternion, abs=1e-12)


@given(angles)
def test_yaw_survives_the_quaternion(yaw: float) -> None:
    back = yaw_from_quaternion(quaternion_from_yaw(np.array(yaw)))
    assert wrap_angle(back - yaw) == pytest.approx(0, abs=1e-9)


def test_quaternions_need_not_be_of_unit_length() -> None:
    long = np.array([[0.0, 3.0, 0.0, 3.0], [0.0, -0.1, 0.0, -0.1]])
    assert yaw_from_quaternion(long) == pytest.approx([math.pi / 2] * 2)


@pytest.mark.parametrize(
    ("yaw", "pitch", "axes"),
    [
        (0.0, 0.0, (RIGHT, UP, BACK)),
        (math.pi / 2, 0.0, (-BACK, UP, RIGHT)),  # right of a body looking along -x is -z
        (0.0, math.pi / 2, (RIGHT, BACK, -UP)),  # looking straight up: backward is down
        (0.0, -math.pi / 2, (RIGHT, -BACK, UP)),
    ],
)
def test_camera_axes(yaw: float, pitch: float, axes: tuple[np.ndarray, ...]) -> None:
    assert rotation_from_yaw_pitch(yaw, pitch) == pytest.approx(np.stack(axes, 1), abs=1e-12)


@given(angles, st.floats(-1.5, 1.5))
def test_camera_rotation_is_proper_and_looks_where_the_body_does(yaw: float, pitch: float) -> None:
    rotation = rotation_from_yaw_pitch(yaw, pitch)
    assert rotation @ rotation.T == pytest.approx(np.eye(3), abs=1e-12)
    assert np.linalg.det(rotation) == pytest.approx(1)
    level = forward_from_yaw(np.array(yaw)) * math.cos(pitch) + UP * math.sin(pitch)
    assert -rotation[:, 2] == pytest.approx(level, abs=1e-12)


@given(angles)
def test_two_ways_to_one_rotation(yaw: float) -> None:
    by_quaternion = rotation_from_quaternion(quaternion_from_yaw(np.array(yaw)))
    assert by_quaternion == pytest.approx(rotation_from_yaw_pitch(yaw, 0.0), abs=1e-12)


def test_rotation_from_quaternion_about_x() -> None:
    quarter = np.array([HALF, 0, 0, HALF]) * 5
    assert rotation_from_quaternion(quarter) @ UP == pytest.approx(BACK, abs=1e-12)


def test_pinhole_of_ninety_degrees() -> None:
    """At 90 degrees the focal length is half the width: a point at 45 degrees hits the border."""
    assert focal_length(200, math.pi / 2) == pytest.approx(100)
    k = intrinsic_matrix(200, 100, math.pi / 2)
    assert k == pytest.approx(np.array([[100, 0, 100], [0, 100, 50], [0, 0, 1]]))
    column, row, _ = k @ np.array([1.0, 0.5, 1.0])
    assert (column, row) == pytest.approx((200, 100))


def test_episode_frame_by_hand() -> None:
    """Facing -x at (5, 1, 2): a point 3 m ahead stands at z = -3, one to the right at x = +1."""
    start, yaw = np.array([5.0, 1.0, 2.0]), np.array(math.pi / 2)
    assert episode_frame(np.array([2.0, 1.0, 2.0]), start, yaw) == pytest.approx([0, 0, -3], abs=1e-12)
    assert episode_frame(np.array([5.0, 1.5, 1.0]), start, yaw) == pytest.approx([1, 0.5, 0], abs=1e-12)


@settings(max_examples=30)
@given(coordinates, coordinates, coordinates, angles)
def test_episode_frame_is_the_inverse_rotation(x: float, y: float, z: float, yaw: float) -> None:
    start = np.array([1.0, -2.0, 3.0])
    local = episode_frame(np.array([x, y, z]), start, np.array(yaw))
    assert rotation_from_yaw_pitch(yaw, 0.0) @ local + start == pytest.approx([x, y, z], abs=1e-8)


def test_unity_turns_clockwise_from_plus_z() -> None:
    """Unity heading 0 looks along its +z, which is our -z; 90 degrees looks along +x."""
    for degrees, forward in ((0, -BACK), (90, RIGHT), (180, BACK), (270, -RIGHT)):
        assert forward_from_yaw(yaw_from_unity(np.array(float(degrees)))) == pytest.approx(forward, abs=1e-12)
    assert world_from_unity(np.array([1.0, 2.0, 3.0])) == pytest.approx([1, 2, -3])
