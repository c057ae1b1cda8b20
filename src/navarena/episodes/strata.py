"""A small list that stands for a large one: episodes chosen by scene, difficulty and category."""

from collections import Counter, defaultdict
from collections.abc import Hashable, Sequence

from navarena.core.errors import InputError
from navarena.episodes.episode import Episode
from navarena.episodes.goals import Goal, ImageGoal, LifelongGoal, MultiGoal, ObjectGoal


def choose_stratified(episodes: Sequence[Episode], count: int) -> list[int]:
    """Rows (`count`, rising) of a sample of `episodes` with the strata of the whole.

    Every scene has its share of the sample, as even as whole numbers allow. Within that, each choice takes
    the episode whose difficulty and category are the farthest behind their shares (that is the smallest
    sum of taken / present over the two), the first of equals. Nothing is random.

    Raises InputError unless 1 <= count <= len(episodes).
    """
    if not 1 <= count <= len(episodes):
        raise InputError(f"expected a sample of 1 to {len(episodes)} episodes, got {count}")
    strata = [(("difficulty", one.difficulty), ("category", _category(one.goal))) for one in episodes]
    present = Counter(name for names in strata for name in names)
    by_scene: defaultdict[str, list[int]] = defaultdict(list)
    for row, episode in enumerate(episodes):
        by_scene[episode.scene_id].append(row)
    taken: Counter[Hashable] = Counter()
    chosen: list[int] = []
    seen = 0
    for rows in by_scene.values():
        seen += len(rows)
        left = list(rows)
        while len(chosen) < seen * count // len(episodes):
            row = min(left, key=lambda row: sum((taken[name] + 1) / present[name] for name in strata[row]))
            left.remove(row)
            chosen.append(row)
            taken.update(strata[row])
    return sorted(chosen)


def _category(goal: Goal) -> str:
    """What is looked for first; empty for points."""
    if isinstance(goal, ObjectGoal):
        return goal.category
    if isinstance(goal, MultiGoal):
        return goal.objects[0].category
    if isinstance(goal, LifelongGoal):
        return goal.subtasks[0].category
    return goal.instance.category if isinstance(goal, ImageGoal) else ""
