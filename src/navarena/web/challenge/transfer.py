"""`navarena serve export` and `import`: a challenge as a folder.

DIR/web/        what everybody may see, for any web host
DIR/private/    every table; restores the server, and holds hashes of passwords: publish it nowhere
"""

import os
import shutil
from pathlib import Path

from navarena.core.errors import InputError, StorageError
from navarena.web.challenge.pages.export import export_site
from navarena.web.challenge.pages.mounting import make_site
from navarena.web.challenge.service import Service
from navarena.web.challenge.storage.engine import Storage
from navarena.web.challenge.storage.transfer import export_tables, import_tables

WEB, PRIVATE, TABLES = "web", "private", "tables.jsonl.gz"


def export_challenge(service: Service, folder: Path) -> tuple[int, dict[str, int]]:
    """Write both parts to `folder`; returns the submissions that everybody sees, and rows by table.

    Raises InputError where the folder has files, and StorageError where the disk refuses; nothing
    half-written is left.
    """
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise InputError(f"expected a new or empty folder for the export, got {folder}; name another one")
    part = folder.with_name(folder.name + ".part")
    try:
        shutil.rmtree(part, ignore_errors=True)
        (part / PRIVATE).mkdir(parents=True)
        (part / PRIVATE).chmod(0o700)
        public = export_site(make_site(service), part / WEB)
        counts = export_tables(service.storage, part / PRIVATE / TABLES)
        if folder.exists():
            folder.rmdir()
        os.replace(part, folder)
    except OSError as error:
        raise StorageError(
            f"the disk refused to write {folder} ({error.strerror}); make room there"
        ) from error
    finally:
        shutil.rmtree(part, ignore_errors=True)  # not there any more when all went well
    return public, counts


def import_challenge(storage: Storage, folder: Path) -> dict[str, int]:
    """Fill an empty database from an exported `folder`; see import_tables."""
    return import_tables(storage, folder / PRIVATE / TABLES)
