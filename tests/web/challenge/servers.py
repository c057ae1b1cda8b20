"""Databases, accounts and challenges for tests of the challenge server."""

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from navarena.evaluation import EvaluationSettings, evaluate
from navarena.web.challenge.accounts.teams import create_team
from navarena.web.challenge.accounts.users import create_user, issue_token
from navarena.web.challenge.challenge_file import load_challenge
from navarena.web.challenge.service import Service, open_service
from navarena.web.challenge.storage.engine import Storage, sqlite_address
from navarena.web.challenge.storage.models import Base

MINIVAL = """
name = "Test"
[[tracks]]
name = "all"
privileged = true
[[tracks]]
name = "plain"
[[phases]]
name = "minival"
protocol = "pointnav-v1"
split = "mini"
episodes = 6
"""


def write_challenge(folder: Path, text: str = MINIVAL) -> Path:
    """challenge.toml in `folder`."""
    path = folder / "challenge.toml"
    path.write_text(text)
    return path


def open_test_service(folder: Path, text: str = MINIVAL, database: str | None = None) -> Service:
    """A service with a database in `folder`."""
    path = write_challenge(folder, text)
    return open_service(load_challenge(path), database or sqlite_address(folder / "test.sqlite"))


def add_account(storage: Storage, name: str, team: str | None = None) -> tuple[str, int, int]:
    """(token, user id, team id) of a new account with a team of its own."""
    with storage.write() as session:
        user = create_user(session, name, "no password", "participant", "tests")
        owned = create_team(session, user, team or f"team {name}")
        session.flush()
        return issue_token(session, user, "tests"), user.id, owned.id


def make_run(folder: Path, agent: str = "expert", episodes: int = 6, seed: int = 0, **more: object) -> Path:
    """The folder of a finished run of pointnav-v1."""
    settings = {"protocol": "pointnav-v1", "agent": agent, "episodes": episodes, "seed": seed, **more}
    return evaluate(EvaluationSettings(out=folder, **settings)).folder  # type: ignore[arg-type]


def postgres_tool(name: str) -> str | None:
    """Path of one of PostgreSQL's programs, which Debian keeps out of PATH."""
    found = sorted(Path("/usr/lib/postgresql").glob(f"*/bin/{name}"))
    return str(found[-1]) if found else shutil.which(name)


@contextmanager
def run_postgres(folder: Path) -> Iterator[str]:
    """A cluster of its own in `folder`, reached by a socket; its SQLAlchemy address."""
    initdb, pg_ctl = postgres_tool("initdb"), postgres_tool("pg_ctl")
    if initdb is None or pg_ctl is None:
        pytest.skip("PostgreSQL's programs are not installed")
    as_user: list[str] = []
    if os.geteuid() == 0:  # it does not run as root
        if (
            shutil.which("runuser") is None
            or subprocess.run(["id", "postgres"], capture_output=True).returncode
        ):
            pytest.skip("PostgreSQL needs the user postgres, when tests run as root")
        as_user = ["runuser", "-u", "postgres", "--"]
        shutil.chown(folder, "postgres")
    data = folder / "cluster"
    options = f"-k {folder} -c listen_addresses='' -c fsync=on -c max_connections=150"
    subprocess.run(
        [*as_user, initdb, "-D", data, "-A", "trust", "-U", "navarena"], check=True, capture_output=True
    )
    start = [*as_user, pg_ctl, "-D", str(data), "-w", "-l", str(folder / "log"), "-o", options, "start"]
    subprocess.run(start, check=True, capture_output=True)
    try:
        yield f"postgresql+psycopg://navarena@/postgres?host={folder}"
    finally:
        subprocess.run([*as_user, pg_ctl, "-D", str(data), "-m", "immediate", "stop"], capture_output=True)


def empty_database(address: str) -> None:
    """Take every table out of a database."""
    from sqlalchemy import text

    storage = Storage(address)
    with storage.engine.begin() as connection:
        Base.metadata.drop_all(connection)
        connection.execute(text("DROP TABLE IF EXISTS alembic_version"))
    storage.close()
