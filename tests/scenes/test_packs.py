"""Packs: round trips, damage, locks, full disks, eviction."""

import errno
import multiprocessing
import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from navarena.core.errors import FileError, InputError, StorageError
from navarena.scenes import cache_store, pack_file, packs


@pytest.fixture(autouse=True)
def _own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("NAVARENA_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("NAVARENA_CACHE_LIMIT", raising=False)


def _sample(seed: int = 0, length: int = 30_000):
    generator = np.random.default_rng(seed)
    arrays = {
        "points": generator.random((length, 3), np.float32),
        "ids": generator.integers(-5, 5, 17, dtype=np.int32),
        "bytes": generator.integers(0, 255, (4, 3, 3), dtype=np.uint8),
        "flags": generator.random(9) > 0.5,
        "none": np.zeros((0, 3)),
        "scalar": np.array(2.5),
    }
    return arrays, {"name": "sample", "list": [1, 2.5, None, "ü"], "nested": {"a": []}}


def _damage(path: Path, data: bytes) -> None:
    """Put `data` where a pack was, which cannot be written."""
    path.chmod(0o644)
    path.write_bytes(data)


def _files(folder: Path) -> list[str]:
    return sorted(str(p.relative_to(folder)) for p in folder.rglob("*") if p.is_file())


def test_round_trip_keeps_every_array(tmp_path):
    arrays, meta = _sample()
    packs.write_pack(tmp_path / "a.pack", arrays, meta)
    pack = packs.open_pack(tmp_path / "a.pack")
    assert pack.meta == meta
    assert list(pack.arrays) == list(arrays)
    for name, array in arrays.items():
        got = pack.arrays[name]
        assert got.dtype == array.dtype and got.shape == array.shape
        np.testing.assert_array_equal(got, array)
        assert not got.flags.writeable
        assert got.size == 0 or got.ctypes.data % pack_file.ALIGNMENT == 0
    packs.verify_pack(tmp_path / "a.pack")


def test_no_arrays_and_objects_in_arrays(tmp_path):
    packs.write_pack(tmp_path / "a.pack", {}, {})
    assert dict(packs.open_pack(tmp_path / "a.pack").arrays) == {}
    with pytest.raises(ValueError, match="expected plain numbers in array 'x'"):
        packs.write_pack(tmp_path / "b.pack", {"x": np.array([None])}, {})
    assert _files(tmp_path) == ["a.pack"]


@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_any_flipped_byte_and_any_truncation_is_noticed(tmp_path_factory, data):
    path = tmp_path_factory.mktemp("pack") / "a.pack"
    packs.write_pack(path, *_sample(length=12_000))
    good = path.read_bytes()
    where = data.draw(st.integers(0, len(good) - 1))
    layout_end = pack_file._read_layout(path, pack_file._map_file(path)).data_start
    damaged = bytearray(good)
    damaged[where] ^= data.draw(st.integers(1, 255))
    _damage(path, bytes(damaged))
    padding = layout_end - 64 <= where < layout_end and good[where] == 0  # between sums and data
    if not padding:
        with pytest.raises(FileError, match=r"is damaged: .*navarena cache clear"):
            packs.open_pack(path)
    _damage(path, good[:where])
    with pytest.raises(FileError, match="is damaged"):
        packs.open_pack(path)
    _damage(path, good + b"more")
    with pytest.raises(FileError, match="is damaged"):
        packs.open_pack(path)


def test_large_packs_are_sampled_on_opening_and_read_whole_by_verify(tmp_path, monkeypatch):
    monkeypatch.setattr(pack_file, "CHECKED_BLOCKS", 3)
    path = tmp_path / "a.pack"
    packs.write_pack(path, {"x": np.arange(80_000)}, {})  # ten blocks; first, middle and last are read
    good = path.read_bytes()
    for block, seen in ((0, True), (1, False), (9, True)):
        damaged = bytearray(good)
        damaged[len(good) - 640_000 + block * pack_file.BLOCK + 7] ^= 1
        _damage(path, bytes(damaged))
        if seen:
            with pytest.raises(FileError, match=f"checksum of block {block} of 10"):
                packs.open_pack(path)
        else:
            packs.open_pack(path)
        with pytest.raises(FileError, match=f"checksum of block {block} of 10"):
            packs.verify_pack(path)


def test_missing_and_foreign_files(tmp_path):
    with pytest.raises(FileError, match="does not exist"):
        packs.open_pack(tmp_path / "no.pack")
    (tmp_path / "text.pack").write_text("hello " * 50)
    with pytest.raises(FileError, match="expected it to start with"):
        packs.open_pack(tmp_path / "text.pack")
    with pytest.raises(FileError, match="cannot read pack"):
        packs.open_pack(tmp_path)


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="needs Linux's /proc")
def test_open_packs_hold_no_file_descriptors_and_leave_no_mappings(tmp_path):
    path = tmp_path / "many.pack"
    packs.write_pack(path, *_sample())
    before = len(os.listdir("/proc/self/fd"))
    opened = [packs.open_pack(path) for _ in range(50)]
    assert len(os.listdir("/proc/self/fd")) == before
    array = opened[7].arrays["points"]
    assert Path("/proc/self/maps").read_text().count("many.pack") == 50
    del opened
    assert Path("/proc/self/maps").read_text().count("many.pack") == 1
    np.testing.assert_array_equal(array, _sample()[0]["points"])
    with pytest.raises(ValueError, match="read-only|WRITEABLE"):
        array.flags.writeable = True


def test_packs_are_replaced_and_never_changed(tmp_path):
    """Whoever has a pack open keeps what it held, and nobody writes into it by mistake."""
    path = tmp_path / "a.pack"
    for length in (100, 100_000):  # read, and mapped
        arrays, meta = _sample(length=length)
        packs.write_pack(path, arrays, meta)
        assert path.stat().st_mode & 0o777 == 0o444
        opened, inode = packs.open_pack(path), path.stat().st_ino
        packs.write_pack(path, *_sample(seed=1, length=length))
        assert path.stat().st_ino != inode
        np.testing.assert_array_equal(opened.arrays["points"], arrays["points"])


CUT_OFF = """
import os, sys
from navarena.scenes.pack_file import open_pack
pack = open_pack(sys.argv[1])
os.chmod(sys.argv[1], 0o644)
os.truncate(sys.argv[1], 0)
print(int(pack.arrays["x"].sum()))
"""


def test_a_small_pack_that_is_cut_off_in_place_ends_nobody(tmp_path):
    path = tmp_path / "a.pack"
    packs.write_pack(path, {"x": np.arange(30_000)}, {})
    done = subprocess.run([sys.executable, "-c", CUT_OFF, str(path)], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, f"{sum(range(30_000))}\n"), done.stderr


def test_load_or_build_builds_once_and_again_when_damaged(caplog):
    built = []

    def build():
        built.append(1)
        return _sample()

    first = packs.load_or_build("test", "key", build)
    again = packs.load_or_build("test", "key", build)
    assert len(built) == 1
    np.testing.assert_array_equal(first.arrays["points"], again.arrays["points"])
    del first, again
    path = packs.pack_path("test", "key")
    _damage(path, path.read_bytes()[:-100])
    rebuilt = packs.load_or_build("test", "key", build)
    assert len(built) == 2
    assert caplog.text.count("is damaged") == 1
    np.testing.assert_array_equal(rebuilt.arrays["points"], _sample()[0]["points"])
    assert _files(cache_store.packs_folder()) == ["test/key.pack"]


def test_what_build_raises_passes_through_and_leaves_nothing():
    def build():
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        packs.load_or_build("test", "key", build)
    assert _files(cache_store.packs_folder()) == []


def test_names_become_file_names():
    for bad in ("../x", "", "a/b", ".hidden"):
        with pytest.raises(ValueError, match="in a pack's name"):
            packs.pack_path("test", bad)


def _build_slowly(folder: str, barrier, results) -> None:
    os.environ["NAVARENA_CACHE"] = folder

    def build():
        with open(Path(folder) / f"built-{os.getpid()}", "w"):
            pass
        time.sleep(0.3)
        return _sample()

    barrier.wait()
    results.put(float(packs.load_or_build("test", "key", build).arrays["points"].sum()))


def test_two_processes_build_the_same_pack_once(tmp_path):
    context = multiprocessing.get_context("spawn")
    barrier, results = context.Barrier(2), context.SimpleQueue()
    workers = [
        context.Process(target=_build_slowly, args=(str(tmp_path), barrier, results)) for _ in range(2)
    ]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert [worker.exitcode for worker in workers] == [0, 0]
    assert results.get() == results.get() == float(_sample()[0]["points"].sum())
    assert len(list(tmp_path.glob("built-*"))) == 1
    assert _files(tmp_path / "packs") == ["test/key.pack"]


def _read_private_kib(path: str, results) -> None:
    pack = packs.open_pack(Path(path))
    total = sum(float(array.sum()) for array in pack.arrays.values())
    private, mine = 0, False
    for line in Path("/proc/self/smaps").read_text().splitlines():
        if "-" in line.split(" ", 1)[0]:
            mine = line.endswith(path)
        elif mine and line.startswith("Private"):
            private += int(line.split()[1])
    results.put((total, private))


@pytest.mark.skipif(not Path("/proc/self/smaps").exists(), reason="needs Linux's /proc")
def test_a_second_process_shares_the_memory(tmp_path):
    path = tmp_path / "shared.pack"
    packs.write_pack(path, *_sample(length=200_000))
    pack = packs.open_pack(path)
    total = sum(float(array.sum()) for array in pack.arrays.values())
    context = multiprocessing.get_context("spawn")
    results = context.SimpleQueue()
    worker = context.Process(target=_read_private_kib, args=(str(path), results))
    worker.start()
    worker.join()
    assert results.get() == (total, 0)


@pytest.mark.parametrize("refusing", ["write", "fsync", "replace"])
def test_a_full_disk_is_one_error_and_leaves_nothing(monkeypatch, refusing):
    def refuse(*args, **kwargs):
        raise OSError(errno.ENOSPC, "No space left on device")

    if refusing == "write":
        real_open = Path.open

        def open_full(self, mode="r", *args, **kwargs):
            file = real_open(self, mode, *args, **kwargs)
            if mode != "wb":
                return file
            file.close()
            return open("/dev/full", mode, buffering=0)

        monkeypatch.setattr(Path, "open", open_full)
    elif refusing == "fsync":
        monkeypatch.setattr(os, "fsync", refuse)
    else:
        monkeypatch.setattr(Path, "replace", refuse)
    with pytest.raises(StorageError, match=r"No space left on device; free some space.*NAVARENA_CACHE"):
        packs.load_or_build("test", "key", _sample)
    assert _files(cache_store.packs_folder()) == []


def test_a_cache_that_cannot_be_a_folder(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("x")
    monkeypatch.setenv("NAVARENA_CACHE", str(tmp_path / "file"))
    with pytest.raises(StorageError, match="cannot write"):
        packs.load_or_build("test", "key", _sample)


def test_the_limit_evicts_what_was_unused_for_longest(monkeypatch):
    size = packs.load_or_build("test", "a", _sample).path.stat().st_size
    monkeypatch.setenv("NAVARENA_CACHE_LIMIT", str(2.5 * size / 2**30))
    packs.load_or_build("test", "b", _sample)
    now = time.time()
    os.utime(packs.pack_path("test", "a"), (now - 20, now - 20))
    os.utime(packs.pack_path("test", "b"), (now - 10, now - 10))
    kept = packs.load_or_build("test", "a", _sample)  # used now, so b is the oldest
    packs.load_or_build("other", "c", _sample)
    assert _files(cache_store.packs_folder()) == ["other/c.pack", "test/a.pack"]
    monkeypatch.setenv("NAVARENA_CACHE_LIMIT", "0")
    last = packs.load_or_build("other", "d", _sample)
    assert _files(cache_store.packs_folder()) == ["other/d.pack"]  # never the one in use
    np.testing.assert_array_equal(kept.arrays["points"], last.arrays["points"])  # still mapped


def test_the_cache_is_looked_through_when_room_gets_short(monkeypatch):
    """Room for 39.5 packs is left after the first: a process may take two of them (a 16th) between looks."""
    size = packs.load_or_build("test", "0", _sample).path.stat().st_size
    monkeypatch.setenv("NAVARENA_CACHE_LIMIT", str(40.5 * size / 2**30))
    looks = []
    look = cache_store._files_below
    monkeypatch.setattr(cache_store, "_files_below", lambda folder: looks.append(folder) or look(folder))
    counts = []
    for number in range(1, 8):
        packs.load_or_build("test", str(number), _sample)
        counts.append(len(looks))
    assert counts == [1, 1, 1, 2, 2, 2, 3]


def test_bad_limits(monkeypatch):
    for text in ("many", "-1", "nan", "inf"):
        monkeypatch.setenv("NAVARENA_CACHE_LIMIT", text)
        with pytest.raises(InputError, match=f"NAVARENA_CACHE_LIMIT, got '{text}'"):
            cache_store.cache_limit_bytes()


def test_left_overs_of_dead_writers_are_swept_and_usage_is_told():
    pack = packs.load_or_build("test", "a", _sample)
    stale, fresh = pack.path.with_name(".a.pack.x.pack"), pack.path.with_name(".a.pack.y.pack")
    stale.write_bytes(b"x")
    fresh.write_bytes(b"x")
    os.utime(stale, (0, 0))
    cache_store.forget_room()  # as a process that begins
    packs.load_or_build("test", "b", _sample)
    assert not stale.exists() and fresh.exists()
    usage = {entry.kind: entry for entry in cache_store.cache_usage()}
    assert usage["test"].files == 3 and usage["kernels"].files == 0
    assert [entry.files for entry in cache_store.clear_cache(["test"])] == [3]
    assert _files(cache_store.packs_folder()) == []


def test_content_hash_separates_kinds_shapes_and_borders():
    zeros = np.zeros(6, np.int32)
    different = [
        ("ab",),
        (b"ab",),
        ("a", "b"),
        (zeros,),
        (zeros.reshape(2, 3),),
        (zeros.astype(np.int64),),
        (zeros.tobytes(),),
    ]
    assert len({packs.content_hash(*parts) for parts in different}) == len(different)
    assert packs.content_hash("a", zeros) == packs.content_hash("a", np.zeros(12, np.int32)[::2])
