"""Pages as people use them: forms, cookies, headers, escaping, boards."""

import csv
import io
import json
import re
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.server
pytest.importorskip("fastapi")

import msgspec  # noqa: E402

from navarena.evaluation.records.results import summarize  # noqa: E402
from navarena.web.challenge.accounts.sessions import COOKIE, FORM_COOKIE  # noqa: E402
from navarena.web.challenge.pages.public import draw_history  # noqa: E402
from navarena.web.challenge.pages.site import (  # noqa: E402
    format_number,
    is_link,
    render_markdown,
)
from navarena.web.challenge.settings import Phase  # noqa: E402
from navarena.web.challenge.storage.models import (  # noqa: E402
    Job,
    PhaseRow,
    ScoreRow,
    Submission,
    UploadChunk,
    User,
)

from .made import (  # noqa: E402
    CHALLENGE,
    IDENTITY,
    METRICS,
    PASSWORD,
    add_submission,
    form_secret,
    make_application,
    make_client,
    make_rows,
    make_service,
    sign_in,
)

EVIL = "<script>alert('x')</script><img src=x onerror=alert(1)>\"'&"


def world(folder: Path, challenge: Any = CHALLENGE) -> tuple[Any, Any]:
    service = make_service(folder, challenge)
    return service, make_client(make_application(service))


def test_signing_up_in_and_out_with_cookies_that_scripts_cannot_read(tmp_path: Path) -> None:
    _, client = world(tmp_path)
    page = client.get("/sign-up")
    assert COOKIE not in client.cookies and FORM_COOKIE in client.cookies
    form = {"name": "eve", "password": PASSWORD, "csrf": form_secret(page.text)}
    answer = client.post("/sign-up", data=form)
    assert (answer.status_code, answer.headers["location"]) == (303, "/account")
    cookie = answer.headers["set-cookie"].lower()
    assert "httponly" in cookie and "samesite=lax" in cookie and "secure" not in cookie
    account = client.get("/account")
    assert "eve" in account.text and account.headers["cache-control"] == "no-store"
    held = client.cookies[COOKIE]
    assert client.post("/sign-out", data={"csrf": form_secret(account.text)}).status_code == 303
    client.cookies.set(COOKIE, held)  # a copy of the cookie is worth nothing afterwards
    assert client.get("/account").headers["location"] == "/sign-in"


def test_cookies_are_secure_behind_https(tmp_path: Path) -> None:
    service = make_service(tmp_path)
    client = make_client(make_application(service))
    client.base_url = "https://testserver"
    page = client.get("/sign-in")
    assert "secure" in page.headers["set-cookie"].lower()


def test_a_session_that_was_there_before_does_not_become_anothers(tmp_path: Path) -> None:
    """Whoever plants a cookie knows nothing after the victim has signed in."""
    _, client = world(tmp_path)
    client.cookies.set(COOKIE, "planted")
    sign_in(client, "ada")
    assert client.cookies.get(COOKIE, domain="testserver.local") != "planted"


@pytest.mark.parametrize("path", ["/sign-in", "/sign-up"])
def test_forms_of_strangers_need_their_own_secret(tmp_path: Path, path: str) -> None:
    _, client = world(tmp_path)
    client.get(path)
    form = {"name": "ada", "password": PASSWORD, "csrf": "guess"}
    assert client.post(path, data=form).status_code == 403
    assert client.post(path, data={**form, "csrf": ""}).status_code == 403


def test_a_wrong_password_is_told_on_the_page(tmp_path: Path) -> None:
    _, client = world(tmp_path)
    secret = form_secret(client.get("/sign-in").text)
    answer = client.post("/sign-in", data={"name": EVIL, "password": "wrong", "csrf": secret})
    assert answer.status_code == 403 and "no account has this name" in answer.text
    assert EVIL not in answer.text and "&lt;script&gt;" in answer.text


def test_changing_the_password_signs_other_browsers_out(tmp_path: Path) -> None:
    service = make_service(tmp_path)
    application = make_application(service)
    one, two = make_client(application), make_client(application)
    secret = sign_in(one, "ada")
    sign_in(two, "ada")
    form = {"old": PASSWORD, "new": "another long one", "csrf": secret}
    assert one.post("/account/password", data={**form, "old": "wrong password"}).status_code == 403
    assert one.post("/account/password", data=form).status_code == 303
    assert one.get("/account").status_code == 200 and two.get("/account").status_code == 303


def test_a_token_is_shown_once(tmp_path: Path) -> None:
    _, client = world(tmp_path)
    secret = sign_in(client, "ada")
    page = client.post("/account/tokens", data={"label": "laptop", "csrf": secret}).text
    token = re.findall(r"<code>([\w-]{43})</code>", page)[0]
    assert token not in client.get("/account").text and "laptop" in client.get("/account").text
    answer = client.get("/api/v1/account", headers={"authorization": f"Bearer {token}"})
    assert answer.json()["name"] == "ada"


def test_a_team_from_its_founding_to_the_second_member(tmp_path: Path) -> None:
    service = make_service(tmp_path)
    application = make_application(service)
    carl, bob = make_client(application), make_client(application)
    secret, others = sign_in(carl, "carl"), sign_in(bob, "bob")
    made = carl.post("/account/teams", data={"name": "<b>Robots</b>".replace("/", ""), "csrf": secret})
    path = made.headers["location"]
    assert "&lt;b&gt;Robots" in carl.get(path).text
    page = carl.post(f"{path}/invitations", data={"csrf": secret}).text
    code = re.findall(r"<code>([\w-]{43})</code>", page)[0]
    assert bob.post("/account/join", data={"code": "nonsense", "csrf": others}).status_code == 403
    assert bob.post("/account/join", data={"code": code, "csrf": others}).status_code == 303
    assert "bob" in carl.get(path).text and bob.get(path).status_code == 200
    assert bob.post(f"{path}/members/carl/remove", data={"csrf": others}).status_code == 403
    assert carl.post(f"{path}/members/bob/remove", data={"csrf": secret}).status_code == 303
    assert bob.get(path).status_code == 404


def test_deleting_the_account_wants_the_password(tmp_path: Path) -> None:
    service, client = world(tmp_path)
    secret = sign_in(client, "ada")
    assert (
        client.post("/account/delete", data={"password": "wrong password", "csrf": secret}).status_code == 403
    )
    assert client.post("/account/delete", data={"password": PASSWORD, "csrf": secret}).status_code == 303
    assert client.get("/account").status_code == 303
    with service.storage.read() as session:
        assert session.query(User).filter_by(name="ada").one_or_none() is None


def test_the_board_has_ranks_intervals_and_sections(tmp_path: Path) -> None:
    service, client = world(tmp_path)
    for mean, method, changed in (
        (0.7, "best", {"kind": "live", "model_size": 11_700_000}),
        (0.3, "worst", {"kind": "live"}),
        (0.9, "expert", {"privileged": True, "track": "all", "declared_inputs": ["navmesh"]}),
        (0.8, "log", {"trained_with": ["fog"]}),
    ):
        add_submission(service, "open", "Team A", mean, method=method, **changed)
    page = client.get("/phases/open").text
    order = [page.index(f">{method}</a>") for method in ("best", "worst", "log", "expert")]
    assert order == sorted(order)
    assert "Actions verified, inputs declared" in page and "Privileged, not ranked" in page
    assert "11.7 M" in page and "navmesh" in page and "fog" in page and "n = 40" in page
    view = client.get("/api/v1/pages/phases/open").json()
    assert [[(row["method"], row["rank"]) for row in one["rows"]] for one in view["sections"]] == [
        [("best", 1), ("worst", 2)],
        [("log", 1)],
        [("expert", None)],
    ]
    spl = view["sections"][0]["rows"][0]["metrics"]["spl"]
    assert spl["low"] < spl["mean"] < spl["high"] and spl["n"] == 40
    assert {"success", "spl", "distance_to_goal"} == set(view["sections"][0]["rows"][0]["metrics"])


def test_the_column_of_the_ranks_shows_what_they_are_made_of(tmp_path: Path) -> None:
    """Means over episodes, whatever is pooled over sub-tasks beside them; of several runs each one's."""
    (tmp_path / "one").mkdir()
    service, client = world(tmp_path / "one")
    summary = msgspec.to_builtins(summarize(make_rows(0.7, "x"), IDENTITY, "made", METRICS))
    spl = summary["metrics"]["spl"]
    pooled = {name: {**spl, "mean": 0.125} for name in ("spl", "image_spl")}
    add_submission(service, "open", "Team A", 0.7, summary={"parts": [{**summary, "pooled": pooled}]})
    view = client.get("/api/v1/pages/phases/open").json()
    shown = view["sections"][0]["rows"][0]["metrics"]
    assert (shown["spl"]["mean"], shown["image_spl"]["mean"]) == (spl["mean"], 0.125)

    phase = Phase(name="open", protocol="ir2r-ce-v1", split="mini", rank_by="t_ndtw", datasets=("a", "b"))
    service, client = world(tmp_path, msgspec.structs.replace(CHALLENGE, phases=(phase,)))
    parts = [
        {**summary, "tours": {"metrics": {"t_ndtw": {**spl, "title": "t-nDTW", "mean": mean}}}}
        for mean in (0.25, 0.75)
    ]
    add_submission(service, "open", "Team A", 0.5, summary={"parts": parts})
    view = client.get("/api/v1/pages/phases/open").json()
    shown = view["sections"][0]["rows"][0]["metrics"]
    assert {name: one["mean"] for name, one in shown.items() if name != "t_ndtw"} == {"a": 0.25, "b": 0.75}


def test_boards_can_be_sorted_filtered_and_paged(tmp_path: Path) -> None:
    service, client = world(tmp_path)
    for number in range(103):
        track = "rgb" if number % 2 else "all"
        add_submission(
            service, "open", "Team A", 0.2 + 0.005 * number, method=f"m{number:03d}", kind="live",
            track=track, model_size=None if number == 7 else 1000 - number,
            training_data={4: "maps", 5: "Houses"}.get(number, ""), hardware="GPU" if number == 9 else "",
        )  # fmt: skip

    def methods(query: str) -> list[str]:
        view = client.get(f"/api/v1/pages/phases/open?{query}").json()
        return [row["method"] for section in view["sections"] for row in section["rows"]]

    assert len(methods("")) == 100 and len(methods("page=2")) == 3
    assert methods("sort=method")[:2] == ["m000", "m001"] and methods("sort=-method")[0] == "m102"
    assert methods("sort=model_size")[0] == "m102" and methods("sort=model_size&page=2")[-1] == "m007"
    assert methods("sort=-model_size&page=2")[-1] == "m007", "what is unknown comes last either way"
    assert methods("sort=track")[0] == "m102" and methods("sort=-track")[0] == "m101"
    assert methods("sort=training_data")[:2] == ["m005", "m004"] and methods("sort=-hardware")[0] == "m009"
    for order in ("tries", "demonstrations", "trained_with"):
        assert len(methods(f"sort={order}")) == 100
    assert methods("sort=distance_to_goal")[0] == methods("sort=spl")[0]
    assert len(methods("track=rgb")) == 51 and set(methods("track=rgb")) == {
        f"m{k:03d}" for k in range(1, 103, 2)
    }
    for wrong in ("sort=nonsense", "page=3", "page=0", "track=none"):
        assert client.get(f"/phases/open?{wrong}").status_code == 404
    assert client.get("/phases/open?page=x").status_code == 422
    page = client.get("/phases/open?sort=spl").text
    assert 'aria-sort="descending"' in page and "sort=-spl" in page and "page 1 of 2" in page


def test_the_history_has_the_boards_track_rank_1_at_the_top_and_a_colour_for_each_line(
    tmp_path: Path,
) -> None:
    service, client = world(tmp_path)
    for number in range(10):
        add_submission(service, "open", "Team A", 0.5, method=f"m{number}")  # whose intervals overlap
    add_submission(service, "open", "Team A", 0.5, method="other", track="all")
    link = "/phases/open/history?track=rgb"
    assert link in client.get("/phases/open?track=rgb").text
    assert "/phases/open/history?" not in client.get("/phases/open").text
    view = client.get(f"/api/v1/pages{link}").json()
    (chart,) = draw_history(view)
    assert len({line["kind"] for line in chart["lines"]}) == len(chart["lines"]) == 8
    tops = [line for line in chart["lines"] if line["ranks"] == [1]]
    assert tops and all(line["points"][0].endswith(f",{chart['edge']:.1f}") for line in tops)
    (alone,) = draw_history(view | {"lines": tops})
    assert alone["lines"][0]["points"][0].endswith(f",{chart['edge']:.1f}")


def test_hosts_and_teams_reach_every_submission(tmp_path: Path) -> None:
    service, client = world(tmp_path)
    add_submission(service, "secret", "Team A", 0.5, "refused", method="first")
    add_submission(service, "open", "Team A", 0.5, "refused", method="m0")
    with service.storage.write() as session:
        one = session.query(Submission).filter_by(method="m0").one()
        shared = {
            "phase_id": one.phase_id,
            "team_id": one.team_id,
            "track": "rgb",
            "kind": "log",
            "created": 0,
        }
        session.add_all(
            Submission(public_id=f"s{number}", method=f"m{number}", state="refused", **shared)
            for number in range(1, 102)
        )
    sign_in(client, "hanna")

    def methods(path: str) -> list[str]:
        return [one["method"] for one in client.get(path).json()["submissions"]]

    newest = [f"m{number}" for number in range(101, -1, -1)]
    assert methods("/api/v1/host/phases/open") == newest[:100]
    assert methods("/api/v1/host/phases/open?page=2") == ["m1", "m0"]
    assert methods("/host/phases/open/export.json") == newest
    assert methods("/api/v1/teams/Team A?page=2") == ["m1", "m0", "first"]
    page = client.get("/host/phases/open").text
    assert "page 1 of 2, 102 submissions" in page and 'href="?page=2"' in page and "previous" not in page
    assert 'href="?page=1"' in client.get("/teams/Team A?page=2").text
    for wrong in ("/host/phases/open?page=3", "/host/phases/open?page=0", "/teams/Team A?page=3"):
        assert client.get(wrong).status_code == 404


def test_a_board_changes_with_its_submissions(tmp_path: Path) -> None:
    service, client = world(tmp_path)
    assert "No submission has been verified yet" in client.get("/phases/open").text
    first = add_submission(service, "open", "Team A", 0.6, method="first")
    add_submission(service, "open", "Team B", 0.4, "running", method="other-one")
    assert "first" in client.get("/phases/open").text and "other-one" not in client.get("/phases/open").text
    secret = sign_in(client, "hanna")
    path = f"/host/submissions/{first}"
    assert client.post(f"{path}/disqualify", data={"csrf": secret, "reason": "  "}).status_code == 422
    assert client.post(f"{path}/disqualify", data={"csrf": secret, "reason": "copied"}).status_code == 303
    assert "No submission has been verified yet" in client.get("/phases/open").text
    assert "copied" in client.get(f"/submissions/{first}").text
    assert client.post(f"{path}/reinstate", data={"csrf": secret}).status_code == 303
    assert "first" in client.get("/phases/open").text
    assert "submission.disqualify" in client.get("/host").text
    assert client.post(f"{path}/reinstate", data={"csrf": secret}).status_code == 409


def test_a_board_loses_the_name_and_links_of_a_deleted_team(tmp_path: Path) -> None:
    service, client = world(tmp_path)
    add_submission(service, "open", "Team A", 0.5, link="https://team-a.example")
    shown = client.get("/phases/open").text
    assert "Team A" in shown and "team-a.example" in shown
    form = {"password": PASSWORD, "csrf": sign_in(client, "ada")}
    assert client.post("/account/delete", data=form).status_code == 303
    shown = client.get("/phases/open").text
    assert "(deleted team" in shown and "Team A" not in shown and "team-a.example" not in shown


def test_a_submission_is_run_again(tmp_path: Path) -> None:
    service, client = world(tmp_path)
    name = add_submission(service, "open", "Team A", 0.6)
    live = add_submission(service, "open", "Team A", 0.5, kind="live")
    secret = sign_in(client, "hanna")
    assert client.post(f"/host/submissions/{live}/rerun", data={"csrf": secret}).status_code == 422
    assert client.post(f"/host/submissions/{name}/rerun", data={"csrf": secret}).status_code == 303
    with service.storage.read() as session:
        one = session.query(Submission).filter_by(public_id=name).one()
        assert (one.state, one.summary, one.rank_mean, one.finished) == ("queued", None, None, None)
        assert session.query(ScoreRow).filter_by(submission_id=one.id).count() == 0
        assert session.query(Job).filter_by(submission_id=one.id, state="queued").count() == 1
        assert session.query(UploadChunk).filter_by(submission_id=one.id).count() == 1
    assert client.post(f"/host/submissions/{name}/rerun", data={"csrf": secret}).status_code == 409


def test_a_hidden_board_is_revealed(tmp_path: Path) -> None:
    service, client = world(tmp_path)
    add_submission(service, "secret", "Team A", 0.6, method="ours")
    reader = make_client(make_application(service))
    assert "hidden" in reader.get("/phases/secret").text and "ours" not in reader.get("/phases/secret").text
    secret = sign_in(client, "hanna")
    assert "Only hosts see these scores" in client.get("/phases/secret").text
    client.post("/host/phases/secret/reveal", data={"csrf": secret})
    assert "ours" in reader.get("/phases/secret").text
    client.post("/host/phases/secret/hide", data={"csrf": secret})
    assert "ours" not in reader.get("/phases/secret").text


def test_hidden_corruptions_are_told_with_the_board(tmp_path: Path) -> None:
    phase = Phase(
        name="secret", protocol="pointnav-v1", split="mini", board="hidden", suite="severity-5",
        hide_corruptions=True,
    )  # fmt: skip
    service, client = world(tmp_path, msgspec.structs.replace(CHALLENGE, phases=(phase,)))
    part = msgspec.to_builtins(summarize(make_rows(0.7, "x"), IDENTITY, "made", METRICS))
    made = add_submission(service, "secret", "Team A", 0.7, summary={"parts": [part] * len(phase.parts)})
    sign_in(client, "ada")
    path = f"/api/v1/pages/submissions/{made}"
    assert "spatter" not in client.get(path).text and "spatter" not in client.get(f"/submissions/{made}").text
    with service.storage.write() as session:
        session.query(PhaseRow).one().revealed = 1
    assert [one["corruptions"] for one in client.get(path).json()["parts"]] == [
        list(one.corruptions) for one in phase.parts
    ]


def test_progress_shows_scores_so_far_on_open_splits_alone(tmp_path: Path) -> None:
    service, client = world(tmp_path)
    names = {
        phase: add_submission(service, phase, "Team A", 0.6, "running")
        for phase in ("open", "secret", "live")
    }
    sign_in(client, "ada")
    pages = {phase: client.get(f"/submissions/{name}").text for phase, name in names.items()}
    assert all("10 of 40" in page for page in pages.values())
    assert "SPL so far" in pages["open"] and "(n = 10)" in pages["open"]
    assert "so far:" not in pages["secret"] and "so far:" not in pages["live"]


def test_events_end_with_the_submission(tmp_path: Path) -> None:
    service, client = world(tmp_path)
    name = add_submission(service, "open", "Team A", 0.6)
    answer = client.get(f"/submissions/{name}/events")
    assert answer.headers["content-type"].startswith("text/event-stream")
    (event,) = [json.loads(line[6:]) for line in answer.text.split("\n") if line.startswith("data: ")]
    assert event["ended"] and (event["done"], event["of"]) == (40, 40)


def test_a_journal_holds_the_rows(tmp_path: Path) -> None:
    service, client = world(tmp_path)
    name = add_submission(service, "open", "Team A", 0.6)
    lines = client.get(f"/submissions/{name}/journal").text.strip().split("\n")
    assert [json.loads(line)["episode_id"] for line in lines] == [str(k) for k in range(40)]


def test_tables_of_a_submission(tmp_path: Path) -> None:
    service, client = world(tmp_path)
    page = client.get(f"/submissions/{add_submission(service, 'open', 'Team A', 0.6)}").text
    for text in (
        "By category",
        "chair",
        "sofa",
        "By scene",
        "houses-v1/mini/00009",
        "40 episodes in 10 scenes",
    ):
        assert text in page


def evil_world(folder: Path) -> tuple[Any, Any]:
    """A challenge in which every text that somebody can write is EVIL."""
    phases = tuple(
        msgspec.structs.replace(phase, title=EVIL, text=EVIL + "\n\n[x](javascript:alert(1))")
        for phase in CHALLENGE.phases
    )
    tracks = tuple(msgspec.structs.replace(track, title=EVIL) for track in CHALLENGE.tracks)
    return world(
        folder, msgspec.structs.replace(CHALLENGE, name=EVIL, text=EVIL, phases=phases, tracks=tracks)
    )


def test_scripts_in_any_field_come_out_as_text(tmp_path: Path) -> None:
    service, client = evil_world(tmp_path)
    secret = sign_in(client, "root")
    team = EVIL.replace("/", "")[:64]
    client.post("/account/teams", data={"name": team, "csrf": secret})
    client.post("/account/tokens", data={"label": EVIL, "csrf": secret})
    written = {
        "method": EVIL, "link": "javascript:alert(1)", "code_link": f"https://x/{EVIL}", "hardware": EVIL,
        "training_data": EVIL, "agent": EVIL, "declared_inputs": [EVIL], "trained_with": [EVIL],
        "track": EVIL,
    }  # fmt: skip
    names = [
        add_submission(service, "open", team, 0.5, public_id="one", **written),
        add_submission(
            service,
            "open",
            team,
            0.6,
            "refused",
            public_id="two",
            error_code=EVIL,
            error_text=EVIL,
            **written,
        ),
        add_submission(service, "open", team, 0.7, "running", public_id="three", **written),
    ]
    client.post("/host/submissions/one/disqualify", data={"reason": EVIL, "csrf": secret})
    paths = [
        "/",
        "/phases/open",
        "/phases/open/history",
        "/account",
        "/host",
        "/host/phases/open",
        "/host/people",
    ]
    paths += [f"/submissions/{name}" for name in names] + [
        "/phases/" + EVIL.replace("/", ""),
        "/sign-in",
        "/sign-up",
    ]
    with service.storage.read() as session:
        from navarena.web.challenge.accounts.teams import list_teams
        from navarena.web.challenge.accounts.users import require_user

        (made,) = list_teams(session, require_user(session, "root"))
    from navarena.web.challenge.pages.site import quote_segment

    paths.append(f"/teams/{quote_segment(made.name)}")
    escaped = 0
    for path in paths:
        for _ in range(2):
            page = client.get(path).text
            scripts = re.findall(r"<script[^>]*>", page)
            assert scripts == ['<script src="/static/challenge.js" defer>'], path
            assert not re.search(r"<[^>]*\son\w+\s*=", re.sub(r'"[^"]*"', '""', page)), path
            assert not re.search(r'(href|src|action)="\s*(javascript|data:text)', page, re.I), path
            assert "<img" not in page and "alert('x')</script>" not in page, path
            escaped += page.count("&lt;script&gt;")
        client.post("/host/submissions/one/reinstate", data={"csrf": secret})  # and as it stands on the board
    assert escaped > 40


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("**bold** *it*", "<strong>bold</strong> <em>it</em>"),
        ("<script>x</script>", "&lt;script&gt;"),
        ("<img src=x onerror=y>", "&lt;img"),
        ("[a](https://x.example)", '<a href="https://x.example" rel="nofollow noopener noreferrer">a</a>'),
        ("![a](https://x.example/i.png)", "!<a href"),
        ("| a |\n|---|\n| b |", "<td>b</td>"),
    ],
)
def test_markdown(text: str, wanted: str) -> None:
    assert wanted in render_markdown(text)


@pytest.mark.parametrize(
    "text",
    ["[a](javascript:alert(1))", "[a](JaVaScRiPt:alert(1))", "[a](data:text/html,x)", "<javascript:alert(1)>",
     "[a](vbscript:x)", "[a](&#106;avascript:alert(1))", "[a]: javascript:x\n\n[a]"],
)  # fmt: skip
def test_markdown_makes_no_link_that_runs(text: str) -> None:
    assert "href" not in render_markdown(text)


@pytest.mark.parametrize(
    ("text", "known"),
    [("https://x.example/a", True), ("http://x", True), ("javascript:alert(1)", False), ("//x", False),
     ("", False), ("ftp://x", False), ("https://", False), ("http://[", False)],
)  # fmt: skip
def test_links(text: str, known: bool) -> None:
    assert is_link(text) == known


def test_numbers_are_short() -> None:
    assert [format_number(x) for x in (None, 0, 0.01234, 999, 11_700_000, 2.5e9)] == [
        "–", "0", "0.0123", "999", "11.7 M", "2.5 G",
    ]  # fmt: skip


def test_every_answer_has_the_headers(tmp_path: Path) -> None:
    _, client = world(tmp_path)
    for path in ("/", "/nothing", "/host", "/static/challenge.js", "/api/v1/challenges", "/api/v1/nothing"):
        headers = client.get(path).headers
        policy = headers["content-security-policy"]
        assert "default-src 'none'" in policy and "script-src 'self';" in policy and "unsafe" not in policy
        assert headers["x-content-type-options"] == "nosniff" and "frame-ancestors 'none'" in policy
    for page in ("/", "/phases/open", "/sign-in"):
        text = client.get(page).text
        assert "style=" not in text and not re.search(r"<script(?! src)", text)


def test_failures_are_pages_or_json(tmp_path: Path) -> None:
    _, client = world(tmp_path)
    page = client.get("/nothing")
    assert page.status_code == 404 and "<h1>Not found</h1>" in page.text
    assert client.get("/api/v1/nothing").json()["error"]["code"] == "not_found"
    assert client.get("/api/v1/host").json()["error"]["code"] == "not_found"
    assert client.get("/api/v1/account").json()["error"]["code"] == "sign_in"
    assert client.get("/account", headers={"authorization": "Bearer x"}).status_code == 401


def test_long_forms_are_refused(tmp_path: Path) -> None:
    _, client = world(tmp_path)
    secret = sign_in(client, "ada")
    for form in ({"name": "x" * 70_000, "csrf": secret}, {"name": "x" * 2000, "csrf": secret}):
        assert client.post("/account/teams", data=form).status_code in (413, 422)

    def pieces() -> Any:
        yield b"name=x"

    kind = {"content-type": "application/x-www-form-urlencoded"}
    assert client.post("/account/teams", content=pieces(), headers=kind).status_code == 413
    assert client.get("/", headers=kind).status_code == 200, "of a client that follows a redirect"


def test_the_csv_holds_the_board_and_no_formulas(tmp_path: Path) -> None:
    service, client = world(tmp_path)
    add_submission(service, "open", "Team A", 0.7, method="=cmd()", kind="live")
    add_submission(service, "open", "Team B", 0.3, method="b", kind="live")
    sign_in(client, "hanna")
    rows = list(csv.DictReader(io.StringIO(client.get("/host/phases/open/export.csv").text)))
    assert [(row["rank"], row["method"], row["spl n"]) for row in rows] == [
        ("1", "'=cmd()", "40"),
        ("2", "b", "40"),
    ]
    view = client.get("/api/v1/pages/phases/open").json()
    assert float(rows[0]["spl mean"]) == view["sections"][0]["rows"][0]["metrics"]["spl"]["mean"]
