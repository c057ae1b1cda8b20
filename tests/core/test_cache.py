"""Where the cache folder stands."""

from pathlib import Path

import pytest

from navarena.core.cache import cache_folder


def test_variable_decides(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("NAVARENA_CACHE", str(tmp_path))
    assert cache_folder() == tmp_path


def test_variable_may_be_relative_or_of_a_home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("NAVARENA_CACHE", "here")
    assert cache_folder() == tmp_path / "here"
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("NAVARENA_CACHE", "~/there")
    assert cache_folder() == tmp_path / "there"


@pytest.mark.parametrize(
    ("platform", "ending"),
    [("linux", ".cache/navarena"), ("darwin", "Library/Caches/navarena")],
)
def test_defaults(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, platform: str, ending: str) -> None:
    monkeypatch.delenv("NAVARENA_CACHE", raising=False)
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr("sys.platform", platform)
    assert cache_folder() == tmp_path / ending


def test_desktop_variable(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("NAVARENA_CACHE", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr("sys.platform", "linux")
    assert cache_folder() == tmp_path / "navarena"
