"""Cameras of image goals: they show an object whole and large enough (spec ivln_goat 4.5, OVIIN).

Sizes are measured on surface areas of objects and in images of single objects.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Bool, Float, Float32, Int32, Int64

from navarena.core.arrays import Triangles
from navarena.core.elementary import arctan2, tan
from navarena.core.seeding import make_generator, scene_name
from navarena.episodes.goals import GoalImage
from navarena.episodes.goat.candidate_views import CandidateViews
from navarena.episodes.goat.settings import VIEW_PX
from navarena.episodes.sampling import as_tuple
from navarena.scenes.scene import Scene, SceneObject
from navarena.simulation.body import Camera
from navarena.simulation.instance_images import count_pixels, farthest_depths, object_boxes
from navarena.simulation.rendering.engine import VisibilityRenderer
from navarena.simulation.rendering.render_mesh import RenderMesh, build_render_mesh
from navarena.simulation.rendering.views import Frames, Views
from navarena.simulation.world import World

VOXEL = 0.05
"""Metres, side of the voxels by which surfaces are measured (spec ivln_goat 4.5, OVIIN)."""


def surface_area(corners: Float[np.ndarray, "t 3 3"], voxel: float = VOXEL) -> float:
    """Square metres: the voxels that triangles (T, 3, 3), metres, pass through, one face each.

    What lies closer together than a voxel counts once, so that the inside of a thin board adds nothing.
    """
    corners = np.asarray(corners, float)
    if not len(corners):
        return 0.0
    sides = np.linalg.norm(np.roll(corners, -1, 1) - corners, axis=2).max(1)
    parts = np.maximum(1, np.ceil(sides / (voxel / 2)).astype(int))
    first, last = (np.floor(f(corners.reshape(-1, 3), 0) / voxel).astype(np.int64) for f in (np.min, np.max))
    along_y, along_z = (last - first + 3)[1:].tolist()
    cells = []
    for count in np.unique(parts).tolist():
        weights = _grid(count)
        points = np.einsum("wk,tkc->twc", weights, corners[parts == count]).reshape(-1, 3)
        # one number a voxel: three are sorted in seven times the time. A point may lie a rounding outside
        x, y, z = (np.floor(points / voxel).astype(np.int64) - first + 1).T
        cells.append(np.unique((x * along_y + y) * along_z + z))
    return float(len(np.unique(np.concatenate(cells))) * voxel**2)


def _grid(parts: int) -> Float[np.ndarray, "w 3"]:
    """Barycentric weights of the middles of the pieces of a triangle whose sides are cut into `parts`."""
    i, j = np.meshgrid(np.arange(parts), np.arange(parts), indexing="ij")
    inside = i + j < parts
    a, b = (i[inside] + 1 / 3) / parts, (j[inside] + 1 / 3) / parts
    return np.stack([a, b, 1 - a - b], 1)


def object_triangles(scene: Scene, object_id: int) -> Triangles:
    """(T, 3) the triangles of one object, indices into the scene's vertices."""
    return scene.triangles[scene.triangle_object == object_id]


def build_object_mesh(scene: Scene, object_id: int) -> RenderMesh:
    """Mesh of a single object, for instance images."""
    used, corners = np.unique(object_triangles(scene, object_id), return_inverse=True)
    triangles = np.ascontiguousarray(corners.reshape(-1, 3), np.int32)
    alone = replace(
        scene,
        vertices=scene.vertices[used],
        triangles=triangles,
        triangle_object=np.full(len(triangles), object_id, np.int32),
        triangle_material=np.zeros(len(triangles), np.int32),
        materials=(replace(scene.materials[0], texture=None),),
        triangle_uv=None,
        textures=(),
        vertex_color=None,
        vertex_light=None,
        rooms=(),
        walkable=(),
    )
    return build_render_mesh(alone)


CAMERAS_PER_VIEW = 5
HEIGHTS = (0.8, 1.5)
"""Metres above the floor."""

PITCH_JITTER = math.radians(5)
"""Radians by which a camera may look above or below the centre."""

HFOV_DEGREES = (60, 120)
"""Whole degrees, both included."""

IMAGE_PX = 512
"""Side of the images that agents are shown."""

MIN_OBJECT_COVERAGE = 0.7
FRAME_COVERAGE_LINE = (0.02, 0.0232)
"""Share of the image that an object of no surface must fill, and what each square metre adds."""

NEVER_SHOWN = ("window", "blinds")
"""Categories without image goals."""

AROUND = 2
"""Sides of the image of the lone object, in sides of the image: what lies beyond counts as not there."""

IMAGES_TOGETHER = 1024


@dataclass(frozen=True)
class ImageCameras:
    """I cameras, those of one object after those of another.

    Attributes:
        owner: (I,) int32 object ids.
        positions: (I, 3) float64 metres, world frame.
        yaws, pitches: (I,) float64 radians, to the left and upwards.
        hfov: (I,) float64 radians.
        frame_coverage, object_coverage: (I,) float32, see GoalImage.
    """

    owner: Int32[np.ndarray, "i"]
    positions: Float[np.ndarray, "i 3"]
    yaws: Float[np.ndarray, "i"]
    pitches: Float[np.ndarray, "i"]
    hfov: Float[np.ndarray, "i"]
    frame_coverage: Float32[np.ndarray, "i"]
    object_coverage: Float32[np.ndarray, "i"]

    def image(self, row: int) -> GoalImage:
        """The camera of one row, as episodes hold it."""
        half_yaw, half_pitch = self.yaws[row] / 2, self.pitches[row] / 2
        x, y = math.cos(half_yaw) * math.sin(half_pitch), math.sin(half_yaw) * math.cos(half_pitch)
        z, w = -math.sin(half_yaw) * math.sin(half_pitch), math.cos(half_yaw) * math.cos(half_pitch)
        return GoalImage(
            as_tuple(self.positions[row]),
            (x, y, z, w),
            float(self.hfov[row]),
            IMAGE_PX,
            IMAGE_PX,
            float(self.frame_coverage[row]),
            float(self.object_coverage[row]),
        )


def min_frame_coverage(areas: Float[np.ndarray, "k"]) -> Float[np.ndarray, "k"]:
    """(K,) share of the image that objects must fill, for surfaces (K,) in square metres."""
    base, slope = FRAME_COVERAGE_LINE
    return base + slope * np.asarray(areas, float)


def find_image_cameras(world: World, objects: Sequence[SceneObject], views: CandidateViews) -> ImageCameras:
    """The cameras that pass all filters, of `objects` at their `views`.

    Object coverage is the number of pixels that show the object over the number that would if nothing
    stood before it and the image were AROUND times as wide and high.
    """
    shown = [obj for obj in objects if obj.category not in NEVER_SHOWN]
    drawn = _draw_cameras(world, {obj.object_id: obj for obj in shown}, views)
    corners = {
        obj.object_id: world.scene.vertices[object_triangles(world.scene, obj.object_id)] for obj in shown
    }
    areas = np.array([surface_area(one) for one in corners.values()], float)
    needed = dict(zip(corners, min_frame_coverage(areas).tolist()))
    min_coverage = np.array([needed[number] for number in drawn.owner.tolist()], float)
    drawn = _take(drawn, _may_fill(drawn, corners, min_coverage))
    min_coverage = np.array([needed[number] for number in drawn.owner.tolist()], float)
    boxes = object_boxes(world.scene, drawn.owner)
    pixels = _count_pixels([world.render_mesh], np.zeros(len(drawn.owner), np.int64), drawn, boxes, 1)
    share = pixels / VIEW_PX**2
    large = share > min_coverage
    drawn, pixels, share, boxes = _take(drawn, large), pixels[large], share[large], boxes[large]
    numbers, mesh = np.unique(drawn.owner, return_inverse=True)
    meshes = [build_object_mesh(world.scene, number) for number in numbers.tolist()]
    whole = _count_pixels(meshes, mesh, drawn, boxes, AROUND)
    seen = pixels / np.maximum(whole, 1)
    kept = seen > MIN_OBJECT_COVERAGE
    drawn = _take(drawn, kept)
    return ImageCameras(
        drawn.owner,
        drawn.positions,
        drawn.yaws,
        drawn.pitches,
        drawn.hfov,
        share[kept].astype(np.float32),
        np.minimum(seen[kept], 1.0).astype(np.float32),
    )


def _draw_cameras(world: World, objects: Mapping[int, SceneObject], views: CandidateViews) -> ImageCameras:
    """CAMERAS_PER_VIEW cameras at each candidate view of `objects`, each object from a stream of its own."""
    views = views.take(np.isin(views.owner, list(objects)))
    owner = np.repeat(views.owner, CAMERAS_PER_VIEW)
    count = len(owner)
    heights, jitter, degrees = np.zeros(count), np.zeros(count), np.zeros(count)
    for number in np.unique(owner).tolist():
        rows = np.flatnonzero(owner == number)
        generator = make_generator("goat-image-cameras", scene_name(world.scene_id), number)
        heights[rows] = generator.uniform(*HEIGHTS, len(rows))
        jitter[rows] = generator.uniform(-PITCH_JITTER, PITCH_JITTER, len(rows))
        degrees[rows] = generator.integers(*HFOV_DEGREES, len(rows), endpoint=True)
    positions = np.repeat(views.feet, CAMERAS_PER_VIEW, 0)
    positions[:, 1] += heights
    centers = np.array([objects[number].center for number in owner.tolist()], float).reshape(-1, 3)
    towards = centers - positions
    pitches = arctan2(towards[:, 1], np.hypot(towards[:, 0], towards[:, 2])) + jitter
    nothing = np.zeros(count, np.float32)
    yaws = np.repeat(views.yaws, CAMERAS_PER_VIEW)
    return ImageCameras(owner, positions, yaws, pitches, np.deg2rad(degrees), nothing, nothing)


def _take(cameras: ImageCameras, rows: np.ndarray) -> ImageCameras:
    return ImageCameras(**{name: values[rows] for name, values in vars(cameras).items()})


def _may_fill(
    cameras: ImageCameras,
    corners: Mapping[int, Float[np.ndarray, "t 3 3"]],
    min_coverage: Float[np.ndarray, "i"],
) -> Bool[np.ndarray, "i"]:
    """(I,) False where the ball around an object cannot fill `min_coverage` (I,) of the image.

    A ball of radius r, its centre at a distance d on the axis, fills a disc of radius r / sqrt(d^2 - r^2) at
    distance 1; r / (d - r) leaves room for looks that miss the centre by the jitters.
    """
    may = np.ones(len(cameras.owner), bool)
    for number, triangles in corners.items():
        rows = np.flatnonzero(cameras.owner == number)
        points = np.asarray(triangles, float).reshape(-1, 3)
        center = (points.min(0) + points.max(0)) / 2
        radius = float(np.linalg.norm(points - center, axis=1).max())
        gap = np.linalg.norm(cameras.positions[rows] - center, axis=1) - radius
        disc = math.pi * (radius / np.maximum(gap, 1e-3)) ** 2
        may[rows] = disc > min_coverage[rows] * (2 * tan(cameras.hfov[rows] / 2)) ** 2
    return may


def _count_pixels(
    meshes: Sequence[RenderMesh],
    mesh: Int64[np.ndarray, "i"],
    cameras: ImageCameras,
    boxes: Float[np.ndarray, "i 2 3"],
    around: int,
) -> Int64[np.ndarray, "i"]:
    """(I,) pixels of each camera's object in images `around` times as wide, of equal scale.

    Args:
        meshes: what is looked at.
        mesh: (I,) which of them each camera looks at.
        cameras: I of them.
        boxes: (I, 2, 3) metres, lowest and highest corner of each camera's object.
        around: 1 for the image itself.
    """
    side = around * VIEW_PX
    counts = np.zeros(len(cameras.owner), np.int64)
    if not len(counts):
        return counts
    renderer = VisibilityRenderer(meshes)
    square = Camera(width_px=side, height_px=side, channels=("instance",))
    store = Frames.allocate(IMAGES_TOGETHER // around**2, square, square.channels)
    images = np.asarray(store.instance)
    rotations = _rotations(cameras.yaws, cameras.pitches)
    far = farthest_depths(boxes, cameras.positions, -rotations[:, :, 2])
    for hfov in np.unique(cameras.hfov).tolist():
        camera = replace(square, hfov=2 * math.atan(around * math.tan(hfov / 2)))
        rows = np.flatnonzero(cameras.hfov == hfov)
        for some in np.array_split(rows, -(-len(rows) // len(images))):
            views = Views(camera, mesh[some], cameras.positions[some], rotations[some], far[some])
            target, counted = images[: len(some)], np.zeros(len(some))
            renderer.render(views, Frames(instance=target))
            count_pixels(target, cameras.owner[some], counted)
            counts[some] = counted
    return counts


def _rotations(yaws: Float[np.ndarray, "i"], pitches: Float[np.ndarray, "i"]) -> Float[np.ndarray, "i 3 3"]:
    """(I, 3, 3) world from camera; columns are right, up and backward."""
    sine, cosine, up, level = np.sin(yaws), np.cos(yaws), np.sin(pitches), np.cos(pitches)
    zero = np.zeros_like(yaws)
    return np.stack(
        [
            np.stack([cosine, sine * up, sine * level], 1),
            np.stack([zero, level, -up], 1),
            np.stack([-sine, cosine * up, cosine * level], 1),
        ],
        1,
    )
