"""How many goals scenes offer, by modality, and what was dropped and why."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from navarena.episodes.goat.goal_pool import MODALITIES, GoalPool
from navarena.episodes.goat.scene_goals import count_dropped

UNTOLD = "description: no words tell it apart"


@dataclass
class GoalCounts:
    """Counts over scenes, under the names of one split.

    Attributes:
        scenes: looked at.
        objects: modality -> goals, each object once in its scene.
        names_by_modality: modality -> names of at least one goal.
        images: cameras of all goals.
        view_points: of all goals by category.
        without: modality -> scenes that have no such goal.
        dropped: modality and reason -> goals that are missing, whatever their names.
    """

    scenes: int = 0
    objects: dict[str, int] = field(default_factory=lambda: dict.fromkeys(MODALITIES, 0))
    names_by_modality: dict[str, set[str]] = field(
        default_factory=lambda: {modality: set() for modality in MODALITIES}
    )
    images: int = 0
    view_points: int = 0
    without: dict[str, int] = field(default_factory=lambda: dict.fromkeys(MODALITIES, 0))
    dropped: dict[str, int] = field(default_factory=dict)

    @property
    def names(self) -> int:
        """Names that at least one goal has."""
        return len(set().union(*self.names_by_modality.values()))

    def add(self, pool: GoalPool) -> None:
        """Count the goals of one more scene."""
        self.scenes += 1
        for modality in MODALITIES:
            choices = pool.choices(modality)
            self.objects[modality] += len({choice.object_id for choice in choices})
            self.names_by_modality[modality] |= {choice.name for choice in choices}
            self.without[modality] += not choices
        shown = {choice.object_id for choice in pool.choices("image")}
        self.images += sum(len(pool.goals.images(number)) for number in shown)
        seen = sorted({choice.object_id for choice in pool.choices("object")})
        self.view_points += len(pool.views.rows_of_objects(seen))
        for reason, count in count_dropped(pool.goals.dropped).items():
            self.dropped[reason] = self.dropped.get(reason, 0) + count
        untold = pool.untold()
        if untold:
            self.dropped[UNTOLD] = self.dropped.get(UNTOLD, 0) + untold


def count_goals(pools: Iterable[GoalPool]) -> GoalCounts:
    """The counts over some scenes."""
    counts = GoalCounts()
    for pool in pools:
        counts.add(pool)
    return counts
