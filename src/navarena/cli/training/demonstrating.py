"""Implementation of `navarena demos`."""

import time
from collections.abc import Sequence
from contextlib import ExitStack

import numpy as np

from navarena.cli.console import Console, Progress
from navarena.cli.runs.evaluating import allow_modules_here
from navarena.cli.training.demos import Demos, describe_size
from navarena.evaluation.demonstrations.plan import Shard
from navarena.evaluation.demonstrations.writing import DemoSettings, write_demonstrations
from navarena.evaluation.settings import EvaluationSettings


def run_demos(console: Console, flags: Demos) -> int:
    """Run the agent, write and report; the exit code is 0."""
    began = time.monotonic()
    allow_modules_here()
    settings = DemoSettings(
        evaluation=EvaluationSettings(
            protocol=flags.protocol,
            agent=flags.agent,
            split=flags.split,
            dataset=flags.dataset,
            episodes=flags.episodes,
            seed=flags.seed,
            workers=flags.workers,
            ray=flags.ray,
        ),
        out=flags.out,
        layout=flags.format,
        sensors=tuple(name for name in (flags.sensors or "").split(",") if name),
        successes=flags.successes,
        frames_per_second=flags.frames_per_second,
        resumes=flags.resume,
    )
    shown: list[Progress] = []
    with ExitStack() as stack:

        def begin(shards: Sequence[Shard]) -> None:
            frames = sum(len(one.row.actions) for shard in shards for one in shard.episodes)
            bar = console.progress(frames, "writing frames", quiet=flags.quiet)
            shown.append(stack.enter_context(bar))

        def advance(shard: Shard) -> None:
            shown[0].advance(sum(len(one.row.actions) for one in shard.episodes))

        if not flags.quiet:
            console.note(f"{flags.agent} plays {flags.protocol}, {flags.split}")
        manifest = write_demonstrations(settings, begin, advance)
    size = sum((flags.out / path).stat().st_size for path in manifest.files)
    outcomes = [one.success for one in manifest.episodes if one.success is not None]
    success = float(np.mean(outcomes)) if outcomes else None
    console.text(f"{manifest.agent} on {manifest.identity}")
    console.text(describe_size(len(manifest.episodes), manifest.frames, len(manifest.files), size))
    console.text(f"card: {flags.out / 'README.md'}")
    console.result(
        {
            "out": str(flags.out),
            "format": manifest.layout,
            "identity": manifest.identity,
            "agent": manifest.agent,
            "episodes": len(manifest.episodes),
            "frames": manifest.frames,
            "success": success,
            "tasks": len({one.task for one in manifest.episodes}),
            "files": len(manifest.files),
            "bytes": size,
            "columns": [one.name for one in manifest.columns],
            "seconds": round(time.monotonic() - began, 3),
        }
    )
    return 0
