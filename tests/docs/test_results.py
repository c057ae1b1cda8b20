"""The results page is what its data renders to, and its rows are what their commands give.

A slow test runs rows again, by turns.
"""

import dataclasses
import importlib.util
import shlex
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import msgspec
import pytest

from navarena.agents.catalog import AGENTS, SHIPPED
from navarena.cli.main import main
from navarena.core.errors import FileError
from navarena.evaluation.running.replay import TOLERANCE
from navarena.mapping.labellers import SHIPPED_SEGMENTERS
from navarena.metrics.statistics import Estimate
from turns import TURN

ROOT = Path(__file__).resolve().parents[2]
SHORT_SECONDS, FEW_SCENES = 40, 40
"""Wall-clock time, and scenes to build, of rows that take their turn."""


def load_script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("results_page", ROOT / "scripts" / "results_page.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses and structs look their own module up
    spec.loader.exec_module(module)
    return module


PAGE = load_script()
RESULTS = PAGE.read_results()
LEARNED = ("pointnav-small", "pointnav-dagger-small")
RENDERED = ("objectnav-hm3d2022-v1", "goat-v1", "instance-imagenav-v1", "languagenav-v1", "ovon-v1")
"""Protocols whose view points are rendered: ten seconds a house, where nothing is in the cache."""
SHORT = [
    row
    for row in RESULTS
    if row.seconds < SHORT_SECONDS and row.scenes <= FEW_SCENES and row.agent not in LEARNED
]
QUICK = [row for row in SHORT if row.protocol not in RENDERED]
LONG = [row for row in SHORT if row.protocol in RENDERED]
LONG_TURNS = 16


def make_row(**changes):
    """A row of the script's own making, with what `changes` say."""
    row = PAGE.Result(
        protocol="pointnav-v1",
        agent="stop",
        split="val",
        identity="pointnav-v1@houses-v1/val#0123456789abcdef",
        command="navarena evaluate pointnav-v1 --agent stop --split val",
        episodes=1000,
        scenes=100,
        subtasks=0,
        date="2026-11-02",
        seconds=1234.4,
        privileged_inputs=(),
        machine="a processor, 8 cores",
        platform=("Linux", "x86_64", "python 3.14"),
        confidence=0.95,
        metrics={"success": Estimate(0.25, 0.125, 0.5, 1000), "spl": Estimate(0.2, 0.1, 0.3, 1000)},
    )
    return msgspec.structs.replace(row, **changes)


def test_the_page_is_what_its_data_renders_to():
    assert (ROOT / "docs" / "results.md").read_text() == PAGE.write_page(RESULTS, PAGE.read_papers())
    assert PAGE.merge_results(RESULTS, ()) == RESULTS


def test_rows_are_of_their_commands():
    for row in RESULTS:
        words = shlex.split(row.command)
        assert words[:3] == ["navarena", "evaluate", row.protocol]
        assert words[words.index("--agent") + 1] == row.agent
        assert words[words.index("--split") + 1] == row.split
        assert max(row.episodes, row.subtasks) >= 300
        assert ("custom" in row.identity) == ("--episodes" in words)
        assert all(one.low <= one.mean <= one.high for one in row.metrics.values())


def test_every_built_in_agent_is_named():
    shown = {agent for benchmark in PAGE.BENCHMARKS for agent in benchmark.agents}
    assert shown.isdisjoint(PAGE.LEFT_OUT)
    checkpoints = PAGE.DOCS.parent / "checkpoints" / "navarena_checkpoints"
    shipped = {path.parent.name.replace("_", "-") for path in checkpoints.glob("*/checkpoint.json")}
    assert shipped == {*SHIPPED, *SHIPPED_SEGMENTERS}
    assert shown | set(PAGE.LEFT_OUT) == set(AGENTS.names()) | set(SHIPPED)


def test_a_table_by_hand():
    rows = (
        make_row(agent="expert", privileged_inputs=("navmesh",), command="another"),
        make_row(metrics={"success": Estimate(1.0, None, None, 1000, 0, "none")}),
    )
    page = PAGE.write_page(PAGE.merge_results((), rows), {})
    lines = page.splitlines()
    start = lines.index("### `pointnav-v1`, all 1,000 episodes of `val`")
    assert lines[start + 2] == "Identity: `pointnav-v1@houses-v1/val#0123456789abcdef`; 100 scenes."
    assert lines[start + 4 : start + 8] == [
        "| agent | Success | SPL | n | time | date |",
        "|---|--:|--:|--:|--:|---|",
        "| `expert` * | 25.0 % (12.5 % to 50.0 %) | 0.200 (0.100 to 0.300) | 1,000 | 1,234 s | 2026-11-02 |",
        "| `stop` | 100.0 % | – | 1,000 | 1,234 s | 2026-11-02 |",
    ]
    assert "Not run on `pointnav-v1`: `pointnav-small`, " in page and "`stop`.\n\n## ObjectNav" not in page
    assert "* a processor, 8 cores; Linux, x86_64, python 3.14.\n" in page
    assert "### In the paper" not in page


def test_a_paper_stands_beside_rows_of_its_protocol():
    paper = PAGE.Paper(source="A paper, table 1", differs="All.", columns=("SPL",), rows=(("A", "3 %"),))
    shown = PAGE.write_page((make_row(),), {"pointnav-v1": paper, "goat-v1": paper})
    assert shown.count("A paper, table 1. All.\n\n| agent | SPL |\n|---|--:|\n| A | 3 % |\n") == 1


def test_episodes_of_one_list_stand_in_one_table():
    part = make_row(
        command="navarena evaluate pointnav-v1 --agent random --split val --episodes 300",
        agent="random",
        episodes=300,
        identity="pointnav-v1@houses-v1/custom-val-first-300#0",
    )
    rows = PAGE.merge_results(
        (make_row(), part), (make_row(seconds=5.0), make_row(protocol="goat-v1", command="g"))
    )
    assert [(one.protocol, one.agent, one.seconds) for one in rows] == [
        ("pointnav-v1", "stop", 5.0),
        ("pointnav-v1", "random", 1234.4),
        ("goat-v1", "stop", 1234.4),
    ]
    page = PAGE.write_page(rows, {})
    assert page.count("### `pointnav-v1`, ") == 2
    assert "### `pointnav-v1`, the first 300 episodes of `val`\n" in page


def test_rows_without_a_place_are_refused():
    with pytest.raises(ValueError, match="expected a run of a benchmark of the page, got 'x'"):
        PAGE.merge_results((), (make_row(agent="mine", command="x"),))


def test_runs_that_no_row_shows_are_refused(tmp_path):
    with pytest.raises(FileError):
        PAGE.read_result(tmp_path)
    words = ["evaluate", "pointnav-v1", "--agent", "stop", "--split", "mini", "--episodes", "2", "--quiet"]
    assert main([*words, "--out", str(tmp_path / "seed"), "--seed", "3"]) == 0
    with pytest.raises(ValueError, match="expected no settings but agent, split, episodes, got seed"):
        PAGE.read_result(tmp_path / "seed")
    assert main([*words, "--out", str(tmp_path / "run")]) == 0
    row = PAGE.read_result(tmp_path / "run")
    assert row.command == f"navarena {' '.join(words[:-1])}"
    assert (row.protocol, row.agent, row.split, row.episodes) == ("pointnav-v1", "stop", "mini", 2)
    assert row.metrics["success"].mean == 0 and row.metrics["success"].n == 2
    journal = next((tmp_path / "run").glob("journal-*.jsonl"))
    journal.write_text("".join(journal.read_text().splitlines(keepends=True)[:-1]))
    with pytest.raises(ValueError, match="expected a finished run"):
        PAGE.read_result(tmp_path / "run")


@pytest.mark.slow
@pytest.mark.parametrize(
    "row",
    [
        pytest.param(QUICK[TURN % len(QUICK)], id="quick"),
        pytest.param(LONG[TURN // LONG_TURNS % len(LONG)], id="long", marks=pytest.mark.turns(LONG_TURNS)),
    ],
)
def test_rows_are_what_their_commands_give_by_turns(tmp_path, row):
    words = [*shlex.split(row.command)[1:], "--out", str(tmp_path / "run"), "--quiet"]
    subprocess.run([sys.executable, "-m", "navarena", *words], check=True)  # checks no types, unlike tests
    found = PAGE.read_result(tmp_path / "run")
    assert (found.identity, found.episodes, found.command) == (row.identity, row.episodes, row.command)
    assert found.privileged_inputs == row.privileged_inputs and set(found.metrics) == set(row.metrics)
    exact = found.platform == row.platform
    for name, expected in row.metrics.items():
        got = dataclasses.asdict(found.metrics[name])
        wanted = dataclasses.asdict(expected)
        if exact:
            assert got == wanted, name
        else:
            assert (got["n"], got["infinite"]) == (wanted["n"], wanted["infinite"]), name
            assert got["mean"] == pytest.approx(wanted["mean"], rel=TOLERANCE, abs=TOLERANCE), name
