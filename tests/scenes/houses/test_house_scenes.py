"""Whole houses over many seeds: same everywhere, valid, lit, walkable, looked at from inside."""

import hashlib
import os
import subprocess
import sys
from collections import Counter

import numpy as np
import pytest

import house_samples
from house_samples import SEEDS, USUAL, placements_of, sample_plan, sample_scene
from navarena.scenes.houses import HouseSettings, build_house, compute_statistics
from navarena.scenes.houses.furnishing.free_space import turned_rect
from navarena.scenes.houses.furnishing.reachability import (
    CELL_MM,
    TALLEST_BODY_MM,
    build_floor_grid,
    fixed_obstacles,
    obstacle_rects,
    remove_blockers,
)
from navarena.scenes.houses.generator import draw_house
from navarena.scenes.houses.plan.floor_plan import INNER_HALF_MM
from navarena.scenes.houses.structure.walkable_floors import LOWEST_BODY_MM, obstructions, walkable_surfaces
from navarena.scenes.houses.vocabulary import HABITAT_2020
from navarena.scenes.scene import Scene
from navarena.scenes.validation import validate_scene

ALLOWED_TO_MEET = ({"rug"}, {"yoga_mat"}, {"bath_mat"}, {"cushion", "sofa"}, {"cushion", "armchair"})
"""Objects stand on rugs, and cushions sink into seats."""


def fingerprint(scene: Scene) -> str:
    digest = hashlib.sha256()
    for array in (
        scene.vertices,
        scene.triangles,
        scene.triangle_object,
        scene.triangle_material,
        scene.triangle_uv,
        scene.vertex_light,
        *scene.textures,
    ):
        digest.update(np.ascontiguousarray(array).tobytes())
    digest.update(repr((scene.materials, scene.objects, scene.rooms, scene.walkable)).encode())
    return digest.hexdigest()


@pytest.mark.slow
def test_a_seed_gives_the_same_house_in_any_process():
    seeds = (8, 3)
    code = (
        "import sys; sys.path[:0] = sys.argv[1:]; from test_house_scenes import fingerprint; "
        "from navarena.scenes.houses import build_house; "
        f"print(*(fingerprint(build_house(seed)) for seed in {seeds}))"
    )
    environment = {**os.environ, "PYTHONHASHSEED": "12345", "NAVARENA_THREADS": "1"}
    folders = [os.path.dirname(__file__), os.path.dirname(house_samples.__file__)]
    other = subprocess.run(
        [sys.executable, "-c", code, *folders], env=environment, capture_output=True, text=True, check=True
    )
    assert other.stdout.split() == [fingerprint(sample_scene(seed)) for seed in seeds]


def test_different_seeds_give_different_houses():
    assert len({fingerprint(sample_scene(seed)) for seed in SEEDS[:5]}) == 5


@pytest.mark.parametrize("seed", SEEDS)
def test_houses_are_valid_scenes(seed):
    scene = sample_scene(seed)
    validate_scene(scene)
    assert scene.scene_id == f"house-{seed}"
    assert [obj.object_id for obj in scene.objects] == list(range(1, len(scene.objects) + 1))
    assert set(np.unique(scene.triangle_object)) == {obj.object_id for obj in scene.objects}
    assert scene.triangle_material.max() < len(scene.materials)
    corners = scene.vertices[scene.triangles].astype(float)
    area = np.linalg.norm(np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]), axis=1) / 2
    assert area.min() > 1e-7
    assert scene.vertex_light.min() > 0 and scene.vertex_light.max() <= 1
    assert np.isfinite(scene.triangle_uv).all()
    assert {room.room_id for room in scene.rooms} >= {obj.room for obj in scene.objects} - {None}


@pytest.mark.parametrize("seed", SEEDS[:6])
def test_oriented_boxes_are_exact(seed):
    scene = sample_scene(seed)
    for obj in scene.objects:
        points = scene.vertices[scene.triangles[scene.triangle_object == obj.object_id]].reshape(-1, 3)
        cosine, sine = np.cos(obj.yaw), np.sin(obj.yaw)
        offset = points - np.array(obj.center)
        local = np.stack(
            [
                cosine * offset[:, 0] - sine * offset[:, 2],
                offset[:, 1],
                sine * offset[:, 0] + cosine * offset[:, 2],
            ],
            1,
        )
        np.testing.assert_allclose(local.max(0), obj.half_size, atol=2e-5)
        np.testing.assert_allclose(local.min(0), -np.array(obj.half_size), atol=2e-5)


def test_all_goal_categories_occur_and_statistics_are_those_of_homes():
    statistics = [compute_statistics(sample_scene(seed)) for seed in SEEDS]
    seen = Counter(name for house in statistics for name in house.categories)
    missing = {word for word, found in HABITAT_2020.items() if not set(found) & set(seen)}
    assert len(missing) <= 3, missing
    assert len(seen) >= 55
    for house in statistics:
        assert 3 <= house.rooms <= 36
        assert 40 <= house.floor_area <= 420
        assert 6 <= house.objects_per_room <= 30
        assert 3_000 <= house.triangles <= 120_000
        assert sum(house.room_categories.values()) == house.rooms
        for needed in ("wall", "floor", "ceiling", "door", "window", "ceiling_lamp", "sofa"):
            assert house.categories.get(needed, 0) > 0 or needed == "sofa"
    assert 5 <= np.median([house.rooms for house in statistics]) <= 20
    assert 60 <= np.median([house.floor_area for house in statistics]) <= 200


@pytest.mark.slow
@pytest.mark.turns(8)
def test_every_category_of_the_catalogue_occurs_in_a_hundred_houses():
    from navarena.scenes.houses.furniture.catalog import CATEGORIES

    seen = {placed.category for seed in range(60) for placed in placements_of(draw_house(seed, USUAL))}
    assert set(CATEGORIES) <= seen


@pytest.mark.parametrize("seed", SEEDS)
def test_furniture_stands_inside_its_room_and_through_nothing(seed):
    for house in sample_plan(seed).storeys:
        boxes, owners = [], []
        for index, placed in enumerate(house.placements):
            room = house.plan.rooms[placed.room]
            assert room.floor.contains(placed.rect), (placed.family, placed.rect)
            assert placed.high <= house.plan.ceiling
            if placed.turn.cosine * placed.turn.sine:
                continue
            for part in placed.model.parts:
                if part.turn.cosine * part.turn.sine:
                    continue
                rect = turned_rect(part.plan_rect(), placed.turn)
                low = placed.at[1] + part.at[1]
                x, z = placed.at[0], placed.at[2]
                boxes.append((rect.x0 + x, low, rect.z0 + z, rect.x1 + x, low + part.size[1], rect.z1 + z))
                owners.append(index)
        box, owner = np.array(boxes), np.array(owners)
        for k in range(len(box) - 1):
            common = np.minimum(box[k + 1 :, 3:], box[k, 3:]) - np.maximum(box[k + 1 :, :3], box[k, :3])
            for j in np.flatnonzero((common > 3).all(1) & (owner[k + 1 :] != owner[k])):
                pair = {house.placements[owner[k]].family, house.placements[owner[k + 1 + j]].family}
                assert any(allowed <= pair for allowed in ALLOWED_TO_MEET), pair


@pytest.mark.parametrize("seed", SEEDS)
def test_carried_things_stand_on_what_carries_them(seed):
    for house in sample_plan(seed).storeys:
        for placed in house.placements:
            if placed.parent < 0:
                continue
            carrier = house.placements[placed.parent]
            assert carrier.room == placed.room
            heights = {carrier.at[1] + surface.at[1] for surface in carrier.model.surfaces}
            assert placed.at[1] in heights
            assert carrier.rect.grown(10).contains(placed.rect) or placed.family in ("television", "monitor")


@pytest.mark.parametrize("seed", SEEDS)
def test_doorways_are_free(seed):
    for house in sample_plan(seed).storeys:
        outlines = [rect for placed in house.placements for rect in obstacle_rects(placed)]
        for opening in house.plan.openings:
            for room in {opening.room, opening.other} - {None}:
                side = house.plan.side_seen_from(opening, room)
                if opening.kind == "window" or side is None:
                    continue
                deep = 400 if house.plan.rooms[room].category == "toilet" else 600  # toilets are 1 m deep
                way = house.plan.rooms[room].floor.band(
                    side, opening.start, opening.end, -2 * INNER_HALF_MM, deep
                )
                assert not any(way.overlaps(rect) for rect in outlines)


@pytest.mark.parametrize("seed", SEEDS)
def test_nearly_all_floor_can_be_reached(seed):
    for house in sample_plan(seed).storeys:
        obstacles = fixed_obstacles(house.plan)
        obstacles += [rect for placed in house.placements for rect in obstacle_rects(placed)]
        grid = build_floor_grid(house.plan, obstacles, 180)
        assert grid.reachable_share >= 0.98
        for room in house.plan.rooms:
            inside = grid.window(room.floor.grown(-CELL_MM))
            assert (inside == grid.main).any(), room.category


def test_what_bars_the_way_is_taken_out():
    from dataclasses import replace

    (house,) = draw_house(2, HouseSettings(storeys=1)).storeys
    door = next(o for o in house.plan.openings if o.kind == "door")
    floor = house.plan.rooms[door.room].floor
    wardrobe = next(placed for placed in house.placements if placed.family == "wardrobe")
    middle = floor.band(door.side, (door.start + door.end) // 2, (door.start + door.end) // 2 + 2, 300, 302)
    barrier = replace(wardrobe, at=(middle.x0, 0, middle.z0), room=door.room)
    kept = remove_blockers(house.plan, [*house.placements, barrier])
    assert barrier not in kept
    assert sum(placed.family == "bed" for placed in kept) == sum(p.family == "bed" for p in house.placements)


@pytest.mark.parametrize("seed", SEEDS[:6])
def test_walkable_floor_matches_rooms_and_obstacles(seed):
    import shapely

    house, scene = sample_plan(seed), sample_scene(seed)
    floors = [surface for surface in scene.walkable if surface.obstacles]
    assert len(floors) == len(house.storeys)
    for level, (storey, surface) in enumerate(zip(house.storeys, floors, strict=True)):
        plan = storey.plan
        assert surface == walkable_surfaces(plan, storey.placements, storey.base, level)[0]
        area = shapely.Polygon(surface.outline, surface.holes).area
        doorways = sum(
            (o.end - o.start) * 2 * INNER_HALF_MM / 1e6 for o in plan.openings if o.other is not None
        )
        rooms = sum(plan.ground(k).area for k in range(len(plan.rooms))) / 1e6
        assert area == pytest.approx(rooms + doorways, abs=1e-6)
        assert surface.plane == (0, 0, storey.base / 1000) and surface.level == level
        for footprint in surface.obstacles:
            assert storey.base / 1000 <= footprint.low < footprint.high
            assert shapely.Polygon(footprint.polygon).is_valid


def test_tables_leave_their_underside_open_to_small_bodies():
    for placed in placements_of(sample_plan(2)):
        if placed.family != "coffee_table":
            continue
        lows = sorted(o.low for o in obstructions(placed))
        assert lows[0] < LOWEST_BODY_MM
    desk = next(p for seed in SEEDS for p in placements_of(sample_plan(seed)) if p.family == "wall_table")
    found = obstructions(desk)
    top = max(found, key=lambda o: o.rect.area)
    assert top.low > 600 and len([o for o in found if o.low == 0]) == 4


def test_nobody_stands_in_a_bathtub():
    tubs = [p for seed in SEEDS for p in placements_of(sample_plan(seed)) if p.family == "bathtub"]
    assert len(tubs) >= 3
    for tub in tubs:
        (outline,) = obstructions(tub)
        assert outline.rect == tub.rect and (outline.low, outline.high) == (tub.low, tub.high)
        assert any(part.at[1] + part.size[1] < 200 for part in tub.model.parts), "its bottom is no floor"


def test_every_part_that_a_body_could_hit_is_covered_by_an_outline():
    for seed in SEEDS[:4]:
        for placed in placements_of(sample_plan(seed)):
            outlines = [o for o in obstructions(placed) if o.low < TALLEST_BODY_MM]
            if placed.turn.cosine * placed.turn.sine or not outlines:
                continue
            for part in placed.model.parts:
                low = placed.at[1] + part.at[1]
                if part.thin or low > 1400 or low + part.size[1] < 20:
                    continue
                rect = turned_rect(part.plan_rect(), placed.turn)
                x, z = placed.at[0], placed.at[2]
                covered = any(
                    o.rect.grown(1).contains(type(rect)(rect.x0 + x, rect.z0 + z, rect.x1 + x, rect.z1 + z))
                    for o in outlines
                )
                assert covered, placed.family


@pytest.mark.parametrize("seed", SEEDS[:4])
def test_no_back_face_and_no_gap_is_seen_from_inside(seed):
    embreex = pytest.importorskip("embreex.rtcore_scene")
    from embreex.mesh_construction import TriangleMesh

    scene = sample_scene(seed)
    corners = scene.vertices[scene.triangles]
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    engine = embreex.EmbreeScene()
    TriangleMesh(engine, corners)
    generator = np.random.default_rng(seed)
    rects = [
        (surface.level, np.min(f.polygon, 0) - 0.1, np.max(f.polygon, 0) + 0.1)
        for surface in scene.walkable
        for f in surface.obstacles
        if f.low < surface.plane[2] + 1.7
    ]
    origins = []
    for room in scene.rooms:
        if room.category == "stairs":
            continue
        low, high = np.min(room.polygon, 0) + 0.2, np.max(room.polygon, 0) - 0.2
        for x, z in low + generator.random((12, 2)) * (high - low):
            if not any(k == room.level and (a < (x, z)).all() and ((x, z) < b).all() for k, a, b in rects):
                origins.append((x, room.floor_height + generator.uniform(0.5, 1.5), z))
    for surface in scene.walkable:  # flights and half-landings of stairs
        if not surface.obstacles:
            low, high = np.min(surface.outline, 0) + 0.2, np.max(surface.outline, 0) - 0.2
            for x, z in low + generator.random((12, 2)) * (high - low):
                a, b, c = surface.plane
                origins.append((x, a * x + b * z + c + generator.uniform(0.5, 1.5), z))
    rays = 600
    directions = generator.normal(size=(len(origins) * rays, 3))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    starts = np.repeat(np.array(origins), rays, 0)
    hit = engine.run(starts.astype(np.float32), directions.astype(np.float32))
    assert (hit >= 0).all(), "a ray left the house"
    facing = (normals[hit] * directions).sum(1)
    assert (facing < 1e-7).all(), "a back face was seen"


def test_rooms_read_as_rooms():
    scene = sample_scene(2)
    light = {name: [] for name in ("ceiling", "floor")}
    for obj in scene.objects:
        if obj.category in light:
            used = np.unique(scene.triangles[scene.triangle_object == obj.object_id])
            light[obj.category].append(scene.vertex_light[used])
    values = np.concatenate(light["ceiling"])
    assert values.max() > 0.75
    corner = [v.min() / v.max() for v in light["ceiling"]]
    assert max(corner) < 0.95, "corners are darker than the middle"
    assert np.median(np.concatenate(light["floor"])) > 0.5
    np.testing.assert_array_equal(scene.vertex_light * 256, np.round(scene.vertex_light * 256))


def test_settings_change_what_they_say():
    bare = build_house(4, HouseSettings(furnished=False, storeys=1))
    assert {obj.category for obj in bare.objects} == {"wall", "floor", "ceiling", "door", "window"}
    full, tidy = (
        len(placements_of(draw_house(4, HouseSettings(clutter_percent=percent)))) for percent in (100, 0)
    )
    assert full > tidy
    assert len(draw_house(4, HouseSettings(rooms=9)).storeys[0].plan.rooms) == 9
    coarse = build_house(4, HouseSettings(light_spacing_mm=1000, furnished=False, storeys=1))
    assert len(coarse.triangles) < len(bare.triangles)


@pytest.mark.parametrize("rooms", [1, 2, 3, 4, 5, 7, 12])
def test_houses_of_every_size_can_be_drawn(rooms):
    (house,) = draw_house(77, HouseSettings(rooms=rooms)).storeys
    assert len(house.plan.rooms) == rooms
    families = {placed.family for placed in house.placements}
    assert "toilet" in families or rooms == 1
    assert families & {"bed", "sofa"}
