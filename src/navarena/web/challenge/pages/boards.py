"""The leaderboards of a server, kept in memory until a submission changes them."""

import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import msgspec
from sqlalchemy import func, select
from sqlalchemy.orm import Session, undefer

from navarena.evaluation.records.journal import Row
from navarena.metrics.catalog import get_metric
from navarena.web.challenge.leaderboard import Entry, Scores, Section, Ties, build_board, trace_ranks
from navarena.web.challenge.ranking import unpack_scores
from navarena.web.challenge.settings import Challenge, Phase
from navarena.web.challenge.storage.engine import Storage
from navarena.web.challenge.storage.models import ChallengeRow, Membership, PhaseRow, ScoreRow, Submission

FACTS = (
    "link", "code_link", "hardware", "model_size", "training_frames", "demonstrations", "training_data",
    "trained_with",
    "agent", "declared_inputs", "finished", "summary", "rank_mean", "rank_low", "rank_high",
    "seconds_per_step", "episodes",
)  # fmt: skip
"""Columns of a submission that a leaderboard shows as they are."""

MAX_KEPT = 512
"""Boards and rendered tables that are kept; beyond, the one that was not asked for longest is dropped."""

FRESH_SECONDS = 1.0
"""How long what is known of the database is taken to be true."""

Version = tuple[int, int, int, int]


@dataclass(frozen=True, eq=False)
class Snapshot:
    """The verified submissions of a phase at one time.

    Attributes:
        version: changes with every submission that is verified, disqualified, run again, or left without
            a team; its last number counts the latter.
        entries: by the order of their ids.
        ties: remembered between snapshots.
    """

    version: Version
    entries: tuple[Entry, ...]
    ties: Ties


class Boards:
    """Leaderboards by phase, track and version.

    Args:
        storage: the database.
        challenge: whose phases.
        fresh_seconds: how old an answer may be.
        clock: seconds that never go back.
    """

    def __init__(
        self,
        storage: Storage,
        challenge: Challenge,
        fresh_seconds: float = FRESH_SECONDS,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._storage, self._challenge = storage, challenge
        self._fresh_seconds, self._clock = fresh_seconds, clock
        self._locks = {phase.name: threading.Lock() for phase in challenge.phases}
        self._snapshots: dict[str, tuple[float, Snapshot]] = {}
        self._kept: OrderedDict[tuple[Any, ...], Any] = OrderedDict()
        self._kept_lock = threading.Lock()

    def snapshot(self, phase: Phase) -> Snapshot:
        """The verified submissions of `phase`; only those that are new are read."""
        held = self._snapshots.get(phase.name)
        if held is not None and self._clock() - held[0] < self._fresh_seconds:
            return held[1]
        with self._locks[phase.name]:
            held = self._snapshots.get(phase.name)
            if held is not None and self._clock() - held[0] < self._fresh_seconds:
                return held[1]
            with self._storage.read() as session:
                found = self._read(session, phase, None if held is None else held[1])
            self._snapshots[phase.name] = (self._clock(), found)
            return found

    def board(self, phase: Phase, track: str | None) -> tuple[Section, ...]:
        """The sections of the leaderboard of `phase`, of one track or all."""
        now = self.snapshot(phase)
        return self.keep(
            ("board", phase.name, now.version, track),
            lambda: build_board(now.entries, now.ties, track, is_live_only(phase)),
        )

    def history(
        self, phase: Phase, track: str | None, limit: int = 8
    ) -> tuple[tuple[int, ...], dict[str, tuple[int | None, ...]]]:
        """Ranks by day of the `limit` first entries of each section; see leaderboard.trace_ranks."""
        now = self.snapshot(phase)
        ranked = [section for section in self.board(phase, track) if section.ranked]
        shown = [place.entry for section in ranked for place in section.places[:limit]]
        return self.keep(
            ("history", phase.name, now.version, track, limit),
            lambda: trace_ranks(now.entries, now.ties, shown, track, is_live_only(phase)),
        )

    def keep(self, key: tuple[Any, ...], make: Callable[[], Any]) -> Any:
        """Cached result of `make` for `key`, which must contain the versions of its inputs."""
        with self._kept_lock:
            if key in self._kept:
                self._kept.move_to_end(key)
                return self._kept[key]
        made = make()
        with self._kept_lock:
            self._kept[key] = made
            while len(self._kept) > MAX_KEPT:
                self._kept.popitem(last=False)
        return made

    def _read(self, session: Session, phase: Phase, before: Snapshot | None) -> Snapshot:
        row_id = session.scalar(
            select(PhaseRow.id)
            .join(ChallengeRow)
            .where(ChallengeRow.slug == self._challenge.slug, PhaseRow.slug == phase.name)
        )
        verified = (Submission.phase_id == row_id, Submission.state == "verified")
        without_team = func.count().filter(Submission.team_id.not_in(select(Membership.team_id)))
        columns = (func.count(), func.max(Submission.finished), func.sum(Submission.id), without_team)
        count, last, sum_of_ids, left = session.execute(select(*columns).where(*verified)).one()
        version: Version = (count, last or 0, sum_of_ids or 0, left)
        if before is not None and before.version == version:
            return before
        # names and links of a team that lost its members are forgotten
        is_known = before is not None and before.version[-1] == left
        known = {one.submission: one for one in before.entries} if before is not None and is_known else {}
        ids = session.execute(
            select(Submission.id, Submission.public_id, Submission.finished).where(*verified)
        ).all()
        missing = [
            number
            for number, name, finished in ids
            if name not in known or known[name].facts["finished"] != finished
        ]
        for first in range(0, len(missing), 500):
            query = select(Submission).where(Submission.id.in_(missing[first : first + 500]))
            for one in session.scalars(query.options(undefer(Submission.rank_values))):
                known[one.public_id] = self._entry(one)
        entries = tuple(known[name] for _, name, _ in sorted(ids))
        again = before is not None and len(known) == len(before.entries) + len(missing)
        ties = (
            before.ties if before is not None and again else Ties(get_metric(phase.rank_metric), phase.name)
        )
        return Snapshot(version, entries, ties)

    def _entry(self, one: Submission) -> Entry:
        return Entry(
            submission=one.public_id,
            team=one.team.name,
            method=one.method or one.agent,
            track=one.track,
            kind=one.kind,  # type: ignore[arg-type]
            privileged=one.privileged,
            created=one.created,
            scores=read_scores(one.rank_values),
            facts={name: getattr(one, name) for name in FACTS},
        )


def is_live_only(phase: Phase) -> bool:
    """Whether only live entries are ranked: where episodes are hidden, or the phase takes nothing else."""
    return phase.is_hidden or tuple(phase.accepts) == ("live",)


def read_scores(data: bytes | None) -> Scores:
    """The scores in Submission.rank_values; none where a submission has no rank metric."""
    values, scenes, weights = unpack_scores(data or b"")
    return Scores(values, scenes, None if (weights == 1.0).all() else weights)


def read_rows(session: Session, submission: Submission) -> list[list[Row]]:
    """The journal's rows of a submission, part by part, in the order of the episodes."""
    query = select(ScoreRow.part, ScoreRow.row).where(ScoreRow.submission_id == submission.id)
    decoder = msgspec.json.Decoder(Row)
    parts: dict[int, list[Row]] = {}
    for part, line in session.execute(query.order_by(ScoreRow.part, ScoreRow.position)):
        parts.setdefault(part, []).append(decoder.decode(line))
    return [parts[part] for part in sorted(parts)]
