"""Facts of a path through a house, which an instruction states."""

import math
from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from jaxtyping import Float, Int64

from navarena.core.geometry import resample_path, wrap_angle
from navarena.episodes.language.landmarks import Landmark, is_salient, name_landmark
from navarena.episodes.language.route import Climb, Enter, Pass, Route, RouteStep, Side, Stop, Turn
from navarena.episodes.language.surroundings import Surroundings
from navarena.scenes.scene import SceneObject

SPACING = 0.1
"""Metres between the points of a path at which one looks around."""

LOOK_BACK = 0.5
"""Metres over which the direction of walking is measured."""

STRAIGHT, AROUND = math.radians(40), math.radians(140)
"""Radians: turns below the first go straight on, turns above the second go back."""

SHORTEST_VISIT = 0.5
"""Metres: rooms that the path only brushes are not named."""

PASSED_WITHIN = 1.8
"""Metres from the path to the centre of an object that it passes."""

LONG_LEG = 4.0
"""Metres in one room from which on something that is passed is named."""

STOP_WITHIN = 1.2
"""Metres from the end to the box of the object that is named there."""

AHEAD = math.radians(45)
"""Radians around the last direction within which that object counts as ahead."""


def describe_route(
    surroundings: Surroundings, path: Float[np.ndarray, "k 3"], yaw: float, generator: np.random.Generator
) -> Route | None:
    """The facts along `path`; which objects are named is drawn.

    Args:
        surroundings: of the house.
        path: (K, 3) metres, world frame, corners of the path on the ground.
        yaw: radians, at its start.
        generator: of the choice.

    Returns None for a path of less than two rooms, or one whose end is near nothing that can be named.
    """
    points = resample_path(path, SPACING)
    visits = _visits(surroundings, points)
    if len(visits) < 2:
        return None
    steps: list[RouteStep] = []
    facing = yaw
    for number, (room, first, last) in enumerate(visits):
        if number:
            steps.append(_crossing(surroundings, visits[number - 1][0], room, points, facing, first))
            facing = direction(points, first, -1)
        passed = _passed(surroundings, room, points[first : last + 1], generator)
        if passed is not None and number < len(visits) - 1:
            steps.append(passed)
    stop = _end(surroundings, visits[-1][0], points, generator)
    if stop is None:
        return None
    return Route(surroundings.rooms[visits[0][0]].category, (*steps, stop))


def _visits(surroundings: Surroundings, points: Float[np.ndarray, "n 3"]) -> list[tuple[int, int, int]]:
    """(room, first, last point) of each room along the path, those that it only brushes left out."""
    rooms = _filled(surroundings.room_of(points))
    edges = np.flatnonzero(np.diff(rooms, prepend=-2, append=-2)).tolist()
    visits: list[tuple[int, int, int]] = []
    for first, after in pairwise(edges):
        room, ends = int(rooms[first]), first == 0 or after == len(rooms)
        if room < 0 or (not ends and (after - first) * SPACING < SHORTEST_VISIT):
            continue
        if visits and visits[-1][0] == room:
            visits[-1] = (room, visits[-1][1], after - 1)
        else:
            visits.append((room, first, after - 1))
    return visits


def _filled(rooms: Int64[np.ndarray, "n"]) -> Int64[np.ndarray, "n"]:
    """Points in doorways (-1) belong to the room before them."""
    known = np.where(rooms >= 0, np.arange(len(rooms)), 0)
    return np.asarray(rooms[np.maximum.accumulate(known)], np.int64)


def _crossing(
    surroundings: Surroundings,
    left: int,
    entered: int,
    points: Float[np.ndarray, "n 3"],
    facing: float,
    at: int,
) -> Enter | Climb:
    """Facts of the crossing into the next room at point `at`; `facing`: radians on entering `left`."""
    turn = name_turn(direction(points, at, -1) - facing)
    before, after = surroundings.rooms[left], surroundings.rooms[entered]
    if before.level != after.level:
        return Climb(after.level > before.level, turn)
    return Enter(after.category, turn, before.category == after.category)


def _passed(
    surroundings: Surroundings, room: int, points: Float[np.ndarray, "n 3"], generator: np.random.Generator
) -> Pass | None:
    """An object that the path through a room passes on one side; None on short paths."""
    if len(points) * SPACING < LONG_LEG:
        return None
    choices: list[Pass] = []
    for obj, landmark in _named(surroundings, room):
        offsets = np.array(obj.center)[[0, 2]] - points[:, [0, 2]]
        nearest = int(np.hypot(offsets[:, 0], offsets[:, 1]).argmin())
        inner = LOOK_BACK / SPACING < nearest < len(points) - LOOK_BACK / SPACING
        if not inner or np.hypot(*offsets[nearest]) > PASSED_WITHIN:
            continue
        bearing = float(wrap_angle(_yaw_of(offsets[nearest]) - direction(points, nearest, -1)))
        if STRAIGHT < abs(bearing) < AROUND:
            side: Side = "left" if bearing > 0 else "right"
            choices.append(Pass(landmark, side))
    return choices[int(generator.integers(len(choices)))] if choices else None


def _end(
    surroundings: Surroundings, room: int, points: Float[np.ndarray, "n 3"], generator: np.random.Generator
) -> Stop | None:
    """One of the two objects nearest to the end."""
    near = []
    for obj, landmark in _named(surroundings, room):
        distance = box_distance(obj, points[-1])
        if distance <= STOP_WITHIN:
            near.append((distance, obj, landmark))
    if not near:
        return None
    near.sort(key=lambda one: (one[0], one[1].object_id))
    _, obj, landmark = near[int(generator.integers(min(2, len(near))))]
    bearing = _yaw_of(np.array(obj.center)[[0, 2]] - points[-1, [0, 2]]) - direction(
        points, len(points) - 1, -1
    )
    return Stop(landmark, abs(float(wrap_angle(bearing))) < AHEAD)


def _named(surroundings: Surroundings, room: int) -> list[tuple[SceneObject, Landmark]]:
    """The objects of a room that stand out, each with the words that distinguish it from the rest."""
    objects = surroundings.objects(room)
    named = []
    for obj in objects:
        if is_salient(obj):
            landmark = name_landmark(obj, objects)
            if landmark is not None:
                named.append((obj, landmark))
    return named


def name_turn(angle: float) -> Turn:
    """The word for a turn by `angle` radians, positive to the left."""
    angle = float(wrap_angle(angle))
    if abs(angle) < STRAIGHT:
        return "straight"
    if abs(angle) > AROUND:
        return "around"
    return "left" if angle > 0 else "right"


def direction(points: Float[np.ndarray, "n 3"], at: int, side: int) -> float:
    """Yaw, radians, of walking along `points` (N, 3) up to point `at` (side -1) or on from it (side 1)."""
    reach = round(LOOK_BACK / SPACING)
    first, last = (max(at - reach, 0), at) if side < 0 else (at, min(at + reach, len(points) - 1))
    if first == last:
        first, last = max(first - 1, 0), min(last + 1, len(points) - 1)
    return _yaw_of(points[last, [0, 2]] - points[first, [0, 2]])


def box_distance(obj: SceneObject, point: Float[np.ndarray, "3"]) -> float:
    """Metres in plan from a point (x, y, z) to the oriented box of an object; 0 within it."""
    x, z = point[0] - obj.center[0], point[2] - obj.center[2]
    cosine, sine = math.cos(obj.yaw), math.sin(obj.yaw)
    across, along = abs(cosine * x - sine * z), abs(sine * x + cosine * z)
    return math.hypot(max(across - obj.half_size[0], 0.0), max(along - obj.half_size[2], 0.0))


def _yaw_of(offset: Sequence[float] | Float[np.ndarray, "2"]) -> float:
    """Yaw, radians, along which (x, z) lies; yaw 0 looks along -z and grows to the left."""
    return math.atan2(-offset[0], -offset[1])
