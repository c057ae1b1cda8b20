"""Studies of repeated runs: cells by hand, and what makes no study."""

from pathlib import Path

import msgspec
import numpy as np
import pytest

from evaluation.analyses.written import write_run
from navarena.cli.main import main
from navarena.core.errors import InputError
from navarena.evaluation.analyses import fitting_names, read_labelled, run_analysis
from navarena.evaluation.analyses.metric_choice import read_study
from navarena.evaluation.records.journal import Row
from navarena.evaluation.records.record import read_record, write_record

NOISE = "pyrobot:half"
WAYS = (3.0, 3.0, 7.0, 7.0)
SPL = {
    "good": ((0.9, 0.7, 0.8, 0.6), (0.7, 0.9, 0.8, 0.6)),
    "fair": ((0.5, 0.3, 0.4, 0.2), (0.3, 0.5, 0.4, 0.2)),
    "none": ((0.0, 0.0, 0.0, 0.0), (0.0, 0.0, 0.0, 0.0)),
}


def write_repeat(
    folder: Path, agent: str, seed: int, spl, noise=NOISE, split="lite", metrics=("success", "spl")
):
    drawn = f"{noise}:draw-{seed}" if seed else noise
    option = f"+custom+corrupt={drawn}" if noise else ""
    rows = [
        Row(
            identity=f"pointnav-v1{option}@houses-v1/{split}#0",
            episode_id=f"e{k}",
            scene_id=f"scene/{k}",
            status="ok",
            steps=10,
            start_distance=way,
            actions=[1] * 10,
            metrics={name: {"success": float(value > 0), "spl": value}[name] for name in metrics},
        )
        for k, (way, value) in enumerate(zip(WAYS, spl, strict=False))
    ]
    corrupt = [drawn] if noise else None
    return write_run(folder, rows, metrics, "pointnav-v1", agent, seed=seed, corrupt=corrupt)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for agent, repeats in SPL.items():
        for seed, spl in enumerate(repeats):
            write_repeat(tmp_path / agent / f"seed-{seed}", agent, seed, spl)
    return tmp_path


def study(root: Path, name: str, *runs: str):
    return run_analysis(name, read_labelled([str(root / run) for run in runs or SPL]))


def cells(analysis, *first: str):
    row = next(row for row in analysis.rows if row[: len(first)] == first)
    return dict(zip(analysis.headings, row, strict=True))


def test_a_folder_of_repeats_stands_for_its_runs(root: Path) -> None:
    (one,) = read_labelled([str(root / "good")])
    assert [folder.name for folder in one.folders] == ["seed-0", "seed-1"] and one.label == "good"
    (single,) = read_labelled([str(root / "good" / "seed-1")])
    assert len(single.rows) == 1


def test_repeats_with_other_draws_make_a_study(root: Path) -> None:
    found = read_study(read_labelled([str(root / name) for name in SPL]))
    assert found.labels == ("good", "fair", "none") and list(found.values) == ["success", "spl"]
    assert found.values["spl"].tolist() == [[list(run) for run in one] for one in SPL.values()]
    parts = {name: places.tolist() for name, places in found.parts.items()}
    assert parts == {"all": [0, 1, 2, 3], "2 to 5 m": [0, 1], "5 to 10 m": [2, 3]}


def test_variances_by_hand(root: Path) -> None:
    """Near: means .8 and .8, within each 2 (.1)^2 = .02. Far: .8 and .6 always, sample variance .02."""
    analysis = study(root, "metric-variance")
    near, far = cells(analysis, "good", "SPL", "2 to 5 m"), cells(analysis, "good", "SPL", "5 to 10 m")
    assert (near["episodes"], near["repeats"]) == (2, 2) and near["mean"] == pytest.approx(0.8)
    assert near["sd of episodes"] == 0.0 and near["sd of repeats"] == pytest.approx(np.sqrt(0.02))
    assert near["share of repeats"] == pytest.approx(1.0)
    assert far["sd of episodes"] == pytest.approx(np.sqrt(0.02)) and far["share of repeats"] == 0.0
    assert cells(analysis, "none", "SPL", "all")["share of repeats"] is None
    assert len(analysis.rows) == 3 * 2 * 3


def test_needed_episodes_by_hand(root: Path) -> None:
    """good - fair is .4 in every cell. Against none the difference is the agent's own value: over all
    episodes means .8, .8, .8, .6 (sample variance .01), within .01 on average: .01 + .01 / 2.
    """
    row = cells(study(root, "metric-choice"), "SPL", "all")
    paired = (0.0 + 0.015 + 0.015) / 3
    assert row["n for 0.05, paired"] == int(np.ceil(7.8489 * paired / 0.0025))
    assert row["n for 0.02, unpaired"] == int(np.ceil(7.8489 * 2 * paired / 0.0004))
    assert row["pairs with an order"] == 3
    assert row["n for the difference seen, closest pair"] == 2.0
    assert row["share of repeats"] == pytest.approx(0.01 / (0.01 + 0.01 - 0.01 / 2))
    assert row["tau of repeats"] == row["tau of halves"] == 1.0
    assert row["order kept, 200 episodes"] == 1.0
    equal = cells(study(root, "metric-choice"), "Success", "all")
    assert equal["pairs with an order"] == 2 and equal["tau of repeats"] == 1.0


def test_ranks_by_hand(root: Path) -> None:
    """Success ties good and fair: of the three pairs of agents SPL orders, it orders two: 2 / sqrt(2 * 3)."""
    row = cells(study(root, "metric-ranks"), "SPL")
    assert row["tau with Success"] == pytest.approx(2 / np.sqrt(6)) and row["tau with SPL"] == 1.0
    assert row["agents, best first"] == "good 0.750, fair 0.350, none 0.000"


def test_equal_seeds_give_equal_tables(root: Path) -> None:
    assert study(root, "metric-choice") == study(root, "metric-choice")


def refused(root: Path, *runs: str) -> str:
    with pytest.raises(InputError) as caught:
        study(root, "metric-choice", *runs)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_what_makes_no_study(root: Path) -> None:
    assert "expected runs of at least 2 agents, got 1" in refused(root, "good")
    assert "at least 2 repeats of 'fair', got one run" in refused(root, "good", "fair/seed-0")
    twice = f"fair/seed-0,{root / 'fair/seed-0'}"
    assert "expected other runs beside" in refused(root, "good", twice)
    write_repeat(root / "same", "fair", 0, SPL["fair"][0])
    assert "with other seeds, got one seed twice" in refused(root, "good", f"fair/seed-0,{root / 'same'}")
    mixed = f"fair/seed-0,{root / 'none/seed-1'}"
    assert "expected repeats of one agent, got fair, none" in refused(root, "good", mixed)
    write_repeat(root / "third", "fair", 2, SPL["fair"][0])
    assert "got 2 of the first and 3 of 'fair'" in refused(
        root, "good", f"fair/seed-0,{root / 'fair/seed-1'},{root / 'third'}"
    )


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"noise": "pyrobot"}, "expected the same episodes and rules in all runs"),
        ({"noise": ""}, "expected the same episodes and rules in all runs"),
        ({"split": "val"}, "expected the same episodes and rules in all runs"),
        ({"metrics": ("success",)}, "expected 'spl' in all runs, got none in"),
    ],
)
def test_other_rules_episodes_or_metrics(root: Path, change: dict, message: str) -> None:
    for seed in range(2):
        write_repeat(root / "other" / f"seed-{seed}", "other", seed, SPL["fair"][seed], **change)
    assert message in refused(root, "good", "other")


def test_noise_must_be_the_same_in_the_repeats_of_an_agent(root: Path) -> None:
    write_repeat(root / "clean", "good", 1, SPL["good"][1], noise="")
    mixed = f"good/seed-0,{root / 'clean'}"
    assert "of one method by the same rules, got" in refused(root, mixed, "fair")


def test_reports_show_it_where_it_applies(root: Path) -> None:
    names = {"metric-choice", "metric-variance", "metric-ranks"}
    assert names <= set(fitting_names(read_labelled([str(root / name) for name in SPL])))
    assert not names & set(fitting_names(read_labelled([str(root / "good")])))
    assert not names & set(
        fitting_names(read_labelled([str(root / "good/seed-0"), str(root / "fair/seed-0")]))
    )


def test_native_noise_counts_as_noise(root: Path) -> None:
    """A protocol's own noise, drawn anew by name, is still the protocol's."""
    for agent in ("good", "fair"):
        for seed in range(2):
            folder = root / f"native-{agent}" / f"seed-{seed}"
            write_repeat(folder, agent, seed, SPL[agent][seed], noise="")
            drawn = [f"native_noise:draw-{seed}"] if seed else None
            record = read_record(folder)
            settings = {**record.settings, "protocol": "robustnav-pointnav-v1", "corrupt": drawn}
            write_record(folder, msgspec.structs.replace(record, settings=settings))
    assert study(root, "metric-choice", "native-good", "native-fair").rows


def test_the_command_keeps_it_below_the_first_run(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["analyse", "metric-choice", str(root / "good"), str(root / "fair")]) == 0
    assert (root / "good" / "seed-0" / "analyses" / "metric-choice.json").exists()
    assert main(["analyse", "metric-choice", str(root / "good")]) == 2
    assert capsys.readouterr().err.count("\n") == 1
