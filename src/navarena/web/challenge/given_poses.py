"""Trajectories of RoboTHOR's results files, followed in the scenes of a phase.

The file says where a body was; the server says whether it can have gone there, what it saw at Stop, and every
number. Movements have the engine's noise, so that poses are held against what it could have done at most.
"""

import math
from typing import Any

import numpy as np
from jaxtyping import Bool, Float, Int64

from navarena.core.errors import FileError
from navarena.core.geometry import forward_from_yaw, world_from_unity, wrap_angle, yaw_from_unity
from navarena.episodes.episode import Episode
from navarena.episodes.exchange.robothor import AGENT_CENTRE
from navarena.evaluation.benchmark import Benchmark
from navarena.evaluation.exchange.official import PLACE_AGREEMENT, ROBOTHOR_ACTIONS
from navarena.evaluation.records.journal import Row
from navarena.evaluation.running.rows import make_row
from navarena.simulation.simulator import Simulator
from navarena.simulation.world import World, WorldCache
from navarena.tasks.batch import NavigationBatch
from navarena.tasks.protocols.object_nav_robothor import ObjectNavRobothor2021, RobothorState
from navarena.tasks.task import Actions
from navarena.web.challenge.trajectory_files import PoseAnswer

MOVE_NOISE = 0.05
"""Metres by which a step may be longer: ten standard deviations of the engine's noise."""

TURN_NOISE = math.radians(5)
"""Radians by which a turn may be another one: likewise. A step turns by half of it at most."""

STILL = 0.01
"""Metres that a body may shift where it should stand, and aside from its heading: digits and snapping."""

CUT_SHORT = 0.025
"""Metres by which a step is shorter that met an obstacle: five standard deviations."""

HORIZON_AGREEMENT = 1.0
"""Degrees by which the camera may be tilted otherwise than its actions say."""

FARTHEST = 1e6
"""Metres; no place of a scene is farther away."""


class GivenPoses:
    """Follows trajectories, one after the other.

    Args:
        task: the protocol of the phase.
    """

    def __init__(self, task: ObjectNavRobothor2021) -> None:
        self._task = _GivenPosesTask(task)
        self._worlds = WorldCache(task.embodiment)
        self._batch = NavigationBatch(self._task, 1, None, (), self._worlds)

    def score(self, episode: Episode, answer: PoseAnswer, benchmark: Benchmark) -> Row:
        """The row of a trajectory; raises FileError for one that cannot have been walked."""
        where = f"episode {episode.episode_id}"
        poses = _read_poses(where, answer, episode, self._task, self._worlds.get(episode.scene_id))
        self._task.poses = poses
        self._batch.start([0], [episode])
        for number, action in enumerate(poses.actions):
            if not self._batch.running[0]:
                raise FileError(
                    f"{where}: expected at most {number} actions, got {len(poses.actions)}; the rules end it"
                )
            self._batch.step(np.array([action]))
        if self._batch.running[0]:
            raise FileError(f"{where}: expected actions up to Stop or the last one allowed, got no end")
        return make_row(benchmark, episode, self._batch.trajectory(0), "ok")


class _Poses:
    """Poses of a body.

    Attributes:
        actions: (K,) int64.
        positions: (K + 1, 3) float64 metres, world frame, on the floor; row 0 is the start.
        yaws, tilts: (K + 1,) float64 radians.
        cut_short: (K,) bool, which steps met an obstacle.
    """

    def __init__(
        self,
        actions: Int64[np.ndarray, "k"],
        positions: Float[np.ndarray, "k1 3"],
        yaws: Float[np.ndarray, "k1"],
        tilts: Float[np.ndarray, "k1"],
        cut_short: Bool[np.ndarray, "k"],
    ) -> None:
        self.actions, self.positions, self.yaws = actions, positions, yaws
        self.tilts, self.cut_short = tilts, cut_short


class _GivenPosesTask(ObjectNavRobothor2021):
    """The protocol with bodies that go where `poses` say, without noise of its own."""

    drives = True
    corruptions = ()

    def __init__(self, task: ObjectNavRobothor2021) -> None:
        super().__init__(task.options)
        self.poses: _Poses | None = None

    def execute(
        self, simulator: Simulator, state: RobothorState, actions: Actions, active: Bool[np.ndarray, "n"]
    ) -> None:
        """Put the body where it was after this action."""
        poses, bodies = self.poses, simulator.bodies
        assert poses is not None
        step = int(state.steps[0])
        bodies.positions[0] = poses.positions[step + 1]
        bodies.yaws[0], bodies.tilts[0] = poses.yaws[step + 1], poses.tilts[step + 1]
        bodies.moved[0] = bool((bodies.positions[0] != bodies.last_positions[0]).any())
        bodies.collided[0] = poses.cut_short[step]
        bodies.triangles[0] = -1
        simulator.observer.expire(active)


def _read_poses(
    where: str, answer: PoseAnswer, episode: Episode, task: ObjectNavRobothor2021, world: World
) -> _Poses:
    """The poses of an answer that can have been gone through; raises FileError."""
    names = [one.action for one in answer.actions_taken]
    if foreign := sorted(set(names) - set(ROBOTHOR_ACTIONS)):
        raise FileError(
            f"{where}: expected the actions {', '.join(ROBOTHOR_ACTIONS)}, got {foreign[0][:50]!r}"
        )
    trajectory = list(answer.trajectory)
    if names and names[-1] == "Stop" and len(trajectory) == len(names):
        trajectory.append(trajectory[-1])  # the pose after Stop may be left out: nothing moves
    if len(trajectory) != len(names) + 1:
        raise FileError(
            f"{where}: expected a pose before the first of {len(names)} actions and one after each, got "
            f"{len(trajectory)}"
        )
    if not all(one.rotation is not None for one in trajectory):
        raise FileError(f"{where}: expected poses with a rotation, got one without")
    unity = np.array([(one.x, one.y, one.z) for one in trajectory], np.float64)
    degrees = np.array([one.rotation for one in trajectory], np.float64)
    if not (np.abs(unity) < FARTHEST).all() or not (np.abs(degrees) < FARTHEST).all():
        raise FileError(f"{where}: expected poses in the scene, got one beyond {FARTHEST:g}")
    places, yaws = world_from_unity(unity) - (0.0, AGENT_CENTRE, 0.0), yaw_from_unity(degrees)
    _require_start(where, places[0], float(yaws[0]), episode)
    places[0], yaws[0] = episode.start_position, wrap_angle(episode.start_yaw)
    _require_movements(where, answer, names, places, yaws, task)
    floor = _require_floor(where, places, world)
    walks = np.array([name == "MoveAhead" for name in names], bool)
    lengths = np.hypot(*np.diff(floor[:, [0, 2]], axis=0).T)
    tilts = _find_tilts(where, answer, names, episode, task)
    actions = np.array([ROBOTHOR_ACTIONS.index(name) for name in names], np.int64)
    cut_short = walks & (lengths < task.embodiment.forward_step - CUT_SHORT)
    return _Poses(actions, floor, yaws, tilts, cut_short)


def _require_start(where: str, place: Float[np.ndarray, "3"], yaw: float, episode: Episode) -> None:
    x, _, z = episode.start_position
    away, turned = math.dist((place[0], place[2]), (x, z)), abs(float(wrap_angle(yaw - episode.start_yaw)))
    if away > PLACE_AGREEMENT or turned > TURN_NOISE:
        raise FileError(
            f"{where}: expected to begin at the start of the episode, got a pose {away:.2f} m and "
            f"{math.degrees(turned):.0f} degrees from it"
        )


def _require_movements(
    where: str,
    answer: PoseAnswer,
    names: list[str],
    places: Float[np.ndarray, "k1 3"],
    yaws: Float[np.ndarray, "k1"],
    task: ObjectNavRobothor2021,
) -> None:
    """Raise FileError for the first movement that its action cannot have made."""
    body = task.embodiment
    moves = np.diff(places, axis=0)[:, [0, 2]]
    ahead = forward_from_yaw(yaws[1:])[:, [0, 2]]
    along = (moves * ahead).sum(1)
    aside = np.abs(moves[:, 0] * ahead[:, 1] - moves[:, 1] * ahead[:, 0])
    turned = np.asarray(wrap_angle(np.diff(yaws)))
    shifted = np.hypot(*moves.T)
    turns = {"RotateRight": -body.turn_angle, "RotateLeft": body.turn_angle}
    for step, name in enumerate(names):
        if name == "MoveAhead":
            longest = body.forward_step + MOVE_NOISE
            fits = -STILL <= along[step] <= longest and aside[step] <= STILL + 0.1 * longest
            fits = fits and abs(turned[step]) <= TURN_NOISE / 2
        else:
            wanted = turns.get(name, 0.0) if answer.actions_taken[step].success else 0.0
            slack = TURN_NOISE if name in turns else TURN_NOISE / 2
            off = abs(float(wrap_angle(turned[step] - wanted)))
            fits = shifted[step] <= STILL and off <= slack
        if not fits:
            raise FileError(
                f"{where}: expected poses that {name} can lead to, got a move of {shifted[step]:.2f} m and a "
                f"turn of {math.degrees(turned[step]):.0f} degrees by action {step}"
            )


def _require_floor(where: str, places: Float[np.ndarray, "k1 3"], world: World) -> Float[np.ndarray, "k1 3"]:
    """`places` on the floor; raises FileError for one beside it, and for a move through an obstacle."""
    navmesh = world.navmesh
    floor = navmesh.snap_point(places)
    beside = ~(np.hypot(*(floor - places)[:, [0, 2]].T) <= PLACE_AGREEMENT)  # NaN, too
    if beside.any():
        row = int(np.argmax(beside))
        raise FileError(f"{where}: expected places on the floor, got one beside it after {row} actions")
    floor[:, [0, 2]] = places[:, [0, 2]]
    floor[0] = places[0]
    reached = navmesh.try_step(floor[:-1], floor[1:], False)
    short = np.hypot(*(reached - floor[1:])[:, [0, 2]].T) > PLACE_AGREEMENT
    if short.any():
        step = int(np.argmax(short))
        raise FileError(
            f"{where}: expected moves over the floor, got one through an obstacle by action {step}"
        )
    return floor


def _find_tilts(
    where: str, answer: PoseAnswer, names: list[str], episode: Episode, task: ObjectNavRobothor2021
) -> Float[np.ndarray, "k1"]:
    """(K + 1,) radians, upwards, by the looks; raises FileError where a horizon says otherwise."""
    body = task.embodiment
    looks: dict[str, Any] = {"LookUp": body.tilt_angle, "LookDown": -body.tilt_angle}
    tilts = [episode.start_tilt]
    for name, one in zip(names, answer.actions_taken):
        change = looks.get(name, 0.0) if one.success else 0.0
        tilts.append(float(np.clip(tilts[-1] + change, *body.tilt_range)))
    for row, (pose, tilt) in enumerate(zip(answer.trajectory, tilts)):
        said = pose.horizon
        if said is not None and abs(said + math.degrees(tilt)) > HORIZON_AGREEMENT:
            raise FileError(
                f"{where}: expected a horizon of {-math.degrees(tilt):.0f} degrees after {row} actions, got "
                f"{said:g}"
            )
    return np.array(tilts)
