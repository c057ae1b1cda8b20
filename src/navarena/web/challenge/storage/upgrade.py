"""Brings a database to the tables of this version, from an empty one or an older one."""

from pathlib import Path
from typing import Any

from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, text

from navarena.core.errors import InputError
from navarena.web.challenge.storage.engine import POSTGRESQL, Storage

FOLDER = Path(__file__).with_name("migrations")

_LOCK = 0x6E617661
"""PostgreSQL's advisory lock of whoever migrates: "nava"."""


def upgrade(storage: Storage, revision: str = "head") -> None:
    """Migrate the database to `revision` in one transaction; concurrent callers wait for it.

    Raises InputError for a database of a newer version.
    """
    config = _config()
    known = {one.revision for one in ScriptDirectory.from_config(config).walk_revisions()}
    with storage.read() as session:
        if revision == "head" and find_revision(session.connection()) == _head(config):
            return

    def migrate(connection: Connection) -> None:
        if storage.kind == POSTGRESQL:
            connection.execute(text(f"SELECT pg_advisory_xact_lock({_LOCK})"))
        found = find_revision(connection)
        if found is not None and found not in known:
            raise InputError(
                f"expected a database of this version of navarena or an older one, got revision {found!r} of "
                "a newer one; install that version, or restore a backup"
            )
        config.attributes["connection"] = connection
        command.upgrade(config, revision)

    storage.change_tables(migrate)


def find_revision(connection: Connection) -> str | None:
    """The revision of a database; None for an empty one."""
    found: str | None = MigrationContext.configure(connection).get_current_revision()
    return found


def _config() -> Config:
    config = Config()
    config.set_main_option("script_location", str(FOLDER).replace("%", "%%"))
    return config


def _head(config: Config) -> Any:
    return ScriptDirectory.from_config(config).get_current_head()
