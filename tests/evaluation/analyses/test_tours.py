"""IVLN's tables from rows that are written by hand."""

import math
from dataclasses import replace

import numpy as np
import pytest
from msgspec.structs import replace as replace_fields

from navarena.core.errors import InputError
from navarena.evaluation import Row, TourRecord, score_tours
from navarena.evaluation.analyses import tabulate_coverage
from navarena.evaluation.analyses.compare import find_obstacles, pair_contestants
from navarena.evaluation.analyses.contestants import Contestant, estimate_metric
from navarena.evaluation.analyses.tour_coverage import CoveredTour, estimate_coverage
from navarena.evaluation.analyses.tours import analyse_maps, analyse_tour_positions, analyse_tours
from navarena.evaluation.records.record import RunRecord
from navarena.metrics.repetitions import SEEDS_AND_SCENES
from navarena.metrics.statistics import WILSON
from navarena.metrics.tours import TourCoverage

METRICS = ("success", "spl", "ndtw")


def make_rows(hits, ndtw):
    """Two tours, of 3 and 1 episodes, whose nDTW are given; an episode's SPL is half its success."""
    rows = []
    for tour, own, value in (("t0", hits[:3], ndtw[0]), ("t1", hits[3:], ndtw[1])):
        cost = -math.log(value) * 3.0 * len(own)  # of the whole tour, all of it in its first episode
        for place, hit in enumerate(own):
            share = cost if place == 0 else 0.0
            record = TourRecord(
                tour_id=tour,
                position=place,
                start=[0.0, 0.0, 0.0, 0.0],
                length=1.0,
                reference_length=1.0,
                reference_points=1,
                dtw=share,
                dtw_code=share,
            )
            rows.append(
                Row(
                    identity="ir2r-ce-v1@h/val#0",
                    episode_id=f"{tour}_{place}",
                    scene_id=f"scan-{tour}",
                    status="ok",
                    steps=1,
                    start_distance=1.0,
                    actions=[0],
                    metrics={"success": float(hit), "spl": hit / 2, "ndtw": 0.5},
                    tour=record,
                )
            )
    return tuple(rows)


def contestant(label, *runs):
    record = RunRecord(
        identity="ir2r-ce-v1@h/val#0",
        settings={"protocol": "ir2r-ce-v1", "agent": label},
        privileged=False,
        episodes=4,
        actions=("stop",),
        metrics=METRICS,
        seeds={"agent": 0},
        versions={},
        hardware={"system": "s", "machine": "m"},
        execution={},
        command=(),
        started="",
    )
    return Contestant(label, (), (record,) * len(runs), runs)


def contestant_of(label, *runs):
    """A contestant that was given a label, other than the name of its agent."""
    return replace(contestant("mine", *runs), label=label)


def test_means_and_standard_errors():
    """Three seeds whose t-nDTW is that of the tour of three, as one episode changes nothing."""
    runs = [
        make_rows(hits, (0.2 + 0.1 * k, 1.0))
        for k, hits in enumerate(([1, 0, 0, 1], [1, 1, 0, 1], [1, 1, 1, 1]))
    ]
    table = analyse_tours([contestant("mine", *runs), contestant("cma", runs[0])])
    rows = {(row[0], row[1]): row[2:] for row in table.rows}
    seeds, tours, episodes, mean, error = rows["mine", "t-nDTW"]
    assert (seeds, tours, episodes) == (3, 2, 4) and mean == pytest.approx(0.3)
    assert error == pytest.approx(0.1 / np.sqrt(3))
    # t-SR weighs tours by their episodes: (3 s + 1) / 4
    assert rows["mine", "t-SR"][3] == pytest.approx(0.75)
    assert rows["mine", "t-SR"][4] == pytest.approx(0.25 / np.sqrt(3))
    assert rows["mine", "Success"][3] == pytest.approx(0.75) and rows["mine", "nDTW"][4] == 0
    assert rows["cma", "t-nDTW"] == (1, 2, 4, pytest.approx(0.2), None)
    # by episodes: (3 * 0.2 + 1) / 4
    assert rows["cma", "t-nDTW (code, by episodes)"][3] == pytest.approx(0.4)


def test_episodes_that_the_agent_broke_count_as_failures_of_their_tour():
    """The tour of three keeps two of its three reference points; all broken, it has none."""
    rows = make_rows([1, 1, 1, 1], (0.5, 1.0))
    broken = replace_fields(rows[1], status="crashed")  # whose own part of the cost is 0
    (tour, _) = score_tours([rows[0], broken, *rows[2:]])
    cost = -math.log(0.5) * 9.0  # metres, over the two points that are left
    assert tour.ndtw == pytest.approx(2 / 3 * math.exp(-cost / (3.0 * 2)))
    (tour, _) = score_tours([*(replace_fields(row, status="crashed") for row in rows[:3]), rows[3]])
    assert tour.ndtw == 0.0


def test_a_part_of_a_tour_is_another_tour():
    rows = make_rows([1, 0, 1, 1], (0.5, 0.25))
    whole, part = contestant("cma", rows), contestant("cma", (*rows[:2], rows[3]))
    paired = pair_contestants(whole, part, "t_sr")
    assert paired.difference.n == 1 and paired.difference.mean == 0.0  # the tour of one episode alone
    assert any("share 1 whole tours of 2 and 2" in notice for notice in find_obstacles(whole, part))


def test_tours_of_three_seeds_are_resampled_with_the_scenes():
    """In 40 scenes the interval is over the seeds, too: as wide as their three values ask."""

    def seed_rows(value):
        return tuple(
            replace_fields(
                row,
                scene_id=f"s{k:02}",
                episode_id=f"{k}_{row.episode_id}",
                metrics=row.metrics | {"spl": value},
            )
            for k in range(40)
            for row in make_rows([1, 1, 1, 1], (0.5, 0.5))[:3]
        )

    one = contestant("cma", *(seed_rows(value) for value in (0.2, 0.5, 0.8)))
    found = estimate_metric(one, "t_spl")
    assert found.mean == pytest.approx(0.5) and found.method == SEEDS_AND_SCENES and found.n == 40
    error = 1.96 * 0.3 / math.sqrt(3)  # the three seeds' standard deviation is 0.3
    assert (found.high - found.low) / 2 == pytest.approx(error, rel=0.25)
    assert (
        estimate_metric(contestant("cma", seed_rows(0.2), seed_rows(0.8)), "t_spl").method != SEEDS_AND_SCENES
    )


def test_positions():
    table = analyse_tour_positions([contestant("cma", make_rows([1, 0, 1, 0], (0.5, 0.5)))])
    assert [row[1:3] for row in table.rows] == [("1", 2), ("2", 1), ("3", 1)]
    assert [row[3].mean for row in table.rows] == [0.5, 0.0, 1.0]
    assert [row[4].mean for row in table.rows] == [0.25, 0.0, 0.5]
    assert table.curves[0].label == "cma: Success" and table.curves[0].x == (1, 2, 3)


def test_maps_of_training_and_evaluation():
    """t-nDTW is that of the tour of three, as one episode changes nothing."""
    table = analyse_maps(
        [
            contestant_of("ep:it", make_rows([1, 1, 1, 0], (0.8, 0.4))),
            contestant_of("ep:ep", make_rows([1, 0, 1, 0], (0.4, 0.4))),
            contestant_of("it:it", make_rows([1, 1, 1, 1], (0.8, 0.8))),
        ]
    )
    assert [row[:3] for row in table.rows] == [("ep", "it", 4), ("ep", "ep", 4), ("it", "it", 4)]
    assert [row[3].mean for row in table.rows] == [0.75, 0.5, 1.0]
    assert [row[6].mean for row in table.rows] == pytest.approx([0.8, 0.4, 0.8])
    assert [row[7] and row[7].mean for row in table.rows] == [0.25, None, None]
    assert table.rows[0][8].mean == pytest.approx(0.4) and table.rows[1][8] is table.rows[2][8] is None
    rows = make_rows([1, 1, 1, 0], (0.8, 0.4))
    unlabelled = replace(contestant("checkpoint:runs", rows), label="checkpoint:runs, ir2r-ce-v1")
    for one in (contestant_of("ep", rows), unlabelled):
        with pytest.raises(InputError, match=f"as iterative:known=FOLDER, got '{one.label}'"):
            analyse_maps([one])
    with pytest.raises(InputError, match="one entry for ep:it, got two; .* with commas"):
        analyse_maps([contestant_of("ep:it", rows)] * 2)


def test_runs_without_tours_are_refused():

    single = tuple(replace_fields(row, tour=None) for row in make_rows([1, 0, 1, 0], (0.5, 0.5)))
    without = contestant("cma", single)
    for analyse in (analyse_tours, analyse_tour_positions):
        with pytest.raises(InputError, match="expected episodes of tours"):
            analyse([without])


def test_coverage():
    """Three tours, one of which ends after its first episode."""
    curves = (([0.0], [0.0]), ([0.0, 0.75], [0.0, 0.25]), ([0.0, 0.25], [0.0, 0.25]))
    tours = [
        CoveredTour(f"scan-{k}", TourCoverage(np.array(one), np.array(two)))
        for k, (one, two) in enumerate(curves)
    ]
    points = estimate_coverage(tours, "h/val")
    assert [(point.episodes, point.next_path.n) for point in points] == [(0, 3), (1, 2)]
    assert points[1].next_path.mean == 0.5 and points[1].whole_tour.mean == 0.25
    assert points[1].next_path.method == WILSON
    # 1 of 2: 0.5 +- z sqrt(1/8 + z^2/16) / (1 + z^2/2)
    assert (points[1].next_path.low, points[1].next_path.high) == pytest.approx((0.0945, 0.9055), abs=1e-4)
    assert len(estimate_coverage(tours, "h/val", 0)) == 1
    table = tabulate_coverage("coverage", "Seen", {"oracle": points}, "Note.")
    assert table.rows[1][:4] == ("oracle", 1, 2, points[1].next_path)
    assert [(curve.label, curve.y[1].mean, curve.y[1].n) for curve in table.curves] == [
        ("oracle: next path", 0.5, 2),
        ("oracle: whole tour", 0.25, 2),
    ]
    with pytest.raises(InputError, match="at least one tour"):
        estimate_coverage([], "h/val")
