"""Vectors on disk: the same as computed, whoever writes, whatever happens to the files."""

import multiprocessing
from pathlib import Path

import numpy as np
import pytest

from navarena.agents.encoders import CachedEncoder, GoalEncoder, GoalQuery, make_encoder
from navarena.core.errors import InputError, StorageError
from navarena.core.seeding import make_generator
from navarena.episodes.encoding.cached import identify, key_of

TEXTS = [f"{colour} couch in the study" for colour in ("white", "black", "red", "grey", "green")]


def write_many(folder: str, rounds: int) -> None:
    """What two processes do at once."""
    for _ in range(rounds):
        for path in Path(folder).rglob("*"):
            if path.is_file() and not path.name.startswith("."):
                path.unlink(missing_ok=True)
        CachedEncoder(make_encoder("words"), Path(folder)).encode_words(TEXTS)


def test_what_is_known_is_not_computed_again(tmp_path: Path) -> None:
    plain, kept = make_encoder("words"), CachedEncoder(make_encoder("words"), tmp_path)
    np.testing.assert_array_equal(
        kept.encode_words([*TEXTS, TEXTS[0]]), plain.encode_words([*TEXTS, TEXTS[0]])
    )
    assert kept.computed == len(TEXTS)
    again = CachedEncoder(make_encoder("words"), tmp_path)
    goal = GoalQuery("description", text=TEXTS[2])
    np.testing.assert_array_equal(again.encode(goal), plain.encode(goal))
    assert again.computed == 0


def test_images_are_kept_by_their_bytes_and_shape(tmp_path: Path) -> None:
    image = make_generator("kept").integers(0, 256, (20, 30, 3), dtype=np.uint8)
    plain, kept = make_encoder("images"), CachedEncoder(make_encoder("images"), tmp_path)
    turned = image.reshape(30, 20, 3)
    np.testing.assert_array_equal(
        kept.encode_images([image, turned, image]), plain.encode_images([image, turned, image])
    )
    assert kept.computed == 2
    with pytest.raises(InputError, match="reads no words"):
        kept.encode_words(["couch"])


def test_encoders_do_not_share_files(tmp_path: Path) -> None:
    for name in ("words", "one-hot"):
        kept = CachedEncoder(make_encoder(name), tmp_path)
        kept.encode_words(["couch"])
        assert kept.computed == 1


@pytest.mark.parametrize("damage", ["cut", "empty", "flipped", "longer"])
def test_damaged_files_are_written_anew(tmp_path: Path, damage: str) -> None:
    expected = CachedEncoder(make_encoder("words"), tmp_path).encode_words(TEXTS[:1])
    (path,) = [one for one in tmp_path.rglob("*") if one.is_file()]
    whole = path.read_bytes()
    flipped = bytearray(whole)
    flipped[-5] ^= 0x40
    path.write_bytes(
        {"cut": whole[:-3], "empty": b"", "flipped": bytes(flipped), "longer": whole + b"x"}[damage]
    )
    kept = CachedEncoder(make_encoder("words"), tmp_path)
    np.testing.assert_array_equal(kept.encode_words(TEXTS[:1]), expected)
    assert kept.computed == 1
    assert path.read_bytes() == whole


def test_two_processes_write_at_once(tmp_path: Path) -> None:
    spawn = multiprocessing.get_context("spawn")
    writers = [spawn.Process(target=write_many, args=(str(tmp_path), 4)) for _ in range(2)]
    for writer in writers:
        writer.start()
    expected = make_encoder("words").encode_words(TEXTS)
    while any(writer.is_alive() for writer in writers):
        np.testing.assert_array_equal(
            CachedEncoder(make_encoder("words"), tmp_path).encode_words(TEXTS), expected
        )
    for writer in writers:
        writer.join()
        assert writer.exitcode == 0
    assert not list(tmp_path.rglob(".*")), "no temporary file is left"


def test_a_change_of_weights_is_another_encoder(tmp_path: Path) -> None:
    class Weighted(GoalEncoder):
        needs_weights = True
        dimension = 2

        def __init__(self, path: str) -> None:
            self.name = f"weighted:{path}"

    weights = tmp_path / "weights"
    weights.mkdir()
    (weights / "model.bin").write_bytes(b"1")
    first = identify(Weighted(str(weights)))
    assert first == identify(Weighted(str(weights)))
    (weights / "model.bin").write_bytes(b"12")
    assert first != identify(Weighted(str(weights)))
    assert key_of("ab", "c") != key_of("a", "bc")


def test_a_disk_that_refuses_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(StorageError, match="cannot write"):
        CachedEncoder(make_encoder("words"), tmp_path / "file").encode_words(["couch"])
