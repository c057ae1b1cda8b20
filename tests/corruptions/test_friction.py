"""Friction zones scale movements by the floor."""

import math

import numpy as np
import pytest

from navarena.corruptions import FLOORS, find_corruption

from .movements import FORWARD, RIGHT, STEP, UP, carry_out


@pytest.mark.parametrize(("severity", "share"), [(1, 0.1), (3, 0.3), (5, 0.5)])
def test_carpet_shortens_and_tiles_lengthen(severity, share):
    zones = find_corruption(f"friction_zones:{severity}")
    floors = [FLOORS.index(name) for name in ("", "wood", "tiles", "carpet")]
    nothing = np.zeros((4, 0))
    factors = np.array([1, 1, 1 + share, 1 - share])
    assert np.allclose(carry_out(zones, FORWARD, nothing, floors)[:, 0], STEP * factors)
    assert np.allclose(carry_out(zones, RIGHT, nothing, floors)[:, 2], -math.radians(30) * factors)
    assert np.allclose(carry_out(zones, UP, nothing, floors), UP)
    assert zones.reads_floors and zones.draw(np.random.default_rng(0), 7).shape == (7, 0)
