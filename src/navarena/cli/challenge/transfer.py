"""`navarena serve export` and `navarena serve import`: a challenge as a folder, and back."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro

from navarena.cli.console import Console
from navarena.core.errors import require_extra


@dataclass(frozen=True)
class ServeExport:
    """Write a challenge to a new folder: web/ for any web host, private/ to restore the server from.

    web/ holds what everybody may see: pages, CSV and JSON. private/ holds every table, with hashes of
    passwords: publish it nowhere. With --json, one document is printed with the keys folder, submissions
    (on shown boards) and rows (by table).
    """

    folder: Annotated[Path, tyro.conf.Positional, tyro.conf.arg(metavar="DIR")]
    """New folder."""
    challenge: Path = Path("challenge.toml")
    """The challenge file (TOML)."""
    database: str | None = None
    """Address of the database; see `navarena serve`."""
    json: bool = False
    """Print one JSON document instead of text."""

    def run(self, console: Console) -> int:
        """Write the folder; the exit code is 0."""
        require_extra("fastapi", "server")
        from navarena.cli.challenge.serve import find_database
        from navarena.web.challenge.challenge_file import load_challenge
        from navarena.web.challenge.service import open_service
        from navarena.web.challenge.transfer import export_challenge

        service = open_service(load_challenge(self.challenge), find_database(self.database, self.challenge))
        submissions, rows = export_challenge(service, self.folder)
        service.storage.close()
        console.text(
            f"{self.folder / 'web'} shows {submissions} submissions; {self.folder / 'private'} has all"
        )
        console.result({"folder": str(self.folder), "submissions": submissions, "rows": rows})
        return 0


@dataclass(frozen=True)
class ServeImport:
    """Fill an empty database from an exported folder; the kind of database may differ.

    With --json, one document is printed with the key rows (by table).
    """

    folder: Annotated[Path, tyro.conf.Positional, tyro.conf.arg(metavar="DIR")]
    """Folder written by `navarena serve export`."""
    challenge: Path = Path("challenge.toml")
    """The challenge file (TOML)."""
    database: str | None = None
    """Address of the empty database; see `navarena serve`."""
    json: bool = False
    """Print one JSON document instead of text."""

    def run(self, console: Console) -> int:
        """Fill the database; the exit code is 0."""
        require_extra("fastapi", "server")
        from navarena.cli.challenge.serve import find_database
        from navarena.web.challenge.challenge_file import load_challenge
        from navarena.web.challenge.storage.engine import open_storage
        from navarena.web.challenge.transfer import import_challenge

        load_challenge(self.challenge)
        storage = open_storage(find_database(self.database, self.challenge))
        rows = import_challenge(storage, self.folder)
        storage.close()
        console.text(f"{rows['submissions']} submissions of {rows['teams']} teams are restored")
        console.result({"rows": rows})
        return 0
