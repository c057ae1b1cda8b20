"""Atomic writes: whole or not at all, also when the disk is full."""

import errno
import os
from pathlib import Path

import pytest

from navarena.core.errors import FileError, StorageError
from navarena.core.files import atomic_path, cache_folder, read_bytes, write_atomic


def names_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_write_replaces_the_whole_content(tmp_path: Path) -> None:
    target = tmp_path / "new" / "file.json"
    write_atomic(target, b"long first content")
    write_atomic(target, b"second")
    assert target.read_bytes() == b"second"
    assert names_in(target.parent) == ["file.json"]


def test_failure_leaves_the_old_content(tmp_path: Path) -> None:
    target = tmp_path / "file"
    write_atomic(target, b"old")
    with pytest.raises(RuntimeError, match="on purpose"), atomic_path(target) as temporary:
        temporary.write_bytes(b"half")
        raise RuntimeError("on purpose")
    assert target.read_bytes() == b"old"
    assert names_in(tmp_path) == ["file"]


@pytest.mark.parametrize("step", ["fsync", "replace"])
def test_full_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str) -> None:
    def refuse(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, step, refuse)
    with pytest.raises(StorageError, match=r"cannot write .*file: No space left.*free some space"):
        write_atomic(tmp_path / "file", b"data")
    assert names_in(tmp_path) == []


def test_folder_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("a file stands where a folder should")
    with pytest.raises(StorageError, match="choose a folder that can be written"):
        write_atomic(tmp_path / "taken" / "file", b"data")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs Linux's /dev/full")
def test_real_full_device(tmp_path: Path) -> None:
    full = open("/dev/full", "wb", buffering=0)
    with pytest.raises(StorageError, match="No space left"), full, atomic_path(tmp_path / "file"):
        full.write(b"x")
    assert names_in(tmp_path) == []


def test_read_bytes(tmp_path: Path) -> None:
    path = tmp_path / "mesh.obj"
    with pytest.raises(FileError, match=r"scene file .*mesh\.obj does not exist; check the path"):
        read_bytes(path, "scene file")
    path.write_bytes(b"")
    with pytest.raises(FileError, match="is empty"):
        read_bytes(path, "scene file")
    path.write_bytes(b"v 0 0 0")
    assert read_bytes(path, "scene file") == b"v 0 0 0"
    with pytest.raises(FileError, match="expected a scene file, got the folder"):
        read_bytes(tmp_path, "scene file")


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
