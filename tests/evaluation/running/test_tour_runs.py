"""Tours through the pipeline of evaluation: any workers, batches and interruptions give the same rows."""

import json
from dataclasses import replace
from itertools import groupby

import numpy as np
import pytest
from markupsafe import Markup

from graph_world import write_sources
from navarena.agents import Agent, Boundary
from navarena.agents.simple import RandomAgent
from navarena.cli.main import main
from navarena.core.errors import InputError
from navarena.evaluation import EvaluationSettings, evaluate, execute_actions, open_benchmark, replay_run
from navarena.evaluation.analyses import read_labelled, run_analysis
from navarena.evaluation.analyses.compare import compare
from navarena.evaluation.analyses.contestants import read_contestant
from navarena.evaluation.benchmark import Benchmark
from navarena.evaluation.records.journal import journal_path, read_rows
from navarena.evaluation.records.results import summarize_tours
from navarena.evaluation.records.tour_scores import score_tours
from navarena.evaluation.running.order_check import check_order
from navarena.metrics.catalog import leading_metrics
from navarena.metrics.statistics import WILSON
from navarena.metrics.tours import TourScoring, mean_over_tours, tour_ndtw
from navarena.reports.gallery import draw_galleries, make_card
from navarena.reports.videos.frame import GAP
from navarena.reports.videos.map_panel import GOAL
from navarena.tasks import GraphBatch, get_task


def graph_settings(folder, out="run", **others):
    if not (folder / "connectivity").exists():
        write_sources(folder, tours=True)
    return EvaluationSettings(
        "ir2r-v1",
        dataset=str(folder / "R2R_val_seen.json.gz"),
        scenes=str(folder / "connectivity"),
        tours=str(folder / "tours.json"),
        out=folder / out,
        **others,
    )


def rows_of(settings):
    return list(evaluate(settings).rows)


def test_workers_batches_and_order_do_not_matter(tmp_path):
    one = rows_of(graph_settings(tmp_path, "one"))
    assert len(one) == 7 and {row.tour.position for row in one} == {0, 1, 2, 3}
    for number, others in enumerate(
        ({"workers": 2}, {"batch_size": 1}, {"batch_size": 3}, {"shuffle": True})
    ):
        assert rows_of(graph_settings(tmp_path, f"other-{number}", **others)) == one
        summaries = [(tmp_path / name / "summary.json").read_bytes() for name in ("one", f"other-{number}")]
        assert summaries[0] == summaries[1]
    settings = graph_settings(tmp_path)
    assert check_order(open_benchmark(settings), settings.rules) == 7


@pytest.mark.parametrize("agent", ["random", "explorer", "path"])
@pytest.mark.parametrize("forget", [None, "episode", "never"])
def test_replay_verifies_every_row(tmp_path, agent, forget):
    settings = graph_settings(tmp_path, agent=agent, forget=forget)
    evaluation = evaluate(settings)
    assert ("forget" in evaluation.summary.identity) == (forget is not None)
    replay = replay_run(settings.out)
    assert replay.episodes == 7 and replay.differences == ()


def test_a_run_on_graphs_has_no_layout_of_bodies(tmp_path, capsys):
    settings = graph_settings(tmp_path)
    evaluate(settings)
    assert main(["export", str(settings.out), "robustnav", "--out", str(tmp_path / "x.json")]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert "expected a run with bodies in scenes for the layout robustnav, got ir2r-v1@" in line
    assert line.endswith("on navigation graphs; choose the layout r2r") and not (tmp_path / "x.json").exists()


@pytest.mark.parametrize("field", ["oracle_goal", "oracle_start", "dtw", "dtw_code", "length", "position"])
def test_an_edited_record_of_a_tour_is_found(tmp_path, field):
    settings = graph_settings(tmp_path)
    evaluate(settings)
    path = journal_path(settings.out, 0)
    header, *lines = map(json.loads, path.read_text().splitlines())
    edited = next(line for line in lines if line["tour"]["position"] == (3 if field == "position" else 1))
    edited["tour"][field] = (edited["tour"][field] or 0) + 1
    path.write_text("".join(json.dumps(line, separators=(",", ":")) + "\n" for line in [header, *lines]))
    found = [one for one in replay_run(settings.out).differences if one.episode_id == edited["episode_id"]]
    assert any(field in one.name or field == "position" for one in found), found


def test_t_ndtw_is_that_of_the_definition(tmp_path):
    """From the journal's sums, and from the tables of distances of whole tours, in every reading."""
    settings = graph_settings(tmp_path, agent="random")
    evaluation = evaluate(settings)
    benchmark = open_benchmark(settings)
    by_id = {one.episode_id: one for one in benchmark.episodes}
    pairs = [(row, by_id[row.episode_id]) for row in evaluation.rows]
    tracks = {row.episode_id: outcome.trajectory for row, _, outcome in execute_actions(benchmark, pairs)}
    tours = [list(own) for _, own in groupby(benchmark.episodes, lambda one: one.tour_id)]
    costs = [[tracks[one.episode_id].tour_costs for one in tour] for tour in tours]
    sizes = [len(tour) for tour in tours]
    for reading in ("code", "paper"):
        for weighting in ("episodes", "changes"):
            try:
                values = [tour_ndtw(own, reading) for own in costs]
            except InputError:
                values = None
            found = summarize_tours(evaluation.rows, TourScoring(reading, weighting)).metrics["t_ndtw"].mean
            if values is None:
                assert found is None
            else:
                assert found == pytest.approx(mean_over_tours(values, sizes, weighting), abs=1e-12)


# Nodes on the four paths and next to them: abcdefh, bcdefgh, abfgh, bcdeh; of each tour a to h.
@pytest.mark.parametrize(
    ("agent", "next_path", "whole_tour"),
    [
        # after P1, all but g are known, after P2 all; after P4 and the oracle's b, all but f and g, then P1
        ("path", [0, (6 / 7 + 6 / 7) / 2, (1 + 6 / 7) / 2, 1], [0, (7 / 8 + 6 / 8) / 2, (1 + 7 / 8) / 2, 1]),
        # a, and the oracle's b and c; then d and its c and h; e, and its d, c and b; then a and its b and c
        ("stop", [0, (5 / 7 + 6 / 7) / 2, (1 + 6 / 7) / 2, 1], [0, (6 / 8 + 6 / 8) / 2, (1 + 7 / 8) / 2, 1]),
    ],
)
def test_coverage_on_graphs_by_hand(tmp_path, agent, next_path, whole_tour):
    settings = graph_settings(tmp_path, agent=agent)
    evaluate(settings)
    done = []
    table = run_analysis("tour-coverage", read_labelled([str(settings.out)]), lambda: done.append(1))
    assert [row[:3] for row in table.rows] == [(agent, 0, 2), (agent, 1, 2), (agent, 2, 2), (agent, 3, 1)]
    assert [row[3].mean for row in table.rows] == pytest.approx(next_path)
    assert [row[4].mean for row in table.rows] == pytest.approx(whole_tour)
    assert table.rows[1][3].method.startswith(WILSON) and len(done) == 7
    assert [(curve.label, len(curve.x)) for curve in table.curves] == [
        (f"{agent}: next path", 4),
        (f"{agent}: whole tour", 4),
    ]


def test_a_run_that_was_cut_off_goes_on_to_the_same_rows(tmp_path, monkeypatch):
    whole = rows_of(graph_settings(tmp_path, "whole", batch_size=1))
    settings = graph_settings(tmp_path, batch_size=1)
    original = RandomAgent.reset
    begun = []

    def cut(agent, starts):
        original(agent, starts)
        begun.extend(starts)
        if len(begun) == 3:
            raise KeyboardInterrupt

    monkeypatch.setattr(RandomAgent, "reset", cut)
    with pytest.raises(KeyboardInterrupt):
        evaluate(settings)
    assert len(read_rows(settings.out)) == 2
    monkeypatch.undo()
    again = evaluate(settings)
    assert again.resumed == 2 and list(again.rows) == whole


class Faulty(Agent):
    """Stops at once; breaks at a chosen place, by "crash" or "illegal", in it or before it."""

    sensors = ("phase", "tour_position")
    fault, phase, position = "crash", 0, 1

    def __init__(self):
        self.heard = []

    def reset(self, starts):
        self.heard += [(start.episode_id, start.boundary) for start in starts]

    def act(self, observations, active):
        here = (
            active & (observations["phase"] == self.phase) & (observations["tour_position"] == self.position)
        )
        if here.any() and self.fault == "crash":
            raise ValueError("broken")
        return np.where(here, 99, 0)


class OneAgent:
    """A setup that makes batches as another does, and agents of its own."""

    def __init__(self, inner, make):
        self.inner, self.make, self.made = inner, make, []

    def make_batch(self, slots, sensors, threads):
        return self.inner.make_batch(slots, sensors, threads)

    def make_agent(self):
        self.made.append(self.make())
        return self.made[-1]


def benchmark_of(settings, make) -> Benchmark:
    """What `settings` name, with the agents that `make` makes."""
    found = open_benchmark(settings)
    return replace(found, setup=OneAgent(found.setup, make))


@pytest.mark.parametrize("phase", [0, 1, 2])
@pytest.mark.parametrize("fault", ["crash", "illegal"])
@pytest.mark.parametrize("batch_size", [1, 4])
def test_agents_that_break_within_a_tour_or_while_the_oracle_leads(tmp_path, fault, phase, batch_size):
    kind = type("Kind", (Faulty,), {"fault": fault, "phase": phase, "position": 0 if phase == 1 else 1})
    settings = graph_settings(tmp_path, batch_size=batch_size)
    benchmark = benchmark_of(settings, kind)
    rows = evaluate(settings, benchmark).rows
    assert len(rows) == 7
    broken = {row.episode_id for row in rows if row.failed}
    if fault == "illegal":
        assert broken == ({"2_0", "1_1"} if phase == 0 else set()), "an oracle takes no orders"
    else:
        place = 2 if phase == 2 else 1  # on the way to the next start the place is that of the last episode
        assert broken == {row.episode_id for row in rows if row.tour.position == place}
    assert {row.status for row in rows if row.failed} <= {"crashed", "illegal_action"}
    assert replay_run(settings.out, benchmark).differences == ()


@pytest.mark.parametrize(
    ("forget", "first", "within"),
    [
        (None, Boundary.SCENE, Boundary.EPISODE),
        ("episode", Boundary.SCENE, Boundary.SCENE),
        ("subtask", Boundary.SCENE, Boundary.SCENE),
    ],
)
def test_what_agents_are_told_at_boundaries(tmp_path, forget, first, within):
    settings = graph_settings(tmp_path, forget=forget)
    benchmark = benchmark_of(settings, type("Quiet", (Faulty,), {"position": 99}))
    rows = evaluate(settings, benchmark).rows
    heard = dict(benchmark.setup.made[0].heard)
    assert len(heard) == 7
    for row in rows:
        assert heard[row.episode_id] == (within if row.tour.position else first)


def test_never_forgetting_lasts_over_the_tours_of_a_scene(tmp_path):
    settings = graph_settings(tmp_path, forget="never")
    benchmark = benchmark_of(settings, type("Quiet", (Faulty,), {"position": 99}))
    evaluate(settings, benchmark)
    assert [boundary for _, boundary in benchmark.setup.made[0].heard] == [Boundary.SCENE] + [
        Boundary.EPISODE
    ] * 6


def test_the_batch_of_a_graph_benchmark_has_the_scans_of_its_episodes(tmp_path):
    benchmark = open_benchmark(graph_settings(tmp_path))
    batch = benchmark.setup.make_batch(1, ("viewpoint",), None)
    assert isinstance(batch, GraphBatch) and list(batch.atlas.scans) == ["scan1"]
    assert benchmark.tour_scoring == TourScoring("code", "episodes") and benchmark.tour_ends == {"4_0", "2_1"}


def test_corruptions_are_a_tuple():
    settings = EvaluationSettings("pointnav-v1")
    object.__setattr__(settings, "corrupt", "speckle_noise:3")
    with pytest.raises(InputError, match="expected a tuple of corruptions"):
        settings.__post_init__()


def test_corruptions_joined_by_commas_are_several():
    joined = EvaluationSettings("pointnav-v1", corrupt=("lighting:3,spatter:2", "motion_drift"))
    assert joined.corrupt == ("lighting:3", "spatter:2", "motion_drift")
    assert joined == EvaluationSettings("pointnav-v1", corrupt=("lighting:3", "spatter:2", "motion_drift"))


def call(capsys, *words):
    code = main([*map(str, words), "--json"])
    captured = capsys.readouterr()
    return code, json.loads(captured.out) if captured.out else captured.err


def test_every_command_reads_a_run_of_tours(tmp_path, capsys):
    runs = []
    for agent in ("random", "path"):
        settings = graph_settings(tmp_path, agent, agent=agent)
        flags = [
            f"--{name}={getattr(settings, name)}" for name in ("dataset", "scenes", "tours", "agent", "out")
        ]
        code, document = call(
            capsys, "evaluate", "ir2r-v1", *flags, "--check-order", "--metrics", "collisions"
        )
        assert code == 0 and document["tours"]["tours"] == 2 and "collisions" in document["metrics"]
        runs.append(settings.out)
    for words in (
        ("replay", runs[0]),
        ("compare", *runs),
        ("report", runs[0]),
        ("analyse", "tours", *runs),
        ("analyse", "tour-positions", *runs),
    ):
        code, document = call(capsys, *words)
        assert code == 0, (words, document)
    assert "t-nDTW" in (runs[0] / "report.html").read_text()


def test_success_on_graphs_is_that_of_the_protocol(tmp_path):
    """The report tells successes from failures by the success of the rows, not by the length of the path."""
    assert leading_metrics(get_task("r2r-v1").metrics) == ("success", "spl")
    settings = graph_settings(tmp_path, agent="forward")
    evaluation = evaluate(settings)
    assert {row.metrics["success"] for row in evaluation.rows} == {0.0, 1.0}  # and all walked
    benchmark = open_benchmark(settings)
    for row in evaluation.rows:
        status = make_card(benchmark, row, Markup("")).status
        assert status == ("success" if row.metrics["success"] else "failure")
    drawn = draw_galleries(
        compare([read_contestant("forward", [settings.out])]), (None,), lambda _: benchmark
    )["forward"]
    failed = {card.episode_id for card in drawn["Failures, easiest first"]}
    assert failed == {row.episode_id for row in evaluation.rows if not row.metrics["success"]}


def test_runs_of_tours_are_compared_by_their_tours(tmp_path, capsys):
    runs = []
    for agent in ("random", "expert"):
        settings = graph_settings(tmp_path, agent, agent=agent)
        evaluation = evaluate(settings)
        runs.append((settings.out, evaluation.summary.tours.metrics, score_tours(evaluation.rows)))
    code, document = call(capsys, "compare", *(run for run, _, _ in runs))
    assert code == 0
    for described, (_, tours, _) in zip(document["runs"], runs, strict=True):
        for name, metric in tours.items():
            found = described["metrics"][name]
            assert (found["mean"], found["low"], found["n"]) == (metric.mean, metric.low, 2)
    change = next(one for one in document["differences"] if one["metric"] == "t_ndtw")
    means = [run[1]["t_ndtw"].mean for run in runs]
    assert change["difference"]["mean"] == pytest.approx(means[1] - means[0])
    assert (change["first"], change["second"]) == pytest.approx(means)
    assert change["wins"] == 2 and change["difference"]["n"] == 2
    assert change["p_method"] == "swaps of tours"
    assert change["p_value"] == 0.5  # two tours, both better: two of four swaps
    chosen = ("--metric", "t_ndtw", "--by", "band")
    code, document = call(capsys, "compare", runs[0][0], *chosen)
    assert code == 0 and list(document["runs"][0]["metrics"]) == ["t_ndtw"]
    settings = graph_settings(tmp_path, "wrong", metrics="t_ndtw")
    with pytest.raises(InputError, match="leave it out of --metrics"):
        evaluate(settings)
    assert not settings.out.exists()


def test_videos_on_graphs_show_the_map(tmp_path, capsys):
    """One frame for each pose, then the last one held; the goal's green is on the map, and no image above."""
    av = pytest.importorskip("av")
    settings = graph_settings(tmp_path, agent="expert")
    rows = {row.episode_id: row for row in evaluate(settings).rows}
    size = ("--video-height", "80", "--video-fps", "2")
    chosen = ("--videos", "2", "--video-of", "best", "--no-drawings", "--video-folder", tmp_path / "videos")
    code, document = call(capsys, "report", settings.out, *chosen, *size)
    assert code == 0 and len(document["videos"]) == 2
    for one in document["videos"]:
        with av.open(str(settings.out / one["file"])) as container:
            frames = [frame.to_ndarray(format="rgb24") for frame in container.decode(video=0)]
        assert len(frames) == len(rows[one["episode_id"]].actions) + 1 + 3
        assert frames[0].shape == (80 + 2 * GAP, 3 * (107 + GAP) + GAP + 1, 3)
        plan = frames[0][GAP : GAP + 80, GAP : 2 * 107].astype(int)
        assert (np.abs(plan - GOAL).sum(-1) < 60).sum() > 10
        assert (np.abs(frames[0].astype(int) - frames[-1]).sum(-1) > 60).any()


def test_failures_on_graphs_are_listed(tmp_path, capsys):
    settings = graph_settings(tmp_path, agent="random")
    evaluate(settings)
    code, document = call(capsys, "failures", settings.out)
    assert code == 0, document


@pytest.fixture(scope="module")
def mini(tmp_path_factory):
    """A run of five episodes in a generated house."""
    settings = EvaluationSettings(
        "ir2r-ce-v1", "random", episodes=5, episode_steps=12, out=tmp_path_factory.mktemp("mini") / "run"
    )
    return settings, evaluate(settings)


@pytest.mark.slow
def test_tours_in_houses_by_two_workers_and_single_slots(mini, tmp_path):
    settings, expected = mini
    assert len(expected.rows) == 5 and [row.tour.tour_id for row in expected.rows].count("0") >= 2
    for number, others in enumerate(({"workers": 2}, {"batch_size": 1})):
        assert evaluate(replace(settings, out=tmp_path / str(number), **others)).rows == expected.rows


def test_tours_in_houses_are_replayed(mini):
    settings, expected = mini
    assert any(row.tour.oracle_start for row in expected.rows)
    replay = replay_run(settings.out)
    assert replay.differences == () and replay.episodes == 5
