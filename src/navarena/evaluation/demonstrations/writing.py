"""Demonstrations of an agent: evaluate it, then write what its bodies saw.

    DIR/run/            the run, as `navarena evaluate` writes it: what is finished is not played again
    DIR/parts/          a line for each shard that is written; removed at the end
    DIR/demos.json      what the folder is; "complete" when everything else is there
    DIR/README.md       the card
    DIR/data, ...       frames, as the layout keeps them

Every file but those of the run follows from the journal alone, whoever and however many wrote it, so that a
command that was interrupted goes on with the same bytes.
"""

import hashlib
import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import msgspec

from navarena import __version__
from navarena.core.errors import CheckFailedError, FileError, InputError
from navarena.core.files import read_json, write_atomic
from navarena.evaluation.benchmark import Benchmark, open_benchmark
from navarena.evaluation.demonstrations.card import write_card
from navarena.evaluation.demonstrations.columns import choose_columns
from navarena.evaluation.demonstrations.layout import EncodedShard
from navarena.evaluation.demonstrations.manifest import (
    FILE_NAME,
    DemoEpisode,
    LayoutName,
    Manifest,
    read_manifest,
    write_manifest,
)
from navarena.evaluation.demonstrations.plan import SHARD_FRAMES, Planned, Shard, plan_shards
from navarena.evaluation.demonstrations.sharding import Encoding, encode_shards, here
from navarena.evaluation.demonstrations.statistics import Summary
from navarena.evaluation.records.lock import FolderLock
from navarena.evaluation.running.replay import is_same_platform
from navarena.evaluation.running.runner import Evaluation, open_run
from navarena.evaluation.settings import EvaluationSettings
from navarena.tasks.batch import NavigationBatch
from navarena.tasks.catalog import get_task
from navarena.tasks.graphs.batch import GraphBatch

RUN, PARTS, CARD = "run", "parts", "README.md"


@dataclass(frozen=True)
class DemoSettings:
    """Demonstrations to be written.

    Attributes:
        evaluation: who plays what, and how; its `out` is not used.
        out: folder.
        layout: how frames are kept.
        sensors: names of what is kept; empty for all that the protocol offers.
        successes: keep only episodes that succeeded.
        frames_per_second: at which videos play.
        resumes: whether something must be there to go on with.
        shard_frames: with which a file is full.

    Raises InputError for less than one frame per second, or in a file.
    """

    evaluation: EvaluationSettings
    out: Path
    layout: LayoutName = "lerobot"
    sensors: tuple[str, ...] = ()
    successes: bool = False
    frames_per_second: int = 10
    resumes: bool = False
    shard_frames: int = SHARD_FRAMES

    def __post_init__(self) -> None:
        if min(self.frames_per_second, self.shard_frames) < 1:
            raise InputError(
                "expected at least one frame per second, and in a file, got "
                f"{self.frames_per_second} and {self.shard_frames}"
            )


@dataclass(frozen=True)
class _Part:
    """Record of a written shard: its files with their SHA-256, and statistics of its episodes."""

    files: dict[str, str]
    statistics: tuple[dict[str, Summary], ...]


def write_demonstrations(
    settings: DemoSettings,
    on_plan: Callable[[Sequence[Shard]], object] = lambda shards: None,
    on_shard: Callable[[Shard], object] = lambda shard: None,
    on_row: Callable[[], object] = lambda: None,
) -> Manifest:
    """Run missing episodes and write missing files; returns the manifest.

    Args:
        settings: what to write.
        on_plan: called with all shards when the run is finished.
        on_shard: called with each shard when its files are there, before this command or by it.
        on_row: called after each episode that was played.

    Raises InputError for a folder that holds anything else, and for observations that the layout cannot
    keep; CheckFailedError when there is no episode to keep, or executing a row's actions again leads
    elsewhere; and what an evaluation raises.
    """
    benchmark = open_benchmark(settings.evaluation)
    begun = _begin(settings, benchmark)
    Encoding(benchmark, begun.columns, begun.layout, begun.frames_per_second, True, "").make_layout()
    folder = settings.out.absolute()
    _require_place(folder, begun, settings.resumes)
    with FolderLock(folder) as lock:
        try:
            with open_run(replace(settings.evaluation, out=folder / RUN), benchmark) as run:
                if not (folder / FILE_NAME).exists():
                    write_manifest(folder, begun)
                evaluation = run.finish(on_row)
        except InputError:
            if not (folder / RUN).exists():
                (folder / FILE_NAME).unlink(missing_ok=True)
                lock.release_folder()
            raise
        return _write(settings, evaluation, begun, on_plan, on_shard)


def _begin(settings: DemoSettings, benchmark: Benchmark) -> Manifest:
    """The manifest before anything is written; raises UnknownNameError for an unknown sensor."""
    task = get_task(settings.evaluation.protocol)
    sensors = settings.sensors or tuple(task.sensors)
    batch = benchmark.setup.make_batch(1, sensors, 1)
    if not isinstance(batch, NavigationBatch | GraphBatch):
        raise InputError(f"expected a protocol of bodies, got {settings.evaluation.protocol}")
    if settings.successes and "success" not in benchmark.metrics:
        raise InputError(f"expected a protocol with the metric success, got {settings.evaluation.protocol}")
    return Manifest(
        layout=settings.layout,
        identity=str(benchmark.identity),
        protocol=task.protocol_id,
        agent=settings.evaluation.agent_name,
        seed=settings.evaluation.seed,
        columns=choose_columns(batch.specs, sensors),
        actions=benchmark.actions,
        is_continuous=benchmark.is_continuous,
        frames_per_second=settings.frames_per_second,
        shard_frames=settings.shard_frames,
        successes=settings.successes,
        privileged=tuple(batch.privileged_sensors),
        version=__version__,
    )


def _require_place(folder: Path, begun: Manifest, resumes: bool) -> None:
    """Raise InputError unless `folder` is new or empty, or holds what `begun` begins."""
    if (folder / FILE_NAME).exists():
        found = replace(read_manifest(folder), complete=False, episodes=(), files={})
        for name in Manifest.__dataclass_fields__:
            ours, theirs = getattr(begun, name), getattr(found, name)
            if ours != theirs:
                raise InputError(
                    f"expected the {name} of the demonstrations in {folder}, {_short(theirs)}, got "
                    f"{_short(ours)}; choose another --out"
                )
        return
    if folder.exists() and not folder.is_dir():
        raise InputError(f"expected a folder, got the file {folder}; choose another --out")
    if folder.exists() and any(one.name not in (".lock", RUN) for one in folder.iterdir()):
        raise InputError(
            f"expected an empty folder or demonstrations in {folder}, got other files; choose another --out"
        )
    if resumes:
        raise InputError(
            f"expected demonstrations to go on with in {folder}, got none; check --out, or begin "
            "without --resume"
        )


def _short(value: object) -> str:
    is_columns = isinstance(value, tuple) and value and not isinstance(value[0], str)
    return ", ".join(one.name for one in value) if is_columns else repr(value)  # type: ignore[attr-defined]


def _write(
    settings: DemoSettings,
    evaluation: Evaluation,
    begun: Manifest,
    on_plan: Callable[[Sequence[Shard]], object],
    on_shard: Callable[[Shard], object],
) -> Manifest:
    folder, benchmark, record = settings.out.absolute(), evaluation.benchmark, evaluation.record
    shards = plan_shards(
        evaluation.rows,
        benchmark.episodes,
        settings.shard_frames,
        lambda row: not row.failed and (not settings.successes or row.metrics["success"] == 1.0),
    )
    on_plan(shards)
    if not shards:
        raise CheckFailedError(
            f"expected at least one episode to keep, got none of {len(evaluation.rows)}: each was broken by "
            f"the agent{' or failed' if settings.successes else ''}; see {folder / RUN}"
        )
    found = read_manifest(folder)
    if found.complete and all((folder / path).exists() for path in found.files):
        for shard in shards:
            on_shard(shard)
        return found
    parts = {shard.number: part for shard in shards if (part := _read_part(folder, shard)) is not None}
    for shard in shards:
        if shard.number in parts:
            on_shard(shard)
    missing = [shard for shard in shards if shard.number not in parts]
    if missing:
        encoding = Encoding(
            replace(benchmark, episodes=()),
            begun.columns,
            begun.layout,
            begun.frames_per_second,
            is_same_platform(record),
            here(),
        )
        own = settings.evaluation
        for shard, encoded in encode_shards(encoding, missing, own.workers or 1, own.ray):
            parts[shard.number] = _write_shard(folder, shard, encoded)
            on_shard(shard)
    return _finish(folder, evaluation, begun, shards, [parts[shard.number] for shard in shards])


def _part_path(folder: Path, shard: Shard) -> Path:
    return folder / PARTS / f"shard-{shard.number:05d}.json"


def _read_part(folder: Path, shard: Shard) -> _Part | None:
    """The record of `shard` if all of its files exist; else None."""
    path = _part_path(folder, shard)
    if not path.exists():
        return None
    try:
        part: _Part = read_json(path, "part of demonstrations", _Part)
    except FileError:
        return None
    for name, digest in part.files.items():
        file = folder / name
        if not file.exists() or hashlib.sha256(file.read_bytes()).hexdigest() != digest:
            return None
    return part


def _write_shard(folder: Path, shard: Shard, encoded: EncodedShard) -> _Part:
    """Write the files of `shard`, and then that they are there."""
    for path, content in encoded.files.items():
        write_atomic(folder / path, content)
    digests = {path: hashlib.sha256(content).hexdigest() for path, content in encoded.files.items()}
    part = _Part(digests, encoded.statistics)
    write_atomic(_part_path(folder, shard), msgspec.json.encode(part))
    return part


def _finish(
    folder: Path, evaluation: Evaluation, begun: Manifest, shards: Sequence[Shard], parts: Sequence[_Part]
) -> Manifest:
    """Write what describes the whole, and then that it is complete."""
    files = {path: digest for part in parts for path, digest in part.files.items()}
    entries = tuple(_describe(one, shard) for shard in shards for one in shard.episodes)
    manifest = replace(begun, complete=True, episodes=entries, files=files)
    encoding: Any = Encoding(
        evaluation.benchmark, begun.columns, begun.layout, begun.frames_per_second, True, ""
    )
    statistics = [one for part in parts for one in part.statistics]
    for path, content in encoding.make_layout().describe(manifest, shards, statistics).items():
        write_atomic(folder / path, content)
    write_atomic(folder / CARD, write_card(manifest, evaluation.record).encode())
    write_manifest(folder, manifest)
    shutil.rmtree(folder / PARTS, ignore_errors=True)
    return manifest


def _describe(one: Planned, shard: Shard) -> DemoEpisode:
    row = one.row
    return DemoEpisode(
        episode_id=row.episode_id,
        scene_id=row.scene_id,
        tour_id=one.episode.tour_id,
        task=one.task,
        steps=len(row.actions),
        status=row.status,
        success=row.metrics.get("success"),
        first=one.first,
        shard=shard.number,
    )
