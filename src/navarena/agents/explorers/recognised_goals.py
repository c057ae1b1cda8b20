"""`frontier-segmenter`: the frontier agent for ObjectNav that knows objects by what a segmenter predicts."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from jaxtyping import Bool, Float, Int64

from navarena.agents.agent import Agent, Boundary, Start
from navarena.agents.explorers.explorer import Aim
from navarena.agents.explorers.frontier import FrontierAgent
from navarena.agents.explorers.goal_finders import GoalFinder, ObjectFinder, SeenObject, thin
from navarena.agents.explorers.sightings import DepthView, project
from navarena.agents.explorers.visible_goals import VisibleFinder
from navarena.agents.options import read_agent_options
from navarena.core.errors import InputError
from navarena.mapping.evidence import USUAL_EVIDENCE, Evidence, EvidenceSettings
from navarena.mapping.labellers import find_labeller, hash_weights
from navarena.tasks.batch import NavigationBatch
from navarena.tasks.protocols.object_goal_task import ObjectGoalTask
from navarena.tasks.protocols.object_nav import ObjectNav
from navarena.tasks.protocols.object_nav_robothor import ObjectNavRobothor
from navarena.tasks.task import Task


class RecognisedFinder(ObjectFinder):
    """Finder for ObjectNav: the goal is a category, and a segmenter tells which pixels show it.

    Args:
        task: of ObjectNav.
        segmenter: as `find_labeller` takes it.
        settings: how evidence is gathered.

    Raises InputError for a segmenter that does not know the goals of the task.
    """

    def __init__(
        self, task: ObjectGoalTask, segmenter: str, settings: EvidenceSettings = USUAL_EVIDENCE
    ) -> None:
        super().__init__(task)
        names = list(find_labeller(segmenter).classes)
        if missing := [name for name in task.categories if name not in names]:
            raise InputError(
                f"expected a segmenter of the goals of {task.protocol_id}, got one that does not know "
                f"{', '.join(missing)}; train another by --set images.vocabulary=NAME"
            )
        self._settings = settings
        self._numbers = [names.index(name) for name in task.categories]
        self._predicted = f"semantic_predicted:{segmenter}" if segmenter else "semantic_predicted"
        self.sensors = ("objectgoal", self._predicted)
        self._evidence: dict[int, Evidence] = {}

    def attach(self, batch: NavigationBatch) -> None:
        """Nothing: what is known of the scene is not looked at."""

    def begin(self, start: Start) -> None:
        super().begin(start)
        if start.boundary >= Boundary.EPISODE:
            self._evidence[start.slot] = Evidence(self._settings)

    def masks(
        self, slot: int, observations: Mapping[str, np.ndarray], view: DepthView
    ) -> dict[int, Bool[np.ndarray, "h w"]]:
        """Goal -> (H, W) bool: pixels called so now, in cells of enough evidence; see `observe`."""
        evidence, goal = self._evidence[slot], self.goal_label(slot, observations)
        mask = observations[self._predicted][..., 0] == self._numbers[goal]
        points, rows, columns = self._look(view, 1, mask)
        mask[:] = False
        mask[rows, columns] = evidence.holds(points, self._settings.accept)
        return {goal: mask} if mask.any() else {}

    def observe(self, slot: int, observations: Mapping[str, np.ndarray], view: DepthView) -> None:
        evidence, goal = self._evidence[slot], self.goal_label(slot, observations)
        called = observations[self._predicted][..., 0] == self._numbers[goal]
        points, rows, columns = self._look(view, max(len(called) // self._settings.rows, 1))
        evidence.add(points, called[rows, columns])
        self._remember(slot, goal, self._settings.accept)

    def find_aim(
        self, slot: int, observations: Mapping[str, np.ndarray], view: DepthView, is_explored: bool
    ) -> Aim | None:
        if is_explored and not self._memories[slot]:
            self._remember(slot, self.goal_label(slot, observations), self._settings.last_resort)
        return super().find_aim(slot, observations, view, is_explored)

    def _remember(self, slot: int, goal: int, least: float) -> None:
        """Remember the points with evidence of at least `least`, and no others."""
        points = self._evidence[slot].goals(least)
        self._memories[slot] = {goal: SeenObject(thin(points))} if len(points) else {}

    def _look(
        self, view: DepthView, step: int, wanted: Bool[np.ndarray, "h w"] | None = None
    ) -> tuple[Float[np.ndarray, "k 3"], Int64[np.ndarray, "k"], Int64[np.ndarray, "k"]]:
        """(K, 3) metres, rows and columns of every `step`-th pixel that is `wanted`, of known depth."""
        metres = view.metres(view.depth[step // 2 :: step, step // 2 :: step])
        least, most = view.depth_range
        known = (metres > least) & (metres < min(most, self._settings.max_range))
        if wanted is not None:
            known &= wanted[step // 2 :: step, step // 2 :: step]
        rows, columns = np.nonzero(known)
        metres, rows, columns = metres[rows, columns], rows * step + step // 2, columns * step + step // 2
        return project(rows, columns, metres, view), rows, columns


class RecognisedVisibleFinder(RecognisedFinder, VisibleFinder):
    """The same for RoboTHOR's ObjectNav, which counts a goal as soon as it is seen from near by."""

    def observe(self, slot: int, observations: Mapping[str, np.ndarray], view: DepthView) -> None:
        super().observe(slot, observations, view)
        self.note_near(slot, self.masks(slot, observations, view), view)


@dataclass(frozen=True)
class SegmenterOptions:
    """Options of `frontier-segmenter?NAME=VALUE`.

    Attributes:
        segmenter: folder or name of the labeller; empty for $NAVARENA_SEGMENTER.
    """

    segmenter: str = ""


class SegmentingFrontierAgent(FrontierAgent):
    """Frontier agent for ObjectNav whose segmenter predicts what it sees, in the place of true labels.

    It maps by depth, gps and compass; where a protocol gives no pose, that of the simulator is privileged.
    The segmenter, which looks at colours and depth, is that of `frontier-segmenter?segmenter=DIR`, or of
    $NAVARENA_SEGMENTER.
    """

    privileged = False
    privileged_inputs = ()
    options: ClassVar[SegmenterOptions] = SegmenterOptions()

    @classmethod
    def with_options(cls, text: str) -> type[Agent]:
        options = read_agent_options(SegmenterOptions, text, "frontier-segmenter")
        return type("SegmentingFrontierAgent", (cls,), {"options": options, "__doc__": cls.__doc__})

    @classmethod
    def weights_beside(cls) -> tuple[str, ...]:
        return (hash_weights(find_labeller(cls.options.segmenter)),)

    def make_finder(self, task: Task) -> GoalFinder:
        """The goal finder that gathers what the segmenter predicts; raises InputError for other tasks."""
        if isinstance(task, ObjectNavRobothor):
            return RecognisedVisibleFinder(task, self.options.segmenter)
        if isinstance(task, ObjectNav):
            return RecognisedFinder(task, self.options.segmenter)
        raise InputError(f"expected ObjectNav for this agent, got {task.protocol_id!r}; use frontier")
