"""Finished runs in the layouts of the reference code, so that its scripts read them.

    multion     {"<scene>.<episode>": raw_metrics}, what saimwani/multiON writes (eval/metrics/<ckpt>.json)
    robustnav   [{mean metrics, "tasks": [{..., "task_info": {...}}]}], what allenai/robustnav writes
                (metrics__test_<time>.json); positions, of the agent's centre, and headings are Unity's
    robothor2021   {split: {"episodes": {id: {"trajectory", "actions_taken", "success"}}, "ep_len", "success",
                "spl"}}, what allenai/robothor-challenge writes in 2021; poses are Unity's

    r2r         [{"instr_id": ..., "trajectory": [[viewpoint, heading, elevation], ...]}, ...], what R2R's
                evaluation server reads; of runs on navigation graphs

JSON knows no infinity: distances without a path are null.
"""

import math
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from jaxtyping import Float

from navarena.core.errors import CheckFailedError, InputError, require_name
from navarena.core.files import write_atomic
from navarena.core.geometry import unity_from_world, unity_from_yaw
from navarena.episodes.episode import Episode
from navarena.episodes.exchange.robothor import AGENT_CENTRE
from navarena.evaluation.benchmark import Benchmark
from navarena.evaluation.exchange.imports import ROBOTHOR_PROTOCOL
from navarena.evaluation.exchange.official import MULTION_DISTANCES, ROBOTHOR_ACTIONS
from navarena.evaluation.exchange.r2r_results import describe_answer
from navarena.evaluation.records.journal import Row, read_rows
from navarena.evaluation.records.record import read_record
from navarena.evaluation.records.results import require_complete
from navarena.evaluation.running.replay import execute_actions, open_recorded_benchmark
from navarena.evaluation.running.rows import pair_rows
from navarena.metrics.trajectory import Trajectory
from navarena.scenes.graphs.atlas import GraphAtlas
from navarena.simulation.body import Embodiment
from navarena.tasks.catalog import get_body_task
from navarena.tasks.graphs.batch import GraphBatch

FORMATS = ("multion", "r2r", "robothor2021", "robustnav")

RAW_METRICS = {
    "success": "success",
    "percentage_success": "progress",
    "agent_path_length": "path_length",
    "MSPL": "spl",
    "PSPL": "ppl_code",
    **{theirs: ours for ours, theirs in MULTION_DISTANCES.items()},
}
"""Raw metric of MultiON -> metric."""


def export_run(folder: Path, kind: str, out: Path, benchmark: Benchmark | None = None) -> int:
    """Write the finished run in `folder` to `out` in the layout `kind`; returns the number of episodes.

    Raises UnknownNameError for another layout, InputError for a run that it cannot hold, what
    replay_run raises, and StorageError.
    """
    require_name("layout of results", kind, FORMATS)
    rows = read_rows(folder)
    record = read_record(folder)
    if kind == "multion":
        if len(rows) != record.episodes:
            raise CheckFailedError(
                f"expected {record.episodes} finished episodes in {folder}, got {len(rows)}; finish it "
                "with the command in its run.json"
            )
        document: Any = {f"{row.scene_id}.{row.episode_id}": raw_metrics_of(row) for row in rows}
    else:
        benchmark = benchmark or open_recorded_benchmark(record)
        require_complete(rows, record.identity, [one.episode_id for one in benchmark.episodes])
        if kind == "r2r":
            document = _replay_answers(rows, benchmark)
        elif kind == "robothor2021":
            require_bodies(benchmark)
            document = {str(record.settings["split"]): _replay_poses(rows, benchmark)}
        else:
            require_bodies(benchmark)
            document = [describe_tasks(_replay_tasks(rows, benchmark))]
    write_atomic(out, msgspec.json.encode(document) + b"\n")
    return len(rows)


def raw_metrics_of(row: Row) -> dict[str, Any]:
    """The `raw_metrics` of the reference code, under its names; see metrics.raw_metrics.

    Raises InputError for a row of a task with one goal only, and for one without a metric of MultiON.
    """
    if row.goals is None:
        raise InputError(
            f"expected rows of several goals for this layout, got one goal in episode {row.episode_id!r}"
        )
    missing = [name for name in RAW_METRICS.values() if name not in row.metrics]
    if missing:
        raise InputError(
            f"expected the metrics of MultiON for this layout, got no {', '.join(missing)} in episode "
            f"{row.episode_id!r}; import results from elsewhere again from a file that holds them"
        )
    lengths = np.cumsum([math.inf if leg is None else leg for leg in row.goals.legs]).tolist()
    return {
        **{theirs: row.metrics[ours] for theirs, ours in RAW_METRICS.items()},
        "geodesic_distances": [length if math.isfinite(length) else None for length in lengths],
        "subgoals_found": len(row.goals.found_after),
        "agent_distances": row.goals.walked,
        "episode_lenth": row.steps,
    }


def unity_centres(track: Trajectory) -> Float[np.ndarray, "k 3"]:
    """(K, 3) metres, Unity's axes: where AI2-THOR says that the agent is, its centre, not its foot."""
    return unity_from_world(track.positions) + (0.0, AGENT_CENTRE, 0.0)


def describe_tasks(tasks: list[dict[str, Any]]) -> dict[str, Any]:
    """The means of the reference code beside the tasks themselves."""
    names = ("ep_length", "success", "spl", "dist_to_target")
    known = {name: [task[name] for task in tasks if task[name] is not None] for name in names}
    means = {name: math.fsum(values) / len(values) if values else None for name, values in known.items()}
    return {**means, "tasks": tasks}


def describe_task(row: Row, difficulty: str, track: Trajectory, names: tuple[str, ...]) -> dict[str, Any]:
    """One member of `tasks`; `names` are those of the actions.

    The first pose is that of the start; what an action led to stands one place further, as
    `goal_in_range` and `far_from_goal` (metres) do.
    """
    places = unity_centres(track)
    headings = unity_from_yaw(track.yaws)
    path = [
        {"x": float(x), "y": float(y), "z": float(z), "rotation": float(heading)}
        for (x, y, z), heading in zip(places, headings)
    ]
    distances = [float(one) if math.isfinite(one) else None for one in track.distance_to_goal]
    worked = (~track.collided).tolist()
    if track.stopped:
        worked[-1] = track.succeeded  # the entry of End is whether it succeeded
    return {
        "ep_length": row.steps,
        "success": row.metrics["success"],
        "spl": row.metrics["spl"],
        "dist_to_target": distances[-1],
        "task_info": {
            "scene": row.scene_id,
            "id": row.episode_id,
            "difficulty": difficulty,
            "followed_path": path,
            "taken_actions": row.actions,
            "action_names": list(names),
            "action_success": worked,
            "goal_in_range": [d is not None and d < track.success_distance for d in distances],
            "far_from_goal": distances,
            "took_end_action": bool(track.stopped),
        },
    }


def _replay_tasks(rows: list[Row], benchmark: Benchmark) -> list[dict[str, Any]]:
    """The tasks of all rows, in their order."""
    pairs = pair_rows(benchmark, rows)
    tasks = {
        row.episode_id: describe_task(row, episode.difficulty, outcome.trajectory, benchmark.actions)
        for row, episode, outcome in execute_actions(benchmark, pairs)
    }
    return [tasks[row.episode_id] for row in rows]


def _replay_answers(rows: list[Row], benchmark: Benchmark) -> list[dict[str, Any]]:
    """The members of a results file of R2R, in the order of the episodes."""
    pairs = pair_rows(benchmark, rows)
    atlas = require_atlas(benchmark)
    answers = {
        row.episode_id: describe_answer(atlas, row.episode_id, outcome.trajectory)
        for row, _, outcome in execute_actions(benchmark, pairs)
    }
    return [answers[episode.episode_id] for episode in benchmark.episodes]


def _replay_poses(rows: list[Row], benchmark: Benchmark) -> dict[str, Any]:
    """The results of a split in RoboTHOR's file; raises InputError for a run with other actions."""
    if benchmark.actions != get_body_task(ROBOTHOR_PROTOCOL).actions:
        raise InputError(
            f"expected the six actions of RoboTHOR 2021 for the layout robothor2021, got {benchmark.identity}"
        )
    body = get_body_task(benchmark.identity.protocol).embodiment
    pairs = pair_rows(benchmark, rows)
    found = {
        row.episode_id: describe_poses(row, episode, outcome.trajectory, body)
        for row, episode, outcome in execute_actions(benchmark, pairs)
    }
    episodes = {one.episode_id: found[one.episode_id] for one in benchmark.episodes}
    lengths = [len(one["trajectory"]) for one in episodes.values()]
    return {
        "episodes": episodes,
        "ep_len": math.fsum(lengths) / len(lengths),
        "success": math.fsum(row.metric("success") for row in rows) / len(rows),
        "spl": math.fsum(row.metric("spl") for row in rows) / len(rows),
    }


def describe_poses(row: Row, episode: Episode, track: Trajectory, body: Embodiment) -> dict[str, Any]:
    """One episode of RoboTHOR's file: a pose before the first action and one after each."""
    places = unity_centres(track)
    names = [ROBOTHOR_ACTIONS[int(action)] for action in track.actions]
    looks = {"LookUp": body.tilt_angle, "LookDown": -body.tilt_angle}
    tilts = [episode.start_tilt]
    for name in names:
        tilts.append(float(np.clip(tilts[-1] + looks.get(name, 0.0), *body.tilt_range)))
    worked = (~track.collided).tolist()
    if track.stopped:
        worked[-1] = True  # the engine carries out Stop; whether it was right is `success`
    return {
        "trajectory": [
            {"x": x, "y": y, "z": z, "rotation": float(heading), "horizon": -math.degrees(tilt) + 0.0}
            for (x, y, z), heading, tilt in zip(places.tolist(), unity_from_yaw(track.yaws), tilts)
        ],
        "actions_taken": [{"action": name, "success": good} for name, good in zip(names, worked)],
        "success": bool(row.metric("success")),
    }


def require_atlas(benchmark: Benchmark) -> GraphAtlas:
    """The graphs that a run was made on; raises InputError for a run with bodies in scenes."""
    batch = benchmark.setup.make_batch(1, (), None)
    if not isinstance(batch, GraphBatch):
        raise InputError(f"expected a run on navigation graphs, got {benchmark.identity}")
    return batch.atlas


def require_bodies(benchmark: Benchmark) -> None:
    """Raise InputError for a run on navigation graphs, where there are no poses of a body."""
    if isinstance(benchmark.setup.make_batch(1, (), None), GraphBatch):
        raise InputError(
            f"expected a run with bodies in scenes for the layout robustnav, got {benchmark.identity} on "
            "navigation graphs; choose the layout r2r"
        )
