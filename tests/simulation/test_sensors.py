"""Sensors on poses whose readings are known by hand."""

import math

import numpy as np
import pytest

from navarena.core.errors import InputError, UnknownNameError
from navarena.core.geometry import rotation_from_yaw_pitch
from navarena.simulation.bodies import Bodies
from navarena.simulation.body import Camera, Embodiment
from navarena.simulation.body_catalog import LOCOBOT, VLN_CE
from navarena.simulation.camera_pose import world_from_camera
from navarena.simulation.observation_sources import find_sources
from navarena.simulation.sensors.catalog import SENSORS
from navarena.simulation.sensors.images import Depth
from navarena.simulation.sensors.pose import Collided, Compass, Gps, Heading, Position


def body_at(start, start_yaw, position, yaw):
    bodies = Bodies(1)
    bodies.place(np.array([0]), np.array([start], float), np.array([start_yaw], float))
    bodies.positions[0], bodies.yaws[0] = position, yaw
    return bodies


def read(sensor, bodies):
    spec = sensor.spec()
    out = np.zeros((len(bodies), *spec.shape), spec.dtype)
    sensor.observe(bodies, out)
    return out[0].tolist()


QUARTER = math.pi / 2


@pytest.mark.parametrize(
    ("start_yaw", "step", "expected"),
    [
        (0.0, (0, 0, -1), (1, 0)),  # ahead of a body that looks along -z
        (0.0, (1, 0, 0), (0, 1)),  # to its right
        (QUARTER, (-1, 0, 0), (1, 0)),  # ahead of a body that looks along -x
        (QUARTER, (0, 0, -1), (0, 1)),
        (math.pi, (0, 0, 1), (1, 0)),
        (-QUARTER, (2, 0, 3), (2, 3)),
        (math.pi / 6, (-0.5, 0, -math.sqrt(3) / 2), (1, 0)),
        (0.0, (0, 5, 0), (0, 0)),  # height does not show
    ],
)
def test_gps(start_yaw, step, expected):
    start = np.array([3.0, 1.0, -2.0])
    bodies = body_at(start, start_yaw, start + step, 0.3)
    assert read(Gps(), bodies) == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize(
    ("start_yaw", "yaw", "expected"),
    [
        (0.0, 0.0, 0.0),
        (0.0, QUARTER, QUARTER),
        (QUARTER, 0.0, -QUARTER),
        (3.0, -3.0, 2 * math.pi - 6.0),  # the short way round
        (-3.0, 3.0, 6.0 - 2 * math.pi),
    ],
)
def test_compass(start_yaw, yaw, expected):
    assert read(Compass(), body_at((0, 0, 0), start_yaw, (0, 0, 0), yaw)) == pytest.approx([expected])


def test_compass_stays_within_its_bounds_at_half_a_turn():
    spec = Compass().spec()
    for yaw in (math.pi, -math.pi, np.nextafter(math.pi, 0), np.nextafter(-math.pi, 0)):
        (value,) = read(Compass(), body_at((0, 0, 0), 0.0, (0, 0, 0), yaw))
        assert spec.low <= value <= spec.high


def test_heading_position_collided():
    bodies = body_at((1, 2, 3), 0.5, (4, 5, 6), -1.25)
    bodies.collided[0] = True
    assert read(Heading(), bodies) == pytest.approx([-1.25])
    assert read(Position(), bodies) == [4, 5, 6]
    assert read(Collided(), bodies) == [1]


@pytest.mark.parametrize(
    ("metres", "normalized", "plain"),
    [(0.0, 0.0, 0.5), (0.5, 0.0, 0.5), (2.75, 0.5, 2.75), (5.0, 1.0, 5.0), (80.0, 1.0, 5.0)],
)
def test_depth_is_clipped_and_normalised(metres, normalized, plain):
    image = np.full((1, 2, 3), metres, np.float32)
    for normalize, expected in ((True, normalized), (False, plain)):
        sensor = Depth(0.5, 5.0, normalize)
        out = np.zeros((1, 2, 3, 1), np.float32)
        sensor.develop(image, out)
        assert out == pytest.approx(np.full((1, 2, 3, 1), expected))
        spec = sensor.spec(Camera())
        assert (out >= spec.low).all() and (out <= spec.high).all()


def test_depth_range_must_be_a_range():
    with pytest.raises(InputError, match="min_range < max_range"):
        Depth(5.0, 0.5)


def test_camera_pose_follows_yaw_tilt_and_mount():
    bodies = Bodies(2)
    bodies.place(np.array([0, 1]), np.array([[1.0, 2, 3], [0, 0, 0]]), np.array([QUARTER, 0.0]))
    bodies.tilts[:] = [0.0, 0.4]
    pose = world_from_camera(bodies, Camera(mount=(0.1, 0.9, -0.2), yaw=0.3, pitch=-0.1))
    # looking along -x, right is -z: 0.1 m to the right and 0.2 m ahead of (1, 2, 3)
    assert pose[0, :3, 3] == pytest.approx([1 - 0.2, 2.9, 3 - 0.1])
    assert pose[1, :3, 3] == pytest.approx([0.1, 0.9, -0.2])
    assert pose[0, :3, :3] == pytest.approx(rotation_from_yaw_pitch(QUARTER + 0.3, -0.1))
    assert pose[1, :3, :3] == pytest.approx(rotation_from_yaw_pitch(0.3, 0.3))
    assert pose[:, 3].tolist() == [[0, 0, 0, 1]] * 2


class Misnamed(Heading):
    name = "gps"


def test_a_sensor_is_called_as_it_is_registered(monkeypatch):
    monkeypatch.setitem(SENSORS._objects, "misnamed", Misnamed)
    with pytest.raises(InputError, match="expected a sensor called 'misnamed', got 'gps'"):
        find_sources(LOCOBOT, "misnamed")


def test_names_find_sensors_and_cameras():
    (depth,) = find_sources(VLN_CE, "depth")
    assert VLN_CE.cameras[depth.camera].width_px == 256
    (rgb,) = find_sources(VLN_CE, "rgb")
    assert VLN_CE.cameras[rgb.camera].width_px == 224
    two = Embodiment("two-eyes", 1.0, 0.1, cameras=(Camera("left"), Camera("right")))
    assert [reading.name for reading in find_sources(two, Depth())] == ["left_depth", "right_depth"]
    (right,) = find_sources(two, "right_rgb")
    assert (right.name, right.camera) == ("right_rgb", 1)
    (own,) = find_sources(two, "left_depth", lambda kind: Depth(1.0, 2.0) if kind == "depth" else None)
    assert (own.name, own.sensor) == ("left_depth", Depth(1.0, 2.0))
    with pytest.raises(UnknownNameError, match="Did you mean 'depth'"):
        find_sources(LOCOBOT, "dept")
    with pytest.raises(UnknownNameError, match="rgb"):
        find_sources(two, "rgb")
    deaf = Embodiment("no-depth", 1.0, 0.1, cameras=(Camera(channels=("rgb",)),))
    with pytest.raises(InputError, match="takes 'depth'"):
        find_sources(deaf, "depth")
