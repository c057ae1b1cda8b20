"""`navarena replay`: re-execute the actions of a run, and compare every number."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro

from navarena.cli.console import Console
from navarena.evaluation import describe_declared, read_record, replay_run
from navarena.evaluation.analyses import describe_replay, save_analysis


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
    json: bool = False
    """Print one JSON document instead of text."""

    def run(self, console: Console) -> int:
        """Replay and compare; the exit code is 0, or 1 for a difference."""
        record = read_record(self.folder)
        with console.progress(record.episodes, "replaying") as progress:
            result = replay_run(self.folder, on_episode=progress.advance)
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
        save_analysis(self.folder, describe_replay(result))
        result.require_equal()
        console.text(
            f"{record.agent} on {record.identity}: {result.episodes} episodes replayed, {result.held}"
        )
        declared = "; ".join(f"{name}: {text}" for name, text in describe_declared(record).items())
        console.text(f"declared, not verified: {declared}")
        return 0
