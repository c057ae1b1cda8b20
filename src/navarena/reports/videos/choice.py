"""Which episodes are worth a video."""

from collections.abc import Mapping, Sequence
from itertools import chain, zip_longest

from navarena.core.seeding import make_generator
from navarena.core.suggest import require_name
from navarena.evaluation.journal import Row
from navarena.metrics.failures import MEANINGS, FailureClass
from navarena.reports.gallery import start_distance

BEST, WORST, RANDOM, FAILURES = "best", "worst", "random", "failures"
KINDS = (BEST, WORST, RANDOM, FAILURES)


def choose_videos(
    rows: Sequence[Row],
    count: int,
    kinds: Sequence[str],
    outcome: str,
    score: str,
    classes: Mapping[str, FailureClass] | None,
) -> list[tuple[str, Row]]:
    """At most `count` rows with why they were chosen, each row once; the kinds take turns.

    best: successes, the highest score first. worst: the lowest score first, of equals the easiest. random:
    drawn by the identity of the run. failures: the easiest of each class, the classes in turn; without
    classes the easiest of all.

    Args:
        rows: of a run, at least one.
        count: how many.
        kinds: some of KINDS.
        outcome: name of the metric that says success or not.
        score: name of the metric by which episodes are ranked.
        classes: episode id -> why it failed; None where this is not known.

    Raises UnknownNameError for another kind.
    """
    queues = [
        _rank(rows, require_name("choice of episodes", kind, KINDS), outcome, score, classes)
        for kind in kinds
    ]
    chosen: dict[tuple[str, str], tuple[str, Row]] = {}
    places = [0] * len(queues)
    while len(chosen) < count and any(place < len(queue) for place, queue in zip(places, queues)):
        for k, queue in enumerate(queues):
            while places[k] < len(queue) and _key(queue[places[k]][1]) in chosen:
                places[k] += 1
            if places[k] < len(queue) and len(chosen) < count:
                chosen[_key(queue[places[k]][1])] = queue[places[k]]
                places[k] += 1
    return list(chosen.values())


def _key(row: Row) -> tuple[str, str]:
    return row.scene_id, row.episode_id


def _rank(
    rows: Sequence[Row], kind: str, outcome: str, score: str, classes: Mapping[str, FailureClass] | None
) -> list[tuple[str, Row]]:
    """The rows of a kind with why they were chosen, first choice first."""
    easiest = sorted(rows, key=lambda row: (start_distance(row), *_key(row)))
    if kind == RANDOM:
        order = make_generator("videos", rows[0].identity).permutation(len(easiest))
        return [(kind, easiest[place]) for place in order]
    if kind == BEST:
        good = [row for row in easiest if row.metric(outcome) > 0]
        return [(kind, row) for row in sorted(good, key=lambda row: -row.metric(score))]
    if kind == WORST:
        return [(kind, row) for row in sorted(easiest, key=lambda row: row.metric(score))]
    failed = [row for row in easiest if row.metric(outcome) <= 0]
    if classes is None:
        return [("failure", row) for row in failed]
    groups = [
        [(MEANINGS[one], row) for row in failed if classes.get(row.episode_id) is one] for one in FailureClass
    ]
    return [pair for pair in chain.from_iterable(zip_longest(*groups)) if pair is not None]
