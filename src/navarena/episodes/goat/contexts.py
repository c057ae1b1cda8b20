"""Language goals: the best look at an object, and what else it shows (spec ivln_goat 4.5, LanguageNav)."""

from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float, Float32, Int32, Int64

from navarena.episodes.goat.candidate_views import CandidateViews
from navarena.episodes.goat.settings import EYE_HEIGHT, GOAL_CAMERA
from navarena.episodes.language.landmarks import STRUCTURE
from navarena.simulation.bodies import Bodies
from navarena.simulation.camera_pose import world_from_camera
from navarena.simulation.rendering.engine import VisibilityRenderer
from navarena.simulation.rendering.views import Frames, Views
from navarena.simulation.world import World

MIN_COVERAGE = 0.10
"""Share of the image that a described object must exceed."""

MIN_RADIUS = 1.0
"""Metres, horizontally, from which on an object is looked at."""

MIN_SHARE = 0.005
"""Share of the image that an object around it must exceed."""

FARTHEST = 4.5
"""Metres, mean over its pixels, that it may be away: the code of the authors; the paper says at least."""

MIN_KINDS = 2
"""Categories of objects around an object, without which it is not described."""

NO_LANDMARKS = STRUCTURE - {"window", "curtain", "blinds"}
"""Categories that distinguish no place: they are everywhere."""


@dataclass(frozen=True)
class Contexts:
    """D objects that fill enough of an image.

    Attributes:
        owner: (D,) int32 object ids, rising.
        eyes: (D, 3) float64 metres, world frame, of the best look.
        first: (D + 1,) int64: the objects around object k are rows first[k] to first[k + 1] - 1.
        neighbours: (N,) int32 object ids, largest in the image first; none where they are too few kinds.
    """

    owner: Int32[np.ndarray, "d"]
    eyes: Float[np.ndarray, "d 3"]
    first: Int64[np.ndarray, "d1"]
    neighbours: Int32[np.ndarray, "n"]


def find_contexts(
    world: World, views: CandidateViews, shares: Float32[np.ndarray, "s"], objects: Int32[np.ndarray, "o"]
) -> Contexts:
    """The best of the `views` of each of `objects`, and the other objects in it.

    Args:
        world: of the scene.
        views: S poses.
        shares: (S,) share of the image that shows each candidate view's own object.
        objects: (O,) ids, rising.
    """
    best = [_best_row(views, shares, number) for number in objects.tolist()]
    chosen = views.take(np.array([row for row in best if row is not None], np.int64))
    count = len(chosen.owner)
    images, depths = _render(world, chosen)
    kinds = {obj.object_id: obj.category for obj in world.scene.objects if obj.category not in NO_LANDMARKS}
    around: list[list[int]] = []
    for k in range(count):
        near = [
            number
            for number in _near_objects(images[k], depths[k])
            if number in kinds and number != chosen.owner[k]
        ]
        enough = len({kinds[number] for number in near}) >= MIN_KINDS
        around.append(near if enough else [])
    first = np.concatenate([[0], np.cumsum([len(near) for near in around])]).astype(np.int64)
    eyes = chosen.feet + [0.0, EYE_HEIGHT, 0.0]
    return Contexts(chosen.owner, eyes, first, np.array([n for near in around for n in near], np.int32))


def _best_row(views: CandidateViews, shares: Float32[np.ndarray, "s"], number: int) -> int | None:
    """The candidate view that shows an object largest, among those far enough; None where it is too small."""
    rows = np.flatnonzero((views.owner == number) & (views.radii >= MIN_RADIUS))
    rows = rows[shares[rows] > MIN_COVERAGE]
    return int(rows[np.argmax(shares[rows])]) if len(rows) else None


def _near_objects(image: Int32[np.ndarray, "h w"], depth: Float32[np.ndarray, "h w"]) -> list[int]:
    """Ids of objects that are large and near enough in an image, largest first."""
    numbers, places, counts = np.unique(image, return_inverse=True, return_counts=True)
    away = np.bincount(places.reshape(-1), weights=depth.reshape(-1)) / counts
    near = (counts > MIN_SHARE * image.size) & (away <= FARTHEST)
    order = np.argsort(-counts[near], kind="stable")
    return [int(number) for number in numbers[near][order]]


def _render(world: World, views: CandidateViews) -> tuple[np.ndarray, np.ndarray]:
    """(S, H, W) int32 ids and float32 metres along the axis, of GOAL_CAMERA at each candidate view."""
    camera = replace(GOAL_CAMERA, channels=("instance", "depth"))
    count = len(views.owner)
    bodies = Bodies(count)
    bodies.positions[:], bodies.yaws[:] = views.feet, views.yaws
    poses = world_from_camera(bodies, camera)
    frames = Frames.allocate(count, camera, camera.channels)
    eyes, rotations = np.ascontiguousarray(poses[:, :3, 3]), np.ascontiguousarray(poses[:, :3, :3])
    requests = Views(camera, np.zeros(count, np.int32), eyes, rotations)
    VisibilityRenderer([world.render_mesh]).render(requests, frames)
    return np.asarray(frames.instance), np.asarray(frames.depth)
