"""Page data of a submission's episodes: failure classes, trajectories, lists and videos."""

from typing import Any

import msgspec
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from navarena.evaluation.records.journal import Row
from navarena.evaluation.records.traits import CATEGORY
from navarena.metrics.catalog import get_metric, leading_metrics
from navarena.metrics.failures import MEANINGS
from navarena.reports.tables import NO_VALUE, Table, failure_table, format_single
from navarena.web.challenge.accounts.sessions import Visitor
from navarena.web.challenge.pages.views import view_phase
from navarena.web.challenge.permissions import is_insider, may_see_scores, require_submission
from navarena.web.challenge.recordings import (
    MAX_SHOWN,
    OVERVIEW,
    Drawn,
    Overview,
    ask_recording,
    can_be_shown,
    find_recordings,
    read_drawn,
    read_overview,
)
from navarena.web.challenge.refusals import not_found
from navarena.web.challenge.settings import Challenge, Phase
from navarena.web.challenge.storage.models import Recording, ScoreRow, Submission

PAGE_SIZE = 100
"""Episodes on one page."""

SCORED = ("verified", "disqualified")


def view_table(title: str, table: Table) -> dict[str, Any]:
    """A table with its title."""
    return {
        "title": title,
        "columns": list(table.columns),
        "rows": [list(row) for row in table.rows],
        "numeric": list(table.numeric),
    }


def view_overviews(
    session: Session, phase: Phase, one: Submission, parts: int
) -> list[dict[str, Any] | None]:
    """Failure classes and drawn trajectories of each part; None for parts that are never shown."""
    if not can_be_shown(one, phase):
        return [None] * parts
    recordings = find_recordings(session, one.id)
    return [_view_overview(recordings.get((part, OVERVIEW))) for part in range(parts)]


def _view_overview(recording: Recording | None) -> dict[str, Any]:
    view: dict[str, Any] = {
        **_view_state(recording),
        "failed": 0,
        "examined": 0,
        "table": None,
        "sections": [],
    }
    found = None if recording is None else read_overview(recording)
    if found is None:
        return view
    view.update(failed=found.failed, examined=found.examined)
    view["sections"] = msgspec.to_builtins(found.sections)
    if found.classes:
        view["table"] = view_table("Why episodes failed", failure_table(found.classes))
    return view


def _view_state(recording: Recording | None) -> dict[str, Any]:
    """Whether there is a recording: "made", "wanted" (a worker will make it), "failed" or "none"."""
    return {
        "state": "none" if recording is None else recording.state,
        "error": "" if recording is None else recording.error,
    }


def require_episodes(
    session: Session, challenge: Challenge, visitor: Visitor, public_id: str
) -> tuple[Submission, Phase]:
    """A submission whose episodes `visitor` may see, and its phase.

    They are shown as its scores are, once it is verified, and never those of hidden phases. A Refusal (404)
    for the rest.
    """
    one, phase = require_submission(session, challenge, visitor, public_id)
    seen = one.state in SCORED and may_see_scores(challenge, visitor, one.phase)
    if not (seen and can_be_shown(one, phase)):
        raise not_found("episode")
    return one, phase


def _view_head(challenge: Challenge, phase: Phase, one: Submission) -> dict[str, Any]:
    return {
        "id": one.public_id,
        "challenge": {"name": challenge.name, "slug": challenge.slug},
        "phase": view_phase(challenge, phase, one.phase),
        "team": one.team.name,
        "method": one.method or one.agent,
    }


def view_episodes(
    session: Session, challenge: Challenge, visitor: Visitor, public_id: str, part: int = 0, page: int = 1
) -> dict[str, Any]:
    """One page of the episodes of a part; a Refusal (404) for another part or page."""
    one, phase = require_episodes(session, challenge, visitor, public_id)
    held = (ScoreRow.submission_id == one.id, ScoreRow.part == part)
    total = session.scalar(select(func.count()).select_from(ScoreRow).where(*held)) or 0
    pages = max(1, -(-total // PAGE_SIZE))
    if not (0 <= part < len(phase.parts) and 1 <= page <= pages):
        raise not_found("page")
    query = select(ScoreRow.position, ScoreRow.row).where(*held).order_by(ScoreRow.position)
    found = session.execute(query.offset((page - 1) * PAGE_SIZE).limit(PAGE_SIZE)).all()
    recordings = find_recordings(session, one.id)
    overview = recordings.get((part, OVERVIEW))
    reasons = None if overview is None else read_overview(overview)
    rows = [(position, msgspec.json.decode(line, type=Row)) for position, line in found]
    names = list(leading_metrics(rows[0][1].metrics)) if rows else []
    return {
        **_view_head(challenge, phase, one),
        "part": part,
        "parts": len(phase.parts),
        "page": page,
        "pages": pages,
        "total": total,
        "columns": [{"name": name, "title": get_metric(name).title} for name in names],
        "has_categories": any(CATEGORY in row.traits for _, row in rows),
        "episodes": [
            {
                "position": position,
                **_view_row(row, names),
                "reason": _find_reason(reasons, row.episode_id),
                **_view_state(recordings.get((part, position))),
            }
            for position, row in rows
        ],
    }


def _view_row(row: Row, names: list[str]) -> dict[str, Any]:
    return {
        "episode_id": row.episode_id,
        "scene_id": row.scene_id,
        "status": row.status,
        "steps": row.steps,
        "category": row.traits.get(CATEGORY, NO_VALUE),
        "metrics": {name: row.metrics.get(name) for name in names},
        "texts": [format_single(get_metric(name), row.metric(name)) for name in names],
    }


def _find_reason(overview: Overview | None, episode_id: str) -> str:
    """Failure class of an episode in words; empty if unknown."""
    found = None if overview is None else overview.classes.get(episode_id)
    return "" if found is None else MEANINGS[found]


def view_episode(
    session: Session, challenge: Challenge, visitor: Visitor, public_id: str, part: int, position: int
) -> dict[str, Any]:
    """The page of an episode: its numbers, its trajectory from above, its video."""
    one, phase = require_episodes(session, challenge, visitor, public_id)
    found = session.get(ScoreRow, (one.id, part, position))
    if found is None:
        raise not_found("episode")
    row = msgspec.json.decode(found.row, type=Row)
    overview = session.get(Recording, (one.id, part, OVERVIEW))
    reasons = None if overview is None else read_overview(overview)
    recording = session.get(Recording, (one.id, part, position))
    drawn = None if recording is None else read_drawn(recording)
    names = list(row.metrics)
    has_video = recording is not None and _has_video(session, recording)
    return {
        **_view_head(challenge, phase, one),
        "part": part,
        "parts": len(phase.parts),
        "position": position,
        **_view_row(row, names),
        "titles": [get_metric(name).title for name in names],
        "reason": _find_reason(reasons, row.episode_id),
        **_view_state(recording),
        "drawing": _find_drawing(drawn, reasons, position),
        "has_video": has_video,
        "may_ask": is_insider(session, visitor, one.team_id),
        "max_shown": MAX_SHOWN,
    }


def _has_video(session: Session, recording: Recording) -> bool:
    query = select(Recording.video.is_not(None)).where(
        Recording.submission_id == recording.submission_id,
        Recording.part == recording.part,
        Recording.position == recording.position,
    )
    return bool(session.scalar(query))


def _find_drawing(drawn: Drawn | None, overview: Overview | None, position: int) -> str | None:
    """The drawing of an episode, of its own or of the overview."""
    if drawn is not None:
        return drawn.drawing
    sections = [] if overview is None else overview.sections
    return next((e.drawing for section in sections for e in section.episodes if e.position == position), None)


def read_video(
    session: Session, challenge: Challenge, visitor: Visitor, public_id: str, part: int, position: int
) -> bytes:
    """The MP4 of an episode; a Refusal (404) where there is none."""
    one, _ = require_episodes(session, challenge, visitor, public_id)
    recording = session.get(Recording, (one.id, part, position))
    if recording is None or recording.video is None:
        raise not_found("video")
    return recording.video


def ask_for_recording(
    session: Session, challenge: Challenge, visitor: Visitor, public_id: str, part: int, position: int
) -> None:
    """Queue a missing recording, within a writing session; for the team and hosts.

    Raises a Refusal (404) for others and for episodes that are not there, (429) for too many.
    """
    one, phase = require_episodes(session, challenge, visitor, public_id)
    there = part < len(phase.parts)
    if position != OVERVIEW:
        there = session.get(ScoreRow, (one.id, part, position)) is not None
    if not (is_insider(session, visitor, one.team_id) and there):
        raise not_found("episode")
    ask_recording(session, one, part, position)
