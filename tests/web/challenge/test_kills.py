"""Killed servers and workers: no submission is lost, none is counted twice, and quotas are exact.

PYTHONPATH=tests python -m web.challenge.test_kills ROUNDS [SEED]     more rounds than the tests do
"""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest

pytest.importorskip("sqlalchemy")
pytest.importorskip("fastapi")

from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from sqlalchemy import func, select

from navarena.core.errors import InputError
from navarena.core.seeding import make_generator
from navarena.evaluation import read_summary
from navarena.web.challenge.client import Client
from navarena.web.challenge.storage.engine import Storage, open_storage, sqlite_address
from navarena.web.challenge.storage.models import Base, ScoreRow, Submission
from navarena.web.challenge.storage.upgrade import find_revision

from .log_files import Log, pack
from .servers import MINIVAL, add_account, make_run, write_challenge

pytestmark = [pytest.mark.server]

ROUNDS = 4
EPISODES = 24
LIMIT = 6
CHALLENGE = MINIVAL.replace("episodes = 6", f"episodes = {EPISODES}") + f"quota = {{ in_all = {LIMIT} }}\n"
PATIENCE = 120.0


class Server:
    """`navarena serve` with one worker, in a process group that can be killed as a power cut would."""

    def __init__(self, file: Path, database: str) -> None:
        self.log = file.with_name("server.log").open("a")
        command = [
            sys.executable,
            "-m",
            "navarena",
            "serve",
            str(file),
            "--port",
            "0",
            "--database",
            database,
        ]
        self.process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=self.log, text=True, start_new_session=True
        )
        assert self.process.stdout is not None
        self.url = self.process.stdout.readline().split()[-1]

    def kill_worker(self) -> None:
        """Kill the worker alone, if it has started; the server puts another in its place."""
        pid = self.process.pid
        for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split():
            os.kill(int(child), signal.SIGKILL)

    def kill(self) -> None:
        """Kill the server and its workers."""
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        assert self.process.stdout is not None
        self.process.stdout.close()
        self.log.close()


@contextmanager
def senders(client: Client, packed: list[bytes], received: set[str]) -> Iterator[None]:
    """Sends each log until it is answered; what a killed server leaves unanswered is sent to the next one."""

    def send(data: bytes) -> None:
        for _ in range(100):
            try:
                received.add(client.submit_log("minival", [data]))
                return
            except InputError as error:
                if "quota" in str(error):
                    return
                time.sleep(0.1)

    threads = [threading.Thread(target=send, args=[data]) for data in packed]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        for thread in threads:
            thread.join()


def variants(folder: Path, count: int) -> list[bytes]:
    """Logs of the same run of which the first episode crashed after other actions; all but one are wrong."""
    log = Log.of(pack(folder))

    def edit(number: int) -> bytes:
        def change(one: Log) -> None:
            if number:
                one.rows[0].update(status="crashed", traceback="x", actions=[1] * number, steps=number)

        return log.edited(change)

    return [edit(number) for number in range(count)]


def kill_rounds(folder: Path, database: str, rounds: int, rng: np.random.Generator) -> None:
    """Submit more than the quota allows to a server that is killed again and again; then count."""
    file, run = write_challenge(folder, CHALLENGE), make_run(folder / "run", "random", EPISODES)
    storage = open_storage(database)
    token, _, team_id = add_account(storage, "ann")
    packed, received = variants(run, LIMIT + 2), set[str]()
    server = Server(file, database)
    client = Client(server.url, token)
    with senders(client, packed, received):
        for _ in range(rounds):
            time.sleep(float(rng.uniform(0.0, 6.0)))
            if rng.random() < 0.3:
                server.kill_worker()
                continue
            server.kill()
            server = Server(file, database)
            client.address = server.url
    try:
        wait_for_ends(storage)
        check_ends(storage, team_id, received, run)
    finally:
        server.kill()
        storage.close()


def wait_for_ends(storage: Storage) -> None:
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        with storage.read() as session:
            waiting = select(func.count()).where(Submission.state.in_(["received", "queued", "running"]))
            if not session.scalar(waiting):
                return
        time.sleep(0.2)
    raise AssertionError("submissions did not come to an end")


def check_ends(storage: Storage, team_id: int, received: set[str], run: Path) -> None:
    with storage.read() as session:
        found = {one.public_id: one for one in session.scalars(select(Submission))}
        assert received <= set(found), "a submission that was answered is lost"
        assert len(found) == LIMIT, "the quota is exact"
        states = sorted(one.state for one in found.values())
        assert set(states) <= {"verified", "refused"}, [(one.state, one.error_text) for one in found.values()]
        for one in found.values():
            rows = select(func.count()).where(ScoreRow.submission_id == one.id)
            if one.state == "verified":
                assert session.scalar(rows) == EPISODES
                assert one.rank_mean == read_summary(run).metrics["spl"].mean


def test_nothing_is_lost_when_everything_is_killed(tmp_path: Path) -> None:
    seed = time.time_ns()
    print(f"seed {seed}")
    kill_rounds(tmp_path, sqlite_address(tmp_path / "test.sqlite"), ROUNDS, make_generator("kills", seed))


OPEN = """
import sys
from navarena.web.challenge.storage import upgrade
from navarena.web.challenge.storage.engine import open_storage
print("ready", flush=True)
open_storage(sys.argv[1])
"""


def kill_migrations(folder: Path, rounds: int, rng: np.random.Generator) -> None:
    """Kill processes that make the tables of an empty database; whoever comes next ends with all of them."""
    for number in range(rounds):
        address = sqlite_address(folder / f"{number}.sqlite")
        child = subprocess.Popen([sys.executable, "-c", OPEN, address], stdout=subprocess.PIPE, text=True)
        assert child.stdout is not None and child.stdout.readline() == "ready\n"
        time.sleep(float(rng.uniform(0.0, 0.4)))
        child.kill()
        child.wait()
        child.stdout.close()
        storage = open_storage(address)
        with storage.engine.connect() as connection:
            assert find_revision(connection) == "0003"
            context = MigrationContext.configure(connection)
            assert compare_metadata(context, Base.metadata) == []
        storage.close()


def test_killed_migrations_leave_all_or_nothing(tmp_path: Path) -> None:
    kill_migrations(tmp_path, ROUNDS, make_generator("killed migrations", time.time_ns()))


if __name__ == "__main__":
    count, seed = int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 0
    with TemporaryDirectory() as name:
        kill_rounds(
            Path(name), sqlite_address(Path(name) / "test.sqlite"), count, make_generator("kills", seed)
        )
    print(json.dumps({"rounds": count, "seed": seed, "outcome": "nothing lost"}))
