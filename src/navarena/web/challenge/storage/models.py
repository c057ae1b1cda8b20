"""The tables of a challenge server.

Times are milliseconds since 1970, UTC. `id` counts within a table and stays inside the server; what people
see in addresses is a name, or a `public_id` that nobody can guess.
"""

from typing import Any, Literal

from sqlalchemy import (
    JSON,
    BigInteger,
    Boolean,
    Float,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Text,
    UniqueConstraint,
)
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column, relationship

Role = Literal["participant", "host", "administrator"]
"""What somebody may do: submit; also hold phases; also everything."""

State = Literal["received", "queued", "running", "verified", "refused", "failed", "disqualified"]
"""Of a submission: written down, waiting for a worker, being executed, counted, found wrong, ended by a fault
of the server (it takes nothing from the quota), taken out by a host."""

JobState = Literal["queued", "leased", "done", "failed"]
"""Of a job: waiting, in the hands of a worker until its lease ends, and the two ends."""

RecordingState = Literal["wanted", "made", "failed"]
"""Of a recording: waiting for its job, there to be seen, and not to be made."""


class Base(DeclarativeBase):
    """Base of every table; constraints have names, so that migrations can change them."""

    metadata = MetaData(
        naming_convention={
            "ix": "ix_%(table_name)s_%(column_0_N_name)s",
            "uq": "uq_%(table_name)s_%(column_0_N_name)s",
            "fk": "fk_%(table_name)s_%(column_0_N_name)s_%(referred_table_name)s",
            "pk": "pk_%(table_name)s",
        }
    )
    type_annotation_map = {dict[str, Any]: JSON, list[str]: JSON}


class User(Base):
    """Somebody with a password.

    Attributes:
        name: unique.
        password_hash: by argon2.
        role: see Role.
        created: when.
        disabled: whether nothing is allowed any more.
    """

    __tablename__ = "users"

    id: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str] = mapped_column(String(64), unique=True)
    password_hash: Mapped[str] = mapped_column(Text)
    role: Mapped[Role] = mapped_column(String(16), default="participant")
    created: Mapped[int] = mapped_column(BigInteger)
    disabled: Mapped[bool] = mapped_column(Boolean, default=False)
    memberships: Mapped[list["Membership"]] = relationship(
        back_populates="user", cascade="all, delete-orphan"
    )


class Token(Base):
    """A token of a user for the command line; only its hash is known here.

    Attributes:
        hash: hexadecimal SHA-256 of the token.
        label: given by the user.
        created, revoked: when; None while it is valid.
    """

    __tablename__ = "tokens"

    id: Mapped[int] = mapped_column(primary_key=True)
    user_id: Mapped[int] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"), index=True)
    hash: Mapped[str] = mapped_column(String(64), unique=True)
    label: Mapped[str] = mapped_column(String(100), default="")
    created: Mapped[int] = mapped_column(BigInteger)
    revoked: Mapped[int | None] = mapped_column(BigInteger)
    user: Mapped[User] = relationship()


class BrowserSession(Base):
    """A browser in which a user has signed in.

    Attributes:
        hash: hexadecimal SHA-256 of the cookie.
        csrf: secret that forms send back.
        expires: when.
    """

    __tablename__ = "sessions"

    id: Mapped[int] = mapped_column(primary_key=True)
    hash: Mapped[str] = mapped_column(String(64), unique=True)
    user_id: Mapped[int] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"), index=True)
    csrf: Mapped[str] = mapped_column(String(64))
    expires: Mapped[int] = mapped_column(BigInteger)
    user: Mapped[User] = relationship()


class Team(Base):
    """A team, which submits and has quotas."""

    __tablename__ = "teams"

    id: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str] = mapped_column(String(64), unique=True)
    created: Mapped[int] = mapped_column(BigInteger)
    memberships: Mapped[list["Membership"]] = relationship(
        back_populates="team", cascade="all, delete-orphan"
    )


class Membership(Base):
    """A user in a team; owners add and remove others."""

    __tablename__ = "memberships"

    team_id: Mapped[int] = mapped_column(ForeignKey("teams.id", ondelete="CASCADE"), primary_key=True)
    user_id: Mapped[int] = mapped_column(
        ForeignKey("users.id", ondelete="CASCADE"), primary_key=True, index=True
    )
    is_owner: Mapped[bool] = mapped_column(Boolean, default=False)
    team: Mapped[Team] = relationship(back_populates="memberships")
    user: Mapped[User] = relationship(back_populates="memberships")


class Invitation(Base):
    """A code with which somebody may sign up.

    Attributes:
        hash: hexadecimal SHA-256 of the code.
        role: of who uses it.
        team_id: which the user joins; None for none.
        created, used: when; None while it is open.
    """

    __tablename__ = "invitations"

    id: Mapped[int] = mapped_column(primary_key=True)
    hash: Mapped[str] = mapped_column(String(64), unique=True)
    role: Mapped[Role] = mapped_column(String(16), default="participant")
    team_id: Mapped[int | None] = mapped_column(ForeignKey("teams.id", ondelete="CASCADE"), index=True)
    created: Mapped[int] = mapped_column(BigInteger)
    used: Mapped[int | None] = mapped_column(BigInteger)


class AuditEntry(Base):
    """One change: actor, action and object. Names are copied, so that entries outlive their subjects."""

    __tablename__ = "audit"

    id: Mapped[int] = mapped_column(primary_key=True)
    when: Mapped[int] = mapped_column(BigInteger, index=True)
    actor: Mapped[str] = mapped_column(String(64))
    action: Mapped[str] = mapped_column(String(64))
    subject: Mapped[str] = mapped_column(String(200))
    detail: Mapped[dict[str, Any]] = mapped_column(default=dict)


class ChallengeRow(Base):
    """A challenge that was served from this database.

    Attributes:
        slug: unique.
        content_hash: of the file, as settings.hash_settings gives it.
    """

    __tablename__ = "challenges"

    id: Mapped[int] = mapped_column(primary_key=True)
    slug: Mapped[str] = mapped_column(String(64), unique=True)
    content_hash: Mapped[str] = mapped_column(String(64))
    phases: Mapped[list["PhaseRow"]] = relationship(back_populates="challenge")


class PhaseRow(Base):
    """A phase of a challenge, as far as hosts change it.

    Attributes:
        slug: its name in the file.
        content_hash: of what decides about scores, as settings.hash_rules gives it; fixed once there is a
            submission.
        frozen: whether a host has stopped submissions.
        revealed: when a host showed a hidden board; None where none did.
    """

    __tablename__ = "phases"
    __table_args__ = (UniqueConstraint("challenge_id", "slug"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    challenge_id: Mapped[int] = mapped_column(ForeignKey("challenges.id"))
    slug: Mapped[str] = mapped_column(String(64))
    content_hash: Mapped[str] = mapped_column(String(64))
    frozen: Mapped[bool] = mapped_column(Boolean, default=False)
    revealed: Mapped[int | None] = mapped_column(BigInteger)
    challenge: Mapped[ChallengeRow] = relationship(back_populates="phases")


class Submission(Base):
    """One entry of a team.

    Attributes:
        public_id: in addresses.
        track: its name in the file.
        user_id: who sent it; None once that account is deleted.
        kind: "log", "live" or "trajectory" (settings.Kind).
        state: see State.
        method, link, code_link, hardware, model_size, training_frames, demonstrations, training_data,
            trained_with: as the team says; empty or None where it does not.
        agent: name of the agent, as the run or the client says.
        privileged, declared_inputs: whether the agent looks behind its observations, and at what, as it says.
        content_hash: of the episodes and actions of a log, or of the trajectories of a results file; None for
            live runs. What has the same counts once in a phase.
        episodes: how many there are.
        created, started, finished: when; None for not yet.
        error_code, error_text: why it was refused, failed or disqualified.
        summary: the server's numbers: {"parts": [Summary, ...]} in the order of Phase.parts.
        rank_mean, rank_low, rank_high: of the phase's rank_by; None without one.
        rank_values: float64 bytes, the rank metric of every episode by part and position; NaN for infinite.
        seconds_per_step, wall_clock: of a live agent, seconds.
    """

    __tablename__ = "submissions"
    __table_args__ = (
        UniqueConstraint("phase_id", "content_hash"),
        Index("ix_submissions_quota", "phase_id", "team_id", "created"),
        Index("ix_submissions_board", "phase_id", "state", "finished", "id"),
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    public_id: Mapped[str] = mapped_column(String(32), unique=True)
    phase_id: Mapped[int] = mapped_column(ForeignKey("phases.id"))
    track: Mapped[str] = mapped_column(String(64))
    team_id: Mapped[int] = mapped_column(ForeignKey("teams.id"), index=True)
    user_id: Mapped[int | None] = mapped_column(ForeignKey("users.id", ondelete="SET NULL"), index=True)
    kind: Mapped[str] = mapped_column(String(16))
    state: Mapped[State] = mapped_column(String(16), default="received")
    method: Mapped[str] = mapped_column(String(200), default="")
    link: Mapped[str] = mapped_column(String(500), default="")
    code_link: Mapped[str] = mapped_column(String(500), default="")
    hardware: Mapped[str] = mapped_column(String(200), default="")
    model_size: Mapped[int | None] = mapped_column(BigInteger)
    training_frames: Mapped[int | None] = mapped_column(BigInteger)
    demonstrations: Mapped[int | None] = mapped_column(BigInteger)
    training_data: Mapped[str] = mapped_column(String(200), default="")
    trained_with: Mapped[list[str]] = mapped_column(default=list)
    agent: Mapped[str] = mapped_column(String(200), default="")
    privileged: Mapped[bool] = mapped_column(Boolean, default=False)
    declared_inputs: Mapped[list[str]] = mapped_column(default=list)
    content_hash: Mapped[str | None] = mapped_column(String(64))
    episodes: Mapped[int] = mapped_column(Integer, default=0)
    created: Mapped[int] = mapped_column(BigInteger)
    started: Mapped[int | None] = mapped_column(BigInteger)
    finished: Mapped[int | None] = mapped_column(BigInteger)
    error_code: Mapped[str | None] = mapped_column(String(64))
    error_text: Mapped[str | None] = mapped_column(Text)
    summary: Mapped[dict[str, Any] | None] = mapped_column(JSON)
    rank_mean: Mapped[float | None] = mapped_column(Float)
    rank_low: Mapped[float | None] = mapped_column(Float)
    rank_high: Mapped[float | None] = mapped_column(Float)
    rank_values: Mapped[bytes | None] = mapped_column(LargeBinary, deferred=True)
    seconds_per_step: Mapped[float | None] = mapped_column(Float)
    wall_clock: Mapped[float | None] = mapped_column(Float)
    phase: Mapped[PhaseRow] = relationship()
    team: Mapped[Team] = relationship()
    user: Mapped[User | None] = relationship()


class UploadChunk(Base):
    """A chunk of an upload, kept so that a host can have it executed again."""

    __tablename__ = "upload_chunks"

    submission_id: Mapped[int] = mapped_column(
        ForeignKey("submissions.id", ondelete="CASCADE"), primary_key=True
    )
    position: Mapped[int] = mapped_column(Integer, primary_key=True)
    data: Mapped[bytes] = mapped_column(LargeBinary)


class ScoreRow(Base):
    """A finished episode of a submission, as the server has executed it.

    Attributes:
        part: index into Phase.parts.
        position: of the episode in the part.
        metrics: name -> value; None is infinite.
        row: JSON of the journal's row (evaluation.Row), with its actions.
        seconds: that a live agent took; None for logs.
    """

    __tablename__ = "scores"

    submission_id: Mapped[int] = mapped_column(
        ForeignKey("submissions.id", ondelete="CASCADE"), primary_key=True
    )
    part: Mapped[int] = mapped_column(Integer, primary_key=True)
    position: Mapped[int] = mapped_column(Integer, primary_key=True)
    metrics: Mapped[dict[str, Any]] = mapped_column()
    row: Mapped[str] = mapped_column(Text, deferred=True)
    seconds: Mapped[float | None] = mapped_column(Float)


class Job(Base):
    """Work for `navarena serve-worker`.

    Attributes:
        kind: that of the submission, or "recording", which leaves the state of its submission as it is.
        state: see JobState.
        lease_until: when the worker's hold ends unless it says that it is alive; None without one.
        worker: its name.
        attempts: workers that have begun it.
        created: when.
    """

    __tablename__ = "jobs"
    __table_args__ = (Index("ix_jobs_queue", "state", "kind", "id"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    kind: Mapped[str] = mapped_column(String(16))
    submission_id: Mapped[int] = mapped_column(ForeignKey("submissions.id", ondelete="CASCADE"), index=True)
    state: Mapped[JobState] = mapped_column(String(16), default="queued")
    lease_until: Mapped[int | None] = mapped_column(BigInteger)
    worker: Mapped[str] = mapped_column(String(100), default="")
    attempts: Mapped[int] = mapped_column(Integer, default=0)
    created: Mapped[int] = mapped_column(BigInteger)
    submission: Mapped[Submission] = relationship()


class LiveStream(Base):
    """The connection of a live submission, as far as it must survive the server.

    Attributes:
        token_hash: hexadecimal SHA-256 of what the client shows to come back.
        position: of the last message that was sent.
        acknowledged: of the last one that the client has answered.
        held: what else is needed to go on.
        updated: when.
    """

    __tablename__ = "live_streams"

    submission_id: Mapped[int] = mapped_column(
        ForeignKey("submissions.id", ondelete="CASCADE"), primary_key=True
    )
    token_hash: Mapped[str] = mapped_column(String(64))
    position: Mapped[int] = mapped_column(BigInteger, default=0)
    acknowledged: Mapped[int] = mapped_column(BigInteger, default=0)
    held: Mapped[dict[str, Any]] = mapped_column(default=dict)
    updated: Mapped[int] = mapped_column(BigInteger)


class Recording(Base):
    """A recording of a submission's episodes for its pages; see challenge.recordings.

    Attributes:
        part: index into Phase.parts.
        position: of the episode in the part; -1 for the overview of the part.
        job_id: that makes it; None once that is gone.
        state: see RecordingState.
        error: what could not be made, and why.
        made: when; None for not yet.
        data: JSON of recordings.Overview or recordings.Drawn; None until it is made.
        video: an MP4; None without one.
    """

    __tablename__ = "recordings"

    submission_id: Mapped[int] = mapped_column(
        ForeignKey("submissions.id", ondelete="CASCADE"), primary_key=True
    )
    part: Mapped[int] = mapped_column(Integer, primary_key=True)
    position: Mapped[int] = mapped_column(Integer, primary_key=True)
    job_id: Mapped[int | None] = mapped_column(ForeignKey("jobs.id", ondelete="SET NULL"), index=True)
    state: Mapped[RecordingState] = mapped_column(String(16), default="wanted")
    error: Mapped[str] = mapped_column(Text, default="")
    made: Mapped[int | None] = mapped_column(BigInteger, index=True)
    data: Mapped[bytes | None] = mapped_column(LargeBinary, deferred=True)
    video: Mapped[bytes | None] = mapped_column(LargeBinary, deferred=True)
