"""A live submission as a worker's job; see `navarena serve-worker`."""

import os
import shutil
from pathlib import Path

from sqlalchemy import func, select

from navarena.evaluation.records.journal import Row
from navarena.web.challenge.live.channel import WorkerAddress, listen
from navarena.web.challenge.live.intake import require_stream
from navarena.web.challenge.live.run import LiveOrder, LiveOutcome, open_part, run_live
from navarena.web.challenge.live.wire import VERSION, Hello
from navarena.web.challenge.refusals import Refusal
from navarena.web.challenge.service import Service
from navarena.web.challenge.settings import read_private_seed
from navarena.web.challenge.storage.engine import now_ms
from navarena.web.challenge.storage.jobs import Lease, end_job, hold_job
from navarena.web.challenge.storage.models import LiveStream, PhaseRow, ScoreRow, Submission
from navarena.web.challenge.verification import finish_submission, make_score, read_scores, refuse

HOST_VARIABLE = "NAVARENA_LIVE_HOST"
"""Address of a worker's machine, as the server reaches it; by default that of one on the server's machine."""

LOCAL = "127.0.0.1"

FOLDER = "live"
"""Beside the challenge file: runs that are not finished."""


def run_live_job(service: Service, lease: Lease) -> None:
    """Let the agent of a live submission act until the end, and write it; or until it has gone.

    Raises LeaseLostError when another worker has taken over.
    """
    order = read_order(service, lease)
    if (whole := _read_outcome(service, lease, order)) is not None:
        _finish(service, lease, order, whole)
        shutil.rmtree(order.folder, ignore_errors=True)
        return
    listener, address = listen(os.environ.get(HOST_VARIABLE, LOCAL))
    with listener:
        _tell_address(service, lease, address)

        def store(part: int, position: int, row: Row, seconds: float | None) -> None:
            with service.storage.write() as session:
                hold_job(session, lease, has_progress=True)
                if session.get(ScoreRow, (lease.submission_id, part, position)) is None:
                    session.add(make_score(lease.submission_id, part, position, row, seconds))

        def begin(episodes: int) -> None:
            with service.storage.write() as session:
                hold_job(session, lease)
                session.get_one(Submission, lease.submission_id).episodes = episodes

        outcome = run_live(order, listener, address.key, store, begin)
    if outcome.state == "finished":
        _finish(service, lease, order, outcome)
    elif outcome.state == "refused":
        with service.storage.write() as session:
            refuse(session, lease, Refusal(outcome.code, outcome.text))
    else:  # its participant may come back
        with service.storage.write() as session:
            end_job(session, lease).state = "received"
        return
    shutil.rmtree(order.folder, ignore_errors=True)


def _read_outcome(service: Service, lease: Lease, order: LiveOrder) -> LiveOutcome | None:
    """The outcome of a submission whose episodes are all stored; None if some are not.

    A worker that ended before it could write the numbers leaves such a submission. Its participant was told
    that all is done and does not come back.
    """
    with service.storage.write() as session:
        wanted = session.get_one(Submission, lease.submission_id).episodes
        if not wanted or sum(map(len, order.done)) < wanted:
            return None
        seconds = select(func.sum(ScoreRow.seconds)).where(ScoreRow.submission_id == lease.submission_id)
        return LiveOutcome("finished", seconds={"agent": session.scalar(seconds) or 0.0})


def read_order(service: Service, lease: Lease) -> LiveOrder:
    """Read a job's order from the database and the files beside the challenge."""
    with service.storage.write() as session:
        submission = session.get_one(Submission, lease.submission_id)
        phase = service.challenge.phase(session.get_one(PhaseRow, submission.phase_id).slug)
        held = require_stream(session, submission.id).held
        done = tuple(tuple(rows) for rows in read_scores(session, submission.id, len(phase.parts)))
        ends = None
        if phase.limits.seconds is not None:
            ends = (submission.started or now_ms()) / 1000 + phase.limits.seconds
        return LiveOrder(
            challenge=service.challenge.slug,
            phase=phase,
            track=service.challenge.track(submission.track),
            seed=read_private_seed(service.challenge, phase) if phase.is_hidden else None,
            agent=submission.agent,
            folder=Path(service.challenge.folder) / FOLDER / submission.public_id,
            secret=bytes.fromhex(held["secret"]),
            ends=ends,
            done=done,
        )


def _tell_address(service: Service, lease: Lease, address: WorkerAddress) -> None:
    """Let the server find this worker."""
    with service.storage.write() as session:
        hold_job(session, lease)
        stream = session.get_one(LiveStream, lease.submission_id)
        where = {"host": address.host, "port": address.port, "key": address.key.hex()}
        stream.held = {**stream.held, **where, "worker": lease.worker}
        stream.updated = now_ms()


def _finish(service: Service, lease: Lease, order: LiveOrder, outcome: LiveOutcome) -> None:
    """Write the numbers of a submission of which every episode is stored."""
    with service.storage.write() as session:
        hold_job(session, lease)
        submission = session.get_one(Submission, lease.submission_id)
        rows = [row for part in read_scores(session, submission.id, len(order.phase.parts)) for row in part]
        steps = sum(row.steps for row in rows)
        submission.seconds_per_step = outcome.seconds.get("agent", 0.0) / steps if steps else None
        submission.wall_clock = (now_ms() - (submission.started or now_ms())) / 1000
        trained_with = list(submission.trained_with)
    nobody = Hello(version=VERSION)
    parts = range(len(order.phase.parts))
    benchmarks = [open_part(order, part, nobody) for part in parts]
    agents = [order.agent for _ in parts]
    finish_submission(service.storage, lease, order.phase, benchmarks, agents, trained_with)
