"""Databases for the tests of this folder: SQLite, and PostgreSQL where it is installed."""

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def postgres() -> Iterator[str]:
    """The address of a cluster that lives as long as the tests."""
    from .servers import run_postgres

    folder = Path(tempfile.mkdtemp(prefix="navarena-pg-"))  # a socket's path has at most 107 letters
    try:
        with run_postgres(folder) as address:
            yield address
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(params=["sqlite", "postgresql"])
def database(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The address of an empty database."""
    from navarena.web.challenge.storage.engine import sqlite_address

    from .servers import empty_database

    if request.param == "sqlite":
        return sqlite_address(tmp_path / "test.sqlite")
    address: str = request.getfixturevalue("postgres")
    empty_database(address)
    return address


@pytest.fixture(autouse=True)
def close_storages(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Close every database that a test has opened: a connection left open is a warning, and so an error."""
    engine = pytest.importorskip("navarena.web.challenge.storage.engine")
    opened, begin = [], engine.Storage.__init__

    def begin_and_note(storage: object, address: str) -> None:
        begin(storage, address)
        opened.append(storage)

    monkeypatch.setattr(engine.Storage, "__init__", begin_and_note)
    yield
    for storage in opened:
        storage.close()
