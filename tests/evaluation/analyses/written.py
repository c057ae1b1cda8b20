"""Run folders written by hand: rows as a test wants them, and the run.json that they need."""

from pathlib import Path

import msgspec

from navarena.evaluation.records.journal import GoalsRecord, Row, journal_path
from navarena.evaluation.records.record import RunRecord, write_record

METRICS = ("success", "progress", "spl", "ppl", "stopped")


def make_row(k, goals=1, found=0, *, way=10.0, steps=20, scene=None, status="ok", ppl=None, **metrics):
    """An episode of m-ON in which `found` of `goals` goals were found, one after each 5 actions."""
    success = float(found == goals and status == "ok")
    progress = found / goals
    values = {
        "success": success,
        "progress": progress,
        "spl": success * 0.5,
        "ppl": progress * 0.5 if ppl is None else ppl,
        "stopped": float(status == "ok"),
    }
    return Row(
        identity="multion@test/mini#0",
        episode_id=f"e{k:03}",
        scene_id=scene or f"scene/{k % 6}",
        status=status,
        steps=steps,
        start_distance=way,
        actions=[1] * steps,
        metrics={**values, **metrics},
        goals=GoalsRecord(
            legs=[way / goals] * goals,
            found_after=[5 * (k + 1) for k in range(found)],
            walked=[2.0 * (k + 1) for k in range(found)],
        ),
    )


def write_run(folder: Path, rows, metrics=METRICS, protocol="multion-1on-v1", agent="walker", **settings):
    """`rows` as the finished run in `folder`; returns it."""
    folder.mkdir(parents=True)
    record = RunRecord(
        identity=rows[0].identity,
        settings={"protocol": protocol, "agent": agent, "seed": 0, "corrupt": None, **settings},
        privileged=False,
        episodes=len(rows),
        actions=("found", "move_forward", "turn_left", "turn_right"),
        metrics=metrics,
        seeds={"agent": 0},
        versions={},
        hardware={"system": "", "machine": ""},
        execution={},
        command=("navarena", "evaluate", "--out", str(folder)),
        started="",
    )
    write_record(folder, record)
    lines = b"".join(msgspec.json.encode(row) + b"\n" for row in rows)
    journal_path(folder, 0).write_bytes(lines)
    return folder
