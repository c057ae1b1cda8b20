"""Access to the database: SQLite beside the challenge file, or PostgreSQL by its address."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Engine, create_engine, event, make_url
from sqlalchemy.exc import ArgumentError, DataError, OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError
from sqlalchemy.orm import Session, sessionmaker

from navarena.core.errors import InputError, StorageError, require_extra

SQLITE, POSTGRESQL = "sqlite", "postgresql"
BUSY_SECONDS = 60.0
"""That a writer on SQLite waits for the one before it; each holds the file for milliseconds."""

_IMMEDIATE = "navarena_immediate"


class Storage:
    """Sessions on one database.

    A writer on SQLite takes the file at once (BEGIN IMMEDIATE), so that nothing it has read can change
    before it commits; on PostgreSQL it locks the rows on which its decision rests (`with_for_update`).

    Args:
        address: SQLAlchemy's, such as "sqlite:///challenge.sqlite" or "postgresql+psycopg://host/name".

    Raises InputError for an address that is none or names another kind of database, and MissingExtraError
    where its driver is not installed.
    """

    def __init__(self, address: str) -> None:
        try:
            url = make_url(address)
        except ArgumentError as error:
            raise InputError(
                "expected the address of a database, such as sqlite:///challenge.sqlite or "
                "postgresql+psycopg://user@host/name, got one that cannot be read"
            ) from error
        self.kind = url.get_backend_name()
        if self.kind not in (SQLITE, POSTGRESQL):
            raise InputError(f"expected a database of {SQLITE} or {POSTGRESQL}, got one of {self.kind!r}")
        if self.kind == POSTGRESQL:
            require_extra("psycopg", "server")
            self.engine = create_engine(
                url.set(drivername="postgresql+psycopg"), pool_size=20, max_overflow=20
            )
        else:
            self.engine = create_engine(url, connect_args={"timeout": BUSY_SECONDS})
            _prepare_sqlite(self.engine)
        self._readers = sessionmaker(self.engine, expire_on_commit=False)
        self._writing = self.engine.execution_options(**{_IMMEDIATE: True})
        self._writers = sessionmaker(self._writing, expire_on_commit=False)

    @contextmanager
    def read(self) -> Iterator[Session]:
        """A session that changes nothing.

        Raises StorageError where the database cannot be reached, and InputError for a value that it cannot
        hold.
        """
        with self._translate(), self._readers() as session:
            yield session

    @contextmanager
    def write(self) -> Iterator[Session]:
        """A session whose changes are kept, all of them, when the block ends well.

        Raises StorageError where the database cannot be reached or the disk is full, and InputError for a
        value that it cannot hold.
        """
        with self._translate(), self._writers.begin() as session:
            yield session

    def change_tables(self, change: Callable[[Connection], None]) -> None:
        """Call `change` with a connection, as one transaction; raises StorageError as `write` does."""
        with self._translate(), self._writing.begin() as connection:
            change(connection)

    def close(self) -> None:
        """Close every connection."""
        self.engine.dispose()

    @contextmanager
    def _translate(self) -> Iterator[None]:
        try:
            yield
        except OperationalError as error:
            raise StorageError(
                f"the database refused ({' '.join(str(error.orig).split())}); check that it runs, that its "
                "disk has space, and that its folder can be written"
            ) from error
        except PoolTimeoutError as error:
            raise StorageError(
                "the database is busy: every connection was taken for too long; try again"
            ) from error
        except DataError as error:
            raise InputError(
                "expected texts without zero bytes and numbers of usual size, got others; mend the request"
            ) from error


def open_storage(address: str) -> Storage:
    """The database at `address`, brought to this version's tables.

    Raises as Storage does, and InputError for a database of a newer version.
    """
    from navarena.web.challenge.storage.upgrade import upgrade  # it stands above, and Alembic takes its time

    storage = Storage(address)
    try:
        upgrade(storage)
    except BaseException:
        storage.close()
        raise
    return storage


def sqlite_address(path: Path) -> str:
    """The address of the SQLite file at `path`."""
    return f"sqlite:///{path.absolute()}"


def now_ms() -> int:
    """Milliseconds since 1970, UTC: the time as the tables hold it."""
    return time.time_ns() // 1_000_000


def _prepare_sqlite(engine: Engine) -> None:
    """Write-ahead log, foreign keys, and transactions that begin when SQLAlchemy says so."""

    @event.listens_for(engine, "connect")
    def prepare(connection: Any, record: Any) -> None:
        connection.isolation_level = None  # the driver would begin transactions by itself, too late
        for setting in ("journal_mode=WAL", "synchronous=FULL", "foreign_keys=ON"):
            connection.execute(f"PRAGMA {setting}").close()

    @event.listens_for(engine, "begin")
    def begin(connection: Connection) -> None:
        immediate = connection.get_execution_options().get(_IMMEDIATE, False)
        connection.exec_driver_sql("BEGIN IMMEDIATE" if immediate else "BEGIN")
