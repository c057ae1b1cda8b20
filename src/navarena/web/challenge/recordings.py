"""Recordings of a submission's episodes for its pages: failure classes, drawings and videos.

Recordings are made of episodes that everybody has, never of hidden ones. Each is a job of its own, and there
are bounds to all: to the episodes that are executed again, to what a team may ask for, and to what is kept.
"""

import msgspec
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from navarena.metrics.failures import FailureClass
from navarena.web.challenge.refusals import Refusal
from navarena.web.challenge.settings import Phase
from navarena.web.challenge.storage.engine import now_ms
from navarena.web.challenge.storage.jobs import RECORDING
from navarena.web.challenge.storage.models import Job, Recording, Submission

OVERVIEW = -1
"""Position of the recording that shows a whole part."""

MAX_SHOWN = 20
"""Episodes of a submission that can be shown with a video."""

MAX_WAITING = 3
"""Of them that may wait for a worker."""

WITH_ACTIONS = ("log", "live")
"""Kinds of submissions whose actions are stored."""

TOO_MANY = 429


class Drawn(msgspec.Struct, frozen=True):
    """A drawn episode.

    Attributes:
        position: of the episode in its part.
        episode_id, scene_id: of the episode.
        status: "success", "failure", or the error of the agent.
        facts: (name, value) in words.
        drawing: inline SVG, from above.
    """

    position: int
    episode_id: str
    scene_id: str
    status: str
    facts: list[tuple[str, str]]
    drawing: str


class Section(msgspec.Struct, frozen=True):
    """Drawn episodes of one kind, under a `title`."""

    title: str
    episodes: list[Drawn]


class Overview(msgspec.Struct, frozen=True):
    """A part of a submission.

    Attributes:
        failed: episodes without success.
        examined: of them, those that were executed again to find out why.
        classes: episode id -> why it failed, of the examined ones.
        sections: trajectories of chosen episodes.
    """

    failed: int
    examined: int
    classes: dict[str, FailureClass]
    sections: list[Section]


def can_be_shown(submission: Submission, phase: Phase) -> bool:
    """Whether recordings can be made: the server has the actions, and the episodes are public."""
    return submission.kind in WITH_ACTIONS and not phase.is_hidden


def ask_overviews(session: Session, submission: Submission, phase: Phase) -> None:
    """Let workers make the overview of each part of a submission, within a writing session."""
    if can_be_shown(submission, phase):
        for part in range(len(phase.parts)):
            _ask(session, submission, part, OVERVIEW)


def ask_recording(session: Session, submission: Submission, part: int, position: int) -> None:
    """Let a worker make a recording, within a writing session; nothing happens while there is one.

    Args:
        session: a writing one.
        submission: that is verified.
        part: of its episodes.
        position: of an episode, or OVERVIEW.

    Raises a Refusal (429) for more episodes than MAX_SHOWN or MAX_WAITING.
    """
    session.get_one(Submission, submission.id, with_for_update=True)
    held = session.get(Recording, (submission.id, part, position))
    if held is not None and held.state != "failed":
        return
    episodes = select(func.count()).where(
        Recording.submission_id == submission.id, Recording.position != OVERVIEW
    )
    if held is None and position != OVERVIEW and (session.scalar(episodes) or 0) >= MAX_SHOWN:
        raise Refusal(
            "enough_episodes", f"expected at most {MAX_SHOWN} shown episodes of a submission", TOO_MANY
        )
    if (session.scalar(episodes.where(Recording.state == "wanted")) or 0) >= MAX_WAITING:
        raise Refusal("too_many_waiting", f"{MAX_WAITING} episodes wait for a worker; come back", TOO_MANY)
    _ask(session, submission, part, position)


def _ask(session: Session, submission: Submission, part: int, position: int) -> None:
    job = Job(kind=RECORDING, submission_id=submission.id, created=now_ms())
    session.add(job)
    session.flush()
    wanted = Recording(
        submission_id=submission.id, part=part, position=position, job_id=job.id, state="wanted", error=""
    )
    session.merge(wanted)


def find_recordings(session: Session, submission_id: int) -> dict[tuple[int, int], Recording]:
    """(part, position) -> recording of a submission, without its data."""
    query = select(Recording).where(Recording.submission_id == submission_id)
    return {(one.part, one.position): one for one in session.scalars(query)}


def read_overview(recording: Recording) -> Overview | None:
    """The overview of a part, within the session of `recording`; None until it is made."""
    return None if recording.data is None else msgspec.json.decode(recording.data, type=Overview)


def read_drawn(recording: Recording) -> Drawn | None:
    """The drawing of an episode, within the session of `recording`; None until it is made."""
    return None if recording.data is None else msgspec.json.decode(recording.data, type=Drawn)
