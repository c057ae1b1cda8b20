"""Scan matching in drawn rooms and in a house under the noise of a challenge, against true poses."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from navarena.agents.agent import Start
from navarena.agents.loading import load_agent
from navarena.core.errors import InputError
from navarena.core.geometry import focal_length, wrap_angle
from navarena.core.seeding import make_generator
from navarena.episodes import load_episodes
from navarena.mapping.scan_kernels import ROWS, keep_seen, mark_seen, rate_pose, read_scan, stamp_scan
from navarena.mapping.scan_odometry import ScanOdometry, ScanSettings, compose
from navarena.simulation.bodies import Bodies
from navarena.simulation.body import Camera
from navarena.simulation.camera_pose import world_from_camera
from navarena.tasks.batch import NavigationBatch
from navarena.tasks.catalog import get_task

CAMERA = Camera(width_px=64, height_px=36, hfov=math.radians(70), mount=(0.0, 0.88, 0.0))
FRAME = world_from_camera(Bodies(1), CAMERA)
SMALL = ScanSettings(size=12.0)
WALLS = (-2.0, 1.7, -3.1, 2.4)
"""A room: x of its left and right wall, z of the one ahead and the one behind; metres from the origin."""


def see_room(x, z, yaw):
    """(1, 36, 64) float32: depth of the room's walls from a pose, by plain geometry; they never end."""
    focal = focal_length(CAMERA.width_px, CAMERA.hfov)
    across = (np.arange(CAMERA.width_px) + 0.5 - CAMERA.width_px / 2) / focal
    east = across * math.cos(yaw) - math.sin(yaw)
    south = -across * math.sin(yaw) - math.cos(yaw)
    left, right, front, rear = WALLS
    with np.errstate(divide="ignore"):
        to_x = np.where(east > 0, (right - x) / east, (left - x) / east)
        to_z = np.where(south > 0, (rear - z) / south, (front - z) / south)
    return np.repeat(np.minimum(to_x, to_z)[None], CAMERA.height_px, 0)[None].astype(np.float32)


def follow(odometry, motions, commanded):
    """True poses (K + 1, 3) of a body making `motions` (K, 3), and those reckoned from `commanded` (K, 3)."""
    true, reckoned = [np.zeros(3)], []
    for motion, expected in zip([np.zeros(3), *motions], [np.zeros(3), *commanded], strict=True):
        true.append(compose(true[-1], motion))
        seen = odometry.update(see_room(*true[-1]), expected[None], FRAME)
        reckoned.append(seen[0].copy())
    return np.array(true[1:]), np.array(reckoned)


def read_plainly(depth, settings=SMALL):
    """The points of a scan by the definition, one by one."""
    focal = focal_length(CAMERA.width_px, CAMERA.hfov)
    points = []
    for tangent in settings.bands:
        first = int(CAMERA.height_px / 2 - tangent * focal) - ROWS // 2
        if not 0 <= first <= CAMERA.height_px - ROWS:
            continue
        up = (CAMERA.height_px / 2 - first - ROWS / 2) / focal
        for column in range(CAMERA.width_px):
            depths = depth[first : first + ROWS, column]
            depths = np.sort(depths[(depths > settings.min_range) & (depths < settings.max_range)])
            if 2 * len(depths) < ROWS:
                continue
            metres = depths[len(depths) // 2]
            layer = math.floor((0.88 + up * metres - settings.lowest_layer) / settings.layer_height)
            if 0 <= layer < settings.layers:
                right = (column + 0.5 - CAMERA.width_px / 2) / focal * metres
                weight = 1 / (1 + (settings.softness * metres**2) ** 2)
                points.append((right, -metres, weight, layer))
    return np.array(points).reshape(-1, 4)


def read(depth, settings=SMALL):
    """The points of a scan by the kernel."""
    points = np.zeros((len(settings.bands) * CAMERA.width_px, 4))
    count = read_scan(
        depth, 1.0, 0.0, focal_length(CAMERA.width_px, CAMERA.hfov), FRAME[0], np.array(settings.bands), 1, 1,
        settings.min_range, settings.max_range, settings.softness, settings.lowest_layer,
        settings.layer_height, settings.layers, np.zeros(ROWS), points,
    )  # fmt: skip
    return points[:count]


def test_scans_are_read_as_defined():
    generator = make_generator("scans")
    depth = generator.uniform(0.0, 10.0, (CAMERA.height_px, CAMERA.width_px)).astype(np.float32)
    depth[generator.random(depth.shape) < 0.3] = np.nan
    assert len(read_plainly(depth)) > 50
    np.testing.assert_allclose(read(depth), read_plainly(depth), rtol=1e-6, atol=1e-9)
    assert not len(read(np.zeros_like(depth)))


def test_a_scan_fits_best_where_it_was_stamped():
    """Nowhere near, and nowhere else, as well as at the place itself."""
    points = read(see_room(0.0, 0.0, 0.3)[0])
    field = np.zeros((SMALL.layers, 240, 240), np.uint8)
    stamp_scan(field, points, len(points), np.array([0.2, -0.1, 0.3]), 0.05, 0.05, 0.5, np.zeros((2, 7)))
    there = rate_pose(field, points, len(points), 1, 0.2, -0.1, 0.3, 0.05, True)
    assert there > 0.6
    for x, z, yaw in ((0.3, -0.1, 0.3), (0.2, -0.2, 0.3), (0.2, -0.1, 0.4), (0.7, 0.4, 0.3)):
        assert rate_pose(field, points, len(points), 1, x, z, yaw, 0.05, True) < there - 0.1
    assert rate_pose(field, points, 0, 1, 0.0, 0.0, 0.0, 0.05, True) == 0.0
    assert rate_pose(field, points, len(points), 1, 90.0, 0.0, 0.0, 0.05, False) == 0.0


def test_noise_of_motion_is_seen_in_depth():
    """Six times round the room with walks and turns that stray as PyRobot's do."""
    commanded = np.array([(0.25, 0, 0), (0, 0, math.pi / 6), (0, 0, math.pi / 6), (0.25, 0, 0)] * 9, float)
    ends, medians, lost, turned = [], [], [], []
    for tour in range(6):
        generator = make_generator("round the room", tour)
        strays = generator.normal(size=commanded.shape) * (0.04, 0.04, 0.06) + (0.0, 0.0, 0.02)
        true, reckoned = follow(ScanOdometry(1, CAMERA, SMALL), commanded + strays, commanded)
        blind = [np.zeros(3)]
        for motion in commanded:
            blind.append(compose(blind[-1], motion))
        off = np.linalg.norm((reckoned - true)[:, :2], axis=1)
        ends.append(off[-1])
        medians.append(np.median(off))
        lost.append(np.linalg.norm((np.array(blind) - true)[:, :2], axis=1).mean() / off.mean())
        turned.append(np.abs(wrap_angle((reckoned - true)[:, 2])).max())
    assert np.mean(ends) < 0.25 and np.mean(medians) < 0.2
    assert np.mean(lost) > 1.8
    assert np.mean(turned) < math.radians(10)


def test_exact_motions_stay_exact():
    """A scan is not drawn from what it shows for the first time to what is known already."""
    commanded = np.array([(0, 0, math.pi / 6)] * 12 + [(0.25, 0, 0), (0, 0, math.pi / 6)] * 4, float)
    true, reckoned = follow(ScanOdometry(1, CAMERA, SMALL), commanded, commanded)
    assert np.linalg.norm((reckoned - true)[:, :2], axis=1).max() < 0.06
    assert np.abs(wrap_angle((reckoned - true)[:, 2])).max() < math.radians(2)


@pytest.mark.parametrize("made", [0.0, 0.08, 0.16])
def test_walks_that_end_early_are_noticed(made):
    """Walks of which a part is made, or none: their images say so, not the commands."""
    commanded = np.array([(0, 0, math.pi / 6)] * 12 + [(0.25, 0, 0)] * 4, float)
    true, reckoned = follow(ScanOdometry(1, CAMERA, SMALL), np.minimum(commanded, (made, 0, 9)), commanded)
    np.testing.assert_allclose(reckoned[-1, :2], true[-1, :2], atol=0.06)
    assert np.linalg.norm(true[-1, :2]) == pytest.approx(4 * made)


def test_points_count_where_earlier_scans_looked():
    """`mark_seen` and `keep_seen` by their definitions, cell by cell and point by point."""
    first = read(see_room(0.0, 0.0, 0.3)[0])
    pose, cell, side = np.array([0.2, -0.1, 0.3]), 0.05, 240
    seen = np.zeros((side, side), bool)
    mark_seen(seen, first, len(first), pose, cell, np.zeros(360))
    farthest: dict[int, float] = {}
    for right, back, *_ in first:
        place = math.floor((math.degrees(math.atan2(right, -back)) + 180) % 360)
        farthest[place] = max(farthest.get(place, 0.0), math.hypot(right, back))
    expected = np.zeros_like(seen)
    for place, metres in farthest.items():
        angle = math.radians(place + 0.5 - 180) - pose[2]
        for along in np.arange(0.0, metres, cell):
            x, z = pose[0] + along * math.sin(angle), pose[1] - along * math.cos(angle)
            expected[math.floor(z / cell + side / 2), math.floor(x / cell + side / 2)] = True
    assert expected.sum() > 500 and (seen != expected).sum() < 0.01 * expected.sum()

    second, later = read(see_room(0.0, 0.0, -0.3)[0]), np.array([0.2, -0.1, -0.3])
    points = second.copy()
    known = keep_seen(seen, points, len(points), later, cell, 0.1, 0.03)
    kept = [point for point in second if is_known(seen, point, later, cell, side)]
    assert 0.2 * len(second) < len(kept) < 0.9 * len(second)
    np.testing.assert_allclose(points[:known], kept)
    np.testing.assert_allclose(np.sort(points, 0), np.sort(second, 0))


def is_known(seen, point, pose, cell, side):
    """Whether both places beside a point have been looked through: 0.1 m nearer, 0.03 radians aside."""
    places = []
    for sign in (-1, 1):
        ahead = np.array(point[:2]) * (1 - 0.1 / math.hypot(*point[:2]))
        right, back = ahead + sign * 0.03 * np.array([-point[1], point[0]])
        x = pose[0] + math.cos(pose[2]) * right + math.sin(pose[2]) * back
        z = pose[1] - math.sin(pose[2]) * right + math.cos(pose[2]) * back
        places.append(seen[math.floor(z / cell + side / 2), math.floor(x / cell + side / 2)])
    return all(places)


def test_without_sight_the_actions_count():
    """No depth at all: the poses are what the motions add up to, exactly."""
    odometry = ScanOdometry(1, CAMERA, SMALL)
    dark = np.full((1, CAMERA.height_px, CAMERA.width_px), np.nan, np.float32)
    pose = np.zeros(3)
    for motion in ([0.0, 0.0, 0.0], [0.25, 0.0, 0.0], [0.0, 0.0, 0.5], [0.25, 0.1, 0.0]):
        commanded = np.array(motion)
        pose = compose(pose, commanded)
        np.testing.assert_array_equal(odometry.update(dark, commanded[None], FRAME)[0], pose)


@settings(max_examples=5, deadline=None)
@given(st.floats(-0.2, 0.2), st.integers(1, 3), st.integers(1, 3))
def test_bodies_do_not_touch_one_another(yaw, bodies, threads):
    """The same poses for any number of bodies side by side, threads, and units of depth."""
    alone = ScanOdometry(1, CAMERA, SMALL)
    together = ScanOdometry(bodies, CAMERA, SMALL, threads)
    for pose in ((0.0, 0.0, yaw), (0.1, -0.2, yaw)):
        depth, commanded = see_room(*pose), np.array([[0.25, 0.0, 0.0]])
        one = alone.update(depth, commanded, FRAME)
        others = np.repeat(depth, bodies, 0)
        others[1:] *= 0.9
        all_of_them = together.update(
            (others - 1) / 4,
            np.repeat(commanded, bodies, 0),
            np.repeat(FRAME, bodies, 0),
            scale=4.0,
            offset=1.0,
        )
        np.testing.assert_allclose(all_of_them[0], one[0], atol=2e-3)


def test_only_active_bodies_move_and_a_reset_forgets():
    odometry = ScanOdometry(2, CAMERA, SMALL)
    depths, frames = np.repeat(see_room(0.0, 0.0, 0.0), 2, 0), np.repeat(FRAME, 2, 0)
    commanded = np.array([[0.25, 0.0, 0.0]] * 2)
    odometry.update(depths, commanded, frames)
    assert not odometry.poses.any(), "the first image is the origin"
    odometry.update(np.repeat(see_room(0.0, -0.25, 0.0), 2, 0), commanded, frames, np.array([True, False]))
    assert odometry.poses[0, 1] == pytest.approx(-0.25, abs=0.03) and not odometry.poses[1].any()
    odometry.reset([0])
    odometry.update(depths, commanded, frames)
    assert not odometry.poses[0].any()


def test_bad_input_is_refused():
    odometry = ScanOdometry(1, CAMERA, SMALL)
    depth, commanded = see_room(0.0, 0.0, 0.0), np.zeros((1, 3))
    with pytest.raises(InputError, match=r"shape \(1, 36, 64\), got \(1, 36, 63\)"):
        odometry.update(depth[:, :, 1:], commanded, FRAME)
    roll = np.eye(4)
    roll[:2, :2] = [[math.cos(0.1), -math.sin(0.1)], [math.sin(0.1), math.cos(0.1)]]
    with pytest.raises(InputError, match="do not roll"):
        odometry.update(depth, commanded, FRAME @ roll)
    odometry.update(depth, commanded, FRAME)
    with pytest.raises(InputError, match="finite motions"):
        odometry.update(depth, commanded * np.nan, FRAME)
    with pytest.raises(InputError, match="positive lengths"):
        ScanSettings(cell=0.0)
    with pytest.raises(InputError, match="at least one layer"):
        ScanSettings(bands=())
    with pytest.raises(InputError, match="min_range < max_range"):
        ScanSettings(min_range=9.5)


@pytest.mark.slow
@pytest.mark.turns(6)
def test_errors_in_noisy_houses_are_a_few_centimetres_a_metre():
    """Walks of the expert in the test split under Redwood's and PyRobot's noise; actions alone lose more."""
    task = get_task("pointnav-habitat2020-v1+rgb_noise=false")
    camera = task.embodiment.cameras[0]
    motions = np.array([(0, 0, 0), (0.25, 0, 0), (0, 0, math.pi / 6), (0, 0, -math.pi / 6)], float)
    episodes = load_episodes(task, "test").episodes[5::100]
    count = len(episodes)
    batch, expert = NavigationBatch(task, count, 1, ["depth"]), load_agent("expert", task)
    expert.attach(batch)
    batch.start(range(count), episodes)
    expert.reset([Start(row, one.episode_id, one.scene_id) for row, one in enumerate(episodes)])
    odometry, frames = ScanOdometry(count, camera), world_from_camera(Bodies(count), camera)
    blind, commanded, walked = np.zeros((count, 3)), np.zeros((count, 3)), np.zeros(count)
    while batch.running.any():
        running, before = batch.running, batch.simulator.positions.copy()
        depths = np.ascontiguousarray(batch.observations["depth"][..., 0])
        odometry.update(depths, commanded, frames, running, scale=9.9, offset=0.1)
        actions = expert.act(batch.observations, running)
        commanded = motions[actions]
        blind[running] = [compose(*both) for both in zip(blind[running], commanded[running], strict=True)]
        batch.step(actions, running)
        walked += np.linalg.norm(batch.simulator.positions - before, axis=1)
    true = true_poses(batch.simulator.bodies)
    off, lost = (np.linalg.norm((poses - true)[:, :2], axis=1).sum() for poses in (odometry.poses, blind))
    assert off < 0.08 * walked.sum() and off < lost / 3


def true_poses(bodies):
    """(N, 3) [x, z, yaw] of bodies in the frames of their starts."""
    offset = bodies.positions - bodies.start_positions
    cosine, sine = np.cos(bodies.start_yaws), np.sin(bodies.start_yaws)
    right = cosine * offset[:, 0] - sine * offset[:, 2]
    back = sine * offset[:, 0] + cosine * offset[:, 2]
    return np.stack([right, back, bodies.yaws - bodies.start_yaws], 1)
