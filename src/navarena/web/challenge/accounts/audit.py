"""The audit log: every change, with who made it."""

from typing import Any

from sqlalchemy import desc, select, update
from sqlalchemy.orm import Session

from navarena.web.challenge.storage.engine import now_ms
from navarena.web.challenge.storage.models import AuditEntry

SERVER = "(server)"
"""The actor of what nobody asked for; no name of an account has brackets."""

DELETED = "(deleted account)"


def record_change(session: Session, actor: str, action: str, subject: str, **detail: Any) -> None:
    """Write down that `actor` did `action`, such as "team.create", to `subject`, in the same transaction."""
    session.add(AuditEntry(when=now_ms(), actor=actor, action=action, subject=subject, detail=detail))


def read_changes(session: Session, limit: int = 200, actor: str | None = None) -> list[AuditEntry]:
    """The last `limit` entries, newest first; of one actor where one is named."""
    query = select(AuditEntry).order_by(desc(AuditEntry.id)).limit(limit)
    if actor is not None:
        query = query.where(AuditEntry.actor == actor)
    return list(session.scalars(query))


def forget_actor(session: Session, name: str) -> None:
    """Remove the name of a deleted account from the log; its entries stay."""
    session.execute(update(AuditEntry).where(AuditEntry.actor == name).values(actor=DELETED))
    session.execute(update(AuditEntry).where(AuditEntry.subject == name).values(subject=DELETED))
