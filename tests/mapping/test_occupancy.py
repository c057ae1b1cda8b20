"""Occupancy maps against drawn floor plans, and their edges."""

import math
from dataclasses import replace

import numpy as np
import pytest

from navarena.core.errors import InputError
from navarena.mapping.occupancy import FREE, OCCUPIED, UNKNOWN, OccupancyMaps, OccupancySettings
from navarena.simulation.body import Camera, Embodiment
from navarena.simulation.sensors.images import Depth
from navarena.simulation.simulator import Simulator
from worlds import ROOMS, draw_world

CAMERA = Camera(width_px=64, height_px=64)
SETTINGS = OccupancySettings(cell=0.1, size=12.0, max_range=6.0)
BLANK = np.full((1, 64, 64), 4.0, np.float32)


def at(x=0.0, z=0.0, y=0.88):
    """A level camera that looks along -z."""
    pose = np.eye(4)
    pose[:3, 3] = x, y, z
    return pose[None]


def look_around(camera, places, yaws, noise=None):
    """Depths (K, H, W) and poses of a body in the drawn rooms, true or noisy."""
    body = Embodiment("looker", 1.0, 0.1, cameras=(camera,))
    world = draw_world(ROOMS)
    poses = [(place, yaw) for place in places for yaw in yaws]
    metric = Depth(0, 50, normalize=False)
    simulator = Simulator(
        body, len(poses), ("depth",), own_sensor=lambda name: metric if name == "depth" else None
    )
    positions = np.array([[x, 0.0, z] for (x, z), _ in poses])
    simulator.place(range(len(poses)), [world] * len(poses), positions, np.array([yaw for _, yaw in poses]))
    depths, cameras = simulator.observations["depth"][..., 0].copy(), simulator.world_from_camera()
    if noise is not None:
        depths *= 1 + 0.02 * noise.standard_normal(depths.shape).astype(np.float32)
        cameras[:, [0, 2], 3] += 0.02 * noise.standard_normal((len(poses), 2))
    return depths, cameras


PLACES = [(1.5, 1.5), (5.0, 1.0), (8.6, 1.5), (8.0, 5.3), (5.0, 5.5), (1.5, 5.0)]
YAWS = np.arange(12) * math.pi / 6 + 0.1


def fill_map(camera, settings, noise=None):
    maps = OccupancyMaps(1, settings)
    maps.reset([0], np.array([[5.013, 5.007]]))
    for depth, pose in zip(*look_around(camera, PLACES, YAWS, noise), strict=True):
        maps.update(depth[None], camera, pose[None], np.zeros(1))
    return maps


def drawn_states(grid, reach=0.051):
    """Blocks, metres to their outsides, and cells whose middle lies up to `reach` off the floor."""
    middles = grid.centers_of(np.stack(np.indices((grid.rows, grid.columns)), -1))
    solid = np.zeros((grid.rows, grid.columns), bool)
    edge = np.full((grid.rows, grid.columns), np.inf)
    inside = np.zeros_like(solid)
    for z, row in enumerate(ROOMS):
        for x, mark in enumerate(row):
            to_x, to_z = np.abs(middles[..., 0] - x - 0.5) - 0.5, np.abs(middles[..., 2] - z - 0.5) - 0.5
            outside = np.maximum(to_x, to_z)
            inside |= outside < reach
            if mark == "#":
                solid |= outside < 0
                edge = np.minimum(edge, outside)
    return solid, np.abs(edge), inside


@pytest.mark.parametrize(
    ("camera", "reach"),
    [
        (CAMERA, 0.051),
        (replace(CAMERA, yaw=0.7, width_px=96), 0.051),
        (replace(CAMERA, pitch=-0.5), 0.2),  # the columns of a tilted camera spread out on the floor
        (replace(CAMERA, pitch=0.2), 0.2),
    ],
    ids=["level", "aside", "down", "up"],
)
def test_maps_equal_the_drawing(camera, reach):
    maps = fill_map(camera, SETTINGS)
    states, grid = maps.states(0), maps.grid(0)
    solid, edge, inside = drawn_states(grid, reach)
    free, occupied = states == FREE, states == OCCUPIED
    assert free.sum() > 3500 and occupied.sum() > 150
    assert (edge[occupied] < 0.08).all(), "only surfaces of blocks are occupied"
    assert not (free & solid & (edge > 0.051)).any(), "nothing inside a block is free"
    assert not (free & ~inside).any()
    wrong = (free & solid) | (occupied & (edge > 0.08))
    assert wrong.sum() < 0.03 * (free | occupied).sum()


def test_noise_hardly_matters():
    noisy = fill_map(CAMERA, SETTINGS, np.random.default_rng(0))
    states = noisy.states(0)
    solid, edge, _ = drawn_states(noisy.grid(0))
    wrong = ((states == FREE) & solid & (edge > 0.1)) | ((states == OCCUPIED) & (edge > 0.2))
    assert wrong.sum() < 0.03 * (states != UNKNOWN).sum()


def test_a_batch_equals_single_maps_cell_by_cell():
    depths, poses = look_around(CAMERA, PLACES[:3], YAWS[:4])
    middles = poses[:, [0, 2], 3]
    batch = OccupancyMaps(len(depths), replace(SETTINGS, size=16.0), threads=2)
    batch.reset(range(len(depths)), middles)
    for _ in range(2):
        batch.update(depths, CAMERA, poses, np.zeros(len(depths)))
    for n in range(len(depths)):
        single = OccupancyMaps(1, replace(SETTINGS, size=16.0))
        single.reset([0], middles[n : n + 1])
        for _ in range(2):
            single.update(depths[n : n + 1], CAMERA, poses[n : n + 1], np.zeros(1))
        assert np.array_equal(single.scores[0], batch.scores[n])


def test_an_iterative_map_knows_the_union_of_what_its_episodes_saw():
    """Known is known in any of them, and what both found free or occupied is so in the whole."""
    depths, poses = look_around(CAMERA, PLACES[:4], YAWS[::2])
    maps = OccupancyMaps(3, SETTINGS)
    maps.reset([0, 1, 2], np.tile([5.013, 5.007], (3, 1)))
    for number, (depth, pose) in enumerate(zip(depths, poses, strict=True)):
        both = np.array([number < 12, number >= 12, True])  # one episode, the other, and a tour of both
        maps.update(np.tile(depth, (3, 1, 1)), CAMERA, np.tile(pose, (3, 1, 1)), np.zeros(3), both)
    first, second, tour = (maps.states(agent) for agent in range(3))
    assert np.array_equal(tour != UNKNOWN, (first != UNKNOWN) | (second != UNKNOWN))
    agreed = (first == second) | (second == UNKNOWN)
    known = first != UNKNOWN
    assert np.array_equal(tour[agreed & known], first[agreed & known])
    assert (tour != UNKNOWN).sum() > 1.2 * max(known.sum(), (second != UNKNOWN).sum())


def test_only_active_agents_learn_and_only_reset_ones_forget():
    maps = OccupancyMaps(2, SETTINGS)
    depths, poses = np.tile(BLANK, (2, 1, 1)), np.tile(at(), (2, 1, 1))
    maps.update(depths, CAMERA, poses, np.zeros(2), np.array([True, False]))
    assert (maps.states(0) != UNKNOWN).any() and not maps.states(1).any()
    maps.update(depths, CAMERA, poses, np.zeros(2))
    kept = maps.states(1)
    maps.reset([0])
    assert not maps.states(0).any() and np.array_equal(maps.states(1), kept) and kept.any()


def wall_ahead(distance):
    """What a level camera sees of a wall `distance` metres ahead, and of the floor before it."""
    rows = (np.arange(64) + 0.5 - 32) / (32 / math.tan(CAMERA.hfov / 2))
    floor = np.where(rows > 0, 0.88 / np.maximum(rows, 1e-9), np.inf)
    return np.tile(np.minimum(floor, distance)[:, None], (1, 64)).astype(np.float32)[None]


def test_a_wall_by_hand():
    """From the middle of a map of 120 cells of 0.1 m, a wall at 3.05 m lies in row 60 - 31."""
    maps = OccupancyMaps(1, SETTINGS)
    maps.update(wall_ahead(3.05), CAMERA, at(0.05, 0.0), np.zeros(1))
    column = maps.states(0)[:, 60]
    assert column[29] == OCCUPIED and (column[30:59] == FREE).all()
    assert (column[:29] == UNKNOWN).all() and (column[60:] == UNKNOWN).all()


def test_depths_beyond_the_range_are_free_and_no_obstacle():
    maps = OccupancyMaps(1, replace(SETTINGS, max_range=3.0))
    maps.update(wall_ahead(5.0), CAMERA, at(0.05), np.zeros(1))
    column = maps.states(0)[:, 60]
    assert not (maps.states(0) == OCCUPIED).any() and (column[31:59] == FREE).all()
    assert (column[:30] == UNKNOWN).all()


def test_depths_up_to_the_nearest_block_the_view():
    maps = OccupancyMaps(1, replace(SETTINGS, min_range=0.5))
    image = wall_ahead(3.0)
    image[0, 20:56, 30:34] = 0.5  # something nearer than the sensor can tell
    maps.update(image, CAMERA, at(0.05), np.zeros(1))
    assert maps.states(0)[35, 60] != FREE and maps.states(0)[35, 50] == FREE


@pytest.mark.parametrize("nothing", [0.0, -1.0, np.nan, np.inf])
def test_what_is_no_depth_says_nothing(nothing):
    maps = OccupancyMaps(1, SETTINGS)
    maps.update(np.full_like(BLANK, nothing), CAMERA, at(), np.zeros(1))
    assert not maps.states(0).any() and not maps.is_outside[0]


def test_a_drop_of_the_floor_ends_the_view():
    """A floor one metre down from 2 m ahead on: what is seen there is closed, up to it all is free."""
    rows = (np.arange(64) + 0.5 - 32) / (32 / math.tan(CAMERA.hfov / 2))
    near = np.where(rows > 0, 0.88 / np.maximum(rows, 1e-9), np.inf)
    far = np.where(rows > 0, 1.88 / np.maximum(rows, 1e-9), 7.0)
    image = np.tile(np.where(near < 2, near, np.minimum(far, 7.0))[:, None], (1, 64)).astype(np.float32)
    maps = OccupancyMaps(1, SETTINGS)
    maps.update(image[None], CAMERA, at(0.05), np.zeros(1))
    column = maps.states(0)[:, 60]
    assert (column[42:58] == FREE).all() and not (column[:38] == FREE).any()
    assert (maps.states(0)[:38, 58:63] == OCCUPIED).any()
    assert (maps.states(0)[36:41, 58:63] == OCCUPIED).any(0).all(), "the edge is closed, not a frontier"


def test_later_images_overrule_single_mistakes():
    maps = OccupancyMaps(1, SETTINGS)
    ghost = wall_ahead(4.0)
    ghost[0, 20:40] = np.minimum(ghost[0, 20:40], 2.0)
    maps.update(ghost, CAMERA, at(), np.zeros(1))
    assert (maps.states(0)[39:41, 55:65] == OCCUPIED).any()
    for _ in range(4):
        maps.update(wall_ahead(4.0), CAMERA, at(), np.zeros(1))
    assert not (maps.states(0)[36:44, 50:70] == OCCUPIED).any()


def test_each_floor_has_a_layer():
    maps = OccupancyMaps(1, replace(SETTINGS, layers=2))
    for height, distance in ((0.0, 3.0), (2.8, 2.0), (0.3, 3.0)):
        maps.update(wall_ahead(distance), CAMERA, at(y=0.88 + height), np.array([height]))
        assert maps.layer[0] == (height == 2.8)
    assert maps.floors[0].tolist() == [0.0, 2.8]
    below, above = maps.scores[0]
    assert (below > 0).any() and (above > 0).any() and not np.array_equal(below > 0, above > 0)
    maps.update(BLANK, CAMERA, at(y=6.88), np.array([6.0]))
    assert maps.is_outside[0], "there is no third layer"
    assert np.array_equal(maps.scores[0, 0], below) and np.array_equal(maps.scores[0, 1], above)


def test_a_camera_off_the_map_changes_nothing():
    maps = OccupancyMaps(1, SETTINGS)
    maps.update(BLANK, CAMERA, at(x=6.5), np.zeros(1))
    assert maps.is_outside[0] and not maps.scores.any()
    maps.update(BLANK, CAMERA, at(x=5.5), np.zeros(1))
    assert not maps.is_outside[0] and maps.scores.any()


def test_bad_input_is_refused():
    with pytest.raises(InputError, match=r"at most 1,000 bytes.*larger cells"):
        OccupancyMaps(3, replace(SETTINGS, limit_bytes=1000))
    maps = OccupancyMaps(1, SETTINGS)
    with pytest.raises(InputError, match="finite camera poses"):
        maps.update(BLANK, CAMERA, at(np.nan), np.zeros(1))
    with pytest.raises(InputError, match="expected depths of shape"):
        maps.update(BLANK[:, :32], CAMERA, at(), np.zeros(1))
    with pytest.raises(InputError, match="finite heights"):
        maps.update(BLANK, CAMERA, at(), np.array([np.nan]))
    rolled = at()
    rolled[0, :3, :3] = [[0, -1, 0], [1, 0, 0], [0, 0, 1]]
    with pytest.raises(InputError, match="do not roll"):
        maps.update(BLANK, CAMERA, rolled, np.zeros(1))
    for wrong in ({"cell": 0.0}, {"obstacle_bottom": 0.0}, {"hit": 0}, {"min_range": 9.0}):
        with pytest.raises(InputError, match="expected"):
            replace(SETTINGS, **wrong)
