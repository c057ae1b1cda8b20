"""`topological`: explores and finds MultiON's cylinders with a graph of places, without a global map.

A place keeps a local map, the views from it and the objects seen from it, each in its own frame. Poses lead
only from place to place, along what was walked: where the pose drifts, what is far away moves, but
nothing is torn where it stands.
"""

import math
from collections.abc import Mapping
from dataclasses import replace

import numpy as np
from jaxtyping import Bool, Float, Float32, Int8, Int64, UInt8

from navarena.agents.explorers.explorer import Aim, Explorer
from navarena.agents.explorers.goal_finders import CLASS_REACH, CylinderFinder, require_cylinders, thin
from navarena.agents.explorers.mapping_agent import MappingAgent
from navarena.agents.explorers.place_memory import PLACES, Memory
from navarena.agents.explorers.pose_sources import FilteredPoses, PoseSource, nominal_motions
from navarena.agents.explorers.sightings import DepthView, locate
from navarena.agents.explorers.view_features import describe_view
from navarena.core.geometry import focal_length, wrap_angle
from navarena.mapping import MapGrid, OccupancyMaps, build_terrain, find_frontiers, flood_terrain
from navarena.mapping.place_graph import PlaceGraph, Pose, carry, invert, join
from navarena.mapping.place_kernels import fit_scan, rate_fit
from navarena.mapping.scan_kernels import ROWS, read_scan
from navarena.simulation.bodies import Bodies
from navarena.simulation.camera_pose import world_from_camera
from navarena.tasks.task import Task

LEVELS = (8, 4, 2)
"""Least cells of a frontier: smaller ones are looked at when no place has larger ones."""

FRESH = 6.0
"""Metres walked since the goal was last seen, within which the body declares where it believes it to be."""

LOOK = 1.2
"""Metres from where a goal should be, at which the body looks around when it has not seen it for longer."""

PATIENCE = 80
"""Steps on the way to a place with frontiers, after which that place is given up."""

HINDERED, NARROW = 2, 30
"""Moves for which no way led to an aim, and steps for which the map of the place alone counts then: those of
several places may have drifted apart, and close a door."""

STALE = 60
"""Steps without a new view, after which the frontier that is explored is left alone: maps of two places may
disagree about it."""

BANDS = (-0.0875, 0.0, 0.0875)
"""Tangents over the middle of the image at which scans are read."""

SCAN_COLUMNS = 64
"""Pixels across of a scan, about."""

MIN_HEIGHT, MAX_HEIGHT, MIN_RANGE, MAX_RANGE = 0.2, 1.3, 0.3, 4.5
"""Metres: heights over the floor, and depths, between which a scan reads obstacles."""

FEWEST = 40
"""Points of a scan that can be fitted."""

LIKENESS = 0.9
"""Cosine of the features of two views from which on they may be the same."""

FIT = 0.75
"""Share of a scan that must fall on known obstacles for a place to be recognised."""

TRACKED, STEADY = 0.6, 0.04
"""Share of a scan on known obstacles, and its gain, from which on a step's pose is corrected by its scan."""

GAIN = 0.08
"""By which a fit must be better than that of the pose that was composed, to be believed in its place."""

FAMILIAR = 5.0
"""Metres of path within which places need not be recognised: their poses are known."""

OFF_METRES, OFF_RADIANS = (0.75, 0.05), (math.radians(10), math.radians(1.5))
"""How far from where composed poses put it a view may be recognised: at first, and for each metre of path."""

VIEW_METRES, VIEW_RADIANS = 0.75, math.radians(20)
"""A view is kept unless one of the same place was taken within these."""


class TopologicalAgent(MappingAgent):
    """Explores place by place, remembers where goals were seen, and plans on the edges between places.

    It observes rgb, depth, gps and compass, and recognises cylinders by colour and shape, as `frontier-rgb`.
    """

    worker_episodes = 50

    def __init__(self, task: Task, seed: int = 0) -> None:
        self._memories: dict[int, Memory] = {}
        super().__init__(task, PlaceFinder(task, self), seed)
        self._map_settings = replace(self._map_settings, cell=PLACES.cell, size=PLACES.size)
        side = round(PLACES.window / PLACES.cell)
        self.grid = MapGrid.centered(side, side, PLACES.cell)
        self._last: dict[int, Pose] = {}
        self._points = np.zeros((len(BANDS) * 2 * SCAN_COLUMNS, 4))

    def memory(self, slot: int) -> Memory:
        """The memory of `slot`."""
        return self._memories[slot]

    def explorer(self, slot: int) -> Explorer:
        """The explorer of `slot`."""
        return self._explorers[slot]

    def make_pose_source(self) -> PoseSource:
        """GPS and compass, filtered by the nominal motions of the actions."""
        return FilteredPoses(nominal_motions(self.task))

    def surroundings(self, slot: int, place: int | None = None) -> Int8[np.ndarray, "w w"]:
        """(W, W) evidence around a place (where the body is by default); what is known at the rim is closed.

        What lies beyond the rim is not unknown, but the business of other places.
        """
        scores = self._memories[slot].graph.surroundings(place)
        for rim in (scores[0], scores[-1], scores[:, 0], scores[:, -1]):
            rim[rim != 0] = 1
        return scores

    def known(
        self, slot: int, maps: OccupancyMaps
    ) -> tuple[Int8[np.ndarray, "r c"], MapGrid, Int64[np.ndarray, "4"] | None]:
        memory = self._memories[slot]
        if memory.has_aim and memory.narrow == 0 and self._explorers[slot].idle > HINDERED:
            memory.narrow = NARROW
        memory.narrow = max(0, memory.narrow - 1)
        if memory.narrow == 0:
            return self.surroundings(slot), self.grid, None
        return maps.scores[slot, 0], maps.grid(slot), maps.boxes[slot, 0]

    def begin_anew(self, slot: int, maps: OccupancyMaps) -> None:
        maps.reset([slot])
        self._memories[slot] = Memory()
        self._attach_map(slot, maps)
        self._explorers[slot].begin_anew()

    def _estimate_poses(
        self,
        observations: Mapping[str, np.ndarray],
        depths: Float32[np.ndarray, "n h w"],
        active: Bool[np.ndarray, "n"],
    ) -> tuple[OccupancyMaps, Float[np.ndarray, "n 4 4"]]:
        """Poses in the frames of the places that the bodies are at, and the local maps of these."""
        begun = [start.slot for start in self._starts]
        maps, _ = super()._estimate_poses(observations, depths, active)
        frames = world_from_camera(Bodies(len(active)), self.camera)
        for slot in begun:
            self._memories[slot] = Memory()
            self._attach_map(slot, maps)
            self._last[slot] = self._pose(slot)
        for slot in np.flatnonzero(active).tolist():
            memory, pose = self._memories[slot], self._pose(slot)
            motion = join(invert(self._last[slot]), pose)
            self._last[slot] = pose
            memory.walked += math.hypot(motion[0], motion[1])
            memory.graph.move(motion)
            self._settle(slot, maps, observations["rgb"][slot], depths[slot], frames[slot])
            x, z, yaw = memory.graph.pose.tolist()
            self._bodies.positions[slot], self._bodies.yaws[slot] = (x, 0.0, z), yaw
        return maps, world_from_camera(self._bodies, self.camera)

    def _pose(self, slot: int) -> Pose:
        """The estimated pose, before it is brought into the frame of a place."""
        x, _, z = self._bodies.positions[slot].tolist()
        return np.array([x, z, float(self._bodies.yaws[slot])])

    def _attach_map(self, slot: int, maps: OccupancyMaps) -> None:
        """Let images be carved into the map of the place that the body is at."""
        place = self._memories[slot].graph.place
        maps.scores[slot, 0], maps.boxes[slot, 0] = place.scores, place.box
        place.scores, place.box = maps.scores[slot, 0], maps.boxes[slot, 0]

    def _settle(
        self,
        slot: int,
        maps: OccupancyMaps,
        rgb: UInt8[np.ndarray, "h w 3"],
        depth: Float32[np.ndarray, "h w"],
        frame: Float[np.ndarray, "4 4"],
    ) -> None:
        """Switch to a nearer place or one recognised by its view; create a place if there is none."""
        memory = self._memories[slot]
        graph, count = memory.graph, self._read_points(depth, frame)
        self._track(graph, count)
        left, before = graph.place, graph.pose
        nearest, away = graph.nearest()
        is_new = not graph.has_view(VIEW_METRES, VIEW_RADIANS)
        memory.stale = 0 if is_new else memory.stale + 1
        feature = describe_view(rgb, depth) if is_new else None
        found = None if feature is None else self._recognise(graph, feature, count)
        if found is None and nearest != graph.here and away <= PLACES.spacing:
            found = nearest, self._refine(graph, nearest, count)
        if found is None and away <= PLACES.spacing:
            if feature is not None:
                graph.remember_view(feature)
            return
        left.scores, left.box = left.scores.copy(), left.box.copy()
        if found is None:
            graph.begin_place()
        else:
            graph.go_over(*found)
        if feature is not None:
            graph.remember_view(feature)
        self._attach_map(slot, maps)
        self._explorers[slot].change_frame(join(graph.pose, invert(before)))

    def _recognise(
        self,
        graph: PlaceGraph,
        feature: Float32[np.ndarray, "d"],
        count: int,
    ) -> tuple[int, Pose] | None:
        """A place far along the edges whose view and local map are seen now, and its frame in `here`'s."""
        if count < FEWEST:
            return None
        routes = graph.routes()
        for place, seen_from in graph.match_view(feature, LIKENESS):
            route = routes[place]
            if place == graph.here or place in graph.place.edges or route.length < FAMILIAR:
                continue
            composed = join(invert(route.pose), graph.pose)
            off = math.hypot(*(composed - seen_from)[:2])
            turned = abs(float(wrap_angle(composed[2] - seen_from[2])))
            if off > OFF_METRES[0] + OFF_METRES[1] * route.length:
                continue
            if turned > OFF_RADIANS[0] + OFF_RADIANS[1] * route.length:
                continue
            pose = self._fit(graph, place, composed, seen_from, count)
            if pose is not None:
                return place, join(graph.pose, invert(pose))
        return None

    def _fit(self, graph: PlaceGraph, place: int, composed: Pose, seen_from: Pose, count: int) -> Pose | None:
        """The pose of the body in the frame of `place` by its scan; None where that does not fit."""
        scores = graph.places[place].scores
        usual = rate_fit(scores, self._points, count, *composed.tolist(), PLACES.cell)
        pose = np.array([*seen_from[:2], composed[2]])
        fit_scan(scores, self._points, count, PLACES.cell, 6, 0.1, 4, math.radians(4), pose)
        best = fit_scan(scores, self._points, count, PLACES.cell, 2, 0.04, 2, math.radians(1.5), pose)
        if usual >= FIT and usual > best - GAIN:
            return composed
        return pose if best >= FIT else None

    def _track(self, graph: PlaceGraph, count: int) -> None:
        """Correct the pose where the scan fits clearly better into the local map beside it."""
        if count < FEWEST:
            return
        scores, pose = graph.place.scores, graph.pose.copy()
        usual = rate_fit(scores, self._points, count, *pose.tolist(), PLACES.cell)
        best = fit_scan(scores, self._points, count, PLACES.cell, 1, PLACES.cell, 2, math.radians(1), pose)
        if best >= TRACKED and best >= usual + STEADY:
            graph.pose = pose

    def _refine(self, graph: PlaceGraph, place: int, count: int) -> Pose:
        """The frame of a place near by, corrected where the scan fits into its map clearly better so."""
        route = graph.routes()[place].pose
        if count < FEWEST:
            return route
        scores, pose = graph.places[place].scores, join(invert(route), graph.pose)
        usual = rate_fit(scores, self._points, count, *pose.tolist(), PLACES.cell)
        best = fit_scan(scores, self._points, count, PLACES.cell, 4, 0.05, 3, math.radians(2), pose)
        if best < FIT or best < usual + GAIN:
            return route
        return join(graph.pose, invert(pose))

    def _read_points(self, depth: Float32[np.ndarray, "h w"], frame: Float[np.ndarray, "4 4"]) -> int:
        """Read a scan into `_points`, in the body's frame; how many points it has."""
        step = max(1, self.camera.width_px // SCAN_COLUMNS)
        focal = focal_length(self.camera.width_px, self.camera.hfov)
        scale, offset = self.depth_scale
        max_range = min(MAX_RANGE, 0.99 * self.depth_range[1])
        return int(
            read_scan(
                np.ascontiguousarray(depth), float(scale), float(offset), focal, frame, np.array(BANDS), 1,
                step, max(MIN_RANGE, 1.01 * self.depth_range[0]), max_range, 0.03, MIN_HEIGHT,
                MAX_HEIGHT - MIN_HEIGHT, 1,
                np.zeros(ROWS), self._points,
            )
        )  # fmt: skip


class PlaceFinder(CylinderFinder):
    """Finds goals at the places from which they were seen, and places from which there is more to explore."""

    def __init__(self, task: Task, agent: TopologicalAgent) -> None:
        super().__init__(require_cylinders(task))
        self._agent = agent

    def observe(
        self, slot: int, observations: Mapping[str, np.ndarray], view: DepthView
    ) -> Bool[np.ndarray, "h w"] | None:
        memory = self._agent.memory(slot)
        masks = self.masks(slot, observations, view)
        for label, mask in masks.items():
            points = locate(mask, view).points
            if not len(points):
                continue
            for place in memory.graph.places:
                place.objects.pop(label, None)
            memory.graph.place.objects[label] = thin(points)
            memory.last_seen[label] = memory.walked
        return np.logical_or.reduce(list(masks.values())) if masks else None

    def find_aim(
        self, slot: int, observations: Mapping[str, np.ndarray], view: DepthView, is_explored: bool
    ) -> Aim | None:
        memory, label = self._agent.memory(slot), self.goal_label(slot, observations)
        places = enumerate(memory.graph.places)
        number = next((number for number, place in places if label in place.objects), None)
        if number is None:
            aim = self._find_place(slot, memory, is_explored)
        else:
            aim = self._approach(slot, memory, label, number)
        memory.has_aim = aim is not None
        return aim

    def _approach(self, slot: int, memory: Memory, label: int, number: int) -> Aim | None:
        """Go to a goal that was seen from a place: over edges, or straight where it is near by."""
        graph = memory.graph
        route = graph.routes()[number]
        points = carry(route.pose, graph.places[number].objects[label])
        if route.length > PLACES.trust or np.abs(points[:, [0, 2]]).max() > PLACES.window / 2 - 0.5:
            return self._follow(graph, number)
        away = np.hypot(points[:, 0] - graph.pose[0], points[:, 2] - graph.pose[1]).min()
        is_fresh = memory.walked - memory.last_seen[label] <= FRESH
        if not is_fresh and away < LOOK:
            del graph.places[number].objects[label]
            self._agent.explorer(slot).look_around()
            return None
        return Aim(points, np.zeros(len(points)), CLASS_REACH, 0.15, is_sure=is_fresh)

    def _find_place(self, slot: int, memory: Memory, is_explored: bool) -> Aim | None:
        """If nothing is left to explore here, go to the nearest place with frontiers."""
        graph, explorer = memory.graph, self._agent.explorer(slot)
        if memory.stale > STALE:
            explorer.frontiers.leave_alone()
            memory.stale = 0
        if memory.target is not None:
            memory.waits += 1
            if memory.waits > PATIENCE:
                graph.places[memory.target].searched = memory.level + 1
            if memory.target == graph.here or memory.waits > PATIENCE:
                memory.target, explorer.is_done = None, False
                return None
        elif is_explored:
            memory.target, memory.waits = self._choose_place(slot, memory), 0
        return None if memory.target is None else self._follow(graph, memory.target)

    def _choose_place(self, slot: int, memory: Memory) -> int | None:
        """The nearest place over edges with frontiers; None where none has, and smaller ones then count."""
        graph, explorer = memory.graph, self._agent.explorer(slot)
        graph.place.searched = memory.level + 1
        for number in sorted(graph.routes(), key=lambda place: (graph.routes()[place].length, place)):
            place = graph.places[number]
            if place.searched > memory.level:
                continue
            terrain = build_terrain(
                self._agent.surroundings(slot, number), self._agent.grid, explorer.settings.terrain,
                around=np.zeros(3),
            )  # fmt: skip
            start = terrain.grid.cells_of(np.zeros(3)).tolist()
            reach = flood_terrain(terrain, (start[0], start[1]), False)
            if len(find_frontiers(terrain, reach, LEVELS[memory.level]).costs):
                return number
            place.searched = memory.level + 1
        if memory.level + 1 < len(LEVELS):
            memory.level += 1
            explorer.is_done = False
            choice = explorer.frontiers
            choice.settings = replace(choice.settings, min_cells=LEVELS[: memory.level + 1])
        return None

    def _follow(self, graph: PlaceGraph, number: int) -> Aim:
        """The aim at the last place within the local map on the path to `number`."""
        routes, near = graph.routes(), PLACES.size / 2 - 1.0
        way = graph.route_to(number) or [number]
        within = [place for place in way if np.abs(routes[place].pose[:2]).max() < near]
        x, z, _ = routes[within[-1] if within else way[0]].pose.tolist()
        return Aim(np.array([[x, 0.0, z]]), np.zeros(1), 0.3, 0.3, is_sure=False, fallbacks=((1.0, 1.0),))
