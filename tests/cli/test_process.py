"""The command's process when an agent, its caller or another program takes its files away."""

import subprocess
import sys

import pytest

LISTING = "import sys; from navarena.cli.main import main; sys.exit(main(['list', 'protocols']))"

CLOSING = """
import os, sys
from navarena.cli.process import keep_streams
with keep_streams(stdout_to={to}) as real:
    os.closerange(0, 3)
    sys.stdout.close()
    print("within")
    print("noted", file=sys.stderr)
    print("document", file=real)
print("after")
"""

HOLDING = """
import sys
from navarena.cli.process import keep_streams
with keep_streams(stdout_to={to}):
    held = (sys.stdout, sys.stderr)
    print("within", file=held[0])
for stream in held:
    print("after", file=stream, flush=True)
    assert not stream.closed and not stream.isatty()
"""

CUTTING = """
import os
from pathlib import Path
from navarena.cli.process import explain_cut_files
from navarena.scenes.pack_file import map_file
explain_cut_files()
path = Path({path!r})
view = map_file(path)
assert view[1 << 20] == 7
os.truncate(path, 4096)
print(view[1 << 20])
"""


def run(code, redirections=""):
    shell = f'exec "$0" -c "$1" {redirections}'
    return subprocess.run(
        ["sh", "-c", shell, sys.executable, code], capture_output=True, text=True, timeout=60, check=False
    )


@pytest.mark.parametrize("redirections", [">&-", "2>&-", "<&-", "<&- >&- 2>&-"])
def test_a_caller_may_close_the_standard_streams(redirections):
    done = run(LISTING, redirections)
    assert done.returncode == 0 and done.stderr == ""
    assert ("pointnav-v1" in done.stdout) == (">&-" not in redirections.replace("2>&-", ""))


@pytest.mark.parametrize("encoding", ["ascii", "latin-1"])
def test_signs_that_stdout_lacks_are_question_marks(encoding, monkeypatch):
    monkeypatch.setenv("PYTHONIOENCODING", encoding)
    code = "from navarena.cli.process import open_standard_streams as run; run(); print('2 \\u2013 3')"
    done = run(code)
    assert (done.returncode, done.stdout, done.stderr) == (0, "2 ? 3\n", "")


@pytest.mark.parametrize(("to", "stdout", "stderr"), [
    (1, ["within", "document", "after"], ["noted"]),
    (2, ["document", "after"], ["within", "noted"]),
])  # fmt: skip
def test_streams_stay_open_when_an_agent_closes_them(to, stdout, stderr):
    done = run(CLOSING.format(to=to))
    assert done.returncode == 0
    assert (done.stdout.split(), done.stderr.split()) == (stdout, stderr)


@pytest.mark.parametrize(("to", "stdout", "stderr"), [
    (1, ["within", "after"], ["after"]),
    (2, [], ["within", "after", "after"]),
])  # fmt: skip
def test_streams_that_a_library_took_within_serve_it_afterwards(to, stdout, stderr):
    done = run(HOLDING.format(to=to))
    assert done.returncode == 0
    assert (done.stdout.split(), done.stderr.split()) == (stdout, stderr)


def test_a_mapped_file_that_is_cut_off_is_one_line(tmp_path):
    path = tmp_path / "large.pack"
    path.write_bytes(b"\7" * (1 << 21))
    done = run(CUTTING.format(path=str(path)))
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("error: a file that is in use was cut off") and done.stderr.count("\n") == 1
