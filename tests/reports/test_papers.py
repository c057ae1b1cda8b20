"""Tables for papers hold the numbers of the comparison and nothing that LaTeX or CSV would misread."""

import csv
import dataclasses
import io

import pytest

from navarena.evaluation import compare
from navarena.metrics.statistics import Estimate
from navarena.reports.papers import CSV_COLUMNS, escape_latex, write_csv, write_latex
from reports.runs.made import make_runs


@pytest.fixture(scope="module")
def comparison(tmp_path_factory):
    first, second = make_runs(tmp_path_factory.mktemp("papers"), "Walker", "Crasher")
    result = compare([first, dataclasses.replace(second, label="50% of_it")], ["success", "distance_to_goal"])
    numbers = (
        {"success": Estimate(0.9, 0.8, 0.95, 40), "distance_to_goal": Estimate(1.0, None, None, 40)},
        {"success": Estimate(0.5, 0.4, 0.6, 40), "distance_to_goal": Estimate(0.25, 0.2, 0.3, 40)},
    )
    return dataclasses.replace(result, estimates=numbers)


def test_latex(comparison):
    text = write_latex(comparison)
    assert text.splitlines()[4:] == [
        r"\begin{tabular}{lcc}",
        r"\toprule",
        r"Agent & Success [\%] $\uparrow$ & Distance to goal [m] $\downarrow$ \\",
        r"\midrule",
        r"Walker & \textbf{90.0} & 1.00 \\",
        r" & {\scriptsize [80.0, 95.0]} &  \\",
        r"50\% of\_it & 50.0 & \textbf{0.25} \\",
        r" & {\scriptsize [40.0, 60.0]} & {\scriptsize [0.20, 0.30]} \\",
        r"\bottomrule",
        r"\end{tabular}",
    ]
    assert "% means over n = 40 episodes with 95 % intervals" in text
    assert "corridor-v1@corridors/mini#0123456789abcdef" in text


def test_what_is_no_mean_over_episodes_says_so(comparison):
    half = {name: Estimate(0.5, 0.4, 0.6, 40) for name in ("success", "t_ndtw", "image_success")}
    tours = [Estimate(0.5, 0.4, 0.6, n) for n in (2, 3)]
    parts = ({"image_success": Estimate(0.5, 0.4, 0.6, 12)}, {})
    counted = dataclasses.replace(
        comparison, estimates=tuple(half | {"t_ndtw": one} for one in tours), pooled=parts
    )
    lines = write_latex(counted).splitlines()
    assert lines[1:4] == [
        "% means over n = 40 episodes with 95 % intervals",
        "% t-nDTW: n = 2, 3 tours",
        "% Success by image: n = 12 sub-tasks",
    ]
    assert lines[4].startswith("% Walker: corridor-v1@")


def test_one_run_has_no_best(comparison):
    one = dataclasses.replace(
        comparison, contestants=comparison.contestants[:1], estimates=comparison.estimates[:1]
    )
    assert "textbf" not in write_latex(one)


def test_signs_of_latex_are_written_out():
    assert escape_latex(r"a_b & 5% {x} $1 #2 ~^\ ".strip()) == (
        r"a\_b \& 5\% \{x\} \$1 \#2 \textasciitilde{}\textasciicircum{}\textbackslash{}"
    )


def test_csv(comparison):
    lines = list(csv.DictReader(io.StringIO(write_csv(comparison))))
    assert tuple(lines[0]) == CSV_COLUMNS
    means = [line for line in lines if line["kind"] == "mean"]
    assert [(line["run"], line["metric"], float(line["mean"])) for line in means] == [
        ("Walker", "success", 0.9),
        ("Walker", "distance_to_goal", 1.0),
        ("50% of_it", "success", 0.5),
        ("50% of_it", "distance_to_goal", 0.25),
    ]
    assert means[1]["low"] == "" and means[0]["n"] == "40" and means[0]["p"] == ""
    (first, second) = (line for line in lines if line["kind"] == "difference")
    result = comparison.differences[0].result
    assert (first["run"], first["against"], first["metric"]) == ("50% of_it", "Walker", "success")
    assert float(first["mean"]) == result.difference.mean and float(first["p"]) == result.p_value
    assert int(first["wins"]) + int(first["ties"]) + int(first["losses"]) == 40
    assert second["metric"] == "distance_to_goal"
