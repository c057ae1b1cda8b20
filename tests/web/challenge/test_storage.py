"""The database: its tables from nothing and from an older revision, its leases, and what it refuses."""

import contextlib
import threading
import time
from pathlib import Path

import pytest

pytest.importorskip("sqlalchemy")

from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from sqlalchemy import inspect, select, text

from navarena.core.errors import InputError, StorageError
from navarena.web.challenge.service import open_service
from navarena.web.challenge.settings import hash_rules
from navarena.web.challenge.storage.engine import Storage, now_ms, open_storage, sqlite_address
from navarena.web.challenge.storage.jobs import (
    MAX_ATTEMPTS,
    LeaseLostError,
    add_job,
    end_job,
    free_lost_jobs,
    give_back_job,
    hold_job,
    take_job,
)
from navarena.web.challenge.storage.models import Base, Job, PhaseRow, Submission, User
from navarena.web.challenge.storage.upgrade import find_revision, upgrade

from .servers import MINIVAL, add_account, open_test_service, write_challenge

pytestmark = pytest.mark.server


def test_migrations_make_the_tables_of_the_models(database: str) -> None:
    storage = open_storage(database)
    with storage.engine.connect() as connection:
        context = MigrationContext.configure(connection, opts={"compare_type": True})
        assert compare_metadata(context, Base.metadata) == []
        assert find_revision(connection) == "0005"
    open_storage(database)  # a second time nothing happens


def test_an_older_database_keeps_its_rows(database: str) -> None:
    storage = Storage(database)
    upgrade(storage, "0001")
    with storage.write() as session:
        session.add(User(name="ann", password_hash="x", created=now_ms()))
    assert "live_streams" not in inspect(storage.engine).get_table_names()
    again = open_storage(database)
    assert "live_streams" in inspect(again.engine).get_table_names()
    with again.read() as session:
        assert session.scalars(select(User.name)).all() == ["ann"]


def test_a_newer_database_is_refused_and_left_alone(database: str) -> None:
    storage = open_storage(database)
    with storage.engine.begin() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    with pytest.raises(InputError, match="got revision '9999' of a newer one; install that version"):
        open_storage(database)
    with storage.engine.connect() as connection:
        assert find_revision(connection) == "9999"


def test_many_may_open_an_empty_database_at_once(database: str) -> None:
    problems: list[Exception] = []

    def open_it() -> None:
        try:
            open_storage(database).close()
        except Exception as error:
            problems.append(error)

    threads = [threading.Thread(target=open_it) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not problems


@pytest.mark.parametrize(
    ("address", "message"),
    [("nonsense", "expected the address of a database"), ("mysql://host/name", "got one of 'mysql'")],
)
def test_other_addresses_are_refused(address: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        Storage(address)


def test_a_server_that_is_not_there_is_refused_in_one_line(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match="the database refused"):
        open_storage(f"postgresql+psycopg://nobody@/none?host={tmp_path}")
    with pytest.raises(StorageError, match="the database refused"):
        open_storage(sqlite_address(tmp_path / "no folder" / "test.sqlite"))


def test_a_database_of_which_every_connection_is_taken_is_busy(tmp_path: Path) -> None:
    storage = open_storage(sqlite_address(tmp_path / "test.sqlite"))
    storage.engine.pool._timeout = 0.01  # type: ignore[attr-defined]
    with contextlib.ExitStack() as taken, pytest.raises(StorageError, match="every connection was taken"):
        for _ in range(100):
            taken.enter_context(storage.engine.connect())
            with storage.read() as session:
                session.scalar(select(User.id))


def test_a_value_that_no_database_holds_is_refused(postgres: str) -> None:
    """SQLite takes a zero byte; PostgreSQL must not break at one."""
    storage = open_storage(postgres)
    with pytest.raises(InputError, match="without zero bytes"), storage.read() as session:
        session.scalar(select(User).where(User.name == "a\0b"))
    with pytest.raises(InputError, match="usual size"), storage.read() as session:
        session.get(User, 2**40)


def test_a_full_disk_keeps_what_was_there(tmp_path: Path) -> None:
    storage = open_storage(sqlite_address(tmp_path / "test.sqlite"))
    with storage.engine.connect() as connection:
        pages = connection.exec_driver_sql("PRAGMA page_count").scalar_one()
        connection.exec_driver_sql(f"PRAGMA max_page_count = {pages + 4}")
        connection.commit()
    with pytest.raises(StorageError, match="full"), storage.write() as session:
        session.add(User(name="big", password_hash="x" * 1_000_000, created=1))
    with storage.write() as session:
        session.add(User(name="small", password_hash="x", created=1))
    with storage.read() as session:
        assert session.scalars(select(User.name)).all() == ["small"]


@pytest.fixture
def queued(database: str, tmp_path: Path) -> Storage:
    """A database with one submission that waits."""
    service = open_test_service(tmp_path, database=database)
    _, user_id, team_id = add_account(service.storage, "ann")
    with service.storage.write() as session:
        phase_id = session.scalars(select(PhaseRow.id)).one()
        submission = Submission(
            public_id="one", phase_id=phase_id, track="all", team_id=team_id, user_id=user_id, kind="log",
            state="received", created=now_ms(),
        )  # fmt: skip
        session.add(submission)
        session.flush()
        add_job(session, submission)
    return service.storage


def test_a_job_has_one_worker_at_a_time(queued: Storage) -> None:
    taken, start = [], threading.Barrier(8)

    def take() -> None:
        start.wait()
        taken.append(take_job(queued, "worker:1", ["log"]))

    threads = [threading.Thread(target=take) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [one for one in taken if one is not None] == [one for one in taken if one][:1]
    assert len(taken) == 8 and sum(one is not None for one in taken) == 1
    assert take_job(queued, "worker:2", ["live"]) is None


def test_a_lease_that_has_ended_is_taken_over_and_its_first_holder_not_heard(queued: Storage) -> None:
    first = take_job(queued, "worker:1", ["log"], 0.05)
    assert first is not None
    time.sleep(0.1)
    second = take_job(queued, "worker:1", ["log"], 60.0)
    assert second is not None and second.job_id == first.job_id
    with pytest.raises(LeaseLostError), queued.write() as session:
        session.get_one(Submission, first.submission_id).method = "of the first"
        hold_job(session, first)
    with queued.write() as session:
        assert end_job(session, second).method == ""
    with pytest.raises(LeaseLostError):
        give_back_job(queued, second)


def test_a_job_that_is_given_back_waits_again(queued: Storage) -> None:
    lease = take_job(queued, "worker:1", ["log"])
    assert lease is not None
    give_back_job(queued, lease)
    again = take_job(queued, "worker:2", ["log"])
    assert again is not None
    with queued.read() as session:
        assert session.get_one(Job, again.job_id).attempts == 1


def test_jobs_of_workers_that_are_gone_are_free_at_once(
    queued: Storage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("socket.gethostname", lambda: "here")
    assert take_job(queued, "elsewhere:1", ["log"]) is not None
    assert free_lost_jobs(queued) == 0
    with queued.write() as session:
        session.scalars(select(Job)).one().worker = "here:999999999:mark"
    assert free_lost_jobs(queued) == 1
    assert take_job(queued, "here:1", ["log"]) is not None


def test_a_job_that_ends_its_workers_is_given_up(queued: Storage) -> None:
    for _ in range(MAX_ATTEMPTS):
        assert take_job(queued, "worker:1", ["log"], -1.0) is not None
    assert take_job(queued, "worker:1", ["log"], -1.0) is None
    with queued.read() as session:
        submission = session.scalars(select(Submission)).one()
        assert (submission.state, submission.error_code) == ("failed", "worker_lost")


def test_a_job_with_progress_may_lose_workers_again(queued: Storage) -> None:
    for _ in range(3 * MAX_ATTEMPTS):
        lease = take_job(queued, "worker:1", ["log"], 0.001)
        assert lease is not None
        with queued.write() as session:
            hold_job(session, lease, has_progress=True)
        time.sleep(0.002)


def test_rules_cannot_change_once_there_are_submissions(queued: Storage, tmp_path: Path) -> None:
    from navarena.web.challenge.challenge_file import load_challenge

    address = queued.engine.url.render_as_string(hide_password=False)
    for other in (MINIVAL.replace("episodes = 6", "episodes = 7"), MINIVAL + 'rank_by = "success"\n'):
        changed = load_challenge(write_challenge(tmp_path, other))
        with pytest.raises(InputError, match="give the changed phase another name"):
            open_service(changed, address)
    renamed = load_challenge(write_challenge(tmp_path, MINIVAL + 'title = "New"\n'))
    open_service(renamed, address)
    with queued.write() as session:  # as earlier versions wrote it
        session.scalars(select(PhaseRow)).one().content_hash = hash_rules(renamed.phases[0], with_ranks=False)
    open_service(renamed, address)
    with pytest.raises(InputError, match="another rank_by"):
        open_service(changed, address)
