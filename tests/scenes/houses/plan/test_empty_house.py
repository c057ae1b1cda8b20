import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from navarena.core.errors import InputError, SceneError
from navarena.scenes.houses.plan.empty_house import draw_empty_house, narrowest_percent
from navarena.scenes.houses.plan.floor_plan import (
    EAST,
    NORTH,
    OUTER_MM,
    SOUTH,
    WEST,
    FloorPlan,
    PlannedRoom,
    Rect,
)
from navarena.scenes.houses.plan.house_plan import HousePlan
from navarena.scenes.houses.plan.openings import draw_openings, find_contacts, leaf_rect, subtract_intervals
from navarena.scenes.houses.plan.programme import ROOM_KINDS, draw_programme
from navarena.scenes.houses.plan.subdivision import draw_layout
from navarena.scenes.houses.plan.wall_rects import exterior_edges, wall_rects
from navarena.scenes.houses.random_draws import Draws
from navarena.scenes.houses.settings import HouseSettings

TWO_ROOMS = (
    PlannedRoom("living room", Rect(0, 0, 5000, 4000)),
    PlannedRoom("bathroom", Rect(5000, 1000, 7000, 4000)),
)


def draw_plan(draws: Draws, settings: HouseSettings) -> FloorPlan:
    """The plan of a house with one storey."""
    return draw_empty_house(draws, settings).storeys[0].plan


@pytest.mark.parametrize(
    ("whole", "taken", "left"),
    [
        ((0, 10), [], [(0, 10)]),
        ((0, 10), [(2, 4)], [(0, 2), (4, 10)]),
        ((0, 10), [(6, 8), (2, 4)], [(0, 2), (4, 6), (8, 10)]),
        ((0, 10), [(2, 6), (4, 8)], [(0, 2), (8, 10)]),
        ((0, 10), [(-5, 20)], []),
        ((0, 10), [(-5, 3), (9, 20)], [(3, 9)]),
        ((0, 10), [(0, 10), (3, 4)], []),
    ],
)
def test_intervals_are_subtracted(whole, taken, left):
    assert subtract_intervals(whole, taken) == left


@pytest.mark.parametrize("count", range(1, 13))
def test_houses_have_the_rooms_asked_for(count):
    for seed in range(2):
        draws = Draws("programme", count, seed)
        wishes = draw_programme(draws, count)
        rooms = draw_layout(draws, wishes)
        assert sorted(room.category for room in rooms) == sorted(wish.category for wish in wishes)
        assert len(rooms) == count
        for a, b in itertools.combinations(rooms, 2):
            assert not a.cell.overlaps(b.cell)


def test_rooms_are_wide_enough_to_live_in():
    plans = [draw_plan(Draws("wide", seed), HouseSettings(storeys=1)) for seed in range(25)]
    plans += [draw_plan(Draws("wide", seed), HouseSettings(rooms=12)) for seed in range(6)]
    rooms = [room for plan in plans for room in plan.rooms]
    narrow = 0
    for room in rooms:
        short, least = min(room.floor.width, room.floor.depth), ROOM_KINDS[room.category].min_width_mm
        assert short >= 900 and 100 * short >= 90 * least, (room.category, room.floor)
        narrow += short < least
    assert narrow < len(rooms) * 0.1


def test_narrow_rooms_are_drawn_when_they_may_be():
    seed = next(seed for seed in range(99) if narrowest_percent(draw_any(seed, 0)) < 90)
    assert narrowest_percent(draw_any(seed, 90)) >= 90
    with pytest.raises(InputError, match=r"narrowest_percent in \[0, 95\], got 101"):
        HouseSettings(narrowest_percent=101)


def draw_any(seed: int, percent: int) -> HousePlan:
    return draw_empty_house(Draws("wide", seed), HouseSettings(rooms=8, narrowest_percent=percent))


def test_contacts_of_two_rooms():
    inner, outer = find_contacts(TWO_ROOMS)
    assert [(c.room, c.side, c.other, c.start, c.end) for c in inner] == [(0, EAST, 1, 1060, 3940)]
    east = [(c.start, c.end) for c in outer if (c.room, c.side) == (0, EAST)]
    assert east == [(60, 940)]
    assert {(c.room, c.side) for c in outer} == {
        (0, NORTH), (0, SOUTH), (0, WEST), (0, EAST), (1, NORTH), (1, EAST), (1, SOUTH),
    }  # fmt: skip


def test_walls_and_floors_fill_the_outline():
    walls = wall_rects(TWO_ROOMS)
    for a, b in itertools.combinations(walls, 2):
        assert not a.overlaps(b)
    floors = sum(room.floor.area for room in TWO_ROOMS)
    outline = 5000 * 4000 + 2000 * 3000 + OUTER_MM * (2 * 7000 + 2 * 4000) + 4 * OUTER_MM**2
    assert sum(rect.area for rect in walls) + floors == outline
    edges = exterior_edges(TWO_ROOMS)
    assert len(edges) == 6
    assert sum(end - start for _, _, start, end in edges) == 2 * (7480 + 4480)


def test_rooms_that_do_not_touch_are_refused():
    apart = [TWO_ROOMS[0], PlannedRoom("bathroom", Rect(9000, 0, 11000, 3000))]
    with pytest.raises(SceneError, match="only 1 can be joined"):
        draw_openings(Draws("apart"), apart)


@settings(max_examples=12, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 12))
def test_doors_join_all_rooms_and_openings_lie_apart(seed, count):
    plan = draw_plan(Draws("doors", seed), HouseSettings(rooms=count))
    reached = {0}
    for _ in plan.rooms:
        for opening in plan.openings:
            if opening.other is not None and {opening.room, opening.other} & reached:
                reached |= {opening.room, opening.other}
    assert reached == set(range(count))
    assert sum(opening.kind == "entrance" for opening in plan.openings) == 1
    for k in range(count):
        floor = plan.rooms[k].floor
        for side, opening in plan.openings_of(k):
            low, high = floor.span(side)
            assert low <= opening.start < opening.end <= high
            assert opening.end - opening.start >= (760 if opening.low == 0 else 400)
            assert opening.high < plan.ceiling
        for (side, a), (other, b) in itertools.combinations(plan.openings_of(k), 2):
            assert side != other or a.end + 100 <= b.start or b.end + 100 <= a.start


@settings(max_examples=12, deadline=None)
@given(st.integers(0, 10**6))
def test_open_leaves_bar_no_door(seed):
    plan = draw_plan(Draws("leaves", seed), HouseSettings(storeys=1))
    for door in plan.openings:
        leaf = leaf_rect(plan.rooms, door)
        if leaf is None:
            continue
        assert plan.rooms[door.leaf_room].floor.contains(leaf)
        for side, other in plan.openings_of(door.leaf_room):
            if other is not door and other.kind != "window":
                way = plan.rooms[door.leaf_room].floor.band(side, other.start, other.end, 0, 700)
                assert not way.overlaps(leaf)
