"""Estimated poses without gps and compass: odometry from commanded motions and depth images."""

import numpy as np
from jaxtyping import Bool, Float, Float32, Int64

from navarena.core.geometry import ACROSS, ALONG, TURN
from navarena.mapping.scan_odometry import ScanOdometry, compose
from navarena.simulation.bodies import Bodies
from navarena.simulation.camera_pose import world_from_camera
from navarena.simulation.corruption.poses import world_poses
from navarena.simulation.motion import movement_table
from navarena.simulation.sensors.images import Depth
from navarena.simulation.simulator import Simulator
from navarena.tasks.task import Task


class OdometryStage:
    """Writes the estimated poses of N bodies, as ScanOdometry finds them, whenever they are observed.

    It knows the start, the motion that each action commands, the tilt of the camera, and depth images within
    the range of the protocol's sensor, with their corruptions. Depth of images that were not looked at is
    left out; motions since are added up.

    Args:
        task: of discrete actions.
        simulator: whose bodies are estimated; it takes depth images.
    """

    def __init__(self, task: Task, simulator: Simulator) -> None:
        body, slots = simulator.embodiment, simulator.slots
        camera = next(one for one in body.cameras if "depth" in one.channels)
        sensor = task.find_sensor("depth")
        self._range = (sensor.min_range, sensor.max_range) if isinstance(sensor, Depth) else (0.0, np.inf)
        self._camera = camera
        self._motions = movement_table(body, task.actions)[:, [ALONG, ACROSS, TURN]]
        self._odometry = ScanOdometry(slots, camera, threads=simulator.threads)
        self._expected, self._due = np.zeros((slots, 3)), np.zeros(slots, bool)
        simulator.bodies.separate_estimates()

    def begin(self, slots: Int64[np.ndarray, "k"]) -> None:
        """Episodes begin in `slots` (K,); the bodies stand at their starts."""
        self._odometry.reset(slots)
        self._expected[slots], self._due[slots] = 0.0, True

    def note(self, actions: Int64[np.ndarray, "n"], moving: Bool[np.ndarray, "n"]) -> None:
        """The bodies `moving` (N,) bool have carried out actions (N,)."""
        for slot in np.flatnonzero(moving).tolist():
            ahead, right, turn = self._expected[slot]
            x, z, yaw = compose(np.array([right, -ahead, turn]), self._motions[actions[slot]])
            self._expected[slot] = -z, x, yaw
        self._due |= moving

    def update(self, simulator: Simulator) -> None:
        """Estimate the poses of those that have moved since the last call, from the depth images in view."""
        if not self._due.any():
            return
        rows, bodies = np.flatnonzero(self._due), simulator.bodies
        _, seen = simulator.observer.image("depth")
        depths: Float32[np.ndarray, "n h w"] = np.where(
            (seen > self._range[0]) & (seen < self._range[1]), seen, np.float32(0)
        )
        heads = Bodies(len(bodies))
        heads.tilts = bodies.tilts
        frames = world_from_camera(heads, self._camera)
        poses = self._odometry.update(depths, self._expected, frames, self._due)
        motions: Float[np.ndarray, "n 3"] = np.stack([-poses[:, 1], poses[:, 0], poses[:, 2]], 1)
        positions, yaws = bodies.positions.copy(), bodies.yaws.copy()
        world_poses(motions, bodies.start_positions, bodies.start_yaws, positions, yaws)
        bodies.estimated_positions[rows], bodies.estimated_yaws[rows] = positions[rows], yaws[rows]
        self._expected[rows], self._due[rows] = 0.0, False
