"""The storey that each body is on, against one body and one floor at a time."""

import numpy as np
import pytest

from navarena.mapping.storeys import Storeys


def plain_enter(floors, layer, active, feet, apart):
    """The same as Storeys.enter on lists: floors of each body (None where there is none yet), and layers."""
    has_layer = []
    for n, known in enumerate(floors):
        distances = [abs(floor - feet[n]) if floor is not None else np.inf for floor in known]
        if active[n] and min(distances) < apart:
            layer[n] = distances.index(min(distances))
        elif active[n] and None in known:
            layer[n] = known.index(None)
            known[layer[n]] = feet[n]
        elif active[n]:
            has_layer.append(False)
            continue
        has_layer.append(bool(active[n]))
    return has_layer


@pytest.mark.parametrize(("layers", "apart"), [(1, np.inf), (1, 1.5), (3, 1.5)])
def test_bodies_find_their_floors_as_one_by_one(layers, apart):
    generator = np.random.default_rng(layers)
    storeys = Storeys(4, layers, apart)
    floors, layer = [[None] * layers for _ in range(4)], [0] * 4
    for _ in range(60):
        active = generator.random(4) < 0.7
        feet = np.where(active, generator.choice([0.0, 0.2, 2.9, 3.1, 6.0, -2.0, 9.0], 4), np.nan)
        assert storeys.enter(active, feet).tolist() == plain_enter(floors, layer, active, feet, apart)
        assert storeys.layer.tolist() == layer
        expected = np.array([[np.nan if floor is None else floor for floor in known] for known in floors])
        np.testing.assert_array_equal(storeys.floors, expected)
        if generator.random() < 0.1:
            storeys.reset(np.array([2]))
            floors[2], layer[2] = [None] * layers, 0
