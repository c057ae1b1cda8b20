"""A whole challenge in a real browser: sign up, team, log, live agent, rank, freeze, reveal, export.

Skipped without Chromium; on Debian, apt-get install chromium. With NAVARENA_SCREENSHOTS=DIR, pages are drawn
into DIR.
"""

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

pytestmark = [pytest.mark.server, pytest.mark.browser, pytest.mark.slow]
pytest.importorskip("fastapi")
playwright = pytest.importorskip("playwright.sync_api")

from ..browsers import open_browser  # noqa: E402

CHALLENGE = """
name = "Flats"
text = "Reach the **point**."
[[tracks]]
name = "plain"
title = "No privileges"
[[tracks]]
name = "all"
privileged = true
[[phases]]
name = "minival"
title = "Minival"
protocol = "pointnav-v1"
split = "mini"
episodes = 4
quota = {per_day = 3}
[[phases]]
name = "final"
protocol = "pointnav-v1+max_steps=25"
split = "mini"
accepts = ["live"]
private_seed = "final.seed"
per_scene = 1
episodes = 3
step_seconds = 600.0
board = "hidden"
"""
AGENT = """
import pathlib
import time


class Walker:
    sensors = ("pointgoal_with_gps_compass",)

    def reset(self):
        pass

    def act(self, observations):
        while not pathlib.Path("seen").exists():  # the page has shown that it runs
            time.sleep(0.1)
        distance, bearing = observations["pointgoal_with_gps_compass"]
        if distance < 0.2:
            return 0
        return 1 if abs(bearing) < 0.27 else 2 if bearing > 0 else 3
"""
PASSWORD = "a long password"


@contextmanager
def serve(folder: Path) -> Iterator[tuple[str, str]]:
    """(address, code of the first administrator) of a server with one worker."""
    command = [sys.executable, "-u", "-m", "navarena", "serve", "challenge.toml", "--port", "0"]
    with open(folder / "serve.log", "w+") as log:
        server = subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=log, text=True)
        assert server.stdout is not None
        try:
            said = ""
            while not (found := re.search(r"Flats: (http://\S+)", said)):
                line = server.stdout.readline()
                assert line, (folder / "serve.log").read_text()
                said += line
            code = re.search(r"the code (\S+)", said + (folder / "serve.log").read_text())
            assert code, said
            yield found[1], code[1]
        finally:
            server.terminate()
            server.wait(30)
            server.stdout.close()


def run_navarena(folder: Path, *words: str, token: str = "") -> str:
    done = subprocess.run(
        [sys.executable, "-m", "navarena", *words],
        cwd=folder,
        env={**os.environ, "NAVARENA_TOKEN": token},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@contextmanager
def start_navarena(folder: Path, *words: str, token: str) -> "Iterator[subprocess.Popen[bytes]]":
    """A command that goes on beside the block; what it says is in submit.log."""
    environment = {**os.environ, "NAVARENA_TOKEN": token}
    with open(folder / "submit.log", "wb") as log:
        command = [sys.executable, "-m", "navarena", *words]
        process = subprocess.Popen(command, cwd=folder, stdout=log, stderr=log, env=environment)
        try:
            yield process
        finally:
            process.kill()
            process.wait()


def draw(page: Any, name: str) -> None:
    folder = os.environ.get("NAVARENA_SCREENSHOTS")
    if folder:
        page.screenshot(path=f"{folder}/{name}.png", full_page=True)


def sign_up(page: Any, address: str, name: str, code: str = "") -> None:
    page.goto(f"{address}/sign-up")
    page.fill("input[name=name]", name)
    page.fill("input[name=password]", PASSWORD)
    page.fill("input[name=code]", code)
    page.click("main button")
    page.wait_for_url("**/account")


def test_a_whole_challenge(tmp_path: Path) -> None:
    (tmp_path / "challenge.toml").write_text(CHALLENGE)
    (tmp_path / "final.seed").write_text("8734560192837465019283746501928374650")
    (tmp_path / "walker.py").write_text(AGENT)
    for agent in ("expert", "random"):
        words = ("evaluate", "pointnav-v1", "--agent", agent, "--split", "mini", "--episodes", "4")
        run_navarena(tmp_path, *words, "--out", f"{agent}-mini")
    with open_browser() as browser, serve(tmp_path) as (address, code):
        failures: list[str] = []
        host, team, reader = (browser.new_context().new_page() for _ in range(3))
        for page in (host, team, reader):
            page.set_default_timeout(60_000)
            page.on("pageerror", lambda error: failures.append(str(error)))
            page.on("console", lambda said: failures.append(said.text) if said.type == "error" else None)
        sign_up(host, address, "hanna", code)
        assert host.locator("nav >> text=Host").count() == 1
        sign_up(team, address, "ada")
        team.fill("form[action='/account/teams'] input[name=name]", "Walkers")
        team.click("form[action='/account/teams'] button")
        team.wait_for_url("**/teams/Walkers")
        assert "3" in team.inner_text("table >> nth=0")
        team.goto(f"{address}/account")
        team.fill("input[name=label]", "laptop")
        team.click("form[action='/account/tokens'] button")
        token = team.inner_text(".secret code")
        draw(team, "token")

        for run, track in (("random-mini", "plain"), ("expert-mini", "all")):
            words = ("submit", address, run, "--phase", "minival", "--track", track, "--json")
            found = json.loads(run_navarena(tmp_path, *words, token=token))
            assert found["state"] == "verified"
            local = json.loads((tmp_path / run / "summary.json").read_text())["metrics"]["spl"]["mean"]
            assert found["rank_mean"] == local, "the server's number is the local one to the last digit"
        words = ("submit", address, "--agent", "walker:Walker", "--phase", "final", "--track", "plain")
        with start_navarena(tmp_path, *words, "--method", "Strider", token=token) as acting:
            team.goto(f"{address}/teams/Walkers")
            while not team.locator("main a:text-is('Strider')").count():
                assert acting.poll() is None, (tmp_path / "submit.log").read_text()
                team.reload()
            team.click("main a:text-is('Strider')")
            team.wait_for_selector("#done:text-is('0 of 3')")
            team.wait_for_selector("#state:has-text('running')")
            assert "so far" not in team.inner_text("main")
            draw(team, "running")
            (tmp_path / "seen").touch()
            assert acting.wait(300) == 0, (tmp_path / "submit.log").read_text()
        team.wait_for_selector("#state .chip-good")  # the script follows the events, and loads the end
        assert "hidden" in team.inner_text("main") and team.locator("h3").count() == 0
        draw(team, "hidden")

        reader.goto(f"{address}/phases/minival")
        rows = reader.locator("table.board").first.locator("tbody tr")
        assert rows.count() == 1 and rows.first.locator("td").first.inner_text() == "1"
        assert "Privileged, not ranked" in reader.inner_text("main")
        draw(reader, "board")
        reader.click("table.board >> nth=0 >> text=Success")
        assert "sort=success" in reader.url
        reader.goto(f"{address}/phases/minival/history")
        draw(reader, "history")
        reader.goto(f"{address}/phases/final")
        assert "hidden" in reader.inner_text("main") and "Strider" not in reader.inner_text("main")

        host.goto(f"{address}/host")
        host.click("form[action='/host/phases/minival/freeze'] button")
        host.wait_for_selector("form[action='/host/phases/minival/unfreeze']")
        host.click("form[action='/host/phases/final/reveal'] button")
        host.wait_for_selector("form[action='/host/phases/final/hide']")
        assert "phase.freeze" in host.inner_text("main")
        draw(host, "host")
        reader.goto(f"{address}/phases/final")
        row = reader.locator("table.board tbody tr")
        assert row.count() == 1 and row.locator("td").first.inner_text() == "1"
        reader.click("table.board tbody a:text-is('Strider')")
        assert "Strider" in reader.inner_text("h1") and "SPL" in reader.inner_text("main")
        assert "By scene" not in reader.inner_text("main"), "scenes that nobody knows"
        draw(reader, "submission")
        reader.goto(f"{address}/phases/minival")
        reader.click("table.board tbody a:text-is('random')")
        assert "By scene" in reader.inner_text("main")

        words = ("submit", address, "expert-mini", "--phase", "minival", "--track", "all")
        refused = subprocess.run(
            [sys.executable, "-m", "navarena", *words],
            cwd=tmp_path, env={**os.environ, "NAVARENA_TOKEN": token}, capture_output=True, text=True,
        )  # fmt: skip
        assert refused.returncode == 2 and "frozen" in refused.stderr, refused.stderr

        run_navarena(tmp_path, "serve", "export", "exported")
        reader.goto((tmp_path / "exported" / "web" / "index.html").as_uri())
        reader.click("text=final")
        assert reader.locator("table.board tbody tr").count() == 1
        draw(reader, "exported")
        assert not [one for one in failures if "favicon" not in one], failures
