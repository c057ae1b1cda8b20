"""FOUND budgets, backtracking and long episodes by replay, in a drawn hall."""

import math
from dataclasses import dataclass, replace

import pytest
from msgspec.structs import replace as replace_fields

from evaluation.corridor import CorridorBatch
from navarena.agents import SingleAgent, wrap
from navarena.agents.loading import load_agent
from navarena.core.errors import InputError
from navarena.evaluation import Benchmark, EvaluationSettings, Identity, evaluate, read_rows
from navarena.evaluation.analyses import read_labelled
from navarena.evaluation.analyses.backtracking import SightWatcher, analyse_backtracking, find_turns
from navarena.evaluation.analyses.found_budgets import analyse_found_budgets, cut_run
from navarena.evaluation.analyses.goat import analyse_lifelong
from navarena.metrics.statistics import wilson_interval
from navarena.tasks.batch import NavigationBatch
from navarena.tasks.protocols.goat import Goat
from navarena.tasks.protocols.multi_on import MultiOn3
from navarena.tasks.protocols.multi_on_options import MultiOnOptions
from tasks.small import AHEAD, MULTI_GOALS, SMALL_BODY, as_life, as_objects, make_cache, make_episode

FOUND, FORWARD, LEFT, RIGHT = range(4)
METRICS = ("success", "progress", "ppl", "spl", "distance_to_goal", "path_length", "num_actions", "stopped")


class HallMultiOn(MultiOn3):
    embodiment = SMALL_BODY


class Scripted(SingleAgent):
    """Acts by a script."""

    def __init__(self, script):
        self.script = script

    def reset(self):
        self.step = 0

    def act(self, observations):
        self.step += 1
        return self.script[self.step - 1]


@dataclass(frozen=True)
class HallSetup:
    """The hall, walked by the random agent or by a script."""

    options: MultiOnOptions
    script: tuple = ()

    def make_batch(self, slots, sensors, threads):
        return NavigationBatch(HallMultiOn(self.options), slots, threads, sensors, worlds=make_cache())

    def make_agent(self):
        if self.script:
            return wrap(lambda: Scripted(self.script), sensors=())
        return load_agent("random", HallMultiOn(self.options), 3)


def run(folder, episodes=MULTI_GOALS[3], protocol="multion-3on-v1", script=(), seed=0, **options):
    setup = HallSetup(MultiOnOptions(max_steps=60, found_distance=3.0, **options), script)
    benchmark = Benchmark(
        Identity("hall-v1", "hall", "mini", "0"), tuple(episodes), MultiOn3.actions, METRICS, setup
    )
    evaluate(EvaluationSettings(protocol, agent="random", out=folder, seed=seed), benchmark)
    return benchmark


def test_smaller_budgets_are_cut_from_the_largest(tmp_path):
    """What is cut from the run with 20 is the run made with each smaller budget, number by number."""
    benchmark = run(tmp_path / "20", protocol="multion-3on-v1+found_budget=20", found_budget=20)
    (largest,) = read_labelled([str(tmp_path / "20")])
    seen = []
    cut = cut_run(largest, benchmark, (0, 1, 3), lambda: seen.append(1))
    assert len(seen) == len(MULTI_GOALS[3])
    ended = set()
    for budget, contestant in cut.items():
        run(tmp_path / str(budget), found_budget=budget)
        own = read_rows(tmp_path / str(budget))
        names = ("episode_id", "status", "steps", "start_distance", "actions", "metrics", "goals")
        for mine, other in zip(own, contestant.rows[0], strict=True):
            assert {name: getattr(mine, name) for name in names} == {
                name: getattr(other, name) for name in names
            }
        ended.add(sum(row.steps for row in own))
    assert len(ended) == 3  # the budgets do make a difference


def test_the_table_of_budgets(tmp_path):
    benchmarks = {
        "20": run(tmp_path / "20", protocol="multion-3on-v1+found_budget=20", found_budget=20),
        "0": run(tmp_path / "0"),
        "oracle": run(tmp_path / "oracle", protocol="multion-3on-v1+oracle_found=true", oracle_found=True),
    }
    runs = read_labelled([f"r={tmp_path / name}" for name in benchmarks], groups=True)
    table = analyse_found_budgets(runs, lambda one: benchmarks[one.folders[0].name])
    assert [row[1] for row in table.rows] == ["0", "1", "2", "3", "5", "10", "15", "20", "oracle"]
    made = [row[-1] for row in table.rows]
    assert made == ["run", *["replay of the run with 20"] * 6, "run", "run"]
    progress = [row[3].mean for row in table.rows]
    assert progress[:8] == sorted(progress[:8]) and all(row[3].n == row[2] for row in table.rows)
    assert [curve.label for curve in table.curves] == ["r: progress", "r: success", "r: ppl", "r: spl"]
    assert table.curves[0].x == (0, 1, 2, 3, 5, 10, 15, 20)
    with pytest.raises(InputError, match="single runs of MultiON .* got 2 training seeds"):
        run(tmp_path / "again", protocol="multion-3on-v1+found_budget=20", found_budget=20, seed=1)
        analyse_found_budgets(read_labelled([f"{tmp_path / '20'},{tmp_path / 'again'}"]))


def make_turn(name, second, yaw=0.0):
    """Red 2 m to the north of the start; green at `second`; blue where nobody goes."""
    return as_objects(make_episode(name, (5.0, 0.0, 5.0), (5.0, 0.0, 3.0), yaw=yaw), second, (9.0, 0.0, 9.0))


def test_what_was_seen_before_its_turn(tmp_path):
    """FOUND of red from the start, which looks north; then green, within reach of FOUND in four episodes."""
    episodes = (
        make_turn("ahead", (5.5, 0.0, 2.5)),  # seen, and 2.5 m away
        make_turn("behind", (5.0, 0.0, 7.0)),  # 2 m to the south
        make_turn("beside", (7.0, 0.0, 4.0)),  # 63 degrees to the right, 2.2 m away
        make_turn("far", (5.7, 0.0, 1.6)),  # ahead, 3.5 m away: seen, but out of reach
        make_turn("hidden", (5.0, 0.0, 1.6)),  # right behind red
        make_turn("left", (3.0, 0.0, 5.0), yaw=math.pi / 2),  # ahead of one who looks west
    )
    benchmark = run(tmp_path / "a", episodes, script=(FOUND, FOUND, FOUND))
    (one,) = read_labelled([str(tmp_path / "a")])
    turns = find_turns(one, benchmark)
    by_name = dict(
        zip([row.episode_id for row in one.rows[0]], (row.goals for row in one.rows[0]), strict=True)
    )
    assert {name: len(goals.found_after) for name, goals in by_name.items()} == {
        "ahead": 2,
        "behind": 2,
        "beside": 2,
        "far": 1,
        "hidden": 1,
        "left": 2,
    }
    second = [turn for turn in turns if turn.place == 2]
    assert len(second) == 6 and sum(turn.seen for turn in second) == 3
    table = analyse_backtracking([one], lambda _: benchmark)
    goal, count, seen, unseen, gain = table.rows[0][1:]
    assert (goal, count, seen.mean, seen.n, unseen.mean, unseen.n) == (2, 6, 2 / 3, 3, 2 / 3, 3)
    assert gain.mean == 0 and gain.low == -gain.high < 0 and gain.n == 3
    assert [row[1] for row in table.rows] == [2, 3, "all"]
    pooled = analyse_backtracking([replace(one, rows=one.rows * 2)], lambda _: benchmark)
    count, seen, _, gain = pooled.rows[0][2:]
    assert (count, seen.n, gain.n) == (12, 6, 6)  # of two equal seeds: as sure as of one
    assert (seen.low, seen.high) == pytest.approx(wilson_interval(2, 3))
    broken = replace(one, rows=(tuple(replace_fields(row, status="crashed") for row in one.rows[0]),))
    again = find_turns(broken, benchmark)
    assert len(again) == len(turns) and not any(turn.found for turn in again)


def test_goals_that_no_image_shows_are_refused(tmp_path):
    with pytest.raises(InputError, match="batch with images, got CorridorBatch"):
        SightWatcher()(CorridorBatch(1, ()), {})
    benchmark = run(tmp_path / "hidden", script=(FOUND,) * 3, hidden=True)
    (one,) = read_labelled([str(tmp_path / "hidden")])
    with pytest.raises(InputError, match="goals that images show, got hidden ones"):
        find_turns(one, benchmark)


class HallGoat(Goat):
    embodiment = SMALL_BODY


@dataclass(frozen=True)
class LifeSetup:
    """The hall with goals that follow one another, walked by a script."""

    script: tuple

    def make_batch(self, slots, sensors, threads):
        return NavigationBatch(HallGoat(), slots, threads, sensors, worlds=make_cache())

    def make_agent(self):
        return wrap(lambda: Scripted(self.script), sensors=())


def test_sub_tasks_by_the_number_of_goals_so_far(tmp_path):
    """Both find the first goal, 1 m ahead; the second is behind the one and at the feet of the other."""
    behind, here = (5.0, 0.0, 6.0), (5.0, 0.0, 4.0)
    episodes = (as_life(replace(AHEAD, episode_id="a"), 0, here, behind, here), as_life(AHEAD, 1, behind))
    declare = Goat.actions.index("subtask_stop")
    setup = LifeSetup((*(1,) * 4, declare, declare, declare, declare))
    metrics = ("success", "subtasks", "subtask_success", "subtask_spl")
    benchmark = Benchmark(Identity("goat-v1", "hall", "mini", "0"), episodes, Goat.actions, metrics, setup)
    evaluate(EvaluationSettings("goat-v1", agent="random", out=tmp_path), benchmark)
    done = []
    table = analyse_lifelong(read_labelled([str(tmp_path)]), lambda _: benchmark, lambda: done.append(1))
    assert [row[1:4] for row in table.rows] == [("1", 2, 2), ("2", 2, 2), ("3 to 5", 1, 2)]
    assert [(row[4].mean, row[4].n) for row in table.rows] == [(1.0, 2), (0.5, 2), (0.5, 2)]
    assert [row[5].mean for row in table.rows] == [1.0, 0.5, 0.5]
    assert [curve.x for curve in table.curves] == [(1, 2, 5)] * 2 and len(done) == 2
    (one,) = read_labelled([str(tmp_path)])
    broken = (replace_fields(one.rows[0][0], status="crashed"), *one.rows[0][1:])
    table = analyse_lifelong([replace(one, rows=(broken,))], lambda _: benchmark)
    assert [row[4].mean for row in table.rows] == [0.5, 0.0, 0.0]  # what is left found its first goal alone
    hall = run(tmp_path / "hall")
    with pytest.raises(InputError, match="expected runs of GOAT-Bench"):
        analyse_lifelong(read_labelled([str(tmp_path / "hall")]), lambda _: hall)
