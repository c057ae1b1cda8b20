"""Recordings: reasons of failures, drawings and videos that workers make of verified submissions."""

import io
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("sqlalchemy")
pytest.importorskip("fastapi")

from fastapi.testclient import TestClient
from sqlalchemy import select

from navarena.core.errors import MissingExtraError
from navarena.evaluation.analyses.failures import classify_run
from navarena.evaluation.records.journal import Row, read_rows
from navarena.metrics.failures import MEANINGS, FailureClass
from navarena.web.challenge import recording_job, recordings
from navarena.web.challenge.app import make_app
from navarena.web.challenge.pages.episodes import answer_range
from navarena.web.challenge.recording_job import choose_examined, limit_sections
from navarena.web.challenge.recordings import MAX_WAITING, OVERVIEW, Drawn, Overview, Section
from navarena.web.challenge.refusals import Refusal
from navarena.web.challenge.service import Service
from navarena.web.challenge.storage.jobs import MAX_ATTEMPTS, add_job, take_job
from navarena.web.challenge.storage.models import Job, Recording, Submission
from navarena.web.challenge.worker import RUNNERS, Worker

from .log_files import pack
from .made import (
    add_recording,
    add_submission,
    make_application,
    make_client,
    make_rows,
    make_service,
    sign_in,
)
from .servers import add_account, make_run, open_test_service

pytestmark = pytest.mark.server

EPISODES = 6
EVIL = "<script>alert('x')</script>"
NOTHING_FAILED = Overview(0, 0, {}, [])


class Server:
    """A server with one verified log of failures, whose overview is made."""

    def __init__(self, folder: Path, run: Path) -> None:
        self.service: Service = open_test_service(folder)
        token, *_ = add_account(self.service.storage, "ann")
        self.team = TestClient(make_app(self.service), headers={"authorization": f"Bearer {token}"})
        self.nobody = TestClient(make_app(self.service))
        sent = self.team.post("/api/v1/phases/minival/submissions", content=pack(run))
        self.id: str = sent.json()["id"]
        assert Worker(self.service).run_one() and Worker(self.service).run_one()
        assert not Worker(self.service).run_one()

    def read(self, path: str = "") -> Any:
        """JSON of a page of the submission, as anybody gets it."""
        answer = self.nobody.get(f"/api/v1/pages/submissions/{self.id}{path}")
        assert answer.status_code == 200, answer.text
        return answer.json()


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run in which every episode fails."""
    return make_run(tmp_path_factory.mktemp("runs") / "random", "random", EPISODES)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, run: Path) -> Iterator[Server]:
    made = Server(tmp_path_factory.mktemp("server"), run)
    yield made
    made.service.storage.close()


def test_a_verified_log_shows_why_its_episodes_failed(server: Server, run: Path) -> None:
    view = server.read()
    assert view["state"] == "verified"
    (part,) = view["parts"]
    found, classes = part["overview"], classify_run(run).classes
    assert (found["state"], found["failed"], found["examined"]) == ("made", EPISODES, EPISODES)
    counted = {row[0]: row[1] for row in found["table"]["rows"]}
    kinds = list(classes.values())
    assert counted == {MEANINGS[one]: f"{kinds.count(one)} of {EPISODES}" for one in set(kinds)}
    page = server.nobody.get(f"/submissions/{server.id}").text
    assert "Why episodes failed" in page and all(MEANINGS[one] in page for one in set(kinds))


def test_trajectories_are_drawn_from_above(server: Server) -> None:
    (part,) = server.read()["parts"]
    drawn = [one for section in part["overview"]["sections"] for one in section["episodes"]]
    assert 1 <= len(drawn) <= recording_job.MAX_DRAWN
    assert any('class="walk path-' in one["drawing"] for one in drawn)
    page = server.nobody.get(f"/submissions/{server.id}").text
    assert page.count('<svg class="topdown"') == len(drawn)
    assert f"/submissions/{server.id}/episodes/0/{drawn[0]['position']}" in page
    assert ".topdown" in server.nobody.get("/static/topdown.css").text


def test_episodes_are_listed(server: Server, run: Path) -> None:
    view = server.read("/episodes")
    rows = {row.episode_id: row for row in read_rows(run)}
    assert [one["position"] for one in view["episodes"]] == list(range(EPISODES))
    for one in view["episodes"]:
        row = rows[one["episode_id"]]
        assert one["steps"] == row.steps and one["reason"] in MEANINGS.values()
        assert all(one["metrics"][name] == row.metrics[name] for name in one["metrics"])
    page = server.nobody.get(f"/submissions/{server.id}/episodes").text
    assert all(name in page for name in rows)
    for wrong in ("?page=2", "?page=0", "?part=1"):
        assert server.nobody.get(f"/submissions/{server.id}/episodes{wrong}").status_code == 404
    assert server.nobody.get(f"/submissions/{server.id}/episodes?part=x").status_code == 422


def test_an_episode_is_recorded_when_its_team_asks(server: Server, run: Path) -> None:
    import av

    lengths = [len(row.actions) for row in read_rows(run)]
    position = lengths.index(min(lengths))
    path = f"/submissions/{server.id}/episodes/0/{position}"
    assert server.nobody.get(f"{path}/video").status_code == 404
    assert server.nobody.post(f"/api/v1/pages{path}").status_code == 401
    assert server.team.post(f"/api/v1/pages{path}").status_code == 202
    waiting = server.team.get(path).text
    assert 'http-equiv="refresh"' in waiting and "<video" not in waiting
    assert Worker(server.service).run_one()
    view = server.read(f"/episodes/0/{position}")
    assert (view["state"], view["error"], view["has_video"]) == ("made", "", True)
    assert 'class="topdown"' in view["drawing"]
    page = server.nobody.get(path).text
    assert f'src="{path}/video"' in page and "refresh" not in page
    whole = server.nobody.get(f"{path}/video")
    assert whole.headers["content-type"] == "video/mp4"
    with av.open(io.BytesIO(whole.content)) as container:
        frames = sum(1 for _ in container.decode(video=0))
    assert frames == lengths[position] + 1 + 15, "a frame of each pose, and the last for 1.5 s"
    part = server.nobody.get(f"{path}/video", headers={"range": "bytes=10-19"})
    assert (part.status_code, part.content) == (206, whole.content[10:20])
    assert server.team.post(f"/api/v1/pages{path}").status_code == 202
    assert not Worker(server.service).run_one(), "what there is, is not made again"
    with server.service.storage.read() as session:
        assert session.scalars(select(Submission.state)).one() == "verified"


@pytest.mark.parametrize("why", ["extra", "frames", "bytes"])
def test_without_a_video_there_is_a_drawing(
    server: Server, run: Path, why: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def make_video(path: Path, *others: object) -> None:
        if why == "extra":
            raise MissingExtraError("no PyAV")
        path.write_bytes(b"video")

    monkeypatch.setattr(recording_job, "make_video", make_video)
    monkeypatch.setattr(recording_job, "MAX_FRAMES", 0 if why == "frames" else 10_000)
    monkeypatch.setattr(recording_job, "MAX_BYTES", 4)
    benchmark = recording_job.open_parts(server.service.challenge.phase("minival"))[0]
    drawn, video, text = recording_job.make_shown(benchmark, read_rows(run)[0])
    wanted = {"extra": "extra video", "frames": "at most 0 actions", "bytes": "MiB"}
    assert 'class="topdown"' in drawn.drawing and video is None and wanted[why] in text


@pytest.fixture
def open_service(tmp_path: Path) -> Service:
    return make_service(tmp_path)


def ask(service: Service, name: str, position: int) -> None:
    with service.storage.write() as session:
        one = session.query(Submission).filter_by(public_id=name).one()
        recordings.ask_recording(session, one, 0, position)


def list_recordings(service: Service) -> list[tuple[int, str]]:
    """(position, state) of all."""
    with service.storage.read() as session:
        return [(one.position, one.state) for one in session.query(Recording).order_by(Recording.position)]


def test_few_episodes_can_wait_and_few_are_kept(
    open_service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = add_submission(open_service, "open", "Team A", 0.6)
    for position in [*range(MAX_WAITING), 0, 0]:
        ask(open_service, name, position)
    with pytest.raises(Refusal, match="wait for a worker"):
        ask(open_service, name, MAX_WAITING)
    with open_service.storage.write() as session:
        assert session.query(Job).count() == MAX_WAITING
        session.query(Recording).update({"state": "made"})
    monkeypatch.setattr(recordings, "MAX_SHOWN", MAX_WAITING + 1)
    ask(open_service, name, MAX_WAITING)
    ask(open_service, name, OVERVIEW)
    with pytest.raises(Refusal, match="at most 4") as refused:
        ask(open_service, name, MAX_WAITING + 1)
    assert refused.value.status == 429


def test_what_fails_leaves_the_submission_as_it_is(
    open_service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise ValueError("/srv/secret/path")

    name = add_submission(open_service, "open", "Team A", 0.6)
    monkeypatch.setattr(recording_job, "open_parts", lambda phase: ["a benchmark"])
    monkeypatch.setattr(recording_job, "make_overview", fail)
    ask(open_service, name, OVERVIEW)
    assert Worker(open_service).run_one()
    assert list_recordings(open_service) == [(OVERVIEW, "failed")]
    client = make_client(make_application(open_service))
    secret = sign_in(client, "ada")
    page = client.get(f"/submissions/{name}").text
    assert "verified" in page and "its hosts find out why" in page and "/srv" not in page
    monkeypatch.setattr(recording_job, "make_overview", lambda *_: NOTHING_FAILED)
    assert f'action="/submissions/{name}/overviews/0"' in page
    assert client.post(f"/submissions/{name}/overviews/0", data={"csrf": secret}).status_code == 303
    assert Worker(open_service).run_one()
    assert list_recordings(open_service) == [(OVERVIEW, "made")]
    assert "find out why" not in client.get(f"/submissions/{name}").text


def test_workers_that_end_make_an_recording_fail_and_nothing_else(open_service: Service) -> None:
    ask(open_service, add_submission(open_service, "open", "Team A", 0.6), OVERVIEW)
    for _ in range(MAX_ATTEMPTS):
        assert take_job(open_service.storage, "a", tuple(RUNNERS), seconds=-1) is not None
    assert take_job(open_service.storage, "a", tuple(RUNNERS)) is None
    with open_service.storage.read() as session:
        assert session.query(Submission.state, Submission.error_code).one() == ("verified", None)
        assert session.query(Recording.state, Recording.error).one() == (
            "failed",
            f"{MAX_ATTEMPTS} workers ended while they executed it; ask a host",
        )


def test_submissions_come_before_recordings(open_service: Service) -> None:
    ask(open_service, add_submission(open_service, "open", "Team A", 0.6), OVERVIEW)
    later = add_submission(open_service, "open", "Team B", 0.4, "received")
    with open_service.storage.write() as session:
        add_job(session, session.query(Submission).filter_by(public_id=later).one())
    taken = [take_job(open_service.storage, "a", tuple(RUNNERS)) for _ in range(2)]
    assert [one.kind for one in taken if one is not None] == ["log", "recording"]


def test_running_again_drops_recordings(open_service: Service) -> None:
    name = add_submission(open_service, "open", "Team A", 0.6)
    ask(open_service, name, 0)
    add_recording(open_service, name, OVERVIEW, NOTHING_FAILED)
    client = make_client(make_application(open_service))
    secret = sign_in(client, "hanna")
    assert client.post(f"/host/submissions/{name}/rerun", data={"csrf": secret}).status_code == 303
    assert list_recordings(open_service) == []
    with open_service.storage.read() as session:
        assert [one.kind for one in session.query(Job)] == ["log"]


def test_hidden_episodes_have_no_recordings_not_even_for_hosts(open_service: Service) -> None:
    name = add_submission(open_service, "live", "Team A", 0.6, kind="live")
    shown = Overview(1, 1, {"0": FailureClass.STUCK}, [])
    add_recording(open_service, name, OVERVIEW, shown)  # as if a phase had been hidden later
    ask(open_service, name, 0)
    assert Worker(open_service).run_one()
    assert (0, "failed") in list_recordings(open_service)
    client = make_client(make_application(open_service))
    sign_in(client, "hanna")
    page = client.get(f"/submissions/{name}")
    assert page.status_code == 200 and MEANINGS[FailureClass.STUCK] not in page.text
    assert "/episodes" not in page.text
    view = client.get(f"/api/v1/pages/submissions/{name}").json()
    assert [part["overview"] for part in view["parts"]] == [None]


def test_no_text_of_an_recording_is_a_script(open_service: Service) -> None:
    name = add_submission(open_service, "open", "Team A", 0.6, method=EVIL)
    drawn = Drawn(3, EVIL, EVIL, EVIL, [(EVIL, EVIL)], "<svg></svg>")
    overview = Overview(2, 1, {EVIL: FailureClass.STUCK}, [Section(EVIL, [drawn])])
    add_recording(open_service, name, OVERVIEW, overview, error=EVIL)
    add_recording(open_service, name, 3, drawn, error=EVIL, video=b"v")
    client = make_client(make_application(open_service))
    page = client.get(f"/submissions/{name}").text
    assert "drawn by lot" in page and page.count("&lt;script&gt;") > 6
    for path in ("", "/episodes", "/episodes/0/3"):
        page = client.get(f"/submissions/{name}{path}").text
        assert "&lt;script&gt;" in page, path
        assert re.findall(r"<script[^>]*>", page) == ['<script src="/static/challenge.js" defer>'], path
        assert "style=" not in page


def test_old_videos_are_dropped(open_service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    name = add_submission(open_service, "open", "Team A", 0.6)
    drawn = Drawn(0, "0", "scene", "success", [], "<svg></svg>")
    for position in range(4):
        add_recording(open_service, name, position, drawn, made=position + 1, video=b"v")
    add_recording(open_service, name, OVERVIEW, NOTHING_FAILED, made=1)
    monkeypatch.setattr(recording_job, "MAX_VIDEOS", 3)
    monkeypatch.setattr(recording_job, "open_parts", lambda phase: ["a benchmark"])
    monkeypatch.setattr(recording_job, "make_shown", lambda *_: (drawn, b"new", ""))
    ask(open_service, name, 9)
    assert Worker(open_service).run_one()
    assert list_recordings(open_service) == [(one, "made") for one in (OVERVIEW, 2, 3, 9)]


def test_failed_episodes_are_drawn_by_lot_up_to_a_number_of_steps() -> None:
    rows: list[Row] = make_rows(0.5, "lot")  # 40 episodes of 3 actions
    few = choose_examined(rows, 15)
    assert len(few) == 5 and few == choose_examined(rows, 15)
    places = [rows.index(one) for one in few]
    assert places == sorted(places) != list(range(5))
    assert choose_examined(rows, 2) == [] == choose_examined([], 100)
    assert choose_examined(rows, 120) == rows


@pytest.mark.parametrize(
    ("count", "wanted"),
    [
        (1, {"a": [0]}),
        (2, {"a": [0], "b": [10]}),
        (4, {"a": [0, 1], "b": [10], "c": [20]}),
        (9, {"a": [0, 1, 2], "b": [10], "c": [20, 21]}),
    ],
)
def test_kinds_of_drawings_take_turns(count: int, wanted: dict[str, list[int]]) -> None:
    rows = make_rows(0.5, "turns")
    sections = {"a": rows[0:3], "b": rows[10:11], "c": rows[20:22]}
    found = limit_sections(sections, count)
    assert {title: [int(row.episode_id) for row in chosen] for title, chosen in found.items()} == wanted


@pytest.mark.parametrize(
    ("asked", "status", "body", "told"),
    [
        ("", 200, b"0123456789", None),
        ("bytes=0-", 206, b"0123456789", "bytes 0-9/10"),
        ("bytes=2-4", 206, b"234", "bytes 2-4/10"),
        ("bytes=8-99", 206, b"89", "bytes 8-9/10"),
        ("bytes=-3", 206, b"789", "bytes 7-9/10"),
        ("bytes=-99", 206, b"0123456789", "bytes 0-9/10"),
        ("bytes=10-", 416, b"", "bytes */10"),
        ("bytes=-0", 416, b"", "bytes */10"),
        ("bytes=4-2", 416, b"", "bytes */10"),
        ("bytes=-", 200, b"0123456789", None),
        ("bytes=0-1,4-5", 200, b"0123456789", None),
        ("pages=1-2", 200, b"0123456789", None),
        (f"bytes=0-{'9' * 500}", 200, b"0123456789", None),
    ],
)
def test_parts_of_a_video(asked: str, status: int, body: bytes, told: str | None) -> None:
    answer = answer_range(b"0123456789", "video/mp4", asked)
    assert (answer.status_code, answer.body, answer.headers.get("content-range")) == (status, body, told)
