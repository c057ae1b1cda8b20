"""Room-across-Room (RxR): `rxr_{split}_guide.jsonl`, plain or gzipped, one instruction a line.

    {"split": "train", "instruction_id": 0, "language": "te-IN", "path_id": 0, "scan": "TbHJrupSAjP",
     "path": [viewpoint ids], "heading": 5.7, "instruction": "..."}

What else a line holds (annotators, timings) is not kept.
"""

import re
from pathlib import Path

import msgspec

from navarena.core.errors import FileError
from navarena.core.files import decode_json
from navarena.episodes.exchange.json_files import read_json_bytes
from navarena.episodes.exchange.r2r import R2RFile, R2RPath, require_heading

KIND = "RxR file"
_ENDINGS = re.compile(r"(\.jsonl|\.gz|_guide)+$")


class _Line(msgspec.Struct):
    path_id: int | str
    scan: str
    path: list[str]
    heading: float
    instruction: str
    language: str
    instruction_id: int | str


def load_rxr(path: Path, split: str | None = None, language: str = "") -> R2RFile:
    """Read the guides of RxR as paths of R2R, whose instructions stand in the order of the file.

    Args:
        path: .jsonl or .jsonl.gz.
        split: of the paths; None for the one in the file's name.
        language: of the instructions that are kept, or how it begins ("en"); empty for all.

    `extra` of each path has their ids and languages. Raises FileError naming the file, the line and the
    reason: damaged data, a missing or wrong member, an empty path or instruction, one path_id with two paths,
    an instruction_id that occurs twice, no instruction in `language`.
    """
    data = read_json_bytes(path, KIND)
    groups: dict[int | str, list[_Line]] = {}
    seen: set[int | str] = set()
    languages: set[str] = set()
    for number, row in enumerate(data.splitlines(), 1):
        if not row.strip():
            continue
        where = f"{KIND} {path}, line {number}"
        line: _Line = decode_json(row, where, _Line)
        if not line.path or not line.instruction.strip():
            missing = "viewpoint" if not line.path else "word"
            raise FileError(f"{where}: expected at least one {missing}, got none")
        require_heading(line.heading, where)
        if line.instruction_id in seen:
            raise FileError(f"{where}: expected instruction_id {line.instruction_id!r} once, got it again")
        seen.add(line.instruction_id)
        languages.add(line.language)
        group = groups.setdefault(line.path_id, [])
        if group and _place(group[0]) != _place(line):
            raise FileError(f"{where}: expected the path of path_id {line.path_id!r} above, got another")
        group.append(line)
    paths = tuple(
        _join(own)
        for lines in groups.values()
        if (own := [line for line in lines if line.language.startswith(language)])
    )
    if not paths:
        known = ", ".join(sorted(languages)) or "no line at all"
        raise FileError(f"{KIND} {path}: expected instructions in {language or 'any language'}, got {known}")
    name = _ENDINGS.sub("", Path(path).name)
    return R2RFile(str(path), (name.partition("rxr_")[2] or name) if split is None else split, paths)


def _place(line: _Line) -> tuple[str, list[str], float]:
    return line.scan, line.path, line.heading


def _join(lines: list[_Line]) -> R2RPath:
    first = lines[0]
    extra = {
        "instruction_ids": [line.instruction_id for line in lines],
        "languages": [line.language for line in lines],
    }
    texts = tuple(line.instruction for line in lines)
    return R2RPath(first.path_id, first.scan, tuple(first.path), first.heading, texts, extra=extra)
