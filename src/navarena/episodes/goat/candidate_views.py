"""Candidate views: poses on rings around an object that look at it (spec ivln_goat 4.5, "common")."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Float32, Int32

from navarena.core.elementary import arctan2
from navarena.core.seeding import make_generator, scene_name
from navarena.episodes.goat.settings import GOAL_CAMERA, GOAT_VIEW_POINTS
from navarena.episodes.view_points import find_floor
from navarena.scenes.scene import SceneObject
from navarena.simulation.instance_images import count_pixels, object_boxes, render_instances
from navarena.simulation.world import World

RADII = (0.5, 1.0, 1.5, 2.0)
"""Metres from the object's centre, horizontally."""

DIRECTIONS = 36
"""Poses on a ring: one every 10 degrees."""

YAW_JITTER = np.deg2rad(5.0)
"""Radians by which a look may miss the object's centre, to either side."""

SNAP = 1e-3
"""Metres, horizontally, by which a pose may lie off the floor."""

MIN_ISLAND_RADIUS = GOAT_VIEW_POINTS.min_island_radius


@dataclass(frozen=True)
class CandidateViews:
    """S poses from which objects are looked at, those of one object after those of another.

    Attributes:
        owner: (S,) int32 object ids.
        feet: (S, 3) float64 metres, world frame, on the floor.
        yaws: (S,) float64 radians, towards the object's centre, jittered.
        radii: (S,) float64 metres, horizontally from the object's centre.
    """

    owner: Int32[np.ndarray, "s"]
    feet: Float[np.ndarray, "s 3"]
    yaws: Float[np.ndarray, "s"]
    radii: Float[np.ndarray, "s"]

    def take(self, rows: np.ndarray) -> "CandidateViews":
        """The views of `rows`, indices or a mask."""
        return CandidateViews(self.owner[rows], self.feet[rows], self.yaws[rows], self.radii[rows])


def find_candidate_views(world: World, objects: Sequence[SceneObject]) -> CandidateViews:
    """Poses around `objects` where a body can stand; each object draws from a stream of its own."""
    angles = np.arange(DIRECTIONS) * (2 * np.pi / DIRECTIONS)
    ring = np.stack([np.sin(angles), np.zeros(DIRECTIONS), np.cos(angles)], 1)
    offsets = np.concatenate([radius * ring for radius in RADII])
    centers = np.array([obj.center for obj in objects], float).reshape(-1, 3)
    each = len(offsets)
    points = (centers[:, None] + offsets).reshape(-1, 3)
    jitter = [
        make_generator("goat-sights", scene_name(world.scene_id), obj.object_id).uniform(
            -YAW_JITTER, YAW_JITTER, each
        )
        for obj in objects
    ]
    rows, feet = find_floor(world, points, MIN_ISLAND_RADIUS)
    exact = np.hypot(*(feet - points[rows])[:, [0, 2]].T) <= SNAP
    rows, feet = rows[exact], feet[exact]
    towards = np.repeat(centers, each, 0)[rows] - feet
    yaws = arctan2(-towards[:, 0], -towards[:, 2]) + np.concatenate([np.zeros(0), *jitter])[rows]
    owner = np.repeat(np.array([obj.object_id for obj in objects], np.int32), each)
    radii = np.tile(np.repeat(np.array(RADII), DIRECTIONS), len(objects))
    return CandidateViews(owner[rows], feet, yaws, radii[rows])


def measure_candidate_views(world: World, views: CandidateViews) -> Float32[np.ndarray, "s"]:
    """(S,) share of the level image of GOAL_CAMERA that shows each candidate view's own object."""
    count = len(views.owner)
    shares = np.zeros(count, np.float32)
    poses = (views.feet, views.yaws, np.zeros(count))
    boxes = object_boxes(world.scene, views.owner)
    for first, last, images in render_instances(world, GOAL_CAMERA, *poses, wanted=boxes):
        counts = np.zeros(last - first)
        count_pixels(images, views.owner[first:last], counts)
        shares[first:last] = counts / (GOAL_CAMERA.width_px * GOAL_CAMERA.height_px)
    return shares
