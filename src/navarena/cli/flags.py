"""Flags of a subcommand, read by tyro; wrong ones raise an InputError of one line.

tyro draws a box around its errors. Their text is taken out of the box here, and the known flags are
read from its help, so that the error for an unknown flag names the nearest one.
"""

import contextlib
import io
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, get_type_hints

from navarena.core.errors import InputError, unknown_name
from navarena.core.files import require_place

_FRAME = re.compile("\x1b\\[[0-9;]*m|[\u2500-\u257f]|^[|+]|[|+]$")
_RULE = re.compile("[\u2500-]{8,}")
_FLAG = re.compile(r"^\W*(?:-h, )?(--[a-z][a-z0-9-]*)", re.MULTILINE)


MOVED: Mapping[str, tuple[str, ...]] = {
    "--calibrate": ("--calibration-steps",),
    "--calibration": ("--calibration-episodes",),
    "--connectivity": ("--scenes",),
    "--most": ("--limit", "--episodes"),
    "--r2r": ("--dataset",),
    "--slots": ("--batch-size",),
}
"""Former names of flags -> their names now, of which a command has one."""


class OutputFile:
    """Marks a flag, Annotated[Path, OutputFile(".png")], as a file that the command writes.

    One that cannot be written, or that ends otherwise, is refused before the command begins its work.

    Args:
        endings: of its name, in small letters; none for any.
    """

    def __init__(self, *endings: str) -> None:
        self._endings = endings

    def check(self, flag: str, path: Path) -> None:
        """Raise InputError or StorageError unless `path`, given as `flag`, can be written."""
        if self._endings and not path.name.lower().endswith(self._endings):
            raise InputError(f"expected {flag} to end in {' or '.join(self._endings)}, got {path}")
        require_place(path)


def _check_files(command: Any) -> None:
    """Check the files that the flags of `command` name to be written; see OutputFile."""
    for name, hint in get_type_hints(type(command), include_extras=True).items():
        for mark in getattr(hint, "__metadata__", ()):
            if isinstance(mark, OutputFile) and getattr(command, name) is not None:
                mark.check("--" + name.replace("_", "-"), getattr(command, name))


def read_flags(kind: Any, name: str, arguments: Sequence[str]) -> Any:
    """An instance of the dataclass `kind`, the subcommand `name`, filled from `arguments`.

    `--help` prints the help and exits with 0. Raises UnknownNameError for a flag that does not
    exist, InputError for a value that is missing or does not fit, StorageError for a file that cannot be
    written.
    """
    refusal = io.StringIO()
    try:
        with contextlib.redirect_stderr(refusal):
            command = _call_tyro(kind, name, arguments)
    except SystemExit as stop:
        if stop.code in (None, 0):
            raise
    else:
        _check_files(command)
        return command
    known = known_flags(kind, name)
    for argument in arguments:
        flag = argument.split("=")[0]
        if flag not in known and (now := [name for name in MOVED.get(flag, ()) if name in known]):
            raise InputError(f"expected the flag {now[0]} of `navarena {name}`, got its old name {flag}")
        if flag.startswith("--") and flag not in known:
            raise unknown_name(f"flag of `navarena {name}`", flag, known)
    raise InputError(f"{_unframe(refusal.getvalue())}; `navarena {name} --help` explains the flags")


def _call_tyro(kind: Any, name: str, arguments: Sequence[str]) -> Any:
    import tyro

    return tyro.cli(
        kind, prog=f"navarena {name}", args=list(arguments), config=(tyro.conf.FlagCreatePairsOff,)
    )


def known_flags(kind: Any, name: str) -> list[str]:
    """The flags of `kind`, as its help lists them."""
    text = io.StringIO()
    with contextlib.redirect_stdout(text), contextlib.suppress(SystemExit):
        _call_tyro(kind, name, ["--help"])
    return _FLAG.findall(text.getvalue())


def _unframe(box: str) -> str:
    """The message of tyro's error box on one line, without its title and help.

    The frame is drawn with lines, or with dashes where the stream knows no Unicode.
    """
    words: list[str] = []
    for line in box.splitlines()[1:]:
        if words and (_RULE.search(line) or "Got errors:" in line):
            break
        words += _FRAME.sub("", _RULE.sub("", line)).split()
    text = " ".join(words).removesuffix(".")
    text = re.sub(r"^Missing from navarena [a-z -]+:", "expected", text)
    text = (
        text.replace(". (required)", ";")
        .removesuffix(";")
        .replace("{None}|", "")
        .replace("Unrecognized options:", "unexpected")
    )
    if text.startswith("Missing value"):
        text += " (one that starts with a dash is written --flag=-value)"
    return text[:1].lower() + text[1:]
