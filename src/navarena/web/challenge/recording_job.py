"""Making of recordings by a worker: actions are executed again, and drawn; see recordings."""

import tempfile
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import msgspec
import numpy as np
from sqlalchemy import select, update
from sqlalchemy.orm import Session

from navarena.core.errors import InputError, MissingExtraError
from navarena.core.seeding import make_generator
from navarena.evaluation.analyses.failures import classify_rows
from navarena.evaluation.benchmark import Benchmark
from navarena.evaluation.records.journal import Row, sort_rows
from navarena.metrics.catalog import leading_metrics
from navarena.reports.gallery import Card, Sections, choose_by_class, choose_episodes, draw_cards
from navarena.reports.topdown import open_plans
from navarena.reports.videos import VideoSettings, make_video
from navarena.web.challenge.recordings import OVERVIEW, Drawn, Overview, Section, can_be_shown
from navarena.web.challenge.service import Service
from navarena.web.challenge.storage.engine import now_ms
from navarena.web.challenge.storage.jobs import Lease, end_job
from navarena.web.challenge.storage.models import PhaseRow, Recording, ScoreRow, Submission
from navarena.web.challenge.verification import open_parts

MAX_STEPS = 50_000
"""Of failed episodes of a submission that are executed again for their reasons."""

MAX_DRAWN = 18
"""Trajectories on a submission's page, of all its parts; one of each part at least."""

MAX_FACTS = 6
"""Numbers beside a drawing; the page of the episode has all."""

MAX_FRAMES = 6_000
MAX_BYTES = 16 << 20
"""Of a video."""

MAX_VIDEOS = 2_000
"""That the database keeps; older ones are dropped, and can be asked for again."""


def run_recording_job(service: Service, lease: Lease) -> None:
    """Make the recording of a job.

    Raises LeaseLostError when another worker has taken over, InputError for one of hidden episodes, and
    whatever keeps episodes from being executed again.
    """
    storage = service.storage
    with storage.read() as session:
        recording = session.scalars(select(Recording).where(Recording.job_id == lease.job_id)).one()
        submission = session.get_one(Submission, lease.submission_id)
        phase = service.challenge.phase(session.get_one(PhaseRow, submission.phase_id).slug)
        part, position = recording.part, recording.position
        rows = _read_rows(session, submission.id, part, position)
    if not can_be_shown(submission, phase):
        raise InputError(f"expected actions in episodes that everybody has, got those of {phase.name!r}")
    benchmark = open_parts(phase)[part]
    made: Overview | Drawn
    video, error = None, ""
    if position == OVERVIEW:
        made = make_overview(benchmark, rows, len(phase.parts))
    else:
        made, video, error = make_shown(benchmark, rows[0])
    held = {
        "state": "made",
        "error": error,
        "made": now_ms(),
        "data": msgspec.json.encode(made),
        "video": video,
    }
    with storage.write() as session:
        end_job(session, lease)
        session.execute(update(Recording).where(Recording.job_id == lease.job_id).values(**held))
        if video is not None:
            _drop_old_videos(session)


def _read_rows(session: Session, submission_id: int, part: int, position: int) -> list[Row]:
    """The rows of a part, or that of one episode."""
    query = select(ScoreRow.row).where(ScoreRow.submission_id == submission_id, ScoreRow.part == part)
    if position != OVERVIEW:
        query = query.where(ScoreRow.position == position)
    return sort_rows([msgspec.json.decode(line, type=Row) for line in session.scalars(query)])


def _drop_old_videos(session: Session) -> None:
    """Forget the episodes with the oldest videos, of those beyond MAX_VIDEOS."""
    query = select(Recording).where(Recording.position != OVERVIEW, Recording.made.is_not(None))
    for old in session.scalars(query.order_by(Recording.made.desc()).offset(MAX_VIDEOS)):
        session.delete(old)


def make_overview(benchmark: Benchmark, rows: Sequence[Row], parts: int = 1) -> Overview:
    """Reasons of failures and trajectories of a part.

    Args:
        benchmark: of the part.
        rows: all of them.
        parts: of the submission, which share MAX_STEPS and MAX_DRAWN.

    Raises CheckFailedError for actions that no longer run, and FileError for missing scenes.
    """
    failed = [row for row in rows if row.metrics.get("success", 1.0) != 1.0]
    examined = choose_examined(failed, MAX_STEPS // parts)
    classes = classify_rows(benchmark, examined)
    leading = leading_metrics(benchmark.metrics)
    sections = choose_episodes(rows, leading[0], leading[-1])
    if classes:
        successes = {title: chosen for title, chosen in sections.items() if "success" in title}
        sections = choose_by_class(rows, classes) | successes
    chosen = limit_sections(sections, max(1, MAX_DRAWN // parts))
    cards = draw_cards(benchmark, cache(open_plans(benchmark)), chosen)
    places = {one.episode_id: position for position, one in enumerate(benchmark.episodes)}
    drawn = [
        Section(title, [_describe(one, places[one.episode_id]) for one in found])
        for title, found in cards.items()
    ]
    return Overview(len(failed), len(examined), classes, drawn)


def choose_examined(rows: Sequence[Row], steps: int) -> list[Row]:
    """A random subset of `rows` with at most `steps` actions in all, drawn by the run's identity."""
    if not rows:
        return []
    order = make_generator("recordings", rows[0].identity).permutation(len(rows))
    taken = np.cumsum([len(rows[place].actions) for place in order]) <= steps
    return [rows[place] for place in sorted(order[taken])]


def limit_sections(sections: Sections, count: int) -> Sections:
    """The first `count` rows of `sections`, which take turns."""
    kept: Sections = {title: [] for title in sections}
    longest = max(map(len, sections.values()), default=0)
    turns = [(title, rows[k]) for k in range(longest) for title, rows in sections.items() if k < len(rows)]
    for title, row in turns[:count]:
        kept[title].append(row)
    return {title: rows for title, rows in kept.items() if rows}


def make_shown(benchmark: Benchmark, row: Row) -> tuple[Drawn, bytes | None, str]:
    """The drawing of an episode, its video as an MP4, and the reason if there is no video.

    Raises as make_overview.
    """
    places = {one.episode_id: position for position, one in enumerate(benchmark.episodes)}
    plans = cache(open_plans(benchmark))
    (card,) = draw_cards(benchmark, plans, {"": [row]})[""]
    drawn = _describe(card, places[row.episode_id])
    if len(row.actions) > MAX_FRAMES:
        return drawn, None, f"no video: expected at most {MAX_FRAMES} actions, got {len(row.actions)}"
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "episode.mp4"
        episode = benchmark.episodes[places[row.episode_id]]
        try:
            make_video(path, benchmark, plans(row.scene_id), row, episode, VideoSettings())
        except MissingExtraError:
            return drawn, None, "no video: its worker lacks the extra video of navarena; tell a host"
        size = path.stat().st_size
        if size > MAX_BYTES:
            return drawn, None, f"no video: expected at most {MAX_BYTES >> 20} MiB, got {size >> 20}"
        return drawn, path.read_bytes(), ""


def _describe(card: Card, position: int) -> Drawn:
    facts = list(card.facts[:MAX_FACTS])
    return Drawn(position, card.episode_id, card.scene_id, card.status, facts, str(card.drawing))
