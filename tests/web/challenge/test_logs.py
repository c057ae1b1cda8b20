"""Logs: what is taken, what is refused and by which code, and mutants that never break the server."""

import errno
import gzip
import json
import threading
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("sqlalchemy")
pytest.importorskip("fastapi")

from fastapi.testclient import TestClient
from sqlalchemy import event, func, select

from fuzzing import BOMB, mutate_bytes, mutate_json
from navarena.core.seeding import make_generator
from navarena.evaluation import read_summary
from navarena.web.challenge.app import make_app
from navarena.web.challenge.log_format import LIMITS, LogLimits, unpack_lines
from navarena.web.challenge.refusals import Refusal
from navarena.web.challenge.service import Service
from navarena.web.challenge.storage.models import Job, PhaseRow, ScoreRow, Submission, UploadChunk
from navarena.web.challenge.submissions import DAY_MS
from navarena.web.challenge.worker import Worker

from .log_files import Log, pack
from .servers import MINIVAL, add_account, make_run, open_test_service

pytestmark = pytest.mark.server

PATH = "/api/v1/phases/minival/submissions"


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Finished runs of two agents."""
    folder = tmp_path_factory.mktemp("runs")
    return {
        "expert": make_run(folder / "expert"),
        "random": make_run(folder / "random", "random"),
        "val": make_run(folder / "val", "stop", split="val"),
        "other": make_run(folder / "other", "stop", protocol="pointnav-robothor-v1", split="mini"),
    }


class Team:
    """A team that submits to a server of its own, or to one that others use, too."""

    def __init__(self, service: Service, name: str = "ann") -> None:
        self.service = service
        self.token, self.user_id, self.team_id = add_account(service.storage, name)
        self.client = TestClient(
            make_app(service),
            headers={"Authorization": f"Bearer {self.token}"},
            raise_server_exceptions=False,
        )

    def send(self, packed: bytes) -> tuple[int, Any]:
        """(status, JSON) of a submission."""
        response = self.client.post(PATH, content=packed)
        return response.status_code, response.json()

    def show(self, public_id: str) -> Any:
        return self.client.get(f"/api/v1/submissions/{public_id}").json()


@pytest.fixture
def team(tmp_path: Path) -> Team:
    return Team(open_test_service(tmp_path))


def count(service: Service, table: Any) -> int:
    with service.storage.read() as session:
        return session.scalar(select(func.count()).select_from(table)) or 0


@pytest.mark.parametrize("agent", ["expert", "random"])
def test_the_server_finds_the_numbers_of_the_run_to_the_last_digit(
    team: Team, runs: dict[str, Path], agent: str
) -> None:
    status, sent = team.send(pack(runs[agent], method="ours", link="https://example.org/a?b"))
    assert status == 201 and sent["is_new"]
    waiting = team.show(sent["id"])
    assert (waiting["state"], waiting["finished_episodes"], waiting["summary"]) == ("queued", 0, None)
    assert Worker(team.service).run_one()
    found = team.show(sent["id"])
    assert (found["state"], found["finished_episodes"], found["episodes"]) == ("verified", 6, 6)
    assert found["checked"] == "actions verified, inputs declared"
    local = read_summary(runs[agent])
    (part,) = found["summary"]["parts"]
    assert {name: one["mean"] for name, one in part["metrics"].items()} == {
        name: one.mean for name, one in local.metrics.items()
    }
    assert found["rank_mean"] == local.metrics["spl"].mean
    assert found["privileged"] == (agent == "expert")


def test_a_log_that_is_sent_again_counts_once(team: Team, runs: dict[str, Path]) -> None:
    first, again = team.send(pack(runs["random"])), team.send(pack(runs["random"], method="renamed"))
    assert (first[0], again[0]) == (201, 200)
    assert first[1]["id"] == again[1]["id"] and not again[1]["is_new"]
    assert count(team.service, Submission) == count(team.service, Job) == 1


def test_a_log_that_failed_by_the_servers_fault_is_executed_when_sent_again(
    team: Team, runs: dict[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as broken:
        broken.setattr("navarena.web.challenge.verification.open_parts", lambda phase: 1 / 0)
        _, sent = team.send(pack(runs["random"]))
        assert Worker(team.service).run_one()
    assert team.show(sent["id"])["state"] == "failed"
    assert team.send(pack(runs["random"])) == (200, {"id": sent["id"], "is_new": False})
    assert Worker(team.service).run_one()
    assert team.show(sent["id"])["state"] == "verified"


def test_the_log_of_another_team_is_refused(team: Team, runs: dict[str, Path]) -> None:
    other = Team(team.service, "bob")
    assert team.send(pack(runs["random"]))[0] == 201
    shuffled = Log.of(pack(runs["random"])).edited(lambda log: log.rows.reverse())
    status, said = other.send(shuffled)
    assert (status, said["error"]["code"]) == (409, "copied_log")


def edit_number(log: Log) -> None:
    log.rows[2]["metrics"]["spl"] += 1e-12


def edit_tour(log: Log) -> None:
    start = [0.0, 0.0, 0.0, 0.0]
    log.rows[0]["tour"] = {
        "tour_id": "t", "position": 3, "start": start, "length": 1.0, "reference_length": 1.0,
        "reference_points": 2, "dtw": 0.0, "dtw_code": 0.0,
    }  # fmt: skip


EDITS: dict[str, tuple[Callable[[Log], object], str]] = {
    "no rows": (lambda log: log.rows.clear(), "empty_log"),
    "an episode less": (lambda log: log.rows.pop(), "incomplete_run"),
    "an episode twice": (lambda log: log.rows.append(log.rows[0]), "doubled_episode"),
    "an episode of nobody": (lambda log: log.rows[0].update(episode_id="x"), "incomplete_run"),
    "another version": (lambda log: log.record["versions"].update(navarena="0.0.1"), "other_version"),
    "another format": (lambda log: log.record.update(format="navarena-run-v1"), "other_format"),
    "another protocol": (lambda log: log.record.update(identity="x@y/z#0"), "other_protocol"),
    "other episodes": (
        lambda log: log.record.update(identity=log.record["identity"] + "0"),
        "other_episodes",
    ),
    "rows of another run": (lambda log: log.rows[0].update(identity="x"), "incomplete_run"),
    "an unknown track": (lambda log: log.about.update(track="x"), "unknown_track"),
    "an unprivileged track": (lambda log: log.about.update(track="plain"), "privileged_agent"),
    "a script as link": (lambda log: log.about.update(link="javascript:alert(1)"), "damaged_log"),
    "no method": (lambda log: log.about.update(method=""), "damaged_log"),
    "another field": (lambda log: log.about.update(rank=1), "damaged_log"),
    "a zero byte": (lambda log: log.about.update(method="a\0b"), "damaged_log"),
    "a field less": (lambda log: log.rows[0].pop("metrics"), "damaged_log"),
    "a place in a tour": (edit_tour, "edited_log"),
}


@pytest.mark.parametrize("name", EDITS)
def test_edited_logs_are_refused_by_code(team: Team, runs: dict[str, Path], name: str) -> None:
    edit, code = EDITS[name]
    status, said = team.send(Log.of(pack(runs["expert"])).edited(edit))
    assert (status, said["error"]["code"]) == (422, code)
    assert "\n" not in said["error"]["message"]
    assert count(team.service, Submission) == count(team.service, UploadChunk) == 0


@pytest.mark.parametrize(
    ("change", "status", "code"),
    [
        (lambda packed: b"", 422, "damaged_log"),
        (lambda packed: gzip.compress(b""), 422, "empty_log"),
        (lambda packed: packed[:-5], 422, "damaged_log"),
        (lambda packed: packed + packed, 422, "damaged_log"),
        (lambda packed: gzip.decompress(packed), 422, "damaged_log"),
        (lambda packed: BOMB, 413, "too_large"),
        (lambda packed: b"x" * (LIMITS.packed + 1), 413, "too_large"),
        (lambda packed: gzip.compress(gzip.decompress(packed).replace(b"spl", b"spm", 1)), 422, "edited_log"),
    ],
    ids=[
        "nothing",
        "empty",
        "cut short",
        "twice",
        "unpacked",
        "bomb",
        "too large",
        "edited without its hash",
    ],
)
def test_damaged_files_are_refused_by_code(
    team: Team, runs: dict[str, Path], change: Callable[[bytes], bytes], status: int, code: str
) -> None:
    found, said = team.send(change(pack(runs["expert"])))
    assert (found, said["error"]["code"]) == (status, code)
    assert count(team.service, Submission) == 0


def test_runs_of_others_splits_and_protocols_are_refused(team: Team, runs: dict[str, Path]) -> None:
    assert team.send(pack(runs["val"]))[1]["error"]["code"] == "other_split"
    assert team.send(pack(runs["other"]))[1]["error"]["code"] == "other_protocol"
    assert team.send(pack(runs["expert"], runs["expert"]))[1]["error"]["code"] == "doubled_run"


@pytest.mark.parametrize(
    "edit",
    [
        edit_number,
        lambda log: log.rows[0]["actions"].pop(),
        lambda log: log.rows[0]["actions"].append(1),
        lambda log: log.rows[0]["actions"].__setitem__(0, 99),
        lambda log: log.rows[0]["actions"].__setitem__(0, [0.5]),
        lambda log: log.rows[0].update(status="crashed", traceback="a\0b"),
        lambda log: log.rows[0].update(scene_id="houses-v1/test/00000"),
    ],
    ids=["a number", "an action less", "one more", "no action", "a list", "the status", "the scene"],
)
def test_numbers_that_do_not_come_out_again_are_refused(
    team: Team, runs: dict[str, Path], edit: Callable[[Log], object]
) -> None:
    status, sent = team.send(Log.of(pack(runs["expert"])).edited(edit))
    assert status == 201
    Worker(team.service).run_one()
    found = team.show(sent["id"])
    assert found["state"] == "refused" and found["error"]["code"] in ("other_numbers", "illegal_action")
    assert found["rank_mean"] is None and found["summary"] is None


def test_another_platform_may_differ_in_the_last_digits(team: Team, runs: dict[str, Path]) -> None:
    def elsewhere(log: Log) -> None:
        log.record["hardware"]["machine"] = "riscv64"
        edit_number(log)

    _, sent = team.send(Log.of(pack(runs["expert"])).edited(elsewhere))
    Worker(team.service).run_one()
    found = team.show(sent["id"])
    assert found["state"] == "verified"
    assert found["rank_mean"] == read_summary(runs["expert"]).metrics["spl"].mean, "the server's own number"


MUTANTS = 200


def test_mutants_are_refused_or_executed_but_never_break_the_server(
    team: Team, runs: dict[str, Path]
) -> None:
    """Bytes of the file, of its text, and values of its JSON under right hashes."""
    rng = make_generator("mutants of logs")
    packed = pack(runs["random"])
    text, log = gzip.decompress(packed), Log.of(packed)
    statuses: Counter[int] = Counter()
    for number in range(MUTANTS):
        kind = number % 4
        if kind == 0:
            mutant = mutate_bytes(packed, rng)
        elif kind == 1:
            mutant = gzip.compress(mutate_json(text, rng), 1)
        else:
            place = int(rng.integers(0, len(log.rows)))
            rows = list(log.rows)
            try:
                rows[place] = json.loads(mutate_json(json.dumps(rows[place]).encode(), rng))
                mutant = Log(log.about, log.record, rows).pack()
            except (TypeError, ValueError, KeyError, IndexError, OverflowError):
                mutant = gzip.compress(mutate_bytes(text, rng), 1)
        status, said = team.send(mutant)
        statuses[status] += 1
        assert status in (200, 201) or said["error"]["code"], said
    assert max(statuses) < 500, statuses
    assert statuses[201] > 1 and statuses[200] > 5 and statuses[422] > 50, (
        f"mutants are neither all fatal nor all harmless: {statuses}"
    )
    for _ in range(count(team.service, Submission)):  # they come before what is drawn of them
        assert Worker(team.service).run_one()
    with team.service.storage.read() as session:
        ends = Counter(map(tuple, session.execute(select(Submission.state, Submission.error_code))))
    assert {state for state, _ in ends} <= {"verified", "refused"}, ends


def test_lines_are_never_longer_than_the_limit() -> None:
    limits = LogLimits(packed=1 << 20, unpacked=1 << 20, line=1000)
    many = gzip.compress(b"".join(b"%d\n" % number for number in range(5000)))
    assert [int(line) for line in unpack_lines([many[:7], many[7:]], limits)] == list(range(5000))
    for data in (b"x" * 200_000, b"x\n" * (1 << 20)):
        with pytest.raises(Refusal, match="expected at most 1 MiB of JSON"):
            list(unpack_lines([gzip.compress(data)], limits))


QUOTA = MINIVAL + "quota = { per_day = 10, in_all = 15 }\n"


def other_log(log: Log, number: int) -> bytes:
    """A log of other actions for each number below 100."""

    def edit(one: Log) -> None:
        actions = [1 + number // 27 % 4, 1 + number // 9 % 3, 1 + number // 3 % 3, 1 + number % 3]
        one.rows[0].update(status="crashed", traceback="x", actions=actions, steps=4)

    return log.edited(edit)


def test_a_hundred_at_once_against_a_quota_of_ten(
    database: str, tmp_path: Path, runs: dict[str, Path]
) -> None:
    team = Team(open_test_service(tmp_path, QUOTA, database))
    log = Log.of(pack(runs["random"]))
    packed = [other_log(log, number) for number in range(100)]
    start = threading.Barrier(100)

    def send(number: int) -> tuple[int, Any]:
        start.wait()
        return team.send(packed[number])

    with ThreadPoolExecutor(100) as pool:
        answers = list(pool.map(send, range(100)))
    taken = [said["id"] for status, said in answers if status == 201]
    assert len(taken) == len(set(taken)) == 10 == count(team.service, Submission)
    refused = {said["error"]["code"] for status, said in answers if status not in (200, 201)}
    assert refused == {"quota_used_up"}
    used = team.client.get("/api/v1/phases/minival/quota").json()
    assert used == {"per_day": 10, "in_all": 15, "used_last_day": 10, "used_in_all": 10}


def test_quotas_of_a_day_and_in_all(team: Team, tmp_path: Path, runs: dict[str, Path]) -> None:
    team = Team(open_test_service(tmp_path, QUOTA), "bob")
    log = Log.of(pack(runs["random"]))
    assert [team.send(other_log(log, number))[0] for number in range(11)] == [201] * 10 + [429]
    with team.service.storage.write() as session:
        for one in session.scalars(select(Submission)):
            one.created -= DAY_MS
        session.scalars(select(Submission)).first().state = "failed"  # type: ignore[union-attr]
    assert [team.send(other_log(log, number))[0] for number in range(20, 27)] == [201] * 6 + [429]


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("closes = 2020-01-01T00:00:00Z", "closed_phase"),
        ("opens = 2999-01-01T00:00:00Z", "closed_phase"),
        ('accepts = ["live"]', "wrong_kind"),
    ],
)
def test_phases_that_take_no_logs_now(tmp_path: Path, runs: dict[str, Path], line: str, code: str) -> None:
    team = Team(open_test_service(tmp_path, MINIVAL + line + "\n"))
    assert team.send(pack(runs["random"]))[1]["error"]["code"] == code
    assert team.client.get("/api/v1/phases/minival").json()["is_open"] == (code == "wrong_kind")


def test_a_frozen_phase_takes_nothing(team: Team, runs: dict[str, Path]) -> None:
    with team.service.storage.write() as session:
        session.scalars(select(PhaseRow)).one().frozen = True
    assert team.send(pack(runs["random"]))[1]["error"]["code"] == "frozen_phase"


def test_a_full_disk_is_one_answer_and_nothing_half_written(team: Team, runs: dict[str, Path]) -> None:
    engine = team.service.storage.engine
    with engine.connect() as connection:
        pages = connection.exec_driver_sql("PRAGMA page_count").scalar_one()
    limit = f"PRAGMA max_page_count = {pages}"
    event.listen(engine, "connect", lambda connection, _: connection.execute(limit).close())
    engine.dispose()
    noise = make_generator("noise").bytes(100_000).hex()
    large = Log.of(pack(runs["random"])).edited(lambda log: log.rows[0].update(traceback=noise))
    status, said = team.send(large)
    assert (status, said["error"]["code"]) == (503, "database")
    assert count(team.service, Submission) == count(team.service, UploadChunk) == 0


def test_a_full_disk_for_uploads_is_one_answer(
    team: Team, runs: dict[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    class FullFile(BytesIO):
        def write(self, data: Any) -> int:
            raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("navarena.web.challenge.api.submissions.tempfile.TemporaryFile", FullFile)
    status, said = team.send(pack(runs["random"]))
    assert (status, said["error"]["code"]) == (507, "no_space")
    assert count(team.service, Submission) == count(team.service, UploadChunk) == 0


def test_progress_is_streamed_until_the_end(team: Team, runs: dict[str, Path]) -> None:
    _, sent = team.send(pack(runs["random"]))
    thread = threading.Thread(target=Worker(team.service).run_one)
    with team.client.stream("GET", f"/api/v1/submissions/{sent['id']}/events") as response:
        assert response.headers["content-type"].startswith("text/event-stream")
        thread.start()
        events = [line for line in response.iter_lines() if line.startswith("data: ")]
    thread.join()
    assert '"state":"queued"' in events[0] or '"state":"running"' in events[0]
    assert '"state":"verified"' in events[-1]


def test_a_hidden_board_tells_its_team_nothing_but_progress(tmp_path: Path, runs: dict[str, Path]) -> None:
    team = Team(open_test_service(tmp_path, MINIVAL + 'board = "hidden"\n'))
    _, sent = team.send(pack(runs["random"]))
    Worker(team.service).run_one()
    found = team.show(sent["id"])
    assert found["state"] == "verified"
    assert found["finished_episodes"] == 6 and found["summary"] is None and found["rank_mean"] is None
    stranger = Team(team.service, "bob")
    assert stranger.client.get(f"/api/v1/submissions/{sent['id']}").status_code == 404
    with team.service.storage.write() as session:
        session.scalars(select(PhaseRow)).one().revealed = 1
    assert team.show(sent["id"])["rank_mean"] is not None
    assert stranger.client.get(f"/api/v1/submissions/{sent['id']}").status_code == 200


def test_execution_goes_on_where_a_worker_was_lost(
    team: Team, runs: dict[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    _, sent = team.send(pack(runs["random"]))
    monkeypatch.setattr("navarena.web.challenge.verification.COMMIT_SECONDS", 0.0)
    from navarena.web.challenge import verification

    redo, done = verification.redo_row, []

    def die_at_fourth(*arguments: Any) -> Any:
        if len(done) == 3:
            raise KeyboardInterrupt
        done.append(1)
        return redo(*arguments)

    monkeypatch.setattr(verification, "redo_row", die_at_fourth)
    with pytest.raises(KeyboardInterrupt):
        Worker(team.service).run_one()
    assert count(team.service, ScoreRow) == 3
    assert team.show(sent["id"])["state"] == "queued"
    again = []
    monkeypatch.setattr(verification, "redo_row", lambda *given: again.append(1) or redo(*given))
    assert Worker(team.service).run_one()
    assert len(again) == 3 and count(team.service, ScoreRow) == 6
    assert team.show(sent["id"])["rank_mean"] == read_summary(runs["random"]).metrics["spl"].mean
