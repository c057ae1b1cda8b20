"""The commands of docs/challenges.md, as a host and a participant give them."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("sqlalchemy")
pytest.importorskip("fastapi")

from navarena.web.challenge.app import make_app
from navarena.web.challenge.challenge_file import load_challenge
from navarena.web.challenge.service import default_database, open_service
from navarena.web.challenge.storage.engine import open_storage

from .servers import add_account

pytestmark = pytest.mark.server


def commands(root: Path) -> list[str]:
    """Lines of the page's bash fences."""
    text = (root / "docs" / "challenges.md").read_text()
    fences = re.findall(r"^```bash\n(.*?)^```$", text, re.M | re.S)
    return [line for fence in fences for line in fence.splitlines()]


def navarena(line: str, folder: Path, **more: str) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-m", *shlex.split(line)]
    environment = {**os.environ, **more}
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=240)


def test_host_and_submit(root: Path, tmp_path: Path) -> None:
    init, serve, evaluate, export, submit = commands(root)
    assert navarena(init, tmp_path).returncode == 0
    words = [sys.executable, "-m", *shlex.split(serve.replace("8700", "0"))]
    with subprocess.Popen(
        words, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as host:
        assert host.stdout is not None
        url = host.stdout.readline().split()[-1]
        storage = open_storage(default_database(tmp_path / "my-challenge" / "challenge.toml"))
        name, _, _ = export.removeprefix("export ").partition("=")
        token = {name: add_account(storage, "ann")[0]}
        try:
            assert navarena(evaluate, tmp_path).returncode == 0
            done = navarena(submit.replace("http://127.0.0.1:8700", url), tmp_path, **token)
            assert done.returncode == 0, done.stderr
            assert "verified: actions verified, inputs declared" in done.stdout
        finally:
            host.terminate()
            said = host.communicate()[1]
    assert "sign up at" in said and "Traceback" not in said and token[name] not in said


def test_the_page_names_every_route_and_code(root: Path, tmp_path: Path) -> None:
    page = (root / "docs" / "challenges.md").read_text()
    file = tmp_path / "challenge.toml"
    (example,) = re.findall(r"^```toml\n(.*?)^```$", page, re.M | re.S)
    file.write_text(example)
    app = make_app(open_service(load_challenge(file), default_database(file)))
    named = {re.sub(r"[A-Z]{2,}", "{}", path) for path in re.findall(r"`(?:GET|POST) ([^`?]+)", page)}
    ours = ("/api/v1/challenges", "/api/v1/phases", "/api/v1/submissions")
    routes = {re.sub(r"{\w+}", "{}", path) for path in app.openapi()["paths"] if path.startswith(ours)}
    assert named <= routes
    sources = (root / "src" / "navarena" / "web" / "challenge").glob("*.py")
    codes = {code for one in sources for code in re.findall(r'Refusal\(\s*"(\w+)"', one.read_text())}
    mine = {"other_numbers", "closed_phase", "copied_log", "quota_used_up", "edited_log", "too_large"}
    assert mine <= codes and all(f"`{code}`" in page for code in mine)
