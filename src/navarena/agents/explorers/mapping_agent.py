"""Agents that map what they see: the part that all of them share."""

from abc import abstractmethod
from collections.abc import Mapping, Sequence

import numpy as np
from jaxtyping import Bool, Float, Float32, Int64

from navarena.agents.agent import Agent, Boundary, Start
from navarena.agents.explorers.depth_images import forget_edges, forget_nearest, stretch
from navarena.agents.explorers.explorer import Aim, Explorer, ExplorerSettings
from navarena.agents.explorers.neck import Neck
from navarena.agents.explorers.pose_sources import PoseSource, ToldPoses
from navarena.core.errors import InputError
from navarena.mapping import OccupancyMaps, OccupancySettings, SteeringSettings, TerrainSettings
from navarena.simulation.bodies import Bodies
from navarena.simulation.body import Camera, Embodiment
from navarena.simulation.camera_pose import world_from_camera
from navarena.simulation.sensors.images import Depth
from navarena.simulation.sensors.resized import FARTHEST, ResizedDepth
from navarena.tasks.object_nav_robothor import ObjectNavRobothor
from navarena.tasks.task import Task

MOST_PIXELS = 80_000
"""Of a depth image that are read; of larger images every second or third pixel is left out."""

LOW = 0.1
"""Metres; lower than a step of stairs, which these agents do not climb: they do not feel their height."""

POSE_TELLERS = frozenset(("gps", "pointgoal_with_gps_compass"))
"""Observations of protocols that let agents know where they are; elsewhere being told is a privilege."""

MOVES = {"forward": "move_forward", "left": "turn_left", "right": "turn_right"}
"""Moves of an explorer -> names of actions."""


class MappingAgent(Agent):
    """Keeps an occupancy map for each slot, in the frame of the episode's start.

    It sees by `depth`, and feels its pose by `gps` and `compass`, where a derived class has no other source.
    What it goes to, a derived class says.

    Args:
        task: the rules.
        seed: of the run.
    """

    def __init__(self, task: Task, seed: int = 0) -> None:
        self.task = task
        self.camera = _first_camera(task.embodiment, "depth")
        self._depth = _depth_sensor(task)
        self._is_resized = isinstance(task.make_sensor("depth"), ResizedDepth)
        self._explorer_settings = _explorer_settings(task.embodiment)
        self._indices = {name: index for index, name in enumerate(task.actions)}
        self._map_settings = _map_settings(task.embodiment, self._depth, self.camera)
        self._neck = Neck(task.embodiment) if isinstance(task, ObjectNavRobothor) else None
        self._pose_source = self.make_pose_source()
        self.sensors: tuple[str, ...] = ("depth", *self._pose_source.sensors)
        if beyond := self.inputs_beyond(task):
            self.privileged, self.privileged_inputs = True, (*self.privileged_inputs, *beyond)
        self._maps: OccupancyMaps | None = None
        self._bodies = Bodies(1)
        self._explorers: dict[int, Explorer] = {}
        self._starts: list[Start] = []

    @classmethod
    def inputs_beyond(cls, task: Task) -> tuple[str, ...]:
        """The pose, where no observation of the protocol tells it."""
        return () if POSE_TELLERS & set(task.sensors) else ("pose",)

    def reset(self, starts: Sequence[Start]) -> None:
        for start in starts:
            if start.boundary >= Boundary.EPISODE:
                settings = self.settings_in(start.scene_id)
                self._explorers[start.slot] = Explorer(settings, start.generator(type(self).__name__))
                self._starts.append(start)
                if self._neck is not None:
                    self._neck.begin(start.slot)
            self.begin(start)

    def act(
        self, observations: Mapping[str, np.ndarray], active: Bool[np.ndarray, "n"]
    ) -> Int64[np.ndarray, "n"]:
        depths = observations["depth"][..., 0]
        if self._is_resized:
            depths = stretch(forget_edges(depths), self.camera.height_px, self.camera.width_px)
            observations = {**observations, "depth": depths[..., None]}
        if 0 < self._depth.nearest <= self.task.embodiment.radius:
            depths = forget_nearest(depths, (self._depth.nearest - self.depth_scale[1]) / self.depth_scale[0])
        maps, poses = self._feel(observations, depths, active)
        rows = np.flatnonzero(active).tolist()
        each = {slot: {name: value[slot] for name, value in observations.items()} for slot in rows}
        known = active.copy()
        if self._neck is not None:
            known[rows] = [self._neck.knows(slot) for slot in rows]
        self._carve(maps, depths, poses, known, {slot: each[slot] for slot in rows if known[slot]})
        actions = np.zeros(len(active), np.int64)
        for slot in rows:
            name = self._choose(slot, maps, each[slot], poses[slot])
            actions[slot] = self._indices[name]
            if self._neck is not None:
                self._neck.note(slot, name)
            if self._explorers[slot].gives_up:
                maps.reset([slot])
                self._explorers[slot].begin_anew()
        self._pose_source.note(actions)
        return actions

    def make_pose_source(self) -> PoseSource:
        """What tells where the bodies are."""
        return ToldPoses()

    def settings_in(self, scene_id: str) -> ExplorerSettings:
        """How it explores in a scene: by its body's data sheet, unless it has learned better."""
        return self._explorer_settings

    @property
    def maps(self) -> OccupancyMaps:
        """The maps of all slots, each in the frame of its episode's start. Raises InputError before `act`."""
        if self._maps is None:
            raise InputError("expected an agent that has acted, got one without maps; let it act first")
        return self._maps

    @abstractmethod
    def begin(self, start: Start) -> None:
        """An episode or sub-task begins: forget what its boundary ends."""

    def look(
        self, slot: int, observations: Mapping[str, np.ndarray], pose: Float[np.ndarray, "4 4"]
    ) -> Bool[np.ndarray, "h w"] | None:
        """Look at what the body in `slot` observes, before it is mapped; arguments as of `find_aim`.

        Returns (H, W) bool, pixels of things that bodies pass through and that are left out of the map
        (metres do not matter); None for none.
        """
        return None

    @abstractmethod
    def find_aim(
        self, slot: int, observations: Mapping[str, np.ndarray], pose: Float[np.ndarray, "4 4"]
    ) -> Aim | None:
        """What the body in `slot` should go to; None to explore.

        Args:
            slot: row of the batch.
            observations: name -> one environment's array, without the leading N.
            pose: (4, 4) of the depth camera, metres, in the frame of the map.
        """

    def is_reached(self, slot: int) -> bool:
        """Whether the body in `slot` should declare its goal by what it sees, wherever it was going to."""
        return False

    def elevation(self, slot: int, pose: Float[np.ndarray, "4 4"]) -> float:
        """Radians upwards at which a camera that tilts should look; pose: its (4, 4), metres."""
        return 0.0

    def arrive(self, slot: int, pose: Float[np.ndarray, "4 4"]) -> str:
        """The move at the aim: "arrived" declares the goal; pose: of the camera, (4, 4), metres."""
        return "arrived"

    def metric_depth(self, observation: Float[np.ndarray, "h w 1"]) -> Float[np.ndarray, "h w"]:
        """(H, W) metres from one depth observation (H, W, 1)."""
        scale, offset = self.depth_scale
        return np.asarray(offset + scale * observation[..., 0])

    @property
    def depth_scale(self) -> tuple[float, float]:
        """(metres per unit, metres at 0) of depth observations."""
        return _depth_scale(self._depth)

    @property
    def depth_range(self) -> tuple[float, float]:
        """(nearest, farthest) metres between which depths are told apart."""
        return self._depth.nearest, self._depth.farthest

    def _choose(
        self,
        slot: int,
        maps: OccupancyMaps,
        observations: Mapping[str, np.ndarray],
        pose: Float[np.ndarray, "4 4"],
    ) -> str:
        """The name of the next action of the body in `slot`; observations and pose as of `find_aim`."""
        if self._neck is not None:
            if self._neck.knows(slot) and self.is_reached(slot):
                return self.task.declaration
            look = self._neck.look_towards(slot, self.elevation(slot, pose))
            if look is not None:
                return look
        aim = self.find_aim(slot, observations, pose)
        position, yaw = self._bodies.positions[slot], float(self._bodies.yaws[slot])
        scores, box = maps.scores[slot, maps.layer[slot]], maps.boxes[slot, maps.layer[slot]]
        move = self._explorers[slot].act(scores, maps.grid(slot), position, yaw, aim, box)
        if move == "arrived":
            move = self.arrive(slot, pose)
        return self.task.declaration if move == "arrived" else MOVES[move]

    def _feel(
        self,
        observations: Mapping[str, np.ndarray],
        depths: Float32[np.ndarray, "n h w"],
        active: Bool[np.ndarray, "n"],
    ) -> tuple[OccupancyMaps, Float[np.ndarray, "n 4 4"]]:
        """The maps, empty where an episode has just begun, and (N, 4, 4) metres, where the cameras are."""
        if self._maps is None or self._maps.agents != len(active):
            self._maps = OccupancyMaps(len(active), self._map_settings)
            self._bodies = Bodies(len(active))
        begun = [start.slot for start in self._starts]
        self._starts.clear()
        self._maps.reset(begun)
        self._pose_source.feel(observations, depths, begun, active, self._bodies)
        if self._neck is not None:
            rows = np.flatnonzero(active)
            self._bodies.tilts[rows] = [self._neck.tilt(slot) for slot in rows.tolist()]
        return self._maps, world_from_camera(self._bodies, self.camera)

    def _carve(
        self,
        maps: OccupancyMaps,
        depths: Float32[np.ndarray, "n h w"],
        poses: Float[np.ndarray, "n 4 4"],
        active: Bool[np.ndarray, "n"],
        each: Mapping[int, Mapping[str, np.ndarray]],
    ) -> None:
        """Carve the images, but for what bodies pass through; each: row -> (...) arrays by name."""
        is_own = False
        for slot, observations in each.items():
            passable = self.look(slot, observations, poses[slot])
            if passable is not None:
                depths, is_own = (depths if is_own else depths.copy()), True
                depths[slot][passable] = np.nan
        scale, offset = self.depth_scale
        maps.update(depths, self.camera, poses, np.zeros(len(active)), active, scale, offset)


def _first_camera(embodiment: Embodiment, channel: str) -> Camera:
    """The first camera that takes a channel; raises InputError when none does or it has a name."""
    for camera in embodiment.cameras:
        if channel in camera.channels and not camera.name:
            return camera
    raise InputError(
        f"expected a camera without a name that takes {channel!r} on {embodiment.name!r}, got none"
    )


def _depth_sensor(task: Task) -> Depth:
    """The protocol's depth sensor; one that resizes its images is read as if it did not (see `stretch`)."""
    sensor = task.make_sensor("depth")
    if sensor is None:
        return Depth()
    if isinstance(sensor, ResizedDepth):
        return Depth(nearest=0.0, farthest=FARTHEST, normalize=False)
    if not isinstance(sensor, Depth):
        raise InputError(f"expected a Depth sensor of {task.protocol_id!r}, got {type(sensor).__name__}")
    return sensor


def _depth_scale(depth: Depth) -> tuple[float, float]:
    """(metres per unit, metres at 0) of depth observations."""
    return (depth.farthest - depth.nearest, depth.nearest) if depth.normalize else (1.0, 0.0)


def _explorer_settings(body: Embodiment) -> ExplorerSettings:
    steering = SteeringSettings(
        body.forward_step, body.turn_angle, arrival=max(0.18, 0.72 * body.forward_step)
    )
    return ExplorerSettings(TerrainSettings(body.radius), steering)


def _map_settings(body: Embodiment, depth: Depth, camera: Camera) -> OccupancySettings:
    stride = 1
    while camera.width_px * camera.height_px > MOST_PIXELS * stride**2:
        stride += 1
    return OccupancySettings(
        nearest=depth.nearest,
        farthest=min(depth.farthest, 6.0),
        low=LOW,
        high=body.height,
        size=60.0,
        stride=stride,
    )
