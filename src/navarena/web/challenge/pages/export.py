"""A challenge as files for any web host: pages without a server, and the data as CSV and JSON."""

import csv
import io
from pathlib import Path
from typing import Any

import msgspec

from navarena.core.files import write_atomic
from navarena.web.challenge.accounts.sessions import Visitor
from navarena.web.challenge.pages.boards import Boards
from navarena.web.challenge.pages.public import board_table, draw_history
from navarena.web.challenge.pages.site import STATIC, Site
from navarena.web.challenge.pages.submission_views import view_submission
from navarena.web.challenge.pages.views import (
    list_columns,
    view_board,
    view_challenge,
    view_history,
    view_place,
)
from navarena.web.challenge.settings import Phase

NOBODY = Visitor(None, "")
_FORMULA = ("=", "+", "-", "@", "\t", "\r")

COLUMNS = (
    "section", "rank", "tied", "team", "method", "track", "kind", "created", "finished", "agent",
    "declared_inputs", "trained_with", "training_data", "model_size", "training_frames", "demonstrations",
    "seconds_per_step", "hardware", "link", "code_link", "tries", "submission",
)  # fmt: skip


def write_csv(boards: Boards, phase: Phase) -> str:
    """The whole leaderboard of `phase` as CSV: for each method a line, with all of its metrics."""
    sections = boards.board(phase, None)
    columns = list_columns(phase, sections)
    names = [column["name"] for column in columns]
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(
        [*COLUMNS, *(f"{name} {part}" for name in names for part in ("mean", "low", "high", "n"))]
    )
    for section in sections:
        for place in section.places:
            row = {**view_place(phase, place, names), "section": section.name}
            cells = [_cell(row[name]) for name in COLUMNS]
            for name in names:
                held = row["metrics"].get(name) or {}
                cells += [held.get(part) for part in ("mean", "low", "high", "n")]
            writer.writerow(cells)
    return text.getvalue()


def _cell(value: Any) -> Any:
    """A value as a cell that no spreadsheet takes for a formula."""
    text = ", ".join(value) if isinstance(value, list) else value
    return f"'{text}" if isinstance(text, str) and text.startswith(_FORMULA) else text


EVERYTHING = 1_000_000
"""Rows of a page that holds all."""


def export_site(site: Site, folder: Path) -> int:
    """Write what everybody may see of `site` into `folder`, and return the number of submissions.

    Boards that are hidden stay hidden.
    """
    for name in ("phases", "submissions", "static"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    for file in STATIC:
        (folder / "static" / file.name).write_bytes(file.read_bytes())
    with site.storage.read() as session:
        view: dict[str, Any] = view_challenge(session, site.challenge)
    _write_page(site, folder / "index.html", "challenge.html", "", view=view)
    write_atomic(folder / "challenge.json", msgspec.json.encode(view))
    return sum(_export_phase(site, folder, phase) for phase in site.challenge.phases)


def _export_phase(site: Site, folder: Path, phase: Phase) -> int:
    files = folder / "phases"
    with site.storage.read() as session:
        view = view_board(session, site.challenge, site.boards, NOBODY, phase, size=EVERYTHING)
        history = view_history(session, site.challenge, site.boards, NOBODY, phase)
    table = board_table(site, view, base="../", exported=True)
    _write_page(site, files / f"{phase.name}.html", "leaderboard.html", "../", view=view, table=table)
    charts = draw_history(history)
    _write_page(
        site, files / f"{phase.name}-history.html", "history.html", "../", view=history, charts=charts
    )
    write_atomic(files / f"{phase.name}.json", msgspec.json.encode({**view, "history": history}))
    if not view["visible"]:
        return 0
    write_atomic(files / f"{phase.name}.csv", write_csv(site.boards, phase).encode())
    entries = site.boards.snapshot(phase).entries
    for entry in entries:
        with site.storage.read() as session:
            one = view_submission(session, site.challenge, site.boards, NOBODY, entry.submission)
        _write_page(
            site, folder / "submissions" / f"{entry.submission}.html", "submission.html", "../", view=one
        )
        write_atomic(folder / "submissions" / f"{entry.submission}.json", msgspec.json.encode(one))
    return len(entries)


def _write_page(site: Site, path: Path, template: str, base: str, **values: Any) -> None:
    text = site.render(template, NOBODY, "", base=base, exported=True, **values)
    write_atomic(path, text.encode("utf-8", "replace"))
