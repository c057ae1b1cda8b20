"""Results that other code wrote: computed anew, checked, and read like any run."""

import gzip
import itertools
import json
import math

import numpy as np
import pytest

from evaluation.analyses.written import make_row, write_run
from navarena.core.errors import CheckFailedError, FileError, InputError, UnknownNameError
from navarena.evaluation import compare, read_contestant, read_rows, read_summary, replay_run
from navarena.evaluation.analyses import fitting_analyses, read_labelled
from navarena.evaluation.exchange.exports import export_run
from navarena.evaluation.exchange.imports import import_results
from navarena.reports.runs import render_runs

START = (3.75, 0.9, -2.25)


@pytest.fixture
def episodes(tmp_path):
    """Two episodes of RoboTHOR's 2021 files, 2 m and 1 m long."""
    base = {
        "initial_horizon": 30,
        "initial_orientation": 90,
        "object_type": "Mug",
        "scene": "FloorPlan_Val1_1",
    }
    place = dict(zip("xyz", START, strict=True))
    records = [
        {
            **base,
            "id": f"FloorPlan_Val1_1_Mug_{k}",
            "initial_position": place,
            "shortest_path": [{"x": 3.75, "y": 0.0, "z": -2.25}, {"x": 3.75 + length, "y": 0.0, "z": -2.25}],
            "shortest_path_length": float(length),
        }
        for k, length in enumerate((2, 1))
    ]
    path = tmp_path / "FloorPlan_Val1_1.json.gz"
    path.write_bytes(gzip.compress(json.dumps(records).encode()))
    return path


def walk(xs, stop=True, success=False, start=START):
    poses = [{"x": x, "y": start[1], "z": start[2], "rotation": 90.0, "horizon": 30.0} for x in xs]
    taken = [{"action": "MoveAhead", "success": b != a} for a, b in itertools.pairwise(xs)]
    if stop:
        poses.append(poses[-1])
        taken.append({"action": "Stop", "success": True})
    return {"trajectory": poses, "actions_taken": taken, "success": success}


def write_robothor(path, first, second, **means):
    names = [f"FloorPlan_Val1_1_Mug_{k}" for k in range(2)]
    document = {"val": {"episodes": dict(zip(names, (first, second), strict=True)), **means}}
    path.write_bytes(gzip.compress(json.dumps(document).encode()))
    return path


def test_robothor_by_hand(tmp_path, episodes):
    """4 m walked for 2 m with a success; and a bump, without a Stop."""
    xs = [3.75 + x for x in (0, 1, 2, 3, 4)]
    file = write_robothor(
        tmp_path / "r.json.gz",
        walk(xs, success=True),
        walk([3.75, 4.25, 4.25], stop=False),
        ep_len=4.5,
        success=0.5,
        spl=0.25,
    )
    results = import_results("robothor2021", file, tmp_path / "run", "theirs", "val", episodes)
    assert results.notices == (
        "whether the object was visible at Stop is the file's word; it keeps no images",
    )
    rows = read_rows(tmp_path / "run")
    assert [row.metrics for row in rows] == [
        {
            "success": 1.0,
            "spl": pytest.approx(0.5),
            "path_length": pytest.approx(4.0),
            "collisions": 0.0,
            "num_actions": 5.0,
            "stopped": 1.0,
        },
        {
            "success": 0.0,
            "spl": 0.0,
            "path_length": pytest.approx(0.5),
            "collisions": 1.0,
            "num_actions": 2.0,
            "stopped": 0.0,
        },
    ]
    assert rows[0].actions == [0, 0, 0, 0, 5] and rows[0].start_distance == pytest.approx(2.0)
    summary = read_summary(tmp_path / "run")
    assert summary.identity.startswith("objectnav-robothor2021-v1+custom+imported=robothor2021@")
    assert summary.metrics["spl"].mean == pytest.approx(0.25) and summary.agent == "theirs"
    one = read_contestant("A", [tmp_path / "run"])
    assert compare([one, one]).differences[0].result.ties == 2
    with pytest.raises(InputError, match="results that were imported from .*--no-drawings"):
        replay_run(tmp_path / "run")
    with pytest.raises(InputError, match="holds a run; choose another --out"):
        import_results("robothor2021", file, tmp_path / "run", "theirs", "val", episodes)


def test_robothor_that_disagrees_with_itself(tmp_path, episodes):
    lies = write_robothor(
        tmp_path / "lies.json", walk([9.0], success=True), walk([3.75]), spl=0.9, ep_len=2.0
    )
    results = import_results("robothor2021", lies, tmp_path / "lies", "a", "val", episodes)
    assert results.notices[1:] == (
        "1 of 2 trajectories begin elsewhere than their episodes",
        "the mean spl is 0.9 in the file, 0.5 by its own episodes; ours is kept",
    )
    for broken, message in [
        (walk([3.75], stop=False, success=True), "a success to end with Stop"),
        (walk([3.75]) | {"trajectory": []}, "0 poses in episode"),
        (walk([1e9]), "poses within 1e\\+06 m"),
        (walk([3.75]) | {"actions_taken": [{"action": "Jump", "success": True}]}, "action 'Jump'"),
    ]:
        file = write_robothor(tmp_path / "broken.json", walk([3.75]), broken)
        with pytest.raises(FileError, match=message):
            import_results("robothor2021", file, tmp_path / "broken", "a", "val", episodes)


def test_robothor_without_what_it_needs(tmp_path, episodes):
    file = write_robothor(tmp_path / "r.json", walk([3.75]), walk([3.75]))
    out = tmp_path / "out"
    with pytest.raises(InputError, match="expected --episodes FILE"):
        import_results("robothor2021", file, out, "a", "val")
    with pytest.raises(InputError, match="expected results of 'test' in .* got those of val"):
        import_results("robothor2021", file, out, "a", "test", episodes)
    document = json.loads(gzip.decompress(file.read_bytes()))
    missing = document["val"]["episodes"].popitem()[1]
    file.write_text(json.dumps(document))
    with pytest.raises(CheckFailedError, match=r"1 missing \(FloorPlan_Val1_1_Mug_1\)"):
        import_results("robothor2021", file, out, "a", "val", episodes)
    document["val"]["episodes"]["Elsewhere_0"] = missing
    file.write_text(json.dumps(document))
    with pytest.raises(InputError, match="got 1 others, 'Elsewhere_0' first"):
        import_results("robothor2021", file, out, "a", "val", episodes)
    file.write_bytes(gzip.compress(b"x" * 1000)[:-9])
    with pytest.raises(FileError, match="damaged or of another kind"):
        import_results("robothor2021", file, out, "a", "val", episodes)
    with pytest.raises(UnknownNameError, match="multion"):
        import_results("multi-on", file, out, "a", "val")


def raw(ways, walked, total, **others):
    found, goals = len(walked), len(ways)
    done = ways[found - 1] if found else 0.0
    success = float(found == goals)
    record = {
        "success": success,
        "percentage_success": found / goals,
        "geodesic_distances": ways,
        "agent_path_length": total,
        "subgoals_found": found,
        "agent_distances": walked,
        "MSPL": success * done / max(done, total),
        "PSPL": found / goals * done / max(done, walked[-1]) if walked else 0.0,
        "episode_lenth": 90,
    }
    return record | others


def test_multi_on_by_hand(tmp_path):
    """Two of three goals: 10 m of way, 12 m until the second was found, 20 m in all."""
    file = tmp_path / "metrics.json"
    records = {
        "mp3d/a.b/a.glb.7": raw([4.0, 10.0, 15.0], [5.0, 12.0], 20.0),
        "mp3d/c/c.glb.7": raw([4.0, 10.0, 15.0], [4.0, 10.0, 30.0], 30.0),
        "mp3d/c/c.glb.8": raw([4.0, math.inf, math.inf], [], 3.0),
    }
    file.write_text(json.dumps(records))
    results = import_results("multion", file, tmp_path / "run", "theirs", "val")
    assert results.notices == (
        "goals found, distances and path lengths are the file's word; it keeps no trajectories",
    )
    first, second, third = read_rows(tmp_path / "run")
    assert (first.scene_id, first.episode_id, first.steps) == ("mp3d/a.b/a.glb", "7", 90)
    assert first.metrics["progress"] == pytest.approx(2 / 3)
    assert first.metrics["ppl"] == pytest.approx(2 / 3 * 10 / 20)
    assert first.metrics["ppl_code"] == pytest.approx(2 / 3 * 10 / 12)
    assert first.goals.legs == [4.0, 6.0, 5.0] and first.goals.found_after == [None, None]
    assert second.metrics["spl"] == 0.5 and third.start_distance is None and third.goals.legs[1] is None
    names = [one.name for one in fitting_analyses(read_labelled([str(tmp_path / "run")]))]
    assert names == ["distance", "lengths"]
    one = read_contestant("theirs", [tmp_path / "run"])
    assert "<h3>theirs</h3>" in render_runs(compare([one]), (None,)), "there is no seed to tell"
    with pytest.raises(InputError, match="got no distance_to_goal, distance_left in episode '7'"):
        export_run(tmp_path / "run", "multion", tmp_path / "raw.json")
    wrong = dict(records)
    wrong["mp3d/c/c.glb.7"] = raw([4.0, 10.0, 15.0], [4.0, 10.0, 30.0], 30.0, MSPL=0.7)
    file.write_text(json.dumps(wrong))
    results = import_results("multion", file, tmp_path / "wrong", "theirs", "val")
    assert results.notices[1] == "spl does not follow from lengths in 1 of 3 episodes; ours does"
    file.write_text(json.dumps({"a.0": raw([4.0, 3.0], [5.0], 6.0)}))
    with pytest.raises(FileError, match="goals and lengths fit"):
        import_results("multion", file, tmp_path / "bad", "theirs", "val")
    file.write_text(json.dumps({"a.0": raw([4.0], [5.0], 6.0), "a.1": raw([4.0, 5.0], [5.0], 6.0)}))
    with pytest.raises(FileError, match=r"one number of goals in .* got \[1, 2\]"):
        import_results("multion", file, tmp_path / "bad", "theirs", "val")
    with pytest.raises(InputError, match="expected no --episodes"):
        import_results("multion", file, tmp_path / "bad", "theirs", "val", file)


@pytest.mark.parametrize(
    ("others", "message"),
    [
        ({"subgoals_found": 1.6}, "got 1.6 found of 3 with 2 lengths after 90 steps in 'a.0'"),
        ({"episode_lenth": -3}, "after -3 steps"),
        ({"episode_lenth": 2.5}, "after 2.5 steps"),
    ],
)
def test_counts_of_multi_on_are_whole_numbers(tmp_path, others, message):
    file = tmp_path / "metrics.json"
    file.write_text(json.dumps({"a.0": raw([4.0, 10.0, 15.0], [5.0, 12.0], 20.0, **others)}))
    with pytest.raises(FileError, match=message):
        import_results("multion", file, tmp_path / "run", "theirs", "val")


def test_multi_on_without_a_path(tmp_path):
    """The reference code writes 0 times infinity by infinity, NaN, as the weighed scores."""
    file = tmp_path / "metrics.json"
    file.write_text(json.dumps({"a.0": raw([math.inf] * 3, [], 3.0, MSPL=math.nan, PSPL=math.nan)}))
    results = import_results("multion", file, tmp_path / "run", "theirs", "val")
    assert len(results.notices) == 1, "nothing disagrees"
    (row,) = read_rows(tmp_path / "run")
    assert (row.metrics["spl"], row.metrics["ppl_code"], row.start_distance) == (0.0, 0.0, None)


def test_what_is_exported_is_imported_again(tmp_path):
    rows = [
        make_row(k, 3, found, distance_to_goal=1.0, distance_left=2.0, path_length=8.0, ppl_code=0.0)
        for k, found in enumerate((3, 1, 0))
    ]
    rows[2].metrics["distance_to_goal"] = None
    names = (
        "success",
        "progress",
        "spl",
        "ppl",
        "ppl_code",
        "distance_to_goal",
        "distance_left",
        "path_length",
    )
    run = write_run(tmp_path / "run", rows, names)
    export_run(run, "multion", tmp_path / "raw.json")
    import_results("multion", tmp_path / "raw.json", tmp_path / "again", "walker", "mini")
    for before, after in zip(rows, read_rows(tmp_path / "again"), strict=True):
        assert (before.episode_id, before.scene_id, before.steps) == (
            after.episode_id,
            after.scene_id,
            after.steps,
        )
        assert np.allclose(before.goals.legs, after.goals.legs) and before.goals.walked == after.goals.walked
        for name in ("progress", "distance_to_goal", "distance_left"):
            assert before.metrics[name] == after.metrics[name]
    export_run(tmp_path / "again", "multion", tmp_path / "twice.json")
    written = [json.loads((tmp_path / name).read_text()) for name in ("raw.json", "twice.json")]
    assert [one["scene/0.e000"]["distance_to_multi_goal"] for one in written] == [2.0, 2.0]
    assert written[1]["scene/2.e002"]["distance_to_curr_subgoal"] is None, "there was no way"
