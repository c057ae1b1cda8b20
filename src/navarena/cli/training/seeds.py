"""Trainings of several seeds side by side: a process for each, which runs the same command for its seed."""

import ctypes
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from navarena.cli.console import Console
from navarena.core.threads import THREADS_VARIABLE
from navarena.learning.trainings.log import LOG

POLL_SECONDS = 0.5

PR_SET_PDEATHSIG = 1
"""Of Linux's prctl (linux/prctl.h): the signal that a process gets when its parent has ended."""

LOG_TAIL = 1 << 14
"""Bytes at the end of a log in which its last line stands."""


@dataclass(frozen=True)
class SeedTraining:
    """The training of one seed.

    Attributes:
        seed: of it.
        folder: of its checkpoint and log.
        arguments: of `navarena` that train it, with --json.
        frames: when it is done.
    """

    seed: int
    folder: Path
    arguments: tuple[str, ...]
    frames: int


@dataclass(frozen=True)
class SeedFailure:
    """A training that ended before its end.

    Attributes:
        seed: of it.
        exit_code: of its process; negative for a signal.
        reason: the last line that it said.
    """

    seed: int
    exit_code: int
    reason: str


def train_side_by_side(
    console: Console, label: str, trainings: Sequence[SeedTraining], workers: int, threads: int, quiet: bool
) -> tuple[list[dict[str, Any]], list[SeedFailure]]:
    """Run `trainings`, at most `workers` at a time; documents of those that were done, and the failures.

    Both in the order of `trainings`. A training that fails leaves the others alone; all end with the block
    or with this process.

    Args:
        console: for progress and for a line for each that ended.
        label: of the progress.
        trainings: one for each seed.
        workers: processes.
        threads: of each.
        quiet: whether to show no progress.
    """
    ended: dict[int, dict[str, Any] | SeedFailure] = {}
    with ExitStack() as stack:
        waiting, running = list(trainings), list[_Running]()
        total, shown = sum(one.frames for one in trainings), 0
        progress = stack.enter_context(console.progress(total, label, quiet=quiet))
        while waiting or running:
            while waiting and len(running) < workers:
                running.append(stack.enter_context(_Running(waiting.pop(0), threads)))
            time.sleep(POLL_SECONDS)
            for one in [one for one in running if one.process.poll() is not None]:
                running.remove(one)
                found = ended[one.training.seed] = one.read()
                if isinstance(found, SeedFailure):
                    console.note(f"seed {found.seed} failed: {found.reason}")
                else:
                    console.text(f"seed {one.training.seed}: {found['frames']} frames, in {found['out']}")
            done = sum(min(read_frames(one.folder), one.frames) for one in trainings)
            progress.advance(max(done - shown, 0))
            shown = max(done, shown)
    found_all = [ended[one.seed] for one in trainings]
    documents = [one for one in found_all if not isinstance(one, SeedFailure)]
    return documents, [one for one in found_all if isinstance(one, SeedFailure)]


class _Running:
    """The process of a training; it is killed where the block ends before it does."""

    def __init__(self, training: SeedTraining, threads: int) -> None:
        self.training = training
        # files, since nobody reads while it runs
        self._told, self._said = tempfile.TemporaryFile(), tempfile.TemporaryFile()  # noqa: SIM115
        self.process = subprocess.Popen(
            [sys.executable, "-m", "navarena", *training.arguments],
            stdin=subprocess.DEVNULL,
            stdout=self._told,
            stderr=self._said,
            env=os.environ | {THREADS_VARIABLE: str(threads)},
        )

    def __enter__(self) -> "_Running":
        return self

    def __exit__(self, *reason: object) -> None:
        self.process.kill()
        self.process.wait()
        self._told.close()
        self._said.close()

    def read(self) -> dict[str, Any] | SeedFailure:
        """Its document, or how it failed."""
        code = self.process.returncode
        for file in (self._told, self._said):
            file.seek(0)
        if code == 0:
            document: dict[str, Any] = json.loads(self._told.read())
            return document | {"seed": self.training.seed}
        lines = self._said.read().decode(errors="replace").split("\n")
        last = next((line.strip() for line in reversed(lines) if line.strip()), "it said nothing")
        reason = f"its process was ended by signal {-code}" if code < 0 else last
        return SeedFailure(self.training.seed, code, reason.removeprefix("error: "))


def read_frames(folder: Path) -> int:
    """Frames in the last whole line of the log in `folder`; 0 without one, and where that line is damaged."""
    try:
        with (folder / LOG).open("rb") as file:
            file.seek(max(file.seek(0, os.SEEK_END) - LOG_TAIL, 0))
            return int(json.loads(file.read().split(b"\n")[-2])["frames"])
    except (OSError, IndexError, ValueError, KeyError, TypeError):
        return 0


def end_with_parent() -> None:
    """Let this process be killed when the one that started it ends; elsewhere than on Linux it lives on."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
