"""The script of `navarena completion`, read by bash itself."""

import json
import shutil
import subprocess

import pytest

from navarena.cli.completion import write_script
from navarena.cli.main import COMMANDS, main

pytestmark = pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")

CASES = {
    ("ev",): {"evaluate"},
    ("episodes", ""): {"audit", "info", "make", "stats"},
    ("evaluate", "--ep"): {"--episodes", "--episode-seconds", "--episode-steps"},
    ("evaluate", "pointnav-v1", "--ag"): {"--agent"},
    ("scene", "make", "--js"): {"--json"},
    ("scene", "x"): set(),
    ("unknown", "--a"): set(),
}


@pytest.fixture(scope="module")
def script():
    return write_script()


def complete(script, words):
    listed = " ".join(f"'{word}'" for word in ("navarena", *words))
    call = f"COMP_WORDS=({listed}); COMP_CWORD={len(words)}; _navarena"
    code = f"{script}{call}; printf '%s\\n' \"${{COMPREPLY[@]}}\""
    done = subprocess.run(["bash", "-c", code], capture_output=True, text=True, check=True)
    assert not done.stderr
    return set(done.stdout.split())


@pytest.mark.parametrize("words", CASES, ids=" ".join)
def test_completed_words(script, words):
    assert complete(script, words) == CASES[words]


def test_first_words_are_all_commands(script):
    assert complete(script, ("",)) == {name.split()[0] for name in COMMANDS}


def test_command(script, capsys):
    assert main(["completion"]) == 0
    assert capsys.readouterr().out == script + "\n"
    assert main(["completion", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"script": script}
