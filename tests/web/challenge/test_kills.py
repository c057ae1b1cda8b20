"""Killed servers and workers: no submission is lost, none is counted twice, and quotas are exact.

NAVARENA_TEST_KILLS=40 kills as often, in the place of 4 times, on each kind of database. By itself:

PYTHONPATH=tests python -m web.challenge.test_kills sqlite|postgresql KILLS [SEED]
"""

import json
import os
import secrets
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

pytest.importorskip("sqlalchemy")
pytest.importorskip("fastapi")

from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from sqlalchemy import func, make_url, select

from navarena.core.errors import InputError
from navarena.core.seeding import make_generator
from navarena.evaluation import read_summary
from navarena.web.challenge.challenge_file import load_challenge
from navarena.web.challenge.client import Client
from navarena.web.challenge.refusals import Refusal
from navarena.web.challenge.service import open_service
from navarena.web.challenge.storage.engine import POSTGRESQL, Storage, now_ms, open_storage, sqlite_address
from navarena.web.challenge.storage.models import Base, ScoreRow, Submission, User
from navarena.web.challenge.storage.upgrade import find_revision, upgrade
from navarena.web.challenge.submissions import count_quota

from .log_files import pack
from .servers import MINIVAL, add_account, empty_database, make_run, run_postgres, write_challenge

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = [pytest.mark.server]

KILLS = int(os.environ.get("NAVARENA_TEST_KILLS", "4"))
MOMENTS = ("migration", "submission", "replay", "live")
"""What is going on when something is killed, in turn."""

EPISODES, LIMIT, LOGS = 6, 2, 4
FOLLOWER = "web.challenge.live_world:GoalFollower"
CHALLENGE = (
    MINIVAL
    + f"quota = {{ in_all = {LIMIT} }}\n"
    + f"""
[[phases]]
name = "live"
protocol = "pointnav-v1"
split = "val"
episodes = {EPISODES}
accepts = ["live"]
grace_seconds = 600.0
quota = {{ in_all = 1 }}
"""
)
TESTS = Path(__file__).parents[2]
PATIENCE = 600.0
"""Seconds for what takes few on an idle machine."""

ENDED = ("verified", "refused", "failed", "disqualified")


class System:
    """`navarena serve` and a worker, each of which can be killed as a power cut would.

    Args:
        folder: of the challenge.
        database: its address.
    """

    def __init__(self, folder: Path, database: str) -> None:
        self.folder, self.file, self.database = folder, write_challenge(folder, CHALLENGE), database
        self.storage = open_service(load_challenge(self.file), database).storage
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port = free.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        self.processes = {name: self.start(name) for name in ("server", "worker")}

    def start(self, name: str) -> "subprocess.Popen[bytes]":
        words = ["serve-worker", str(self.file)]
        if name == "server":
            words = ["serve", str(self.file), "--workers", "0", "--port", str(self.port)]
        return self.run(*words, "--database", self.database)

    def run(self, *words: str, token: str = "") -> "subprocess.Popen[bytes]":
        """A command; what it says is in `log`."""
        path = os.pathsep.join(filter(None, (str(TESTS), os.environ.get("PYTHONPATH"))))
        with self.log.open("ab") as file:
            return subprocess.Popen(
                [sys.executable, "-m", "navarena", *words],
                stdout=file,
                stderr=file,
                env={**os.environ, "NAVARENA_TOKEN": token, "PYTHONPATH": path},
            )

    @property
    def log(self) -> Path:
        return self.folder / "log.txt"

    def kill(self, victims: tuple[str, ...]) -> None:
        """Kill them, and start others in their place."""
        for name in victims:
            self.processes[name].kill()
            self.processes[name].wait()
        for name in victims:
            self.processes[name] = self.start(name)

    def submissions(self, team_id: int) -> list[Submission]:
        with self.storage.read() as session:
            return list(session.scalars(select(Submission).where(Submission.team_id == team_id)))

    def wait(self, team_id: int, states: tuple[str, ...], count: int, wants_all: bool = True) -> None:
        """Until so many submissions of a team are in one of `states`, of those that it has."""
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            found = [one.state in states for one in self.submissions(team_id)]
            if sum(found) >= count and (all(found) or not wants_all):
                return
            time.sleep(0.02)
        raise AssertionError("submissions did not come to an end\n" + self.log.read_text()[-5000:])

    def stop(self) -> None:
        for one in self.processes.values():
            one.kill()
            one.wait()
        self.storage.close()


def choose_victims(moment: str, rng: np.random.Generator) -> tuple[str, ...]:
    """Who is killed at such a moment."""
    if moment == "submission":
        return ("server",) if rng.random() < 0.5 else ("server", "worker")
    choices = [("worker",), ("server",), ("server", "worker")]
    return choices[int(rng.integers(len(choices)))]


@contextmanager
def senders(client: Client, packed: dict[int, bytes], received: dict[str, int]) -> "Iterator[None]":
    """Sends each log until it is answered: what a killed server leaves unanswered goes to the next one."""

    def send(number: int, data: bytes) -> None:
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            try:
                received[client.submit_log("minival", [data])] = number
                return
            except Refusal as refusal:
                assert refusal.code == "quota_used_up", refusal
                return
            except InputError:
                time.sleep(0.1)

    threads = [threading.Thread(target=send, args=item) for item in packed.items()]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        for thread in threads:
            thread.join()


def kill_with_logs(system: System, number: int, moment: str, rng: np.random.Generator) -> Counter[str]:
    """A team sends more logs at once than its quota allows; those that are taken get their numbers."""
    token, _, team_id = add_account(system.storage, f"team-{number}")
    runs = {
        one: make_run(system.folder / f"run-{number}-{one}", "random", EPISODES, seed=10 * number + one)
        for one in range(LOGS)
    }
    received: dict[str, int] = {}
    victims, client = choose_victims(moment, rng), Client(system.url, token)
    with senders(client, {one: pack(run) for one, run in runs.items()}, received):
        if moment == "replay":
            system.wait(team_id, ("running", *ENDED), 1, wants_all=False)
        time.sleep(float(rng.uniform(0.0, 1.0)))
        system.kill(victims)
    system.wait(team_id, ENDED, LIMIT)
    found = {one.public_id: one for one in system.submissions(team_id)}
    assert set(received) == set(found), "what was answered is there, and nothing else"
    assert len(found) == LIMIT, "the quota is exact"
    for public_id, one in found.items():
        local = read_summary(runs[received[public_id]]).metrics["spl"].mean
        check_verified(system, one, local, LIMIT)
    return Counter(victims)


def kill_with_live_agent(system: System, number: int, local: float, rng: np.random.Generator) -> Counter[str]:
    """A live agent acts; it comes back by itself, or is started again where it has given up."""
    token, _, team_id = add_account(system.storage, f"team-{number}")
    words = ("submit", system.url, "--phase", "live", "--track", "plain", "--agent", FOLLOWER)
    wait_for_port(system)
    victims, agent = choose_victims("live", rng), system.run(*words, token=token)
    try:
        system.wait(team_id, ("running", *ENDED), 1)
        time.sleep(float(rng.uniform(0.0, 2.0)))
        system.kill(victims)
        deadline = time.monotonic() + PATIENCE
        while (one := system.submissions(team_id)[0]).state not in ENDED:
            assert time.monotonic() < deadline, system.log.read_text()[-5000:]
            if agent.poll() is not None:
                agent = system.run(*words, f"--submission={one.public_id}", token=token)
            time.sleep(0.2)
    finally:
        agent.kill()
        agent.wait()
    (found,) = system.submissions(team_id)
    check_verified(system, found, local, 1)
    return Counter(victims)


def wait_for_port(system: System) -> None:
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        try:
            socket.create_connection(("127.0.0.1", system.port), 5).close()
            return
        except OSError:
            time.sleep(0.1)
    raise AssertionError("no server\n" + system.log.read_text()[-5000:])


def check_verified(system: System, one: Submission, mean: float, used: int) -> None:
    """Each episode is there once, with the numbers of a run without kills, and the quota is exact."""
    assert one.state == "verified", (one.error_code, one.error_text, system.log.read_text()[-5000:])
    assert one.rank_mean == mean
    with system.storage.read() as session:
        rows = select(ScoreRow.part, ScoreRow.position).where(ScoreRow.submission_id == one.id)
        places = sorted(tuple(row) for row in session.execute(rows))
        assert places == [(0, position) for position in range(EPISODES)]
        assert count_quota(session, one.phase_id, one.team_id).in_all == used
        (part,) = one.summary["parts"] if one.summary else ()
        assert part["metrics"]["spl"]["mean"] == mean


OPEN = """
import sys
from navarena.web.challenge.storage import upgrade
from navarena.web.challenge.storage.engine import open_storage
print("ready", flush=True)
open_storage(sys.argv[1])
"""


def kill_migration(address: str, rng: np.random.Generator) -> Counter[str]:
    """Kill a process that migrates an empty or an older database: whoever comes next ends with all tables."""
    is_older = rng.random() < 0.5
    if is_older:
        older = Storage(address)
        upgrade(older, "0001")
        with older.write() as session:
            session.add(User(name="ann", password_hash="x", created=now_ms()))
        older.close()
    child = subprocess.Popen([sys.executable, "-c", OPEN, address], stdout=subprocess.PIPE, text=True)
    assert child.stdout is not None and child.stdout.readline() == "ready\n"
    time.sleep(float(rng.uniform(0.0, 0.4)))
    child.kill()
    child.wait()
    child.stdout.close()
    storage = open_storage(address)
    with storage.engine.connect() as connection:
        assert compare_metadata(MigrationContext.configure(connection), Base.metadata) == []
        assert find_revision(connection) == "0005"
    with storage.read() as session:
        assert session.scalar(select(func.count()).select_from(User)) == int(is_older)
    storage.close()
    return Counter(["migration of an older one" if is_older else "migration of an empty one"])


def second_database(folder: Path, database: str) -> str:
    """The address of an empty database beside `database`."""
    if not database.startswith(POSTGRESQL):
        return sqlite_address(folder / f"second-{secrets.token_hex(4)}.sqlite")
    storage, name = Storage(database), f"second_{secrets.token_hex(4)}"
    with storage.engine.execution_options(isolation_level="AUTOCOMMIT").connect() as connection:
        connection.exec_driver_sql(f"CREATE DATABASE {name}")
    storage.close()
    return make_url(database).set(database=name).render_as_string(hide_password=False)


def kill_rounds(folder: Path, database: str, kills: int, seed: int) -> dict[str, Any]:
    """Kill so many times, at each of MOMENTS in turn, and count; what was done."""
    rng, counts, begun = make_generator("kills", seed), Counter[str](), time.monotonic()
    local = read_summary(make_run(folder / "live", FOLLOWER, EPISODES, split="val")).metrics["spl"].mean
    system = System(folder, database)
    try:
        for number in range(kills):
            moment = MOMENTS[number % len(MOMENTS)]
            if moment == "migration":
                counts += kill_migration(second_database(folder, database), rng)
            elif moment == "live":
                counts += kill_with_live_agent(system, number, local, rng)
            else:
                counts += kill_with_logs(system, number, moment, rng)
        with system.storage.read() as session:
            taken = session.scalar(select(func.count()).select_from(Submission))
        assert taken == LIMIT * (-(-(kills - 1) // 4) + -(-(kills - 2) // 4)) + -(-(kills - 3) // 4)
    finally:
        system.stop()
    return {
        "database": system.storage.kind,
        "kills": kills,
        "killed": dict(counts),
        "submissions": taken,
        "lost": 0,
        "counted_twice": 0,
        "seed": seed,
        "seconds": round(time.monotonic() - begun),
    }


def test_nothing_is_lost_when_everything_is_killed(tmp_path: Path, database: str) -> None:
    seed = int(os.environ.get("NAVARENA_TEST_SEED") or time.time_ns())
    print(f"seed {seed}")
    print(json.dumps(kill_rounds(tmp_path, database, KILLS, seed)))


if __name__ == "__main__":
    kind, count, seed = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]) if len(sys.argv) > 3 else 0
    with tempfile.TemporaryDirectory() as name, tempfile.TemporaryDirectory(prefix="pg-") as cluster:
        place = nullcontext(sqlite_address(Path(name) / "test.sqlite"))
        with run_postgres(Path(cluster)) if kind == POSTGRESQL else place as address:
            if kind == POSTGRESQL:
                empty_database(address)
            print(json.dumps(kill_rounds(Path(name), address, count, seed)), flush=True)
