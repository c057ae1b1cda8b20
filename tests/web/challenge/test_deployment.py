"""docs/challenge_deployment.md: its commands are run as printed, and its files are those of the server."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("sqlalchemy")
pytest.importorskip("fastapi")

from sqlalchemy import make_url, select

from navarena.cli.main import main
from navarena.web.challenge.live.job import HOST_VARIABLE
from navarena.web.challenge.log_format import LIMITS
from navarena.web.challenge.storage.engine import Storage, now_ms, open_storage, sqlite_address
from navarena.web.challenge.storage.models import User

from .servers import postgres_tool

pytestmark = pytest.mark.server

FENCE = re.compile(r"^```(bash|text)\n(.*?)^```$", re.M | re.S)


@pytest.fixture(scope="module")
def page(root: Path) -> str:
    return (root / "docs" / "challenge_deployment.md").read_text()


def find_block(page: str, start: str) -> str:
    """The block of the page that begins with `start`."""
    (found,) = [code for _, code in FENCE.findall(page) if code.startswith(start)]
    return str(found)


def run(code: str, folder: Path, **environment: str) -> None:
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", code],
        cwd=folder,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def add_user(storage: Storage, name: str) -> None:
    with storage.write() as session:
        session.add(User(name=name, password_hash="x", created=now_ms()))


def read_users(address: str) -> list[str]:
    storage = open_storage(address)
    with storage.read() as session:
        found = list(session.scalars(select(User.name).order_by(User.id)))
    add_user(storage, "later")  # ids go on
    storage.close()
    return found


WRITER = """
import os
import sys
from navarena.web.challenge.storage.engine import Storage, now_ms
from navarena.web.challenge.storage.models import User
storage = Storage(sys.argv[1])
with storage.write() as session:
    session.add(User(name="after", password_hash="x", created=now_ms()))
os.kill(os.getpid(), 9)
"""


def test_a_copy_of_sqlite_while_it_is_written_is_restored(page: str, tmp_path: Path) -> None:
    """Also where the server was killed: its write-ahead log must not come over the restored file."""
    if shutil.which("sqlite3") is None:
        pytest.skip("sqlite3 is not installed; run: apt-get install sqlite3")
    address = sqlite_address(tmp_path / "challenge.sqlite")
    storage = open_storage(address)
    add_user(storage, "before")
    run(find_block(page, "sqlite3 challenge.sqlite"), tmp_path)
    storage.close()
    assert subprocess.run([sys.executable, "-c", WRITER, address]).returncode == -9
    assert (tmp_path / "challenge.sqlite-wal").stat().st_size > 0
    run(find_block(page, "rm -f challenge.sqlite-wal"), tmp_path)
    assert read_users(address) == ["before"]


def test_a_dump_of_postgresql_is_restored(page: str, postgres: str, tmp_path: Path) -> None:
    programs = Path(str(postgres_tool("pg_dump"))).parent
    url = make_url(postgres)
    environment = {
        "PATH": os.pathsep.join((str(programs), os.environ["PATH"])),
        "PGHOST": str(url.query["host"]),
        "PGUSER": str(url.username),
        "PGDATABASE": str(url.database),
    }
    made = find_block(page, "createuser challenge")
    run(made, tmp_path, **environment)
    address = url.set(username="challenge", database="challenge").render_as_string()
    written = re.search(r"NAVARENA_DATABASE=(\S+)", made)
    assert written
    given = make_url(written[1])
    assert (given.drivername, given.username, given.database) == (url.drivername, "challenge", "challenge")
    storage = open_storage(address)
    add_user(storage, "before")
    run(find_block(page, "pg_dump"), tmp_path, **environment)
    add_user(storage, "after")
    storage.close()
    run(find_block(page, "dropdb challenge"), tmp_path, **environment)
    assert read_users(address) == ["before"]


def test_the_service_starts_what_there_is(page: str, tmp_path: Path) -> None:
    unit = find_block(page, "[Unit]")
    (command,) = re.findall(r"^ExecStart=(.*)$", unit, re.M)
    words = command.split()
    assert words[0].endswith("bin/navarena") and words[1:3] == ["serve", "challenge.toml"]
    assert main([*words[1:], "--init", str(tmp_path / "new")]) == 0, "the flags are those of the command"
    verify = shutil.which("systemd-analyze")
    if verify is None:
        pytest.skip("systemd-analyze is not installed")
    file = tmp_path / "challenge.service"
    file.write_text(unit.replace(words[0], sys.executable).replace("User=challenge", "User=root"))
    done = subprocess.run([verify, "verify", str(file)], capture_output=True, text=True)
    said = [line for line in done.stderr.splitlines() if "challenge.service" in line]
    assert not said, done.stderr


def test_the_proxy_and_the_workers_are_those_of_the_server(page: str) -> None:
    (size,) = re.findall(r"client_max_body_size (\d+)m;", find_block(page, "server {"))
    assert int(size) << 20 == LIMITS.packed
    assert find_block(page, HOST_VARIABLE).split()[1:] == ["navarena", "serve-worker", "challenge.toml"]
