"""Jobs with leases: work that any worker may take, and that comes back when its worker is gone.

A worker writes only while it holds the lease, in the same transaction that looks at it, so that of two
workers that both believe to have a job only one is heard.
"""

import os
import secrets
import socket
from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import and_, delete, or_, select, update
from sqlalchemy.orm import Session

from navarena.core.errors import NavarenaError
from navarena.web.challenge.storage.engine import Storage, now_ms
from navarena.web.challenge.storage.models import Job, Recording, ScoreRow, Submission

LEASE_SECONDS = 60.0
"""That a job stays with a worker which says nothing."""

MAX_ATTEMPTS = 5
"""Workers that may end, one after the other, before any of them has stored an episode."""


RECORDING = "recording"
"""Kind of the jobs that make recordings: they wait for all others; the submission keeps its state."""


class LeaseLostError(NavarenaError):
    """Another worker has the job now; what this one had not written is for nothing."""


@dataclass(frozen=True)
class Lease:
    """A job in the hands of a worker.

    Attributes:
        job_id, submission_id, kind: what is to be done.
        worker: who does it, with a mark that no other lease has.
        seconds: that it lasts from its last renewal on.
    """

    job_id: int
    submission_id: int
    kind: str
    worker: str
    seconds: float


def add_job(session: Session, submission: Submission) -> None:
    """Queue `submission` for workers, from its start or its saved progress."""
    submission.state = "queued"
    session.add(Job(kind=submission.kind, submission_id=submission.id, created=now_ms()))


def start_again(session: Session, submission: Submission) -> None:
    """Queue a submission that has ended from its start; its scores and recordings are deleted."""
    for table in (ScoreRow, Recording, Job):
        session.execute(delete(table).where(table.submission_id == submission.id))
    submission.error_code = submission.error_text = None
    submission.summary = submission.rank_mean = submission.rank_low = submission.rank_high = None
    submission.rank_values = submission.started = submission.finished = None
    add_job(session, submission)


def take_job(
    storage: Storage, worker: str, kinds: Sequence[str], seconds: float = LEASE_SECONDS
) -> Lease | None:
    """The oldest job of `kinds` that waits or whose lease has ended; None when there is none.

    Recordings come after all else. A job that was begun too often is given up: its submission fails, or its
    recording does.
    """
    with storage.write() as session:
        now = now_ms()
        waits = or_(Job.state == "queued", and_(Job.state == "leased", Job.lease_until < now))
        query = select(Job).where(waits, Job.kind.in_(kinds)).order_by(Job.kind == RECORDING, Job.id).limit(1)
        while (job := session.scalars(query.with_for_update(skip_locked=True)).first()) is not None:
            submission = session.get_one(Submission, job.submission_id)
            if job.attempts >= MAX_ATTEMPTS:
                job.state, job.lease_until = "failed", None
                _give_up(session, job, submission)
                session.flush()
                continue
            holder = f"{worker}:{secrets.token_hex(4)}"
            job.state, job.worker, job.attempts = "leased", holder, job.attempts + 1
            job.lease_until = now + round(1000 * seconds)
            if job.kind != RECORDING:
                submission.state, submission.started = "running", submission.started or now
            return Lease(job.id, job.submission_id, job.kind, holder, seconds)
    return None


def _give_up(session: Session, job: Job, submission: Submission) -> None:
    """Write down that too many workers have ended while they had a job."""
    text = f"{job.attempts} workers ended while they executed it; ask a host"
    if job.kind == RECORDING:
        fail_recording(session, job.id, text)
        return
    submission.state, submission.finished = "failed", now_ms()
    submission.error_code, submission.error_text = "worker_lost", text


def fail_recording(session: Session, job_id: int, text: str) -> None:
    """Write down why the recording of a job cannot be made."""
    wanted = update(Recording).where(Recording.job_id == job_id, Recording.state == "wanted")
    session.execute(wanted.values(state="failed", error=text, made=now_ms()))


def hold_job(session: Session, lease: Lease, has_progress: bool = False) -> Job:
    """The job of `lease`, locked and renewed within a writing session; raises LeaseLostError.

    One that `has_progress` may lose as many workers again.
    """
    job = session.get(Job, lease.job_id, with_for_update=True)
    if job is None or (job.state, job.worker) != ("leased", lease.worker):
        raise LeaseLostError(f"job {lease.job_id} is no longer with {lease.worker}")
    job.lease_until = now_ms() + round(1000 * lease.seconds)
    if has_progress:
        job.attempts = 0
    return job


def renew_job(storage: Storage, lease: Lease) -> None:
    """Renew a worker's lease; raises LeaseLostError."""
    with storage.write() as session:
        hold_job(session, lease)


def end_job(session: Session, lease: Lease) -> Submission:
    """Mark the job as done within a writing session; its submission, whose end the caller writes."""
    hold_job(session, lease).state = "done"
    return session.get_one(Submission, lease.submission_id)


def give_back_job(storage: Storage, lease: Lease) -> None:
    """Return a job to the queue without counting this attempt; raises LeaseLostError."""
    with storage.write() as session:
        job = hold_job(session, lease)
        job.state, job.lease_until, job.attempts = "queued", None, max(0, job.attempts - 1)
        if job.kind != RECORDING:
            session.get_one(Submission, lease.submission_id).state = "queued"


def name_worker() -> str:
    """The name of this process: host and process id."""
    return f"{socket.gethostname()[:60]}:{os.getpid()}"


def free_lost_jobs(storage: Storage) -> int:
    """Requeue jobs of dead workers of this host before their leases end; returns their number."""
    host, count = socket.gethostname()[:60], 0
    with storage.write() as session:
        leased = select(Job).where(Job.state == "leased", Job.worker.startswith(f"{host}:", autoescape=True))
        for job in session.scalars(leased.with_for_update(skip_locked=True)):
            if not _is_alive(int(job.worker.split(":")[1])):
                job.state, job.lease_until = "queued", None
                count += 1
    return count


def _is_alive(process_id: int) -> bool:
    try:
        os.kill(process_id, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
