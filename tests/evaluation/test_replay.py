"""Replay gives every number again, and notices any that was changed."""

import dataclasses
import json

import pytest

from evaluation.corridor import make_benchmark, make_settings
from navarena.core.errors import CheckFailedError, FileError
from navarena.evaluation import evaluate, replay_run
from navarena.evaluation.journal import journal_path


def run(folder, agent="Walker"):
    return evaluate(make_settings(folder, agent), make_benchmark(agent))


def edit(folder, episode_id, change):
    """Apply `change` to the JSON of one episode's line."""
    path = journal_path(folder, 0)
    lines = []
    for line in path.read_text().splitlines():
        row = json.loads(line)
        if row["episode_id"] == episode_id:
            change(row)
        lines.append(json.dumps(row))
    path.write_text("\n".join(lines) + "\n")


@pytest.mark.parametrize("agent", ["Walker", "Crasher", "Lawless", "Blind"])
def test_a_run_holds(tmp_path, agent):
    run(tmp_path, agent)
    counted = []
    result = replay_run(tmp_path, make_benchmark(agent), lambda: counted.append(1))
    assert (result.differences, result.exact, result.episodes) == ((), True, 40)
    assert len(counted) == 40
    result.require_equal()


EDITS = {
    "a better score": (lambda row: row["metrics"].update(spl=1.0), "spl is 1.0 in the log"),
    "a little better": (
        lambda row: row["metrics"].update(distance_to_goal=row["metrics"]["distance_to_goal"] + 1e-9),
        "distance_to_goal is",
    ),
    "a metric left out": (lambda row: row["metrics"].pop("collisions"), "collisions is missing in the log"),
    "another action": (
        lambda row: row["actions"].__setitem__(0, 3 - row["actions"][0]),
        "path_length|spl|goal",
    ),
    "fewer actions": (lambda row: row["actions"].pop(), "status is ok in the log, not at its end"),
    "more actions": (lambda row: row["actions"].append(1), "number of actions is .* the end after"),
    "another status": (lambda row: row.update(status="crashed"), "status is crashed"),
    "another distance": (lambda row: row.update(start_distance=99.0), "start_distance is 99.0"),
    "another count": (lambda row: row.update(steps=1), "steps is 1 in the log"),
    "another scene": (lambda row: row.update(scene_id="elsewhere"), "scene is elsewhere"),
}


@pytest.mark.parametrize("name", EDITS)
def test_an_edited_journal_is_noticed(tmp_path, name):
    change, message = EDITS[name]
    run(tmp_path)
    (tmp_path / "summary.json").unlink()
    edit(tmp_path, "e004", change)
    result = replay_run(tmp_path, make_benchmark())
    assert {difference.episode_id for difference in result.differences} == {"e004"}
    with pytest.raises(CheckFailedError, match=f"episode e004: .*({message})") as caught:
        result.require_equal()
    assert caught.value.exit_code == 1


def test_an_edited_summary_is_noticed(tmp_path):
    run(tmp_path)
    path = tmp_path / "summary.json"
    path.write_text(path.read_text().replace('"infinite": 0', '"infinite": 1', 1))
    with pytest.raises(CheckFailedError, match=r"summary\.json is changed, not what the journals give"):
        replay_run(tmp_path, make_benchmark()).require_equal()


def test_an_impossible_action_is_noticed(tmp_path):
    run(tmp_path)
    edit(tmp_path, "e004", lambda row: row["actions"].__setitem__(0, 7))
    with pytest.raises(
        CheckFailedError, match="episode e004: expected logged actions to be an action from 0 to 2, got 7"
    ):
        replay_run(tmp_path, make_benchmark())


def test_another_platform_is_compared_within_a_tolerance(tmp_path):
    run(tmp_path)
    record = json.loads((tmp_path / "run.json").read_bytes())
    record["versions"]["numpy"] = "1.0"
    (tmp_path / "run.json").write_text(json.dumps(record))
    edit(
        tmp_path,
        "e004",
        lambda row: row["metrics"].update(path_length=row["metrics"]["path_length"] + 1e-9),
    )
    result = replay_run(tmp_path, make_benchmark())
    assert (result.exact, result.differences) == (False, ())
    edit(tmp_path, "e004", lambda row: row["metrics"].update(path_length=0.123))
    assert len(replay_run(tmp_path, make_benchmark()).differences) == 1


def test_what_cannot_be_replayed(tmp_path):
    with pytest.raises(FileError, match=r"run\.json does not exist"):
        replay_run(tmp_path, make_benchmark())
    run(tmp_path)
    with pytest.raises(CheckFailedError, match="the protocol or the episode file has changed"):
        replay_run(tmp_path, other_benchmark())
    path = journal_path(tmp_path, 0)
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines[:-1]))
    with pytest.raises(CheckFailedError, match="got 1 missing .*; run the same command again"):
        replay_run(tmp_path, make_benchmark())
    path.unlink()
    with pytest.raises(FileError, match="holds no journal"):
        replay_run(tmp_path, make_benchmark())


def other_benchmark():
    benchmark = make_benchmark()
    identity = dataclasses.replace(benchmark.identity, hash="fedcba9876543210")
    return dataclasses.replace(benchmark, identity=identity)
