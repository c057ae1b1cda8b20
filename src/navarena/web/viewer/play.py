"""People in the place of an agent: the evaluation's own runner, and the page that shows and asks."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any

import numpy as np
from jaxtyping import Bool

from navarena.agents.agent import Agent, Start
from navarena.agents.catalog import HUMAN
from navarena.agents.declaration import Declaration
from navarena.core.errors import InputError, require_name
from navarena.evaluation.benchmark import Batch, BatchAgent, Benchmark, TaskSetup, open_benchmark
from navarena.evaluation.running.runner import Evaluation, open_run
from navarena.evaluation.settings import EvaluationSettings
from navarena.reports.runs.page import write_report
from navarena.reports.tables import metric_table
from navarena.reports.topdown import open_plans
from navarena.reports.videos.video import CAMERA, find_sensors, video_camera
from navarena.simulation.rendering.views import OUTPUTS
from navarena.simulation.world import open_world
from navarena.tasks.batch import NavigationBatch
from navarena.tasks.catalog import get_task
from navarena.tasks.graphs.task import GraphTask
from navarena.tasks.sources import make_batch
from navarena.tasks.task import Actions, Task
from navarena.web.viewer.hub import Hub
from navarena.web.viewer.play_session import MAP, PlaySession, ViewKind

HEIGHT_PX = 480
"""Of the images that a person sees; their field of view is that of the body's camera."""

KINDS = (*OUTPUTS, MAP)
"""What --sensors may name."""


class HumanAgent(Agent):
    """Agent of a person who plays; declares privileged help as soon as the person asks for it.

    Args:
        session: session of the person.
    """

    worker_episodes = None

    def __init__(self, session: PlaySession) -> None:
        self.sensors, self._session = session.sensors, session

    def reset(self, starts: Sequence[Start]) -> None:
        """Nothing to forget: people cannot."""

    def act(self, observations: Mapping[str, np.ndarray], active: Bool[np.ndarray, "n"]) -> Actions:
        chosen = self._session.choose()
        self.privileged_inputs = self._session.help
        return np.array([chosen], np.int64 if isinstance(chosen, int) else np.float64)


@dataclass(frozen=True)
class PlaySetup(TaskSetup):
    """The setup of a protocol with a person as its agent, and a camera whose images only the person sees.

    Attributes (beside those of TaskSetup):
        session: session of the person.
    """

    session: PlaySession | None = field(default=None, kw_only=True)

    def make_batch(self, slots: int, sensors: tuple[str, ...], threads: int | None) -> Batch:
        """The batch of the protocol's task, whose body has a further camera.

        Labels are drawn beside colours in one pass, but no person sees them before it asks, and that is
        recorded then: they are not privileged sensors of the run.
        """
        task = get_task(self.protocol)
        if isinstance(task, Task):
            camera = replace(video_camera(task.embodiment, HEIGHT_PX), channels=OUTPUTS)
            task.embodiment = replace(task.embodiment, cameras=(*task.embodiment.cameras, camera))
        batch = make_batch(
            task,
            slots,
            threads,
            sensors,
            None,
            self.corruptions,
            self.sources,
            self.scans,
            device=self.device,
        )
        if isinstance(batch, NavigationBatch):
            batch.privileged_sensors = ()
        return batch

    def make_agent(self) -> BatchAgent:
        """The person."""
        if self.session is None:
            raise RuntimeError("a person has no session")
        return HumanAgent(self.session)


def open_human_benchmark(settings: EvaluationSettings) -> Benchmark:
    """The benchmark that `settings` name, for a person.

    Raises InputError for settings that only agents understand.
    """
    if settings.device != "cpu":
        raise InputError(f"expected --device cpu for a person, got {settings.device!r}")
    return open_benchmark(replace(settings, agent=HUMAN), declared=Declaration())


def choose_views(benchmark: Benchmark, names: Sequence[str] = ()) -> tuple[ViewKind, ...]:
    """The toggles of a page, by name; all that the scenes can show when no names are given.

    Raises UnknownNameError for an unknown name, and InputError for labels of scenes that have none.
    """
    for name in names:
        require_name("image", name, KINDS)
    setup = benchmark.setup
    if not isinstance(setup, TaskSetup):
        raise InputError(f"expected a registered protocol to play, got {benchmark.identity}")
    task, with_map = get_task(setup.protocol), ViewKind(MAP, "", True)
    if isinstance(task, GraphTask):
        return (ViewKind("rgb", "", False), with_map)
    if not isinstance(task, Task):
        raise InputError(f"expected a protocol with bodies or graphs to play, got {task.protocol_id}")
    own = find_sensors(setup)
    unlabelled = _find_unlabelled(benchmark, task)
    views = []
    for name in OUTPUTS:
        if unlabelled and name in ("semantic", "instance"):
            if name in names:
                raise InputError(f"expected a scene with labels for {name} images, got {unlabelled} without")
            continue
        sensor = own.get(name, f"{CAMERA}_{name}")
        views.append(ViewKind(name, sensor, name not in task.sensors))
    chosen = names or KINDS
    return tuple(view for view in (*views, with_map) if view.name in chosen or view.name == "rgb")


def _find_unlabelled(benchmark: Benchmark, task: Task) -> str:
    """A scene without labels among those of the episodes, one looked at of each set; "" for none."""
    firsts = {one.scene_id.rpartition("/")[0]: one.scene_id for one in reversed(benchmark.episodes)}
    scenes = (open_world(scene_id, task.embodiment).scene for scene_id in firsts.values())
    return next((scene.scene_id for scene in scenes if not scene.has_semantics), "")


def play_run(
    hub: Hub,
    settings: EvaluationSettings,
    benchmark: Benchmark,
    views: tuple[ViewKind, ...],
    about: Mapping[str, Any],
) -> Evaluation:
    """Let a person play the episodes that are left of a run, and finish it with its report.

    Args:
        hub: the link to the pages.
        settings: what is played; the agent is HUMAN.
        benchmark: of open_human_benchmark.
        views: of choose_views.
        about: what pages show all the time.
    """
    setup, plans = benchmark.setup, open_plans(benchmark)
    if not isinstance(setup, TaskSetup):
        raise InputError(f"expected a registered protocol to play, got {benchmark.identity}")
    settings = replace(settings, agent=HUMAN, batch_size=1, workers=1)
    task = get_task(setup.protocol)
    session = PlaySession(hub, benchmark, task, views, plans, about, setup.sources.scenes is None)
    values = {one.name: getattr(setup, one.name) for one in fields(TaskSetup)}
    played = replace(benchmark, setup=PlaySetup(**values, session=session), is_bound=True)
    with open_run(settings, played) as run:
        session.resume(run.resumed)
        evaluation = run.finish(spectator=session)
    session.finish(describe_summary(evaluation))
    write_report(evaluation, plans)
    return evaluation


def describe_summary(evaluation: Evaluation) -> dict[str, Any]:
    """The table of a finished run, for a page."""
    table = metric_table(evaluation.summary)
    return {
        "episodes": len(evaluation.rows),
        "columns": table.columns[:3],
        "rows": [row[:3] for row in table.rows],
    }
