"""Windows of maps: what a body has seen of the floor around it, beside what a survey of the scene knows.

Maps are those that explorers make of depth and pose (`OccupancyMaps`). The truth is the map of a survey, in
which a body of the task has looked around everywhere.
"""

import math
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from jaxtyping import Float, Float32, Int8, UInt8

from navarena.agents.explorers.mapping_agent import depth_camera, depth_sensor, map_settings
from navarena.core.seeding import make_generator, scene_name
from navarena.core.sources import source_fingerprint
from navarena.learning.anticipation.settings import WindowSettings
from navarena.learning.perception.houses import first_scene_ids
from navarena.mapping import FREE, OCCUPIED, UNKNOWN, MapGrid, OccupancyMaps, OccupancySettings
from navarena.mapping.egocentric import crop_turned
from navarena.mapping.survey import survey_occupancy
from navarena.scenes.catalog import scene_hash
from navarena.scenes.packs import content_hash, load_or_build
from navarena.simulation.body import Camera, Embodiment
from navarena.simulation.simulator import Simulator
from navarena.simulation.world import World, open_world
from navarena.tasks.catalog import get_body_task

ROWS = 50
"""Windows that are drawn in one go."""

PIXELS = 15_000
"""Of the depth images, at most: one ray for each cell at 3 m is enough."""


@dataclass(frozen=True, eq=False)
class Windows:
    """K windows of one house.

    Attributes:
        seen: (K, S, S) uint8 states of the cells as the body has seen them: 0 unknown, 1 free, 2 occupied.
        true: (K, S, S) uint8 states as a survey knows them.
    """

    seen: UInt8[np.ndarray, "k s s"]
    true: UInt8[np.ndarray, "k s s"]

    def __len__(self) -> int:
        return len(self.seen)


def choose_body(protocol: str, settings: WindowSettings) -> tuple[Embodiment, Camera, OccupancySettings]:
    """The body of `protocol` with its camera of depth alone, of at most PIXELS, and its maps.

    Raises InputError for a protocol without depth.
    """
    task = get_body_task(protocol)
    camera = depth_camera(task.camera_body)
    step = math.ceil(math.sqrt(camera.width_px * camera.height_px / PIXELS))
    width, height = camera.width_px // step, camera.height_px // step
    camera = replace(camera, name="", channels=("depth",), width_px=width, height_px=height)
    body = replace(task.embodiment, cameras=(camera,))
    maps = map_settings(body, depth_sensor(task), camera)
    return body, camera, replace(maps, cell=settings.cell)


def load_windows(settings: WindowSettings, protocol: str, split: str, number: int, seed: int = 0) -> Windows:
    """The windows of house `number` of `split`, from the cache folder, drawn first where they are not there.

    Args:
        settings: what is drawn.
        protocol: whose body sees.
        split: of the scenes.
        number: of the house, 0 to settings.houses - 1.
        seed: of the poses.

    Raises StorageError when the cache cannot be written, and as `choose_body`.
    """
    scene_id = first_scene_ids(settings.scenes, split, settings.houses)[number]
    body, _, maps = choose_body(protocol, settings)
    described = repr((replace(settings, houses=1), body, maps, seed))
    key = content_hash(scene_hash(scene_id), described, source_fingerprint(Path(__file__)))

    def build() -> tuple[dict[str, np.ndarray], dict[str, str]]:
        return vars(draw_windows(open_world(scene_id, body), protocol, settings, seed)), {"scene": scene_id}

    arrays = load_or_build("anticipation-windows", key, build, scene_id).arrays
    return Windows(arrays["seen"], arrays["true"])


def draw_windows(world: World, protocol: str, settings: WindowSettings, seed: int) -> Windows:
    """The windows of one house, from poses drawn anywhere on the floor."""
    body, camera, chosen = choose_body(protocol, settings)
    survey = survey_occupancy(world, body, chosen)
    generator = make_generator("anticipation-windows", seed, scene_name(world.scene_id))
    positions = world.navmesh.random_point(generator, settings.windows)
    yaws = generator.uniform(-math.pi, math.pi, settings.windows)
    counts = generator.integers(1, settings.views + 1, settings.windows)
    simulator = Simulator(body, ROWS, (), threads=1, channels=("depth",))
    reach = 2 * (chosen.max_range + 1.0)
    seen, true = [], []
    for first in range(0, settings.windows, ROWS):
        rows = slice(first, min(first + ROWS, settings.windows))
        number = rows.stop - rows.start
        feet = positions[rows, 1]
        maps = OccupancyMaps(number, replace(chosen, size=reach), threads=1)
        maps.reset(range(number), positions[rows][:, [0, 2]])
        for view in range(settings.views):
            # the last of its views is along the heading
            turned = yaws[rows] + np.radians(settings.turn) * (counts[rows] - 1 - view)
            simulator.place(range(number), [world] * number, positions[rows], turned)
            simulator.observer.observe(simulator.slot_worlds)
            depths = simulator.observer.image("depth")[1][:number]
            poses = simulator.observer.world_from_camera(camera)[:number]
            maps.update(depths, camera, poses, feet, view < counts[rows])
        for k in range(number):
            place, yaw = positions[first + k], float(yaws[first + k])
            own = (maps.scores[k, maps.layer[k]], maps.grid(k))
            layer = survey.layer_at(0, float(place[1]))
            seen.append(crop_window(*own, place, yaw, settings))
            true.append(crop_window(survey.scores[0, layer], survey.grid(0), place, yaw, settings))
    return Windows(np.stack(seen), np.stack(true))


def place_window(
    grid: MapGrid, position: Float[np.ndarray, "3"], yaw: float, settings: WindowSettings
) -> tuple[Float[np.ndarray, "2"], float]:
    """(2,) row and column of the middle of a window, as of `crop_turned`; radians, the heading in the image.

    Args:
        grid: of the map.
        position: (3,) metres, of the body, in the frame of the map.
        yaw: radians, likewise.
        settings: of the window.
    """
    heading = float(grid.heading_of(yaw))
    body = grid.coordinates_of(position) - 0.5
    return body + settings.ahead / grid.cell * np.array([-math.cos(heading), -math.sin(heading)]), heading


def crop_window(
    scores: Int8[np.ndarray, "r c"],
    grid: MapGrid,
    position: Float[np.ndarray, "3"],
    yaw: float,
    settings: WindowSettings,
) -> UInt8[np.ndarray, "s s"]:
    """(S, S) uint8 states around a body of a map of evidence `scores` (R, C); arguments as `place_window`."""
    middle, heading = place_window(grid, position, yaw, settings)
    side = (settings.side, settings.side)
    cells = crop_turned(scores[None, :, :, None], middle[None], np.array([-heading]), side)[0, :, :, 0]
    return np.where(cells == 0, UNKNOWN, np.where(cells < 0, FREE, OCCUPIED)).astype(np.uint8)


def lay_window(
    window: Float32[np.ndarray, "s s k"],
    grid: MapGrid,
    position: Float[np.ndarray, "3"],
    yaw: float,
    settings: WindowSettings,
) -> tuple[Float32[np.ndarray, "a a k"], tuple[int, int]]:
    """A window (S, S, K) turned back into its map: (A, A, K), 0 outside; row and column of its corner.

    The inverse of `crop_window`; cells of the corner may lie off the map.
    """
    middle, heading = place_window(grid, position, yaw, settings)
    side = math.ceil(settings.side * math.sqrt(2)) + 1
    corner = np.floor(middle - (side - 1) / 2 + 0.5)
    down, right = corner + (side - 1) / 2 - middle
    sine, cosine = math.sin(heading), math.cos(heading)
    own = (settings.side - 1) / 2 + np.array([cosine * down + sine * right, cosine * right - sine * down])
    laid = crop_turned(window[None], own[None], np.array([heading]), (side, side))[0]
    return laid, (int(corner[0]), int(corner[1]))


def encode_states(states: UInt8[np.ndarray, "n s s"]) -> Float32[np.ndarray, "n s s 2"]:
    """(N, S, S, 2) float32 as the network sees `states`: whether a cell is free, and whether occupied."""
    return np.stack((states == FREE, states == OCCUPIED), -1).astype(np.float32)
