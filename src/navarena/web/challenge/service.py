"""A challenge that is served: its file, its database, and the rows that both share."""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from sqlalchemy import exists, select
from sqlalchemy.orm import Session

from navarena.core.errors import InputError
from navarena.web.challenge.settings import Challenge, hash_rules, hash_settings
from navarena.web.challenge.storage.engine import Storage, now_ms, open_storage, sqlite_address
from navarena.web.challenge.storage.models import ChallengeRow, PhaseRow, Submission

SignUp = Literal["open", "invitation", "administrator"]
"""Who may make an account: anybody, whoever has an invitation, or administrators alone."""


@dataclass(frozen=True)
class Service:
    """Shared services of the server.

    Attributes:
        challenge: from its file.
        storage: database.
        sign_up: see SignUp.
    """

    challenge: Challenge
    storage: Storage
    sign_up: SignUp = "open"


def default_database(challenge_file: Path) -> str:
    """The address of the SQLite file beside a challenge file."""
    return sqlite_address(challenge_file.with_suffix(".sqlite"))


def open_service(challenge: Challenge, database: str, sign_up: SignUp = "open") -> Service:
    """The service of a challenge, its database brought to this version and its phases written down.

    Args:
        challenge: from its file.
        database: address; see Storage.
        sign_up: who may make an account.

    Raises InputError for a phase whose rules were changed after submissions, and as open_storage does.
    """
    storage = open_storage(database)
    with storage.write() as session:
        _register(session, challenge)
    return Service(challenge, storage, sign_up)


def _register(session: Session, challenge: Challenge) -> None:
    """Write the challenge and its phases down; phases that have left the file stay with their submissions."""
    row = session.scalars(select(ChallengeRow).where(ChallengeRow.slug == challenge.slug)).first()
    if row is None:
        row = ChallengeRow(slug=challenge.slug, content_hash="")
        session.add(row)
    row.content_hash = hash_settings(challenge)
    known = {phase.slug: phase for phase in row.phases}
    for phase in challenge.phases:
        rules, held = hash_rules(phase), known.get(phase.name)
        if held is None:
            row.phases.append(PhaseRow(slug=phase.name, content_hash=rules))
            continue
        used = session.scalar(select(exists().where(Submission.phase_id == held.id)))
        if held.content_hash not in (rules, hash_rules(phase, with_ranks=False)) and used:
            raise InputError(
                f"expected the phase {phase.name!r} to be scored as its submissions were, got another "
                "protocol, other episodes, other corruptions or another rank_by; give the changed phase "
                "another name"
            )
        held.content_hash = rules


def is_shown(challenge: Challenge, row: PhaseRow) -> bool:
    """Whether others than hosts may see the scores of a phase now."""
    phase = challenge.phase(row.slug)
    if phase.board == "public" or row.revealed is not None:
        return True
    return phase.reveals is not None and now_ms() >= phase.reveals.timestamp() * 1000


def hidden_phases(session: Session, challenge: Challenge) -> set[int]:
    """The ids of the phases whose scores only hosts may see now; those that left the file are among them."""
    listed = {phase.name for phase in challenge.phases}
    rows = session.scalars(select(PhaseRow))
    return {row.id for row in rows if row.slug not in listed or not is_shown(challenge, row)}
