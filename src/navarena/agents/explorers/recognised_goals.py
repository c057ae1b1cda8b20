"""`frontier-segmenter`: the frontier agent for ObjectNav that knows objects by what a segmenter predicts.

Predictions err, most of all far away and at edges. So each place gathers evidence over images: a goal is what
was called so more often than the segmenter's errors explain, and where a nearer look speaks against it, it is
no goal any more.
"""

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
from navarena.core.errors import InputError, require_name
from navarena.mapping.labellers import find_labeller, hash_weights
from navarena.tasks.batch import NavigationBatch
from navarena.tasks.protocols.object_goal_task import ObjectGoalTask
from navarena.tasks.protocols.object_nav import ObjectNav
from navarena.tasks.protocols.object_nav_robothor import ObjectNavRobothor
from navarena.tasks.task import Task


@dataclass(frozen=True)
class EvidenceSettings:
    """How predictions of several images become one. Our choices, before any episode was played.

    Attributes:
        cell: metres, side of the cubes that gather evidence.
        rows: of pixels that are looked at, evenly chosen; columns likewise.
        max_range: metres beyond which predictions are ignored.
        gain: evidence of an image that calls most of a cell's pixels the goal: the logarithm of how much
            oftener that happens where it is one.
        loss: evidence of an image that does not.
        bound: greatest evidence, so that a later look can still speak against it.
        accept: evidence from which on a cell is a goal.
        cells: of a goal, at least.
        last_resort: evidence that is enough where everything is explored.
    """

    cell: float = 0.25
    rows: int = 60
    max_range: float = 4.0
    gain: float = 1.0
    loss: float = 0.5
    bound: float = 6.0
    accept: float = 3.0
    cells: int = 2
    last_resort: float = 1.0


USUAL_EVIDENCE = EvidenceSettings()
"""Our choices."""


class Evidence:
    """Evidence for one goal in the places of one episode.

    Attributes:
        scores: (C,) of the cells that were called the goal at least once.
        points: (C, 3) metres, in the frame of the map, the mean of the pixels called so in each.
    """

    def __init__(self, settings: EvidenceSettings) -> None:
        self._settings = settings
        self._keys = np.zeros(0, np.int64)
        self._counts = np.zeros(0)
        self.scores, self.points = np.zeros(0), np.zeros((0, 3))

    def add(self, points: Float[np.ndarray, "k 3"], is_goal: Bool[np.ndarray, "k"]) -> None:
        """Note one image: points (K, 3) metres of its pixels, and which of them were called the goal."""
        settings = self._settings
        keys, place = np.unique(self.keys_of(points), return_inverse=True)
        pixels, called = np.bincount(place, minlength=len(keys)), np.bincount(place, is_goal, len(keys))
        sums = np.stack([np.bincount(place, is_goal * axis, len(keys)) for axis in points.T], 1)
        new = np.setdiff1d(keys[called > 0], self._keys, assume_unique=True)
        at = np.searchsorted(self._keys, new)
        self._keys = np.insert(self._keys, at, new)
        self._counts, self.scores = np.insert(self._counts, at, 0.0), np.insert(self.scores, at, 0.0)
        self.points = np.insert(self.points, at, 0.0, axis=0)
        _, own, seen = np.intersect1d(self._keys, keys, assume_unique=True, return_indices=True)
        gains = np.where(2 * called[seen] >= pixels[seen], settings.gain, -settings.loss)
        self.scores[own] = np.clip(self.scores[own] + gains, -settings.bound, settings.bound)
        total = self._counts[own] + called[seen]
        whole = self.points[own] * self._counts[own, None] + sums[seen]
        self.points[own] = whole / np.maximum(total, 1)[:, None]
        self._counts[own] = total

    def keys_of(self, points: Float[np.ndarray, "k 3"]) -> Int64[np.ndarray, "k"]:
        """(K,) numbers of the cells of points (K, 3), metres."""
        places = np.floor(points / self._settings.cell).astype(np.int64) + 2**20
        return (places[:, 0] * 2**21 + places[:, 1]) * 2**21 + places[:, 2]

    def holds(self, points: Float[np.ndarray, "k 3"], least: float) -> Bool[np.ndarray, "k"]:
        """(K,) whether points (K, 3), metres, lie in cells with evidence of at least `least`."""
        return np.isin(self.keys_of(points), self._keys[self.scores >= least])

    def goals(self, least: float) -> Float[np.ndarray, "m 3"]:
        """(M, 3) metres: the points of cells with evidence of at least `least`; none where they are few."""
        sure = self.points[self.scores >= least]
        return sure if len(sure) >= self._settings.cells else sure[:0]


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


class SegmentingFrontierAgent(FrontierAgent):
    """Frontier agent for ObjectNav whose segmenter predicts what it sees, in the place of true labels.

    It maps by depth, gps and compass; where a protocol gives no pose, that of the simulator is privileged.
    The segmenter, which looks at colours and depth, is that of `frontier-segmenter?segmenter=DIR`, or of
    $NAVARENA_SEGMENTER.
    """

    privileged = False
    privileged_inputs = ()
    segmenter: ClassVar[str] = ""

    @classmethod
    def with_options(cls, text: str) -> type[Agent]:
        name, _, value = text.partition("=")
        require_name("option of frontier-segmenter", name, ["segmenter"])
        if not value:
            raise InputError(f"expected segmenter=DIR behind frontier-segmenter, got {text!r}")
        return type("SegmentingFrontierAgent", (cls,), {"segmenter": value, "__doc__": cls.__doc__})

    @classmethod
    def weights_beside(cls) -> tuple[str, ...]:
        return (hash_weights(find_labeller(cls.segmenter)),)

    def make_finder(self, task: Task) -> GoalFinder:
        """The goal finder that gathers what the segmenter predicts; raises InputError for other tasks."""
        if isinstance(task, ObjectNavRobothor):
            return RecognisedVisibleFinder(task, self.segmenter)
        if isinstance(task, ObjectNav):
            return RecognisedFinder(task, self.segmenter)
        raise InputError(f"expected ObjectNav for this agent, got {task.protocol_id!r}; use frontier")
