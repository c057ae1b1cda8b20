"""Routes of submissions: sending one, and watching it."""

import asyncio
import contextlib
import tempfile
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Sequence
from typing import Annotated, BinaryIO

from fastapi import APIRouter, Query, Request, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import StreamingResponse
from sqlalchemy import select
from sqlalchemy.orm import Session

from navarena.evaluation.benchmark import Benchmark
from navarena.web.challenge.accounts.sessions import Visitor
from navarena.web.challenge.api.access import (
    ServiceGiven,
    UserGiven,
    VisitorGiven,
    find_own_team,
    find_submission,
)
from navarena.web.challenge.api.views import (
    RECEIVED_BEFORE,
    ReceivedView,
    SubmissionView,
    describe_body,
    view_submission,
)
from navarena.web.challenge.log_format import LIMITS, MEDIA_TYPE, TOO_LARGE
from navarena.web.challenge.permissions import may_see_scores
from navarena.web.challenge.refusals import Refusal
from navarena.web.challenge.service import Service
from navarena.web.challenge.settings import Challenge, Kind, Phase
from navarena.web.challenge.storage.models import ChallengeRow, Membership, PhaseRow, Submission, User
from navarena.web.challenge.submissions import (
    CheckedUpload,
    check_log,
    find_phase,
    read_pieces,
    require_open,
    submit_upload,
)
from navarena.web.challenge.trajectories import check_trajectories
from navarena.web.challenge.verification import open_parts

router = APIRouter(tags=["submissions"])

FINAL = ("verified", "refused", "failed", "disqualified")
"""States after which nothing happens by itself."""

POLL_SECONDS = 0.5
WATCH_SECONDS = 3600.0
"""After which the server ends a stream of events; browsers begin another by themselves."""

EVENTS = "text/event-stream"
NO_SPACE = 507
LISTED = 100

Check = Callable[[Challenge, Phase, Sequence[Benchmark], Iterable[bytes]], CheckedUpload]
"""Reads an upload from end to end, as check_log does."""

Time = Annotated[int, Query(ge=0, lt=1 << 62)]
"""Milliseconds since 1970."""


@router.post(
    "/phases/{phase}/submissions",
    status_code=201,
    responses=RECEIVED_BEFORE,
    openapi_extra=describe_body(MEDIA_TYPE, {"type": "string", "format": "binary"}),
)
async def send_log(
    phase: str,
    request: Request,
    response: Response,
    service: ServiceGiven,
    user: UserGiven,
    team: str | None = None,
) -> ReceivedView:
    """Submit the log of a run, as `navarena submit` packs it (application/gzip), for a team of yours.

    The answer is 201 for a new submission and 200 for one that was sent before, which counts once.
    """
    return await _take(service, user, phase, team, request, response, "log", check_log)


@router.post(
    "/phases/{phase}/trajectories",
    status_code=201,
    responses=RECEIVED_BEFORE,
    openapi_extra=describe_body(MEDIA_TYPE, {"type": "string", "format": "binary"}),
)
async def send_trajectories(
    phase: str,
    request: Request,
    response: Response,
    service: ServiceGiven,
    user: UserGiven,
    team: str | None = None,
) -> ReceivedView:
    """Submit results files of earlier challenges, as `navarena submit` packs them; answers as for logs."""
    return await _take(service, user, phase, team, request, response, "trajectory", check_trajectories)


async def _take(
    service: Service,
    user: User,
    phase: str,
    team: str | None,
    request: Request,
    response: Response,
    kind: Kind,
    check: Check,
) -> ReceivedView:
    """Receive an upload of `kind`, `check` it, and write it down."""
    team_id, settings = await run_in_threadpool(_require_turn, service, user, phase, team, kind)
    with _upload_file() as file:
        await _receive(request, file)
        public_id, is_new = await run_in_threadpool(_submit, service, settings, team_id, user.id, file, check)
    response.status_code = 201 if is_new else 200
    return ReceivedView(id=public_id, is_new=is_new)


def _require_turn(
    service: Service, user: User, phase: str, team: str | None, kind: Kind
) -> tuple[int, Phase]:
    """(team id, phase) of a submission that may come now; asked before its file travels."""
    with service.storage.read() as session:
        row = find_phase(session, service.challenge, phase)
        settings = service.challenge.phase(phase)
        require_open(settings, row, kind)
        team_id = find_own_team(session, user, team).id
        return team_id, settings


@contextlib.contextmanager
def _upload_file() -> Iterator[BinaryIO]:
    """A file without a name: it is gone when the block or the process ends."""
    try:
        with tempfile.TemporaryFile() as file:
            yield file
    except OSError as error:
        raise Refusal(
            "no_space", f"the server cannot keep the log ({error.strerror}); tell its host", NO_SPACE
        ) from error


async def _receive(request: Request, file: BinaryIO) -> None:
    """Write the body of a request to `file`; raises Refusal (413) for more than LIMITS allows."""
    left = LIMITS.packed
    async for piece in request.stream():
        left -= len(piece)
        if left < 0:
            raise Refusal(
                "too_large",
                f"expected at most {LIMITS.packed >> 20} MiB, got more; submit fewer episodes",
                TOO_LARGE,
            )
        file.write(piece)


def _submit(
    service: Service, phase: Phase, team_id: int, user_id: int, file: BinaryIO, check: Check
) -> tuple[str, bool]:
    challenge = service.challenge
    checked = check(challenge, phase, open_parts(phase), read_pieces(file))
    return submit_upload(service.storage, challenge, phase, team_id, user_id, checked, read_pieces(file))


@router.get("/submissions")
def list_submissions(
    service: ServiceGiven, user: UserGiven, visitor: VisitorGiven, team: str | None = None, before: Time = 0
) -> list[SubmissionView]:
    """The newest submissions of a team of yours; `before` is the time of the oldest one that you have."""
    with service.storage.read() as session:
        query = (
            select(Submission)
            .join(PhaseRow, Submission.phase_id == PhaseRow.id)
            .join(ChallengeRow)
            .join(Membership, Membership.team_id == Submission.team_id)
            .where(ChallengeRow.slug == service.challenge.slug, Membership.user_id == user.id)
            .where(PhaseRow.slug.in_([one.name for one in service.challenge.phases]))
            .order_by(Submission.created.desc(), Submission.id.desc())
            .limit(LISTED)
        )
        if team is not None:
            query = query.where(Submission.team_id == find_own_team(session, user, team).id)
        if before > 0:
            query = query.where(Submission.created < before)
        return [_view(session, service, visitor, one) for one in session.scalars(query)]


@router.get("/submissions/{submission}")
def show_submission(submission: str, service: ServiceGiven, visitor: VisitorGiven) -> SubmissionView:
    """One submission: its state, progress, and scores if you may see them."""
    with service.storage.read() as session:
        found = find_submission(session, service, visitor, submission)
        return _view(session, service, visitor, found)


def _view(session: Session, service: Service, visitor: Visitor, one: Submission) -> SubmissionView:
    sees_scores = may_see_scores(service.challenge, visitor, one.phase)
    return view_submission(session, one, sees_scores)


@router.get(
    "/submissions/{submission}/events",
    response_class=StreamingResponse,
    responses={200: {"content": {EVENTS: {}}}},
)
async def watch_submission(
    submission: str, request: Request, service: ServiceGiven, visitor: VisitorGiven
) -> StreamingResponse:
    """Server-sent events: the submission as JSON whenever it changes, until it has ended."""
    first = await run_in_threadpool(show_submission, submission, service, visitor)

    async def events() -> AsyncIterator[str]:
        view, sent = first, ""
        for _ in range(round(WATCH_SECONDS / POLL_SECONDS)):
            text = view.model_dump_json()
            if text != sent:
                sent = text
                yield f"data: {text}\n\n"
            if view.state in FINAL or await request.is_disconnected():
                return
            await asyncio.sleep(POLL_SECONDS)
            try:
                view = await run_in_threadpool(show_submission, submission, service, visitor)
            except Refusal:  # taken away from this visitor meanwhile
                return

    return StreamingResponse(events(), media_type=EVENTS, headers={"Cache-Control": "no-store"})
