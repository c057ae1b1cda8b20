"""MultiON's OracleEgoMap: the part of an oracle map that was seen up to now, as code and paper define it."""

# mypy: disable-error-code="no-untyped-def"

import math
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Float32, Int64, Shaped

from navarena.core.errors import InputError
from navarena.core.geometry import focal_length
from navarena.core.kernels import kernel
from navarena.mapping.image_checks import (
    chosen_agents,
    require_images,
    require_numbers,
    require_poses,
)
from navarena.mapping.map_grid import MapGrid
from navarena.mapping.oracle_map import WINDOW, crop_oracle
from navarena.simulation.body import Camera


@dataclass(frozen=True)
class RevealSettings:
    """Settings of the area that a body uncovers from one place.

    Attributes:
        fov: radians.
        reach: metres.
        occlusion: whether only what the depth image shows is uncovered; else it is a plain sector.
    """

    fov: float = math.radians(80)
    reach: float = 6.0
    occlusion: bool = False

    def __post_init__(self) -> None:
        if not (0 < self.fov < 2 * math.pi and self.reach > 0):
            raise InputError(
                f"expected a field of view within 0..2 pi and a positive reach (metres), got {self.fov} and "
                f"{self.reach}"
            )


CODE_REVEAL = RevealSettings()
"""80 degrees and 6 m; nothing hides anything, since no cell of the map it marches over is ever 0 (code)."""

PAPER_REVEAL = RevealSettings(math.radians(79), 5.0, occlusion=True)
"""79 degrees and 5 m, and only what the current depth image shows (paper, section 4.2)."""


@kernel
def mark_cell(seen, row, column):
    """Mark one cell; False where it is off the map, which ends a ray."""
    if not (0 <= row < seen.shape[0] and 0 <= column < seen.shape[1]):
        return False
    seen[row, column] = True
    return True


@kernel
def mark_ray(seen, row, column, down, right):
    """Mark every cell (R, C) that a ray from a cell touches, up to (down, right) cells away.

    It is the supercover line of Dedu (2001) in the form of the code's fog of war, whose error term starts
    with the extent along the rows in either branch.
    """
    if not mark_cell(seen, row, column):
        return
    along_rows = 1 if down >= 0 else -1
    along_columns = 1 if right >= 0 else -1
    tall, wide = abs(down), abs(right)
    error = before = tall
    is_tall = tall > wide
    longer, shorter = (2 * tall, 2 * wide) if is_tall else (2 * wide, 2 * tall)
    for _ in range(int(tall if is_tall else wide)):
        last_row, last_column = row, column
        if is_tall:
            row += along_rows
        else:
            column += along_columns
        error += shorter
        if error > longer:
            error -= longer
            if is_tall:
                column += along_columns
            else:
                row += along_rows
            on_long, on_short = (row, last_column), (last_row, column)
            if not is_tall:
                on_long, on_short = on_short, on_long
            if error + before <= longer and not mark_cell(seen, on_long[0], on_long[1]):
                return
            if error + before >= longer and not mark_cell(seen, on_short[0], on_short[1]):
                return
        if not mark_cell(seen, row, column):
            return
        before = error


@kernel
def mark_sector(seen, row, column, heading, fov, reach):
    """Mark the cells (R, C) on rays of `reach` cells, one cell apart at their ends, around a heading.

    heading: radians in the image, from up, counter-clockwise.
    """
    step = 1.0 / reach
    for k in range(math.ceil(fov / step)):
        angle = heading - fov / 2 + k * step
        mark_ray(seen, row, column, -math.cos(angle) * reach, -math.sin(angle) * reach)


@kernel
def mark_frame(seen, depth, stride, focal, pose, down, right, reach, fov, corner_x, corner_z, cell):
    """Mark the cells (R, C) that hold a point of a depth image (H, W) float32 metres, within reach.

    down, right: (2,) the (x, z) directions in which rows and columns grow.
    """
    height, width = depth.shape
    flat, rows, columns = seen.reshape(-1), float(seen.shape[0]), float(seen.shape[1])
    tangent = math.tan(min(fov, 3.1) / 2)
    first = stride // 2
    count = max(0, (width - first + stride - 1) // stride)
    depths, places = np.zeros(count, np.float32), np.zeros(count, np.int64)
    for i in range(first, height, stride):
        up = (0.5 * height - i - 0.5) / focal
        for k in range(count):
            depths[k] = depth[i, first + k * stride]
        for k in range(count):  # without branches, so that many are worked out at once
            metres = np.float64(depths[k])
            across = (first + k * stride + 0.5 - 0.5 * width) / focal
            shows = (metres > 0.0) & (metres < math.inf) & (abs(across) <= tangent)
            metres = metres if shows else np.float64(0)
            x = (pose[0, 0] * across + pose[0, 1] * up - pose[0, 2]) * metres
            z = (pose[2, 0] * across + pose[2, 1] * up - pose[2, 2]) * metres
            shows &= x * x + z * z <= reach * reach
            x += pose[0, 3] - corner_x
            z += pose[2, 3] - corner_z
            row = np.floor((down[0] * x + down[1] * z) / cell)
            column = np.floor((right[0] * x + right[1] * z) / cell)
            shows &= (row >= 0.0) & (row < rows) & (column >= 0.0) & (column < columns)
            place = row * columns + column
            places[k] = np.int64(place if shows else -1.0)
        for k in range(count):
            if places[k] >= 0:
                flat[places[k]] = True


@kernel
def mark_frames(seen, rows, own, depths, stride, focal, poses, down, right, reach, fov, corner, cell):
    """`mark_frame` for the bodies `rows` (K,) of seen (N, R, C), and their own cells (K, 2)."""
    for k in range(rows.size):
        n = rows[k]
        mark_cell(seen[n], own[k, 0], own[k, 1])
        mark_frame(
            seen[n], depths[n], stride, focal, poses[n], down, right, reach, fov, corner[0], corner[1], cell
        )


@kernel
def mark_sectors(seen, rows, cells, headings, fov, reach):
    """`mark_sector` for the bodies `rows` (K,) of seen (N, R, C), cells (N, 2) and headings (N,)."""
    for n in rows:
        mark_sector(seen[n], cells[n, 0], cells[n, 1], headings[n], fov, reach)


class Uncovered:
    """Cells of their oracle maps that N bodies have uncovered.

    Args:
        bodies: N.
        grid: of the maps.
        settings: what is uncovered from one place.

    Attributes:
        seen: (N, R, C) bool.
    """

    def __init__(self, bodies: int, grid: MapGrid, settings: RevealSettings = CODE_REVEAL) -> None:
        self.grid, self.settings = grid, settings
        self.seen: Bool[np.ndarray, "n r c"] = np.zeros((bodies, grid.rows, grid.columns), bool)

    def reset(self, bodies: Int64[np.ndarray, "k"]) -> None:
        """Cover the maps of `bodies` (K,) indices again."""
        self.seen[bodies] = False

    def reveal_sectors(
        self,
        positions: Float[np.ndarray, "n 3"],
        yaws: Float[np.ndarray, "n"],
        active: Bool[np.ndarray, "n"] | None = None,
    ) -> None:
        """Uncover a plain sector before each body that is `active` (N,) bool.

        positions: (N, 3) metres; yaws: (N,) radians. A body off the map uncovers nothing. Raises InputError
        for places and directions that are not finite, and for yaws that are not as many as bodies.
        """
        bodies = len(self.seen)
        rows = np.flatnonzero(chosen_agents(active, bodies))
        require_numbers("headings (radians)", yaws, bodies, rows)
        cells, headings = self.grid.cells_of(positions), self.grid.heading_of(yaws)
        one, reach = self.settings, self.settings.reach / self.grid.cell
        mark_sectors(self.seen, rows, cells, headings, one.fov, reach)

    def reveal_frames(
        self,
        depths: Float32[np.ndarray, "n h w"],
        camera: Camera,
        world_from_camera: Float[np.ndarray, "n 4 4"],
        active: Bool[np.ndarray, "n"] | None = None,
        stride: int = 4,
    ) -> None:
        """Uncover the cells that hold something that the depth images show, and the bodies' own.

        Args:
            depths: (N, H, W) float32 metres; zeros, NaN and infinity show nothing.
            camera: that took them.
            world_from_camera: (N, 4, 4) metres.
            active: (N,) bool.
            stride: every which pixel, across and down, is looked at.

        Raises InputError for poses that are not finite or stretch, and for images of another size.
        """
        rows = np.flatnonzero(chosen_agents(active, len(self.seen)))
        require_images("depths", depths, len(self.seen), camera)
        require_poses(world_from_camera, len(self.seen), rows)
        one, focal = self.settings, focal_length(camera.width_px, camera.hfov)
        down, right = self.grid.directions
        own, corner = self.grid.cells_of(world_from_camera[rows, :3, 3]), np.array(self.grid.corner, float)
        depths, poses = np.ascontiguousarray(depths), np.ascontiguousarray(world_from_camera, np.float64)
        mark_frames(
            self.seen, rows, own, depths, stride, focal, poses, down, right, one.reach, one.fov, corner,
            self.grid.cell,
        )  # fmt: skip

    def crop(
        self,
        maps: Shaped[np.ndarray, "n r c k"],
        positions: Float[np.ndarray, "n 3"],
        yaws: Float[np.ndarray, "n"],
        window: int = WINDOW,
    ) -> Shaped[np.ndarray, "n w w k"]:
        """(N, W, W, K) windows as of `crop_oracle`, in which covered cells are 0.

        maps: (N, R, C, K), values of uncovered cells above 0, so that they differ; positions: (N, 3) metres;
        yaws: (N,) radians; window: W cells.
        """
        shown = crop_oracle(maps, self.grid, positions, yaws, window)
        return shown * self.window(positions, yaws, window)

    def window(
        self, positions: Float[np.ndarray, "n 3"], yaws: Float[np.ndarray, "n"], window: int = WINDOW
    ) -> Bool[np.ndarray, "n w w 1"]:
        """(N, W, W, 1) bool: the uncovered cells of such windows; positions (N, 3) metres, yaws (N,)."""
        return crop_oracle(self.seen[..., None], self.grid, positions, yaws, window)
