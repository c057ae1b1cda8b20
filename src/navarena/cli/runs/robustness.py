"""`navarena robustness`: runs under corruptions compared with the clean run."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any

import tyro

from navarena.cli.console import Console
from navarena.cli.flags import OutputFile
from navarena.evaluation.analyses.robustness import (
    Robustness,
    RobustnessRow,
    find_runs,
    read_robustness,
    relative_drop,
)
from navarena.reports.robustness import (
    REPORT_NAME,
    behaviour_table,
    drop_table,
    paper_table,
    unheeded_note,
    visual_corruptions_of,
    write_robustness,
)


@dataclass(frozen=True)
class RobustnessCommand:
    """Report the degradation under corruptions: means, relative drops, behaviour, severity curves, examples.

    Reads all finished runs in and below the folders. Runs that differ only in corruptions and seeds
    form one table, and one of them must be clean. Exit code 0, whatever the result. The keys of
    --json stand in docs/json-keys.md.
    """

    runs: Annotated[tuple[Path, ...], tyro.conf.Positional, tyro.conf.arg(metavar="FOLDER")]
    """Folders of runs, or folders that hold such folders."""
    metric: Annotated[tuple[str, ...], tyro.conf.UseAppendAction] = ()
    """Use this metric; may be given several times. By default success and the protocol's next score,
    with t-nDTW before them where there are tours."""
    out: Annotated[Path | None, OutputFile()] = None
    """The page to write; robustness.html in the first folder by default."""
    scene: str | None = None
    """Scene of the example images; that of the first episode by default."""
    no_sheet: bool = False
    """Leave out the example images."""
    json: bool = False
    """Print one JSON document instead of tables."""

    def run(self, console: Console) -> int:
        """Compare, print and write the page; the exit code is 0."""
        columns = read_robustness(find_runs(self.runs), self.metric)
        sheet = None if self.no_sheet else draw_examples(columns, self.scene)
        path = self.out or self.runs[0] / REPORT_NAME
        write_robustness(path, columns, sheet)
        table = paper_table(columns)
        console.table("means", table.columns, table.rows)
        for one in columns:
            for title, part in (
                ("against the clean run", drop_table(one)),
                ("behaviour", behaviour_table(one)),
            ):
                console.table(f"{one.agent} on {one.protocol}: {title}", part.columns, part.rows)
            if note := unheeded_note(one):
                console.note(f"note: {note}")
        console.text(f"report: {path}")
        console.result({"report": str(path), "results": [describe_robustness(one) for one in columns]})
        return 0


def draw_examples(columns: Sequence[Robustness], scene: str | None) -> bytes | None:
    """A PNG of the visual corruptions in the rows; None if there are none."""
    from navarena.reports.corruption_sheet import draw_corruption_sheet
    from navarena.reports.preview import encode_png
    from navarena.simulation.body_catalog import LOCOBOT
    from navarena.simulation.world import open_world

    names = visual_corruptions_of(columns)
    if not names:
        return None
    world = open_world(scene or columns[0].clean.runs.rows[0][0].scene_id, LOCOBOT)
    return encode_png(draw_corruption_sheet(world, names).image)


def describe_robustness(one: Robustness) -> dict[str, Any]:
    """JSON output of an agent on a protocol."""
    return {
        "protocol": one.protocol,
        "agent": one.agent,
        "identity": one.identity,
        "rows": [_describe_row(row) for row in (one.clean, *one.rows)],
        "headline": {name: _describe_change(change) for name, change in one.headline.items()},
    }


def _describe_row(row: RobustnessRow) -> dict[str, Any]:
    stops = {"premature_stops": row.premature_stops, "missed_stops": row.missed_stops}
    return {
        "corruptions": list(row.corruptions),
        "kinds": list(row.kinds),
        "seen": row.seen,
        "unheeded": row.unheeded,
        "folders": [str(folder) for folder in row.runs.folders],
        "metrics": {name: asdict(estimate) for name, estimate in row.estimates.items()},
        "changes": {name: _describe_change(change) for name, change in row.changes.items()},
        **{name: None if estimate is None else asdict(estimate) for name, estimate in stops.items()},
    }


def _describe_change(change: Any) -> dict[str, Any]:
    return {**asdict(change), "relative_drop": relative_drop(change)}
