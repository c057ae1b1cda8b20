"""Same numbers for any batch size and any number of workers; resume; bad agents; bad folders."""

import json
import os

import pytest

from evaluation.corridor import make_benchmark, make_settings
from navarena.core.errors import CheckFailedError, FileError, InputError, StorageError
from navarena.evaluation import Identity, evaluate, open_run, read_table
from navarena.evaluation.records.journal import journal_path, journal_paths, read_rows

DERIVED = ("summary.json", "episodes.parquet")


def run(folder, agent="Walker", count=40, **settings):
    return evaluate(make_settings(folder, agent, **settings), make_benchmark(agent, count))


def derived(folder):
    return [(folder / name).read_bytes() for name in DERIVED]


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    folder = tmp_path_factory.mktemp("undisturbed")
    return run(folder, batch_size=4)


def test_every_episode_once(undisturbed):
    assert [row.episode_id for row in undisturbed.rows] == [f"e{k:03}" for k in range(40)]
    summary = undisturbed.summary
    assert (summary.episodes, summary.scenes, summary.statuses) == (40, 10, {"ok": 40})
    success = summary.metrics["success"]
    assert success.method == "Wilson"
    assert success.low < success.mean < success.high
    spl = summary.metrics["spl"]
    assert (spl.method, spl.n, spl.infinite) == ("t over scenes", 40, 0)
    assert spl.mean == pytest.approx(sum(row.metrics["spl"] for row in undisturbed.rows) / 40)


@pytest.mark.parametrize(
    "settings", [{"batch_size": 1}, {"batch_size": 100}, {"workers": 2, "batch_size": 3}]
)
def test_numbers_do_not_depend_on_batch_or_workers(tmp_path, undisturbed, settings):
    evaluation = run(tmp_path, **settings)
    assert evaluation.rows == undisturbed.rows
    assert derived(tmp_path) == derived(undisturbed.folder)
    assert len(journal_paths(tmp_path)) == settings.get("workers", 1)


def test_the_table_holds_every_row(undisturbed):
    table = read_table(undisturbed.folder / "episodes.parquet")
    assert [row["episode_id"] for row in table] == [row.episode_id for row in undisturbed.rows]
    assert table[0]["actions"] == undisturbed.rows[0].actions
    assert table[0]["spl"] == undisturbed.rows[0].metrics["spl"]
    assert list(table[0])[:6] == [
        "episode_id",
        "scene_id",
        "identity",
        "status",
        "steps",
        "start_distance",
    ]
    with pytest.raises(FileError, match="missing or damaged"):
        read_table(undisturbed.folder / "nothing.parquet")


def test_a_finished_run_is_not_run_again(tmp_path):
    first = run(tmp_path)
    before = derived(tmp_path)
    again = run(tmp_path, workers=2)
    assert (first.resumed, again.resumed) == (0, 40)
    assert derived(tmp_path) == before


def test_resume_after_torn_line_and_lost_rows(tmp_path, undisturbed):
    run(tmp_path)
    path = journal_path(tmp_path, 0)
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines[:26]) + lines[26][:40])  # the header comes first
    again = run(tmp_path, workers=2)
    assert again.resumed == 25
    assert any("dropped an incomplete last line (40 bytes)" in notice for notice in again.notices)
    assert derived(tmp_path) == derived(undisturbed.folder)


def test_fresh_throws_the_old_run_away(tmp_path):
    run(tmp_path, workers=2)
    (tmp_path / "notes.txt").write_text("mine")
    again = run(tmp_path, fresh=True)
    assert again.resumed == 0
    assert len(journal_paths(tmp_path)) == 1
    assert (tmp_path / "notes.txt").read_text() == "mine"


def test_run_json_says_what_was_run(undisturbed):
    record = json.loads((undisturbed.folder / "run.json").read_bytes())
    assert set(record) == {
        "format",
        "identity",
        "settings",
        "privileged",
        "privileged_inputs",
        "trained_with",
        "episodes",
        "actions",
        "metrics",
        "seeds",
        "versions",
        "hardware",
        "execution",
        "command",
        "started",
        "view_points",
        "noticed_inputs",
        "resizes",
        "model_sha256",
    }
    assert record["identity"] == "corridor-v1@corridors/mini#0123456789abcdef"
    assert record["seeds"] == {"agent": 0}
    assert set(record["versions"]) == {"navarena", "numpy", "numba", "python"}


def test_another_run_in_the_folder(tmp_path):
    run(tmp_path)
    with pytest.raises(InputError, match=r"another run: seed is 0, not 1\. Choose another --out.*--fresh"):
        run(tmp_path, seed=1)
    with pytest.raises(InputError, match="agent is 'Walker', not 'Blind'"):
        run(tmp_path, agent="Blind")


def test_another_version_in_the_folder(tmp_path):
    run(tmp_path)
    path = tmp_path / "run.json"
    record = json.loads(path.read_bytes())
    record["versions"]["navarena"] = "0.0.1"
    path.write_text(json.dumps(record))
    with pytest.raises(InputError, match=r"version of navarena is '0\.0\.1'"):
        run(tmp_path)
    path.write_text("{")
    with pytest.raises(FileError, match="run record .* is damaged"):
        run(tmp_path)
    path.write_text("")
    with pytest.raises(FileError, match="run record .* is empty .* start over with --fresh"):
        run(tmp_path)
    path.unlink()
    with pytest.raises(InputError, match="holds journals without a run.json"):
        run(tmp_path)


def test_a_folder_is_used_by_one_run_at_a_time(tmp_path):
    used = pytest.raises(InputError, match="another process is writing to")
    with open_run(make_settings(tmp_path), make_benchmark()), used:
        run(tmp_path)
    run(tmp_path)


def test_a_folder_that_cannot_be_made(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(StorageError, match="cannot write"):
        run(tmp_path / "file" / "run")


@pytest.mark.parametrize("settings", [{"batch_size": 1}, {"batch_size": 16}, {"workers": 2, "batch_size": 5}])
@pytest.mark.parametrize(
    ("agent", "status", "expected"),
    [
        ("Crasher", "crashed", {"e000", "e003", "e007", "e014", "e021", "e028", "e035"}),
        ("Lawless", "illegal_action", None),
    ],
)
def test_broken_episodes_are_rows_and_failures(tmp_path_factory, tmp_path, agent, status, expected, settings):
    evaluation = run(tmp_path, agent, **settings)
    failed = [row for row in evaluation.rows if row.failed]
    assert {row.status for row in failed} == {status}
    if expected is not None:
        assert {row.episode_id for row in failed} <= expected
        assert "e003" in {row.episode_id for row in failed}
    assert len(evaluation.rows) == 40
    for row in failed:
        assert row.metrics["success"] == row.metrics["spl"] == row.metrics["soft_spl"] == 0.0
        assert row.traceback
    assert evaluation.summary.statuses[status] == len(failed) > 3
    if settings == {"batch_size": 16}:
        alone = run(tmp_path_factory.mktemp("alone"), agent, batch_size=1)
        assert alone.rows == evaluation.rows


def test_tracebacks_name_the_agent_and_not_the_runner(tmp_path):
    evaluation = run(tmp_path, "Crasher")
    stumbled = next(row for row in evaluation.rows if row.episode_id == "e007")
    assert "ZeroDivisionError: the walker stumbled" in stumbled.traceback
    assert "corridor.py" in stumbled.traceback
    assert "episode_loop" not in stumbled.traceback
    table = {row["episode_id"]: row for row in read_table(tmp_path / "episodes.parquet")}
    assert table["e007"]["error"] == "ZeroDivisionError: the walker stumbled"
    assert table["e001"]["error"] is None


def test_errors_of_workers_reach_the_caller(tmp_path):
    with pytest.raises(InputError, match="cannot be attached; it raised ValueError: no corridors"):
        run(tmp_path / "run", "Unattached", workers=2)
    assert not list(tmp_path.iterdir())


def test_an_error_keeps_what_else_is_there(tmp_path, monkeypatch):
    monkeypatch.setenv("WITHOUT_SCENE", "corridor/00")
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(FileError, match="fetch it"):
        run(tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == [".lock", "notes.txt"]


def test_an_agent_without_sensors_sees_nothing(tmp_path):
    assert run(tmp_path, "Blind").summary.episodes == 40


def test_doubled_and_foreign_rows_are_refused(tmp_path):
    run(tmp_path)
    path = journal_path(tmp_path, 0)
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines) + lines[1])
    with pytest.raises(CheckFailedError, match=r"got 1 doubled \(e0..\); the journals were edited or mixed"):
        run(tmp_path)
    other = lines[1].replace(b"corridor-v1@", b"corridor-v2@")
    path.write_bytes(b"".join([lines[0], other, *lines[2:]]))
    with pytest.raises(CheckFailedError, match="rows of corridor-v2@corridors"):
        run(tmp_path)


def test_a_disk_that_fills_up_keeps_what_is_finished(tmp_path, monkeypatch):

    real, calls = os.fsync, []

    def fill(descriptor):
        calls.append(descriptor)
        if len(calls) > 20:
            raise OSError(28, "No space left on device")
        real(descriptor)

    monkeypatch.setattr(os, "fsync", fill)
    with pytest.raises(StorageError, match="No space left"):
        run(tmp_path, batch_size=1)
    monkeypatch.undo()
    finished = len(read_rows(tmp_path))
    assert 10 < finished < 20
    assert not (tmp_path / "summary.json").exists()
    again = run(tmp_path)
    assert (again.resumed, len(again.rows)) == (finished, 40)


def test_a_full_disk_loses_no_result(tmp_path, monkeypatch):
    run(tmp_path)
    before = derived(tmp_path)

    def refuse(*arguments, **options):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("pyarrow.parquet.write_table", refuse)
    with pytest.raises(StorageError, match=r"cannot write .*episodes\.parquet: No space left"):
        run(tmp_path)
    assert derived(tmp_path) == before
    assert {path.name for path in tmp_path.iterdir()} == {
        ".lock",
        "run.json",
        "journal-0.jsonl",
        "times-0.jsonl",
        "times.parquet",
        *DERIVED,
    }


def test_nothing_starts_when_run_json_cannot_be_written(tmp_path, monkeypatch):
    def refuse(*arguments):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("pathlib.Path.write_bytes", refuse)
    with pytest.raises(StorageError, match=r"run\.json: No space left"):
        run(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == [".lock"]


def test_every_episode_is_a_fresh_start(tmp_path):
    """Boundary.SCENE ends all memory, so that no outcome depends on the order of episodes."""
    from evaluation.corridor import AGENTS, Walker
    from navarena.agents import Boundary

    seen = []

    class Witness(Walker):
        def reset(self, starts):
            seen.extend(starts)
            super().reset(starts)

    AGENTS["Witness"] = Witness
    run(tmp_path, "Witness", seed=5)
    assert {start.boundary for start in seen} == {Boundary.SCENE}
    assert {start.seed for start in seen} == {5}
    assert sorted(start.episode_id for start in seen) == [f"e{k:03}" for k in range(40)]


def test_settings_are_checked():
    for wrong in [{"workers": 0}, {"batch_size": 0}, {"episodes": 0}, {"seed": -1}]:
        with pytest.raises(InputError, match="expected .* of at least"):
            make_settings(None, **wrong)


def test_the_default_folder_is_found_again_and_named_after_what_decides():
    identity = make_benchmark().identity
    settings = make_settings(None, agent="my_agents:Clever")
    name = settings.folder(identity).name
    assert name.startswith("corridor-v1-my_agents.Clever-mini-")
    assert make_settings(None, agent="my_agents:Clever", workers=4).folder(identity).name == name
    assert make_settings(None, agent="my_agents:Clever", seed=1).folder(identity).name != name
    assert make_settings(None, agent="my_agents:Clever").folder(identity.first(3)).name != name
    assert identity.first(3).is_custom
    assert str(identity.first(3)).startswith("corridor-v1@corridors/custom-mini-first-3#")


@pytest.mark.parametrize("text", ["p-v1@some/set/val#0a", "p-v1+corrupt=rain:5@d/custom-val-first-6#ff"])
def test_an_identity_is_read_as_it_is_written(text):
    assert str(Identity.of(text)) == text
    assert Identity.of(text).is_custom == ("custom" in text)


@pytest.mark.parametrize("damage", ["older than the rows", "cut off"])
def test_a_finished_run_keeps_its_summary_unless_it_must_be_made_anew(tmp_path, damage):
    whole = evaluate(make_settings(tmp_path), make_benchmark())
    path = tmp_path / "summary.json"
    before, written = path.read_bytes(), path.stat().st_mtime_ns
    again = evaluate(make_settings(tmp_path), make_benchmark())
    assert again.summary == whole.summary and path.read_bytes() == before
    path.write_bytes(before.replace(b"40", b"41") if "old" in damage else before[:99])
    assert path.read_bytes() != before
    if "old" in damage:
        os.utime(path, ns=(0, written - 3600 * 10**9))
    assert evaluate(make_settings(tmp_path), make_benchmark()).summary == whole.summary
    assert path.read_bytes() == before
