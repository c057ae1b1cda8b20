"""RxR's guides: read by hand-written lines, made into tours, refused where they are damaged."""

import gzip
import json

import pytest

from graph_world import PATHS, SCAN, write_files
from navarena.cli.main import main
from navarena.core.errors import FileError
from navarena.episodes.exchange.rxr import load_rxr


def lines(languages=("en-IN", "te-IN", "en-US")):
    """One line for each path and language, those of a path apart, as in the published files."""
    return [
        {
            "split": "val_seen", "instruction_id": 10 * number + path_id, "annotator_id": 3,
            "language": language, "path_id": path_id, "scan": SCAN, "path": list(path), "heading": 1.5,
            "instruction": f"{language}: walk {' '.join(path)}.", "timed_instruction": [{"end_time": 0.3}],
        }
        for number, language in enumerate(languages)
        for path_id, path in PATHS.items()
    ]  # fmt: skip


def write(folder, rows, name="rxr_val_seen_guide.jsonl.gz"):
    data = "\n".join(row if isinstance(row, str) else json.dumps(row) for row in rows).encode()
    (folder / name).write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
    return folder / name


def test_instructions_of_a_path_are_gathered(tmp_path):
    file = load_rxr(write(tmp_path, lines()))
    assert file.split == "val_seen" and [one.path_id for one in file.paths] == [1, 2, 3, 4]
    second = file.paths[1]
    assert second.path == PATHS[2] and second.scan == SCAN and second.heading == 1.5
    assert [text.partition(":")[0] for text in second.instructions] == ["en-IN", "te-IN", "en-US"]
    assert second.extra == {"instruction_ids": [2, 12, 22], "languages": ["en-IN", "te-IN", "en-US"]}
    english = load_rxr(write(tmp_path, lines(), "rxr_train_guide.jsonl"), language="en")
    assert english.split == "train"
    assert [one.extra["instruction_ids"] for one in english.paths] == [[k, 20 + k] for k in (1, 2, 3, 4)]


def test_tours_are_made(tmp_path, capsys):
    _, graphs = write_files(tmp_path)
    file, out = write(tmp_path, lines()), tmp_path / "tours.json"
    given = ["tours", "make", "--rxr", str(file), "--connectivity", str(graphs), "--out", str(out)]
    assert main([*given, "--language", "en", "--iterations", "5", "--json"]) == 0
    made = json.loads(capsys.readouterr().out)
    assert (made["split"], made["episodes"], made["tours"]) == ("val_seen", 8, 2)
    tours = json.loads(out.read_text())["val_seen"][SCAN]
    assert sorted(map(sorted, tours)) == [["1_0", "2_0", "3_0", "4_0"], ["1_1", "2_1", "3_1", "4_1"]]


def changed(**members):
    return [{**lines()[0], **members}, *lines()[1:]]


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([" "], "got no line at all"),
        (["{"], "line 1"),
        (changed(path=3), r"line 1.*path"),
        (changed(path=[]), "line 1: expected at least one viewpoint"),
        (changed(instruction=" "), "line 1: expected at least one word"),
        (changed(heading=-90.5), "line 1: expected a heading in radians, within two turns, got -90.5"),
        (changed(instruction_id=2), "line 2: expected instruction_id 2 once"),
        (changed(heading=0.0), "line 5: expected the path of path_id 1 above"),
    ],
)
def test_damage_names_the_line(tmp_path, rows, message):
    with pytest.raises(FileError, match=message):
        load_rxr(write(tmp_path, rows, "rxr_val_seen_guide.jsonl"))


def test_other_bad_input(tmp_path, capsys):
    file = write(tmp_path, lines())
    with pytest.raises(FileError, match="expected instructions in hi, got en-IN, en-US, te-IN"):
        load_rxr(file, language="hi")
    for given, message in (
        ([], "--r2r or --rxr, got none"),
        (["--rxr", file, "--r2r", file], "got both"),
        (["--r2r", file, "--language", "en"], "--language with --rxr alone"),
    ):
        given = ["tours", "make", *map(str, given), "--connectivity", "c", "--out", str(tmp_path / "t.json")]
        assert main(given) == 2
        error = capsys.readouterr().err
        assert message in error and len(error.strip().splitlines()) == 1
    assert not (tmp_path / "t.json").exists()
