"""A run says by which view points its successes were counted."""

from dataclasses import replace

from navarena.episodes.goals import ObjectGoal, ObjectInstance, ViewPoint
from navarena.evaluation import EvaluationSettings, evaluate
from navarena.evaluation.benchmark import open_benchmark
from navarena.evaluation.records.record import read_record
from navarena.evaluation.records.view_point_hash import hash_view_points

SETTINGS = EvaluationSettings("objectnav-hm3d2022-v1", "expert", dataset="houses-v1/val/00000", episodes=2)


def test_a_run_on_objects_of_the_scene(tmp_path):
    run = evaluate(replace(SETTINGS, out=tmp_path))
    found = read_record(tmp_path).view_points
    assert found == run.record.view_points == hash_view_points(run.benchmark) and len(found or "") == 16
    other = replace(run.benchmark, setup=replace(run.benchmark.setup, protocol="objectnav-habitat2020-v1"))
    assert hash_view_points(other) not in (None, found)
    assert evaluate(replace(SETTINGS, out=tmp_path)).record.view_points == found, "finishing again"


def test_files_that_bring_their_own_and_points_have_none():
    seat = ObjectInstance("3", "chair", (0.0, 1.0, 2.0), (ViewPoint((0.0, 0.0, 1.0), 0.5),))
    benchmark = open_benchmark(SETTINGS)
    listed = [replace(one, goal=ObjectGoal("chair", (seat,))) for one in benchmark.episodes]
    assert hash_view_points(replace(benchmark, episodes=tuple(listed))) is None
    assert hash_view_points(open_benchmark(replace(SETTINGS, protocol="pointnav-v1"))) is None
