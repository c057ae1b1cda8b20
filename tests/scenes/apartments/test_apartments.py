"""Apartments like RoboTHOR's: walls and instances of one split alone, targets, ways, twins."""

from functools import cache

import numpy as np
import pytest

from navarena.core.errors import InputError, UnknownNameError
from navarena.scenes.apartments import (
    APARTMENT_SPLITS,
    INSTANCE_SPLITS,
    apartment_number,
    original_of,
    twin_of,
)
from navarena.scenes.apartments.apartment_sets import split_of
from navarena.scenes.apartments.generator import build_apartment, build_twin, draw_apartment, draw_twin
from navarena.scenes.apartments.instances import category_instances, split_instances
from navarena.scenes.apartments.inventory import (
    ALSO_GUARANTEED,
    FAMILIES_OF,
    FIXTURES,
    FURNITURE,
    GUARANTEED,
    SMALL,
    TARGETS,
)
from navarena.scenes.apartments.layout import SHELL, apartment_plans, wall_key
from navarena.scenes.catalog import scene_ids, scene_sets
from navarena.scenes.houses.furniture.catalog import FAMILIES
from navarena.scenes.houses.house_statistics import STRUCTURE
from navarena.scenes.houses.plan.floor_plan import Rect
from navarena.scenes.houses.plan.house_plan import HousePlan
from navarena.scenes.houses.structure.walkable_floors import house_floors
from navarena.scenes.houses.vocabulary import ROBOTHOR
from navarena.simulation.navmesh.building.floor_navmesh import build_floor_navmesh
from navarena.simulation.navmesh.navmesh_settings import NavMeshSettings

LOCOBOT = NavMeshSettings(radius=0.175, height=0.88, max_climb=0.2, region_min_size=0)
A_FEW = [("train", 2), ("val", 3), ("test-dev", 1), ("test", 5)]
NUMBERS = range(sum(APARTMENT_SPLITS.values()))


@cache
def apartment(split: str, index: int) -> HousePlan:
    return draw_apartment(split, index)


def models_of(house: HousePlan) -> set[str]:
    """All that stands in a house, as text."""
    (storey,) = house.storeys
    return {repr(placed.model.parts) for placed in storey.placements if placed.family not in FIXTURES}


def key_of(number: int) -> tuple[tuple[int, int, int, int], ...]:
    return wall_key([room.cell for room in apartment_plans()[number].rooms])


def test_splits_are_those_of_robothor():
    # Batra et al. 2020, section 4: 60 + 15, 4 and 10 scenes; 731 instances of 43 categories, 11 + 32; 14
    assert dict(APARTMENT_SPLITS) == {"train": 60, "val": 15, "test-dev": 4, "test": 10}
    assert sum(INSTANCE_SPLITS.values()) * len(FAMILIES_OF) == 731
    assert (len(FAMILIES_OF), len(FURNITURE), len(SMALL), len(GUARANTEED)) == (43, 11, 32, 14)
    assert {category for words in ROBOTHOR.values() for category in words} == set(TARGETS)
    for category, families in FAMILIES_OF.items():
        assert {FAMILIES[family].category for family in families} == {category}
    for split, count in APARTMENT_SPLITS.items():
        assert len(scene_ids("robothor-like-v1", split)) == count
        assert [split_of(apartment_number(split, index)) for index in range(count)] == [split] * count


def test_no_two_apartments_have_the_same_walls():
    keys = {number: key_of(number) for number in NUMBERS}
    assert len(set(keys.values())) == len(NUMBERS)
    by_split = {split: {keys[n] for n in NUMBERS if split_of(n) == split} for split in APARTMENT_SPLITS}
    for split, walls in by_split.items():
        for other, others in by_split.items():
            assert split == other or not walls & others


def test_mirrored_walls_are_the_same_walls():
    west, east = Rect(0, 0, 3000, SHELL.z1), Rect(3000, 0, SHELL.x1, SHELL.z1)
    mirrored = [Rect(SHELL.x1 - cell.x1, 0, SHELL.x1 - cell.x0, SHELL.z1) for cell in (west, east)]
    assert wall_key([west, east]) == wall_key(mirrored) == ((0, 0, 3000, 4020), (3000, 0, 8920, 4020))
    moved = [Rect(0, 0, 3200, SHELL.z1), Rect(3200, 0, SHELL.x1, SHELL.z1)]
    assert wall_key([west, east]) != wall_key(moved)


def test_the_shell_is_the_same_for_all():
    for number in (0, 31, 60, 75, 88):
        rooms = apartment_plans()[number].rooms
        assert 3 <= len(rooms) <= 5
        low = (min(r.floor.x0 for r in rooms), min(r.floor.z0 for r in rooms))
        high = (max(r.floor.x1 for r in rooms), max(r.floor.z1 for r in rooms))
        assert (high[0] - low[0], high[1] - low[1]) == (8800, 3900)
        assert sum(room.cell.area for room in rooms) == SHELL.area


@pytest.mark.parametrize("category", [*TARGETS, *ALSO_GUARANTEED, "sofa", "table"])
def test_each_split_has_instances_of_its_own(category):
    parts = [repr(instance.model.parts) for instance in category_instances(category)]
    assert len(parts) == len(set(parts)) == 17
    numbers = [i.number for split in INSTANCE_SPLITS for i in split_instances(category, split)]
    assert numbers == list(range(17))


def test_apartments_hold_the_instances_of_their_split():
    seen: dict[str, set[str]] = {}
    for split, index in A_FEW:
        own = {repr(i.model.parts) for category in FAMILIES_OF for i in split_instances(category, split)}
        seen[split] = models_of(apartment(split, index))
        assert seen[split] <= own
    assert not seen["train"] & (seen["val"] | seen["test-dev"] | seen["test"])


@pytest.mark.parametrize(("split", "index"), A_FEW)
def test_what_stands_in_an_apartment(split, index):
    (storey,) = apartment(split, index).storeys
    categories = [placed.category for placed in storey.placements]
    assert all(categories.count(target) == 1 for target in TARGETS)
    assert all(name in categories for name in ALSO_GUARANTEED)
    assert set(categories) - FIXTURES <= set(FAMILIES_OF)
    assert 4 <= sum(category in FURNITURE for category in categories) <= 20
    assert 26 <= sum(category in SMALL for category in categories) <= 60
    for placed in storey.placements:
        if placed.category in TARGETS:
            carrier = storey.placements[placed.parent].category if placed.parent >= 0 else "floor"
            kind = TARGETS[placed.category]
            assert carrier in kind.supports or (carrier == "floor" and kind.floor)


@pytest.mark.parametrize(("split", "index"), A_FEW)
def test_the_floor_can_be_reached_and_every_target_approached(split, index):
    house = apartment(split, index)
    mesh = build_floor_navmesh(house_floors(house), LOCOBOT)
    assert mesh.island_areas.max() >= 0.98 * mesh.navigable_area
    assert 0.25 <= mesh.navigable_area / (house.area_mm2 / 1e6) <= 0.75
    (storey,) = house.storeys
    near = mesh.random_point(np.random.default_rng(7), 4000, mesh.largest_island)
    for placed in storey.placements:
        if placed.category in TARGETS:
            x, z = (value / 1000 for value in placed.rect.center)
            assert np.hypot(near[:, 0] - x, near[:, 2] - z).min() < 1.0, placed.category


def test_a_twin_has_the_same_walls_and_places():
    house, twin = apartment("val", 3), draw_twin("val", 3)
    (own,), (other,) = house.storeys, twin.storeys
    assert own.plan == other.plan
    objects = [p for p in own.placements if p.family not in FIXTURES]
    twins = [p for p in other.placements if p.family not in FIXTURES]
    changed = 0
    for one, two in zip(objects, twins, strict=True):
        assert (one.at, one.turn, one.category, one.parent) == (two.at, two.turn, two.category, two.parent)
        assert [part.size for part in one.model.parts] == [part.size for part in two.model.parts]
        changed += [p.look for p in one.model.parts] != [p.look for p in two.model.parts]
        said = two.model.attributes
        assert any(
            (p.look.color, p.look.material) == (said["color"], said["material"]) for p in two.model.parts
        )
    assert changed >= 0.9 * len(objects)
    assert [p for p in own.placements if p.family in FIXTURES] != [
        p for p in other.placements if p.family in FIXTURES
    ]


def test_scenes_of_an_apartment_and_its_twin():
    scene, twin = build_apartment("val", 3), build_twin("val", 3)
    assert original_of(twin.scene_id) == scene.scene_id == original_of(scene.scene_id)
    assert original_of("houses-v1/val/00003") == "houses-v1/val/00003"
    assert twin.scene_id == twin_of(scene.scene_id) == twin_of(twin.scene_id)
    assert scene.walkable == twin.walkable
    allowed = set(FAMILIES_OF) | FIXTURES | STRUCTURE
    assert set(scene.categories) <= allowed and set(twin.categories) <= allowed
    boxes = [
        [(o.category, o.center, o.half_size) for o in s.objects if o.category not in FIXTURES]
        for s in (scene, twin)
    ]
    assert boxes[0] == boxes[1]
    assert all(room.attributes["floor"] in ("wood", "tiles", "carpet") for room in scene.rooms)
    assert twin.vertex_light is not None and scene.vertex_light is not None
    assert twin.vertex_light.mean() < scene.vertex_light.mean()
    assert ((twin.vertex_light * 256) % 1 == 0).all()


def test_sets_and_names():
    sets = scene_sets()
    assert {"robothor-like-v1", "robothor-like-v1-twin"} <= set(sets)
    with pytest.raises(InputError, match=r"apartment index in \[0, 3\] of split 'test-dev', got 4"):
        draw_apartment("test-dev", 4)
    with pytest.raises(UnknownNameError, match="test-dev"):
        draw_apartment("testdev", 0)
    with pytest.raises(InputError, match="expected the id of an apartment"):
        twin_of("houses-v1/val/00003")
