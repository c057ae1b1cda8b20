"""Live submissions in the database: made, found by who says hello, and given to a worker."""

import hashlib
import secrets

import msgspec
from sqlalchemy import select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from navarena.web.challenge.accounts.secret_texts import make_public_id
from navarena.web.challenge.accounts.users import find_user_of_token
from navarena.web.challenge.live.channel import WorkerAddress
from navarena.web.challenge.live.intake_form import LiveAbout
from navarena.web.challenge.live.wire import Hello
from navarena.web.challenge.refusals import Refusal
from navarena.web.challenge.service import Service
from navarena.web.challenge.settings import Phase
from navarena.web.challenge.storage.engine import now_ms
from navarena.web.challenge.storage.jobs import add_job
from navarena.web.challenge.storage.models import (
    ChallengeRow,
    Job,
    LiveStream,
    Membership,
    PhaseRow,
    Submission,
)
from navarena.web.challenge.submissions import (
    find_phase,
    lock_team,
    require_open,
    require_quota,
    require_track,
)
from navarena.web.streaming import StreamError

SECRET_BYTES = 32
"""Of the secret from which the opaque keys of a submission are made."""

ENDED = ("verified", "refused", "failed", "disqualified")


def submit_live_run(
    service: Service, phase: Phase, team_id: int, user_id: int, said: LiveAbout
) -> tuple[str, bool]:
    """Write a live submission down; nothing runs before its agent says hello.

    Returns the submission's public id, and whether it is new. Raises Refusal.
    """
    digest = hashlib.sha256(f"live {team_id} {said.nonce}".encode()).hexdigest()
    track = require_track(service.challenge, said.about.track)
    if said.privileged_inputs and not track.privileged:
        raise Refusal(
            "privileged_agent",
            f"expected an agent that looks at its observations alone on the track {track.name!r}, got one "
            f"that uses {', '.join(said.privileged_inputs)}; choose another track",
        )
    try:
        with service.storage.write() as session:
            row = find_phase(session, service.challenge, phase.name)
            known = select(Submission).where(Submission.phase_id == row.id, Submission.content_hash == digest)
            lock_team(session, team_id)
            earlier = session.scalars(known).first()
            if earlier is not None:
                return earlier.public_id, False
            require_open(phase, row, "live")
            require_quota(session, phase, row.id, team_id)
            submission = Submission(
                public_id=make_public_id(),
                phase_id=row.id,
                team_id=team_id,
                user_id=user_id,
                kind="live",
                state="received",
                agent=said.agent,
                trained_with=list(said.trained_with),
                privileged=bool(said.privileged_inputs),
                declared_inputs=list(said.privileged_inputs),
                content_hash=digest,
                created=now_ms(),
                **{
                    name: value
                    for name, value in msgspec.structs.asdict(said.about).items()
                    if name != "submission"
                },
            )
            session.add(submission)
            session.flush()
            require_stream(session, submission.id)
            return submission.public_id, True
    except IntegrityError as error:  # the same request twice, at the same moment
        raise Refusal(
            "busy", "expected one request at a time for a submission, got two; try again", 409
        ) from error


def find_worker(service: Service, public_id: str, hello: Hello) -> WorkerAddress:
    """The worker of the submission in `hello`; queues a job for one if there is none.

    Raises StreamError: "token" for whoever may not, "after_end" or the submission's own code for one that
    has ended, "busy" until a worker has taken it, and that of `require_open` for an agent that comes for the
    first time while the phase takes no submissions.
    """
    with service.storage.write() as session:
        submission = _require_own(session, service, public_id, hello.token)
        if submission.state in ENDED:
            raise _ended(submission)
        jobs = select(Job).where(Job.submission_id == submission.id, Job.state.in_(("queued", "leased")))
        job = session.scalars(jobs).first()
        stream = require_stream(session, submission.id)
        if job is None:
            if submission.started is None:
                _require_open(service, submission)
            add_job(session, submission)
        elif job.state == "leased" and stream.held.get("worker") == job.worker:
            held = stream.held
            return WorkerAddress(held["host"], held["port"], bytes.fromhex(held["key"]))
    raise StreamError("busy", "expected a worker for this submission, got none that is free yet; wait")


def require_stream(session: Session, submission_id: int) -> LiveStream:
    """The stream of a live submission; a new one where it has none, as after an import."""
    stream = session.get(LiveStream, submission_id)
    if stream is None:
        held = {"secret": secrets.token_hex(SECRET_BYTES)}
        stream = LiveStream(submission_id=submission_id, token_hash="", held=held, updated=now_ms())
        session.add(stream)
    return stream


def _require_own(session: Session, service: Service, public_id: str, token: str) -> Submission:
    """The live submission, locked, of a team of who has the token; else StreamError("token")."""
    user = find_user_of_token(session, token)
    query = (
        select(Submission)
        .join(PhaseRow, Submission.phase_id == PhaseRow.id)
        .join(ChallengeRow)
        .where(Submission.public_id == public_id, Submission.kind == "live")
        .where(ChallengeRow.slug == service.challenge.slug)
        .with_for_update(of=Submission)
    )
    found = None if user is None else session.scalars(query).first()
    if user is None or found is None or session.get(Membership, (found.team_id, user.id)) is None:
        raise StreamError(
            "token", "expected the token of a member of the team of this submission, got another"
        )
    return found


def _require_open(service: Service, submission: Submission) -> None:
    """Raise StreamError unless the phase of a live submission takes any now."""
    row = submission.phase
    try:
        require_open(service.challenge.phase(row.slug), row, "live")
    except Refusal as refusal:
        raise StreamError(refusal.code, str(refusal)) from refusal


def _ended(submission: Submission) -> StreamError:
    if submission.state == "verified":
        return StreamError("after_end", "expected a submission that goes on, got one that is finished")
    code, text = submission.error_code or submission.state, submission.error_text or "ask a host"
    return StreamError(
        code, f"expected a submission that goes on, got one that is {submission.state}: {text}"
    )
