"""Operations of hosts: close and publish phases, disqualify submissions, run them again."""

from sqlalchemy import select
from sqlalchemy.orm import Session

from navarena.web.challenge.accounts.audit import record_change
from navarena.web.challenge.refusals import Refusal, not_found
from navarena.web.challenge.settings import Challenge, Phase
from navarena.web.challenge.storage.engine import now_ms
from navarena.web.challenge.storage.jobs import start_again
from navarena.web.challenge.storage.models import PhaseRow, Submission, UploadChunk, User

LONGEST_REASON = 500


def set_frozen(session: Session, row: PhaseRow, frozen: bool, host: User) -> None:
    """Stop the submissions of a phase, or take them again."""
    row.frozen = frozen
    record_change(session, host.name, "phase.freeze" if frozen else "phase.unfreeze", row.slug)


def set_revealed(session: Session, row: PhaseRow, revealed: bool, host: User) -> None:
    """Show a hidden board, or hide it again."""
    row.revealed = now_ms() if revealed else None
    record_change(session, host.name, "phase.reveal" if revealed else "phase.hide", row.slug)


def lock_submission(session: Session, challenge: Challenge, public_id: str) -> Submission:
    """The submission with this id, its row locked; raises a Refusal (404) for none."""
    query = select(Submission).where(Submission.public_id == public_id).with_for_update()
    found = session.scalar(query)
    if found is None or found.phase.challenge.slug != challenge.slug:
        raise not_found("submission")
    return found


def disqualify(session: Session, submission: Submission, reason: str, host: User) -> None:
    """Disqualify a verified submission; raises a Refusal without a reason, or for other states."""
    reason = " ".join(reason.split())
    if not 1 <= len(reason) <= LONGEST_REASON:
        raise Refusal(
            "no_reason", f"expected a reason of 1 to {LONGEST_REASON} characters, got {len(reason)}"
        )
    _require_state(submission, "verified")
    submission.state, submission.error_code, submission.error_text = "disqualified", "disqualified", reason
    record_change(session, host.name, "submission.disqualify", submission.public_id, reason=reason)


def reinstate(session: Session, submission: Submission, host: User) -> None:
    """Put a disqualified submission back into the ranks."""
    _require_state(submission, "disqualified")
    submission.state, submission.error_code, submission.error_text = "verified", None, None
    record_change(session, host.name, "submission.reinstate", submission.public_id)


def run_again(session: Session, submission: Submission, phase: Phase, host: User) -> None:
    """Queue a submission for execution again; scores and recordings are deleted, its quota stays used.

    Raises a Refusal for one that is not at its end, for live ones (the agent is its team's), and for logs
    whose upload is gone.
    """
    _require_state(submission, "verified", "refused", "failed", "disqualified")
    if submission.kind == "live":
        raise Refusal("live_run", "a live run cannot be repeated without its agent; ask the team for another")
    if session.scalar(select(UploadChunk.position).where(UploadChunk.submission_id == submission.id)) is None:
        raise Refusal("upload_gone", "what the team has sent is not here any more; ask it for another", 409)
    start_again(session, submission)
    record_change(session, host.name, "submission.rerun", submission.public_id, phase=phase.name)


def _require_state(submission: Submission, *states: str) -> None:
    if submission.state not in states:
        raise Refusal(
            "wrong_state", f"expected a submission that is {' or '.join(states)}, got {submission.state}", 409
        )
