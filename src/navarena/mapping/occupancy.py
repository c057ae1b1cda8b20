"""Occupancy maps from depth and pose: batched, layered, of bounded memory."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Float32, Int8, Int64, UInt8

from navarena.core.errors import InputError
from navarena.core.geometry import focal_length
from navarena.core.threads import run_in_shares, thread_count
from navarena.mapping.image_checks import (
    chosen_agents,
    chosen_middles,
    require_images,
    require_numbers,
    require_poses,
)
from navarena.mapping.map_grid import MapGrid
from navarena.mapping.occupancy_kernels import carve_images
from navarena.mapping.storeys import Storeys
from navarena.simulation.body import Camera

UNKNOWN = 0
FREE = 1
OCCUPIED = 2
"""The states of a cell."""

MAX_ROLL = 1e-3
"""Radians; cameras that roll more are refused."""


@dataclass(frozen=True)
class OccupancySettings:
    """Settings of occupancy maps.

    Attributes:
        cell: metres, side of a cell.
        size: metres, side of the square map.
        layers: storeys that can be remembered.
        min_range: metres; a depth up to this is an obstacle somewhere nearer.
        max_range: metres; a depth from this on is free up to here, and says no more.
        obstacle_bottom: metres over the floor; what is lower is floor. As far below the floor begins a drop,
            which is closed.
        obstacle_top: metres over the floor; bodies pass under what is higher.
        hit: evidence for an obstacle that one image adds to a cell.
        miss: evidence against one.
        max_evidence: the evidence of a cell lies within -max_evidence and max_evidence.
        storey: metres between the floors of two layers, at least.
        stride: every which pixel, across and down, is read.
        limit_bytes: of all maps together.
    """

    cell: float = 0.05
    size: float = 40.0
    layers: int = 1
    min_range: float = 0.0
    max_range: float = 5.0
    obstacle_bottom: float = 0.15
    obstacle_top: float = 1.5
    hit: int = 4
    miss: int = 1
    max_evidence: int = 20
    storey: float = 1.5
    stride: int = 1
    limit_bytes: int = 1 << 30

    def __post_init__(self) -> None:
        if not (0 < self.cell <= self.size and 0 <= self.min_range < self.max_range < math.inf):
            raise InputError(
                "expected 0 < cell <= size and 0 <= min_range < max_range (metres) of an occupancy map, got "
                f"{self.cell}, {self.size}, {self.min_range} and {self.max_range}"
            )
        if not (
            0 < self.obstacle_bottom < self.obstacle_top
            and self.layers > 0
            and self.storey > 0
            and self.stride > 0
        ):
            raise InputError(
                "expected 0 < obstacle_bottom < obstacle_top, and positive layers, storey and stride of an "
                "occupancy map, got "
                f"{self.obstacle_bottom}, {self.obstacle_top}, {self.layers}, {self.storey} and {self.stride}"
            )
        if not (0 < self.hit <= self.max_evidence <= 100 and 0 < self.miss <= self.max_evidence):
            raise InputError(
                f"expected hit and miss within 1..max_evidence and max_evidence up to 100, got {self.hit}, "
                f"{self.miss} and "
                f"{self.max_evidence}"
            )

    @property
    def side(self) -> int:
        """Cells along a side of the map."""
        return math.ceil(self.size / self.cell - 1e-9)


class OccupancyMaps:
    """The maps of N agents.

    A map is a stack of layers, one for each floor height that its agent stood at; the row of cells runs
    along +z, the column along +x (see `MapGrid`). Each cell holds evidence: below 0 free, above 0 occupied,
    0 never seen. An image adds to each cell at most once. What rays pass over without seeing the floor
    there (close to the camera, below the image) is free only until something else is seen.

    Depth is in metres along the optical axis. 0, negative, NaN and infinite depths say nothing. A camera off
    the map changes nothing, and `is_outside` says so; so does a floor beyond the last layer.

    Args:
        agents: N.
        settings: what the maps are like.
        threads: to carve with; None for all.

    Attributes:
        scores: (N, L, R, C) int8 evidence.
        boxes: (N, L, 4) int64, first row, last row + 1, first column and last column + 1 of what images
            have reached; all evidence lies there. That of an empty layer ends before it starts.
        corners: (N, 2) float64 metres, x and z of the outer corner of cell (0, 0).
        is_outside: (N,) bool, whether the last image could not be added.

    Raises InputError when the maps need more than `limit_bytes`.
    """

    def __init__(
        self, agents: int, settings: OccupancySettings = OccupancySettings(), threads: int | None = None
    ) -> None:
        side = settings.side
        need = agents * settings.layers * side * side
        if need > settings.limit_bytes:
            raise InputError(
                f"expected occupancy maps of at most {settings.limit_bytes:,} bytes, got {need:,} for "
                f"{agents} agents, {settings.layers} layers and {side} x {side} cells; take larger cells, a "
                "smaller size, or raise limit_bytes"
            )
        self.settings = settings
        self.agents = agents
        self._threads = min(threads or thread_count(), agents)
        self.scores: Int8[np.ndarray, "n l r c"] = np.zeros((agents, settings.layers, side, side), np.int8)
        self.boxes: Int64[np.ndarray, "n l 4"] = np.tile(self._no_box, (agents, settings.layers, 1))
        self._storeys = Storeys(agents, settings.layers, settings.storey)
        self.corners: Float[np.ndarray, "n 2"] = np.full((agents, 2), -side * settings.cell / 2)
        self.is_outside: Bool[np.ndarray, n] = np.zeros(agents, bool)
        self._scratch: dict[int, tuple[np.ndarray, np.ndarray, np.ndarray]] = {}

    def reset(
        self, agents: Sequence[int] | Int64[np.ndarray, "k"], middles: Float[np.ndarray, "k 2"] | None = None
    ) -> None:
        """Forget the maps of `agents` (K,); new ones are centred on `middles` (K, 2) x and z, metres."""
        rows = np.asarray(agents, np.int64)
        places = chosen_middles(middles, len(rows))
        self.scores[rows] = 0
        self.boxes[rows] = self._no_box
        self._storeys.reset(rows)
        self.is_outside[rows] = False
        half = self.settings.side * self.settings.cell / 2
        self.corners[rows] = places - half

    @property
    def _no_box(self) -> Int64[np.ndarray, "4"]:
        """(4,) the box of a layer that no image has reached."""
        return np.array([self.settings.side, 0] * 2, np.int64)

    @property
    def floors(self) -> Float[np.ndarray, "n l"]:
        """(N, L) float64 metres, y of each layer's floor; NaN where there is none yet."""
        return self._storeys.floors

    @property
    def layer(self) -> Int64[np.ndarray, "n"]:
        """(N,) int64 index of the layer that each agent is on."""
        return self._storeys.layer

    def layer_at(self, agent: int, foot: float) -> int:
        """The layer of the floor of `agent` that is nearest to world y `foot`, metres."""
        return self._storeys.nearest(agent, foot)

    def grid(self, agent: int) -> MapGrid:
        """The grid of one agent's map."""
        x, z = self.corners[agent].tolist()
        return MapGrid(self.settings.side, self.settings.side, self.settings.cell, (x, z))

    def coordinates_of(
        self, agents: Int64[np.ndarray, "k"], points: Float[np.ndarray, "k 3"]
    ) -> Float[np.ndarray, "k 2"]:
        """(K, 2) row and column of each point (K, 3) metres on the map of its agent, as `MapGrid` counts."""
        return (points[:, [2, 0]] - self.corners[agents][:, [1, 0]]) / self.settings.cell

    def states(self, agent: int) -> UInt8[np.ndarray, "r c"]:
        """(R, C) uint8 states of the cells on the agent's layer: 0 unknown, 1 free, 2 occupied."""
        scores = self.scores[agent, self.layer[agent]]
        return np.where(scores == 0, UNKNOWN, np.where(scores < 0, FREE, OCCUPIED)).astype(np.uint8)

    def update(
        self,
        depths: Float32[np.ndarray, "n h w"],
        camera: Camera,
        world_from_camera: Float[np.ndarray, "n 4 4"],
        feet: Float[np.ndarray, "n"],
        active: Bool[np.ndarray, "n"] | None = None,
        scale: float = 1.0,
        offset: float = 0.0,
    ) -> None:
        """Carve one depth image of each `active` agent (all by default) into its map.

        Args:
            depths: (N, H, W) float32, of `camera`; clipped or not. In metres it is offset + scale * depth.
            camera: whose field of view is meant.
            world_from_camera: (N, 4, 4) metres, in the frame of the maps; y up.
            feet: (N,) metres, y of the floor under each body.
            active: (N,) bool.
            scale: metres per unit of depth.
            offset: metres at depth 0.

        Raises InputError for poses that are not finite, stretch or roll, and for images of another size.
        """
        chosen = chosen_agents(active, self.agents)
        rows = np.flatnonzero(chosen)
        require_images("depths", depths, self.agents, camera)
        require_poses(world_from_camera, self.agents, rows)
        require_numbers("heights of the floor under the bodies (metres)", feet, self.agents, rows)
        if (np.abs(world_from_camera[rows, 1, 0]) > MAX_ROLL).any():
            raise InputError("expected cameras that do not roll, got a right axis that is not level")
        carved = self._storeys.enter(chosen, feet)
        one = self.settings
        depths, poses = (
            np.ascontiguousarray(depths, np.float32),
            np.ascontiguousarray(world_from_camera, np.float64),
        )
        focal = focal_length(camera.width_px, camera.hfov)
        floors = np.where(np.isfinite(feet), feet, 0.0).astype(np.float64)
        on_map = np.zeros(self.agents, bool)
        bounds = tuple(map(float, (one.min_range, one.max_range, one.obstacle_bottom, one.obstacle_top)))

        def carve(share: int, first: int, last: int) -> None:
            carve_images(
                self.scores, self.layer, carved, depths, float(scale), float(offset), one.stride, focal,
                poses, floors, *bounds, self.corners, float(one.cell), one.hit, one.miss, one.max_evidence,
                *self._scratch_of(share, camera, focal), self.boxes, first, last, on_map,
            )  # fmt: skip

        run_in_shares(carve, self.agents, self._threads)
        self.is_outside[rows] = ~on_map[rows]

    def _scratch_of(
        self, share: int, camera: Camera, focal: float
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The scratch arrays of one thread: two for the fan, one for the window."""
        one = self.settings
        bins = 2 * math.ceil(4.0 * focal / one.stride) + 4
        across = one.max_range * math.hypot(1, camera.width_px / 2 / focal) * 2 / one.cell + 4
        window = 2 * min(math.ceil(across) ** 2, one.side**2) + 2
        kept = self._scratch.get(share)
        if kept is None or len(kept[0]) < bins or len(kept[2]) < window:
            kept = np.zeros(bins), np.zeros(bins), np.zeros(window, np.uint8)
            self._scratch[share] = kept
        return kept
