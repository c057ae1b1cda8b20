"""Replay gives every number again, and notices any that was changed."""

import dataclasses
import json
import os
import re
import time

import msgspec
import pytest

from evaluation.corridor import METRICS, make_benchmark, make_settings
from navarena.core.errors import CheckFailedError, FileError
from navarena.evaluation import evaluate, read_rows, replay_run
from navarena.evaluation.records.episode_table import write_table
from navarena.evaluation.records.journal import encode_rows, journal_path, read_journal
from navarena.evaluation.records.record import hash_run


def run(folder, agent="Walker"):
    return evaluate(make_settings(folder, agent), make_benchmark(agent))


def edit(folder, episode_id, change):
    """Apply `change` to the JSON of one episode's line; its hash and the other lines stay."""
    path = journal_path(folder, 0)
    lines = []
    for line in path.read_text().splitlines():
        row = json.loads(line)
        if row.get("episode_id") == episode_id:
            change(row)
            line = json.dumps(row, separators=(",", ":"))
        lines.append(line)
    path.write_text("\n".join(lines) + "\n")


def forge(folder):
    """Compute the hashes of the first journal anew."""
    path = journal_path(folder, 0)
    path.write_bytes(encode_rows(read_journal(path).rows, hash_run(folder)))


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
    for derived in ("summary.json", "episodes.parquet"):
        (tmp_path / derived).unlink()
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
    with pytest.raises(CheckFailedError, match=r"summary\.json metrics success infinite is 1, not 0"):
        replay_run(tmp_path, make_benchmark()).require_equal()


def test_an_edited_summary_is_made_anew(tmp_path):
    """Also when it is the newest file of the run."""
    run(tmp_path)
    path = tmp_path / "summary.json"
    good = path.read_bytes()
    path.write_bytes(good.replace(b'"mean": ', b'"mean": 1', 1))
    os.utime(path, (time.time() + 100,) * 2)
    run(tmp_path)
    assert path.read_bytes() == good


def test_an_edited_table_is_noticed(tmp_path):
    run(tmp_path)
    path = tmp_path / "episodes.parquet"
    rows = list(read_rows(tmp_path))
    better = rows[3].metrics | {"spl": 0.999}
    write_table(path, [*rows[:3], msgspec.structs.replace(rows[3], metrics=better), *rows[4:]], METRICS)
    (difference,) = replay_run(tmp_path, make_benchmark()).differences
    assert str(difference) == (
        "episodes.parquet, column spl is changed (1 rows, the first 3), not what the journals give"
    )
    write_table(path, rows, METRICS[:-1])
    (difference,) = replay_run(tmp_path, make_benchmark()).differences
    assert str(difference) == "episodes.parquet, column num_actions is missing, not there"


CLAIMS = {
    "seeds": {"agent": 8},
    "versions": {"navarena": "9", "numpy": "9", "numba": "9", "python": "9"},
    "privileged": True,
    "trained_with": ["speckle_noise"],
    "resizes": ["depth=64x64"],
    "model_sha256": "0" * 64,
    "command": ["navarena", "evaluate"],
    "started": "2020-01-01T00:00:00+00:00",
    "episodes": 41,
    "view_points": "0" * 16,
}


@pytest.mark.parametrize("name", CLAIMS)
def test_an_edited_record_is_noticed(tmp_path, name):
    run(tmp_path)
    path = tmp_path / "run.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {name: CLAIMS[name]}))
    found = [str(difference) for difference in replay_run(tmp_path, make_benchmark()).differences]
    assert any("run.json" in text for text in found), found


def test_an_edited_record_is_not_resumed(tmp_path):
    run(tmp_path)
    path = tmp_path / "run.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"privileged": True}))
    with pytest.raises(FileError, match=r"expected .*journal-0\.jsonl to belong to the run\.json beside it"):
        run(tmp_path)


def test_what_was_noticed_of_an_agent_is_bound_to_its_rows(tmp_path):
    """Every line of run.json that speaks of privileged inputs; added, taken out or contradicted."""
    good = run(tmp_path, "Peeker").record
    assert good.noticed_inputs == good.privileged_inputs == ("state of the simulator (not declared)",)
    path = tmp_path / "run.json"
    text = path.read_bytes()
    for change in (
        {"noticed_inputs": []},
        {"noticed_inputs": [], "privileged_inputs": []},
        {"noticed_inputs": [], "privileged_inputs": [], "privileged": False},
        {"privileged": False},
        {"privileged_inputs": []},
        {"noticed_inputs": ["the moon"], "privileged_inputs": ["the moon"]},
        {name: [*good.noticed_inputs, "more"] for name in ("noticed_inputs", "privileged_inputs")},
    ):
        path.write_text(json.dumps(json.loads(text) | change))
        found = [str(difference) for difference in replay_run(tmp_path, make_benchmark()).differences]
        assert any("run.json" in one for one in found), change
    path.write_bytes(text)
    assert replay_run(tmp_path, make_benchmark()).differences == ()


def test_what_was_noticed_outlasts_a_stop(tmp_path):
    """run.json was written before the rows say it, or not written at all any more."""
    run(tmp_path, "Peeker")
    path = tmp_path / "run.json"
    good = path.read_bytes()
    for others in ({}, {"privileged": False, "privileged_inputs": [], "noticed_inputs": []}):
        path.write_text(json.dumps(json.loads(good) | {"view_points": None} | others))
        (tmp_path / "summary.json").unlink()
        run(tmp_path, "Peeker")
        assert path.read_bytes() == good


TAMPERED = {
    "a status": ("Crasher", lambda row: row.update(status="timed_out")),
    "a traceback": ("Crasher", lambda row: row.update(traceback="it was the network")),
}


@pytest.mark.parametrize("name", TAMPERED)
def test_edits_that_execution_cannot_see(tmp_path, name):
    agent, change = TAMPERED[name]
    run(tmp_path, agent)
    for derived in ("summary.json", "episodes.parquet"):
        (tmp_path / derived).unlink()
    edit(tmp_path, "e003", change)
    (difference,) = replay_run(tmp_path, make_benchmark(agent)).differences
    assert (difference.episode_id, difference.name) == ("e003", "hash in journal-0.jsonl")


@pytest.mark.parametrize("what", ["moved", "taken out and in"])
def test_lines_out_of_their_place(tmp_path, what):
    run(tmp_path)
    path = journal_path(tmp_path, 0)
    lines = path.read_bytes().splitlines(keepends=True)
    order = (
        [*lines[:5], lines[6], lines[5], *lines[7:]]
        if what == "moved"
        else [*lines[:5], *lines[6:], lines[5]]
    )
    path.write_bytes(b"".join(order))
    found = replay_run(tmp_path, make_benchmark()).differences
    assert found and {difference.name for difference in found} == {"hash in journal-0.jsonl"}


def test_chains_go_on_after_a_stop(tmp_path):
    """A torn line is dropped, and the next row follows the last whole one."""
    run(tmp_path)
    path = journal_path(tmp_path, 0)
    whole = path.read_bytes()
    path.write_bytes(whole[: whole.rindex(b'{"chain"') + 70])
    run(tmp_path)
    assert replay_run(tmp_path, make_benchmark()).differences == ()
    assert path.read_bytes() == whole


def test_a_forged_chain_is_not_noticed(tmp_path):
    """What the documentation says: hashes tell of accidents and careless edits, not of forgers."""
    run(tmp_path, "Crasher")
    edit(tmp_path, "e003", lambda row: row.update(traceback="it was the network"))
    forge(tmp_path)
    run(tmp_path, "Crasher")
    assert replay_run(tmp_path, make_benchmark("Crasher")).differences == ()


@pytest.mark.parametrize("action", [7, -1, 10**60, [0.5]])
def test_an_impossible_action_is_noticed(tmp_path, action):
    run(tmp_path)
    edit(tmp_path, "e004", lambda row: row["actions"].__setitem__(0, action))
    expected = f"episode e004: expected logged actions to be an action from 0 to 2, got {action}"
    with pytest.raises(CheckFailedError, match=re.escape(expected)):
        replay_run(tmp_path, make_benchmark())


def test_another_platform_is_compared_within_a_tolerance(tmp_path):
    run(tmp_path)
    record = json.loads((tmp_path / "run.json").read_bytes())
    record["versions"]["numpy"] = "1.0"
    (tmp_path / "run.json").write_text(json.dumps(record))
    (tmp_path / "episodes.parquet").unlink()
    edit(
        tmp_path,
        "e004",
        lambda row: row["metrics"].update(path_length=row["metrics"]["path_length"] + 1e-9),
    )
    forge(tmp_path)
    result = replay_run(tmp_path, make_benchmark())
    assert (result.exact, result.differences) == (False, ())
    edit(tmp_path, "e004", lambda row: row["metrics"].update(path_length=0.123))
    forge(tmp_path)
    (tmp_path / "summary.json").unlink()
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
