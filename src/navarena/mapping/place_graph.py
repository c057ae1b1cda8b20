"""A topological map: places with a local map, views and objects, and edges with the poses between them.

Nothing is kept in a common frame. A pose that is only known by what the body walked is right near the place
where it was walked, whatever has drifted since; a path over edges composes few of them.
"""

import heapq
import math
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np
from jaxtyping import Float, Float32, Int8, Int64

from navarena.core.geometry import wrap_angle
from navarena.mapping.place_kernels import lay_over

Pose: TypeAlias = Float[np.ndarray, "3"]
"""(3,) [x, z, yaw] of a body or a frame in another: metres to the right, metres backward, radians left."""


@dataclass(frozen=True)
class PlaceSettings:
    """Settings of graphs of places.

    Attributes:
        cell: metres, side of a cell of the local maps.
        size: metres, side of the local map of a place.
        window: metres, side of the map that is put together around a place; at least `size`.
        spacing: metres from all places near by at which a new one begins.
        margin: metres by which another place must be nearer than the present one to become it.
        trust: metres of path over edges within which composed poses are believed.
    """

    cell: float = 0.05
    size: float = 15.0
    window: float = 18.0
    spacing: float = 2.5
    margin: float = 0.4
    trust: float = 20.0


@dataclass(eq=False)
class Place:
    """A node of the graph.

    Attributes:
        scores: (S, S) int8 evidence of its local map, whose middle is the origin of its frame.
        box: (4,) int64 where that map holds any, as of OccupancyMaps.
        edges: place -> the pose of its frame in this one's.
        objects: label -> (K, 3) metres, points of the object in this place's frame.
        searched: how many sizes of frontiers were looked for from here in vain.
    """

    scores: Int8[np.ndarray, "s s"]
    box: Int64[np.ndarray, "4"]
    edges: dict[int, Pose] = field(default_factory=dict)
    objects: dict[int, Float[np.ndarray, "k 3"]] = field(default_factory=dict)
    searched: int = 0


@dataclass(frozen=True, eq=False)
class Route:
    """The way to a place over edges.

    Attributes:
        pose: of its frame in that of the place where the way begins, composed along it.
        length: metres.
        before: the place before it on the way; itself at the beginning.
    """

    pose: Pose
    length: float
    before: int


class PlaceGraph:
    """The places of one body in one episode, and where the body is.

    Args:
        settings: see PlaceSettings.

    Attributes:
        places: nodes, in the order in which they were entered.
        here: the place whose frame is used now.
        pose: of the body, in the frame of `here`.
    """

    def __init__(self, settings: PlaceSettings = PlaceSettings()) -> None:
        self.settings = settings
        self.places: list[Place] = [self._empty()]
        self.here = 0
        self.pose: Pose = np.zeros(3)
        self._views: list[tuple[int, Pose]] = []
        self._features: list[Float32[np.ndarray, d]] = []
        self._routes: dict[int, dict[int, Route]] = {}
        self._under: tuple[int, int, Int8[np.ndarray, "w w"]] | None = None
        self._revision = 0

    @property
    def place(self) -> Place:
        """The place that the body is at."""
        return self.places[self.here]

    def move(self, motion: Pose) -> None:
        """The body moved by `motion`: its pose in the frame of its pose before."""
        self.pose = join(self.pose, motion)

    def nearest(self) -> tuple[int, float]:
        """The place near by that is nearest to the body by composed poses, and how far that is, metres."""
        distances = {
            place: math.hypot(*(route.pose - self.pose)[:2])
            for place, route in self.routes().items()
            if route.length <= self.settings.trust
        }
        best = min(distances, key=lambda place: (distances[place], place))
        if distances[self.here] <= distances[best] + self.settings.margin:
            best = self.here
        return best, distances[best]

    def begin_place(self) -> None:
        """A new place begins where the body is; an edge leads to it. Its frame is not turned."""
        cell = self.settings.cell
        edge = np.array([*(np.round(self.pose[:2] / cell) * cell), 0.0])
        self.places.append(self._empty())
        self._connect(self.here, len(self.places) - 1, edge)
        self._enter(len(self.places) - 1, invert(edge))

    def go_over(self, place: int, frame: Pose) -> None:
        """The body is at `place` from now on, whose `frame` (its pose in that of `here`) is found to be so.

        There is an edge between them from now on, since the body has walked from one to the other.
        """
        if place not in self.place.edges:
            self._connect(self.here, place, frame)
        self._enter(place, invert(frame))

    def routes(self) -> dict[int, Route]:
        """Place -> the shortest way to it from `here`, by metres along the edges (Dijkstra)."""
        if self.here not in self._routes:
            self._routes[self.here] = self._find_routes(self.here)
        return self._routes[self.here]

    def route_to(self, place: int) -> list[int]:
        """The places on the way to `place`, the first one after `here` first; empty where that is `here`."""
        routes, way = self.routes(), []
        while place != self.here:
            way.append(place)
            place = routes[place].before
        return way[::-1]

    def surroundings(self, place: int | None = None) -> Int8[np.ndarray, "w w"]:
        """(W, W) int8 evidence around a place (`here` by default), by its own map and those of others."""
        at = self.here if place is None else place
        side = round(self.settings.window / self.settings.cell)
        if place is None and self._under is not None and self._under[:2] == (at, self._revision):
            whole = self._under[2].copy()
        else:
            whole = self._lay_others(at, side)
            if place is None:
                self._under = (at, self._revision, whole.copy())
        own = self.places[at]
        lay_over(whole, own.scores, own.box, 0.0, 0.0, 0.0, self.settings.cell)
        return whole

    def remember_view(self, feature: Float32[np.ndarray, "d"]) -> None:
        """The body sees a view with `feature` (D,), a unit vector without unit, from its pose, at `here`."""
        self._views.append((self.here, self.pose.copy()))
        self._features.append(feature)

    def has_view(self, metres: float, radians: float) -> bool:
        """Whether a view of `here` is kept from a pose within these of the body's."""
        return any(
            place == self.here
            and math.hypot(*(pose - self.pose)[:2]) <= metres
            and abs(float(wrap_angle(pose[2] - self.pose[2]))) <= radians
            for place, pose in self._views
        )

    def match_view(self, feature: Float32[np.ndarray, "d"], min_cosine: float) -> list[tuple[int, Pose]]:
        """(place, pose in its frame, metres and radians) of the views like one with `feature` (D,).

        `min_cosine` is the cosine of the features from which on they are alike; the best comes first.
        """
        if not self._features:
            return []
        likeness = np.array(self._features) @ feature
        order = np.argsort(-likeness, kind="stable")
        return [self._views[k] for k in order.tolist() if likeness[k] >= min_cosine]

    def _empty(self) -> Place:
        side = round(self.settings.size / self.settings.cell)
        return Place(np.zeros((side, side), np.int8), np.array([side, 0, side, 0], np.int64))

    def _connect(self, one: int, other: int, edge: Pose) -> None:
        self.places[one].edges[other] = edge
        self.places[other].edges[one] = invert(edge)
        self._revision += 1
        self._routes.clear()

    def _enter(self, place: int, frame: Pose) -> None:
        """`place` becomes `here`; `frame` is that of the present one in its frame."""
        self.pose = join(frame, self.pose)
        self.here = place
        self._revision += 1

    def _lay_others(self, at: int, side: int) -> Int8[np.ndarray, "w w"]:
        """(W, W) int8 evidence around a place by the maps of those around it."""
        cell, whole = self.settings.cell, np.zeros((side, side), np.int8)
        reach = (self.settings.window + self.settings.size) / math.sqrt(2)
        for place, route in self._find_routes(at).items():
            x, z, yaw = route.pose.tolist()
            if place != at and route.length <= self.settings.trust and math.hypot(x, z) < reach:
                other = self.places[place]
                lay_over(whole, other.scores, other.box, x, z, yaw, cell)
        return whole

    def _find_routes(self, start: int) -> dict[int, Route]:
        routes: dict[int, Route] = {}
        queue: list[tuple[float, int, int, Pose]] = [(0.0, start, start, np.zeros(3))]
        while queue:
            length, place, before, pose = heapq.heappop(queue)
            if place in routes:
                continue
            routes[place] = Route(pose, length, before)
            for other, edge in self.places[place].edges.items():
                if other not in routes:
                    farther = length + math.hypot(edge[0], edge[1])
                    heapq.heappush(queue, (farther, other, place, join(pose, edge)))
        return routes


def join(frame: Pose, pose: Pose) -> Pose:
    """`pose`, given in `frame`, in the frame that `frame` is given in."""
    cosine, sine = math.cos(frame[2]), math.sin(frame[2])
    return np.array(
        [
            frame[0] + cosine * pose[0] + sine * pose[1],
            frame[1] - sine * pose[0] + cosine * pose[1],
            float(wrap_angle(frame[2] + pose[2])),
        ]
    )


def invert(frame: Pose) -> Pose:
    """The pose, in `frame`, of the frame that `frame` is given in."""
    cosine, sine = math.cos(frame[2]), math.sin(frame[2])
    x, z = -frame[0], -frame[1]
    return np.array([cosine * x - sine * z, sine * x + cosine * z, float(wrap_angle(-frame[2]))])


def carry(frame: Pose, points: Float[np.ndarray, "k 3"]) -> Float[np.ndarray, "k 3"]:
    """Points (K, 3) metres, given in `frame`, in the frame that `frame` is given in; heights stay."""
    cosine, sine = math.cos(frame[2]), math.sin(frame[2])
    x, z = points[:, 0], points[:, 2]
    return np.stack([frame[0] + cosine * x + sine * z, points[:, 1], frame[1] - sine * x + cosine * z], 1)
