"""Intake of submissions: checks of logs, and exact quotas."""

import datetime
import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import BinaryIO

import msgspec
from sqlalchemy import func, select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

import navarena
from navarena.core.errors import CheckFailedError
from navarena.core.files import MAX_QUOTED
from navarena.evaluation.benchmark import Benchmark
from navarena.evaluation.identity import Identity
from navarena.evaluation.records.journal import Row
from navarena.evaluation.records.record import RunRecord
from navarena.evaluation.records.results import require_complete
from navarena.web.challenge.accounts.secret_texts import make_public_id
from navarena.web.challenge.log_format import About, RunLog, read_about, read_runs, unpack_lines
from navarena.web.challenge.refusals import Refusal
from navarena.web.challenge.settings import Challenge, Kind, Phase, Track
from navarena.web.challenge.storage.engine import Storage, now_ms
from navarena.web.challenge.storage.jobs import add_job, start_again
from navarena.web.challenge.storage.models import ChallengeRow, PhaseRow, Submission, Team, UploadChunk

DAY_MS = 24 * 3600 * 1000
CHUNK = 1 << 20
"""Bytes of an upload in one row."""

UNCOUNTED = ("failed",)
"""States that take nothing from the quota."""

CONFLICT, TOO_MANY, FORBIDDEN = 409, 429, 403


@dataclass(frozen=True)
class CheckedUpload:
    """Result of checking a log or a file of trajectories at intake.

    Attributes:
        kind: which of the two.
        about: what the team says.
        agent: its name.
        privileged, privileged_inputs: whether it looks behind its observations, and at what, as is declared.
        trained_with: corruptions that it knows, likewise.
        content_hash: of episodes and actions, or trajectories.
        episodes: of all parts.
    """

    kind: Kind
    about: About
    agent: str
    privileged: bool
    privileged_inputs: tuple[str, ...]
    trained_with: tuple[str, ...]
    content_hash: str
    episodes: int


def read_pieces(file: BinaryIO) -> Iterator[bytes]:
    """The content of `file` from its start, piece by piece."""
    file.seek(0)
    while piece := file.read(CHUNK):
        yield piece


def check_log(
    challenge: Challenge, phase: Phase, benchmarks: Sequence[Benchmark], pieces: Iterable[bytes]
) -> CheckedUpload:
    """Read a log from end to end without executing it.

    Args:
        challenge: whose tracks it may name.
        phase: to which it is submitted.
        benchmarks: of the parts of the phase, in order.
        pieces: of the file.

    Raises Refusal for everything that needs no execution to be seen.
    """
    lines = unpack_lines(pieces)
    first = next(lines, None)
    if first is None:
        raise Refusal("empty_log", "expected the log of a run, got nothing; make it by `navarena submit`")
    about = read_about(first)
    track = require_track(challenge, about.track)
    found: dict[int, tuple[RunRecord, str]] = {}
    for run in read_runs(lines):
        part = _part_of(run, phase, benchmarks)
        if part in found:
            raise Refusal("doubled_run", f"expected each run once, got two of {run.record.identity}")
        _require_run(run, benchmarks[part])
        require_inputs(track, run.record.privileged, run.record.privileged_inputs)
        found[part] = run.record, hash_actions(rows_of(run))
    missing = [str(one.identity) for part, one in enumerate(benchmarks) if part not in found]
    if missing:
        raise Refusal(
            "empty_log" if not found else "incomplete_run",
            f"expected the runs {', '.join(missing)}, too, got none; name their folders",
        )
    ordered = [found[part] for part in range(len(benchmarks))]
    digest = hashlib.sha256("".join(one for _, one in ordered).encode()).hexdigest()
    records = [one for one, _ in ordered]
    return CheckedUpload(
        kind="log",
        about=about,
        agent=records[0].agent,
        privileged=any(one.privileged for one in records),
        privileged_inputs=tuple(dict.fromkeys(name for one in records for name in one.privileged_inputs)),
        trained_with=tuple(dict.fromkeys(name for one in records for name in one.trained_with)),
        content_hash=digest,
        episodes=sum(len(one.episodes) for one in benchmarks),
    )


def require_track(challenge: Challenge, name: str) -> Track:
    """The track called `name`; raises Refusal."""
    for track in challenge.tracks:
        if track.name == name:
            return track
    known = ", ".join(one.name for one in challenge.tracks)
    raise Refusal("unknown_track", f"expected one of the tracks {known}, got {name!r}")


def require_inputs(track: Track, privileged: bool, inputs: Sequence[str]) -> None:
    """Raise Refusal for an agent with privileged `inputs` on a track that allows none."""
    if privileged and not track.privileged:
        raise Refusal(
            "privileged_agent",
            f"expected an agent that looks at its observations alone on the track {track.name!r}, got one "
            f"that uses {', '.join(inputs)[:MAX_QUOTED] or 'more'}; choose another track",
        )


def rows_of(run: RunLog) -> list[Row]:
    """The rows of all journals."""
    return [row for journal in run.journals for row in journal.rows]


def hash_actions(rows: Iterable[Row]) -> str:
    """SHA-256 over the episodes and actions of a run, independent of their order."""
    held = sorted((row.identity, row.episode_id, row.actions) for row in rows)
    return hashlib.sha256(msgspec.json.encode(held)).hexdigest()


def _part_of(run: RunLog, phase: Phase, benchmarks: Sequence[Benchmark]) -> int:
    """Index of the part that the run was made on."""
    identities = [one.identity for one in benchmarks]
    for part, one in enumerate(identities):
        if run.record.identity == str(one):
            return part
    given, known = Identity.of(run.record.identity[:300]), ", ".join(str(one) for one in identities)
    if given.protocol not in {one.protocol for one in identities}:
        code = "other_protocol"
    elif (given.dataset, given.split) not in {(one.dataset, one.split) for one in identities}:
        code = "other_split"
    else:
        code = "other_episodes"
    raise Refusal(code, f"expected a run on {known} for the phase {phase.name!r}, got one on {given}")


def _require_run(run: RunLog, benchmark: Benchmark) -> None:
    """Raise Refusal unless the run is of this version and has each episode once."""
    version = run.record.versions.get("navarena")
    if version != navarena.__version__:
        raise Refusal(
            "other_version",
            f"expected a run of navarena {navarena.__version__}, got one of {str(version)[:50]}; evaluate "
            "again",
        )
    rows = rows_of(run)
    ids = [row.episode_id for row in rows]
    if not ids:
        raise Refusal("empty_log", "expected the episodes of a run, got none; run navarena evaluate first")
    try:
        require_complete(rows, run.record.identity, [one.episode_id for one in benchmark.episodes])
    except CheckFailedError as error:
        code = "doubled_episode" if len(set(ids)) < len(ids) else "incomplete_run"
        raise Refusal(code, str(error)) from error
    places = tour_places(benchmark)
    for row in rows:
        tour = None if row.tour is None else (row.tour.tour_id, row.tour.position)
        if tour != places.get(row.episode_id):
            raise Refusal(
                "edited_log", f"expected episode {row.episode_id} to say its place in its tour, got {tour}"
            )


def tour_places(benchmark: Benchmark) -> dict[str, tuple[str, int]]:
    """Episode id -> (tour id, position in the tour), of episodes of tours."""
    counts: dict[tuple[str, str], int] = {}
    places = {}
    for one in benchmark.episodes:
        if one.tour_id:
            position = counts.get((one.scene_id, one.tour_id), 0)
            counts[one.scene_id, one.tour_id] = position + 1
            places[one.episode_id] = (one.tour_id, position)
    return places


def require_open(phase: Phase, row: PhaseRow, kind: Kind, now: datetime.datetime | None = None) -> None:
    """Raise Refusal unless the phase takes submissions of `kind` now."""
    now = now or datetime.datetime.now(datetime.UTC)
    if kind not in phase.accepts:
        raise Refusal(
            "wrong_kind",
            f"expected a submission of the kind {' or '.join(phase.accepts)} for the phase {phase.name!r}, "
            f"got {kind}",
        )
    if row.frozen:
        raise Refusal("frozen_phase", f"the phase {phase.name!r} was frozen by its host", FORBIDDEN)
    if phase.opens is not None and now < phase.opens:
        raise Refusal(
            "closed_phase", f"the phase {phase.name!r} opens at {phase.opens.isoformat()}", FORBIDDEN
        )
    if phase.closes is not None and now >= phase.closes:
        raise Refusal(
            "closed_phase", f"the phase {phase.name!r} closed at {phase.closes.isoformat()}", FORBIDDEN
        )


def find_phase(session: Session, challenge: Challenge, name: str) -> PhaseRow:
    """The row of the phase called `name`; raises Refusal for one that the challenge has not."""
    query = (
        select(PhaseRow).join(ChallengeRow).where(ChallengeRow.slug == challenge.slug, PhaseRow.slug == name)
    )
    row = session.scalars(query).first() if name in {one.name for one in challenge.phases} else None
    if row is None:
        known = ", ".join(one.name for one in challenge.phases)
        raise Refusal("unknown_phase", f"expected one of the phases {known}, got {name[:64]!r}", 404)
    return row


@dataclass(frozen=True)
class QuotaUse:
    """Submissions of a team to a phase that count: within the last 24 hours, and in all."""

    last_day: int
    in_all: int


def count_quota(session: Session, phase_id: int, team_id: int, now: int | None = None) -> QuotaUse:
    """Used quota of a team."""
    day = (now or now_ms()) - DAY_MS
    mine = (
        Submission.phase_id == phase_id, Submission.team_id == team_id, Submission.state.not_in(UNCOUNTED)
    )  # fmt: skip
    counts = select(func.count(), func.count().filter(Submission.created > day)).where(*mine)
    in_all, last_day = session.execute(counts).one()
    return QuotaUse(last_day, in_all)


def require_quota(session: Session, phase: Phase, phase_id: int, team_id: int) -> None:
    """Raise Refusal when the team has used up its quota. The team's row must be locked by the session."""
    used, limits = count_quota(session, phase_id, team_id), phase.limits
    for count, limit, period in (
        (used.last_day, limits.per_day, "within 24 hours"),
        (used.in_all, limits.in_all, "in all"),
    ):
        if limit is not None and count >= limit:
            raise Refusal(
                "quota_used_up",
                f"expected at most {limit} submissions {period} to the phase {phase.name!r}, got one more",
                TOO_MANY,
            )


def lock_team(session: Session, team_id: int) -> Team:
    """The team, locked until the writing session ends: nobody else counts its quota meanwhile."""
    return session.get_one(Team, team_id, with_for_update=True)


def submit_upload(
    storage: Storage,
    challenge: Challenge,
    phase: Phase,
    team_id: int,
    user_id: int,
    checked: CheckedUpload,
    pieces: Iterable[bytes],
) -> tuple[str, bool]:
    """Write a checked log, or checked trajectories, down and queue them, in one transaction.

    Args:
        storage: of the server.
        challenge: of the phase.
        phase: to which it is submitted.
        team_id: whose it is.
        user_id: who sends it.
        checked: what intake found.
        pieces: of the file.

    Returns the submission's public id, and whether it is new: a team that sends the same again, because
    no answer came, gets what it has; one that failed by a fault of the server is executed again. Raises
    Refusal.
    """
    try:
        with storage.write() as session:
            row = find_phase(session, challenge, phase.name)
            require_open(phase, row, checked.kind)
            lock_team(session, team_id)
            known = select(Submission).where(
                Submission.phase_id == row.id, Submission.content_hash == checked.content_hash
            )
            earlier = session.scalars(known).first()
            if earlier is not None:
                if earlier.team_id != team_id:
                    raise _copied()
                if earlier.state in UNCOUNTED:
                    require_quota(session, phase, row.id, team_id)
                    start_again(session, earlier)
                return earlier.public_id, False
            require_quota(session, phase, row.id, team_id)
            submission = _describe(checked, row.id, team_id, user_id)
            session.add(submission)
            session.flush()
            session.add_all(
                UploadChunk(submission_id=submission.id, position=position, data=piece)
                for position, piece in enumerate(pieces)
            )
            add_job(session, submission)
            return submission.public_id, True
    except IntegrityError as error:  # another team was faster by less than a transaction
        raise _copied() from error


def _copied() -> Refusal:
    return Refusal(
        "copied_log", "expected a run of your own, got one that another team has submitted", CONFLICT
    )


def _describe(checked: CheckedUpload, phase_id: int, team_id: int, user_id: int) -> Submission:
    about = checked.about
    return Submission(
        public_id=make_public_id(),
        phase_id=phase_id,
        track=about.track,
        team_id=team_id,
        user_id=user_id,
        kind=checked.kind,
        state="received",
        method=about.method,
        link=about.link,
        code_link=about.code_link,
        hardware=about.hardware,
        model_size=about.model_size,
        training_frames=about.training_frames,
        demonstrations=about.demonstrations,
        training_data=about.training_data,
        trained_with=list(checked.trained_with),
        agent=checked.agent,
        privileged=checked.privileged,
        declared_inputs=list(checked.privileged_inputs),
        content_hash=checked.content_hash,
        episodes=checked.episodes,
        created=now_ms(),
    )
