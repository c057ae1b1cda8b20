"""Page data of the public pages, for templates and for `/api/v1`."""

from typing import Any

import msgspec
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from navarena.core.errors import InputError
from navarena.evaluation.records.results import MetricSummary, Summary
from navarena.metrics.catalog import get_metric
from navarena.reports.tables import NO_VALUE, format_count, format_interval, format_value
from navarena.web.challenge.accounts.sessions import Visitor
from navarena.web.challenge.leaderboard import Place, Section
from navarena.web.challenge.pages.boards import Boards, is_live_only
from navarena.web.challenge.permissions import find_phase_row, may_see_scores
from navarena.web.challenge.refusals import Refusal
from navarena.web.challenge.service import is_shown
from navarena.web.challenge.settings import Challenge, Phase
from navarena.web.challenge.storage.engine import now_ms
from navarena.web.challenge.storage.models import PhaseRow, Submission

PAGE_SIZE = 100
"""Rows of a leaderboard on one page."""

PLAIN_ORDERS = {
    "team": False,
    "method": False,
    "date": True,
    "model_size": False,
    "training_frames": False,
    "demonstrations": False,
    "seconds_per_step": False,
    "track": False,
    "trained_with": False,
    "training_data": False,
    "hardware": False,
    "tries": False,
}
"""What a board can be sorted by beside ranks and metrics, and whether the greatest comes first."""


def view_challenge(session: Session, challenge: Challenge) -> dict[str, Any]:
    """The page of the challenge: its text, tracks and phases."""
    verified = select(Submission.phase_id, func.count()).where(Submission.state == "verified")
    counts = {one[0]: one[1] for one in session.execute(verified.group_by(Submission.phase_id))}
    phases = []
    for phase in challenge.phases:
        row = find_phase_row(session, challenge, phase)
        phases.append({**view_phase(challenge, phase, row), "verified": counts.get(row.id, 0)})
    tracks = [view_track(challenge, track.name) for track in challenge.tracks]
    named = {"name": challenge.name, "slug": challenge.slug, "text": challenge.text}
    return {**named, "tracks": tracks, "phases": phases}


def view_track(challenge: Challenge, name: str) -> dict[str, Any]:
    """A track as a table shows it; one that the file no longer has keeps its name."""
    for track in challenge.tracks:
        if track.name == name:
            return {
                "name": name,
                "title": track.title or name,
                "sensors": list(track.sensors),
                "privileged": track.privileged,
            }
    return {"name": name, "title": name, "sensors": [], "privileged": False}


def view_phase(challenge: Challenge, phase: Phase, row: PhaseRow) -> dict[str, Any]:
    """A phase with its state; nothing about its seed."""
    now = now_ms()
    opens, closes, reveals = (_ms(moment) for moment in (phase.opens, phase.closes, phase.reveals))
    state = "open"
    if opens is not None and now < opens:
        state = "upcoming"
    elif closes is not None and now >= closes:
        state = "closed"
    elif row.frozen:
        state = "frozen"
    shown = is_shown(challenge, row)
    hidden_names = phase.hide_corruptions and not shown
    limits = phase.limits
    return {
        "name": phase.name,
        "title": phase.title or phase.name,
        "text": phase.text,
        "protocol": phase.protocol,
        "split": phase.split,
        "rank_by": phase.rank_by,
        "rank_title": get_metric(phase.rank_metric).title,
        "accepts": list(phase.accepts),
        "opens": opens,
        "closes": closes,
        "reveals": reveals,
        "state": state,
        "hidden_episodes": phase.is_hidden,
        "board_shown": shown,
        "revealed": row.revealed,
        "frozen": row.frozen,
        "corruptions": [] if hidden_names else list(phase.corruptions),
        "suite": None if hidden_names else phase.suite,
        "quota": {"per_day": limits.per_day, "in_all": limits.in_all, "seconds": limits.seconds},
    }


def view_board(
    session: Session,
    challenge: Challenge,
    boards: Boards,
    visitor: Visitor,
    phase: Phase,
    track: str | None = None,
    sort: str = "rank",
    page: int = 1,
    size: int = PAGE_SIZE,
) -> dict[str, Any]:
    """One page of the leaderboard of `phase`.

    Args:
        session: a reading one.
        challenge: of the phase.
        boards: of the server.
        visitor: who sees it; a board that is hidden has no rows for others than hosts.
        phase: whose leaderboard.
        track: only this one.
        sort: "rank", a metric or one of PLAIN_ORDERS, with a "-" before it to turn it round.
        page: from 1.
        size: rows of a page.

    Raises a Refusal for an unknown track, order or page.
    """
    if track is not None and track not in [one.name for one in challenge.tracks]:
        raise Refusal("unknown_track", "there is no such track; choose one of the page", 404)
    row = find_phase_row(session, challenge, phase)
    seen = may_see_scores(challenge, visitor, row)
    head = {
        "challenge": {"name": challenge.name, "slug": challenge.slug},
        "phase": view_phase(challenge, phase, row),
        "tracks": [view_track(challenge, one.name) for one in challenge.tracks],
        "track": track,
        "sort": sort,
        "page": page,
        "live_only": is_live_only(phase),
        "visible": seen,
    }
    if not seen:
        return {**head, "pages": 1, "entries": 0, "columns": [], "sections": []}
    version = boards.snapshot(phase).version
    key = ("rows", phase.name, version, track, sort, page, size)
    return {**head, **boards.keep(key, lambda: _view_rows(boards, phase, track, sort, page, size))}


def _view_rows(
    boards: Boards, phase: Phase, track: str | None, sort: str, page: int, size: int
) -> dict[str, Any]:
    sections = boards.board(phase, track)
    columns = list_columns(phase, sections)
    names = [column["name"] for column in columns]
    total = sum(len(section.places) for section in sections)
    pages = max(1, -(-total // size))
    if sort.removeprefix("-") not in ("rank", *names, *PLAIN_ORDERS) or not 1 <= page <= pages:
        raise Refusal(
            "unknown_page", "the leaderboard has no such order or page; choose one of the page", 404
        )
    first, shown = (page - 1) * size, []
    for section in sections:
        ordered = sort_places(phase, section.places, sort)
        part = ordered[max(0, first) : max(0, first + size)]
        first -= len(ordered)
        if part:
            rows = [view_place(phase, place, names) for place in part]
            shown.append({"name": section.name, "ranked": section.ranked, "rows": rows})
    return {"pages": pages, "entries": total, "columns": columns, "sections": shown}


def list_columns(phase: Phase, sections: tuple[Section, ...]) -> list[dict[str, Any]]:
    """The metrics that any entry has: that of the ranks first."""
    found: dict[str, dict[str, Any]] = {
        phase.rank_by: {
            "name": phase.rank_by,
            "title": _rank_title(phase),
            "better": get_metric(phase.rank_metric).better,
        }
    }
    entries = [place.entry for section in sections for place in section.places]
    for entry in entries[:1]:
        for name, held in _summaries(phase, entry.facts["summary"]).items():
            found.setdefault(name, {"name": name, "title": held["title"], "better": held["better"]})
    return list(found.values())


def _rank_title(phase: Phase) -> str:
    title = get_metric(phase.rank_metric).title
    return f"{title}, mean over unseen corruptions" if phase.rank_by != phase.rank_metric else title


def _summaries(phase: Phase, summary: dict[str, Any] | None) -> dict[str, dict[str, Any]]:
    """Column -> MetricSummary: all metrics of a single run, or the rank metric of each of several."""
    parts = (summary or {}).get("parts") or []
    if len(parts) == 1:
        held = _metrics_of(parts[0])
        # ranks are made of means over episodes
        pooled = {name: one for name, one in parts[0].get("pooled", {}).items() if name != phase.rank_by}
        return {**held, **pooled}
    found = {}
    for part, one in zip(phase.parts, parts):
        ranked = _metrics_of(one).get(phase.rank_metric)
        if ranked is not None:
            name = ", ".join(filter(None, (part.dataset, " + ".join(part.corruptions)))) or "clean"
            found[name] = {**ranked, "title": name}
    return found


def _metrics_of(part: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Name -> MetricSummary of a run, those over tours included."""
    return {**((part.get("tours") or {}).get("metrics") or {}), **part["metrics"]}


def sort_places(phase: Phase, places: tuple[Place, ...], sort: str) -> list[Place]:
    """`places` by `sort` (see view_board); those without a value come last, equal ones keep their order."""
    name, turned = sort.removeprefix("-"), sort.startswith("-")
    if name == "rank":
        return list(places)[::-1] if turned else list(places)
    greatest_first = PLAIN_ORDERS.get(name, True)
    if name not in PLAIN_ORDERS:
        metric = phase.rank_metric if name == phase.rank_by else name
        try:
            greatest_first = get_metric(metric).better != "lower"
        except InputError:  # the name of a part, by the rank metric
            greatest_first = get_metric(phase.rank_metric).better != "lower"
    keyed = [(_sort_key(phase, place, name), place) for place in places]
    known = [one for one in keyed if one[0] is not None]
    known.sort(key=lambda one: one[0], reverse=greatest_first != turned)
    return [place for _, place in known] + [place for key, place in keyed if key is None]


def _sort_key(phase: Phase, place: Place, name: str) -> Any:
    entry = place.entry
    if name in ("team", "method", "track"):
        return str(getattr(entry, name)).casefold()
    if name == "date":
        return entry.created
    if name == "tries":
        return place.tries
    if name == "trained_with":
        return ", ".join(entry.facts[name]).casefold() or None
    if name in ("training_data", "hardware"):
        return entry.facts[name].casefold() or None
    if name in PLAIN_ORDERS:
        return entry.facts[name]
    if name == phase.rank_by:
        return entry.facts["rank_mean"]
    held = _summaries(phase, entry.facts["summary"]).get(name)
    return None if held is None else held["mean"]


def view_place(phase: Phase, place: Place, names: list[str]) -> dict[str, Any]:
    """One row of a leaderboard."""
    entry, facts = place.entry, place.entry.facts
    held = _summaries(phase, facts["summary"])
    metrics = {name: view_metric(phase, name, held[name]) for name in names if name in held}
    metric = get_metric(phase.rank_metric)
    if phase.rank_by not in metrics:
        low, high = facts["rank_low"], facts["rank_high"]
        size = int(entry.scores.values.size)
        ranked = MetricSummary(
            title=metric.title, unit=metric.unit, better=metric.better, mean=facts["rank_mean"], low=low,
            high=high, n=size, infinite=0, method="none",
        )  # fmt: skip
        metrics = {phase.rank_by: view_metric(phase, phase.rank_by, msgspec.to_builtins(ranked)), **metrics}
    return {
        "rank": place.rank,
        "tied": place.tied,
        "tries": place.tries,
        "submission": entry.submission,
        "team": entry.team,
        "method": entry.method,
        "track": entry.track,
        "kind": entry.kind,
        "created": entry.created,
        "metrics": metrics,
        **{name: facts[name] for name in ABOUT},
    }


ABOUT = (
    "link", "code_link", "hardware", "model_size", "training_frames", "demonstrations", "training_data",
    "trained_with", "agent", "declared_inputs", "seconds_per_step", "finished",
)  # fmt: skip
"""What a team says of a submission, and how fast it was."""


def view_metric(phase: Phase, name: str, held: dict[str, Any]) -> dict[str, Any]:
    """A MetricSummary with its numbers as text, too."""
    summary = msgspec.convert(held, MetricSummary)
    try:
        metric = get_metric(name)
    except InputError:  # a part, or the mean over unseen corruptions
        metric = get_metric(phase.rank_metric)
    mean = summary.mean if summary.mean is not None else (float("inf") if summary.infinite else None)
    interval = format_interval(metric, summary)
    return {
        **held,
        "text": format_value(metric, mean),
        "interval": "" if interval == NO_VALUE else interval,
        "count": format_count(summary),
    }


def view_history(
    session: Session,
    challenge: Challenge,
    boards: Boards,
    visitor: Visitor,
    phase: Phase,
    track: str | None = None,
) -> dict[str, Any]:
    """Ranks of the leading entries by day."""
    row = find_phase_row(session, challenge, phase)
    head = {
        "challenge": {"name": challenge.name, "slug": challenge.slug},
        "phase": view_phase(challenge, phase, row),
        "track": track,
    }
    if not may_see_scores(challenge, visitor, row):
        return {**head, "visible": False, "days": [], "lines": []}
    days, traced = boards.history(phase, track)
    entries = {one.submission: one for one in boards.snapshot(phase).entries}
    lines = [
        {
            "submission": name,
            "section": entries[name].section,
            "team": entries[name].team,
            "method": entries[name].method,
            "ranks": list(ranks),
        }
        for name, ranks in traced.items()
    ]
    return {**head, "visible": True, "days": list(days), "lines": lines}


def read_summaries(summary: dict[str, Any] | None) -> list[Summary]:
    """The summaries of a submission's parts."""
    return [msgspec.convert(part, Summary) for part in (summary or {}).get("parts") or []]


def _ms(moment: Any) -> int | None:
    return None if moment is None else round(moment.timestamp() * 1000)
