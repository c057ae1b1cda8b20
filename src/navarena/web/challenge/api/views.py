"""JSON responses of the interface, from rows of the database."""

import datetime
from typing import Any

from pydantic import BaseModel
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from navarena.web.challenge.service import is_shown
from navarena.web.challenge.settings import Challenge, Phase
from navarena.web.challenge.storage.models import PhaseRow, ScoreRow, Submission
from navarena.web.challenge.submissions import QuotaUse


class Problem(BaseModel):
    """Reason of a refused request: a code for programs, one line for people."""

    code: str
    message: str


class ProblemView(BaseModel):
    """The answer to a request that was refused."""

    error: Problem


PROBLEMS: dict[int | str, dict[str, Any]] = {
    code: {"model": ProblemView} for code in (400, 401, 403, 404, 409, 413, 422, 429, 503, 507)
}
"""What the document says of requests that are refused: any route answers with any of these statuses."""


class TrackView(BaseModel):
    """A track; see settings.Track."""

    name: str
    title: str
    sensors: list[str]
    privileged: bool


class QuotaView(BaseModel):
    """Limits of a team and their use; None for no limit."""

    per_day: int | None
    in_all: int | None
    used_last_day: int
    used_in_all: int


class PhaseView(BaseModel):
    """A phase; see settings.Phase. What is hidden is null."""

    name: str
    title: str
    text: str
    protocol: str
    datasets: list[str]
    split: str
    rank_by: str
    accepts: list[str]
    opens: datetime.datetime | None
    closes: datetime.datetime | None
    is_open: bool
    is_frozen: bool
    is_hidden: bool
    is_shown: bool
    per_day: int | None
    in_all: int | None
    seconds: float | None
    corruptions: list[list[str]] | None


class ChallengeView(BaseModel):
    """A challenge; see settings.Challenge."""

    slug: str
    name: str
    text: str
    tracks: list[TrackView]
    phases: list[PhaseView]


class SubmissionView(BaseModel):
    """A submission; scores are null until it is verified and its board is shown."""

    id: str
    phase: str
    track: str
    team: str
    kind: str
    state: str
    method: str
    link: str
    code_link: str
    hardware: str
    model_size: int | None
    training_frames: int | None
    demonstrations: int | None
    training_data: str
    trained_with: list[str]
    agent: str
    privileged: bool
    declared_inputs: list[str]
    checked: str
    episodes: int
    finished_episodes: int
    created: int
    started: int | None
    finished: int | None
    error: Problem | None
    rank_mean: float | None
    rank_low: float | None
    rank_high: float | None
    summary: dict[str, Any] | None
    seconds_per_step: float | None
    wall_clock: float | None


class ReceivedView(BaseModel):
    """A submission that was taken; `is_new` is false for one that was sent before."""

    id: str
    is_new: bool


RECEIVED_BEFORE: dict[int | str, dict[str, Any]] = {
    200: {"model": ReceivedView, "description": "It was sent before, and counts once"}
}
"""What the document says of the second answer of routes that take submissions."""


def describe_body(media_type: str, schema: dict[str, Any]) -> dict[str, Any]:
    """OpenAPI description of a route that reads its body itself."""
    return {"requestBody": {"required": True, "content": {media_type: {"schema": schema}}}}


CHECKED = {
    "log": "actions verified, inputs declared",
    "live": "actions and inputs verified",
    "trajectory": "trajectory uploaded, inputs declared",
}
"""Kind -> what the server vouches for."""


def view_challenge(challenge: Challenge, rows: dict[str, PhaseRow]) -> ChallengeView:
    """The challenge, with the rows of its phases by name."""
    return ChallengeView(
        slug=challenge.slug,
        name=challenge.name,
        text=challenge.text,
        tracks=[
            TrackView(
                name=one.name,
                title=one.title or one.name,
                sensors=list(one.sensors),
                privileged=one.privileged,
            )
            for one in challenge.tracks
        ],
        phases=[view_phase(challenge, one, rows[one.name]) for one in challenge.phases],
    )


def view_phase(challenge: Challenge, phase: Phase, row: PhaseRow) -> PhaseView:
    """A phase as anybody sees it."""
    shown = is_shown(challenge, row)
    hides = phase.hide_corruptions and not shown
    now = datetime.datetime.now(datetime.UTC)
    return PhaseView(
        name=phase.name,
        title=phase.title or phase.name,
        text=phase.text,
        protocol=phase.protocol,
        datasets=list(phase.datasets),
        split=phase.split,
        rank_by=phase.rank_by,
        accepts=list(phase.accepts),
        opens=phase.opens,
        closes=phase.closes,
        is_open=phase.is_open(now) and not row.frozen,
        is_frozen=row.frozen,
        is_hidden=phase.is_hidden,
        is_shown=shown,
        per_day=phase.limits.per_day,
        in_all=phase.limits.in_all,
        seconds=phase.limits.seconds,
        corruptions=None if hides else [list(part.corruptions) for part in phase.parts],
    )


def view_quota(phase: Phase, used: QuotaUse) -> QuotaView:
    """Remaining quota of a team."""
    return QuotaView(
        per_day=phase.limits.per_day,
        in_all=phase.limits.in_all,
        used_last_day=used.last_day,
        used_in_all=used.in_all,
    )


def view_submission(session: Session, submission: Submission, sees_scores: bool) -> SubmissionView:
    """A submission, with its numbers where the reader may see them."""
    is_scored = submission.state in ("verified", "disqualified")
    done = submission.episodes if is_scored else count_scores(session, submission.id)
    error = None
    if submission.error_code is not None:
        error = Problem(code=submission.error_code, message=submission.error_text or "")
    return SubmissionView(
        id=submission.public_id,
        phase=submission.phase.slug,
        track=submission.track,
        team=submission.team.name,
        kind=submission.kind,
        state=submission.state,
        method=submission.method,
        link=submission.link,
        code_link=submission.code_link,
        hardware=submission.hardware,
        model_size=submission.model_size,
        training_frames=submission.training_frames,
        demonstrations=submission.demonstrations,
        training_data=submission.training_data,
        trained_with=list(submission.trained_with),
        agent=submission.agent,
        privileged=submission.privileged,
        declared_inputs=list(submission.declared_inputs),
        checked=CHECKED[submission.kind],
        episodes=submission.episodes,
        finished_episodes=done,
        created=submission.created,
        started=submission.started,
        finished=submission.finished,
        error=error,
        rank_mean=submission.rank_mean if sees_scores else None,
        rank_low=submission.rank_low if sees_scores else None,
        rank_high=submission.rank_high if sees_scores else None,
        summary=submission.summary if sees_scores else None,
        seconds_per_step=submission.seconds_per_step,
        wall_clock=submission.wall_clock,
    )


def count_scores(session: Session, submission_id: int) -> int:
    """Episodes of a submission that are finished."""
    query = select(func.count()).select_from(ScoreRow).where(ScoreRow.submission_id == submission_id)
    return session.scalar(query) or 0
