"""Where a body can stand: small meshes with counted cells, erosion and layers against plain readings."""

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from navarena.simulation.navmesh.navmesh_settings import NavMeshSettings
from navarena.simulation.navmesh.voxels.floor_filters import erode_floors
from navarena.simulation.navmesh.voxels.layer_partition import CLEARANCE_CELLS
from navarena.simulation.navmesh.voxels.voxel_spans import Grid, plan_grid, voxelise
from navarena.simulation.navmesh.voxels.walkable_floors import WalkableFloors, find_walkable_floors
from simulation.navmesh.build_meshes import Mesh, hall, join_meshes, plate, prism, rectangle


def floors_of(mesh: Mesh, **sizes: float) -> tuple[Grid, WalkableFloors]:
    body = NavMeshSettings(**({"radius": 0.0, "height": 0.8, "region_min_size": 1} | sizes))
    vertices, faces = mesh
    grid = plan_grid(vertices[faces.ravel()], body)
    return grid, find_walkable_floors(voxelise(vertices, faces.astype(np.int64), grid, body), grid, body)


def stands_at(grid: Grid, floors: WalkableFloors, x: float, z: float) -> list[float]:
    """World heights of the floors in the column over (x, z) where a body can be."""
    column = int((z - grid.origin[2]) / 0.05) * grid.nx + int((x - grid.origin[0]) / 0.05)
    rows = range(floors.starts[column], floors.starts[column + 1])
    return [round(float(floors.heights[i]) * 0.2 + grid.origin[1], 3) for i in rows if floors.layers[i] >= 0]


def test_a_walled_hall_keeps_its_radius_from_the_walls():
    # the inner floor is 2 m = 40 cells wide; the walls' faces at 0 and 2 fill one cell each at most
    grid, floors = floors_of(hall(2.0, []), radius=0.2)
    for x, free in ((0.1, False), (0.18, False), (0.31, True), (1.0, True), (1.69, True), (1.9, False)):
        assert bool(stands_at(grid, floors, x, 1.0)) == free, x


@pytest.mark.parametrize(
    ("name", "obj", "heights"),
    [
        ("a rug is floor", prism(rectangle(1, 1, 0.3, 0.3), 0.0, 0.02), [0.02]),
        ("a low step is taken", prism(rectangle(1, 1, 0.3, 0.3), 0.0, 0.19), [0.19]),
        ("a table is a roof and a floor of its own", prism(rectangle(1, 1, 0.3, 0.3), 0.7, 0.75), [0.75]),
        ("a lamp hangs high enough", prism(rectangle(1, 1, 0.3, 0.3), 1.05, 1.2), [0.0, 1.2]),
    ],
)
def test_things_in_the_middle_of_a_hall(name, obj, heights):
    grid, floors = floors_of(join_meshes(hall(2.0, []), obj))
    assert stands_at(grid, floors, 1.02, 1.02) == pytest.approx(heights, abs=1e-3), name


def test_the_border_of_a_drop_is_no_place_to_stand():
    mesh = join_meshes(hall(3.0, []), prism(rectangle(1.505, 1.505, 0.485, 0.485), 0.0, 1.0))
    grid, floors = floors_of(mesh, height=1.2)  # taller than the hollow of the box
    # the box runs from 1.02 to 1.99, over cells 1.0 to 2.0: its top lacks the outermost cell
    assert stands_at(grid, floors, 1.03, 1.5) == []
    assert stands_at(grid, floors, 1.5, 1.5) == [1.0]


def test_small_islands_are_dropped():
    mesh = join_meshes(hall(3.0, []), prism(rectangle(1.505, 1.505, 0.485, 0.485), 0.0, 1.0))
    # the top has 20 x 20 cells less the border
    assert stands_at(*floors_of(mesh, height=1.2, region_min_size=18), 1.5, 1.5) == [1.0]
    assert stands_at(*floors_of(mesh, height=1.2, region_min_size=19), 1.5, 1.5) == []


def slow_chamfer(links: np.ndarray, radius: int) -> np.ndarray:
    """Distances 2 straight and 3 diagonal by relaxation to the end."""
    distance = np.where((links < 0).any(1), 0, 2 * radius)
    for _ in range(len(links)):
        before = distance.copy()
        for i, row in enumerate(links):
            for direction, other in enumerate(row):
                if other >= 0:
                    distance[i] = min(distance[i], distance[other] + 2)
                    for turn in (1, 3):
                        corner = links[other, (direction + turn) % 4]
                        if corner >= 0:
                            distance[i] = min(distance[i], distance[corner] + 3)
        if (before == distance).all():
            break
    return distance >= 2 * radius


def grid_links(free: np.ndarray) -> np.ndarray:
    """Links of the free cells of a (z, x) mask, numbered row after row."""
    numbers = np.where(free, np.cumsum(free.ravel()).reshape(free.shape) - 1, -1)
    padded = np.pad(numbers, 1, constant_values=-1)
    shifted = [padded[1:-1, 2:], padded[2:, 1:-1], padded[1:-1, :-2], padded[:-2, 1:-1]]
    return np.stack([side[free] for side in shifted], 1).astype(np.int32)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10_000), st.integers(0, 4), st.sampled_from([0.02, 0.1, 0.3]))
def test_erosion_equals_plain_relaxation(seed, radius, share):
    free = np.random.default_rng(seed).random((13, 17)) > share
    links = grid_links(free)
    np.testing.assert_array_equal(erode_floors(links, radius), slow_chamfer(links, radius))


def require_layers(grid: Grid, floors: WalkableFloors, climb: int = 1) -> None:
    """Layers are connected, hold no column twice, and are near in height where near in plan."""
    for layer in range(floors.layers.max() + 1):
        mine = np.flatnonzero(floors.layers == layer)
        columns = floors.columns[mine]
        assert len(np.unique(columns)) == len(columns)
        reached, stack = set(), [int(mine[0])]
        while stack:
            i = stack.pop()
            if i not in reached:
                reached.add(i)
                stack += [int(n) for n in floors.links[i] if n >= 0 and floors.layers[n] == layer]
        assert reached == set(mine.tolist())
        heights = np.full((grid.nz, grid.nx), np.nan)
        heights.ravel()[columns] = floors.heights[mine]
        for dz in range(CLEARANCE_CELLS + 1):
            for dx in range(CLEARANCE_CELLS + 1):
                for plan in (heights, heights[:, ::-1]):  # both diagonals
                    gap = np.abs(plan[dz:, dx:] - plan[: grid.nz - dz, : grid.nx - dx])
                    assert not (gap > climb * (dx + dz) + 1).any()  # heights lie within their voxel


def spiral() -> Mesh:
    """Ramps around a square, two turns, 1.6 m a turn."""
    pieces = []
    for k in range(8):
        low, high = 0.4 * k, 0.4 * k + 0.4
        side = k % 4
        if side == 0:
            pieces.append(plate(1.0, 0.0, 3.0, 1.0, [low, low, high, high]))
            pieces.append(plate(3.0, 0.0, 4.0, 1.0, high))
        elif side == 1:
            pieces.append(plate(3.0, 1.0, 4.0, 3.0, [low, high, high, low]))
            pieces.append(plate(3.0, 3.0, 4.0, 4.0, high))
        elif side == 2:
            pieces.append(plate(1.0, 3.0, 3.0, 4.0, [high, high, low, low]))
            pieces.append(plate(0.0, 3.0, 1.0, 4.0, high))
        else:
            pieces.append(plate(0.0, 1.0, 1.0, 3.0, [high, low, low, high]))
            pieces.append(plate(0.0, 0.0, 1.0, 1.0, high))
    return join_meshes(plate(0.0, 0.0, 1.0, 1.0), *pieces)


def test_a_spiral_is_parted_where_it_passes_over_itself():
    grid, floors = floors_of(spiral(), radius=0.1)
    assert floors.layers.max() >= 1
    require_layers(grid, floors)
    # everything hangs together
    active = floors.layers >= 0
    reached, stack = set(), [int(np.flatnonzero(active)[0])]
    while stack:
        i = stack.pop()
        if i not in reached:
            reached.add(i)
            stack += [int(n) for n in floors.links[i] if n >= 0 and active[n]]
    assert len(reached) == active.sum()


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 10_000))
@example(642)  # an upper floor two cells beside a lower one, over no floor itself
@example(874)  # the rim of a wall lifts a cell above its surface
def test_layers_of_random_stacks(seed):
    draw = np.random.default_rng(seed)
    objects = []
    for low in draw.uniform(0.0, 3.0, 6):
        plan = rectangle(*draw.uniform(0.3, 2.7, 2), *draw.uniform(0.1, 0.9, 2), draw.uniform(0, 6))
        objects.append(prism(plan, low, low + 0.1))
    grid, floors = floors_of(join_meshes(hall(3.0, []), *objects))
    require_layers(grid, floors)
    linked = np.argwhere(floors.links >= 0)
    back = floors.links[floors.links[linked[:, 0], linked[:, 1]], (linked[:, 1] + 2) % 4]
    np.testing.assert_array_equal(back, linked[:, 0])
