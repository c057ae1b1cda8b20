"""An agent that knows its pose by counting its own actions, and learns what they really do."""

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence

import numpy as np
from jaxtyping import Bool, Float, Int64

from navarena.agents.agent import Agent, Start, require_discrete
from navarena.core.errors import InputError
from navarena.core.geometry import wrap_angle
from navarena.core.movement import ACROSS, ALONG, TURN
from navarena.core.seeding import make_generator
from navarena.simulation.motion import movement_table
from navarena.simulation.sensors.pictures import Depth
from navarena.tasks.calibration_env import CalibrationEnv
from navarena.tasks.task import Actions, Task

BAND = (0.4, 0.6)
"""Shares of the picture's height and width between which depth tells whether the way ahead is free."""

OUTLIERS = 0.1
"""Share of the depths in the band that may be nearer: noise and holes."""

ROOM = 0.3
"""Metres beyond a step and the body's radius that must be free ahead."""

DETOUR = 4
"""Steps along an obstacle before the goal is aimed at again."""

WALK_SHARE = 0.5
"""Of the actions while adapting, where the way ahead is free."""

FEWEST = 5
"""Observed motions of an action from which on their median is believed."""


class DeadReckonerAgent(Agent):
    """Walks towards a static goal, whose place it reckons from its own actions, and round what is in the way.

    It observes depth and where the goal was at the start (`pointgoal`), and never feels its pose: what an
    action does is taken to be what the body's data sheet says. Where it may adapt, it observes its odometry
    and learns for each scene what walks and turns really do (the medians of those with a free way ahead),
    so that a constant bias of motion no longer leads it astray.
    """

    sensors = ("depth", "pointgoal")
    calibration_sensors = ("depth", "odometry")

    def __init__(self, task: Task, seed: int = 0) -> None:
        require_discrete(task, "dead-reckoner")
        if "pointgoal_with_gps_compass" not in task.sensors and "pointgoal" not in task.sensors:
            raise InputError(f"expected a protocol of PointNav for 'dead-reckoner', got {task.protocol_id!r}")
        self._seed, self._success_distance = seed, task.success_distance
        self._index = {name: index for index, name in enumerate(task.actions)}
        self._motions = movement_table(task.embodiment, task.actions)[:, [ALONG, ACROSS, TURN]]
        self._learned: dict[str, Float[np.ndarray, "a 3"]] = {}
        self._reach = task.embodiment.forward_step + task.embodiment.radius + ROOM
        self._scale, self._offset = read_depth_unit(task)
        self._scenes: dict[int, str] = {}
        self._poses: dict[int, Float[np.ndarray, 3]] = {}
        self._detours: dict[int, int] = {}

    def adapt(self, env: CalibrationEnv) -> None:
        """Walk and turn at random, and learn what the actions do in each scene."""
        generator = make_generator("dead-reckoner", "adapt", self._seed)
        walk, turns = self._index["move_forward"], [self._index["turn_left"], self._index["turn_right"]]
        seen: dict[tuple[str, int], list[Float[np.ndarray, 3]]] = defaultdict(list)
        while not env.is_over:
            free, scenes = self._see_free(env.observations["depth"]), env.scene_ids
            walking = free & (generator.random(env.slots) < WALK_SHARE)
            actions = np.where(walking, walk, generator.choice(turns, env.slots))
            begun = env.step(actions)
            motions = env.observations["odometry"]
            for slot in np.flatnonzero(~begun).tolist():
                seen[scenes[slot], int(actions[slot])].append(motions[slot].astype(float))
        for (scene, action), motions_of in seen.items():
            if len(motions_of) >= FEWEST:
                table = self._learned.setdefault(scene, self._motions.copy())
                table[action] = np.median(motions_of, axis=0)

    def reset(self, starts: Sequence[Start]) -> None:
        """Begin at the start again; what was learned of scenes stays."""
        for start in starts:
            self._scenes[start.slot] = start.scene_id
            self._poses[start.slot] = np.zeros(3)
            self._detours[start.slot] = 0

    def act(self, observations: Mapping[str, np.ndarray], active: Bool[np.ndarray, "n"]) -> Actions:
        free = self._see_free(observations["depth"])
        actions: Int64[np.ndarray, n] = np.zeros(len(active), np.int64)
        for slot in np.flatnonzero(active).tolist():
            motions = self._learned.get(self._scenes[slot], self._motions)
            turn = motions[self._index["turn_left"], TURN]
            told = observations["pointgoal"][slot].astype(float)
            actions[slot] = self._index[self._choose(slot, told, bool(free[slot]), turn)]
            self._poses[slot] = add_motion(self._poses[slot], motions[actions[slot]])
        return actions

    def _see_free(self, depth: np.ndarray) -> Bool[np.ndarray, "n"]:
        """(N,) whether a step ahead meets nothing, by depth observations (N, H, W, 1)."""
        height, width = depth.shape[1:3]
        rows = slice(int(BAND[0] * height), max(int(BAND[1] * height), int(BAND[0] * height) + 1))
        columns = slice(int(BAND[0] * width), max(int(BAND[1] * width), int(BAND[0] * width) + 1))
        band = depth[:, rows, columns, 0].reshape(len(depth), -1)
        metres = np.quantile(band, OUTLIERS, axis=1) * self._scale + self._offset
        return np.asarray(metres > self._reach)

    def _choose(self, slot: int, told: Float[np.ndarray, "2"], is_free: bool, turn: float) -> str:
        """The next action, by where the goal was `told` [metres, radians] to be at the start.

        turn: radians of a turn to the left.
        """
        pose = self._poses[slot]
        goal = told[0] * np.array([math.cos(told[1]), -math.sin(told[1])])
        ahead, right = goal - pose[:2]
        if math.hypot(ahead, right) < self._success_distance:
            return "stop"
        if not is_free:
            self._detours[slot] = DETOUR
            return "turn_left"
        if self._detours[slot] > 0:
            self._detours[slot] -= 1
            return "move_forward"
        bearing = float(wrap_angle(math.atan2(-right, ahead) - pose[2]))
        if abs(bearing) <= turn / 2:
            return "move_forward"
        return "turn_left" if bearing > 0 else "turn_right"


def read_depth_unit(task: Task) -> tuple[float, float]:
    """(metres per unit, metres at 0) of the depth observations of `task`."""
    sensor = task.make_sensor("depth") or Depth()
    if isinstance(sensor, Depth) and sensor.normalize:
        return sensor.farthest - sensor.nearest, sensor.nearest
    return 1.0, 0.0


def add_motion(pose: Float[np.ndarray, "3"], motion: Float[np.ndarray, "3"]) -> Float[np.ndarray, "3"]:
    """The pose (3,) after a motion (3,): both [metres ahead, metres to the right, radians to the left]."""
    sine, cosine = math.sin(pose[2]), math.cos(pose[2])
    ahead = pose[0] + cosine * motion[0] + sine * motion[1]
    right = pose[1] + cosine * motion[1] - sine * motion[0]
    return np.array([ahead, right, pose[2] + motion[2]])
