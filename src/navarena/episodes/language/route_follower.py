"""Follows the facts of a route without its path: routes that lead elsewhere are ambiguous."""

import math

import numpy as np
from jaxtyping import Float

from navarena.core.geometry import resample_path, wrap_angle
from navarena.episodes.language.route import Climb, Enter, Route, Stop, Turn
from navarena.episodes.language.route_facts import SPACING, direction
from navarena.episodes.language.surroundings import Portal, Surroundings

MEANT = {"straight": 0.0, "left": math.pi / 2, "right": -math.pi / 2, "around": math.pi}
"""Radians that each turn stands for."""

CLEARER_BY = math.radians(25)
"""Radians by which the better of two doorways must fit the turn; less is ambiguous."""


def follow_route(
    surroundings: Surroundings, route: Route, start: Float[np.ndarray, "3"], yaw: float
) -> Float[np.ndarray, "3"] | None:
    """End of the path that the facts describe; None if they are ambiguous or lead nowhere.

    The reader knows the house, where it stands and where it looks, and nothing of the path. In each
    room it takes the doorway into a room of the named category whose direction fits the turn, and stops
    at the place on the ground nearest to the object that is named last.

    Args:
        surroundings: of the house.
        route: the facts.
        start: (3,) metres, world frame, on the ground.
        yaw: radians.
    """
    place, facing = np.asarray(start, float), yaw
    room = int(surroundings.room_of(place[None])[0])
    for step in route.steps:
        if room < 0:
            return None
        if isinstance(step, Enter | Climb):
            found = _choose(surroundings, room, place, facing, step)
            if found is None:
                return None
            portal, path = found
            points = resample_path(path, SPACING)
            place, facing = points[-1], direction(points, len(points) - 1, -1)
            room = portal.beyond(room)
        elif isinstance(step, Stop):
            return _arrive(surroundings, room, step)
    return None


def _choose(
    surroundings: Surroundings,
    room: int,
    place: Float[np.ndarray, "3"],
    facing: float,
    step: Enter | Climb,
) -> tuple[Portal, Float[np.ndarray, "k 3"]] | None:
    """The portal that a step means, and the path (K, 3) to it; None where two fit equally well."""
    fits = []
    for portal in surroundings.exits(room):
        if not _is_meant(surroundings, portal, room, step):
            continue
        target = surroundings.navmesh.snap_point(np.array([portal.point]))[0]
        if not np.isfinite(target).all():
            continue
        path = surroundings.navmesh.shortest_path(place, target)
        if len(path) < 2:
            continue
        points = resample_path(path, SPACING)
        fits.append((misfit(direction(points, len(points) - 1, -1) - facing, step.turn), portal, path))
    fits.sort(key=lambda one: one[0])
    if not fits or (len(fits) > 1 and fits[1][0] - fits[0][0] < CLEARER_BY):
        return None
    return fits[0][1], fits[0][2]


def _is_meant(surroundings: Surroundings, portal: Portal, room: int, step: Enter | Climb) -> bool:
    other = surroundings.rooms[portal.beyond(room)]
    if isinstance(step, Climb):
        return portal.is_flight and (other.level > surroundings.rooms[room].level) == step.up
    return not portal.is_flight and other.category == step.room


def _arrive(surroundings: Surroundings, room: int, step: Stop) -> Float[np.ndarray, "3"] | None:
    """The place nearest to the object that is named; None where the room has none or several."""
    objects = [obj for obj in surroundings.objects(room) if step.landmark.fits(obj)]
    if len(objects) != 1:
        return None
    x, _, z = objects[0].center
    near = surroundings.navmesh.snap_point(np.array([[x, surroundings.rooms[room].floor_height, z]]))[0]
    return near if np.isfinite(near).all() else None


def misfit(angle: float, turn: Turn) -> float:
    """Radians between a turn by `angle` (positive to the left) and the range that its word means."""
    return abs(float(wrap_angle(angle - MEANT[turn])))
