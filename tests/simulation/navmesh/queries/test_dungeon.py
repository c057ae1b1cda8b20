"""Answers on loaded Habitat navmeshes against those of the simulator that wrote them.

The tolerances say how far the two agree; where they differ, the reason stands beside the figure.
"""

import numpy as np
import pytest

from simulation.navmesh.conftest import Dungeon

TURN = np.deg2rad(10)


def shorter_way(dungeon: Dungeon, kind: str) -> np.ndarray:
    """(200,) the shorter of the recorded lengths of both directions."""
    return np.minimum(dungeon.answers[f"{kind}_geodesic"], dungeon.answers[f"{kind}_geodesic_reverse"])


@pytest.mark.parametrize("kind", ["any", "big"])
def test_geodesic_distances(dungeon: Dungeon, kind: str) -> None:
    start, goal = dungeon.answers[f"{kind}_start"], dungeon.answers[f"{kind}_end"]
    recorded = shorter_way(dungeon, kind)
    lengths = dungeon.mesh.geodesic_distance(start, goal)
    assert np.array_equal(np.isfinite(lengths), np.isfinite(recorded))
    reachable = np.isfinite(recorded) & (recorded > 0)
    ratio = lengths[reachable] / recorded[reachable]
    assert ratio.max() < 1 + 1e-6  # never longer than the recorded upper bound (float32)
    assert abs(np.median(ratio) - 1) < 1e-6
    assert ratio.min() > 0.9  # its midpoint heuristic loses up to 9 %
    back = dungeon.mesh.geodesic_distance(goal, start)
    assert back[reachable] == pytest.approx(lengths[reachable], rel=1e-12)


def test_paths_turn_at_the_same_corners(dungeon: Dungeon) -> None:
    start, goal = dungeon.answers["big_start"], dungeon.answers["big_end"]
    offsets, points = dungeon.answers["big_path_offsets"], dungeon.answers["big_path_points"]
    same = []
    for i in range(len(start)):
        recorded = points[offsets[i] : offsets[i + 1]]
        path = dungeon.mesh.shortest_path(start[i], goal[i])
        same.append(len(path) == len(recorded) and np.abs(path - recorded).max() < 1e-4)
    assert np.mean(same) > 0.89  # the others are the shorter ways


def test_snapped_points(dungeon: Dungeon) -> None:
    points, recorded = dungeon.answers["snap_in"], dungeon.answers["snap_out"]
    snapped = dungeon.mesh.snap_point(points)
    missed = np.isnan(recorded[:, 0])
    assert np.array_equal(np.isnan(snapped[:, 0]), missed)
    apart = np.linalg.norm(snapped - recorded, axis=1)[~missed]
    assert apart.max() < 1e-5
    assert np.array_equal(dungeon.mesh.is_navigable(points), dungeon.answers["snap_in_is_navigable"])
    assert np.array_equal(dungeon.mesh.island(recorded)[~missed], dungeon.answers["snap_out_island"][~missed])


def test_areas_and_islands(dungeon: Dungeon) -> None:
    mesh, answers = dungeon.mesh, dungeon.answers
    assert mesh.navigable_area == pytest.approx(float(answers["navigable_area"]), rel=1e-6)
    assert mesh.island_count == answers["num_islands"]
    assert mesh.island_areas == pytest.approx(answers["island_area"], rel=1e-5)
    assert mesh.largest_island == answers["largest_island"]
    assert mesh.island_radii == pytest.approx(answers["island_radius"], rel=0.08)  # another centre
    points = answers["snap_out"][~np.isnan(answers["snap_out"][:, 0])][:20]
    assert np.array_equal(mesh.island_area(points), mesh.island_areas[mesh.island(points)])
    assert np.array_equal(mesh.island_radius(points), mesh.island_radii[mesh.island(points)])


def test_distance_to_obstacles(dungeon: Dungeon) -> None:
    distances = dungeon.mesh.distance_to_obstacle(dungeon.answers["obst_point"], 5.0)
    assert distances == pytest.approx(dungeon.answers["obst_dist"], abs=1e-4)


def test_steps_that_slide(dungeon: Dungeon) -> None:
    answers = dungeon.answers
    ends = dungeon.mesh.try_step(answers["step_start"], answers["step_end"], slide=True)
    assert (np.abs(ends - answers["step_slide"]).max(1) < 1e-4).mean() >= 0.995


def test_steps_that_do_not_slide(dungeon: Dungeon) -> None:
    answers = dungeon.answers
    ends = dungeon.mesh.try_step(answers["step_start"], answers["step_end"], slide=False)
    assert (np.abs(ends - answers["step_noslide"]).max(1) < 1e-4).mean() >= 0.995


def walk(dungeon: Dungeon, slide: bool) -> tuple[np.ndarray, np.ndarray]:
    """Positions (121, 10, 3) and collisions (120, 10) of the recorded action sequences."""
    answers = dungeon.answers
    kind = "slide" if slide else "noslide"
    positions = answers[f"roll_{kind}_pos"][:, 0].copy()
    yaws = np.deg2rad(answers["roll_start_yaw_deg"])
    triangles, collided, meshes = np.full(10, -1, np.int32), np.zeros(10, bool), np.zeros(10, np.int64)
    track, hits = [positions.copy()], []
    for action in answers["roll_actions"].T:
        yaws = yaws + TURN * ((action == 1) * 1.0 - (action == 2))
        ahead = 0.25 * (action == 0)
        dungeon.mesh.table.step_bodies(meshes, triangles, positions, yaws, ahead, slide, collided)
        track.append(positions.copy())
        hits.append(collided.copy())
    return np.stack(track), np.stack(hits)


def test_rollouts_that_slide(dungeon: Dungeon) -> None:
    track, hits = walk(dungeon, slide=True)
    apart = track - dungeon.answers["roll_slide_pos"].transpose(1, 0, 2)
    assert np.linalg.norm(apart, axis=2).max() < 1e-3  # 1,200 actions without any divergence
    assert (hits == dungeon.answers["roll_slide_collided"].T).mean() > 0.99


def test_rollouts_that_do_not_slide(dungeon: Dungeon) -> None:
    track, hits = walk(dungeon, slide=False)
    apart = track - dungeon.answers["roll_noslide_pos"].transpose(1, 0, 2)
    assert (np.linalg.norm(apart, axis=2).max(0) < 1e-2).sum() >= 9  # of 10 times 120 actions
    assert (hits == dungeon.answers["roll_noslide_collided"].T).mean() > 0.99


def test_steps_of_rollouts_that_do_not_slide(dungeon: Dungeon) -> None:
    """Each recorded forward move on its own, from where the recording stood, often on the very border."""
    answers, mesh = dungeon.answers, dungeon.mesh
    positions = answers["roll_noslide_pos"]
    turns = (answers["roll_actions"] == 1) * 1.0 - (answers["roll_actions"] == 2)
    yaws = np.deg2rad(answers["roll_start_yaw_deg"])[:, None] + TURN * np.cumsum(turns, 1)
    moving = answers["roll_actions"] == 0
    start, after, yaw = positions[:, :-1][moving], positions[:, 1:][moving], yaws[moving]
    end = start - 0.25 * np.stack([np.sin(yaw), np.zeros(len(yaw)), np.cos(yaw)], 1)
    ends = mesh.try_step(start, end, slide=False)
    assert (np.abs(ends - after).max(1) < 1e-4).mean() >= 0.995


def test_a_body_goes_on_from_where_a_step_without_sliding_ended(dungeon: Dungeon) -> None:
    start = dungeon.answers["step_start"]
    ends = dungeon.mesh.try_step(start, dungeon.answers["step_end"], slide=False)
    positions, triangles = start.copy(), np.full(len(start), -1, np.int32)
    away = dungeon.answers["step_end"] - start
    meshes, collided = np.zeros(len(start), np.int64), np.zeros(len(start), bool)
    length, yaws = np.hypot(away[:, 0], away[:, 2]), np.arctan2(-away[:, 0], -away[:, 2])
    dungeon.mesh.table.step_bodies(meshes, triangles, positions, yaws, length, False, collided)
    assert positions == pytest.approx(ends, abs=1e-4)
    corners = dungeon.mesh.vertices[dungeon.mesh.triangles[triangles]][:, :, [0, 2]]
    assert (positions[:, [0, 2]] >= corners.min(1) - 1e-4).all()
    assert (positions[:, [0, 2]] <= corners.max(1) + 1e-4).all()
