"""Leaderboards of a phase: who is ranked, who ties, and how ranks changed.

Entries are listed in sections that are never mixed:

* `live`: the server showed the agent what it saw.
* `declared`: logs, whose actions are verified and whose inputs are declared. They are ranked among
  themselves on open phases, and not at all on live ones.
* `uploaded`: results files of earlier challenges, whose scores are computed from their trajectories; ranked
  likewise.
* `privileged`: never ranked.

A rank belongs to a team's method: of several submissions of one method in one section and track the best by
`rank_by` stands for it, and the entry says of how many.

Ranks have ties. Entries are ordered by their mean. The first one leads rank 1; whoever follows shares the
rank of the leader as long as the 95 % interval of their paired difference contains 0, or cannot be known.
The first one whose interval does not leads the next rank, which counts the entries before it: 1, 1, 3.
Entries without a mean, such as that over no unseen corruption, share the last rank.
So an entry is always as good as shown against the leader of its rank, and nothing is said of two
entries that follow the same leader.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import Any, Literal

import numpy as np
from jaxtyping import Float, Int

from navarena.core.errors import InputError
from navarena.core.seeding import make_generator
from navarena.metrics.catalog import Metric
from navarena.metrics.paired import estimate_difference
from navarena.web.challenge.settings import Kind

SectionName = Literal["live", "declared", "uploaded", "privileged"]

SECTIONS: tuple[SectionName, ...] = ("live", "declared", "uploaded", "privileged")
"""In the order in which a page shows them."""

SECTION_OF: Mapping[Kind, SectionName] = {"live": "live", "log": "declared", "trajectory": "uploaded"}

DAY_MS = 86_400_000


@dataclass(frozen=True, eq=False)
class Scores:
    """A metric by episode (or tour) of one submission, in the order of the phase.

    Attributes:
        values: (N,) float64; infinite where a goal cannot be reached.
        scenes: (N,) int64, the place of the episode's scene among the sorted ids of the phase.
        weights: (N,) float64, of tours (see statistics.estimate_weighted); None for equal ones.
    """

    values: Float[np.ndarray, "n"]
    scenes: Int[np.ndarray, "n"]
    weights: Float[np.ndarray, "n"] | None = None

    @cached_property
    def mean(self) -> float:
        """Mean over finite values; infinite if there are none."""
        finite = np.isfinite(self.values)
        if not finite.any():  # or there are no values
            return float("inf")
        weights = None if self.weights is None else self.weights[finite]
        return float(np.average(self.values[finite], weights=weights))


@dataclass(frozen=True, eq=False)
class Entry:
    """A verified submission as a leaderboard sees it.

    Attributes:
        submission: its public id.
        team, method: whose it is.
        track: slug of its track.
        kind: how it was submitted.
        privileged: whether its agent uses what no observation of the protocol gives.
        created: milliseconds since 1970, UTC.
        scores: by the metric that the phase ranks by.
        facts: what else a page shows of it, such as its summary and links.
    """

    submission: str
    team: str
    method: str
    track: str
    kind: Kind
    privileged: bool
    created: int
    scores: Scores
    facts: Mapping[str, Any] = field(default_factory=dict)

    @property
    def section(self) -> SectionName:
        """Section that lists the entry."""
        if self.privileged:
            return "privileged"
        return SECTION_OF[self.kind]


@dataclass(frozen=True)
class Place:
    """An entry on a board.

    Attributes:
        entry: the best submission of its method.
        rank: from 1; None where the section is not ranked.
        tied: whether other entries share the rank.
        tries: verified submissions of this method.
    """

    entry: Entry
    rank: int | None
    tied: bool
    tries: int


@dataclass(frozen=True)
class Section:
    """The entries of one kind, best first; `ranked` says whether they have ranks."""

    name: SectionName
    ranked: bool
    places: tuple[Place, ...]


class Ties:
    """Cached ties between submissions; verified ones do not change.

    Args:
        rank_by: the metric of the scores.
        stream: names the generator of resamples, such as the identity of the phase. Every pair gets the same
            resamples, so that no answer depends on which pairs were asked for before.
    """

    def __init__(self, rank_by: Metric, *stream: str) -> None:
        self.rank_by = rank_by
        self._stream = stream
        self._known: dict[tuple[str, str], bool] = {}

    def find(self, leader: Entry, other: Entry) -> bool:
        """Whether the interval of `other` minus `leader` contains 0, or cannot be known.

        An entry without a mean ties with others without one alone. Raises InputError for scores of
        different episodes.
        """
        key = (leader.submission, other.submission)
        if key not in self._known:
            self._known[key] = self._compare(leader.scores, other.scores)
        return self._known[key]

    def _compare(self, leader: Scores, other: Scores) -> bool:
        unknown = np.isinf(leader.mean), np.isinf(other.mean)
        if any(unknown):  # without a number an entry comes last, and is as good as another one without
            return all(unknown)
        if not np.array_equal(leader.scenes, other.scenes):
            raise InputError(
                f"expected scores of the same episodes, got {leader.values.size} and {other.values.size} "
                "of other scenes; verify one of the two submissions again"
            )
        generator = make_generator("leaderboard", *self._stream, self.rank_by.name)
        difference = estimate_difference(
            leader.values, other.values, leader.scenes, generator, False, self.rank_by.bounds, leader.weights
        )
        if difference.low is None or difference.high is None:
            return True
        return difference.low <= 0.0 <= difference.high


def build_board(
    entries: Iterable[Entry], ties: Ties, track: str | None = None, live_only: bool = False
) -> tuple[Section, ...]:
    """The sections of a leaderboard that have entries.

    Args:
        entries: verified submissions of one phase, in any order.
        ties: of the phase.
        track: only of this track, with ranks among its entries; all tracks when None.
        live_only: whether the phase ranks live entries alone, as hidden ones do.
    """
    by_section: dict[SectionName, list[Entry]] = {name: [] for name in SECTIONS}
    for entry in entries:
        if track is None or entry.track == track:
            by_section[entry.section].append(entry)
    sections = []
    for name, members in by_section.items():
        if not members:
            continue
        ranked = name == "live" or (name != "privileged" and not live_only)
        sections.append(Section(name, ranked, _place(members, ties, ranked)))
    return tuple(sections)


def order_entries(entries: Iterable[Entry], rank_by: Metric) -> list[Entry]:
    """Best mean first; of equal ones the earlier submission."""
    sign = 1.0 if rank_by.better == "lower" else -1.0
    return sorted(entries, key=lambda entry: (_key(entry, sign), entry.created, entry.submission))


def _key(entry: Entry, sign: float) -> float:
    mean = entry.scores.mean
    return float("inf") if np.isinf(mean) else sign * mean


def _place(members: Sequence[Entry], ties: Ties, ranked: bool) -> tuple[Place, ...]:
    tries: dict[tuple[str, str, str], int] = {}
    best: list[Entry] = []
    for entry in order_entries(members, ties.rank_by):
        key = (entry.team, entry.method, entry.track)
        if key not in tries:
            best.append(entry)
        tries[key] = tries.get(key, 0) + 1
    ranks = rank_entries(best, ties) if ranked else [None] * len(best)
    shared = {rank for before, rank in pairwise(ranks) if rank is not None and before == rank}
    return tuple(
        Place(entry, rank, rank in shared, tries[entry.team, entry.method, entry.track])
        for entry, rank in zip(best, ranks)
    )


def rank_entries(ordered: Sequence[Entry], ties: Ties) -> list[int]:
    """The rank of each of the `ordered` entries (see order_entries); the module's docstring has the rule."""
    ranks: list[int] = []
    leader = 0
    for place, entry in enumerate(ordered):
        if place and not ties.find(ordered[leader], entry):
            leader = place
        ranks.append(leader + 1)
    return ranks


def trace_ranks(
    entries: Sequence[Entry],
    ties: Ties,
    shown: Iterable[Entry],
    track: str | None = None,
    live_only: bool = False,
    max_days: int = 60,
) -> tuple[tuple[int, ...], dict[str, tuple[int | None, ...]]]:
    """How ranks changed, at the end of each day (UTC) on which a submission was made.

    Args:
        entries: verified submissions of one phase.
        ties: of the phase.
        shown: entries whose methods are traced.
        track: as of build_board.
        live_only: as of build_board.
        max_days: only the last ones.

    Returns the ends of days (milliseconds since 1970, UTC), and for the id of each shown entry the rank
    of its method on each of them: None before its first submission.
    """
    days = sorted({entry.created // DAY_MS for entry in entries})[-max_days:]
    traced: dict[str, list[int | None]] = {entry.submission: [] for entry in shown}
    methods = {(one.section, one.team, one.method, one.track): one.submission for one in shown}
    for day in days:
        until = [entry for entry in entries if entry.created // DAY_MS <= day]
        found: dict[str, int | None] = {}
        for section in build_board(until, ties, track, live_only):
            for place in section.places:
                one = place.entry
                name = methods.get((section.name, one.team, one.method, one.track))
                if name is not None:
                    found[name] = place.rank
        for name, ranks in traced.items():
            ranks.append(found.get(name))
    return tuple((day + 1) * DAY_MS for day in days), {name: tuple(ranks) for name, ranks in traced.items()}
