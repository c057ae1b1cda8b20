"""Files that are left out where only marked tests are asked for, and that no test is lost by it."""

import re
from pathlib import Path
from types import SimpleNamespace

import pytest

import conftest

FILES = {
    "test_plain.py": "def test_slow_server(): ...",
    "test_server.py": "import pytest\npytestmark = [pytest.mark.server]",
    "test_drawn.py": "from hypothesis.stateful import rule",
    "test_long.py": "CASES = [1, pytest.param(2, marks=pytest.mark.slow)]",
    "test_slower.py": "import pytest\npytestmark = pytest.mark.slowest",
    "__init__.py": "",
}


@pytest.mark.parametrize(
    ("chosen", "wanted"),
    [
        ("server", {"test_server.py"}),
        ("slow", {"test_long.py"}),
        ("slow or hypothesis", {"test_long.py", "test_drawn.py"}),
        ("not slow and not server", {*FILES}),
        ("slow and not server", {*FILES}),
        ("", {*FILES}),
    ],
)
def test_files_in_which_a_mark_can_stand(tmp_path: Path, chosen: str, wanted: set[str]) -> None:
    config = SimpleNamespace(option=SimpleNamespace(markexpr=chosen))
    collected = set()
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
        if conftest.pytest_ignore_collect(tmp_path / name, config) is None:
            collected.add(name)
    assert collected == wanted | {"__init__.py"}
    assert conftest.pytest_ignore_collect(tmp_path, config) is None


def test_marks_are_written_in_the_file_of_the_test(root: Path) -> None:
    shared = [path for path in (root / "tests").rglob("*.py") if not path.match("test_*.py")]
    for path in shared:
        assert not re.search(r"mark\.(slow|learn|cluster|server)\b|@given", path.read_text()), path
