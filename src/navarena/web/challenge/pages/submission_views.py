"""Page data of submissions and teams, for templates and for `/api/v1`."""

import math
from typing import Any

import msgspec
from sqlalchemy import desc, func, select
from sqlalchemy.orm import Session

from navarena.evaluation.analyses.breakdowns import SCENE, break_down
from navarena.evaluation.records.journal import Row
from navarena.evaluation.records.results import Summary
from navarena.evaluation.records.traits import CATEGORY
from navarena.metrics.catalog import get_metric, leading_metrics
from navarena.reports.tables import broken_table, format_value, group_table, metric_table, tour_table
from navarena.web.challenge.accounts.sessions import Visitor
from navarena.web.challenge.accounts.teams import list_members
from navarena.web.challenge.pages.boards import Boards, read_rows
from navarena.web.challenge.pages.episode_views import view_overviews, view_table
from navarena.web.challenge.pages.views import ABOUT, read_summaries, view_phase, view_track
from navarena.web.challenge.permissions import (
    find_phase_row,
    is_insider,
    may_see_scores,
    require_submission,
    require_visible_team,
)
from navarena.web.challenge.refusals import not_found
from navarena.web.challenge.settings import Challenge, Part, Phase
from navarena.web.challenge.storage.models import ScoreRow, Submission
from navarena.web.challenge.submissions import count_quota

ENDED = ("verified", "refused", "failed", "disqualified")
PAGE_SIZE = 100
"""Submissions on one page of a team or of hosts."""


def view_submission(
    session: Session, challenge: Challenge, boards: Boards, visitor: Visitor, public_id: str
) -> dict[str, Any]:
    """The page of a submission.

    Scores are shown as the board of the phase is. While it runs, those so far are shown on open splits,
    and progress alone where episodes are hidden. Scenes of hidden episodes are never named to participants.
    """
    one, phase = require_submission(session, challenge, visitor, public_id)
    inside = is_insider(session, visitor, one.team_id)
    scores = may_see_scores(challenge, visitor, one.phase)
    shown = {
        "id": one.public_id,
        "challenge": {"name": challenge.name, "slug": challenge.slug},
        "phase": view_phase(challenge, phase, one.phase),
        "track": view_track(challenge, one.track),
        "team": one.team.name,
        "kind": one.kind,
        "state": one.state,
        "method": one.method or one.agent,
        "privileged": one.privileged,
        "created": one.created,
        "started": one.started,
        "wall_clock": one.wall_clock,
        **{name: getattr(one, name) for name in ABOUT},
        "inside": inside,
        "scores_visible": scores,
        "has_journal": may_read_journal(visitor, phase, one, inside, scores),
        "error": {"code": one.error_code, "text": one.error_text} if inside and one.error_code else None,
        "progress": view_progress(session, phase, one, scores),
        "parts": [],
    }
    if one.state in ("verified", "disqualified") and scores and one.summary is not None:
        key = ("parts", one.public_id, one.finished, inside, visitor.is_host)
        parts = boards.keep(key, lambda: _view_parts(session, phase, one, visitor, inside))
        overviews = view_overviews(session, phase, one, len(parts))
        shown["parts"] = [{**part, "overview": found} for part, found in zip(parts, overviews)]
    return shown


def may_read_journal(visitor: Visitor, phase: Phase, one: Submission, inside: bool, scores: bool) -> bool:
    """Whether the log may be taken away: never one of hidden episodes, but by hosts."""
    if visitor.is_host:
        return True
    return not phase.is_hidden and scores and one.state == "verified" and (inside or one.kind != "live")


def view_progress(session: Session, phase: Phase, one: Submission, scores: bool) -> dict[str, Any]:
    """How many episodes are done; on open splits with the means so far."""
    done = session.scalar(select(func.count()).where(ScoreRow.submission_id == one.id)) or 0
    progress: dict[str, Any] = {
        "state": one.state,
        "done": done,
        "of": one.episodes,
        "ended": one.state in ENDED,
    }
    progress["so_far"] = []
    if one.state == "running" and scores and not phase.is_hidden and done:
        progress["so_far"] = _means_so_far(session, phase, one)
    return progress


def _means_so_far(session: Session, phase: Phase, one: Submission) -> list[dict[str, Any]]:
    held = session.scalars(select(ScoreRow.metrics).where(ScoreRow.submission_id == one.id)).all()
    found = []
    for name in leading_metrics(dict.fromkeys((phase.rank_metric, *held[0]))):
        values = [row[name] for row in held if row.get(name) is not None]
        if values:
            mean = math.fsum(values) / len(values)
            metric = get_metric(name)
            shown = {"name": name, "title": metric.title, "text": format_value(metric, mean)}
            found.append({**shown, "mean": mean, "n": len(values)})
    return found


def _view_parts(
    session: Session, phase: Phase, one: Submission, visitor: Visitor, inside: bool
) -> list[dict[str, Any]]:
    summaries, rows = read_summaries(one.summary), read_rows(session, one)
    parts = []
    for number, summary in enumerate(summaries):
        held = rows[number] if number < len(rows) else []
        part = phase.parts[number] if number < len(phase.parts) else phase.parts[0]
        parts.append(_view_part(phase, part, summary, held, visitor, inside))
    return parts


def _view_part(
    phase: Phase, part: Part, summary: Summary, rows: list[Row], visitor: Visitor, inside: bool
) -> dict[str, Any]:
    tables: list[dict[str, Any]] = [view_table("Metrics", metric_table(summary))]
    if summary.tours is not None:
        tables.append(view_table("Over tours", tour_table(summary.tours)))
    metrics = [name for name in leading_metrics(summary.metrics) if name in summary.metrics]
    if rows and metrics:
        if any(CATEGORY in row.traits for row in rows):
            tables.append(
                view_table("By category", group_table("category", break_down(rows, CATEGORY, metrics)))
            )
        if not phase.is_hidden or visitor.is_host:
            tables.append(view_table("By scene", group_table("scene", break_down(rows, SCENE, metrics))))
            if inside and any(row.failed for row in rows):
                tables.append(view_table("Errors of the agent", broken_table(rows)))
    return {
        "dataset": part.dataset,
        "corruptions": list(part.corruptions),
        "episodes": summary.episodes,
        "scenes": summary.scenes,
        "statuses": dict(summary.statuses),
        "tables": tables,
    }


def read_journal(
    session: Session, challenge: Challenge, visitor: Visitor, public_id: str
) -> list[list[Row]] | None:
    """The rows of a submission's log by part; None where the visitor may see the page but not the log."""
    one, phase = require_submission(session, challenge, visitor, public_id)
    inside = is_insider(session, visitor, one.team_id)
    if not may_read_journal(visitor, phase, one, inside, may_see_scores(challenge, visitor, one.phase)):
        return None
    return read_rows(session, one)


def view_team(
    session: Session, challenge: Challenge, visitor: Visitor, name: str, page: int = 1
) -> dict[str, Any]:
    """The page of a team: members, quota left in each phase, submissions."""
    team = require_visible_team(session, visitor, name)
    quotas, rows = [], []
    for phase in challenge.phases:
        row = find_phase_row(session, challenge, phase)
        rows.append(row.id)
        used, limits = count_quota(session, row.id, team.id), phase.limits
        quotas.append(
            {
                "phase": view_phase(challenge, phase, row),
                "used_today": used.last_day,
                "used": used.in_all,
                "left_today": None if limits.per_day is None else max(0, limits.per_day - used.last_day),
                "left": None if limits.in_all is None else max(0, limits.in_all - used.in_all),
            }
        )
    query = select(Submission).where(Submission.team_id == team.id, Submission.phase_id.in_(rows))
    members = list_members(session, team)
    return {
        "name": team.name,
        "challenge": {"name": challenge.name, "slug": challenge.slug},
        "created": team.created,
        "members": [{"name": user.name, "owner": owner} for user, owner in members],
        "owner": any(
            visitor.user is not None and user.id == visitor.user.id and owner for user, owner in members
        ),
        "quotas": quotas,
        **list_submissions(session, challenge, visitor, query, page),
    }


def list_submissions(
    session: Session,
    challenge: Challenge,
    visitor: Visitor,
    query: Any,
    page: int = 1,
    size: int = PAGE_SIZE,
) -> dict[str, Any]:
    """One page of lines about the submissions of `query`, newest first; scores as their boards are shown.

    Args:
        session: a reading one.
        challenge: of all of them.
        visitor: who sees them.
        query: which.
        page: from 1.
        size: lines of a page.

    Raises a Refusal (404) for another page.
    """
    total = session.scalar(select(func.count()).select_from(query.subquery())) or 0
    pages = max(1, -(-total // size))
    if not 1 <= page <= pages:
        raise not_found("page")
    newest = query.order_by(desc(Submission.id)).offset((page - 1) * size).limit(size)
    lines = []
    for one in session.scalars(newest):
        phase = challenge.phase(one.phase.slug)
        scores = may_see_scores(challenge, visitor, one.phase) and one.state in ("verified", "disqualified")
        lines.append(
            {
                "id": one.public_id,
                "phase": phase.name,
                "team": one.team.name,
                "track": one.track,
                "kind": one.kind,
                "state": one.state,
                "method": one.method or one.agent,
                "privileged": one.privileged,
                "created": one.created,
                "score": one.rank_mean if scores else None,
                "score_text": format_value(get_metric(phase.rank_metric), one.rank_mean) if scores else "",
                "error": one.error_code,
                "reason": one.error_text,
            }
        )
    return {"submissions": lines, "page": page, "pages": pages, "total": total}


def encode_journal(parts: list[list[Row]]) -> bytes:
    """Rows as JSON lines, one run after the other."""
    return b"\n".join(msgspec.json.encode(row) for rows in parts for row in rows) + b"\n"
