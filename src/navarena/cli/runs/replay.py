"""`navarena replay`: re-execute the actions of a run, and compare every number."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import tyro

from navarena.cli.console import Console
from navarena.cli.flags import OutputFile
from navarena.cli.runs.viewing import make_watcher, watch_page, write_recording
from navarena.core.errors import InputError
from navarena.core.files import unless_read_only
from navarena.evaluation import RunRecord, describe_declared, read_record, replay_run
from navarena.evaluation.analyses import describe_replay, save_analysis
from navarena.evaluation.running.replay import Replay as Result
from navarena.evaluation.running.replay import open_recorded_benchmark
from navarena.reports.rerun_file import require_recording
from navarena.tasks.catalog import get_task

if TYPE_CHECKING:
    from navarena.web.viewer.hub import Hub

PACE = 10.0
"""Steps per second of a replay that is watched, until its page says otherwise."""


@dataclass(frozen=True)
class Replay:
    """Re-execute every logged action of a run and check every metric; the exit code is 1 on any difference.

    On the platform that recorded the run every number must be equal, elsewhere discrete outcomes must be
    equal and floats agree within 1e-6; which of the two held is kept for the run's report. Statuses and
    tracebacks are checked by the hash chain of the journals, run.json by its hash in them, and
    episodes.parquet and summary.json are derived anew. What no file proves is shown as declared. With --json,
    one document is printed with the keys identity, agent, declared, episodes, exact, equal and differences
    (for each: episode_id, name, logged, replayed).
    """

    folder: Annotated[Path, tyro.conf.Positional, tyro.conf.arg(metavar="FOLDER")]
    """Folder of the run, as `navarena evaluate` printed it."""
    watch: bool = False
    """Show the episodes in a page on this machine while they are executed, ten steps a second, from when
    the page is open."""
    port: int = 8710
    """Port of the page on 127.0.0.1, with --watch; 0 takes a free one."""
    no_browser: bool = False
    """With --watch: open no browser."""
    rerun: Annotated[Path | None, OutputFile()] = None
    """Also write a recording (.rrd) for the rerun viewer: poses, images, depth, maps, paths and scenes; needs
    navarena[viewer]."""
    episode: Annotated[tuple[str, ...], tyro.conf.UseAppendAction] = ()
    """Record only this episode; may be given several times."""
    json: bool = False
    """Print one JSON document instead of text."""

    def run(self, console: Console) -> int:
        """Replay and compare; the exit code is 0, or 1 for a difference."""
        record = read_record(self.folder)
        if self.episode and self.rerun is None:
            raise InputError("expected --rerun FILE.rrd beside --episode, got none; name the file")
        if self.rerun is not None:
            require_recording(self.rerun)
        if self.watch:
            with watch_page(console, self.port, self.no_browser) as hub:
                result = self._replay(console, record, hub)
        else:
            result = self._replay(console, record, None)
        console.result(
            {
                "identity": record.identity,
                "agent": record.agent,
                "declared": describe_declared(record),
                "episodes": result.episodes,
                "exact": result.exact,
                "equal": not result.differences,
                "differences": [
                    {
                        "episode_id": difference.episode_id,
                        "name": difference.name,
                        "logged": difference.logged,
                        "replayed": difference.replayed,
                    }
                    for difference in result.differences
                ],
            }
        )
        with unless_read_only():
            save_analysis(self.folder, describe_replay(result))
        result.require_equal()
        if self.rerun is not None:
            count = len(self.episode) or record.episodes
            write_recording(console, self.folder, self.rerun, count, self.episode)
        console.text(
            f"{record.agent} on {record.identity}: {result.episodes} episodes replayed, {result.held}"
        )
        declared = "; ".join(f"{name}: {text}" for name, text in describe_declared(record).items())
        console.text(f"declared, not verified: {declared}")
        return 0

    def _replay(self, console: Console, record: RunRecord, hub: "Hub | None") -> Result:
        """Execute the actions, which pages at `hub` show."""
        with console.progress(record.episodes, "replaying") as progress:
            if hub is None:
                return replay_run(self.folder, on_episode=progress.advance)
            benchmark = open_recorded_benchmark(record)
            label = f"replay of {record.agent} on {record.identity}"
            watcher = make_watcher(hub, benchmark, label, record.episodes, PACE)
            offered = get_task(benchmark.identity.protocol).sensors
            sensors = tuple(name for name in ("rgb", "depth") if name in offered)
            result = replay_run(self.folder, benchmark, progress.advance, sensors, watcher)
            watcher.finish()
            return result
