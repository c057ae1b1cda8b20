"""docs/challenge_files.md: its example can be served, and it names the routes and codes that there are."""

import re
from pathlib import Path

import pytest

pytest.importorskip("sqlalchemy")
pytest.importorskip("fastapi")

from navarena.web.challenge.app import make_app
from navarena.web.challenge.challenge_file import load_challenge
from navarena.web.challenge.service import default_database, open_service

pytestmark = pytest.mark.server


def test_the_page_names_every_route_and_code(root: Path, tmp_path: Path) -> None:
    page = (root / "docs" / "challenge_files.md").read_text()
    file = tmp_path / "challenge.toml"
    (example,) = re.findall(r"^```toml\n(.*?)^```$", page, re.M | re.S)
    file.write_text(example)
    app = make_app(open_service(load_challenge(file), default_database(file)))
    named = {re.sub(r"[A-Z]{2,}", "{}", path) for path in re.findall(r"`(?:GET|POST) ([^`?]+)", page)}
    routes = {re.sub(r"{\w+}", "{}", path) for path in app.openapi()["paths"]}
    assert named <= routes
    sources = (root / "src" / "navarena" / "web" / "challenge").glob("*.py")
    codes = {code for one in sources for code in re.findall(r'Refusal\(\s*"(\w+)"', one.read_text())}
    mine = {"other_numbers", "closed_phase", "copied_log", "quota_used_up", "edited_log", "too_large"}
    assert mine <= codes and all(f"`{code}`" in page for code in mine)
