"""`navarena report`: a page of finished runs, and tables for papers."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro

from navarena.cli.console import Console
from navarena.cli.flags import OutputFile
from navarena.core.errors import InputError
from navarena.core.files import write_atomic
from navarena.evaluation.analyses import read_labelled
from navarena.evaluation.analyses.compare import Comparison, compare
from navarena.evaluation.analyses.contestants import Contestant
from navarena.evaluation.analyses.failures import classify_run, read_failures
from navarena.evaluation.running.runner import REPORT_NAME
from navarena.reports.gallery import OpenBenchmark
from navarena.reports.papers import write_csv, write_latex
from navarena.reports.runs import (
    COMPARISON_NAME,
    KINDS,
    Classes,
    Drawn,
    VideoCard,
    draw_galleries,
    label_apart,
    make_opener,
    plan_videos,
    render_videos,
    write_runs,
)
from navarena.reports.videos import VideoSettings

MAX_RUNS = 26


@dataclass(frozen=True)
class Report:
    """Write finished runs into one HTML file that opens anywhere without a network.

    Summary with intervals, paired comparison, breakdowns, the analyses of the papers that the runs support
    or that `navarena analyse` has stored, why episodes failed, drawings from above, every episode in a table
    that sorts and filters. Unless --no-drawings is given, episodes are replayed for the drawings, and failed
    ones to say why, as `navarena failures` does. With --json, one document is printed; its keys stand in
    docs/json-keys.md.
    """

    runs: Annotated[tuple[str, ...], tyro.conf.Positional, tyro.conf.arg(metavar="[LABEL=]RUN")]
    """Folders of runs, several training seeds of one method with commas. A label names a run on the page;
    without one it is called by its agent. The others are compared with the first."""
    out: Annotated[Path | None, OutputFile()] = None
    """The page to write; by default report.html in the folder of a single run, full-report.html in that of
    the first of several runs."""
    metric: Annotated[tuple[str, ...], tyro.conf.UseAppendAction] = ()
    """Only this metric; may be given several times. The first two scores are used for breakdowns and
    drawings."""
    latex: Path | None = None
    """Also write a table for a paper into this file."""
    csv: Path | None = None
    """Also write every mean and difference, one per line, into this file."""
    two_levels: bool = False
    """Compute intervals by resampling scenes and then episodes within them."""
    no_drawings: bool = False
    """Leave out the drawings from above, which are made by replaying episodes in their scenes."""
    videos: int = 0
    """Record this many episodes of each run; needs the extra `video`."""
    video_of: Annotated[tuple[str, ...], tyro.conf.UseAppendAction] = ()
    """Which episodes: best, worst, random, or failures (of every class); may be given several times. By
    default all four in turn."""
    video_height: int = 240
    """Height of each camera image in a frame, pixels."""
    video_fps: int = 10
    """Actions shown in a second."""
    video_folder: Path | None = None
    """Write MP4 files into this folder, from which the page then loads them; without it they are in the
    page."""
    json: bool = False
    """Print one JSON document instead of text."""

    def run(self, console: Console) -> int:
        """Read, draw and write; the exit code is 0."""
        if not 1 <= len(self.runs) <= MAX_RUNS:
            raise InputError(f"expected 1 to {MAX_RUNS} runs to report on, got {len(self.runs)}")
        if not self.videos and (self.video_of or self.video_folder is not None):
            raise InputError(
                "expected --videos N beside --video-of and --video-folder, got none; say how many to record"
            )
        contestants = label_apart(read_labelled(self.runs))
        comparison = compare(contestants, self.metric, self.two_levels)
        open_benchmark = make_opener()
        classes = self._classify(console, contestants, open_benchmark)
        for notice in comparison.notices:
            console.note(f"note: {notice}")
        page = self.out or contestants[0].folders[0] / (
            COMPARISON_NAME if len(self.runs) > 1 else REPORT_NAME
        )
        drawn = self._draw(console, comparison, classes, open_benchmark, page)
        write_runs(page, comparison, classes, drawn)
        for path, text in ((self.latex, write_latex(comparison)), (self.csv, write_csv(comparison))):
            if path is not None:
                write_atomic(path, text.encode())
        written = [page, *(path for path in (self.latex, self.csv) if path is not None)]
        console.text(f"report: {', '.join(map(str, written))}")
        console.result(
            {
                "report": str(page),
                "runs": describe_runs(contestants),
                "notices": list(comparison.notices),
                "latex": None if self.latex is None else str(self.latex),
                "csv": None if self.csv is None else str(self.csv),
                "videos": [describe_video(video) for video in drawn.videos],
            }
        )
        return 0

    def _classify(
        self, console: Console, contestants: Sequence[Contestant], open_benchmark: OpenBenchmark
    ) -> Classes:
        """Failure classes of the first run of each contestant; computed if missing and episodes are replayed
        anyway.
        """
        known = [read_failures(one.folders[0], one.records[0], one.rows[0]) for one in contestants]
        for k, one in enumerate(contestants):
            if known[k] is None and not self.no_drawings and "success" in one.metrics:
                failed = sum(row.metric("success") != 1.0 for row in one.rows[0])
                with console.progress(failed, f"replaying failures of {one.label}") as progress:
                    found = classify_run(one.folders[0], open_benchmark(one), progress.advance)
                known[k] = found.classes
        return tuple(known)

    def _draw(
        self,
        console: Console,
        comparison: Comparison,
        classes: Classes,
        open_benchmark: OpenBenchmark,
        page: Path,
    ) -> Drawn:
        """Replay the episodes to draw and to record."""
        if self.videos < 0:
            raise InputError(f"expected 0 or more --videos, got {self.videos}")
        settings = VideoSettings(self.video_height, self.video_fps)
        plans = plan_videos(comparison, classes, self.videos, self.video_of or KINDS)
        drawn = Drawn({})
        if not self.no_drawings:
            with console.progress(len(comparison.contestants), "drawing") as progress:
                drawn = Drawn(draw_galleries(comparison, classes, open_benchmark, progress.advance))
        if plans:
            with console.progress(sum(one.frames for one in plans), "recording") as progress:
                rendered = render_videos(
                    comparison,
                    plans,
                    settings,
                    open_benchmark,
                    page,
                    self.video_folder,
                    progress.advance,
                )
            drawn = Drawn(drawn.galleries, rendered)
        return drawn


def describe_runs(contestants: Sequence[Contestant]) -> list[dict[str, object]]:
    """JSON output of each run."""
    return [
        {
            "label": one.label,
            "agent": one.agent,
            "identity": one.identity,
            "folders": [str(folder) for folder in one.folders],
            "episodes": len(one.rows[0]),
        }
        for one in contestants
    ]


def describe_video(video: VideoCard) -> dict[str, object]:
    """JSON output of a video; `file` is null where it is in the page."""
    return {
        "label": video.run,
        "episode_id": video.episode_id,
        "kind": video.kind,
        "seconds": video.seconds,
        "file": None if video.source.startswith("data:") else video.source,
    }
