# mypy: disable-error-code="no-untyped-def"
"""Kernels that trace the outlines of layers along the borders of their cells.

Edge d of a cell is the one on its side of direction d; it starts at corner d of the cell and
ends at corner d + 1, with the cell on the left (x to the right, z upwards): corner 0 is
(x + 1, z), corner 1 (x + 1, z + 1), corner 2 (x, z + 1), corner 3 (x, z). So the outer outline
of a layer runs counter-clockwise in the x-z plane and its holes run clockwise.

Up to four linked floors meet in a corner; the smallest of their codes (4 * floor + corner)
names it. Layers that meet in a corner so give it the same name.
"""

import numpy as np

from navarena.core.kernels import kernel

CORNER_X = np.array([1, 1, 0, 0])
CORNER_Z = np.array([0, 1, 1, 0])


@kernel(inline=True)
def _is_border(i, direction, links, layers):
    other = links[i, direction]
    return other < 0 or layers[other] != layers[i]


@kernel
def _name_corner(i, corner, links, heights):
    """The name of a corner of floor i and the mean height of the floors that meet there."""
    name = 4 * i + corner
    total, count = np.float64(heights[i]), 1
    floor, turned = i, corner
    for _ in range(3):
        other = links[floor, turned]
        if other < 0 or other == i:
            break
        floor, turned = other, (turned + 3) % 4
        name = min(name, 4 * floor + turned)
        total += heights[floor]
        count += 1
    if count == 4:
        return name, total / count
    floor, turned = i, corner
    for _ in range(4 - count):
        other = links[floor, (turned + 3) % 4]
        if other < 0:
            break
        floor, turned = other, (turned + 1) % 4
        name = min(name, 4 * floor + turned)
        total += heights[floor]
        count += 1
    return name, total / count


@kernel
def trace_outlines(layers, links, columns, heights, nx):
    """All outlines of all layers, corner by corner.

    Args:
        layers: (F,) int32, -1 for floors without a layer.
        links: (F, 4) int32, floor in each direction, or -1.
        columns: (F,) int32, column of each floor.
        heights: (F,) float32, voxels above the origin.
        nx: columns along x.

    Returns:
        The number L of outlines; offsets int64: outline l has corners offsets[l]:offsets[l + 1];
        loop_layers int32 (both with room for more than L); and per corner: names int64, x and z
        int32 (grid lines), heights float64 (voxels), across int32: the layer on the other side
        of the edge that starts there, or -1.
    """
    count = layers.size
    pending = np.zeros((count, 4), np.bool_)
    edges = 0
    for i in range(count):
        if layers[i] >= 0:
            for direction in range(4):
                if _is_border(i, direction, links, layers):
                    pending[i, direction] = True
                    edges += 1
    names, corner_heights = np.zeros(edges, np.int64), np.zeros(edges, np.float64)
    xs, zs, across = np.zeros(edges, np.int32), np.zeros(edges, np.int32), np.zeros(edges, np.int32)
    offsets, loop_layers = np.zeros(edges // 4 + 1, np.int64), np.zeros(edges // 4 + 1, np.int32)
    loops = filled = 0
    for seed in range(count):
        for start in range(4):
            if not pending[seed, start]:
                continue
            floor, edge = seed, start
            while pending[floor, edge]:
                pending[floor, edge] = False
                names[filled], corner_heights[filled] = _name_corner(floor, edge, links, heights)
                xs[filled] = columns[floor] % nx + CORNER_X[edge]
                zs[filled] = columns[floor] // nx + CORNER_Z[edge]
                other = links[floor, edge]
                across[filled] = layers[other] if other >= 0 else -1
                filled += 1
                edge = (edge + 1) % 4
                while not _is_border(floor, edge, links, layers):
                    floor = links[floor, edge]
                    edge = (edge + 3) % 4
            loop_layers[loops] = layers[seed]
            loops += 1
            offsets[loops] = filled
    return loops, offsets, loop_layers, names, xs, zs, corner_heights, across
