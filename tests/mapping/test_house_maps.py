"""Maps of a generated house against its geometry: what a cell says, and which label it has."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial import cKDTree

from navarena.mapping.occupancy import OccupancySettings
from navarena.mapping.semantic_map import CLASSES, SemanticMapSettings, label_table
from navarena.mapping.storeys import find_storeys, sample_floor
from navarena.mapping.survey import choose_places, survey_occupancy, survey_semantics
from navarena.scenes.houses.vocabulary import IVLN
from navarena.simulation.body_catalog import LOCOBOT
from navarena.simulation.simulator import Simulator
from navarena.simulation.world import open_world

OCCUPANCY = OccupancySettings(cell=0.05, obstacle_bottom=0.1, obstacle_top=LOCOBOT.height)


@pytest.fixture(scope="module")
def world():
    return open_world("houses-v1/val/00000", LOCOBOT)


@pytest.fixture(scope="module")
def surface(world):
    """Points (K, 3) spread over all triangles, 2 cm apart, and the values of semantic images there."""
    scene = world.scene
    corners = scene.vertices[scene.triangles].astype(float)
    first, second = corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]
    areas = np.linalg.norm(np.cross(first, second), axis=1) / 2
    generator = np.random.default_rng(0)
    counts = np.ceil(areas * 2000).astype(int)
    owner = np.repeat(np.arange(len(counts)), counts)
    u, v = generator.random((2, len(owner)))
    u, v = np.where(u + v > 1, 1 - u, u), np.where(u + v > 1, 1 - v, v)
    points = corners[owner, 0] + u[:, None] * first[owner] + v[:, None] * second[owner]
    ids = {obj.object_id: scene.categories.index(obj.category) + 1 for obj in scene.objects}
    values = np.array([ids.get(number, 0) for number in scene.triangle_object.tolist()])
    return points, values[owner]


def test_occupancy_equals_the_floor_plan(world, surface):
    maps = survey_occupancy(world, LOCOBOT, OCCUPANCY)
    grid, scores = maps.grid(0), maps.scores[0, 0]
    floor = find_storeys(sample_floor(world.navmesh))[0]
    points = surface[0]
    over = points[:, 1] - floor
    cells = grid.cells_of(points[(over > OCCUPANCY.obstacle_bottom) & (over < OCCUPANCY.obstacle_top)])
    solid = np.zeros(scores.shape, bool)
    cells = cells[grid.contains(cells)]
    solid[cells[:, 0], cells[:, 1]] = True
    seen, occupied = scores != 0, scores > 0
    assert seen.sum() > 15_000 and occupied.sum() > 3_000
    assert (occupied == solid)[seen].mean() > 0.97
    assert solid[occupied].mean() > 0.97 and not solid[scores < 0].mean() > 0.03


def test_semantic_columns_have_the_labels_of_what_is_there(world, surface):
    maps = survey_semantics(world, LOCOBOT, SemanticMapSettings())
    points, values = surface
    classes = label_table(world.scene.categories)[values]
    cloud, labels = maps.cloud[0, 0], maps.labels[0, 0]
    kept = np.isfinite(cloud[..., 1])
    apart, nearest = cKDTree(points).query(cloud[kept])
    assert kept.sum() > 15_000 and np.quantile(apart, 0.99) < 0.03, "every column ends on a surface"
    right, is_labelled = classes[nearest] == labels[kept], labels[kept] > 0
    assert right.mean() > 0.99 and right[is_labelled].mean() > 0.99 and is_labelled.sum() > 1000


def test_semantic_columns_end_at_the_highest_surface(world, surface):
    """Where the highest surface of a column lies below the camera, it is what the map shows."""
    maps = survey_semantics(world, LOCOBOT, SemanticMapSettings())
    points, values = surface
    classes = label_table(world.scene.categories)[values]
    floor, eye = maps.storeys.floors[0, 0], LOCOBOT.cameras[0].mount[1]
    inside = np.flatnonzero((points[:, 1] > floor - 0.05) & (points[:, 1] < floor + eye + 0.5))
    side = maps.settings.side
    row = np.floor((points[inside, 2] - maps.corners[0, 1]) / maps.settings.column).astype(int)
    column = np.floor((points[inside, 0] - maps.corners[0, 0]) / maps.settings.column).astype(int)
    order = np.argsort(points[inside, 1], kind="stable")
    highest, label = np.full((side, side), -np.inf), np.zeros((side, side), int)
    highest[row[order], column[order]] = points[inside[order], 1]  # the last one written is the highest
    label[row[order], column[order]] = classes[inside[order]]
    low = np.isfinite(maps.cloud[0, 0, ..., 1]) & (highest < floor + eye - 0.15) & (label > 0)
    assert low.sum() > 700 and (maps.labels[0, 0][low] == label[low]).mean() > 0.93


def test_labelled_pixels_of_ten_houses_by_class():
    """Each class has the pixels of all house categories that its word stands for, and no others."""
    camera = replace(LOCOBOT.cameras[0], width_px=64, height_px=48, channels=("semantic",))
    body = replace(LOCOBOT, cameras=(camera,))
    counts = np.zeros(len(CLASSES), int)
    by_name = 0
    for house in range(10):
        world = open_world(f"houses-v1/val/{house:05d}", LOCOBOT)
        categories = np.array(["", *world.scene.categories])
        places = choose_places(world)
        simulator = Simulator(body, len(places), sensors=("semantic",))
        simulator.place(range(len(places)), [world] * len(places), places, np.zeros(len(places)))
        seen = simulator.observer.observe(simulator.slot_worlds)["semantic"]
        shown = np.bincount(seen.ravel(), minlength=len(categories))
        classes = np.bincount(label_table(world.scene.categories)[seen].ravel(), minlength=len(CLASSES))
        for number, (word, found) in enumerate(IVLN.items(), 1):
            assert classes[number] == shown[np.isin(categories, found)].sum(), (house, word)
        counts += classes
        by_name += shown[np.isin(categories, CLASSES)].sum()
    assert counts[1:].sum() > 1.5 * by_name, "labels of names alone lose more than a third"
    assert (counts[1:] > 0).sum() >= 10
