"""Packed logs of runs, taken apart and put together again with edits."""

import gzip
import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec

from navarena.evaluation.records.record import RunRecord, hash_record
from navarena.web.challenge.log_format import About, pack_log


def about(**more: Any) -> About:
    """What a team says; the track is one that allows everything."""
    return About(**{"track": "all", "method": "ours", **more})


def pack(*folders: Path, **more: Any) -> bytes:
    """The log of the runs in `folders`."""
    return b"".join(pack_log(about(**more), folders))


def _dump(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"))


@dataclass
class Log:
    """A log of one run: what the team says, run.json, and rows, each as JSON values."""

    about: Any
    record: Any
    rows: list[Any] = field(default_factory=list)

    @classmethod
    def of(cls, packed: bytes) -> "Log":
        said, record, _, *rows = map(json.loads, gzip.decompress(packed).splitlines())
        for row in rows:
            del row["chain"]
        return cls(said, record, rows)

    def text(self) -> bytes:
        """The lines, with the hashes that whoever edits them would compute."""
        before = self._run_hash()
        header = {"journal": "navarena-journal-v1", "run": before}
        lines = [_dump(one) for one in (self.about, self.record, header)]
        for row in self.rows:
            body = _dump(row)
            before = hashlib.sha256((before + body).encode()).hexdigest()[:32]
            lines.append(f'{{"chain":"{before}",{body[1:]}')
        return ("\n".join(lines) + "\n").encode()

    def pack(self) -> bytes:
        return gzip.compress(self.text(), 1)

    def edited(self, edit: Callable[["Log"], object]) -> bytes:
        """The packed log after `edit` has changed a copy."""
        copy = Log(*json.loads(json.dumps([self.about, self.record, self.rows])))
        edit(copy)
        return copy.pack()

    def _run_hash(self) -> str:
        try:
            return hash_record(msgspec.convert(self.record, RunRecord))
        except Exception:
            return "0" * 32
