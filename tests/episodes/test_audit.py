"""The audit finds every fault that is put into good episodes, and no other."""

import re
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from navarena.episodes.audit import (
    CHECKS,
    Tolerance,
    audit_episodes,
    find_unknown_objects,
    measure_distances,
)
from navarena.episodes.goals import (
    GoalImage,
    ImageGoal,
    InstructionGoal,
    MultiGoal,
    ObjectGoal,
    ObjectInstance,
    ViewPoint,
)
from navarena.episodes.view_points import ViewPointSettings, box_distance
from navarena.evaluation.running.expert_audit import find_expert_failures
from navarena.scenes.scene import SceneObject
from navarena.simulation.body_catalog import LOCOBOT
from navarena.simulation.world import World
from tasks.small import AHEAD, CUT_OFF, EPISODES, SmallPointNav, make_cache, make_episode
from worlds import HALL, draw_navmesh, draw_scene

WALL = ObjectInstance("2", "wall", (5.0, 1.0, 5.0), (ViewPoint((5.0, 0.0, 4.0), 0.0),))


def true_distances(episodes):
    cache = make_cache()
    return [
        replace(one, geodesic_distance=float(measure_distances([one], cache.get(one.scene_id))[0]))
        for one in episodes
    ]


GOOD = true_distances(EPISODES)


def audit(episodes, **more):
    return audit_episodes(episodes, make_cache().get, **more)


def checks_of(report):
    return [(one.episode_id, one.check) for one in report.findings]


def test_good_episodes_pass():
    seen = []
    report = audit(GOOD, progress=seen.append)
    assert not report.findings and (report.scenes, report.episodes) == (2, len(GOOD))
    assert sum(seen) == len(GOOD) and report.counts == dict.fromkeys(CHECKS, 0)


@pytest.mark.parametrize(
    ("changes", "found"),
    [
        ({"start_position": (50.0, 0.0, 5.0)}, {"start", "reachable"}),
        ({"start_position": (5.0, 3.0, 5.0)}, {"start", "distance"}),
        ({"geodesic_distance": 1.2}, {"distance"}),
        ({"geodesic_distance": 1.04}, set()),
        ({"geodesic_distance": np.inf}, {"spl"}),
        ({"geodesic_distance": 0.0}, {"distance", "spl"}),
        ({"geodesic_distance": -1.0}, {"distance", "spl"}),
        ({"geodesic_distance": None}, set()),
    ],
)
def test_a_fault_is_found_and_named(changes, found):
    bad = replace(AHEAD, episode_id="bad", **changes)
    if "start_position" not in changes:
        bad = replace(bad, start_yaw=0.5)
    report = audit([*GOOD, bad])
    assert {one.check for one in report.findings} == found
    assert set(report.bad_episodes) == ({"bad"} if found else set())


def test_goals_off_the_floor_and_cut_off_ones():
    outside = make_episode("outside", (5.0, 0.0, 5.0), (5.0, 0.0, 40.0))
    assert {"goal"} <= {one.check for one in audit([outside]).findings}
    assert checks_of(audit([CUT_OFF])) == [("cut-off", "reachable")]


def test_duplicates_by_id_and_by_content():
    report = audit([*GOOD, replace(GOOD[0], episode_id="again"), replace(GOOD[1], start_yaw=1.0)])
    assert sorted(checks_of(report)) == [("again", "duplicate"), (GOOD[1].episode_id, "duplicate")]
    assert repr(GOOD[0].episode_id) in report.findings[1].message


def test_instructions_of_one_path_are_no_duplicates():
    told = [
        replace(GOOD[0], episode_id=str(k), goal=InstructionGoal(words, (GOOD[0].goal.position,)))
        for k, words in enumerate(("Go on.", "Walk on.", "Go on."))
    ]
    assert [name for name, check in checks_of(audit(told)) if check == "duplicate"] == ["2"]


def test_objects_are_measured_to_the_nearest_view_point():
    far = replace(WALL, object_id="9", view_points=(ViewPoint((5.0, 0.0, 9.0), 0.0),))
    good = replace(AHEAD, goal=ObjectGoal("wall", (WALL, far)))
    cache = make_cache()
    assert measure_distances([good], cache.get("hall"))[0] == pytest.approx(1.0)
    image = GoalImage((0.0, 1.0, 0.0), (0.0, 0.0, 0.0, 1.0), 1.5, 32, 32)
    several = replace(AHEAD, goal=MultiGoal((WALL, replace(far, position=(5.0, 0.0, 9.0)))))
    kinds = [
        good,
        replace(AHEAD, goal=ImageGoal(far, image)),
        several,
        replace(AHEAD, goal=ObjectGoal("x")),
    ]
    assert measure_distances(kinds, cache.get("hall")).tolist() == pytest.approx([1.0, 4.0, 6.0, np.inf])
    assert not audit([replace(AHEAD, goal=ObjectGoal("x"), geodesic_distance=None)]).findings


def test_distances_are_the_same_alone_and_together():
    cache = make_cache()
    for scene in ("hall", "rooms"):
        members = [one for one in EPISODES if one.scene_id == scene]
        together = measure_distances(members, cache.get(scene))
        assert together.tolist() == [measure_distances([one], cache.get(scene))[0] for one in members]


def box_world(*objects):
    scene = replace(draw_scene(HALL, scene_id="hall"), objects=objects)
    return World.of(scene, draw_navmesh(HALL))


BOX = SceneObject(3, "bed", (5.0, 0.25, 5.0), (0.5, 0.25, 0.5))
BED = ObjectInstance("3", "bed", (5.0, 0.25, 5.0), (ViewPoint((5.0, 0.0, 4.0), 0.0),))


@pytest.mark.parametrize(
    ("objects", "instances", "message"),
    [
        ((BOX,), (BED,), None),
        ((), (BED,), None),  # a scene without objects cannot tell
        ((replace(BOX, category="sofa"),), (BED,), "none of the scene's 0"),
        (
            (BOX,),
            (BED, replace(BED, object_id="4", position=(8.0, 0.2, 8.0))),
            "bed 4 .* none of the scene's 1",
        ),
        (
            (BOX, replace(BOX, object_id=4, center=(2.0, 0.25, 2.0))),
            (BED,),
            "bed 4 of the scene .* not listed",
        ),
        ((BOX, replace(BOX, object_id=4, center=(2.0, 9.0, 99.0))), (BED,), None),  # no floor is near it
        ((BOX,), (replace(BED, view_points=(ViewPoint((50.0, 0.0, 4.0), 0.0),)),), "none of its view points"),
    ],
)
def test_lists_of_objects_are_compared_with_the_scene(objects, instances, message):
    world = box_world(*objects)
    episode = replace(AHEAD, goal=ObjectGoal("bed", instances), geodesic_distance=None)
    found = [one for one in audit_episodes([episode], lambda _: world).findings if one.check == "instances"]
    assert [bool(re.search(message, one.message)) for one in found] == [True] if message else not found


@pytest.mark.parametrize(("object_id", "is_known"), [("bed_16", True), ("3", True), ("bed_17", False)])
def test_goals_are_known_by_number_or_by_the_name_of_the_annotation(object_id, is_known):
    world = box_world(replace(BOX, attributes={"name": "bed_16"}))
    found = list(find_unknown_objects(world, [replace(BED, object_id=object_id, view_points=())]))
    expected = [f"bed {object_id} is none of the scene's objects; leave its episodes out"]
    assert found == ([] if is_known else expected)


def test_objects_that_are_seen_from_nowhere_need_not_be_listed(monkeypatch):
    """By the rule of a list: near the floor, but without a view point."""
    world = box_world(BOX, replace(BOX, object_id=4, center=(2.0, 0.25, 2.0)))
    episode = replace(AHEAD, goal=ObjectGoal("bed", (BED,)), geodesic_distance=None)
    rule = ViewPointSettings(("bed",), LOCOBOT)
    for seen, count in (([3], 0), ([3, 4], 1)):
        views = SimpleNamespace(objects=np.array(seen))
        monkeypatch.setattr("navarena.episodes.audit.find_view_points", lambda *_, views=views: views)
        report = audit_episodes([episode], lambda _: world, view_points=rule)
        assert sum(one.check == "instances" for one in report.findings) == count


def test_distance_to_a_turned_box():
    turned = SceneObject(1, "bed", (1.0, 0.0, 1.0), (2.0, 1.0, 0.5), yaw=np.pi / 2)
    points = np.array([[1.0, 0.0, 2.9], [2.0, 0.0, 1.0], [1.0, 3.0, 1.0]])
    assert box_distance(turned, points) == pytest.approx([0.0, 0.5, 2.0])


def test_tolerance_is_absolute_or_relative():
    rule = Tolerance(0.05, 0.01)
    assert rule.allows(1.04, 1.0) and not rule.allows(1.06, 1.0)
    assert rule.allows(20.19, 20.0) and not rule.allows(20.3, 20.0)


def test_the_expert_runs_on_every_episode(monkeypatch):
    from navarena.evaluation.running import expert_audit

    monkeypatch.setattr(expert_audit, "SLOTS", 3)
    task, seen = SmallPointNav(), []
    assert not list(find_expert_failures(task, GOOD, make_cache(), seen.append)) and sum(seen) == len(GOOD)
    (found,) = find_expert_failures(task, [*GOOD, CUT_OFF], make_cache())
    assert (found.episode_id, found.check) == ("cut-off", "expert")
