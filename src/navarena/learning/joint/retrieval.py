"""Retrieval of a house's objects by goal encoders: by name, description and goal image."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Float32, Int64

from navarena.episodes.encoding.encoder import GoalEncoder, GoalQuery
from navarena.episodes.goals import Modality
from navarena.episodes.goat.names import names_of_split
from navarena.episodes.goat.settings import VAL_SPLITS
from navarena.learning.joint.pairs import HousePairs
from navarena.learning.joint.settings import PairSettings
from navarena.metrics.statistics import Estimate, estimate_rate

RETRIEVED = PairSettings(names="all")
"""The objects of a house that any name of the benchmark stands for, each with its views and words."""

MEMORY_VIEWS = 2
"""Crops of each object that are remembered, from its view points; never through cameras of goals."""

QUERIES = (
    *(f"category, names of {split}" for split in VAL_SPLITS),
    "description",
    "description, within its category",
    "image",
    "image, within its category",
)
"""Rows of the table. A category is right where what is found first is called so, the others where it is the
very object."""


@dataclass(frozen=True)
class Retrieval:
    """Retrieval scores of one encoder and modality.

    Attributes:
        query: one of QUERIES.
        found: share of the queries whose best match is right; None where the encoder cannot encode them.
    """

    query: str
    found: Estimate | None


def score_retrieval(encoder: GoalEncoder, houses: list[HousePairs]) -> list[Retrieval]:
    """The table of one encoder: the rows QUERIES over all queries in `houses`.

    An encoder that sees images remembers MEMORY_VIEWS crops of each object; one that only reads remembers
    the true category, attributes and room of each in words.
    """
    hits: dict[str, list[bool]] = {query: [] for query in QUERIES}
    for house in houses:
        for query, found in _search(encoder, house).items():
            hits[query] += [one.is_right for one in found]
    return [
        Retrieval(query, estimate_rate(np.array(found, float)) if found else None)
        for query, found in hits.items()
    ]


class Answer(NamedTuple):
    """The best match of a query: whether it is right, and how like the query it is."""

    is_right: bool
    score: float


def _search(encoder: GoalEncoder, house: HousePairs) -> Mapping[str, list[Answer]]:
    """Query -> how each was answered in one house."""
    vectors, owners = _remember(encoder, house)
    kinds = np.array(house.categories)
    found: dict[str, list[Answer]] = {query: [] for query in QUERIES}
    if not len(owners):
        return found
    if encoder.reads_words:
        for split in VAL_SPLITS:
            offered = sorted({name for own in house.names for name in own} & set(names_of_split(split)))
            for name in offered:
                scores = vectors @ encoder.encode(GoalQuery("object", name))
                is_right = name in house.names[owners[int(np.argmax(scores))]]
                found[f"category, names of {split}"].append(Answer(is_right, float(scores.max())))
    goals: list[tuple[str, int, GoalQuery]] = []
    if encoder.reads_words:
        goals += [
            ("description", k, GoalQuery("description", text=own[0]))
            for k, own in enumerate(house.descriptions)
            if own
        ]
    if encoder.sees_images:
        whole = np.flatnonzero(house.is_goal & house.is_whole)
        first = {int(house.owners[row]): row for row in whole[::-1].tolist()}
        goals += [
            ("image", k, GoalQuery("image", image=np.asarray(house.crops[row]))) for k, row in first.items()
        ]
    known = set(owners.tolist())
    for query, owner, goal in goals:
        if owner not in known:
            continue
        scores = vectors @ encoder.encode(goal)
        is_right = bool(owners[int(np.argmax(scores))] == owner)
        found[query].append(Answer(is_right, float(scores.max())))
        rivals = kinds[owners] == kinds[owner]
        if len(set(owners[rivals].tolist())) > 1:
            best = owners[rivals][int(np.argmax(scores[rivals]))]
            found[f"{query}, within its category"].append(Answer(bool(best == owner), float(scores.max())))
    return found


def _remember(
    encoder: GoalEncoder, house: HousePairs
) -> tuple[Float32[np.ndarray, "m d"], Int64[np.ndarray, "m"]]:
    """(M, D) vectors of remembered views, and (M,) their objects."""
    if not encoder.sees_images:
        return encoder.encode_words(house.facts), np.arange(len(house.facts))
    rows = []
    for owner in range(len(house.categories)):
        rows += np.flatnonzero((house.owners == owner) & ~house.is_goal)[:MEMORY_VIEWS].tolist()
    crops = [np.asarray(house.crops[row]) for row in rows]
    return encoder.encode_images(crops), np.asarray(house.owners, np.int64)[rows]


CALIBRATED: Mapping[str, Modality] = {
    "category, names of val_seen": "object",
    "description": "description",
    "image": "image",
}
"""Rows of the table whose scores say when a match is taken -> modality."""


def calibrate(encoder: GoalEncoder, houses: list[HousePairs]) -> dict[Modality, float]:
    """Modality -> threshold score from which the best match in a house is accepted.

    Of all thresholds the one at which the most matches more are right than wrong.
    """
    found: dict[Modality, float] = {}
    for query, modality in CALIBRATED.items():
        answers = [one for house in houses for one in _search(encoder, house)[query]]
        if answers:
            right = np.array([one.is_right for one in answers])
            found[modality] = choose_threshold(np.array([one.score for one in answers]), right)
    return found


def choose_threshold(scores: Float[np.ndarray, "n"], is_right: Bool[np.ndarray, "n"]) -> float:
    """The largest of `scores` (N,) float32 from which on right answers outnumber wrong ones the most.

    Where no threshold lets more right than wrong ones through, the largest score.
    """
    order = np.argsort(-scores, kind="stable")
    gains = np.cumsum(np.where(is_right[order], 1, -1))
    last = np.append(scores[order][1:] != scores[order][:-1], True)  # equal scores pass together
    best = int(np.flatnonzero(last)[np.argmax(gains[last])]) if gains[last].max() > 0 else 0
    return float(scores[order][best])
