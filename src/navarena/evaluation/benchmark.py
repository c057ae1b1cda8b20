"""The seam between the evaluation and what it evaluates.

The runner knows a Benchmark: episodes, names, and a Setup that makes batches and agents.
The real one comes from a task; tests bring a corridor, and a remote agent only needs
another Setup.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import numpy as np

from navarena.agents.agent import Start
from navarena.agents.declaration import UNDECLARED, Declaration
from navarena.agents.loading import declare_agent, load_agent
from navarena.core.errors import InputError
from navarena.corruptions.catalog import join_corruptions, write_corruption
from navarena.episodes.catalog import get_recipe, load_episodes, make_episodes, split_sizes
from navarena.episodes.dataset import EpisodeDataset
from navarena.episodes.episode import Episode
from navarena.evaluation.calibration import Calibration, plan_calibration
from navarena.evaluation.identity import Identity
from navarena.evaluation.settings import EvaluationSettings
from navarena.metrics.catalog import COMMON_METRICS
from navarena.metrics.trajectory import Trajectory
from navarena.scenes.catalog import is_file_path, scene_corruptions
from navarena.scenes.mesh_reference import MARK
from navarena.tasks.batch import NavigationBatch
from navarena.tasks.catalog import get_task
from navarena.tasks.corruption_checks import keep_applicable, require_applicable
from navarena.tasks.task import StepResult, Task

SCENE_EPISODES = 100
"""Episodes generated in a scene that is given in the place of a dataset, unless a number is asked for."""


@runtime_checkable
class Batch(Protocol):
    """N environments that step together; NavigationBatch is one."""

    @property
    def observations(self) -> Mapping[str, np.ndarray]:
        """Name -> (N, ...) array of the dtype and unit of that sensor, valid until the next step."""
        ...

    def start(self, slots: Sequence[int], episodes: Sequence[Episode]) -> object:
        """Begin `episodes` in `slots`; the other slots go on."""
        ...

    def step(self, actions: np.ndarray, active: np.ndarray) -> StepResult:
        """Take actions (N,) int64, or (N, K) float64, in the slots where `active` (N,) bool holds."""
        ...

    def trajectory(self, slot: int) -> Trajectory:
        """The record of the episode in `slot` up to now."""
        ...


@runtime_checkable
class BatchAgent(Protocol):
    """What the runner calls of an agent; navarena.agents.Agent is one."""

    sensors: tuple[str, ...]

    def attach(self, batch: Any) -> None:
        """Called once before the first reset with the batch that the agent will act in."""
        ...

    def reset(self, starts: Sequence[Start]) -> None:
        """New episodes begin in the slots of `starts`."""
        ...

    def act(self, observations: Mapping[str, np.ndarray], active: np.ndarray) -> np.ndarray:
        """Choose actions (N,) int64, or (N, K) float64, for the slots where `active` (N,) bool holds."""
        ...


@runtime_checkable
class Setup(Protocol):
    """How a process makes its batch and its agent. It travels to worker processes by pickle."""

    def make_batch(self, slots: int, sensors: tuple[str, ...], threads: int | None) -> Batch:
        """A batch of `slots` environments that computes `sensors` and nothing else."""
        ...

    def make_agent(self) -> BatchAgent:
        """A fresh agent, without memory of any episode."""
        ...


@dataclass(frozen=True)
class Benchmark:
    """Everything that an evaluation needs to know.

    Attributes:
        identity: of rules and episodes.
        episodes: in evaluation order, each id once.
        actions: names; an action is an index into them.
        metrics: names of the numbers of each episode.
        setup: makes batches and agents, in this process or another.
        declaration: what the agent says of itself.
        is_continuous: whether an action is a number within [-1, 1] for each of `actions`.
    """

    identity: Identity
    episodes: tuple[Episode, ...]
    actions: tuple[str, ...]
    metrics: tuple[str, ...]
    setup: Setup
    declaration: Declaration = UNDECLARED
    is_continuous: bool = False


@dataclass(frozen=True)
class TaskSetup:
    """The Setup of a registered protocol.

    Attributes:
        protocol: id of the task.
        agent: registered name or "module:Class".
        seed: of the agent.
        corruptions: of the agent's images, motion and estimated pose, each as "name:severity".
        patience: seconds that an agent elsewhere may take to answer; None for as long as it likes.
        calibration: in which the agent adapts first, in each process alike; None for none.
    """

    protocol: str
    agent: str
    seed: int
    corruptions: tuple[str, ...] = ()
    patience: float | None = None
    calibration: Calibration | None = None

    def make_batch(self, slots: int, sensors: tuple[str, ...], threads: int | None) -> Batch:
        """A NavigationBatch of the protocol's task."""
        task = get_task(self.protocol)
        return NavigationBatch(task, slots, threads, sensors, corruptions=self.corruptions)

    def make_agent(self) -> BatchAgent:
        """The agent as `navarena.agents.load_agent` makes it, adapted when there is a calibration."""
        task = get_task(self.protocol)
        agent = load_agent(self.agent, task, self.seed, self.patience)
        if self.calibration is not None:
            corruptions = self.corruptions
            self.calibration.adapt(
                agent,
                lambda slots, sensors: NavigationBatch(task, slots, sensors=sensors, corruptions=corruptions),
            )
        return agent


def open_benchmark(settings: EvaluationSettings, needs_agent: bool = True) -> Benchmark:
    """The benchmark that `settings` name.

    Args:
        settings: what to evaluate.
        needs_agent: whether an agent will act; a replay works without the agent's code.

    Raises InputError for unknown names, bad files, and streams without a number of episodes.
    """
    task = get_task(settings.protocol)
    # an agent that does not exist is noticed here, before anything is computed or written
    declaration = declare_agent(settings.agent, task) if needs_agent else UNDECLARED
    dataset = _load_dataset(task, settings)
    identity = Identity(task.protocol_id, dataset.name, dataset.split, dataset.hash)
    if settings.episodes is None and dataset.is_stream:
        raise InputError(
            f"expected --episodes N for a stream of {len(dataset):,} episodes, got none; or evaluate on val"
        )
    episodes = tuple(dataset.episodes[: settings.episodes])
    if len(episodes) < len(dataset.episodes):
        identity = identity.first(len(episodes))
    chosen = settings.corrupt.split(",") if settings.corrupt else []
    if needs_agent:
        require_applicable(task, chosen, declaration.sensors)
    corruptions = tuple(write_corruption(text) for text in chosen)
    if corruptions:
        identity = identity.departing("corrupt", ",".join(corruptions))
    # what a robot suffers in a set of scenes is part of the set, and so no departure
    suffered = keep_applicable(
        task, scene_corruptions({episode.scene_id for episode in episodes}), declaration.sensors
    )
    corruptions = tuple(join_corruptions(suffered, corruptions))
    rules = settings.rules
    if rules.forget != "episode":
        identity = identity.departing("forget", rules.forget)
    if rules.steps is not None and rules.steps < task.max_steps:
        identity = identity.departing("episode_steps", str(rules.steps))
    calibration = None
    if settings.calibrate is not None:
        identity = identity.departing("calibrate", str(settings.calibrate))
        given = _load_calibration(task, settings)
        if given is not None:
            identity = identity.departing("calibration", given.hash)
        calibration = plan_calibration(task, episodes, settings.calibrate, given) if needs_agent else None
    setup = TaskSetup(
        task.protocol_id, settings.agent, settings.seed, corruptions, settings.episode_seconds, calibration
    )
    metrics = tuple(dict.fromkeys((*task.metrics, *COMMON_METRICS)))
    return Benchmark(identity, episodes, task.actions, metrics, setup, declaration, task.is_continuous)


def is_scene(dataset: str) -> bool:
    """Whether a dataset is the path of a mesh file or the id of a scene, not a list of episodes."""
    if dataset.endswith((".json", ".json.gz")) or Path(dataset).is_dir():
        return False
    return is_file_path(dataset) or "/" in dataset


def _load_dataset(task: Task, settings: EvaluationSettings) -> EpisodeDataset:
    """The named list of episodes, or generated ones in the named scene."""
    dataset = settings.dataset
    if dataset is None or not is_scene(dataset):
        return load_episodes(task, settings.split, dataset)
    count = settings.episodes or SCENE_EPISODES
    name = Path(dataset).stem if is_file_path(dataset) else dataset.replace("/", "-")
    return make_episodes(task.protocol_id, [dataset], count, name=name, split=f"custom-{count}")


def _load_calibration(task: Task, settings: EvaluationSettings) -> EpisodeDataset | None:
    """The named split of the data set, or the episodes of a file; None for generated ones."""
    if settings.calibration is None:
        return None
    dataset, recipe = settings.dataset, get_recipe(task.protocol_id)
    is_set = dataset is None or not is_scene(dataset)
    if is_set and settings.calibration in split_sizes(dataset or recipe.default_dataset, recipe):
        return load_episodes(task, settings.calibration, dataset)
    return load_episodes(task, "val", settings.calibration)


def absolute_dataset(dataset: str | None) -> str | None:
    """A dataset that is a file here, by its absolute path, so that a run can be replayed from anywhere."""
    path, mark, options = (dataset or "").partition(MARK)
    return str(Path(path).resolve()) + mark + options if path and Path(path).exists() else dataset
