"""The page of learning curves: one colour for the seeds of a recipe, and nothing that was not logged."""

import json

from navarena.cli.training.curves import INFO, read_trainings
from navarena.learning.trainings.log import LOG
from navarena.reports.learning_curves import (
    MAX_POINTS,
    LearningRun,
    _thin,
    render_learning_curves,
    tabulate_runs,
)
from navarena.reports.plots import RUN_COLORS


def make_run(group, seed, method="imitation_loss", timed=True, watched=True):
    rows = []
    for step in (1, 2, 3):
        time = {"cpu_seconds": 60.0 * step} if timed else {}
        rows.append({"kind": "training", "frames": 1000 * step, method: 1 / step} | time)
        if watched:
            score = {"success": 0.2 * step, "success_low": 0.1 * step, "success_high": 0.3 * step, "n": 8}
            rows.append({"kind": "evaluation", "frames": 1000 * step} | score | time)
    best = {"by": "success", "frames": 3000, "mean": 0.6, "low": 0.3, "high": 0.9, "episodes": 8}
    return LearningRun(group, seed, "pointnav-v1", tuple(rows), best if watched else None)


def test_seeds_share_a_colour_and_a_label():
    runs = [make_run("dagger", 0), make_run("dagger", 1), make_run("ppo", 0, "value_loss")]
    page = render_learning_curves(runs)
    assert RUN_COLORS[0] in page and RUN_COLORS[1] in page and RUN_COLORS[2] not in page
    success = page[page.index("Success in held-out houses by million frames") :]
    success = success[: success.index("</svg>")]
    assert success.count(">dagger<") == 1 and success.count(">ppo<") == 1
    assert "imitation loss" in page and "value loss" in page and "entropy (nats)" not in page
    assert page == render_learning_curves(runs)


def write_training(folder, seed, method):
    folder.mkdir(parents=True)
    (folder / INFO).write_text(json.dumps({"protocol": "r2r-v1", "recipe": {"seed": seed, "method": method}}))
    (folder / LOG).write_text('{"frames": 8}\n')
    return folder


def test_trainings_of_one_name_and_other_recipes_are_told_apart(tmp_path):
    cma = write_training(tmp_path / "t1" / "final", 0, "cma")
    further = write_training(tmp_path / "t3" / "final", 1, "cma")
    maps = write_training(tmp_path / "t2" / "final", 0, "map-cma")
    assert [one.group for one in read_trainings([cma, further])] == ["final", "final"]
    assert [one.group for one in read_trainings([cma, maps])] == ["t1/final", "t2/final"]
    first = write_training(tmp_path / "many" / "seed-0", 0, "cma")
    second = write_training(tmp_path / "many" / "seed-1", 1, "map-cma")
    assert [one.group for one in read_trainings([first, second, cma])] == ["many", "many", "final"]


def test_the_table_says_what_is_not_known():
    known, unknown = tabulate_runs([make_run("a", 0), make_run("b", 2, timed=False, watched=False)]).rows
    assert known == ("a", "0", "3,000", "3.0", "Success 0.600", "0.300 to 0.900", "8", "3,000", "0.600")
    assert unknown == ("b", "2", "3,000", *["–"] * 6)
    assert "minutes of a core" not in render_learning_curves([make_run("b", 0, timed=False)])


def test_long_lines_are_means_of_neighbours():
    assert _thin([1, 2, 3]) == (1.0, 2.0, 3.0)
    thin = _thin(list(range(MAX_POINTS * 4)))
    assert len(thin) == MAX_POINTS and thin[0] == 1.5 and thin[-1] == MAX_POINTS * 4 - 2.5
