"""Journals survive crashes, refuse damage, and never hold half a line."""

import errno
import os
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from navarena.core.errors import FileError, InputError, StorageError
from navarena.evaluation.records.episode_table import make_table, read_table
from navarena.evaluation.records.journal import (
    GoalsRecord,
    Row,
    encode_rows,
    journal_path,
    journal_paths,
    open_journal,
    parse_journal,
    read_journal,
    read_rows,
    repair_journal,
)


def make_row(number=0, **changes):
    values = {
        "identity": "p@d/s#0",
        "episode_id": f"e{number}",
        "scene_id": "scene",
        "status": "ok",
        "steps": 2,
        "start_distance": 1.5,
        "actions": [1, 0],
        "metrics": {"success": 1.0, "distance_to_goal": 0.1 + 0.2},
    }
    return Row(**(values | changes))


def write(path, *rows):
    with open_journal(path) as journal:
        for row in rows:
            journal.append(row)


def test_rows_come_back_as_they_were(tmp_path):
    path = journal_path(tmp_path, 0)
    rows = [
        make_row(0),
        make_row(1, status="crashed", traceback="Traceback\nValueError: é\n"),
        make_row(2, start_distance=None, metrics={"distance_to_goal": None}),
    ]
    write(path, *rows)
    journal = read_journal(path)
    assert list(journal.rows) == rows
    assert journal.torn == 0
    assert journal.rows[0].metric("distance_to_goal") == 0.1 + 0.2
    assert journal.rows[2].metric("distance_to_goal") == float("inf")
    assert [row.failed for row in journal.rows] == [False, True, False]
    assert path.read_bytes().count(b"\n") == 4, "a header, and a line for each row"


def test_rows_of_several_journals_are_sorted(tmp_path):
    write(journal_path(tmp_path, 10), make_row(1, scene_id="a"))
    write(journal_path(tmp_path, 2), make_row(0, scene_id="b"), make_row(0, scene_id="a"))
    assert [path.name for path in journal_paths(tmp_path)] == ["journal-2.jsonl", "journal-10.jsonl"]
    assert [(row.scene_id, row.episode_id) for row in read_rows(tmp_path)] == [
        ("a", "e0"),
        ("a", "e1"),
        ("b", "e0"),
    ]


@settings(max_examples=40, deadline=None)
@given(st.data())
def test_any_cut_leaves_a_prefix(data):
    whole = encode_rows([make_row(k, actions=[k] * k) for k in range(5)], "f" * 32)
    cut = data.draw(st.integers(0, len(whole)))
    journal = parse_journal(Path("journal-0.jsonl"), whole[:cut])
    lines = whole[:cut].count(b"\n")
    assert [row.episode_id for row in journal.rows] == [f"e{k}" for k in range(lines - 1)]
    assert (journal.run, journal.broken) == ("f" * 32 if lines else "", ())
    assert not lines or whole[: cut - journal.torn] == encode_rows(journal.rows, journal.run)


@pytest.mark.parametrize("cut", [1, 5, 60])
def test_a_torn_last_line_is_dropped_and_the_file_repaired(tmp_path, cut):
    path = journal_path(tmp_path, 0)
    write(path, make_row(0), make_row(1))
    whole = path.read_bytes()
    first_lines = whole[: whole.rindex(b'{"chain"')]
    path.write_bytes(whole[:-cut])
    torn = len(whole) - cut - len(first_lines)
    assert read_journal(path).torn == torn
    assert path.read_bytes() == whole[:-cut]  # reading changes nothing
    journal = repair_journal(path)
    assert ([row.episode_id for row in journal.rows], journal.torn) == (["e0"], torn)
    assert path.read_bytes() == first_lines
    write(path, make_row(1))
    assert path.read_bytes() == whole


def test_zeros_after_a_power_cut_are_a_torn_line(tmp_path):
    path = journal_path(tmp_path, 0)
    write(path, make_row(0))
    with path.open("ab") as file:
        file.write(b"\0" * 100)
    assert repair_journal(path).torn == 100
    assert [row.episode_id for row in read_journal(path).rows] == ["e0"]


@pytest.mark.parametrize(
    "damage",
    [
        lambda line: line[:20] + b"\n",
        lambda line: b"\xff" + line,
        lambda line: b"\n",
        lambda line: line.replace(b'"ok"', b'"fine"'),
        lambda line: line.replace(b'"steps":2', b'"steps":"two"'),
        lambda line: line.replace(b'"steps"', b'"stebs"'),
    ],
)
def test_a_damaged_line_is_an_error_naming_file_and_line(tmp_path, damage):
    path = journal_path(tmp_path, 3)
    write(path, make_row(0), make_row(1), make_row(2))
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join([*lines[:2], damage(lines[2]), lines[3]]))
    before = path.read_bytes()
    with pytest.raises(FileError, match=r"journal-3\.jsonl, line 3, is damaged .* --fresh"):
        repair_journal(path)
    assert path.read_bytes() == before


@pytest.mark.parametrize("actions", [[1, []], [[0.5], 1], [10**12]])
def test_actions_that_no_protocol_has_are_damage(actions):
    """Whole numbers of 32 bits, or lists of numbers, but not both."""
    good = make_table([make_row(0), make_row(1, actions=[])], ["success"])
    assert good["actions"].to_pylist() == [[1, 0], []]
    with pytest.raises(FileError, match=r"^the journal is damaged .*; restore it, or evaluate again$"):
        make_table([make_row(0, actions=actions)], ["success"])


@pytest.mark.parametrize(
    "changed", [{"steps": 2**31}, {"goals": GoalsRecord(legs=[], found_after=[-(10**18)], walked=[])}]
)
def test_counts_beyond_32_bits_are_damage(changed):
    with pytest.raises(
        FileError, match=r"^the journal is damaged .*too large.*; restore it, or evaluate again$"
    ):
        make_table([make_row(0, **changed)], ["success"])


def test_an_episode_table_with_text_that_is_not_utf8_is_refused(tmp_path):
    text = pa.array([b"caf\xe9"], pa.binary()).view(pa.string())
    pq.write_table(pa.table({"episode_id": text}), tmp_path / "episodes.parquet")
    with pytest.raises(FileError, match=r"episodes\.parquet is missing or damaged .*UTF8.*; run navarena"):
        read_table(tmp_path / "episodes.parquet")


def test_a_full_disk_leaves_no_half_line(tmp_path, monkeypatch):
    path = journal_path(tmp_path, 0)
    write(path, make_row(0))
    before = path.read_bytes()
    real_write = os.write
    with open_journal(path) as journal:
        monkeypatch.setattr(os, "write", lambda descriptor, data: real_write(descriptor, data[:30]))
        with pytest.raises(StorageError, match=r"cannot write .*No space left.*free some space"):
            journal.append(make_row(1))
        assert path.read_bytes() == before

        def refuse(descriptor):
            raise OSError(errno.EIO, "Input/output error")

        monkeypatch.setattr(os, "write", real_write)
        monkeypatch.setattr(os, "fsync", refuse)
        with pytest.raises(StorageError, match="Input/output error"):
            journal.append(make_row(1))
        assert path.read_bytes() == before
        monkeypatch.undo()
        journal.append(make_row(1))
    assert len(read_journal(path).rows) == 2


def test_a_journal_has_one_writer(tmp_path, monkeypatch):
    monkeypatch.setattr("navarena.evaluation.records.lock.PATIENCE_SECONDS", 0.1)
    path = journal_path(tmp_path, 0)
    with open_journal(path), pytest.raises(InputError, match="another process is writing to"):
        repair_journal(path)


def test_missing_journal(tmp_path):
    with pytest.raises(FileError, match="cannot read journal"):
        read_journal(tmp_path / "journal-0.jsonl")
