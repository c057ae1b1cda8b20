import math

import pytest

from navarena.core.errors import InputError
from navarena.simulation.body import Embodiment
from navarena.simulation.navmesh.navmesh_settings import NavMeshSettings


# the goldens' README: radius 0.18 -> 4 cells, 0.1 -> 2; height 0.88 -> 5 voxels, 1.5 -> 8; climb 0.2 -> 1
@pytest.mark.parametrize(
    ("radius", "height", "climb", "cells", "voxels", "climb_voxels"),
    [
        (0.18, 0.88, 0.2, 4, 5, 1),
        (0.1, 1.5, 0.2, 2, 8, 1),
        (0.0, 0.2, 0.0, 0, 1, 0),
        (0.15, 0.6, 0.6, 3, 3, 3),  # 0.6 / 0.2 is 2.9999999999999996 in doubles
        (0.201, 1.01, 0.39, 5, 6, 1),
    ],
)
def test_sizes_in_voxels(radius, height, climb, cells, voxels, climb_voxels):
    settings = NavMeshSettings(radius, height, climb)
    assert (settings.radius_cells, settings.height_voxels, settings.climb_voxels) == (
        cells,
        voxels,
        climb_voxels,
    )


def test_smallest_island_is_a_square_metre():
    assert NavMeshSettings().min_island_cells == 400
    assert NavMeshSettings().min_island_area == pytest.approx(1.0)


def test_for_body_takes_its_size():
    body = Embodiment("tall", height=1.4, radius=0.17, max_climb=0.1, max_slope=0.5)
    assert NavMeshSettings.for_body(body) == NavMeshSettings(0.17, 1.4, 0.1, 0.5)


@pytest.mark.parametrize(
    ("name", "value"),
    [("height", 0.0), ("cell_size", -1.0), ("radius", -0.1), ("radius", math.nan), ("max_climb", math.inf)],
)
def test_impossible_sizes_are_named(name, value):
    with pytest.raises(InputError, match=name):
        NavMeshSettings(**{name: value})
