"""The whole database as one file, and an empty database filled from it: for moves and backups.

    {"export": "navarena-challenge-tables-v1", "tables": ["users", ...]}
    {"table": "users", "row": {"id": 1, ...}}
    ...

JSON lines in gzip. Sessions of browsers and streams of live runs are left out: they end with the server.
Private seeds are in no database.
"""

import base64
import gzip
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
from sqlalchemy import LargeBinary, Table, func, insert, select, text
from sqlalchemy.orm import Session

from navarena.core.errors import FileError, InputError
from navarena.web.challenge.storage.engine import POSTGRESQL, Storage
from navarena.web.challenge.storage.models import Base

FORMAT = "navarena-challenge-tables-v1"
LEFT_OUT = ("sessions", "live_streams")
AT_ONCE = 500
"""Rows that are read and written together."""

LONGEST_LINE = 64 << 20
"""Bytes of a line; the longest are pieces of uploads."""


def list_tables() -> list[Table]:
    """The tables that are exported, those that others refer to first."""
    return [table for table in Base.metadata.sorted_tables if table.name not in LEFT_OUT]


def export_tables(storage: Storage, path: Path) -> dict[str, int]:
    """Write every row to `path`, which only its owner can read; returns table -> number of rows."""
    counts = {}
    path.touch(mode=0o600)
    with storage.read() as session, gzip.open(path, "wb") as file:
        file.write(
            msgspec.json.encode({"export": FORMAT, "tables": [str(one.name) for one in list_tables()]})
            + b"\n"
        )
        for table in list_tables():
            counts[str(table.name)] = 0
            for row in session.execute(select(table).execution_options(yield_per=AT_ONCE)).mappings():
                file.write(
                    msgspec.json.encode({"table": str(table.name), "row": _encode(table, dict(row))}) + b"\n"
                )
                counts[str(table.name)] += 1
    return counts


def import_tables(storage: Storage, path: Path) -> dict[str, int]:
    """Fill an empty database from `path`, in one transaction; returns table -> number of rows.

    Raises InputError for a database that has accounts or challenges, and FileError for a file that is
    damaged or of another kind.
    """
    tables = {str(table.name): table for table in list_tables()}
    counts = dict.fromkeys(tables, 0)
    try:
        with gzip.open(path, "rb") as file, storage.write() as session:
            _require_empty(session)
            held: list[dict[str, Any]] = []
            before: Table | None = None
            for name, row in _read_lines(path, file):
                if name not in tables:
                    raise FileError(f"expected a table of this version in {path}, got {name[:64]!r}")
                table = tables[name]
                if before is not None and (before is not table or len(held) >= AT_ONCE):
                    session.execute(insert(before), held)
                    held = []
                before = table
                held.append(_decode(path, table, row))
                counts[name] += 1
            if before is not None and held:
                session.execute(insert(before), held)
            if storage.kind == POSTGRESQL:
                _advance_sequences(session)
    except (OSError, EOFError, zlib.error) as error:
        raise FileError(f"expected the export of a challenge server at {path}, got {error}") from error
    return counts


def _read_lines(path: Path, file: Any) -> Iterator[tuple[str, dict[str, Any]]]:
    try:
        head = msgspec.json.decode(file.readline(LONGEST_LINE) or b"{}", type=dict[str, Any])
        if head.get("export") != FORMAT:
            raise FileError(f"expected an export of the format {FORMAT} at {path}, got another file")
        while line := file.readline(LONGEST_LINE):
            found = msgspec.json.decode(line, type=dict[str, Any])
            yield str(found["table"]), dict(found["row"])
    except (msgspec.DecodeError, KeyError, TypeError, ValueError) as error:
        raise FileError(f"expected lines of an export in {path}, got a damaged one; copy it again") from error


def _require_empty(session: Session) -> None:
    for table in list_tables():
        if session.scalar(select(func.count()).select_from(table)):
            raise InputError(
                f"expected an empty database to import into, got one with rows in {table.name!r}; name "
                "another one by --database"
            )


def _encode(table: Table, row: dict[str, Any]) -> dict[str, Any]:
    found = {str(name): value for name, value in row.items()}
    for column in table.columns:
        if isinstance(column.type, LargeBinary) and found[column.name] is not None:
            found[str(column.name)] = base64.b64encode(found[column.name]).decode()
    return found


def _decode(path: Path, table: Table, row: dict[str, Any]) -> dict[str, Any]:
    if set(row) != set(table.columns.keys()):
        raise FileError(f"expected rows of this version's {table.name!r} in {path}, got other columns")
    for column in table.columns:
        if isinstance(column.type, LargeBinary) and row[column.name] is not None:
            row[column.name] = base64.b64decode(row[column.name])
    return row


def _advance_sequences(session: Session) -> None:
    """Advance id sequences beyond the imported ids."""
    for table in list_tables():
        if "id" in table.columns:
            found = session.scalar(select(func.max(table.columns["id"])))
            if found is not None:
                name = text("SELECT setval(pg_get_serial_sequence(:table, 'id'), :last)")
                session.execute(name, {"table": table.name, "last": found})
