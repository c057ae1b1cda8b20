"""Routes of live submissions: one to make them, one for their streams."""

import asyncio

from fastapi import APIRouter, Request, Response, WebSocket
from fastapi.concurrency import run_in_threadpool

from navarena.web.challenge.api.access import ServiceGiven, UserGiven, find_own_team
from navarena.web.challenge.api.views import RECEIVED_BEFORE, ReceivedView, describe_body
from navarena.web.challenge.live.channel import WorkerAddress
from navarena.web.challenge.live.intake import find_worker, submit_live_run
from navarena.web.challenge.live.intake_form import describe_live_about, read_live_about
from navarena.web.challenge.live.relay import serve_stream
from navarena.web.challenge.live.wire import BUSY, Hello
from navarena.web.challenge.service import Service
from navarena.web.challenge.storage.models import User
from navarena.web.challenge.submissions import find_phase
from navarena.web.streaming import StreamError

WAIT_SECONDS, POLL_SECONDS = 10.0, 0.5
"""For which a participant waits here for a worker, before it is told to come back; and between two looks."""

router = APIRouter(tags=["live"])


@router.post(
    "/phases/{phase}/live",
    status_code=201,
    responses=RECEIVED_BEFORE,
    openapi_extra=describe_body("application/json", describe_live_about()),
)
async def make_live(
    phase: str,
    request: Request,
    response: Response,
    service: ServiceGiven,
    user: UserGiven,
    team: str | None = None,
) -> ReceivedView:
    """Make a live submission for a team of yours; its agent then acts over the stream /live/ID.

    The answer is 201 for a new submission and 200 for one that was made before with the same nonce.
    """
    body = await request.body()
    public_id, is_new = await run_in_threadpool(_make, service, user, phase, team, body)
    response.status_code = 201 if is_new else 200
    return ReceivedView(id=public_id, is_new=is_new)


def _make(service: Service, user: User, phase: str, team: str | None, body: bytes) -> tuple[str, bool]:
    said = read_live_about(body)
    with service.storage.read() as session:
        find_phase(session, service.challenge, phase)
        team_id = find_own_team(session, user, team).id
    return submit_live_run(service, service.challenge.phase(phase), team_id, user.id, said)


@router.websocket("/live/{submission}")
async def stream_live(websocket: WebSocket, submission: str) -> None:
    """The stream of a live submission; docs/live_protocol.md describes its messages."""
    service: Service = websocket.app.state.service

    async def find(hello: Hello) -> WorkerAddress:
        for _ in range(round(WAIT_SECONDS / POLL_SECONDS)):
            try:
                return await run_in_threadpool(find_worker, service, submission, hello)
            except StreamError as error:
                if error.code != BUSY:
                    raise
                problem = error
            await asyncio.sleep(POLL_SECONDS)
        raise problem

    await serve_stream(websocket, find)
