"""`navarena doctor`: healthy here, and each fault named with its remedy."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from navarena.cli import doctor
from navarena.cli.main import main


def diagnosis(capsys: pytest.CaptureFixture[str], code: int = 0) -> dict[str, dict[str, Any]]:
    assert main(["doctor", "--json"]) == code
    document = json.loads(capsys.readouterr().out)
    assert set(document) == {"healthy", "findings", "warm_seconds"}
    assert document["healthy"] == (code == 0)
    assert all(set(f) == {"name", "status", "detail", "remedy"} for f in document["findings"])
    return {finding["name"]: finding for finding in document["findings"]}


def test_healthy(capsys: pytest.CaptureFixture[str], empty_cache: Path) -> None:
    found = diagnosis(capsys)
    assert {"Python", "kernels", "threads", "cache folder", "reference renderer", "browser"} <= set(found)
    assert found["kernels"]["status"] == "ok" and found["cache folder"]["status"] == "ok"
    assert str(empty_cache) in found["cache folder"]["detail"]


def test_everything_missing_has_a_remedy(capsys: pytest.CaptureFixture[str], empty_cache: Path) -> None:
    assert all(f["remedy"] for f in diagnosis(capsys).values() if f["status"] != "ok")


def test_cache_that_cannot_be_written(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "taken").write_text("a file")
    monkeypatch.setenv("NAVARENA_CACHE", str(tmp_path / "taken"))
    finding = diagnosis(capsys, code=1)["cache folder"]
    assert finding["status"] == "problem" and "NAVARENA_CACHE" in finding["remedy"]


@pytest.mark.parametrize(
    ("variable", "value", "name"),
    [
        ("NAVARENA_THREADS", "many", "threads"),
        ("NAVARENA_TEST_DATA", "/nowhere/at/all", "test data"),
        ("NAVARENA_CACHE_LIMIT", "much", "cache folder"),
    ],
)
def test_bad_variables(
    variable: str, value: str, name: str, capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch, empty_cache: Path,
) -> None:  # fmt: skip
    monkeypatch.setenv(variable, value)
    finding = diagnosis(capsys, code=1)[name]
    assert finding["status"] == "problem" and variable in finding["detail"] + finding["remedy"]


def test_kernels_that_are_switched_off(empty_cache: Path) -> None:
    """In a process of its own: Numba never forgets that variable."""
    code = "from navarena.cli.doctor import check_numba; print(check_numba())"
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "1"}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True)
    assert "status='problem'" in done.stdout and "unset NUMBA_DISABLE_JIT" in done.stdout


def test_extras() -> None:
    extras = doctor.list_extras()
    assert "torch" in extras["learn"] and "pytest" in extras["test"]
    assert doctor.check_extra("test", extras["test"]).status == "ok"
    finding = doctor.check_extra("learn", ("numpy", "no-such-library"))
    assert finding == doctor.Finding(
        "extra learn", "missing", "without no-such-library", "pip install 'navarena[learn]'"
    )


def test_old_python(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.version_info", (3, 10, 0))
    assert doctor.check_python().status == "problem"
