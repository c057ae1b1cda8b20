"""Images and poses that no map may take."""

from inspect import unwrap

import numpy as np
import pytest

from navarena.core.errors import InputError
from navarena.mapping import OccupancyMaps, OccupancySettings, unproject
from navarena.mapping.oracle_ego_map import PAPER_REVEAL, Uncovered
from navarena.mapping.oracle_map import oracle_grid
from navarena.mapping.scan_odometry import ScanOdometry, ScanSettings
from navarena.mapping.semantic_map import SemanticMaps, SemanticMapSettings
from navarena.simulation.body import Camera

# `unwrap` takes the functions as users have them: without the checks of types that tests add
CAMERA = Camera(width_px=16, height_px=12)
DEPTHS = np.full((2, 12, 16), 2.0, np.float32)
CLASSES = np.ones((2, 12, 16), np.int32)
POSES = np.tile(np.eye(4), (2, 1, 1))
POSES[:, 1, 3] = 0.9
FEET = np.zeros(2)
MOTIONS = np.zeros((2, 3))


def occupancy(depths=DEPTHS, poses=POSES, feet=FEET, active=None):
    maps = OccupancyMaps(2, OccupancySettings(size=6.0), threads=1)
    unwrap(OccupancyMaps.update)(maps, depths, CAMERA, poses, feet, active)
    return maps.scores.any()


def semantics(depths=DEPTHS, poses=POSES, feet=FEET, active=None, classes=CLASSES):
    maps = SemanticMaps(2, SemanticMapSettings(size=6.0), threads=1)
    unwrap(SemanticMaps.update)(maps, depths, classes, CAMERA, poses, feet, active)
    return maps.labels.any()


def uncovered(depths=DEPTHS, poses=POSES, active=None):
    maps = Uncovered(2, oracle_grid(), PAPER_REVEAL)
    unwrap(Uncovered.reveal_frames)(maps, depths, CAMERA, poses, active)
    return maps.seen.any()


def scans(depths=DEPTHS, poses=POSES, motions=MOTIONS, active=None):
    odometry = ScanOdometry(2, CAMERA, ScanSettings(size=6.0), threads=1)
    unwrap(ScanOdometry.update)(odometry, depths, motions, poses, active)
    return True


def changed_poses(change):
    poses = POSES.copy()
    poses[1, :3, :3] = change @ poses[1, :3, :3]
    return poses


WRONG = [
    ({"depths": DEPTHS[:1]}, r"depths of shape \(2, 12, 16\), got \(1, 12, 16\)"),
    ({"depths": DEPTHS[:, :, :8]}, "depths of shape"),
    ({"depths": DEPTHS[..., None]}, "depths of shape"),
    ({"poses": POSES[0]}, r"shape \(2, 4, 4\), got \(4, 4\)"),
    ({"poses": np.concatenate([POSES, POSES])}, r"got \(4, 4, 4\)"),
    ({"poses": POSES * np.nan}, "finite camera poses .* in row 0"),
    ({"poses": changed_poses(2 * np.eye(3))}, "neither stretch nor mirror.* in row 1"),
    ({"poses": changed_poses(np.diag([-1.0, 1.0, 1.0]))}, "neither stretch nor mirror"),
    ({"active": np.array([True])}, "active of 2 bool"),
    ({"active": np.array([0, 1])}, "active of 2 bool, got int64"),
]


@pytest.mark.parametrize("look", [occupancy, semantics, uncovered, scans])
def test_wrong_images_and_poses_are_refused(look):
    assert look()
    for wrong, message in WRONG:
        with pytest.raises(InputError, match=message):
            look(**wrong)


def test_a_motion_of_each_body_is_needed():
    for motions in (np.zeros((2, 2)), np.zeros((1, 3))):
        with pytest.raises(InputError, match="expected 2 finite motions"):
            scans(motions=motions)


@pytest.mark.parametrize("look", [occupancy, semantics])
@pytest.mark.parametrize("feet", [np.zeros(3), np.array([0.0, np.nan])])
def test_floors_must_be_known(look, feet):
    with pytest.raises(InputError, match="expected 2 finite heights"):
        look(feet=feet)
    if len(feet) == 2:
        assert look(feet=feet, active=np.array([True, False]))


def test_labels_must_fit_the_image():
    for classes in (CLASSES[:, :8], CLASSES[:1], CLASSES.astype(float), CLASSES * 13, -CLASSES):
        with pytest.raises(InputError, match="classes|labels"):
            semantics(classes=classes)
    assert semantics(classes=CLASSES.astype(np.int64))


def test_depth_of_other_types_is_read_as_the_same():
    for depths in (DEPTHS.astype(np.float64), DEPTHS.astype(np.uint16), np.asfortranarray(DEPTHS)):
        assert occupancy(depths) and semantics(depths)


@pytest.mark.parametrize("make", [OccupancyMaps, SemanticMaps])
def test_maps_are_centred_on_places(make):
    maps = make(2)
    for middles in (np.array([[np.nan, 0.0]]), np.zeros((2, 2)), np.zeros(2)):
        with pytest.raises(InputError, match="1 finite middles"):
            unwrap(make.reset)(maps, [1], middles)


def test_clouds_need_a_pose_for_each_image():
    with pytest.raises(InputError, match="shape"):
        unwrap(unproject)(DEPTHS, np.array([[8.0, 0, 8], [0, 8, 6], [0, 0, 1]]), POSES[:1])
