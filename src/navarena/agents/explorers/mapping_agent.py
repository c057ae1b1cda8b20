"""Base class of the agents that map what they see, and how they read depth images."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
from jaxtyping import Bool, Float, Float32, Int8, Int64, Shaped

from navarena.agents.agent import Agent, Boundary, EpisodeStarts, Start, require_discrete
from navarena.agents.explorers.explorer import Explorer, ExplorerSettings
from navarena.agents.explorers.goal_finders import GoalFinder
from navarena.agents.explorers.pose_sources import PoseSource, SensorPoses
from navarena.agents.explorers.sightings import DepthView
from navarena.agents.explorers.tilt_estimation import TiltEstimator
from navarena.core.errors import InputError
from navarena.mapping import MapGrid, OccupancyMaps, OccupancySettings, SteeringSettings, TerrainSettings
from navarena.simulation.bodies import Bodies
from navarena.simulation.body import Camera, Embodiment
from navarena.simulation.camera_pose import world_from_camera
from navarena.simulation.sensors.images import Depth
from navarena.simulation.sensors.resized import FARTHEST, ResizedDepth
from navarena.tasks.batch import NavigationBatch
from navarena.tasks.protocols.object_nav_robothor import ObjectNavRobothor
from navarena.tasks.task import Task

MAX_PIXELS = 80_000
"""Of a depth image that are read; of larger images every second or third pixel is left out."""

OBSTACLE_BOTTOM = 0.1
"""Metres; lower than a step of stairs, which these agents do not climb: they do not know their height."""

LEVEL = 1e-3
"""Radians; a camera that is tilted less is level."""

POSE_SENSORS = frozenset(("gps", "pointgoal_with_gps_compass"))
"""Observations that give the pose; in protocols without one of them the pose is a privileged input."""

MOVES = {"forward": "move_forward", "left": "turn_left", "right": "turn_right"}
"""Moves of an explorer -> names of actions."""


class MappingAgent(Agent):
    """Keeps an occupancy map for each slot, in the frame of the episode's start, and goes to its goals.

    It observes `depth`, and `gps` and `compass` where a derived class has no other source of its pose. Where
    its finder finds no goal it explores.

    Args:
        task: the rules.
        finder: finds the goals.
        seed: of the run.
    """

    on_graphs = False

    def __init__(self, task: Task, finder: GoalFinder, seed: int = 0) -> None:
        require_discrete(task, type(self).__name__)
        self.task, self.finder = task, finder
        self.camera = depth_camera(task.camera_body)
        self._depth = depth_sensor(task)
        self._is_resized = isinstance(task.find_sensor("depth"), ResizedDepth)
        self._explorer_settings = _explorer_settings(task.embodiment)
        self._indices = {name: index for index, name in enumerate(task.actions)}
        self._map_settings = map_settings(task.camera_body, self._depth, self.camera)
        self._tilt_estimator = (
            TiltEstimator(task.camera_body) if isinstance(task, ObjectNavRobothor) else None
        )
        self._stays_level = False
        self._pose_source = self.make_pose_source()
        self.sensors: tuple[str, ...] = ("depth", *self._pose_source.sensors, *finder.sensors)
        if (inputs := self.inputs_in(task, self.privileged_inputs)) != self.privileged_inputs:
            self.privileged, self.privileged_inputs = bool(inputs), inputs
        self._maps: OccupancyMaps | None = None
        self._bodies = Bodies(1)
        self._acted = np.zeros(0, bool)
        self._explorers: dict[int, Explorer] = {}
        self._episodes = EpisodeStarts()
        self._starts: list[Start] = []

    @classmethod
    def inputs_in(cls, task: Task, inputs: tuple[str, ...]) -> tuple[str, ...]:
        """Those declared, and the pose where no observation of the protocol gives it."""
        return inputs if POSE_SENSORS & set(task.sensors) else (*inputs, "pose")

    def attach(self, batch: NavigationBatch) -> None:
        """Attach the finder to the batch."""
        self.finder.attach(batch)

    def reset(self, starts: Sequence[Start]) -> None:
        for start in map(self._episodes.mark, starts):
            if start.boundary >= Boundary.EPISODE:
                self.begin(start)
            self.finder.begin(start)

    def begin(self, start: Start) -> None:
        """Begin an episode, with a frame and a map of its own."""
        settings = self.settings_in(start.scene_id)
        self._explorers[start.slot] = Explorer(settings, start.generator(type(self).__name__))
        self._starts.append(start)
        if self._tilt_estimator is not None:
            self._tilt_estimator.begin(start.slot)

    def act(
        self, observations: Mapping[str, np.ndarray], active: Bool[np.ndarray, "n"]
    ) -> Int64[np.ndarray, "n"]:
        depths = as_floats(observations["depth"][..., 0])
        observations = {**observations, "depth": depths[..., None]}
        if self._is_resized:
            depths = stretch(forget_edges(depths), self.camera.height_px, self.camera.width_px)
            observations = {**observations, "depth": depths[..., None]}
        if 0 < self._depth.min_range <= self.task.embodiment.radius:
            depths = forget_clipped(
                depths, (self._depth.min_range - self.depth_scale[1]) / self.depth_scale[0]
            )
        if "certain" in observations:
            certain = observations["certain"]
            if self._is_resized:
                certain = stretch(certain, self.camera.height_px, self.camera.width_px)
            depths = np.where(certain, depths, np.float32(np.nan))
        maps, poses = self._estimate_poses(observations, depths, active)
        rows = np.flatnonzero(active).tolist()
        seen = {slot: self._read(slot, observations, poses[slot]) for slot in rows}
        known = active.copy()
        known[rows] = [self._knows_tilt(slot) for slot in rows]
        self._map(maps, depths, poses, known, {slot: seen[slot] for slot in rows if known[slot]})
        actions = np.zeros(len(active), np.int64)
        for slot in rows:
            name = self._choose(slot, maps, *seen[slot])
            actions[slot] = self._indices[name]
            if self._tilt_estimator is not None:
                self._tilt_estimator.note(slot, name)
            if self._explorers[slot].gives_up:
                self.begin_anew(slot, maps)
        self._pose_source.note(actions, active)
        self._acted = active.copy()
        return actions

    def overrule(self, actions: Int64[np.ndarray, "n"]) -> None:
        self._pose_source.note(actions, self._acted)
        moves = {self._indices[name]: move for move, name in MOVES.items()}
        for slot in np.flatnonzero(self._acted).tolist():
            self._explorers[slot].overrule(moves.get(int(actions[slot]), "arrived"))
            if self._tilt_estimator is not None:
                self._tilt_estimator.overrule(slot, self.task.actions[actions[slot]])

    def make_pose_source(self) -> PoseSource:
        """The estimator of the bodies' poses."""
        return SensorPoses()

    def settings_in(self, scene_id: str) -> ExplorerSettings:
        """Exploration settings in a scene, from the embodiment or from learned motions."""
        return self._explorer_settings

    def known(
        self, slot: int, maps: OccupancyMaps
    ) -> tuple[Int8[np.ndarray, "r c"], MapGrid, Int64[np.ndarray, "4"] | None]:
        """Evidence (R, C) on which the body in `slot` plans, its grid and its box (see `Explorer.act`)."""
        layer = maps.layer[slot]
        return maps.scores[slot, layer], maps.grid(slot), maps.boxes[slot, layer]

    def begin_anew(self, slot: int, maps: OccupancyMaps) -> None:
        """Clear the map of `slot` after everything in it was explored."""
        maps.reset([slot])
        self._explorers[slot].begin_anew()

    @property
    def maps(self) -> OccupancyMaps:
        """The maps of all slots, each in the frame of its episode's start. Raises InputError before `act`."""
        if self._maps is None:
            raise InputError("expected an agent that has acted, got one without maps; let it act first")
        return self._maps

    def doubt_depth(self) -> None:
        """Map by depth that is predicted, not measured, and by a level camera; before the first action.

        With `certain` (N, H, W) bool among the observations, maps and poses leave the other pixels out; the
        finder sees all.
        """
        self._stays_level = True
        self._map_settings = doubtful(self._map_settings)
        self._pose_source.doubt_depth()

    @property
    def depth_scale(self) -> tuple[float, float]:
        """(metres per unit, metres at 0) of depth observations."""
        return find_depth_scale(self._depth)

    @property
    def depth_range(self) -> tuple[float, float]:
        """(least, greatest) metres between which depths are exact."""
        return self._depth.min_range, self._depth.max_range

    def _read(
        self, slot: int, observations: Mapping[str, np.ndarray], pose: Float[np.ndarray, "4 4"]
    ) -> tuple[dict[str, np.ndarray], DepthView]:
        """The observations of one body without the leading N, and its depth view from `pose`, metres."""
        own = {name: value[slot] for name, value in observations.items()}
        depth = own["depth"][..., 0]
        return own, DepthView(depth, *self.depth_scale, self.depth_range, self.camera, pose)

    def _choose(
        self, slot: int, maps: OccupancyMaps, observations: Mapping[str, np.ndarray], view: DepthView
    ) -> str:
        """The name of the next action of the body in `slot`; observations and view as of GoalFinder."""
        explorer = self._explorers[slot]
        if self._tilt_estimator is not None:
            if self._tilt_estimator.knows(slot) and self.finder.is_reached(slot):
                return self.task.declaration
            elevation = 0.0 if self._stays_level else self.finder.elevation(slot, view.pose)
            tilt = self._tilt_estimator.tilt_towards(slot, elevation)
            if tilt is not None:
                return tilt
        aim = self.finder.find_aim(slot, observations, view, explorer.is_done)
        position, yaw = self._bodies.positions[slot], float(self._bodies.yaws[slot])
        scores, grid, box = self.known(slot, maps)
        move = explorer.act(scores, grid, position, yaw, aim, box)
        if move == "arrived":
            move = self.finder.arrive(slot, view.pose)
        return self.task.declaration if move == "arrived" else MOVES[move]

    def _knows_tilt(self, slot: int) -> bool:
        """Whether the tilt of the camera in `slot` is known, and one at which it may map."""
        tilts = self._tilt_estimator
        return tilts is None or (
            tilts.knows(slot) and not (self._stays_level and abs(tilts.tilt(slot)) > LEVEL)
        )

    def _estimate_poses(
        self,
        observations: Mapping[str, np.ndarray],
        depths: Float32[np.ndarray, "n h w"],
        active: Bool[np.ndarray, "n"],
    ) -> tuple[OccupancyMaps, Float[np.ndarray, "n 4 4"]]:
        """The maps, emptied where an episode begins, and (N, 4, 4) metres, estimated poses of the cameras."""
        if self._maps is None or self._maps.agents != len(active):
            self._maps = OccupancyMaps(len(active), self._map_settings)
            self._bodies = Bodies(len(active))
        begun = [start.slot for start in self._starts]
        self._starts.clear()
        self._maps.reset(begun)
        self._pose_source.update(observations, depths, begun, active, self._bodies)
        if self._tilt_estimator is not None:
            rows = np.flatnonzero(active)
            self._bodies.tilts[rows] = [self._tilt_estimator.tilt(slot) for slot in rows.tolist()]
        return self._maps, world_from_camera(self._bodies, self.camera)

    def _map(
        self,
        maps: OccupancyMaps,
        depths: Float32[np.ndarray, "n h w"],
        poses: Float[np.ndarray, "n 4 4"],
        active: Bool[np.ndarray, "n"],
        seen: Mapping[int, tuple[Mapping[str, np.ndarray], DepthView]],
    ) -> None:
        """Map the images without what bodies pass through; seen: row -> observations and view."""
        is_own = False
        for slot, (observations, view) in seen.items():
            passable = self.finder.observe(slot, observations, view)
            if passable is not None:
                depths, is_own = (depths if is_own else depths.copy()), True
                depths[slot][passable] = np.nan
        scale, offset = self.depth_scale
        maps.update(depths, self.camera, poses, np.zeros(len(active)), active, scale, offset)


def depth_camera(embodiment: Embodiment) -> Camera:
    """The first camera that takes depth; raises InputError when none does or it has a name."""
    for camera in embodiment.cameras:
        if "depth" in camera.channels and not camera.name:
            return camera
    raise InputError(f"expected a camera without a name that takes 'depth' on {embodiment.name!r}, got none")


def depth_sensor(task: Task) -> Depth:
    """The protocol's depth sensor; one that resizes its images is read as if it did not (see `stretch`)."""
    sensor = task.find_sensor("depth")
    if sensor is None:
        return Depth()
    if isinstance(sensor, ResizedDepth):
        return Depth(min_range=0.0, max_range=FARTHEST, normalize=False, dtype=sensor.dtype)
    if not isinstance(sensor, Depth):
        raise InputError(f"expected a Depth sensor of {task.protocol_id!r}, got {type(sensor).__name__}")
    return sensor


def find_depth_scale(depth: Depth) -> tuple[float, float]:
    """(metres per unit, metres at 0) of depth observations."""
    is_share = depth.normalize or depth.dtype == "uint8"
    return (depth.max_range - depth.min_range, depth.min_range) if is_share else (1.0, 0.0)


def as_floats(depths: np.ndarray) -> Float32[np.ndarray, "..."]:
    """Depth observations (N, H, W) as float32, in metres or shares of the range; bytes become shares."""
    if depths.dtype == np.uint8:
        return np.asarray(depths / np.float32(255), np.float32)
    return np.asarray(depths, np.float32)


def _explorer_settings(body: Embodiment) -> ExplorerSettings:
    steering = SteeringSettings(
        body.forward_step, body.turn_angle, arrival=max(0.18, 0.72 * body.forward_step)
    )
    return ExplorerSettings(TerrainSettings(body.radius), steering)


def map_settings(body: Embodiment, depth: Depth, camera: Camera) -> OccupancySettings:
    """What the maps of these agents are like."""
    stride = 1
    while camera.width_px * camera.height_px > MAX_PIXELS * stride**2:
        stride += 1
    return OccupancySettings(
        min_range=depth.min_range,
        max_range=min(depth.max_range, 6.0),
        obstacle_bottom=OBSTACLE_BOTTOM,
        obstacle_top=body.height,
        size=60.0,
        stride=stride,
    )


def doubtful(settings: OccupancySettings) -> OccupancySettings:
    """`settings` for maps by predicted depth, whose errors raise obstacles from the floor.

    Places are closed where most images show an obstacle. The numbers are ours: with the usual ones success in
    30 episodes of `test` was 53 instead of 77 %, both with true poses; others near them gave 73 to 77 %.
    """
    near = min(settings.max_range, 3.0)
    return replace(settings, max_range=near, obstacle_bottom=0.2, hit=1, miss=2)


EDGE = 0.06
"""Share of the inverse depth; the crease between a wall 6 m away and the floor bends by 0.04 at 224 rows."""


def stretch(images: Shaped[np.ndarray, "n h w"], rows: int, columns: int) -> Shaped[np.ndarray, "n r c"]:
    """Images (N, H, W) of depth or bool at the size in which the camera took them, by the nearest pixels.

    Protocols for networks resize images without keeping their aspect; a map needs the camera's own rays.
    """
    height, width = images.shape[1:]
    if (height, width) == (rows, columns):
        return images
    nearest = [np.arange(count) * size // count for count, size in ((rows, height), (columns, width))]
    return np.ascontiguousarray(images[:, nearest[0][:, None], nearest[1]])


def forget_edges(depths: Float32[np.ndarray, "n h w"]) -> Float32[np.ndarray, "n h w"]:
    """Resized depth images (N, H, W), metres, NaN beside edges.

    Where images were resized, the pixels at an edge lie between what is before it and what is behind, where
    nothing is: a map would close doors with them. The inverse depth of a plane is linear in the image, so
    edges are where it bends by more than EDGE of itself.
    """
    inverse = 1.0 / np.maximum(depths, np.float32(0.05))
    bends = np.zeros_like(inverse)
    bends[:, 1:-1] = np.abs(inverse[:, 2:] + inverse[:, :-2] - 2 * inverse[:, 1:-1])
    across = np.abs(inverse[..., 2:] + inverse[..., :-2] - 2 * inverse[..., 1:-1])
    np.maximum(bends[..., 1:-1], across, out=bends[..., 1:-1])
    edges = bends > np.float32(EDGE) * inverse
    beside = edges.copy()
    beside[:, 1:] |= edges[:, :-1]
    beside[:, :-1] |= edges[:, 1:]
    edges = beside.copy()
    edges[..., 1:] |= beside[..., :-1]
    edges[..., :-1] |= beside[..., 1:]
    return np.where(edges, np.float32(np.nan), depths)


def forget_clipped(depths: Float32[np.ndarray, "n h w"], min_range: float) -> Float32[np.ndarray, "n h w"]:
    """Depth images (N, H, W) of any unit, with NaN for values of `min_range` or less.

    For cameras that measure depths from nearer than the body lets anything come: what is clipped to the
    nearest depth there is no obstacle, but a hole, where a real camera measures nothing and says 0.
    """
    return np.where(depths > np.float32(min_range), depths, np.float32(np.nan))
