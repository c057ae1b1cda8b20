"""A small challenge with people, teams and finished submissions, written straight into a database."""

from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import msgspec
import numpy as np
from argon2 import PasswordHasher
from fastapi import FastAPI
from starlette.testclient import TestClient

from navarena.core.seeding import make_generator
from navarena.evaluation.records.journal import Row
from navarena.evaluation.records.results import summarize
from navarena.metrics.catalog import get_metric
from navarena.web.challenge.accounts.limits import RateLimits
from navarena.web.challenge.accounts.passwords import Passwords
from navarena.web.challenge.accounts.teams import create_team, find_team
from navarena.web.challenge.accounts.users import Accounts, create_user, issue_token, require_user
from navarena.web.challenge.app import make_app
from navarena.web.challenge.pages.boards import Boards
from navarena.web.challenge.pages.mounting import make_site
from navarena.web.challenge.permissions import find_phase_row
from navarena.web.challenge.ranking import RankScores, pack_scores
from navarena.web.challenge.service import Service, open_service
from navarena.web.challenge.settings import Challenge, Phase, Quota, Track
from navarena.web.challenge.storage.engine import now_ms, sqlite_address
from navarena.web.challenge.storage.models import (
    Membership,
    Recording,
    Role,
    ScoreRow,
    Submission,
    UploadChunk,
)

PASSWORD = "a long password"
IDENTITY = "pointnav-v1@houses-v1/mini#0123456789abcdef"
METRICS = ("success", "spl", "distance_to_goal")

CHALLENGE = Challenge(
    name="Rooms",
    slug="rooms",
    text="Find the **goal**.",
    tracks=(Track(name="rgb", sensors=("rgb",)), Track(name="all", title="All sensors", privileged=True)),
    phases=(
        Phase(name="open", protocol="pointnav-v1", split="mini", quota=Quota(per_day=10, in_all=50)),
        Phase(name="secret", protocol="pointnav-v1", split="mini", board="hidden"),
        Phase(name="live", protocol="pointnav-v1", split="mini", private_seed="seed.txt", accepts=("live",)),
    ),
)

ROLES: dict[str, Role] = {
    "ada": "participant",
    "bob": "participant",
    "carl": "participant",
    "hanna": "host",
    "root": "administrator",
}

FAST = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)
"""So that tests are not about argon2."""


@cache
def _database(challenge: Challenge) -> bytes:
    """The file of a database with a host, an administrator, two teams of one member each, and a third."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "rooms.sqlite"
        service = open_service(challenge, sqlite_address(path))
        add_people(service)
        service.storage.close()
        return path.read_bytes()


def add_people(service: Service) -> None:
    """The people of ROLES in an empty database; ada owns "Team A", bob "Team B"."""
    hashed = Passwords(FAST).hash(PASSWORD)
    with service.storage.write() as session:
        for name, role in ROLES.items():
            create_user(session, name, hashed, role, name)
        create_team(session, require_user(session, "ada"), "Team A")
        create_team(session, require_user(session, "bob"), "Team B")


def database_path(folder: Path) -> Path:
    """Where `make_service` keeps its database."""
    return folder / "rooms.sqlite"


def make_service(folder: Path, challenge: Challenge = CHALLENGE) -> Service:
    """A server of `challenge` with the people of ROLES; ada owns "Team A", bob "Team B"."""
    path = database_path(folder)
    path.write_bytes(_database(challenge))
    return open_service(challenge, sqlite_address(path))


def make_application(service: Service) -> FastAPI:
    """The application, with passwords that are cheap to hash and boards that are never stale."""
    limits = RateLimits()
    accounts = Accounts(service.storage, service.sign_up, Passwords(FAST), limits)
    return make_app(service, make_site(service, accounts, Boards(service.storage, service.challenge, 0.0)))


def make_client(application: FastAPI) -> TestClient:
    return TestClient(application, follow_redirects=False)


def form_secret(page: str) -> str:
    """The secret of the forms on a page."""
    return page.partition('name="csrf" value="')[2].partition('"')[0]


def sign_in(client: TestClient, name: str) -> str:
    """Sign in, and return the secret of forms."""
    secret = form_secret(client.get("/sign-in").text)
    answer = client.post("/sign-in", data={"name": name, "password": PASSWORD, "csrf": secret})
    assert answer.status_code == 303, answer.text
    return form_secret(client.get("/account").text)


def make_token(service: Service, name: str) -> str:
    with service.storage.write() as session:
        return issue_token(session, require_user(session, name), "test")


def make_rows(mean: float, seed: str, scenes: int = 10, each: int = 4) -> list[Row]:
    """Episodes with drawn scores around `mean`."""
    draws = make_generator("made", seed)
    rows = []
    for number in range(scenes * each):
        spl = float(np.clip(mean + 0.3 * (draws.random() - 0.5), 0, 1))
        rows.append(
            Row(
                identity=IDENTITY,
                episode_id=str(number),
                scene_id=f"houses-v1/mini/{number // each:05d}",
                status="ok",
                steps=3,
                start_distance=4.0,
                actions=[1, 1, 0],
                metrics={"success": float(spl > 0.2), "spl": spl, "distance_to_goal": 1 - spl},
                traits={"category": ("chair", "sofa")[number % 2]},
            )
        )
    return rows


def add_submission(
    service: Service, phase: str, team: str, mean: float, state: str = "verified", **changed: Any
) -> str:
    """A submission with its episodes; returns its public id. `changed` are columns."""
    rows = make_rows(mean, f"{team}{mean}{changed.get('method', '')}")
    scores = RankScores(
        np.array([row.metrics["spl"] for row in rows], np.float64),
        np.unique([row.scene_id for row in rows], return_inverse=True)[1].astype(np.int64),
        np.ones(len(rows)),
        None,
    )
    estimate = get_metric("spl").estimate(scores.values, scores.scenes, make_generator("made", "interval"))
    with service.storage.write() as session:
        row = find_phase_row(session, service.challenge, service.challenge.phase(phase))
        found = find_team(session, team)
        assert found is not None
        members = session.query(Membership).where(Membership.team_id == found.id).all()
        done = state in ("verified", "disqualified")
        known: dict[str, Any] = {
            "public_id": f"{phase}-{team.replace(' ', '')}-{mean}-{changed.get('method', 'm')}"[:32],
            "phase_id": row.id,
            "track": "rgb",
            "team_id": found.id,
            "user_id": members[0].user_id,
            "kind": "log",
            "state": state,
            "method": "m",
            "agent": "made",
            "episodes": len(rows),
            "created": now_ms(),
            "finished": now_ms() if done else None,
            "summary": {"parts": [msgspec.to_builtins(summarize(rows, IDENTITY, "made", METRICS))]}
            if done
            else None,
            "rank_mean": estimate.mean if done else None,
            "rank_low": estimate.low if done else None,
            "rank_high": estimate.high if done else None,
            "rank_values": pack_scores(scores) if done else None,
        }
        submission = Submission(**{**known, **changed})
        session.add(submission)
        session.flush()
        finished = rows if done else rows[:10]
        session.add_all(
            ScoreRow(
                submission_id=submission.id,
                part=0,
                position=position,
                metrics=dict(one.metrics),
                row=msgspec.json.encode(one).decode(),
            )
            for position, one in enumerate(finished)
        )
        session.add(UploadChunk(submission_id=submission.id, position=0, data=b"log"))
        return submission.public_id


def add_recording(service: Service, public_id: str, position: int, shown: Any, **more: Any) -> None:
    """What a worker would have made of a submission: `shown` is an Overview or Drawn, `more` are columns."""
    with service.storage.write() as session:
        submission = session.query(Submission).filter_by(public_id=public_id).one()
        held = {"state": "made", "made": now_ms(), "data": msgspec.json.encode(shown), **more}
        session.add(Recording(submission_id=submission.id, part=0, position=position, **held))
