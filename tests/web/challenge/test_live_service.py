"""Live submissions through the whole server: database, worker processes, interface and command."""

import contextlib
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import msgspec
import pytest

pytest.importorskip("fastapi", reason="needs navarena[server]")

from sqlalchemy import select

from navarena.evaluation import EvaluationSettings, evaluate
from navarena.evaluation.records.journal import Row
from navarena.web.challenge.challenge_file import load_challenge
from navarena.web.challenge.client import Client
from navarena.web.challenge.live.intake import find_worker, submit_live_run
from navarena.web.challenge.live.intake_form import LiveAbout
from navarena.web.challenge.live.wire import VERSION, Hello
from navarena.web.challenge.log_format import About
from navarena.web.challenge.service import open_service
from navarena.web.challenge.storage.models import Job, ScoreRow, Submission
from navarena.web.challenge.transfer import export_challenge
from navarena.web.streaming import StreamError

from .live_world import PROTOCOL
from .servers import add_account, open_test_service, write_challenge

TESTS = Path(__file__).parents[2]
"""Where agents of the tests are imported from."""

pytestmark = pytest.mark.server

FOLLOWER = "web.challenge.live_world:GoalFollower"
SEED = "8734560192837465019283746501928374650"
CHALLENGE = f"""
name = "Live"
[[tracks]]
name = "plain"
[[phases]]
name = "open"
protocol = "{PROTOCOL}"
split = "mini"
episodes = 6
accepts = ["live"]
grace_seconds = 20.0
[phases.quota]
in_all = 3
[[phases]]
name = "hidden"
protocol = "{PROTOCOL}"
split = "mini"
accepts = ["live"]
private_seed = "hidden.seed"
per_scene = 1
episodes = 3
grace_seconds = 20.0
"""


class System:
    """`navarena serve` and its workers, as processes that can be killed."""

    def __init__(self, folder: Path, workers: int = 1) -> None:
        self.folder, self.file = folder, write_challenge(folder, CHALLENGE)
        (folder / "hidden.seed").write_text(SEED)
        self.database = f"sqlite:///{folder / 'test.sqlite'}"
        self.service = open_service(load_challenge(self.file), self.database)
        self.token, _, _ = add_account(self.service.storage, "ann")
        self.other, _, _ = add_account(self.service.storage, "bob")
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port = free.getsockname()[1]
        self.logs = []
        self.workers = [self.start_worker() for _ in range(workers)]
        self.server = self.start_server()

    def start(self, *words: str) -> subprocess.Popen:
        log = self.folder / f"log-{len(self.logs)}.txt"
        self.logs.append(log)
        with log.open("wb") as file:
            command = [sys.executable, "-m", "navarena", *words]
            path = os.pathsep.join(filter(None, (str(TESTS), os.environ.get("PYTHONPATH"))))
            environment = {**os.environ, "NAVARENA_TOKEN": self.token, "PYTHONPATH": path}
            return subprocess.Popen(command, stdout=file, stderr=file, env=environment)

    def start_worker(self) -> subprocess.Popen:
        return self.start("serve-worker", str(self.file), "--database", self.database)

    def start_server(self) -> subprocess.Popen:
        words = ("serve", str(self.file), "--database", self.database, "--workers", "0")
        return self.start(*words, "--port", str(self.port))

    def submit(self, *more: str, phase: str = "open") -> subprocess.Popen:
        self.wait_for_server()
        return self.start("submit", self.url, "--phase", phase, "--agent", FOLLOWER, *more)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def wait_for_server(self) -> None:
        for _ in range(900):
            try:
                socket.create_connection(("127.0.0.1", self.port), 1).close()
                return
            except OSError:
                time.sleep(0.1)
        raise AssertionError("no server\n" + self.read_logs())

    def rows(self) -> list[Row]:
        with self.service.storage.read() as session:
            stored = session.scalars(select(ScoreRow.row).order_by(ScoreRow.submission_id, ScoreRow.position))
            return [msgspec.json.decode(one, type=Row) for one in stored]

    def submissions(self) -> list[Submission]:
        with self.service.storage.read() as session:
            return list(session.scalars(select(Submission).order_by(Submission.id)))

    def wait_for_rows(self, count: int, seconds: float = 60) -> None:
        end = time.monotonic() + seconds
        while len(self.rows()) < count:
            assert time.monotonic() < end, "no episode is finished\n" + self.read_logs()
            time.sleep(0.05)

    def finish(self, process: subprocess.Popen, seconds: float = 120) -> None:
        try:
            assert process.wait(seconds) == 0, self.read_logs()
        except subprocess.TimeoutExpired:
            process.kill()
            raise AssertionError(self.read_logs()) from None

    def read_logs(self) -> str:
        return "\n".join(f"-- {log.name}\n{log.read_text()[-3000:]}" for log in self.logs)

    def stop(self) -> None:
        for one in (self.server, *self.workers):
            one.kill()
            one.wait()


@pytest.fixture
def system(tmp_path):
    made = []

    def make(workers=1):
        made.append(System(tmp_path, workers))
        return made[-1]

    yield make
    for one in made:
        one.stop()


@pytest.fixture(scope="module")
def local(tmp_path_factory):
    out = tmp_path_factory.mktemp("local")
    return evaluate(EvaluationSettings(PROTOCOL, FOLLOWER, "mini", episodes=6, out=out))


def test_an_agent_comes_before_its_phase_closes(tmp_path) -> None:
    (tmp_path / "hidden.seed").write_text(SEED)
    service = open_test_service(tmp_path, CHALLENGE)
    token, user, team = add_account(service.storage, "ann")
    phase, about = service.challenge.phase("open"), About(track="plain", method="x")
    came, stayed_away = (
        submit_live_run(service, phase, team, user, LiveAbout(about=about, agent="x", nonce=32 * nonce))[0]
        for nonce in "ab"
    )
    hello = Hello(version=VERSION, token=token)
    with pytest.raises(StreamError) as waits:
        find_worker(service, came, hello)
    closed = CHALLENGE.replace('accepts = ["live"]', 'accepts = ["live"]\ncloses = 2026-01-01T00:00:00Z', 1)
    service = open_test_service(tmp_path, closed)
    with pytest.raises(StreamError) as goes_on:
        find_worker(service, came, hello)
    with pytest.raises(StreamError) as is_late:
        find_worker(service, stayed_away, hello)
    assert [one.value.code for one in (waits, goes_on, is_late)] == ["busy", "busy", "closed_phase"]


def test_live_agent_through_the_command(system, local) -> None:
    running = system()
    running.finish(running.submit())
    (submission,) = running.submissions()
    assert (submission.state, submission.kind, submission.episodes) == ("verified", "live", 6)
    found = sorted(running.rows(), key=lambda row: (row.scene_id, row.episode_id))
    assert tuple(found) == local.rows
    (part,) = submission.summary["parts"]
    assert part["metrics"]["spl"]["mean"] == local.summary.metrics["spl"].mean
    assert submission.seconds_per_step > 0
    running.finish(running.submit(f"--submission={submission.public_id}"))  # as one that missed the end
    assert len(running.rows()) == 6
    assert not list((running.folder / "live").iterdir()), "nothing is left of a finished run"


def test_a_worker_that_ended_before_it_wrote_the_numbers_needs_no_participant(system) -> None:
    """The participant was told the end and does not come back: the next worker writes what is stored."""
    running = system()
    running.finish(running.submit())
    (submission,) = running.submissions()
    with running.service.storage.write() as session:
        again = session.get_one(Submission, submission.id)
        again.state, again.summary, again.seconds_per_step = "running", None, None
        job = session.scalars(select(Job).where(Job.submission_id == submission.id, Job.kind == "live")).one()
        job.state, job.lease_until = "leased", 0
    end = time.monotonic() + 60
    while (found := running.submissions()[0]).state != "verified":
        assert time.monotonic() < end, running.read_logs()
        time.sleep(0.1)
    assert found.summary == submission.summary
    assert found.seconds_per_step == pytest.approx(submission.seconds_per_step, rel=0.5)


def test_kills_of_worker_server_and_participant_lose_nothing(system, local) -> None:
    """kill -9 of each in the middle: every episode counts once, and is as without them."""
    running = system()
    client = running.submit()
    running.wait_for_rows(1)
    running.workers[0].send_signal(signal.SIGKILL)
    running.workers[0].wait()
    running.workers[0] = running.start_worker()
    running.wait_for_rows(2)
    running.server.send_signal(signal.SIGKILL)
    running.server.wait()
    running.server = running.start_server()
    running.wait_for_rows(3)
    client.send_signal(signal.SIGKILL)
    client.wait()
    (submission,) = running.submissions()
    running.finish(running.submit(f"--submission={submission.public_id}"))
    (submission,) = running.submissions()
    assert submission.state == "verified"
    found = sorted(running.rows(), key=lambda row: (row.scene_id, row.episode_id))
    assert tuple(found) == local.rows


def test_several_submissions_run_side_by_side(system, local) -> None:
    running = system(workers=2)
    first, second = running.submit(), running.submit("--method", "again")
    running.finish(first)
    running.finish(second)
    assert [one.state for one in running.submissions()] == ["verified"] * 2
    found = running.rows()
    for rows in (found[:6], found[6:]):
        assert tuple(sorted(rows, key=lambda row: (row.scene_id, row.episode_id))) == local.rows


def test_hidden_seeds_stay_where_they_are(system) -> None:
    """Every frame, answer, log and file, database and export too, is searched for seed, ids and token."""
    running = system()
    running.wait_for_server()
    spy = Spy(running.port)
    client = running.start("submit", spy.url, "--phase", "hidden", "--agent", FOLLOWER, "--json")
    running.finish(client)
    spy.stop()
    (submission,) = running.submissions()
    assert submission.state == "verified"
    rows = running.rows()
    assert len(rows) == 3 and all(row.scene_id for row in rows)
    sent = spy.seen
    assert len(sent) > 10_000
    secret = int(SEED)
    needles = [SEED, hex(secret)[2:]]
    needles += [row.scene_id for row in rows] + [row.episode_id for row in rows]
    needles += [row.scene_id.rpartition("/")[0] for row in rows]
    for needle in needles:
        assert needle.encode() not in sent, needle
    for data in (secret.to_bytes(16, "big"), secret.to_bytes(16, "little")):
        assert data not in sent
    stream = sent[sent.index(b"101 Switching") :]
    stream = stream[: stream.index(b"HTTP/1.1 200")]
    assert b"pointgoal_with_gps_compass" in stream
    for name in ("spl", "success", "distance_to_goal", "hidden"):
        assert name.encode() not in stream, f"{name} was told before the end"
    export_challenge(running.service, running.folder / "export")
    for path in (running.folder / "export" / "web").rglob("*"):
        data = path.read_bytes() if path.is_file() else b""
        assert not any(needle.encode() in data for needle in needles), path
    files = [path for path in running.folder.rglob("*") if path.is_file() and path.name != "hidden.seed"]
    assert len(files) > 20 and any("export" in path.parts for path in files)
    for path in files:
        data = path.read_bytes()
        assert SEED.encode() not in data, path
        assert running.token.encode() not in data, f"{path} holds a token"


def test_refusals_of_the_interface(system) -> None:
    running = system(workers=0)
    running.wait_for_server()
    said = LiveAbout(about=About(track="plain", method="x"), agent=FOLLOWER, nonce="n" * 32)
    hidden = Client(running.url, running.token).submit_live("hidden", msgspec.json.encode(said))
    refused = {
        ("--track", "other"): "unknown track",
        ("--submission", "nobody's"): "no such submission",
        ("--submission", hidden): "expected --phase hidden, that of the submission",
        ("--agent", "expert"): "only observes",
    }
    for words, said in refused.items():
        process = running.submit(*words)
        assert process.wait(60) == 2
        assert said in running.logs[-1].read_text(), running.logs[-1].read_text()
    assert len(running.submissions()) == 1


class Spy:
    """A proxy before a server that keeps all that the server says."""

    def __init__(self, port: int) -> None:
        self.seen, self._target = bytearray(), port
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        self._thread = threading.Thread(target=self._accept, daemon=True)
        self._thread.start()

    def _accept(self) -> None:
        while True:
            try:
                near, _ = self._listener.accept()
            except OSError:
                return
            far = socket.create_connection(("127.0.0.1", self._target))
            threading.Thread(target=self._pass, args=(near, far, False), daemon=True).start()
            threading.Thread(target=self._pass, args=(far, near, True), daemon=True).start()

    def _pass(self, source: socket.socket, target: socket.socket, is_heard: bool) -> None:
        try:
            while data := source.recv(1 << 16):
                if is_heard:
                    self.seen += data
                target.sendall(data)
        except OSError:
            pass
        finally:
            for one in (source, target):
                with contextlib.suppress(OSError):
                    one.shutdown(socket.SHUT_RDWR)
            source.close()

    def stop(self) -> None:
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self._thread.join()
