"""docs/host_a_challenge.md and docs/submit.md, followed to the letter by a host and a participant.

Every block of commands is run as it is printed, in its order and in one folder, and what the pages print of
its output must come. Only addresses and tokens are put in. What people do in a browser is done through the
same forms.
"""

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

pytest.importorskip("fastapi")

import httpx2

from navarena.evaluation import read_summary
from navarena.web.challenge.storage.engine import Storage, sqlite_address
from navarena.web.challenge.storage.models import Submission

from .made import PASSWORD, form_secret

pytestmark = [pytest.mark.server, pytest.mark.slow]

FENCE = re.compile(r"^```(bash|python|text)\n(.*?)^```$", re.M | re.S)
FILE_NAME = re.compile(r"# (\w+\.py)\n")
ADDRESSES = ("https://challenge.example", "http://127.0.0.1:8700")
"""Of the server, on the pages."""


@dataclass(frozen=True)
class Block:
    """Commands of a page, or a file (`language` "python"), and the output that it prints of them."""

    language: str
    code: str
    printed: str


def read_blocks(page: Path) -> list[Block]:
    """The blocks of a page; a text is what the commands before it print."""
    found = FENCE.findall(page.read_text())
    return [
        Block(language, code, after[1] if after[0] == "text" else "")
        for (language, code), after in zip(found, [*found[1:], ("", "")], strict=True)
        if language != "text"
    ]


def require_printed(block: Block, output: str, address: str) -> None:
    """Every line that the page prints comes, in order; dots stand for anything."""
    place = 0
    for line in block.printed.splitlines():
        parts = [re.escape(localize(part, address)) for part in line.split("...")]
        found = re.compile(rf"^{'.+?'.join(parts)}$", re.M).search(output, place)
        assert found, f"expected the line {line!r} of\n{block.code}\ngot\n{output}"
        place = found.end()


def localize(text: str, address: str) -> str:
    for one in ADDRESSES:
        text = text.replace(one, address)
    return text


class Terminal:
    """A shell in `folder` that keeps the token; its `navarena` and `pip` are those of the tests."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        programs = folder / ".programs"
        programs.mkdir(exist_ok=True)
        for name in ("navarena", "pip"):
            (programs / name).write_text(f'#!/bin/sh\nexec "{sys.executable}" -m {name} "$@"\n')
            (programs / name).chmod(0o755)
        path = os.pathsep.join((str(programs), os.environ["PATH"]))
        # pip finds what is installed, and asks nobody
        self.environment = {**os.environ, "PATH": path, "PIP_NO_INDEX": "1", "COLUMNS": "100"}

    def run(self, code: str) -> str:
        """What the commands print; all must succeed."""
        kept = self.folder / ".exported"
        script = f"set -euo pipefail\n{code}\nprintenv NAVARENA_TOKEN > '{kept}' || true\n"
        done = subprocess.run(
            ["bash", "-c", script],
            cwd=self.folder,
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=900,
        )
        assert done.returncode == 0, f"{code}\n{done.stdout}\n{done.stderr}"
        if token := kept.read_text().strip():
            self.environment["NAVARENA_TOKEN"] = token
        return done.stderr + done.stdout

    @contextmanager
    def serve(self, block: Block) -> Iterator[tuple[str, str]]:
        """(address, code of the invitation) of the server that the block starts, at another port."""
        log = self.folder / "server.log"
        words = [*block.code.split(), "--port", "0"]
        with log.open("w") as file:
            server = subprocess.Popen(
                words, cwd=self.folder, env=self.environment, stdout=subprocess.PIPE, stderr=file, text=True
            )
        assert server.stdout is not None
        try:
            said = server.stdout.readline()
            address = said.split()[-1]
            require_printed(block, log.read_text() + said, address)
            yield address, log.read_text().split()[-1]
            workers = children(server.pid)
            server.send_signal(signal.SIGTERM)
            assert server.wait(60) == 0, log.read_text()
            assert workers and not [one for one in workers if Path(f"/proc/{one}").exists()]
        finally:
            server.kill()
            server.wait()
            server.stdout.close()


def children(process_id: int) -> list[int]:
    tasks = Path(f"/proc/{process_id}/task").iterdir()
    return [int(child) for task in tasks for child in (task / "children").read_text().split()]


def join(address: str, name: str, team: str, code: str = "") -> str:
    """Sign up, make a team and a token, by the forms of the pages; the token."""
    with httpx2.Client(base_url=address, follow_redirects=True, timeout=60) as browser:

        def send(page: str, form: str, **fields: str) -> str:
            secret = form_secret(browser.get(page).text)
            answer = browser.post(form, data={**fields, "csrf": secret})
            assert answer.status_code == 200, answer.text
            return answer.text

        send("/sign-up", "/sign-up", name=name, password=PASSWORD, code=code)
        send("/account", "/account/teams", name=team)
        page = send("/account", "/account/tokens", label="laptop")
    found = re.search(r'class="secret">.*?<code>([^<]+)</code>', page, re.S)
    assert found, page
    return found[1]


def follow(terminal: Terminal, blocks: list[Block], address: str, token: str) -> None:
    """Do what the blocks say."""
    for block in blocks:
        if block.language == "python":
            named = FILE_NAME.match(block.code)
            assert named, block.code
            (terminal.folder / named[1]).write_text(block.code)
            continue
        code = localize(block.code, address).replace("NAVARENA_TOKEN=...", f"NAVARENA_TOKEN={token}")
        require_printed(block, terminal.run(code), address)


def test_a_host_and_a_participant_who_follow_the_pages(root: Path, tmp_path: Path) -> None:
    """Ten minutes of a host, and a participant's log and live agent, which find the same numbers."""
    hosting = read_blocks(root / "docs" / "host_a_challenge.md")
    # results files of earlier challenges are those of test_trajectories.py
    submitting = [one for one in read_blocks(root / "docs" / "submit.md") if "results.json" not in one.code]
    assert [len(hosting), len(submitting)] == [5, 4], "blocks are found"
    host = Terminal(tmp_path)
    follow(host, hosting[:1], "", "")
    with host.serve(hosting[1]) as (address, code):
        follow(host, hosting[2:3], address, join(address, "hanna", "Hosts", code))
        follow(Terminal(tmp_path), submitting, address, join(address, "ada", "Walkers"))
        follow(host, hosting[3:], address, "")
    local = read_summary(tmp_path / "runs" / "mine").metrics
    storage = Storage(sqlite_address(tmp_path / "restored.sqlite"))
    with storage.read() as session:
        found = [session.get_one(Submission, number) for number in (1, 2, 3)]
    assert [(one.kind, one.state) for one in found] == [(kind, "verified") for kind in ("log", "log", "live")]
    assert [one.method for one in found] == ["Random", "My method", "My method"]
    assert found[1].rank_mean == found[2].rank_mean == local["spl"].mean
