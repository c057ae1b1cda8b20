"""`navarena serve` and `navarena serve-worker`: host a challenge."""

import contextlib
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Annotated, Literal

import tyro

from navarena.cli.console import Console
from navarena.core.errors import InputError, require_extra

DATABASE_VARIABLE = "NAVARENA_DATABASE"
REPLACE_SECONDS = 2.0
"""Between two looks at the workers; one that cannot start is tried again as often."""

File = Annotated[Path | None, tyro.conf.Positional, tyro.conf.arg(metavar="CHALLENGE")]


@dataclass(frozen=True)
class Serve:
    """Serve a challenge: its pages, its interface, and workers that execute submissions.

    The first start makes the database beside the file and prints an invitation for its administrator. With
    --json, one document is printed with the keys url and invitation (null once it was used) when the server
    ends.
    """

    challenge: File = None
    """The challenge file (TOML)."""
    init: Path | None = None
    """Write a commented challenge file into this new folder instead, with new private seeds."""
    benchmark: str = "commented"
    """With --init: the file of apartments, goat, ivln, multion, objectnav or robustnav."""
    database: str | None = None
    """Address of the database, sqlite:///FILE or postgresql+psycopg://USER@HOST/NAME; by default
    $NAVARENA_DATABASE, else SQLite beside the file."""
    host: str = "127.0.0.1"
    """Address to listen at; 0.0.0.0 for all."""
    port: int = 8700
    """Port; 0 takes a free one."""
    workers: int = 1
    """Worker processes on this machine; 0 where all are elsewhere (`navarena serve-worker`)."""
    sign_up: Literal["open", "invitation", "administrator"] = "open"
    """Who may make an account."""
    json: bool = False
    """Print one JSON document instead of text."""

    def run(self, console: Console) -> int:
        """Serve until interrupted; the exit code is 0."""
        if self.init is not None:
            return _write_example(console, self.init, self.benchmark)
        require_extra("fastapi", "server")
        from navarena.web.challenge.accounts.users import invite_first_administrator
        from navarena.web.challenge.app import make_app
        from navarena.web.challenge.challenge_file import load_challenge
        from navarena.web.challenge.service import open_service
        from navarena.web.serving import listen, serve_app

        file = require_file(self.challenge)
        if self.workers < 0:
            raise InputError(f"expected at least 0 workers, got {self.workers}")
        challenge = load_challenge(file)
        address = find_database(self.database, file)
        with listen(self.host, self.port) as bound:
            service = open_service(challenge, address, self.sign_up)
            url = f"http://{self.host}:{bound.getsockname()[1]}"
            code = invite_first_administrator(service.storage)
            if code is not None:
                console.note(
                    f"the first account is an administrator's: sign up at {url}/sign-up with the code {code}"
                )
            console.text(f"{challenge.name}: {url}")
            console.result({"url": url, "invitation": code})
            signal.signal(signal.SIGTERM, _interrupt)  # uvicorn raises it again when it has ended
            with contextlib.suppress(KeyboardInterrupt), start_workers(file, address, self.workers):
                serve_app(make_app(service), bound)
        return 0


@dataclass(frozen=True)
class ServeWorker:
    """Execute the submissions of a challenge, here or on another machine, until interrupted.

    Workers need the challenge file, its private seeds, and a database that they reach. With --json, one
    document is printed with the key jobs when the worker ends.
    """

    challenge: File = None
    """The challenge file (TOML)."""
    database: str | None = None
    """Address of the database; see `navarena serve`."""
    lease_seconds: float = 60.0
    """Seconds of silence after which other workers take over from this one."""
    once: bool = False
    """Exit when no submission waits."""
    parent: int | None = None
    """Id of the process that started this one: exit when it ends."""
    json: bool = False
    """Print one JSON document instead of text."""

    def run(self, console: Console) -> int:
        """Work until interrupted, or until nothing waits; the exit code is 0."""
        require_extra("sqlalchemy", "server")
        from navarena.web.challenge.challenge_file import load_challenge
        from navarena.web.challenge.service import open_service
        from navarena.web.challenge.worker import Worker

        file = require_file(self.challenge)
        if not self.lease_seconds > 0:
            raise InputError(f"expected positive --lease-seconds, got {self.lease_seconds}")
        service = open_service(load_challenge(file), find_database(self.database, file))
        worker, jobs = Worker(service, self.lease_seconds), 0
        signal.signal(signal.SIGTERM, _interrupt)
        console.text("waiting for submissions")
        if self.once:
            while worker.run_one():
                jobs += 1
        else:
            with contextlib.suppress(KeyboardInterrupt):
                worker.run(lambda: self.parent in (None, os.getppid()))
        console.result({"jobs": jobs})
        return 0


def _interrupt(number: int, frame: FrameType | None) -> None:
    raise KeyboardInterrupt


def require_file(file: Path | None) -> Path:
    """The challenge file; raises InputError where none is given."""
    if file is None:
        raise InputError("expected a challenge file, got none; `navarena serve --init DIR` writes one")
    return file


def find_database(given: str | None, file: Path) -> str:
    """The address of the database: as given, of the environment, or beside the challenge file."""
    from navarena.web.challenge.service import default_database

    return given or os.environ.get(DATABASE_VARIABLE) or default_database(file)


@contextlib.contextmanager
def start_workers(file: Path, database: str, count: int) -> Iterator[None]:
    """`count` worker processes, which end with the block or with this process; one that dies is replaced.

    The address of the database may hold a password, so it goes by the environment.
    """
    command = [sys.executable, "-m", "navarena", "serve-worker", str(file), f"--parent={os.getpid()}"]
    environment = {**os.environ, DATABASE_VARIABLE: database}

    def start() -> subprocess.Popen[bytes]:
        return subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL)

    processes, over = [start() for _ in range(count)], threading.Event()

    def replace_dead() -> None:
        while not over.wait(REPLACE_SECONDS):
            for place, one in enumerate(processes):
                if one.poll() is not None and not over.is_set():
                    processes[place] = start()

    watcher = threading.Thread(target=replace_dead, daemon=True)
    watcher.start()
    try:
        yield
    finally:
        over.set()
        watcher.join()
        for one in processes:
            one.terminate()
        for one in processes:
            with contextlib.suppress(subprocess.TimeoutExpired):
                one.wait(10)


def _write_example(console: Console, folder: Path, benchmark: str) -> int:
    """Write a challenge file and private seeds into a new folder."""
    from navarena.web.challenge.example_files import write_example

    path = write_example(folder, benchmark)
    console.text(f"{path} is written; `navarena serve {path}` serves it")
    console.result({"challenge": str(path)})
    return 0
