"""A challenge as a folder: pages without a server, and a server from the folder."""

import gzip
import json
import re
import stat
from pathlib import Path

import pytest

pytestmark = pytest.mark.server
pytest.importorskip("fastapi")

from navarena.core.errors import FileError, InputError  # noqa: E402
from navarena.web.challenge.live.intake import find_worker, require_stream  # noqa: E402
from navarena.web.challenge.live.wire import BUSY, VERSION, Hello  # noqa: E402
from navarena.web.challenge.service import open_service  # noqa: E402
from navarena.web.challenge.storage.engine import open_storage, sqlite_address  # noqa: E402
from navarena.web.challenge.storage.jobs import take_job  # noqa: E402
from navarena.web.challenge.storage.transfer import list_tables  # noqa: E402
from navarena.web.challenge.transfer import export_challenge, import_challenge  # noqa: E402
from navarena.web.challenge.verification import read_scores  # noqa: E402
from navarena.web.streaming import StreamError  # noqa: E402

from .made import (  # noqa: E402
    CHALLENGE,
    PASSWORD,
    add_submission,
    make_application,
    make_client,
    make_service,
    make_token,
    sign_in,
)


def make_world(folder: Path):
    service = make_service(folder)
    names = {
        "best": add_submission(service, "open", "Team A", 0.7, kind="live", method="best"),
        "other": add_submission(service, "open", "Team B", 0.3, kind="live", method="other"),
        "secret": add_submission(service, "secret", "Team A", 0.5, method="hidden-method"),
        "hidden": add_submission(service, "live", "Team A", 0.55, kind="live", method="unseen"),
        "running": add_submission(service, "open", "Team A", 0.4, "running", method="halfway"),
    }
    return service, names


def test_the_web_part_is_whole_and_holds_nothing_that_is_hidden(tmp_path: Path) -> None:
    service, names = make_world(tmp_path)
    public, _ = export_challenge(service, tmp_path / "out")
    web = tmp_path / "out" / "web"
    assert public == 3
    board = json.loads((web / "phases/open.json").read_text())
    assert [row["method"] for row in board["sections"][0]["rows"]] == ["best", "other"]
    assert "best" in (web / "phases/open.csv").read_text().split("\n")[1]
    assert not (web / "phases/secret.csv").exists() and "hidden" in (web / "phases/secret.html").read_text()
    text = "".join(path.read_text() for path in web.rglob("*") if path.is_file())
    assert "hidden-method" not in text and "halfway" not in text and names["secret"] not in text
    with service.storage.read() as session:
        from navarena.web.challenge.storage.models import User

        hashes = [user.password_hash for user in session.query(User)]
    assert not any(one in text for one in hashes)
    hidden = (web / "submissions" / f"{names['hidden']}.html").read_text()
    assert "houses-v1/mini/0" not in hidden and "houses-v1/mini/0" in text


def test_every_link_of_the_web_part_leads_somewhere(tmp_path: Path) -> None:
    service, _ = make_world(tmp_path)
    export_challenge(service, tmp_path / "out")
    pages = list((tmp_path / "out" / "web").rglob("*.html"))
    assert len(pages) == 1 + 2 * 3 + 3
    for page in pages:
        links = re.findall(r'(?:href|src)="([^"]+)"', page.read_text())
        assert links
        for link in links:
            if not link.startswith(("https://", "data:")):
                assert not link.startswith("/") and (page.parent / link).is_file(), f"{page.name}: {link}"


def test_a_server_comes_back_as_it_was(tmp_path: Path) -> None:
    service, names = make_world(tmp_path)
    token = make_token(service, "ada")
    before = make_client(make_application(service)).get("/api/v1/pages/phases/open").json()
    _, counts = export_challenge(service, tmp_path / "out")
    tables = tmp_path / "out" / "private" / "tables.jsonl.gz"
    assert stat.S_IMODE(tables.stat().st_mode) == 0o600
    storage = open_storage(sqlite_address(tmp_path / "again.sqlite"))
    assert import_challenge(storage, tmp_path / "out") == counts and counts["submissions"] == len(names)
    again = open_service(CHALLENGE, sqlite_address(tmp_path / "again.sqlite"))
    for table in list_tables():
        with service.storage.read() as one, again.storage.read() as two:
            query = table.select().order_by(*table.primary_key.columns)
            assert one.execute(query).all() == two.execute(query).all(), table.name
    client = make_client(make_application(again))
    assert client.get("/api/v1/pages/phases/open").json() == before
    assert client.get("/api/v1/account", headers={"authorization": f"Bearer {token}"}).json()["name"] == "ada"
    sign_in(client, "bob")
    assert PASSWORD not in gzip.decompress(tables.read_bytes()).decode()
    assert add_submission(again, "open", "Team A", 0.2, method="later")


def test_a_database_moves_to_postgresql_and_goes_on(tmp_path: Path, database: str) -> None:
    service, _ = make_world(tmp_path)
    export_challenge(service, tmp_path / "out")
    storage = open_storage(
        database if database.startswith("postgresql") else sqlite_address(tmp_path / "b.sqlite")
    )
    import_challenge(storage, tmp_path / "out")
    address = storage.engine.url.render_as_string(hide_password=False)
    again = open_service(CHALLENGE, address)
    assert add_submission(again, "open", "Team A", 0.2, method="later"), "ids go on after those imported"
    assert len(make_client(make_application(again)).get("/api/v1/pages/phases/open").json()["sections"]) == 2


def test_a_live_run_that_had_not_ended_goes_on_after_an_import(tmp_path: Path) -> None:
    service = make_service(tmp_path)
    name = add_submission(service, "live", "Team A", 0.4, "running", kind="live", method="halfway")
    token = make_token(service, "ada")
    export_challenge(service, tmp_path / "out")
    address = sqlite_address(tmp_path / "again.sqlite")
    import_challenge(open_storage(address), tmp_path / "out")
    again = open_service(CHALLENGE, address)
    for _ in range(2):  # its participant comes back, and is told to wait for a worker
        with pytest.raises(StreamError) as refusal:
            find_worker(again, name, Hello(version=VERSION, token=token))
        assert refusal.value.code == BUSY
    lease = take_job(again.storage, "worker:1", ["live"])
    assert lease is not None and take_job(again.storage, "worker:2", ["live"]) is None
    with again.storage.write() as session:
        assert len(read_scores(session, lease.submission_id, 1)[0]) == 10, "finished episodes are kept"
        held = require_stream(session, lease.submission_id).held
    with again.storage.write() as session:
        assert held["secret"] and require_stream(session, lease.submission_id).held == held


def test_only_an_empty_database_is_filled(tmp_path: Path) -> None:
    service, _ = make_world(tmp_path)
    export_challenge(service, tmp_path / "out")
    with pytest.raises(InputError, match="empty database"):
        import_challenge(service.storage, tmp_path / "out")
    with pytest.raises(InputError, match="new or empty folder"):
        export_challenge(service, tmp_path / "out")


@pytest.mark.parametrize("damage", ["cut", "nonsense", "other", "column", "table", "missing"])
def test_a_damaged_export_fills_nothing(tmp_path: Path, damage: str) -> None:
    service, _ = make_world(tmp_path)
    export_challenge(service, tmp_path / "out")
    path = tmp_path / "out" / "private" / "tables.jsonl.gz"
    lines = gzip.decompress(path.read_bytes()).split(b"\n")
    if damage == "cut":
        path.write_bytes(path.read_bytes()[:-100])
    elif damage == "missing":
        path.unlink()
    else:
        lines[0] = b'{"export": "else"}' if damage == "other" else lines[0]
        lines[9] = b"{" if damage == "nonsense" else lines[9]
        lines[9] = lines[9].replace(b'"id"', b'"di"', 1) if damage == "column" else lines[9]
        lines[9] = b'{"table": "secrets", "row": {}}' if damage == "table" else lines[9]
        path.write_bytes(gzip.compress(b"\n".join(lines)))
    storage = open_storage(sqlite_address(tmp_path / "again.sqlite"))
    with pytest.raises(FileError):
        import_challenge(storage, tmp_path / "out")
    with storage.read() as session:
        assert all(session.execute(table.select()).first() is None for table in list_tables())
