"""A run as one file for submission: gzip over lines of JSON.

    {"submission": "navarena-submission-v1", "track": ..., ...}    what the team says: About
    {"format": "navarena-run-v2", ...}                             run.json of a run, on one line
    {"journal": "navarena-journal-v1", ...}                        its journals, one after the other
    {"chain": ..., "episode_id": ..., "actions": [...], ...}
    ...

A phase of several parts has the lines of several runs. No name of a file travels, and whoever reads holds one
journal at a time.
"""

import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

import msgspec

from navarena.core.errors import FileError
from navarena.core.files import DAMAGE, MAX_QUOTED
from navarena.evaluation.records.journal import Journal, journal_paths, parse_journal
from navarena.evaluation.records.record import FORMAT as RUN_FORMAT
from navarena.evaluation.records.record import RunRecord, hash_record, read_record
from navarena.web.challenge.refusals import Refusal

MEDIA_TYPE = "application/gzip"

TOO_LARGE = 413
GZIP = 31
"""Window of zlib for gzip with its header and checksum."""
_RECORD, _JOURNAL = b'{"format":', b'{"journal":'
_PIECE = 1 << 16
_AGAIN = "make it by `navarena submit`"

Content = TypeVar("Content")
Short = Annotated[str, msgspec.Meta(max_length=200)]
Link = Annotated[str, msgspec.Meta(max_length=500, pattern=r"^(https?://[^\s]+)?$")]
Count = Annotated[int, msgspec.Meta(ge=0, le=1 << 60)]


@dataclass(frozen=True)
class LogLimits:
    """Bounds of an upload, bytes: as it comes, unpacked, and of one line.

    A run of 1,000 episodes of 200 actions is 2 MB, and 0.2 MB packed.
    """

    packed: int = 32 << 20
    unpacked: int = 128 << 20
    line: int = 2 << 20


LIMITS = LogLimits()


class About(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A team's description of its submission.

    Attributes:
        submission: format of the file.
        track: name of the track.
        method: what the leaderboard calls it.
        link, code_link: addresses of a text and of code; empty for none.
        hardware: on which the agent ran.
        model_size: parameters.
        training_frames, demonstrations, training_data: that it learned from; the data in words.
    """

    submission: Literal["navarena-submission-v1"] = "navarena-submission-v1"
    track: Annotated[str, msgspec.Meta(max_length=64)]
    method: Annotated[str, msgspec.Meta(min_length=1, max_length=200)]
    link: Link = ""
    code_link: Link = ""
    hardware: Short = ""
    model_size: Count | None = None
    training_frames: Count | None = None
    demonstrations: Count | None = None
    training_data: Short = ""


@dataclass(frozen=True)
class RunLog:
    """One run of a submission.

    Attributes:
        record: its run.json.
        journals: all of them.
    """

    record: RunRecord
    journals: tuple[Journal, ...]


def pack_log(about: About, folders: Sequence[Path]) -> Iterator[bytes]:
    """The runs in `folders` as pieces of gzip; raises FileError for files that are missing or damaged."""
    packer = zlib.compressobj(6, zlib.DEFLATED, GZIP)
    yield packer.compress(msgspec.json.encode(about) + b"\n")
    for folder in folders:
        record = read_record(folder)
        paths = journal_paths(folder)
        if not paths:
            raise FileError(f"{folder} holds no journal; run navarena evaluate first")
        yield packer.compress(msgspec.json.encode(record) + b"\n")
        for path in paths:
            data = path.read_bytes()
            yield packer.compress(data[: data.rfind(b"\n") + 1])  # a torn line is no episode
    yield packer.flush()


def unpack_lines(pieces: Iterable[bytes], limits: LogLimits = LIMITS) -> Iterator[bytes]:
    """The lines in `pieces` of gzip, without their ends; never more than `limits` in memory or in all.

    Raises Refusal "damaged_log" for other data, and "too_large".
    """
    stream, left, waiting = zlib.decompressobj(GZIP), limits.unpacked, b""
    for piece in pieces:
        for text in _inflate(stream, piece):
            left -= len(text)
            if left < 0 or len(waiting) + len(text) > limits.line + _PIECE:
                raise Refusal(
                    "too_large",
                    f"expected at most {limits.unpacked >> 20} MiB of JSON in lines of at most "
                    f"{limits.line >> 20} MiB, got more; submit fewer episodes",
                    TOO_LARGE,
                )
            *lines, waiting = (waiting + text).split(b"\n")
            yield from lines
        if stream.unused_data:
            raise Refusal("damaged_log", f"expected one file of gzip, got data after its end; {_AGAIN}")
    if not stream.eof or waiting:
        raise Refusal("damaged_log", f"expected a whole file of gzip, got one that was cut short; {_AGAIN}")


def _inflate(stream: Any, piece: bytes) -> Iterator[bytes]:
    """Decompress `piece`, at most _PIECE bytes at a time."""
    text, rest = b"", piece
    while rest or len(text) == _PIECE:
        try:
            text = stream.decompress(rest, _PIECE)
        except zlib.error as error:
            raise Refusal(
                "damaged_log", f"expected a file of gzip, got damage ({error}); {_AGAIN}"
            ) from error
        rest = b"" if stream.eof else stream.unconsumed_tail
        yield text


def read_about(line: bytes) -> About:
    """The first line of a log; raises Refusal "damaged_log"."""
    require_no_zero_byte(line)
    return decode_line(line, About, "first line")


def read_runs(lines: Iterable[bytes]) -> Iterator[RunLog]:
    """The runs in the lines after the first one; raises Refusal "damaged_log" and "edited_log"."""
    record: RunRecord | None = None
    journals: list[Journal] = []
    held: list[bytes] = []
    for line in lines:
        if line.startswith(_RECORD):
            if record is not None:
                yield _finish_run(record, journals, held)
            require_no_zero_byte(line)
            record, journals, held = _read_record(line), [], []
        elif record is None:
            raise Refusal("damaged_log", f"expected the run.json of a run on the second line; {_AGAIN}")
        elif line.startswith(_JOURNAL):
            _close_journal(record, journals, held)
            held = [line]
        else:
            held.append(line)
    if record is not None:
        yield _finish_run(record, journals, held)


def _finish_run(record: RunRecord, journals: list[Journal], held: list[bytes]) -> RunLog:
    _close_journal(record, journals, held)
    return RunLog(record, tuple(journals))


def _close_journal(record: RunRecord, journals: list[Journal], held: list[bytes]) -> None:
    """Read the lines that are `held` as one journal of `record`."""
    if not held:
        return
    path = Path(f"journal {len(journals)}")
    try:
        journal = parse_journal(path, b"\n".join([*held, b""]))
    except FileError as error:
        raise Refusal("damaged_log", f"{error}".partition(";")[0] + f"; {_AGAIN}") from error
    held.clear()
    if journal.rows and (journal.run != hash_record(record) or journal.broken):
        raise Refusal(
            "edited_log",
            f"expected journals whose hash chain begins with their run.json, got {path} whose does not: "
            "it was edited; evaluate again",
        )
    journals.append(journal)


class _Format(msgspec.Struct):
    format: str = ""
    versions: dict[str, str] = {}


def _read_record(line: bytes) -> RunRecord:
    found = decode_line(line, _Format, "run.json")
    if found.format != RUN_FORMAT:
        raise Refusal(
            "other_format",
            f"expected a run of format {RUN_FORMAT!r}, got {found.format[:50]!r}; evaluate again with the "
            "version of the server",
        )
    record = decode_line(line, RunRecord, "run.json")
    if "agent" not in record.settings or len(record.agent) > 200:
        raise Refusal(
            "damaged_log", f"expected a run.json with an agent's name of at most 200 letters; {_AGAIN}"
        )
    if not {"system", "machine"} <= record.hardware.keys():
        raise Refusal("damaged_log", f"expected a run.json that names system and machine; {_AGAIN}")
    return record


def decode_line(line: bytes, kind: type[Content], name: str) -> Content:
    """The JSON of a line, which messages call `name`; raises Refusal "damaged_log"."""
    try:
        return msgspec.json.decode(line, type=kind)
    except DAMAGE as error:
        what = " ".join(str(error).split())[:MAX_QUOTED]
        raise Refusal(
            "damaged_log", f"expected {name} to be as it was made, got damage ({what}); {_AGAIN}"
        ) from error


def has_zero_byte(line: bytes) -> bool:
    """Whether a text in JSON has a zero byte, which PostgreSQL does not hold."""
    return b"\\u0000" in line


def require_no_zero_byte(line: bytes) -> None:
    """Raise Refusal for a zero byte in a text."""
    if has_zero_byte(line):
        raise Refusal("damaged_log", f"expected text without zero bytes; {_AGAIN}")
