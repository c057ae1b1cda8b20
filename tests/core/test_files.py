"""Atomic writes: whole or not at all, also when the disk is full."""

import errno
import gzip
import os
from pathlib import Path

import numpy as np
import pytest

from navarena.core import files
from navarena.core.errors import FileError, StorageError
from navarena.core.files import (
    FileLimits,
    atomic_path,
    cache_folder,
    read_bytes,
    read_json,
    read_text,
    translate_damage,
    write_atomic,
)


def names_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_write_replaces_the_whole_content(tmp_path: Path) -> None:
    target = tmp_path / "new" / "file.json"
    write_atomic(target, b"long first content")
    write_atomic(target, b"second")
    assert target.read_bytes() == b"second"
    assert names_in(target.parent) == ["file.json"]


def test_what_is_no_file_stays(tmp_path: Path) -> None:
    """Not replaced by a file, which whoever may write everywhere could do to /dev/stdout."""
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "folder").mkdir()
    for name in ("pipe", "folder"):
        with pytest.raises(StorageError, match=f"expected a file to write, got .*{name}, which is none"):
            write_atomic(tmp_path / name, b"data")
    assert (tmp_path / "pipe").is_fifo() and names_in(tmp_path) == ["folder", "pipe"]


def test_folders_that_may_not_be_looked_into_are_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As the system tells a user who may not: root, who runs some tests, may."""

    def refuse(path: Path) -> bool:
        raise PermissionError(errno.EACCES, "Permission denied", str(path))

    monkeypatch.setattr(Path, "exists", refuse)
    with pytest.raises(StorageError, match="file.json: Permission denied; choose a folder that can be"):
        files.require_place(tmp_path / "file.json")


def test_links_are_followed(tmp_path: Path) -> None:
    (tmp_path / "far").mkdir()
    (tmp_path / "file").symlink_to(Path("far", "file"))
    for content in (b"first", b"second"):
        write_atomic(tmp_path / "file", content)
        assert (tmp_path / "far" / "file").read_bytes() == content
    assert (tmp_path / "file").is_symlink() and names_in(tmp_path / "far") == ["file"]


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


def test_archives_are_unpacked_within_bounds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "LIMITS", FileLimits(unpacked_ratio=3, unpacked_bytes=1000))
    path = tmp_path / "a.gz"
    path.write_bytes(gzip.compress(b"a" * 1000))
    assert read_bytes(path, "file") == b"a" * 1000
    path.write_bytes(gzip.compress(b"a" * 1001))
    with pytest.raises(FileError, match=r"file .*a\.gz unpacks to more than 3 times its \d+ bytes"):
        read_bytes(path, "file")
    noise = np.random.default_rng(0).bytes(5000)
    path.write_bytes(gzip.compress(noise))
    assert read_bytes(path, "file") == noise, "three times its size is more than 1000 bytes"


def test_archives_in_parts_and_broken_ones(tmp_path: Path) -> None:
    path = tmp_path / "a.gz"
    data = gzip.compress(b"first ") + gzip.compress(b"second")
    path.write_bytes(data + b"\0" * 10)
    assert read_bytes(path, "file") == b"first second"
    for broken in (
        data[:-1],
        data[:30],
        data[:12] + b"\xff" + data[13:],
        data[:-6] + b"\0" + data[-5:],
        data + b"x",
    ):
        path.write_bytes(broken)
        with pytest.raises(FileError, match=r"file .*a\.gz is damaged or of another kind \(.+\); copy"):
            read_bytes(path, "file")


def test_text_and_json(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes("\ufeffwörds".encode())
    assert read_text(path, "list") == "wörds"
    path.write_bytes("wörds".encode("latin-1"))
    with pytest.raises(FileError, match=r"list .*a is damaged or of another kind \('utf-8'.*; copy"):
        read_text(path, "list")
    path.write_bytes(b'{"a": [1, 2.5]}')
    assert read_json(path, "list") == {"a": [1, 2.5]}
    with pytest.raises(FileError, match=r"list .*a is damaged .*Expected `str`.*; make it again"):
        read_json(path, "list", dict[str, list[str]], "make it again")
    for broken in (b"[" * 3000, b'["\xff"]', b"1" * 5000, b"[1", b"nothing"):
        path.write_bytes(broken)
        with pytest.raises(FileError, match="is damaged or of another kind"):
            read_json(path, "list")


def test_a_byte_order_mark_before_json_is_no_damage(tmp_path: Path) -> None:
    path = tmp_path / "tours.json"
    path.write_bytes(b"\xef\xbb\xbf[1, 2]")
    assert read_json(path, "tour file", list[int]) == [1, 2]


def test_unreadable_paths(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    for path in (tmp_path / ("x" * 3000), tmp_path / "a\0b"):
        with pytest.raises(FileError, match="cannot read file"):
            read_bytes(path, "file")
    with pytest.raises(FileError, match="does not exist"):
        read_bytes(tmp_path / "file" / "below", "file")


def test_mistakes_of_ours_are_no_damage() -> None:
    with pytest.raises(StorageError, match="mine"), translate_damage("file"):
        raise StorageError("mine")
    with pytest.raises(AssertionError), translate_damage("file"):
        raise AssertionError


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
