"""The commands as people give them: serve, serve-worker and submit, and their refusals."""

import itertools
import json
import signal
import socket
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("sqlalchemy")
pytest.importorskip("fastapi")

from sqlalchemy import select, text

from navarena.cli.main import main
from navarena.evaluation import read_summary
from navarena.web.challenge.challenge_file import load_challenge
from navarena.web.challenge.service import default_database
from navarena.web.challenge.storage.engine import open_storage
from navarena.web.challenge.storage.models import PhaseRow

from .servers import add_account, make_run, write_challenge

pytestmark = pytest.mark.server

SEEDS = itertools.count()


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Path]]:
    """(address, challenge file) of a server without workers."""
    file = write_challenge(tmp_path_factory.mktemp("served"))
    command = [sys.executable, "-m", "navarena", "serve", str(file), "--port", "0", "--workers", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            url = process.stdout.readline().split()[-1]
            with urllib.request.urlopen(f"{url}/api/v1/challenges", timeout=60) as response:
                assert json.load(response)[0]["name"] == "Test"
            yield url, file
            process.send_signal(signal.SIGINT)
            _, said = process.communicate(timeout=30)
            assert process.returncode == 0
            assert "the first account is an administrator's" in said and "Traceback" not in said
        finally:
            process.kill()  # or a failure would wait for it for ever


@pytest.fixture
def run(tmp_path: Path) -> Path:
    return make_run(tmp_path / "run", "random", seed=next(SEEDS))


def refused(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """The one line with which a command refuses."""
    assert main(list(arguments)) == 2
    err = capsys.readouterr().err
    assert err.startswith("error: ") and err.count("\n") == 1
    return err


def test_a_run_is_submitted_executed_and_shown(
    served: tuple[str, Path], run: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    url, file = served
    storage = open_storage(default_database(file))
    monkeypatch.setenv("NAVARENA_TOKEN", add_account(storage, "ann")[0])
    flags = ["--phase", "minival", "--track", "all", "--json"]
    assert main(["submit", url, str(run), *flags, "--no-wait"]) == 0
    assert json.loads(capsys.readouterr().out)["state"] == "queued"
    assert main(["serve-worker", str(file), "--once", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"jobs": 2}  # the log, and the overview of its episodes
    assert main(["submit", url, str(run), *flags]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["state"] == "verified" and found["agent"] == found["method"] == "random"
    assert found["rank_mean"] == read_summary(run).metrics["spl"].mean
    assert main(["submit", url, str(run), *flags[:-1]]) == 0
    assert "actions verified, inputs declared" in capsys.readouterr().out
    assert main(["submit", url, str(run), "--phase", "minival", "--track", "plain", "--no-wait"]) == 0
    assert "submitted before, on the track all as 'random'; it counts once" in capsys.readouterr().err


def test_submissions_that_are_refused(
    served: tuple[str, Path],
    run: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    url, file = served
    send = ["submit", url, str(run), "--phase", "minival", "--track", "all"]
    monkeypatch.delenv("NAVARENA_TOKEN", raising=False)
    assert "expected the token of your account in $NAVARENA_TOKEN" in refused(capsys, *send)
    monkeypatch.setenv("NAVARENA_TOKEN", "wrong")
    assert "this token is unknown or was revoked" in refused(capsys, *send)
    storage = open_storage(default_database(file))
    held = tmp_path / "token"
    held.write_text(add_account(storage, "bob")[0] + "\n")
    send += ["--token-file", str(held)]
    assert "Did you mean 'minival'" in refused(capsys, *send[:4], "minivl", *send[5:])
    assert "unknown track 'rgb'" in refused(capsys, *send[:6], "rgb", *send[7:])
    assert "expected one of your teams (team bob)" in refused(capsys, *send, "--team", "team ann")
    assert "link" in refused(capsys, *send, "--link", "javascript:x")
    assert "run.json" in refused(capsys, "submit", url, str(file.parent), *send[3:])
    with storage.write() as session:
        session.scalars(select(PhaseRow)).one().frozen = True
    assert "was frozen by its host" in refused(capsys, *send)
    with storage.write() as session:
        session.scalars(select(PhaseRow)).one().frozen = False


def test_addresses_without_a_server(
    run: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("NAVARENA_TOKEN", "some")
    monkeypatch.setattr("navarena.web.challenge.client.RETRIES", 1)
    flags = [str(run), "--phase", "minival"]
    assert "expected an address such as https://" in refused(capsys, "submit", "challenge.org", *flags)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}"
    assert "got no answer" in refused(capsys, "submit", url, *flags)


def test_servers_that_cannot_start(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = write_challenge(tmp_path)
    assert "expected a challenge file, got none" in refused(capsys, "serve")
    assert "does not exist" in refused(capsys, "serve", str(tmp_path / "none.toml"))
    assert "expected at least 0 workers" in refused(capsys, "serve", str(file), "--workers", "-1")
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        assert "Address already in use" in refused(capsys, "serve", str(file), "--port", port)
    assert not file.with_suffix(".sqlite").exists(), "nothing was made"
    assert "cannot listen" in refused(capsys, "serve", str(file), "--port", "99999")
    nowhere = f"sqlite:///{tmp_path}/none/x.sqlite"
    assert "the database refused" in refused(capsys, "serve", str(file), "--port", "0", "--database", nowhere)
    storage = open_storage(default_database(file))
    with storage.engine.begin() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    for command in (["serve", str(file), "--port", "0"], ["serve-worker", str(file)]):
        assert "of a newer one" in refused(capsys, *command)


def test_ready_files_are_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "new"
    assert main(["serve", "--init", str(folder), "--benchmark", "multion", "--json"]) == 0
    written = json.loads(capsys.readouterr().out)["challenge"]
    assert load_challenge(Path(written)).name == "MultiON"
    assert "exists; choose another folder" in refused(capsys, "serve", "--init", str(folder))
    assert "unknown benchmark 'x'" in refused(capsys, "serve", "--init", str(folder), "--benchmark", "x")
