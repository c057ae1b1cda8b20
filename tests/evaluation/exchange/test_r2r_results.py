"""Results files of R2R: scored by the command, and written from runs."""

import json
import xml.etree.ElementTree as tree
from itertools import pairwise

import numpy as np
import pytest

from graph_world import r2r_items, write_files
from navarena.cli.main import main
from navarena.core.errors import FileError
from navarena.episodes.graph_episodes import open_graph_split, require_graph_goal
from navarena.episodes.tours import build_tours, load_tours
from navarena.evaluation import load_results, score_answers
from navarena.evaluation.analyses import run_analysis
from navarena.evaluation.analyses.catalog import read_labelled
from navarena.evaluation.records.results import summarize_tours
from navarena.metrics.tours import TourScoring
from navarena.tasks import get_task


@pytest.fixture
def folder(tmp_path, capsys):
    write_files(tmp_path)
    options = flags(tmp_path)
    assert main(["tours", "make", *options, "--out", str(tmp_path / "tours.json"), "--json"]) == 0
    made = json.loads(capsys.readouterr().out)
    assert (made["tours"], made["episodes"], made["split"]) == (3, 12, "val_seen")
    return tmp_path


def flags(folder, tours=False):
    named = ["--r2r", str(folder / "R2R_val_seen.json.gz"), "--connectivity", str(folder / "connectivity")]
    return [*named, "--tours", str(folder / "tours.json")] if tours else named


def run_flags(folder, tours=False):
    """The same files as `navarena evaluate` takes them."""
    named = ["--dataset", folder / "R2R_val_seen.json.gz", "--scenes", folder / "connectivity"]
    return [*named, "--tours", folder / "tours.json"] if tours else named


def call(capsys, *arguments):
    """(exit code, JSON document or None, stderr) of a command."""
    code = main([*map(str, arguments), "--json"])
    captured = capsys.readouterr()
    return code, json.loads(captured.out) if captured.out else None, captured.err


def test_a_test_split_is_walked_and_not_scored(tmp_path, capsys):
    write_files(tmp_path, [item | {"path": item["path"][:1]} for item in r2r_items()])
    run, out = tmp_path / "run", tmp_path / "walks.json"
    _, ran, _ = call(capsys, "evaluate", "r2r-v1", "--agent", "random", *run_flags(tmp_path), "--out", run)
    assert set(ran["metrics"]) == {"length", "path_steps"} and ran["episodes"] == 12
    assert call(capsys, "replay", run)[0] == 0 and call(capsys, "export", run, "r2r", "--out", out)[0] == 0
    assert len(json.loads(out.read_bytes())) == 12
    code, _, error = call(capsys, "tours", "score", out, *flags(tmp_path))
    assert code == 2 and "a test split" in error


def answers(walks):
    return [{"instr_id": k, "trajectory": [[v, 0.0, 0.0] for v in walk]} for k, walk in walks.items()]


def perfect_answers(instructions=3):
    return {f"{i['path_id']}_{k}": i["path"] for i in r2r_items() for k in range(instructions)}


def score(capsys, folder, rows, *more, tours=False):
    (folder / "results.json").write_text(json.dumps(rows))
    return call(capsys, "tours", "score", folder / "results.json", *flags(folder, tours), *more)


def test_the_path_agent_is_perfect_in_files_too(folder, capsys):
    run, out, drawings = folder / "run", folder / "results.json", folder / "drawings"
    details = folder / "details.json"
    code, ran, _ = call(
        capsys, "evaluate", "ir2r-v1", "--agent", "path", *run_flags(folder, True), "--out", run
    )
    assert code == 0 and ran["tours"]["metrics"]["t_ndtw"]["mean"] == 1.0
    assert ran["metrics"]["ndtw"]["mean"] == 1.0 and ran["identity"].startswith("ir2r-v1@r2r/val_seen#")
    assert call(capsys, "export", run, "r2r", "--out", out)[0] == 0
    more = ["--details", details, "--drawings", drawings]
    code, scored, _ = call(capsys, "tours", "score", out, *flags(folder, True), *more)
    assert code == 0 and scored["ignored"] == 0
    assert scored["identity"] == ran["identity"] and scored["episodes"] == ran["episodes"] == 12
    for name, mean in scored["metrics"].items():
        assert ran["metrics"][name]["mean"] == pytest.approx(mean), name
    for name in ("t_ndtw", "t_sr", "t_spl"):
        assert scored["tours"][name] == ran["tours"]["metrics"][name]["mean"]
    assert len(json.loads(details.read_text())["episodes"]) == 12
    over_seeds = run_analysis("tours", read_labelled([str(run)]))
    assert over_seeds.rows[0][1:6] == ("t-nDTW", 1, 3, 12, 1.0)
    assert {"TL (m)", "NE (m)", "Success"} <= {row[1] for row in over_seeds.rows}
    by_position = run_analysis("tour-positions", read_labelled([str(run)]))
    assert by_position.rows[0][1] == "1"
    assert sum(row[2] for row in by_position.rows) == 12 and by_position.rows[0][3].mean == 1.0
    assert by_position.texts()[0][4].startswith("1.000 (")  # SPL as everywhere else
    assert [curve.label.partition(": ")[2] for curve in by_position.curves] == ["Success", "SPL", "nDTW"]
    drawn = folder / "drawn"
    assert call(capsys, "tours", "draw", run, "--out", drawn)[0] == 0
    for place in (drawings, drawn):
        files = sorted(place.iterdir())
        assert [file.name for file in files] == [f"tour-{k}-scan1.svg" for k in range(3)]
        assert "tour nDTW 1.000" in "".join(tree.fromstring(files[0].read_text()).itertext())


def test_the_layout_of_a_results_file(folder, capsys):
    """Places with heading and elevation, one for the start and one for each move; STOP adds none."""
    run, out = folder / "run", folder / "results.json"
    call(capsys, "evaluate", "r2r-v1", "--agent", "expert", *run_flags(folder), "--out", run)
    assert call(capsys, "export", run, "r2r", "--out", out)[1]["episodes"] == 12
    answers_ = {one["instr_id"]: one["trajectory"] for one in json.loads(out.read_bytes())}
    assert [place for place, *_ in answers_["1_0"]] == ["a", "b", "c", "d"]
    assert [heading for _, heading, _ in answers_["1_0"][1:]] == [pytest.approx(np.pi / 2)] * 3, "east"
    assert {elevation for way in answers_.values() for *_, elevation in way} == {0.0}


def test_departures_are_custom(folder, capsys):
    for option in ("reveals_next_path", "shows_instruction", "drops_last_node"):
        _, ran, _ = call(
            capsys, "evaluate", f"ir2r-v1+{option}=true", "--agent", "random",
            *run_flags(folder, True), "--out", folder / option,
        )  # fmt: skip
        assert ran["identity"].startswith(f"ir2r-v1+custom+{option}=true@r2r/val_seen#")
        assert call(capsys, "replay", folder / option)[0] == 0


def test_official_numbers_by_hand(folder, capsys):
    """Path 1 (a b c d) is answered once by stopping at b, 4 m from d; all else is perfect."""
    walks = perfect_answers() | {"1_0": ["a", "b"]}
    code, scored, _ = score(capsys, folder, answers(walks))
    assert code == 0 and scored["identity"].startswith("r2r-v1@r2r/val_seen#") and "tours" not in scored
    metrics = scored["metrics"]
    assert metrics["success"] == metrics["spl"] == pytest.approx(11 / 12)
    assert metrics["navigation_error"] == pytest.approx(4 / 12)
    assert metrics["ndtw"] == pytest.approx((11 + np.exp(-(2 + 4) / 12)) / 12)
    assert metrics["length"] == pytest.approx((3 * (6 + 7 + 5 + 4) - 4) / 12)


def test_turns_on_the_spot_add_nothing(folder, capsys):
    walks = perfect_answers()
    turning = {name: [v for v in walk for _ in range(3)] for name, walk in walks.items()}
    assert score(capsys, folder, answers(turning))[1] == score(capsys, folder, answers(walks))[1]


def test_trajectories_may_be_plain_ids(folder, capsys):
    rows = [{"instr_id": k, "trajectory": list(walk)} for k, walk in perfect_answers().items()]
    assert score(capsys, folder, rows)[1]["metrics"]["success"] == 1


def test_fourth_instructions(tmp_path, capsys):
    write_files(tmp_path, r2r_items(instructions=4))
    code, scored, note = score(capsys, tmp_path, answers(perfect_answers(4)))
    assert code == 0 and scored["episodes"] == 12 and scored["ignored"] == 4 and "4 answers" in note
    code, scored, _ = score(capsys, tmp_path, answers(perfect_answers(4)), "--all-instructions")
    assert code == 0 and scored["episodes"] == 16
    code, scored, error = score(capsys, tmp_path, answers(perfect_answers(3)), "--all-instructions")
    assert code == 2 and scored is None and "got none to 4 of them (1_3, 2_3, 3_3, ...)" in error


def without(name):
    walks = perfect_answers()
    del walks[name]
    return answers(walks)


def changed(walk):
    return answers(perfect_answers() | {"2_1": walk})


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (without("2_1"), "to 1 of them (2_1); nothing was scored"),
        (answers(perfect_answers()) + answers({"2_1": ["d"]}), "each instruction once, got '2_1' twice"),
        (answers(perfect_answers() | {"99_0": ["d"]}), "'99_0' is not in the R2R file"),
        (changed(["c", "h"]), "instruction 2_1: expected to begin at viewpoint d, got c"),
        (changed([]), "instruction 2_1: expected to begin at viewpoint d, got an empty trajectory"),
        (changed(["d", "q"]), "viewpoint q is not in the graph of scan scan1"),
        (changed(["d", "b"]), "from d to b (entries 0 and 1), which no edge joins in scan scan1"),
        ([{"instr_id": "2_1", "trajectory": [[3, 0, 0]]}], "to 11 of them"),
        ([{"instr_id": "2_1"}], "missing required field `trajectory`"),
        ({"2_1": []}, "expected a list of"),
    ],
)
@pytest.mark.parametrize("tours", [False, True])
def test_incomplete_or_broken_results_are_refused(folder, capsys, rows, message, tours):
    code, scored, error = score(capsys, folder, rows, tours=tours)
    assert code == 2 and scored is None and message in error and "results.json" in error


def test_entries_must_be_viewpoints(folder, capsys):
    rows = answers(perfect_answers())
    for entry in ([3, 0, 0], ["a", "b"], [], 7):
        rows[0]["trajectory"] = [entry]
        assert "entry 0: expected [viewpoint" in score(capsys, folder, rows)[2]


def test_readings_and_weights(folder, capsys):
    """Overshoots in one tour: code is not above paper; weights of equal tours agree."""
    ways = {
        1: ["a", "b", "c", "d", "c", "d"],
        2: ["d", "c", "h", "g"],
        3: ["g", "f", "a"],
        4: ["e", "d", "c"],
    }
    rows = answers({f"{path}_{k}": walk for path, walk in ways.items() for k in range(3)})
    values = {
        (reading, weighting): score(
            capsys, folder, rows, "--reading", reading, "--weighting", weighting, tours=True
        )[1]["tours"]
        for reading in ("code", "paper")
        for weighting in ("episodes", "changes")
    }
    assert values["code", "episodes"]["t_ndtw"] <= values["paper", "episodes"]["t_ndtw"] < 1
    for reading in ("code", "paper"):
        assert values[reading, "episodes"]["t_ndtw"] == pytest.approx(values[reading, "changes"]["t_ndtw"])
        assert values[reading, "episodes"]["reading"] == reading
    _, other, _ = score(capsys, folder, rows, "--spl", "shortest", tours=True)
    assert "custom" in other["identity"]


def test_exploring_first_pays_by_episode_but_not_by_tour(folder, capsys):
    """In one tour the first episode walks about before it goes to its goal; all others are perfect."""
    data = open_graph_split(folder / "R2R_val_seen.json.gz", folder / "connectivity")
    lists = load_tours(folder / "tours.json")["val_seen"]
    ordered = build_tours(lists, data.episodes, "tours.json")
    walks = {one.episode_id: data.atlas.nodes("scan1", require_graph_goal(one).viewpoints) for one in ordered}
    for ids in lists["scan1"]:
        path = require_graph_goal(data.episodes[ids[0]]).viewpoints
        walks[ids[0]] = data.atlas.nodes("scan1", [*path[:2] * 40, *path])
    scored = [row for row, _ in score_answers(walks, ordered, data.atlas, get_task("ir2r-v1"), "test")]
    episodic = np.mean([row.metric("ndtw") for row in scored])
    assert episodic > 0.74, "one episode of four is spoilt"
    for reading in ("code", "paper"):
        assert summarize_tours(scored, TourScoring(reading)).metrics["t_ndtw"].mean < 0.2


def test_commands_refuse_what_does_not_fit(folder, capsys):
    out = ["--out", folder / "run"]
    cases = [
        (["evaluate", "ir2r-v1", "--agent", "stop", *run_flags(folder), *out], "navarena tours make"),
        (["evaluate", "r2r-v1", "--agent", "stop", *run_flags(folder, True), *out], "use ir2r-v1"),
        (["evaluate", "r2r-v3", "--agent", "stop", *run_flags(folder), *out], "Did you mean 'r2r-v1'"),
        (["evaluate", "r2r-v1", "--agent", "stp", *run_flags(folder), *out], "Did you mean 'stop'"),
        (
            ["evaluate", "r2r-v1", "--agent", "frontier", *run_flags(folder), *out],
            "choose of expert, explorer",
        ),
        (["evaluate", "pointnav-v1", "--agent", "explorer", *out], "an agent for bodies in scenes"),
        (["evaluate", "r2r-v1", *run_flags(folder), "--corrupt", "speckle_noise:3", *out], "without cameras"),
        (["tours", "make", *flags(folder), "--out", folder / "t.txt"], "end in .json"),
        (["tours", "stats", folder / "tours.json", "--r2r", folder / "R2R_val_seen.json.gz"], "together"),
    ]
    for arguments, message in cases:
        code, document, error = call(capsys, *arguments)
        assert code == 2 and document is None and message in error, arguments
    assert not (folder / "run").exists()


def test_stats(folder, capsys):
    code, document, _ = call(capsys, "tours", "stats", folder / "tours.json", *flags(folder))
    row = document["splits"]["val_seen"]
    assert code == 0 and (row["scenes"], row["tours"], row["episodes"]) == (1, 3, 12)
    assert (row["mean"], row["min"], row["max"], row["sd"], row["tours_per_scene"]) == (4, 4, 4, 0, 3)
    # metres along the graph from the end of paths 1 to 4 (rows) to the start of paths 1 to 4
    apart = np.array([[6, 0, 7, 2], [5, 7, 0, 9], [0, 6, 5, 8], [4, 2, 5, 4]])
    lists = load_tours(folder / "tours.json")["val_seen"]["scan1"]
    tours = [[int(name[0]) - 1 for name in ids] for ids in lists]
    gaps = np.array([apart[before, after] for ids in tours for before, after in pairwise(ids)])
    assert len(gaps) == 9 and row["gaps"]["mean"] == pytest.approx(gaps.mean())
    assert row["gaps"]["at_start"] == pytest.approx((gaps == 0).mean())
    assert row["gaps"]["within_3m"] == pytest.approx((gaps <= 3).mean())


def test_results_are_checked_against_the_split(folder):
    data = open_graph_split(folder / "R2R_val_seen.json.gz", folder / "connectivity")
    (folder / "r.json").write_text("[]")
    with pytest.raises(FileError, match="expected answers to 12 instructions"):
        load_results(folder / "r.json", list(data.episodes), data.episodes, data.atlas)


@pytest.mark.slow
@pytest.mark.turns(6)
@pytest.mark.real_data
def test_the_real_split_end_to_end(real_data, tmp_path, capsys):
    """The described paths of val_seen, run as tours, are perfect; standing still is not."""
    named = ["--r2r", real_data / "r2r" / "R2R_val_seen.json.gz"]
    named += ["--connectivity", real_data / "r2r" / "connectivity.tar.gz"]
    tours = tmp_path / "tours.json"
    assert call(capsys, "tours", "make", *named, "--out", tours, "--iterations", 20)[0] == 0
    options = ["--dataset", named[1], "--scenes", named[3], "--tours", tours]
    _, perfect, _ = call(
        capsys, "evaluate", "ir2r-v1", "--agent", "path", *options, "--out", tmp_path / "path"
    )
    assert perfect["episodes"] == 1011 and perfect["metrics"]["cls"]["mean"] == 1
    assert perfect["tours"]["metrics"]["t_ndtw"]["mean"] == 1
    _, still, _ = call(capsys, "evaluate", "ir2r-v1", "--agent", "stop", *options, "--out", tmp_path / "stop")
    assert still["metrics"]["navigation_error"]["mean"] == pytest.approx(10.18, abs=0.01)
    assert still["tours"]["metrics"]["t_ndtw"]["mean"] < 0.2 and still["metrics"]["success"]["mean"] == 0
