"""The report of corruptions: its tables by hand, and a page that stands alone."""

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from evaluation.analyses.test_robustness import root as suite  # noqa: F401 - the fixture
from evaluation.analyses.test_robustness import values
from navarena.evaluation.analyses.robustness import find_runs, read_robustness
from navarena.reports.preview import encode_png
from navarena.reports.robustness import (
    behaviour_table,
    drop_table,
    paper_table,
    render_robustness,
    unheeded_note,
    visual_corruptions_of,
    write_robustness,
)

from .runs.test_single_run import check


@pytest.fixture
def columns(suite: Path):  # noqa: F811
    return read_robustness(find_runs([suite]))


def test_table_of_the_paper(columns) -> None:
    table = paper_table(columns)
    assert table.columns == ("#", "corruption", "V", "D", "L", "G", "episodes", "Success", "SPL")
    assert {row[6] for row in table.rows} == {"40"}
    assert [row[0] for row in table.rows] == [str(k) for k in range(1, 8)]
    assert table.rows[0][1:6] == ("clean", "", "", "", "")
    assert table.rows[3][1] == "speckle_noise:3 (seen in training, not looked at)"
    assert table.rows[6][1:6] == ("defocus_blur:5 + motion_drift", "✓", "✓", "", "")
    clean = columns[0].clean.estimates
    success, spl = clean["success"], clean["spl"]
    low, high = 100 * success.low, 100 * success.high
    assert table.rows[0][7] == f"{100 * success.mean:.1f} % ({low:.1f} % to {high:.1f} %, n = 40)"
    assert table.rows[0][8] == f"{spl.mean:.3f} ({spl.low:.3f} to {spl.high:.3f}, n = 40)"


def means(run: Path) -> tuple[str, str]:
    """Success and SPL of a run as the tables write them."""
    return f"{100 * values(run, 'success').mean():.1f} %", f"{values(run, 'spl').mean():.3f}"


def test_two_agents_stand_side_by_side(columns, suite: Path) -> None:  # noqa: F811
    first = columns[0]
    drifting = replace(first.rows[0], estimates=first.rows[3].estimates)
    table = paper_table((first, replace(first, agent="Other", rows=(drifting,))))
    assert table.columns[7:] == (
        "Walker on corridor-v1: Success",
        "Walker on corridor-v1: SPL",
        "Other on corridor-v1: Success",
        "Other on corridor-v1: SPL",
    )
    mild, drift = means(suite / "mild"), means(suite / "drift")
    assert mild != drift
    assert tuple(cell.partition(" (")[0] for cell in table.rows[1][7:]) == (*mild, *drift)
    assert table.rows[2][9:] == ("–", "–")


def test_drops_and_behaviour(columns, suite: Path) -> None:  # noqa: F811
    one = columns[0]
    drops = drop_table(one)
    assert drops.columns[:5] == (
        "corruption",
        "Success: change",
        "95 % interval",
        "episodes",
        "relative drop",
    )
    assert [row[0] for row in drops.rows][-1] == "mean of rows looked at, not seen in training"
    clean = np.mean([values(suite / "a" / name, "success") for name in ("clean", "clean-again")])
    drift = values(suite / "drift", "success").mean()
    assert drift < clean and drops.rows[3][0] == "motion_drift"
    assert drops.rows[3][1] == f"{100 * (drift - clean):.1f} points"
    assert drops.rows[3][3] == "40"
    assert drops.rows[3][4] == f"{100 * (1 - drift / clean):.1f} %"
    along_tours = drop_table(replace(one, metrics=("t_ndtw", *one.metrics)))
    assert along_tours.columns[3] == "tours" and along_tours.columns[5:] == drops.columns[1:]
    assert [row[1:5] for row in along_tours.rows] == [("–",) * 4] * len(drops.rows)
    assert [row[5:] for row in along_tours.rows] == [tuple(row[1:]) for row in drops.rows]
    behaviour = behaviour_table(one)
    assert behaviour.columns[-2:] == ("premature stops", "missed stops")
    assert behaviour.rows[4][-2] == "–", "who never stops, never stops too early"
    assert len(behaviour.rows) == 7
    for row in behaviour.rows:
        assert all("n = " in cell for cell in row[1:] if cell != "–"), row


def test_corruptions_that_an_agent_never_looks_at_are_said(columns) -> None:
    """Of the rows, only that under speckles was walked with the very actions of the clean run."""
    assert [row.title for row in columns[0].rows if row.unheeded] == ["speckle_noise:3"]
    note = unheeded_note(columns[0])
    assert note.startswith("Walker never looks at what is changed by speckle_noise:3:")
    assert note in render_robustness(columns)
    heeded = replace(columns[0], rows=columns[0].rows[:2])
    assert unheeded_note(heeded) == "" and "never looks at" not in render_robustness([heeded])


def test_page_stands_alone(columns, tmp_path: Path) -> None:
    sheet = encode_png(np.zeros((4, 6, 3), np.uint8))
    html = render_robustness(columns, sheet)
    page = check(html)
    text = " ".join(page.text)
    assert (
        "Walker" in text
        and "speckle_noise:3 (seen in training, not looked at)" in text
        and "severity of" in html
    )
    assert page.count["svg"] == 2 and page.count["img"] == 1
    assert "data:image/png;base64," in html and not re.search(r'(src|href)="https?://', html)
    assert render_robustness(columns, sheet) == html
    bare = check(render_robustness(columns))
    assert "img" not in bare.count
    write_robustness(tmp_path / "page.html", columns)
    assert (tmp_path / "page.html").stat().st_size > 5_000


def test_examples_are_those_of_the_rows(columns) -> None:
    assert visual_corruptions_of(columns) == ("defocus_blur", "speckle_noise")
