"""Verification of logs: every action is executed again, and the server's own numbers are stored."""

import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from functools import lru_cache

import msgspec
from sqlalchemy import select
from sqlalchemy.orm import Session

from navarena.core.errors import CheckFailedError, InputError
from navarena.episodes.episode import Episode
from navarena.evaluation.benchmark import Benchmark, open_benchmark
from navarena.evaluation.identity import Identity
from navarena.evaluation.records.journal import Row, sort_rows
from navarena.evaluation.records.results import summarize
from navarena.evaluation.running.replay import compare_row, execute_actions, is_same_platform, redo_row
from navarena.web.challenge.log_format import RunLog, read_runs, unpack_lines
from navarena.web.challenge.ranking import pack_scores, rank_parts
from navarena.web.challenge.recordings import ask_overviews
from navarena.web.challenge.refusals import Refusal
from navarena.web.challenge.service import Service
from navarena.web.challenge.settings import Phase
from navarena.web.challenge.storage.engine import Storage, now_ms
from navarena.web.challenge.storage.jobs import Lease, end_job, hold_job
from navarena.web.challenge.storage.models import PhaseRow, ScoreRow, Submission, UploadChunk
from navarena.web.challenge.submissions import rows_of

COMMIT_SECONDS = 2.0
"""Of execution that a worker's death costs at most, beside an episode."""

LISTED = 10
"""Differences that a refusal names."""


@lru_cache(maxsize=16)
def open_parts(phase: Phase) -> tuple[Benchmark, ...]:
    """The benchmarks of the parts of a phase whose episodes everybody has; raises InputError."""
    return tuple(open_benchmark(phase.evaluation(part), needs_agent=False) for part in phase.parts)


def run_log_job(service: Service, lease: Lease) -> None:
    """Execute the log of a job from where it stands, and write its end.

    Finished episodes are committed every COMMIT_SECONDS. A log of which a number does not come out again is
    refused. Raises LeaseLostError when another worker has taken over.
    """
    storage = service.storage
    with storage.read() as session:
        submission = session.get_one(Submission, lease.submission_id)
        phase = service.challenge.phase(session.get_one(PhaseRow, submission.phase_id).slug)
        trained_with = list(submission.trained_with)
        lines = read_upload(session, submission.id)
        next(lines)
        runs = list(read_runs(lines))
        done = list_done(session, submission.id)
    benchmarks = open_parts(phase)
    by_identity = {run.record.identity: run for run in runs}
    try:
        for part, benchmark in enumerate(benchmarks):
            run = by_identity[str(benchmark.identity)]
            _execute_part(storage, lease, part, benchmark, run, done[part])
    except Refusal as refusal:
        with storage.write() as session:
            refuse(session, lease, refusal)
        return
    agents = [by_identity[str(one.identity)].record.agent for one in benchmarks]
    finish_submission(storage, lease, phase, benchmarks, agents, trained_with)


def read_upload(session: Session, submission_id: int) -> Iterator[bytes]:
    """The lines of an upload; the first is the team's description."""
    chunks = (
        select(UploadChunk.data)
        .where(UploadChunk.submission_id == submission_id)
        .order_by(UploadChunk.position)
    )
    return unpack_lines(session.scalars(chunks))


def list_done(session: Session, submission_id: int) -> dict[int, set[int]]:
    """Part -> positions of the episodes that are stored."""
    done: dict[int, set[int]] = defaultdict(set)
    stored = select(ScoreRow.part, ScoreRow.position).where(ScoreRow.submission_id == submission_id)
    for part, position in session.execute(stored):
        done[part].add(position)
    return done


class ScoreWriter:
    """Stores the finished episodes of a part, every COMMIT_SECONDS; each write raises LeaseLostError.

    Args:
        storage: of the server.
        lease: of the job.
        part: index into Phase.parts.
    """

    def __init__(self, storage: Storage, lease: Lease, part: int) -> None:
        self._storage, self._lease, self._part = storage, lease, part
        self._fresh: list[ScoreRow] = []
        self._begun = time.monotonic()

    def add(self, position: int, row: Row) -> None:
        """Store the row of the episode at `position`, sooner or later."""
        self._fresh.append(make_score(self._lease.submission_id, self._part, position, row))
        self.tick()

    def tick(self) -> None:
        """Commit if it is time."""
        if time.monotonic() - self._begun > COMMIT_SECONDS:
            self.commit()

    def commit(self) -> None:
        """Store what waits."""
        with self._storage.write() as session:
            hold_job(session, self._lease, has_progress=bool(self._fresh))
            session.add_all(self._fresh)
        self._fresh.clear()
        self._begun = time.monotonic()


def _execute_part(
    storage: Storage, lease: Lease, part: int, benchmark: Benchmark, run: RunLog, done: set[int]
) -> None:
    """Execute the episodes of a part that are not `done`; raises Refusal for differences."""
    exact = is_same_platform(run.record)
    positions = {one.episode_id: position for position, one in enumerate(benchmark.episodes)}
    writer = ScoreWriter(storage, lease, part)
    differences: list[str] = []
    count = 0
    try:
        for row, episode, outcome in execute_actions(benchmark, _open_pairs(benchmark, run, positions, done)):
            again = redo_row(benchmark, row, episode, outcome)
            found = compare_row(row, again, outcome, exact)
            count += len(found)
            differences += [str(one) for one in found[: LISTED - len(differences)]]
            position = positions[episode.episode_id]
            if not found and position not in done:
                writer.add(position, again)
            writer.tick()
    except CheckFailedError as error:
        raise Refusal("illegal_action", str(error)) from error
    writer.commit()
    if count:
        raise Refusal(
            "other_numbers",
            f"expected every number of the log to come out again, got {count} differences: "
            f"{'; '.join(differences)}",
        )


def _open_pairs(
    benchmark: Benchmark, run: RunLog, positions: dict[str, int], done: set[int]
) -> list[tuple[Row, Episode]]:
    """Rows with their episodes, those of scenes together; of a tour of which one is missing, all."""
    rows = sort_rows(rows_of(run))
    episodes = benchmark.episodes
    broken = {
        (one.scene_id, one.tour_id) for place, one in enumerate(episodes) if place not in done and one.tour_id
    }
    pairs = [(row, episodes[positions[row.episode_id]]) for row in rows]
    return [
        (row, episode)
        for row, episode in pairs
        if positions[row.episode_id] not in done or (episode.scene_id, episode.tour_id) in broken
    ]


def make_score(
    submission_id: int, part: int, position: int, row: Row, seconds: float | None = None
) -> ScoreRow:
    """The score of a finished episode.

    Args:
        submission_id: whose it is.
        part: index into Phase.parts.
        position: of the episode in the part.
        row: as the server has executed it.
        seconds: that a live agent took.
    """
    return ScoreRow(
        submission_id=submission_id,
        part=part,
        position=position,
        metrics=dict(row.metrics),
        row=msgspec.json.encode(row).decode(),
        seconds=seconds,
    )


def read_scores(session: Session, submission_id: int, parts: int) -> list[list[Row]]:
    """The rows of each part that are stored, sorted."""
    found: list[list[Row]] = [[] for _ in range(parts)]
    stored = select(ScoreRow.part, ScoreRow.row).where(ScoreRow.submission_id == submission_id)
    for part, row in session.execute(stored):
        found[part].append(msgspec.json.decode(row, type=Row))
    return [sort_rows(rows) for rows in found]


def finish_submission(
    storage: Storage,
    lease: Lease,
    phase: Phase,
    benchmarks: Sequence[Benchmark],
    agents: Sequence[str],
    trained_with: Sequence[str],
) -> None:
    """Write the numbers of a submission all of whose episodes are stored, and end its job.

    Args:
        storage: of the server.
        lease: of the job.
        phase: of the submission.
        benchmarks: of its parts.
        agents: name of the agent in each part.
        trained_with: corruptions that it knows.

    Raises LeaseLostError, and InputError for other episodes than those of the phase's verified submissions.
    """
    with storage.read() as session:
        parts = read_scores(session, lease.submission_id, len(benchmarks))
    summaries = [
        msgspec.to_builtins(summarize(rows, str(one.identity), agent, one.metrics, one.tour_scoring))
        for one, rows, agent in zip(benchmarks, parts, agents)
    ]
    scores = rank_parts(phase, benchmarks, parts, trained_with)
    with storage.write() as session:
        submission = end_job(session, lease)
        _require_same_episodes(session, submission, benchmarks)
        submission.state, submission.finished = "verified", now_ms()
        submission.summary = {"parts": summaries}
        submission.rank_values = pack_scores(scores)
        if scores.estimate is not None:
            submission.rank_mean = scores.estimate.mean
            submission.rank_low, submission.rank_high = scores.estimate.low, scores.estimate.high
        ask_overviews(session, submission, phase)


def _require_same_episodes(session: Session, submission: Submission, benchmarks: Sequence[Benchmark]) -> None:
    """Raise InputError where files, a seed or navarena were changed since the phase's last verification."""
    verified = select(Submission.summary).where(
        Submission.phase_id == submission.phase_id, Submission.state == "verified"
    )
    summary = session.scalars(verified.order_by(Submission.finished.desc()).limit(1)).first()
    for benchmark, part in zip(benchmarks, (summary or {}).get("parts", [])):
        held = Identity.of(part["identity"])
        if (held.split, held.hash) != (benchmark.identity.split, benchmark.identity.hash):
            raise InputError(
                f"expected the episodes of the verified submissions, {held}, got {benchmark.identity}; "
                "restore the files, the seed and the version of navarena, or give the phase another name"
            )


def refuse(session: Session, lease: Lease, refusal: Refusal) -> None:
    """End a job whose submission is wrong, for the reason of `refusal`."""
    submission = end_job(session, lease)
    submission.state, submission.finished = "refused", now_ms()
    submission.error_code, submission.error_text = refusal.code, str(refusal)
