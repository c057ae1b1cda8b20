"""Runs in the corridor, read from their folders as `navarena report` reads them."""

import msgspec
from msgspec.structs import replace

from evaluation.corridor import make_benchmark, make_settings
from navarena.evaluation import evaluate, read_contestant
from navarena.evaluation.records.journal import Row, journal_path
from navarena.evaluation.records.record import read_record, write_record
from navarena.metrics.catalog import get_metric
from navarena.metrics.failures import FailureClass

CLASSES = {"e000": FailureClass.AGENT_BROKE, "e001": FailureClass.STUCK, "e002": FailureClass.STUCK}


def make_runs(folder, *agents):
    """A contestant for each agent, labelled with its name."""
    made = []
    for agent in agents:
        evaluate(make_settings(folder / agent, agent), make_benchmark(agent))
        made.append(read_contestant(agent, [folder / agent]))
    return made


def write_large_run(folder, example, count, scenes=100):
    """A run of `count` episodes with the settings of the run in `example`: success falls with distance."""
    folder.mkdir(parents=True)
    record = read_record(example)
    write_record(folder, replace(record, episodes=count))
    with open(journal_path(folder, 0), "wb") as journal:
        for k in range(count):
            distance = 1 + (k * 7919 % 1900) / 100
            hit = float((k * 104729) % 100 < 90 - 3 * distance)
            values = {name: hit if get_metric(name).is_binary else 0.5 for name in record.metrics} | {
                "success": hit,
                "spl": hit * (0.5 + (k % 50) / 100),
                "distance_to_goal": None if k % 1000 == 999 else (1 - hit) * distance,
            }
            row = Row(
                identity=record.identity,
                episode_id=f"e{k:06d}",
                scene_id=f"corridor/{k % scenes:03d}",
                status="ok",
                steps=60,
                start_distance=distance,
                actions=[1, 2, 1] * 20,
                metrics=values,
                traits={"category": f"object {k % 21}"},
            )
            journal.write(msgspec.json.encode(row) + b"\n")
