"""Interfaces between evaluations and tasks: batch, agent, setup, benchmark.

The runner knows a Benchmark: episodes, names, and a Setup that makes batches and agents.
The real one comes from a task; tests bring a corridor, and a remote agent only needs
another Setup.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import numpy as np

from navarena.agents.agent import Start
from navarena.agents.declaration import UNDECLARED, Declaration, name_of
from navarena.agents.loading import AgentName, declare_agent, load_agent
from navarena.core.errors import InputError
from navarena.core.render_devices import find_device
from navarena.corruptions.catalog import join_corruptions, write_corruption
from navarena.episodes.catalog import get_recipe, load_episodes, make_episodes, split_sizes
from navarena.episodes.dataset import EpisodeDataset
from navarena.episodes.episode import Episode
from navarena.evaluation.calibration import Calibration, plan_calibration
from navarena.evaluation.identity import Identity
from navarena.evaluation.memory_groups import is_own_rule
from navarena.evaluation.settings import EvaluationSettings
from navarena.metrics.catalog import choose_metrics
from navarena.metrics.tours import TourScoring
from navarena.metrics.trajectory import Trajectory
from navarena.scenes.catalog import SCENE_SETS, is_file_path, scene_corruptions
from navarena.scenes.mesh_reference import MARK
from navarena.simulation.device_images import ON_CPU, RenderDevice
from navarena.tasks.batch import NavigationBatch
from navarena.tasks.catalog import get_task, require_body_task
from navarena.tasks.corruption_checks import keep_applicable, require_applicable
from navarena.tasks.graphs.task import GraphTask
from navarena.tasks.sources import load_task_episodes, make_batch
from navarena.tasks.task import StepResult, Task, TaskRules, find_metrics
from navarena.tasks.user_files import NO_SOURCES, Sources

SCENE_EPISODES = 100
"""Episodes generated in a scene that is given in the place of a dataset, unless a number is asked for."""


@runtime_checkable
class Batch(Protocol):
    """N environments that step together; NavigationBatch is one."""

    privileged_sensors: tuple[str, ...]

    @property
    def observations(self) -> Mapping[str, np.ndarray]:
        """Name -> (N, ...) array of the dtype and unit of that sensor, valid until the next step."""
        ...

    def start(self, slots: Sequence[int], episodes: Sequence[Episode]) -> object:
        """Start `episodes` in `slots`; other slots are not affected."""
        ...

    def follow(self, slots: Sequence[int], episodes: Sequence[Episode]) -> np.ndarray:
        """Continue tours in `slots` (K) with their next `episodes`; (K,) bool, whether each starts at once.

        In the others an oracle leads the bodies there by further steps, until `StepResult.arrived`.
        """
        ...

    def oracle_steps(self, slot: int) -> tuple[int, int]:
        """Steps of the oracle before the current episode of `slot`: to the last goal, to the start."""
        ...

    def step(self, actions: np.ndarray, active: np.ndarray) -> StepResult:
        """Take actions (N,) int64, or (N, K) float64, in the slots where `active` (N,) bool holds."""
        ...

    def trajectory(self, slot: int) -> Trajectory:
        """The record of the episode in `slot` up to now."""
        ...


@runtime_checkable
class BatchAgent(Protocol):
    """Interface of agents as the runner calls them; navarena.agents.Agent is one."""

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

    def episode_costs(self, slot: int) -> Mapping[str, float]:
        """Costs of the current episode of `slot` other than time."""
        ...


@runtime_checkable
class Setup(Protocol):
    """Factory of a process's batch and agent. It travels to worker processes by pickle."""

    def make_batch(self, slots: int, sensors: tuple[str, ...], threads: int | None) -> Batch:
        """A batch of `slots` environments that computes `sensors` and nothing else."""
        ...

    def make_agent(self) -> BatchAgent:
        """A fresh agent, without memory of any episode."""
        ...


@dataclass(frozen=True)
class Benchmark:
    """Everything that an evaluation needs: protocol, episodes, actions, metrics and the setup of batches.

    Attributes:
        identity: of rules and episodes.
        episodes: in evaluation order, each id once.
        actions: names; an action is an index into them.
        metrics: names of the numbers of each episode.
        setup: makes batches and agents, in this process or another.
        declaration: what the agent says of itself.
        is_continuous: whether an action is a number within [-1, 1] for each of `actions`.
        tour_scoring: how tours are scored; None where episodes come without tours.
        is_bound: whether the setup holds what no other process has, such as a connection.
    """

    identity: Identity
    episodes: tuple[Episode, ...]
    actions: tuple[str, ...]
    metrics: tuple[str, ...]
    setup: Setup
    declaration: Declaration = UNDECLARED
    is_continuous: bool = False
    tour_scoring: TourScoring | None = None
    is_bound: bool = False

    @cached_property
    def tour_ends(self) -> frozenset[str]:
        """Ids of the episodes that end a tour."""
        return frozenset({(one.scene_id, one.tour_id): one.episode_id for one in self.episodes}.values())

    def idle_actions(self, slots: int) -> np.ndarray:
        """Actions of slots without an agent: (N,) int64 zeros, or (N, K) float64 for continuous actions."""
        return np.zeros((slots, len(self.actions))) if self.is_continuous else np.zeros(slots, np.int64)


@dataclass(frozen=True)
class TaskSetup:
    """The Setup of a registered protocol.

    Attributes:
        protocol: id of the task.
        agent: registered name, "module:Class", a class, or an agent.
        seed: of the agent.
        corruptions: of the agent's images, motion and estimated pose, each as "name:severity".
        patience: seconds that an agent elsewhere may take to answer; None for as long as it likes.
        calibration: in which the agent adapts first, in each process alike; None for none.
        sources: the user's files beside the episodes.
        scans: of the episodes, on navigation graphs; None elsewhere.
        device: where images are drawn.
        model_sha256: of the agent's weights, as its declaration names them; empty of an agent without.
    """

    protocol: str
    agent: AgentName
    seed: int
    corruptions: tuple[str, ...] = ()
    patience: float | None = None
    calibration: Calibration | None = None
    sources: Sources = NO_SOURCES
    scans: tuple[str, ...] | None = None
    device: RenderDevice = ON_CPU
    model_sha256: str = ""

    def make_batch(self, slots: int, sensors: tuple[str, ...], threads: int | None) -> Batch:
        """The batch of the protocol's task."""
        task, corruptions = get_task(self.protocol), self.corruptions
        return make_batch(
            task, slots, threads, sensors, None, corruptions, self.sources, self.scans, device=self.device
        )

    def make_agent(self) -> BatchAgent:
        """The agent as `navarena.agents.load_agent` makes it, adapted when there is a calibration.

        Raises InputError for other weights than the run names.
        """
        task = get_task(self.protocol)
        agent = load_agent(self.agent, task, self.seed, self.patience)
        if self.model_sha256:
            # read once more, since a training may have saved others after they were named
            now = declare_agent(self.agent, task, self.patience).model_sha256
            if now != self.model_sha256:
                raise InputError(
                    f"expected the weights {self.model_sha256} of {name_of(self.agent)} for the whole run, "
                    f"got {now or 'none'}: they have changed since it began; evaluate a copy, or a "
                    "checkpoint that no training replaces"
                )
        if self.calibration is not None:
            corruptions, body_task = self.corruptions, require_body_task(task)
            self.calibration.adapt(
                agent,
                lambda slots, sensors: NavigationBatch(
                    body_task, slots, sensors=sensors, corruptions=corruptions, device=self.device
                ),
            )
        return agent


def open_benchmark(
    settings: EvaluationSettings,
    needs_agent: bool = True,
    declared: Declaration | None = None,
    given: EpisodeDataset | None = None,
) -> Benchmark:
    """The benchmark that `settings` name.

    Args:
        settings: what to evaluate.
        needs_agent: whether an agent will act; a replay works without the agent's code.
        declared: declaration of an agent that has no code here; None for that of the agent in `settings`.
        given: episodes in the place of those that `settings` name.

    Raises InputError for unknown names, bad files, a device that is not here, and streams without a number
    of episodes.
    """
    task = get_task(settings.protocol)
    device = RenderDevice(settings.device)
    if needs_agent and not device.is_cpu:
        find_device(device.name)
    # an agent that does not exist is noticed here, before anything is computed or written
    declaration = UNDECLARED if declared is None else declared
    if needs_agent and declared is None:
        declaration = declare_agent(settings.agent, task, settings.episode_seconds)
    if needs_agent:
        require_applicable(task, settings.corrupt, declaration.sensors)
    dataset = _load_dataset(task, settings) if given is None else given
    if settings.episodes is None and dataset.is_stream:
        raise InputError(
            f"expected --episodes N for a stream of {len(dataset):,} episodes, got none; or evaluate on val"
        )
    episodes = tuple(dataset.episodes[: settings.episodes])
    corruptions = tuple(write_corruption(text) for text in settings.corrupt)
    calibration_list = _load_calibration(task, settings)
    identity = _identify(task, settings, dataset, episodes, corruptions, calibration_list)
    if isinstance(task, Task):
        # what a robot suffers in a set of scenes is part of the set, and so no departure
        suffered = keep_applicable(
            task, scene_corruptions({episode.scene_id for episode in episodes}), declaration.sensors
        )
        corruptions = tuple(join_corruptions(suffered, corruptions))
    calibration = None
    if settings.calibration_steps is not None and needs_agent:
        calibration = plan_calibration(
            require_body_task(task), episodes, settings.calibration_steps, calibration_list
        )
    setup = TaskSetup(
        task.protocol_id,
        settings.agent,
        settings.seed,
        corruptions,
        settings.episode_seconds,
        calibration,
        settings.sources,
        tuple(dict.fromkeys(one.scene_id for one in episodes)) if isinstance(task, GraphTask) else None,
        device,
        declaration.model_sha256 if declared is None else "",
    )
    own = find_metrics(task, episodes[0]) if episodes else task.metrics
    further = [name for name in (settings.metrics or "").split(",") if name]
    metrics = choose_metrics((*own, *task.common_metrics), further)
    return Benchmark(
        identity,
        episodes,
        task.actions,
        metrics,
        setup,
        declaration,
        task.is_continuous,
        task.tour_scoring if any(one.tour_id for one in episodes) and own == task.metrics else None,
    )


def _identify(
    task: TaskRules,
    settings: EvaluationSettings,
    dataset: EpisodeDataset,
    episodes: Sequence[Episode],
    corruptions: Sequence[str],
    calibration_list: EpisodeDataset | None,
) -> Identity:
    """The identity of the first `episodes` of `dataset`, and of all that departs from the protocol."""
    identity = Identity(task.protocol_id, dataset.name, dataset.split, dataset.hash)
    if len(episodes) < len(dataset.episodes):
        identity = identity.first(len(episodes))
    departures: dict[str, str] = {}
    if corruptions:
        departures["corrupt"] = ",".join(corruptions)
    if isinstance(task, Task) and settings.sources.scenes is not None:
        departures["scenes"] = Path(settings.sources.scenes).name
    if not RenderDevice(settings.device).is_cpu:
        departures["engine"] = "warp"
    rules = settings.rules
    if not is_own_rule(rules.forget, episodes):
        departures["forget"] = rules.forget
    if rules.steps is not None and rules.steps < task.max_steps:
        departures["episode_steps"] = str(rules.steps)
    if settings.calibration_steps is not None:
        departures["calibration_steps"] = str(settings.calibration_steps)
        if calibration_list is not None:
            departures["calibration_episodes"] = calibration_list.hash
    for name, value in departures.items():
        identity = identity.departing(name, value)
    return identity


def is_scene(dataset: str) -> bool:
    """Whether a dataset is the path of a mesh file or the id of a scene, not a list of episodes."""
    if dataset.endswith((".json", ".json.gz")) or (Path(dataset).is_dir() and not _is_set_name(dataset)):
        return False
    return is_file_path(dataset) or "/" in dataset


def _is_set_name(dataset: str) -> bool:
    """Whether a dataset is a scene set or a scene of one, whatever folder of that name lies here."""
    return dataset.partition("/")[0] in SCENE_SETS and not Path(dataset).is_file()


def _load_dataset(task: TaskRules, settings: EvaluationSettings) -> EpisodeDataset:
    """The named list of episodes, or generated ones in the named scene."""
    dataset = settings.dataset
    if isinstance(task, GraphTask) or dataset is None or not is_scene(dataset):
        return load_task_episodes(task, settings.split, dataset, settings.sources)
    count = settings.episodes or SCENE_EPISODES
    name = Path(dataset).stem if is_file_path(dataset) else dataset.replace("/", "-")
    return make_episodes(task.protocol_id, [dataset], count, name=name, split=f"custom-{count}")


def _load_calibration(task: TaskRules, settings: EvaluationSettings) -> EpisodeDataset | None:
    """The named split of the data set, or the episodes of a file; None for generated ones."""
    if settings.calibration_episodes is None:
        return None
    if _is_calibration_split(task.protocol_id, settings):
        return load_episodes(task, settings.calibration_episodes, settings.dataset)
    return load_episodes(task, "val", settings.calibration_episodes)


def _is_calibration_split(protocol_id: str, settings: EvaluationSettings) -> bool:
    """Whether the calibration episodes are a split of the evaluated data set, not a file."""
    dataset, recipe = settings.dataset, get_recipe(protocol_id)
    is_set = dataset is None or not is_scene(dataset)
    return is_set and settings.calibration_episodes in split_sizes(dataset or recipe.default_dataset, recipe)


def absolute_paths(settings: EvaluationSettings) -> EvaluationSettings:
    """`settings` with absolute paths of files, so that a run can be replayed from anywhere."""
    calibration = settings.calibration_episodes
    if calibration is not None and not _is_calibration_split(settings.protocol, settings):
        calibration = absolute_dataset(calibration)
    return replace(
        settings,
        dataset=absolute_dataset(settings.dataset),
        calibration_episodes=calibration,
        **vars(settings.sources.absolute()),
    )


def absolute_dataset(dataset: str | None) -> str | None:
    """A dataset that is a file or folder here, by its absolute path; names of sets stay."""
    path, mark, options = (dataset or "").partition(MARK)
    if not path or _is_set_name(path) or not Path(path).exists():
        return dataset
    return str(Path(path).resolve()) + mark + options
