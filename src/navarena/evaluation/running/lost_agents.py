"""Episodes that were running when a remote agent stopped answering.

The first time, the episodes that ran are run again, each alone, by the next command; one in which the agent
is lost again, alone, is a failure of the agent.
"""

from collections.abc import Iterable, Mapping
from pathlib import Path

import msgspec

from navarena.core.files import decode_json, read_bytes, write_atomic

FILE_NAME = "lost-agents.json"

AGAIN = 2
"""Times, the last one alone, after which an episode is not run any more."""


def read_lost(folder: Path) -> dict[str, int]:
    """Episode id -> how often the agent of the run in `folder` was lost in it; raises FileError."""
    path = folder / FILE_NAME
    if not path.exists():
        return {}
    found: dict[str, int] = decode_json(read_bytes(path, "list"), f"list {path}", dict[str, int], "delete it")
    return found


def count_lost(known: Mapping[str, int], running: Iterable[str]) -> dict[str, int]:
    """`known` counts after the agent was lost while the episodes `running` ran."""
    ids = set(running)
    alone = len(ids) == 1
    return {**known, **{one: known.get(one, 0) + 1 if alone else max(1, known.get(one, 0)) for one in ids}}


def note_lost(folder: Path, running: Iterable[str]) -> None:
    """Count the episodes `running` in `folder`; raises FileError and StorageError."""
    counts = count_lost(read_lost(folder), running)
    if counts:
        write_atomic(folder / FILE_NAME, msgspec.json.encode(counts) + b"\n")
