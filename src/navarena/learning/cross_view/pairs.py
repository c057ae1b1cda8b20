"""Pairs of views of houses that see common surface, kept in the cache folder house by house."""

import math
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float, Float32, UInt8

from navarena.core.errors import SceneError
from navarena.core.geometry import focal_length, rotation_from_yaw_pitch
from navarena.core.seeding import make_generator, scene_name
from navarena.learning.cross_view.settings import ViewPairSettings
from navarena.learning.perception.houses import first_scene_ids
from navarena.scenes.catalog import scene_hash
from navarena.scenes.packs import content_hash, load_or_build
from navarena.simulation.body import Camera
from navarena.simulation.rendering.engine import VisibilityRenderer
from navarena.simulation.rendering.views import Frames, Views
from navarena.simulation.world import World, open_world
from navarena.tasks.catalog import get_body_task

ROWS = 64
"""Pairs that are drawn in one go; those without enough common surface are left out."""

ROUNDS = 50
"""Times ROWS pairs that are drawn of a house at most."""

STOREY = 0.5
"""Metres between the floors of both places at most."""

JITTER = math.radians(8)
"""Radians, deviation of where the second camera looks from the point that both shall see."""

TOLERANCE = 0.1
"""Share of its depth by which a surface may lie elsewhere in the other image's nearest pixel."""

DRAWING = "view-pairs-1"
"""Changes with whatever makes other pairs of the same settings."""


@dataclass(frozen=True, eq=False)
class ViewPairs:
    """K pairs of views of one house.

    Attributes:
        first, second: (K, S, S, 3) uint8 sRGB.
        overlap: (K,) float32, the smaller share of an image's pixels whose surface the other one shows.
        poses: (K, 2, 6) float64 of both cameras: metres of the centre in the world frame, yaw, pitch and hfov
            in radians.
    """

    first: UInt8[np.ndarray, "k s s 3"]
    second: UInt8[np.ndarray, "k s s 3"]
    overlap: Float32[np.ndarray, "k"]
    poses: Float[np.ndarray, "k 2 6"]

    def __len__(self) -> int:
        return len(self.first)


def load_view_pairs(
    settings: ViewPairSettings, side: int, protocol: str, split: str, number: int, seed: int = 0
) -> ViewPairs:
    """The pairs of house `number` of `split`, from the cache folder, drawn first where they are not there.

    Args:
        settings: what is drawn.
        side: pixels of the square images.
        protocol: whose body stands at the places of the cameras.
        split: of the scenes.
        number: of the house, from 0.
        seed: of the poses.

    Raises InputError when the split has fewer houses, SceneError as `draw_view_pairs`, StorageError when the
    cache cannot be written.
    """
    scene_id = first_scene_ids(settings.scenes, split, settings.houses)[number]
    body = get_body_task(protocol).embodiment
    described = repr((replace(settings, houses=1), side, body, seed))
    key = content_hash(DRAWING, scene_hash(scene_id), described)

    def build() -> tuple[dict[str, np.ndarray], dict[str, str]]:
        pairs = draw_view_pairs(open_world(scene_id, body), settings, side, seed)
        return vars(pairs), {"scene": scene_id}

    return ViewPairs(**load_or_build("view-pairs", key, build, scene_id).arrays)


def draw_view_pairs(world: World, settings: ViewPairSettings, side: int, seed: int) -> ViewPairs:
    """The pairs of one house; raises SceneError where too few views have common surface."""
    generator = make_generator("view-pairs", seed, scene_name(world.scene_id))
    renderer = VisibilityRenderer([world.render_mesh])
    found: list[tuple[np.ndarray, np.ndarray, float, np.ndarray]] = []
    for _ in range(ROUNDS):
        found += _draw_round(world, renderer, settings, side, generator)
        if len(found) >= settings.pairs:
            break
    if len(found) < settings.pairs:
        raise SceneError(
            f"expected {settings.pairs} pairs of views with overlaps of {settings.overlap[0]} to "
            f"{settings.overlap[1]} in {ROUNDS * ROWS} of {world.scene_id}, got {len(found)}; take fewer "
            "(--set pairs.pairs=N) or a wider range (pairs.overlap=LEAST,MOST)"
        )
    first, second, overlap, poses = zip(*found[: settings.pairs])
    return ViewPairs(
        np.stack(first), np.stack(second), np.array(overlap, np.float32), np.stack(poses).astype(np.float64)
    )


def _draw_round(
    world: World,
    renderer: VisibilityRenderer,
    settings: ViewPairSettings,
    side: int,
    generator: np.random.Generator,
) -> list[tuple[np.ndarray, np.ndarray, float, np.ndarray]]:
    """Images, overlap and poses (2, 6) of those of ROWS pairs that have enough common surface."""
    hfovs = np.radians(generator.uniform(*settings.hfov, 2))
    feet = world.navmesh.random_point(generator, ROWS)
    offsets = generator.uniform(-settings.reach, settings.reach, (ROWS, 2))
    heights = generator.uniform(*settings.height, (2, ROWS))
    poses = np.zeros((2, ROWS, 6))
    poses[..., 5] = hfovs[:, None]
    poses[0, :, :3] = feet
    poses[1, :, :3] = world.navmesh.snap_point(feet + np.insert(offsets, 1, 0.0, axis=1))
    is_near = np.abs(poses[1, :, 1] - feet[:, 1]) < STOREY  # False of NaN
    is_near &= np.abs(poses[1, :, :3] - feet)[:, [0, 2]].max(1) <= settings.reach
    poses[..., 1] += heights
    poses[0, :, 3] = generator.uniform(-math.pi, math.pi, ROWS)
    poses[0, :, 4] = np.radians(generator.uniform(*settings.tilt, ROWS))
    pixels = generator.integers(0, side, (ROWS, 2))
    jitters = generator.normal(0.0, JITTER, (ROWS, 2))
    colours, depths = _render(renderer, poses[0], side)
    for k in np.flatnonzero(is_near):
        row, column = pixels[k]
        target = find_surface(depths[k], poses[0, k])[row, column]
        right, up, back = target - poses[1, k, :3]
        is_near[k] = depths[k, row, column] > 0
        poses[1, k, 3] = math.atan2(-right, -back) + jitters[k, 0]
        pitch = math.atan2(up, math.hypot(right, back)) + jitters[k, 1]
        poses[1, k, 4] = np.clip(pitch, -1.2, 1.2)
    kept = np.flatnonzero(is_near)
    others, other_depths = _render(renderer, poses[1, kept], side)
    found = []
    for place, row in enumerate(kept.tolist()):
        overlap = min(
            measure_share(depths[row], poses[0, row], other_depths[place], poses[1, row]),
            measure_share(other_depths[place], poses[1, row], depths[row], poses[0, row]),
        )
        if settings.overlap[0] <= overlap <= settings.overlap[1]:
            found.append((colours[row], others[place], overlap, poses[:, row]))
    return found


def _render(
    renderer: VisibilityRenderer, poses: Float[np.ndarray, "n 6"], side: int
) -> tuple[UInt8[np.ndarray, "n s s 3"], Float32[np.ndarray, "n s s"]]:
    """Colours and depth (metres) of N views of one hfov from `poses` (N, 6)."""
    hfov = float(poses[0, 5]) if len(poses) else 1.0
    camera = Camera(width_px=side, height_px=side, hfov=hfov)
    frames = Frames.allocate(len(poses), camera, ("rgb", "depth"))
    rotations = np.array([rotation_from_yaw_pitch(*pose[3:5]) for pose in poses]).reshape(-1, 3, 3)
    index = np.zeros(len(poses), np.int32)
    renderer.render(Views(camera, index, np.ascontiguousarray(poses[:, :3]), rotations), frames)
    return np.asarray(frames.rgb), np.asarray(frames.depth)


def find_surface(
    depth: Float32[np.ndarray, "s s"], pose: Float[np.ndarray, "6"]
) -> Float[np.ndarray, "s s 3"]:
    """(S, S, 3) metres, world frame: the surface that each pixel shows.

    Args:
        depth: (S, S) metres along the optical axis; the centre of the camera where it is 0.
        pose: (6,) of the camera, as of ViewPairs.
    """
    side = len(depth)
    steps = (np.arange(side) + 0.5 - side / 2) / focal_length(side, float(pose[5]))
    rays = np.stack(np.broadcast_arrays(steps, -steps[:, None], -1.0), -1)
    rotation = rotation_from_yaw_pitch(float(pose[3]), float(pose[4]))
    return np.asarray(pose[:3] + (rays * depth[..., None]) @ rotation.T)


def measure_share(
    depth: Float32[np.ndarray, "s s"],
    pose: Float[np.ndarray, "6"],
    other_depth: Float32[np.ndarray, "s s"],
    other_pose: Float[np.ndarray, "6"],
) -> float:
    """Share of an image's pixels whose surface another image shows: 0 to 1.

    A surface is shown where it lies in the other image, and the depth of the nearest pixel there is its own
    within TOLERANCE. Pixels without depth count as not shown.

    Args:
        depth: (S, S) metres.
        pose: (6,) of its camera, as of ViewPairs.
        other_depth: (S, S) metres, of the other image.
        other_pose: (6,) of its camera.
    """
    side = len(depth)
    rotation = rotation_from_yaw_pitch(float(other_pose[3]), float(other_pose[4]))
    right, up, back = np.moveaxis((find_surface(depth, pose) - other_pose[:3]) @ rotation, -1, 0)
    far = np.maximum(-back, 1e-6)
    focal = focal_length(side, float(other_pose[5]))
    columns, rows = (np.floor(side / 2 + focal * one / far) for one in (right, -up))
    is_inside = (depth > 0) & (back < 0) & (np.minimum(columns, rows) >= 0)
    is_inside &= np.maximum(columns, rows) < side
    seen = other_depth[rows[is_inside].astype(int), columns[is_inside].astype(int)]
    own = far[is_inside]
    return float(np.count_nonzero(np.abs(seen - own) <= TOLERANCE * own) / depth.size)
