"""Output of commands: tables and text on stdout, progress on stderr.

With `--json`, stdout carries exactly one JSON document and nothing else.
"""

import json
import math
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Protocol, runtime_checkable

from navarena.cli.process import keep_streams

REPORTED_SHARE = 10
"""Without a terminal, progress is one plain line per this many per cent."""

DESCRIBED_SECONDS = 0.5
"""Seconds between two updates of the description of the progress."""


@runtime_checkable
class Progress(Protocol):
    """A counter of finished items."""

    def advance(self, count: int = 1) -> None:
        """Count `count` more items as finished."""
        ...


class _SilentProgress:
    def advance(self, count: int = 1) -> None:
        """Ignore the count."""


class _PlainProgress:
    """Progress for log files: a line whenever another tenth is done."""

    def __init__(self, total: int, label: str, describe: Callable[[], str]) -> None:
        self._total, self._label, self._done, self._reported = total, label, 0, 0
        self._describe = describe

    def advance(self, count: int = 1) -> None:
        """Count `count` more items; write a line to stderr if another share is complete."""
        self._done += count
        share = 100 * self._done // max(self._total, 1)
        if share >= self._reported + REPORTED_SHARE:
            self._reported = share - share % REPORTED_SHARE
            line = f"{self._label}: {self._done}/{self._total}"
            print(", ".join(filter(None, (line, self._describe()))), file=sys.stderr, flush=True)


class _BarProgress:
    """A bar with a line of status below it."""

    def __init__(self, bar: Any, task: Any, describe: Callable[[], str]) -> None:
        self._bar, self._task, self._describe = bar, task, describe
        self._described, self.said = -math.inf, ""

    def advance(self, count: int = 1) -> None:
        """Move the bar by `count` items, and update the line of status if it is old."""
        self._bar.advance(self._task, count)
        if time.monotonic() - self._described > DESCRIBED_SECONDS or self._bar.finished:
            self._described = time.monotonic()
            self.said = self._describe()


@contextmanager
def _show_bar(total: int, label: str, describe: Callable[[], str], transient: bool) -> Iterator[_BarProgress]:
    """A bar on stderr with the time that is left, for 80 columns; `transient` ones vanish at the end."""
    from rich.console import Console as RichConsole
    from rich.console import Group
    from rich.live import Live
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )
    from rich.progress import Progress as RichProgress
    from rich.table import Column
    from rich.text import Text

    console = RichConsole(stderr=True)
    title = Column(no_wrap=True, overflow="ellipsis", max_width=console.width // 2)
    columns = (
        TextColumn("{task.description}", table_column=title),
        BarColumn(None),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
        TextColumn("left"),
    )
    bar = RichProgress(*columns, console=console, expand=True)
    progress = _BarProgress(bar, bar.add_task(label, total=total), describe)

    def draw() -> Any:
        return Group(bar.get_renderable(), *([Text(progress.said)] if progress.said else []))

    with Live(get_renderable=draw, console=console, transient=transient):
        yield progress


def format_cell(value: object) -> str:
    """The text of one table cell: floats with four significant digits, None as a dash."""
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"
    return str(value)


def count_of(number: int, noun: str) -> str:
    """`number` and the noun in its singular or plural: "1 scene", "2 scenes"."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


class Console:
    """The output of a subcommand.

    Args:
        json: print only the mapping given to `result`, as JSON.
    """

    def __init__(self, json: bool = False) -> None:
        self.json = json
        self._document = ""

    @contextmanager
    def keep_stdout(self) -> Iterator[None]:
        """With --json, send what is printed in the block to stderr, and print the document at its end.

        Agents, and what they load, print to sys.stdout or to descriptor 1; some close both.
        """
        with keep_streams(stdout_to=2 if self.json else 1) as stdout:
            try:
                yield
            finally:
                if self._document:  # a check that fails raises after its result
                    print(self._document, file=stdout, flush=True)

    def text(self, line: str) -> None:
        """Print a line; nothing with --json."""
        if not self.json:
            print(line, flush=True)

    def note(self, line: str) -> None:
        """Print a notice on stderr, also with --json."""
        print(line, file=sys.stderr, flush=True)

    def table(self, title: str, columns: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
        """Print a table: `rows` are sequences of cells, one for each of `columns`."""
        if self.json:
            return
        from rich.console import Console as RichConsole
        from rich.table import Table

        table = Table(title=title, title_justify="left")
        numeric = [
            all(isinstance(row[k], int | float) or row[k] is None for row in rows)
            for k in range(len(columns))
        ]
        for column, is_number in zip(columns, numeric):
            table.add_column(column, justify="right" if is_number and rows else "left", overflow="fold")
        for row in rows:
            table.add_row(*(format_cell(cell) for cell in row))
        out = RichConsole(markup=False, highlight=False)
        if not out.is_terminal:
            out = RichConsole(markup=False, highlight=False, width=160)
        try:
            out.print(table)
        except SystemExit as stopped:  # rich's own answer to a reader that has left
            raise BrokenPipeError from stopped

    @contextmanager
    def progress(
        self, total: int, label: str, describe: Callable[[], str] = str, quiet: bool = False
    ) -> Iterator[Progress]:
        """A progress bar with remaining time over `total` items, on stderr.

        On a terminal it is a bar, else plain lines; `quiet`, or with --json and no terminal, it is silent.
        `describe` says how the work goes, beside the bar.
        """
        if quiet or (self.json and not sys.stderr.isatty()):
            yield _SilentProgress()
            return
        if not sys.stderr.isatty():
            yield _PlainProgress(total, label, describe)
            return
        with _show_bar(total, label, describe, transient=self.json) as progress:
            yield progress

    def result(self, values: Mapping[str, Any]) -> None:
        """With --json, keep `values` as the one JSON document that `keep_stdout` prints; else nothing.

        NaN and infinities become null, NumPy numbers and paths their plain counterparts.
        """
        if self.json:
            self._document = json.dumps(plain_json(values), indent=2, allow_nan=False)


def plain_json(value: Any) -> Any:
    """`value` made of dict, list, str, int, float, bool and None only; non-finite floats are None."""
    if isinstance(value, Mapping):
        return {str(key): plain_json(item) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [plain_json(item) for item in value]
    if value is None or isinstance(value, str | bool | int):
        return value
    if isinstance(value, float):
        return float(value) if value - value == 0 else None
    if callable(getattr(value, "tolist", None)):  # NumPy scalars and arrays
        return plain_json(value.tolist())
    return str(value)
