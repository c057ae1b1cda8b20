"""`modular-cow`: matches goals with all views it has seen, whatever object they show (CLIP on Wheels)."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import ClassVar

import numpy as np
from jaxtyping import Float32

from navarena.agents.agent import Agent, Boundary, Start
from navarena.agents.encoders import GoalEncoder, GoalQuery, make_encoder
from navarena.agents.explorers.explorer import Aim
from navarena.agents.explorers.goal_finders import GoalFinder
from navarena.agents.explorers.mapping_agent import MappingAgent
from navarena.agents.explorers.sightings import DepthView
from navarena.agents.goat.goal_query import read_goal, require_goal_sensors
from navarena.agents.goat.instance_aims import stay_at
from navarena.agents.goat.search import hash_thresholds, read_thresholds
from navarena.agents.options import read_agent_options
from navarena.core.errors import InputError
from navarena.episodes.goals import Modality
from navarena.mapping.view_memory import USUAL_VIEWS, ViewMemory, ViewSettings, cut_tiles
from navarena.tasks.task import Task

REACH = 0.8
"""Metres from what a view shows to stand at."""

SPARE = 0.4
"""Metres before what a view shows within which it may stand."""


@dataclass(frozen=True)
class CowSettings:
    """Thresholds by which a view is accepted as the goal. Our choices.

    Attributes:
        accept: modality -> likeness from which on a view is gone to at once; of words and images it is
            much smaller than of two images (CLIP).
        patience: actions of a sub-task before the best view is gone to, however bad.
        last: actions after that, after which the body calls STOP wherever it is.
        views: which are kept.
    """

    accept: Mapping[Modality, float] = field(
        default_factory=lambda: MappingProxyType({"object": 0.28, "description": 0.28, "image": 0.85})
    )
    patience: int = 200
    last: int = 150
    views: ViewSettings = USUAL_VIEWS


USUAL_COW = CowSettings()
"""Our choices."""


@dataclass(frozen=True)
class CowOptions:
    """Options of `modular-cow?NAME=VALUE&...`.

    Attributes:
        encoder: name of an encoder that sees images.
        thresholds: file of `navarena encoder calibrate`, in the place of our thresholds; empty without.
    """

    encoder: str = "images"
    thresholds: str = ""


@dataclass
class _GoalSearch:
    """The search for one goal: its vector, None where the encoder cannot encode it, and actions so far."""

    goal: GoalQuery | None = None
    vector: Float32[np.ndarray, "d"] | None = None
    steps: int = 0


class ViewFinder(GoalFinder):
    """Finds the goals of GOAT-Bench among the views that each body has seen.

    Args:
        task: of GOAT-Bench; raises InputError for another.
        encoder: one that sees images; raises InputError for another.
        settings: when a view is taken for the goal.
    """

    def __init__(self, task: Task, encoder: GoalEncoder, settings: CowSettings) -> None:
        self.sensors = ("rgb", *require_goal_sensors(task))
        if not encoder.sees_images:
            raise InputError(
                f"expected an encoder that sees images, got {encoder.name!r}; take images or clip:PATH"
            )
        self._encoder, self._settings = encoder, settings
        self._views: dict[int, ViewMemory] = {}
        self._searches: dict[int, _GoalSearch] = {}

    def begin(self, start: Start) -> None:
        self._searches[start.slot] = _GoalSearch()
        if start.boundary >= Boundary.EPISODE:
            self._views[start.slot] = ViewMemory(self._settings.views)

    def find_aim(
        self, slot: int, observations: Mapping[str, np.ndarray], view: DepthView, is_explored: bool
    ) -> Aim | None:
        views, search = self._views[slot], self._searches[slot]
        if views.is_new(view.pose):
            self._remember(views, observations, view)
        if search.goal is None:
            search.goal = read_goal(observations)
            if search.goal is None:
                return None
            search.vector = self._encoder.encode(search.goal) if self._can_encode(search.goal) else None
        search.steps += 1
        if search.steps > self._settings.patience + self._settings.last:
            return stay_at(view.pose)
        return self._aim_at_best(views, search, is_explored)

    def _remember(self, views: ViewMemory, observations: Mapping[str, np.ndarray], view: DepthView) -> None:
        """Keep what is seen from here."""
        depth, hfov, count = view.metres(view.depth), view.camera.hfov, self._settings.views.tiles
        tiles = cut_tiles(observations["rgb"], depth, view.pose, hfov, view.depth_range, count)
        if tiles:
            features = self._encoder.encode_images([tile.image for tile in tiles])
            views.add(view.pose, features, np.stack([tile.place for tile in tiles]))

    def _can_encode(self, goal: GoalQuery) -> bool:
        return goal.modality == "image" or self._encoder.reads_words

    def _aim_at_best(self, views: ViewMemory, search: _GoalSearch, is_explored: bool) -> Aim | None:
        """The place of the view that is most like the goal, once that is enough; None to explore."""
        if search.vector is None or search.goal is None or not len(views):
            return None
        scores = views.scores(search.vector)
        best = int(np.argmax(scores))
        is_late = is_explored or search.steps > self._settings.patience
        if not is_late and scores[best] < self._settings.accept[search.goal.modality]:
            return None
        return Aim(views.places[best][None], np.zeros(1), REACH, SPARE)


class ModularCowAgent(MappingAgent):
    """CLIP on Wheels for `goat-v1` and its single skills: no labels, no instances, no privileged input.

    Each image is cut into squares; what the encoder makes of each is kept with the place that its
    middle shows, for the whole lifelong episode. The view that is most like the goal is gone to, at once
    where it is very like it, else when patience ends; until then it explores. The default encoder,
    `images`, needs no weights and knows only goals shown in images; with `clip:PATH` it knows all.
    Goals that it cannot encode are given up after as many actions.

    Args:
        task: of GOAT-Bench; raises InputError for another.
        seed: of the run.
        encoder: name of one that sees images, as of `make_encoder`, or the encoder itself; None for the one
            behind the agent's name, as in modular-cow?encoder=joint:FOLDER.
        settings: when a view is taken for the goal; the thresholds behind the agent's name, as in
            modular-cow?encoder=joint:FOLDER&thresholds=FILE, stand in the place of its own.

    Raises FileError for missing files of encoder or thresholds.
    """

    options: ClassVar[CowOptions] = CowOptions()

    @classmethod
    def with_options(cls, text: str) -> type[Agent]:
        """The agent of `modular-cow?encoder=NAME&thresholds=FILE`; raises InputError for other options."""
        options = read_agent_options(CowOptions, text, "modular-cow")
        return type("ModularCowAgent", (cls,), {"options": options, "__doc__": cls.__doc__})

    @classmethod
    def weights_beside(cls) -> tuple[str, ...]:
        return make_encoder(cls.options.encoder).model_sha256, hash_thresholds(cls.options.thresholds)

    def __init__(
        self,
        task: Task,
        seed: int = 0,
        encoder: str | GoalEncoder | None = None,
        settings: CowSettings = USUAL_COW,
    ) -> None:
        encoder = self.options.encoder if encoder is None else encoder
        chosen = make_encoder(encoder) if isinstance(encoder, str) else encoder
        if self.options.thresholds:
            accept = {**settings.accept, **read_thresholds(self.options.thresholds)}
            settings = replace(settings, accept=MappingProxyType(accept))
        super().__init__(task, ViewFinder(task, chosen, settings), seed)
