"""`navarena demos`: data sets of an agent's observations and actions."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

import tyro

from navarena.cli.console import Console, count_of


@dataclass(frozen=True)
class Demos:
    """Run an agent and write its observations and actions as a data set for imitation learning.

    The episodes are played as by `navarena evaluate`, into the folder run of --out; their actions are then
    executed again with cameras. The same command goes on where it was interrupted; neither that nor --workers
    and --ray change a byte. With --json, one document is printed with the keys out, format, identity, agent,
    episodes, frames, success (share, or null), tasks, files, bytes, columns and seconds.
    """

    protocol: Annotated[str, tyro.conf.Positional, tyro.conf.arg(metavar="PROTOCOL")]
    """Protocol id with options, such as pointnav-v1+rgb=224x224+depth=224x224."""
    out: Path
    """Folder of the data set."""
    agent: str = "expert"
    """Registered name (`navarena list agents`), or module:Class of your own."""
    episodes: int | None = None
    """Number of episodes, the first ones; required for a stream such as the split train."""
    split: str = "train"
    """Split of the dataset; train is never evaluated on."""
    dataset: str | None = None
    """Episodes instead of the protocol's own, as in `navarena evaluate`."""
    seed: int = 0
    """Seed of the agent's random streams."""
    format: Literal["lerobot", "parquet"] = "lerobot"
    """LeRobot data set 3.0 (needs navarena[video]), its colours as videos; or Parquet with PNG, exact."""
    sensors: str | None = None
    """Names of the observations to keep, separated by commas; by default all that the protocol offers."""
    successes: bool = False
    """Keep only episodes that succeeded."""
    frames_per_second: int = 10
    """Frame rate of videos."""
    workers: int = 1
    """Worker processes."""
    ray: str | None = None
    """Address of a Ray cluster (auto, 10.0.0.1:6379), or local; needs navarena[cluster]."""
    resume: bool = False
    """Resume what --out holds, and refuse to start anew; without it the same command does either."""
    quiet: bool = False
    """Show no progress."""
    json: bool = False
    """Print one JSON document instead of text."""

    def run(self, console: Console) -> int:
        """Run the agent, write and report."""
        from navarena.cli.training.demonstrating import run_demos
        from navarena.core.notices import silence_notices

        if self.quiet:
            silence_notices()
        return run_demos(console, self)


def describe_size(episodes: int, frames: int, files: int, size: int) -> str:
    """A data set in one line."""
    return (
        f"{count_of(episodes, 'episode')}, {count_of(frames, 'frame')} in {count_of(files, 'file')} of "
        f"{size / 1e6:.1f} MB"
    )
