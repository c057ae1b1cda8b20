"""The protocols on graphs in a generated house: a graph on its floor, and features drawn at its places."""

import numpy as np
import pytest

from navarena.core.errors import FileError, InputError, SceneError
from navarena.core.seeding import make_generator
from navarena.corruptions import find_corruption
from navarena.episodes.episode import Episode
from navarena.episodes.floor_graph import FloorGraphSettings, build_floor_graph
from navarena.episodes.graph_episodes import GraphGoal
from navarena.scenes.graphs import GraphAtlas
from navarena.simulation.body import Camera
from navarena.simulation.body_catalog import LOCOBOT
from navarena.simulation.world import open_world
from navarena.tasks import GraphBatch, get_task
from navarena.tasks.graphs.rendered_features import VIEW_CAMERA, RenderedFeatures

HOUSE = "houses-v0/val/00000"
SMALL = Camera(width_px=64, height_px=48, hfov=VIEW_CAMERA.hfov)


@pytest.fixture(scope="module")
def world():
    return open_world(HOUSE, LOCOBOT)


@pytest.fixture(scope="module")
def atlas(world):
    return GraphAtlas([build_floor_graph(world.navmesh, HOUSE, make_generator("test"))])


def mean_colors(images):
    return images.mean((1, 2)) / 255


def test_places_are_spaced_and_joined_in_straight_lines(world, atlas):
    graph = atlas.graphs[HOUSE]
    floor = graph.positions - [0, 1.5, 0]
    assert len(graph) > 10 and np.isfinite(graph.distances).all() and graph.lengths.max() <= 4.0
    apart = np.linalg.norm(floor[:, None] - floor, axis=-1) + 10 * np.eye(len(graph))
    assert apart.min() >= 1.5
    walked = world.navmesh.geodesic_distance(floor[graph.edges[:, 0]], floor[graph.edges[:, 1]])
    assert (walked <= 1.02 * graph.lengths + 1e-9).all()
    assert world.navmesh.is_navigable(floor).all()


def test_the_same_name_gives_the_same_graph(world, atlas):
    again = build_floor_graph(world.navmesh, HOUSE, make_generator("test"))
    assert np.array_equal(again.positions, atlas.graphs[HOUSE].positions)
    with pytest.raises(SceneError, match="two joined places"):
        build_floor_graph(world.navmesh, HOUSE, make_generator("test"), FloorGraphSettings(spacing=100.0))


def test_images_are_those_of_the_views(world, atlas):
    """The twelve level views go round to the right: neighbours overlap, opposite ones do not."""
    features = RenderedFeatures(atlas, lambda scan: world.render_mesh, mean_colors, 3, SMALL)
    name = atlas.graphs[HOUSE].viewpoints[0]
    images = features.images(HOUSE, name).astype(float)
    assert images.shape == (36, 48, 64, 3) and images.std() > 1
    focal = 32 / np.tan(SMALL.hfov / 2)
    for k in range(12):
        right, left = images[12 + k, 24], images[12 + (k + 1) % 12, 24]  # the horizon's row
        columns = np.arange(34, 62)
        angle = np.arctan((columns + 0.5 - 32) / focal) - np.pi / 6
        seen_there = np.clip(np.round(32 + focal * np.tan(angle) - 0.5).astype(int), 0, 63)
        assert np.median(np.abs(right[columns] - left[seen_there])) < 12
    assert np.allclose(features.views(HOUSE, name), mean_colors(images), atol=1e-5)


def test_a_batch_observes_them(world, atlas):
    features = RenderedFeatures(atlas, lambda scan: world.render_mesh, mean_colors, 3, SMALL)
    graph = atlas.graphs[HOUSE]
    path = graph.shortest_path(0, len(graph) - 1)
    points = tuple(tuple(map(float, graph.positions[k])) for k in path)
    goal = GraphGoal("Go there.", points, viewpoints=tuple(graph.viewpoints[k] for k in path))
    episode = Episode("e", HOUSE, points[0], 0.0, goal, 5.0)
    batch = GraphBatch(get_task("r2r-v1"), atlas, 1, ("candidate_features",), features)
    batch.start([0], [episode])
    seen = batch.observations["candidate_features"]
    count = len(graph.neighbors[0])
    assert seen.shape == (1, 14, 3) and seen[0, :count].any(1).all() and not seen[0, count:].any()


def test_encoders_of_another_size_are_refused(world, atlas):
    features = RenderedFeatures(atlas, lambda scan: world.render_mesh, mean_colors, 5, SMALL)
    with pytest.raises(FileError, match=r"viewpoint place000 .*expected shape \(36, 5\), got \(36, 3\)"):
        features.views(HOUSE, "place000")


def test_their_images_can_be_corrupted(world, atlas):
    """Each view by the corruption's own formula, with draws named by place and view; motion is refused."""
    names = atlas.graphs[HOUSE].viewpoints[:2]
    mesh = world.render_mesh

    def images(*corruptions, at=names[0]):
        features = RenderedFeatures(atlas, lambda scan: mesh, mean_colors, 3, SMALL, corruptions=corruptions)
        return features.images(HOUSE, at)

    clean, noisy = images(), images("gaussian_noise:3")
    assert clean.any() and not np.array_equal(clean, noisy)
    assert np.array_equal(noisy, images("gaussian_noise:3"))
    noise = noisy.astype(int) - clean
    assert not np.array_equal(noise[12], noise[13])
    for view in (0, 13):
        name = ("corruption", "gaussian_noise:3", 0, "rgb", HOUSE, names[0], view)
        drawn = find_corruption("gaussian_noise:3").corrupt(clean[view][None], [make_generator(*name)])
        assert np.array_equal(noisy[view], drawn[0])
    elsewhere = images("gaussian_noise:3", at=names[1]).astype(int) - images(at=names[1])
    assert not np.array_equal(noise, elsewhere)
    wider = images("camera_calibration")
    other = find_corruption("camera_calibration").change(SMALL.hfov)
    camera = Camera(width_px=64, height_px=48, hfov=other)
    features = RenderedFeatures(atlas, lambda scan: mesh, mean_colors, 3, camera)
    assert np.array_equal(wider, features.images(HOUSE, names[0]))
    with pytest.raises(InputError, match="corruption of colour images or cameras, got 'motion_drift'"):
        images("motion_drift")
