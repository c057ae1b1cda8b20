"""Evaluation during a training: checkpoints play as results are made, in houses it does not learn from."""

import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from navarena.agents.loading import declare_agent, load_agent
from navarena.core.errors import CheckFailedError, SceneError, require_name
from navarena.episodes.episode import Episode
from navarena.episodes.house_blocks import HouseBlocks
from navarena.episodes.sequence import DrawnGroups
from navarena.evaluation.benchmark import Batch, BatchAgent, Benchmark
from navarena.evaluation.identity import Identity
from navarena.evaluation.memory_groups import make_groups
from navarena.evaluation.records.journal import Row
from navarena.evaluation.records.results import estimate_metric
from navarena.evaluation.running.episode_loop import EpisodeLoop
from navarena.evaluation.settings import EpisodeRules
from navarena.learning.checkpoints.policies import (
    BEST,
    EARLIER,
    ActingPolicy,
    CheckpointInfo,
    earlier_folders,
    save_policy,
)
from navarena.learning.checkpoints.selection import (
    PAPER_SPLIT,
    CurvePoint,
    Score,
    TrainingEvaluationSettings,
    choose_best,
)
from navarena.metrics.catalog import get_metric
from navarena.simulation.world import WorldCache
from navarena.tasks.sources import load_task_episodes, make_batch
from navarena.tasks.task import Task

SLOTS = 32
"""Episodes side by side; numbers do not depend on it."""

LARGEST_SHARE = 4
"""One of so many houses is held out at most."""


def split_houses(houses: Sequence[str], held_out: int) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The houses to learn in, and the last `held_out` of them, at most a quarter, to evaluate in."""
    count = min(held_out, len(houses) // LARGEST_SHARE)
    return tuple(houses[: len(houses) - count]), tuple(houses[len(houses) - count :])


@dataclass(frozen=True)
class _Setup:
    """The Setup of one evaluation."""

    task: Task
    agent: str
    worlds: WorldCache
    corruptions: tuple[str, ...]

    def make_batch(self, slots: int, sensors: tuple[str, ...], threads: int | None) -> Batch:
        return make_batch(self.task, slots, threads, sensors, self.worlds, self.corruptions)

    def make_agent(self) -> BatchAgent:
        return load_agent(self.agent, self.task)


class _Rows:
    """Finished rows, in memory."""

    def __init__(self) -> None:
        self.rows: list[Row] = []

    def append(self, row: Row) -> None:
        self.rows.append(row)


class TrainingEvaluation:
    """Plays the same episodes with every checkpoint: on the protocol's own images, by the agent of results.

    Args:
        task: with the protocol's own cameras.
        settings: how much is played.
        blocks: of the training's episodes.
        houses: held out, whose episodes are played; for the selection "train".
        worlds: where scenes come from.
        corruptions: that the training learns with; checkpoints are evaluated with the same.

    Raises UnknownNameError for a metric that the task does not have, and for a split of papers that its
    episodes do not.
    """

    def __init__(
        self,
        task: Task,
        settings: TrainingEvaluationSettings,
        blocks: HouseBlocks,
        houses: Sequence[str],
        worlds: WorldCache,
        corruptions: tuple[str, ...] = (),
    ) -> None:
        self._metrics = tuple(name for name in task.metrics if get_metric(name).is_score)
        require_name("metric of evaluations", settings.by, self._metrics)
        self._task, self._settings, self._corruptions = task, settings, corruptions
        self._blocks, self._houses = blocks, tuple(houses)
        self._worlds = WorldCache(task.embodiment, lambda scene_id, _: worlds.get(scene_id))
        is_paper = settings.selection == "paper"
        self._episodes: tuple[Episode, ...] = self._choose() if is_paper else ()

    def evaluate(self, folder: Path) -> tuple[int, dict[str, Score]]:
        """Number of episodes and mean metrics of the checkpoint in `folder`.

        Raises CheckFailedError when the agent breaks an episode, FileError for a damaged checkpoint.
        """
        if not self._episodes:
            self._episodes = self._choose()
        is_paper = self._settings.selection == "paper"
        split = f"custom-{PAPER_SPLIT}" if is_paper else "custom-held-out"
        agent = f"checkpoint:{folder}"
        benchmark = Benchmark(
            Identity(self._task.protocol_id, "training", split, "0"),
            self._episodes,
            self._task.actions,
            self._metrics,
            _Setup(self._task, agent, self._worlds, self._corruptions),
            declare_agent(agent, self._task),
            self._task.is_continuous,
        )
        groups, found, rules = make_groups(self._episodes, set(), "tour"), _Rows(), EpisodeRules()
        EpisodeLoop(benchmark, min(SLOTS, len(groups)), rules, found, lambda row: None, threads=1).run(
            iter(groups)
        )
        rows = sorted(found.rows, key=lambda row: row.episode_id)
        for row in rows:
            if row.failed:
                said = (row.traceback or "").strip().splitlines() or [row.status]
                raise CheckFailedError(
                    f"expected the checkpoint in {folder} to play {row.episode_id}, got {row.status}: "
                    f"{said[-1]}"
                )
        estimates = {name: estimate_metric(rows, name) for name in self._metrics}
        return len(rows), {name: Score(one.mean, one.low, one.high) for name, one in estimates.items()}

    def _choose(self) -> tuple[Episode, ...]:
        """The episodes that are played, spread over the houses."""
        count = self._settings.episodes
        if self._settings.selection == "paper":
            groups = DrawnGroups(load_task_episodes(self._task, PAPER_SPLIT).episodes)
            step = max(1, len(groups) // count)
            return _fill([groups[row] for row in range(0, len(groups), step)], count)
        chosen: list[Episode] = []
        for place, house in enumerate(self._houses):
            share = -(-(count - len(chosen)) // (len(self._houses) - place))
            try:
                made = self._blocks.make(self._worlds.get(house), house, 0)
            except SceneError:  # a house without room for such episodes; the others take its share
                continue
            chosen += _fill(made, share)
        if not chosen:
            raise SceneError(f"expected episodes in {', '.join(self._houses)}, got none; hold out others")
        return tuple(chosen)


def _fill(groups: Sequence[tuple[Episode, ...]], count: int) -> tuple[Episode, ...]:
    """Whole `groups` until there are at least `count` episodes."""
    chosen: list[Episode] = []
    for group in groups:
        if len(chosen) >= count:
            break
        chosen += group
    return tuple(chosen)


def evaluate_and_keep(
    evaluation: TrainingEvaluation,
    settings: TrainingEvaluationSettings,
    folder: Path,
    policy: ActingPolicy,
    describe: Callable[[], CheckpointInfo],
    curve: list[CurvePoint],
) -> CurvePoint:
    """Evaluate `policy`, which stays among the earlier checkpoints in `folder`, and as the best if it is.

    Args:
        evaluation: that plays it.
        settings: which is the best, and how many stay.
        folder: of the training.
        policy: as it is now.
        describe: what its checkpoint says, the `curve` included.
        curve: evaluations so far, to which this one is added.

    Raises StorageError when it cannot be written, and what `TrainingEvaluation.evaluate` raises.
    """
    info = describe()
    place = folder / EARLIER / str(info.frames)
    save_policy(place, info, policy)
    count, scores = evaluation.evaluate(place)
    point = CurvePoint(info.frames, info.updates, info.cpu_seconds, count, scores)
    curve.append(point)
    save_policy(place, describe(), policy)
    if choose_best(curve, settings.by) is point:
        save_policy(folder / BEST, describe(), policy)
    known = earlier_folders(folder)
    for frames in list(known)[: max(len(known) - settings.keep, 0)]:
        shutil.rmtree(known[frames], ignore_errors=True)
    return point
