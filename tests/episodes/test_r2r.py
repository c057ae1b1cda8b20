"""R2R files: read, written, refused; vocabularies."""

import gzip
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graph_world import r2r_items
from navarena.core.errors import FileError, InputError
from navarena.episodes.exchange import (
    Vocabulary,
    build_vocabulary,
    load_r2r,
    load_vocabulary,
    save_r2r,
    save_vocabulary,
    split_of,
    split_words,
)


def write(path, items):
    data = json.dumps(items).encode()
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)
    return path


def read_json(path):
    data = path.read_bytes()
    return json.loads(gzip.decompress(data) if path.suffix == ".gz" else data)


@pytest.mark.parametrize(
    ("name", "split"),
    [
        ("R2R_train.json.gz", "train"),
        ("R2R_val_unseen.json", "val_unseen"),
        ("R2R_val_seen_enc.json", "val_seen"),
        ("R2R_test.json", "test"),
        ("mine.json", "mine"),
    ],
)
def test_split_from_the_name(name, split, tmp_path):
    assert split_of(tmp_path / name) == split
    assert load_r2r(write(tmp_path / name, r2r_items())).split == split
    assert load_r2r(tmp_path / name, "other").split == "other"


VARIANTS = {
    "plain": lambda item: None,
    "test split": lambda item: (item.pop("distance"), item.update(path=item["path"][:1])),
    "encoded": lambda item: item.update(instr_encodings=[[101, 5, 102]] * 3),
    "with extras": lambda item: item.update(note="x", weights=[1.5, None], path_id=f"{item['path_id']}_aug"),
}


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("ending", [".json", ".json.gz"])
def test_files_are_written_as_they_were_read(variant, ending, tmp_path):
    items = r2r_items()
    for item in items:
        VARIANTS[variant](item)
    file = load_r2r(write(tmp_path / f"R2R_train{ending}", items))
    save_r2r(file.paths, tmp_path / f"again{ending}")
    assert read_json(tmp_path / f"again{ending}") == items
    assert load_r2r(tmp_path / f"again{ending}").paths == file.paths
    assert file.has_goals == (variant != "test split")


def test_what_a_file_says():
    item = r2r_items({7: ("a", "b")})[0]
    assert item["instructions"][2] == "Walk a b, take 2."


def test_ids(tmp_path):
    file = load_r2r(write(tmp_path / "R2R_train.json", r2r_items(instructions=4)))
    assert list(file.instruction_ids())[:5] == ["1_0", "1_1", "1_2", "1_3", "2_0"]
    assert list(file.instruction_ids(3))[:4] == ["1_0", "1_1", "1_2", "2_0"]
    assert file.scans == ("scan1",) and len(file) == 4


def break_item(change):
    items = r2r_items()
    change(items[1])
    return items


@pytest.mark.parametrize(
    ("items", "message"),
    [
        ([], "got an empty list"),
        ({"a": 1}, "got dict"),
        (break_item(lambda i: i.pop("scan")), r"item 1 \(path_id 2\).*scan"),
        (break_item(lambda i: i.update(heading="north")), r"item 1 \(path_id 2\)"),
        (break_item(lambda i: i.update(heading=215)), r"path_id 2\): .* in radians, .* got 215; are these"),
        (break_item(lambda i: i.update(path=[])), "at least one viewpoint"),
        (break_item(lambda i: i.update(instructions=[])), "at least one instruction"),
        (break_item(lambda i: i.update(path_id=1)), "got 1 twice"),
        (
            break_item(lambda i: i.update(objId=7, id="1_7")),
            r"got one of REVERIE \(objId\).* write its id as",
        ),
        (
            break_item(lambda i: i.update(instr_encodings=[[1]])),
            "one encoding for each of 3 instructions, got 1",
        ),
        (["text"], "item 0"),
    ],
)
def test_bad_files_name_item_and_reason(items, message, tmp_path):
    with pytest.raises(FileError, match=message) as caught:
        load_r2r(write(tmp_path / "R2R_train.json", items))
    assert "R2R_train.json" in str(caught.value)


def test_damaged_files(tmp_path):
    path = tmp_path / "R2R_train.json.gz"
    with pytest.raises(FileError, match="does not exist"):
        load_r2r(path)
    path.write_bytes(gzip.compress(b"[]")[:-6])
    with pytest.raises(FileError, match="damaged"):
        load_r2r(path)
    path.write_bytes(b"not json")
    with pytest.raises(FileError, match="JSON is malformed"):
        load_r2r(path)


@pytest.mark.parametrize(
    ("sentence", "words"),
    [
        ("Walk down.", ["walk", "down", "."]),
        ("  Stop!? Wait...  ", ["stop", "!", "?", "wait", "..."]),
        ("Don't go, left-hand side", ["don", "'", "t", "go", ",", "left", "-", "hand", "side"]),
        ("", []),
    ],
)
def test_words(sentence, words):
    assert split_words(sentence) == words


def test_vocabulary_round_trip(tmp_path):
    vocabulary = build_vocabulary(["go left", "go right", "go left now"], min_count=2)
    assert vocabulary.words == ("<PAD>", "<UNK>", "<EOS>", "go", "left")
    assert vocabulary.encode("Go left, please") == (3, 4, 1, 1)
    assert vocabulary.decode((3, 4, 0, 0)) == "go left"
    save_vocabulary(vocabulary, tmp_path / "v.txt")
    assert load_vocabulary(tmp_path / "v.txt") == vocabulary
    with pytest.raises(InputError, match="below 5, got 9"):
        vocabulary.decode([9])
    (tmp_path / "v.txt").write_text("a\na\n")
    with pytest.raises(FileError, match=r"v\.txt.*each once"):
        load_vocabulary(tmp_path / "v.txt")


def test_encoding_a_file(tmp_path):
    file = load_r2r(write(tmp_path / "R2R_train.json", r2r_items()))
    vocabulary = build_vocabulary((text for path in file.paths for text in path.instructions), 1)
    encoded = vocabulary.encode_paths(file.paths)
    save_r2r(encoded, tmp_path / "R2R_train_enc.json")
    again = load_r2r(tmp_path / "R2R_train_enc.json")
    assert again.paths == encoded and len(again.paths[0].encodings) == 3
    assert vocabulary.decode(again.paths[0].encodings[0]).startswith("walk a b c d ,")


@settings(max_examples=30, deadline=None)
@given(st.lists(st.text("abc .,!?", max_size=20), max_size=5))
def test_known_words_survive_encoding(sentences):
    vocabulary = build_vocabulary(sentences, min_count=1)
    for sentence in sentences:
        assert vocabulary.decode(vocabulary.encode(sentence)) == " ".join(split_words(sentence))
    assert isinstance(vocabulary, Vocabulary)


@pytest.mark.real_data
@pytest.mark.parametrize(
    ("split", "paths", "instructions"), [("train", 4675, 14039), ("val_seen", 340, 1021)]
)
def test_real_files_survive_without_loss(real_data, tmp_path, split, paths, instructions):
    source = real_data / "r2r" / f"R2R_{split}.json.gz"
    file = load_r2r(source)
    assert (len(file), len(list(file.instruction_ids())), file.split) == (paths, instructions, split)
    save_r2r(file.paths, tmp_path / "again.json.gz")
    assert read_json(tmp_path / "again.json.gz") == read_json(source)
