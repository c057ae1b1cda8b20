"""Colours and materials of rooms, each its own, and views outside windows that are not pixelated."""

import numpy as np
import pytest

from house_samples import SEEDS, sample_plan, sample_scene
from navarena.scenes.houses.appearance.finish_tiles import base_tile
from navarena.scenes.houses.appearance.finishes import STYLES, VIEWS
from navarena.scenes.houses.random_draws import Draws
from navarena.scenes.houses.structure.room_looks import WET_ROOMS, draw_looks


@pytest.mark.parametrize("style", STYLES)
def test_rooms_have_walls_and_floors_of_their_own(style):
    for seed in SEEDS:
        plan = sample_plan(seed).storeys[0].plan
        looks = draw_looks(Draws(seed), plan, STYLES[style], 0)
        pairs = list(zip(plan.rooms, looks, strict=True))
        floors = [one.floor for room, one in pairs if room.category not in WET_ROOMS]
        walls = [one.wall for one in looks if one.wall not in STYLES[style].wet_walls]
        assert len(set(floors)) == min(len(floors), len(set(STYLES[style].floors))), seed
        assert len(set(walls)) == min(len(walls), len(set(STYLES[style].walls))), seed
        assert len({one.door for one in looks}) == 1, "doors are the same in the whole house"


def test_wet_rooms_have_wet_floors():
    plan = sample_plan(SEEDS[0]).storeys[0].plan
    for style in STYLES.values():
        for room, one in zip(plan.rooms, draw_looks(Draws(1), plan, style, 0), strict=True):
            assert one.floor in (style.wet_floors if room.category in WET_ROOMS else style.floors)


def test_houses_show_several_floor_materials_by_room():
    for seed in SEEDS[:4]:
        rooms = sample_scene(seed).rooms
        assert len({room.attributes["floor"] for room in rooms}) >= min(2, len(rooms))


@pytest.mark.parametrize("name", VIEWS)
def test_views_outside_windows_are_not_pixelated(name):
    view = base_tile(name).astype(int)
    assert view.shape == (512, 512, 3)
    # within blocks of 2 x 2 pixels an enlarged image is constant; here they differ, too
    steps = np.abs(np.diff(view, axis=1)).sum(2)
    within, across = steps[:, 0::2], steps[:, 1::2]
    assert within.mean() > 0.3 * across.mean() > 0
