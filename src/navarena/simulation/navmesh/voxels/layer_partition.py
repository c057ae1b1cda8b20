# mypy: disable-error-code="no-untyped-def"
"""Kernels that divide the walkable floors into layers: connected pieces without overlap in plan.

Triangulation works in the plane, so no column may belong twice to a layer. Floors are
claimed from the lowest upwards: a storey becomes one layer together with its stairs, and
what lies above it becomes another. Nearby cells of a layer are also kept apart when a body
cannot walk straight from one to the other, so that simplified outlines stay apart too.
"""

import numpy as np

from navarena.core.kernels import kernel

UNASSIGNED = -1
CLEARANCE_CELLS = 2  # two floors of a layer this near in plan are near in height as well


@kernel
def label_islands(active, links, min_cells):
    """Connected groups of the `active` floors.

    Returns:
        (F,) int32 labels from 0, -1 for inactive floors and groups of fewer than `min_cells`;
        the number of labels.
    """
    labels = np.full(active.size, UNASSIGNED, np.int32)
    queue = np.zeros(active.size, np.int32)
    seen = np.zeros(active.size, np.bool_)
    islands = 0
    for seed in range(active.size):
        if not active[seed] or seen[seed]:
            continue
        queue[0] = seed
        seen[seed] = True
        filled, done = 1, 0
        while done < filled:
            floor = queue[done]
            done += 1
            for direction in range(4):
                other = links[floor, direction]
                if other >= 0 and active[other] and not seen[other]:
                    seen[other] = True
                    queue[filled] = other
                    filled += 1
        if filled >= min_cells:
            for k in range(filled):
                labels[queue[k]] = islands
            islands += 1
    return labels, islands


@kernel
def _fits(i, layer, layers, columns, floors, heights, starts, nx, nz, climb):
    """Whether floor i overlaps nothing of `layer`, nor comes near it at another height.

    Both the voxels and the surfaces count: a low obstacle lifts a voxel above its walkable surface.
    """
    x, z = columns[i] % nx, columns[i] // nx
    for v in range(max(0, z - CLEARANCE_CELLS), min(nz, z + CLEARANCE_CELLS + 1)):
        for u in range(max(0, x - CLEARANCE_CELLS), min(nx, x + CLEARANCE_CELLS + 1)):
            allowed = climb * (abs(u - x) + abs(v - z))
            for j in range(starts[v * nx + u], starts[v * nx + u + 1]):
                if layers[j] != layer:
                    continue
                if abs(floors[j] - floors[i]) > allowed or abs(heights[j] - heights[i]) > allowed + 1:
                    return False
    return True


@kernel
def part_layers(islands, order, links, columns, floors, heights, starts, nx, nz, climb):
    """Assign the floors of all islands to layers, from the lowest upwards.

    Args:
        islands: (F,) int32, -1 for floors that are not walkable.
        order: (F,) the floors sorted by height.
        links: (F, 4) floor in each direction, or -1.
        columns: (F,) column of each floor.
        floors: (F,) voxel height of each floor.
        heights: (F,) voxels, height of its surface.
        starts: (columns + 1,) the floors of column c are starts[c]:starts[c + 1].
        nx: columns along x.
        nz: columns along z.
        climb: voxels, highest step between neighbouring columns.

    Returns:
        (F,) int32 layer of each floor or -1, and the number of layers. A layer is connected.
    """
    count = columns.size
    layers = np.full(count, UNASSIGNED, np.int32)
    if count == 0:
        return layers, 0
    lowest = floors[order[0]]
    shelves = np.full(floors[order[-1]] - lowest + 1, -1, np.int32)  # last waiting floor of each height
    waiting = np.zeros(count, np.int32)  # the next one on its shelf
    asked = np.full(count, UNASSIGNED, np.int32)  # layer that a floor last waited for
    layer = 0
    for seed in order:
        if islands[seed] < 0 or layers[seed] >= 0:
            continue
        shelf = floors[seed] - lowest
        shelves[shelf] = seed
        waiting[seed] = -1
        asked[seed] = layer
        while shelf < shelves.size:
            i = shelves[shelf]
            if i < 0:
                shelf += 1
                continue
            shelves[shelf] = waiting[i]
            if not _fits(i, layer, layers, columns, floors, heights, starts, nx, nz, climb):
                continue
            layers[i] = layer
            for direction in range(4):
                j = links[i, direction]
                if j >= 0 and islands[j] >= 0 and layers[j] < 0 and asked[j] != layer:
                    asked[j] = layer
                    level = floors[j] - lowest
                    waiting[j] = shelves[level]
                    shelves[level] = j
                    shelf = min(shelf, level)
        layer += 1
    return layers, layer
