"""Hand-computed tables of episodes with sub-tasks, and what must hold for any record."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from navarena.core.errors import InputError
from navarena.metrics import (
    METRICS,
    LifelongTrajectory,
    action_spl,
    compute_metrics,
    oracle_success,
    pool_subtasks,
    score_subtasks,
    walked_in_subtasks,
)

INF = float("inf")


def make_life(xs, letters, ended=(), begun=(), left=(), reached=(), **changes):
    """A walk along x; `letters` is a letter for each modality, the other lists speak of ended sub-tasks."""
    steps = len(xs) - 1
    positions = np.zeros((steps + 1, 3))
    positions[:, 0] = xs
    reached = np.array(reached, bool)
    given = {
        "positions": positions,
        "yaws": np.zeros(steps + 1),
        "actions": np.zeros(steps, np.int64),
        "collided": np.zeros(steps, bool),
        "distance_to_goal": np.full(steps + 1, 1.0),
        "start_distance": 1.0,
        "stopped": True,
        "success_distance": 0.25,
        "modalities": tuple({"o": "object", "d": "description", "i": "image"}[one] for one in letters),
        "ended_after": np.array(ended, np.int64),
        "begun_at": np.array(begun, float),
        "ended_at": np.array(left, float),
        "declared": np.ones_like(reached),
        "near_view_point": reached,
        "near_object": reached,
        "reached": reached,
    }
    return LifelongTrajectory(**(given | changes))


TABLE = [
    # name, xs, letters, ended, begun, left, reached | S, SPL, SoftSPL of each sub-task
    ("straight to both", [0, 2, 2, 5, 5], "od", [2, 4], [2, 3], [0, 0], [1, 1], [1, 1], [1, 1], [1, 1]),
    (
        "twice as far to the second",
        [0, 2, 2, 8, 8],
        "oi",
        [2, 4],
        [2, 3],
        [0, 0],
        [1, 1],
        [1, 1],
        [1, 0.5],
        [1, 0.5],
    ),
    ("wrong stop half-way", [0, 2, 2, 3, 3], "oi", [2, 4], [4, 1], [2, 0], [0, 1], [0, 1], [0, 1], [0.5, 1]),
    ("farther than before", [0, 1, 1], "o", [2], [1], [3], [0], [0], [0], [0]),
    ("second not ended", [0, 2, 2, 3], "od", [2], [2], [0], [1], [1, 0], [1, 0], [1, 0]),
    ("none ended", [0, 2], "od", [], [], [], [], [0, 0], [0, 0], [0, 0]),
    ("no step", [0], "i", [], [], [], [], [0], [0], [0]),
    ("begun at the goal, stayed", [1, 1], "o", [1], [0], [0], [1], [1], [1], [1]),
    ("begun at the goal, left it", [0, 1, 1], "o", [2], [0], [1], [0], [0], [0], [0]),
    ("begun at the goal, came back", [0, 1, 0, 0], "o", [3], [0], [0], [1], [1], [0], [0]),
    ("no way", [0, 1, 1], "o", [2], [INF], [INF], [0], [0], [0], [0]),
    ("reached by the object's rule without a way", [0, 1, 1], "o", [2], [INF], [INF], [1], [1], [0], [0]),
    ("shorter than the geodesic", [0, 1, 1], "o", [2], [2], [0], [1], [1], [1], [1]),
]


@pytest.mark.parametrize("row", TABLE, ids=[row[0] for row in TABLE])
def test_table(row):
    *given_, successes, spls, soft_spls = row[1:]
    life = make_life(*given_)
    scores = score_subtasks(life)
    assert scores.success.tolist() == pytest.approx(successes)
    assert scores.spl.tolist() == pytest.approx(spls)
    assert scores.soft_spl.tolist() == pytest.approx(soft_spls)
    names = ("subtasks", "subtask_success", "subtask_spl", "subtask_soft_spl", "success")
    assert list(compute_metrics(names, life).values()) == pytest.approx(
        [len(successes), np.mean(successes), np.mean(spls), np.mean(soft_spls), float(all(successes))]
    )


LONG = make_life(
    [0, 1, 3, 3, 4, 8, 9, 10, 11],
    "ooddiid",
    ended=[1, 3, 4, 5, 6, 8],
    begun=[1, 1, 2, 2, 1, 1],
    left=[0, 0, 1, 0, 0, 0],
    reached=[1, 1, 0, 1, 1, 1],
)
"""Seven sub-tasks, the last not ended; path lengths 1, 2, 1, 4, 1, 2."""


def test_by_modality_and_by_place():
    assert walked_in_subtasks(LONG).tolist() == [1, 2, 1, 4, 1, 2]
    # SPL of the seven: 1, 1/2, 0, 2/4, 1, 1/2, 0
    expected = {
        "object_subtasks": 2,
        "description_subtasks": 3,
        "image_subtasks": 2,
        "object_success": 1,
        "description_success": 1 / 3,
        "image_success": 1,
        "object_spl": 0.75,
        "description_spl": 0.5 / 3,
        "image_spl": 0.75,
        "subtask_1_success": 1,
        "subtask_2_success": 1,
        "subtask_3_success": 0,
        "subtask_4_success": 1,
        "subtask_5_success": 2 / 3,
        "subtask_1_spl": 1,
        "subtask_2_spl": 0.5,
        "subtask_3_spl": 0,
        "subtask_4_spl": 0.5,
        "subtask_5_spl": 0.5,
    }
    assert compute_metrics(expected, LONG) == pytest.approx(expected)


def test_a_modality_that_is_absent_scores_zero_in_an_episode_and_weighs_nothing_when_pooled():
    alone = make_life([0, 2, 2], "o", [2], [2], [0], [1])
    names = [
        name
        for name in METRICS.names()
        if "subtask" in name or name.split("_")[0] in ("object", "description", "image", "view", "near")
    ] + ["success"]
    names.remove("near_steps")
    rows = [compute_metrics(names, one) for one in (alone, LONG)]
    assert rows[0]["image_success"] == 0
    pooled = pool_subtasks(rows)
    assert pooled["subtask_success"] == pytest.approx((1 + 5) / (1 + 7))
    assert pooled["subtask_spl"] == pytest.approx((1 + 2.5 + 1.0) / 8)
    assert pooled["object_success"] == pytest.approx(3 / 3)
    assert pooled["description_success"] == pytest.approx(1 / 3)
    assert pooled["image_success"] == 1
    assert pooled["object_spl"] == pytest.approx((1 + 1 + 0.5) / 3)
    assert pooled["subtask_1_success"] == 1
    assert pooled["subtask_4_success"] == 1, "the short episode has no fourth"
    assert pooled["subtask_5_success"] == pytest.approx(2 / 3)
    assert "success" not in pooled and "subtasks" not in pooled
    assert pool_subtasks([]) == {}
    assert "image_success" not in pool_subtasks(rows[:1])
    with pytest.raises(InputError, match="got none called 'subtasks'"):
        pool_subtasks([{"success": 1.0}])


def test_both_rules_are_reported():
    life = make_life(
        [0, 1, 1, 1],
        "oid",
        [1, 2],
        [1, 1],
        [0, 1],
        [1, 0],
        near_object=np.array([True, True]),
    )
    names = ("subtask_success", "view_point_success", "near_object_success")
    assert list(compute_metrics(names, life).values()) == pytest.approx([1 / 3, 1 / 3, 2 / 3])


def test_failed_episodes_score_zero():
    names = ("subtask_success", "object_spl", "subtask_5_success", "subtasks")
    assert list(compute_metrics(names, LONG, failed=True).values()) == [0, 0, 0, 7]


def test_the_oracle_gives_away_the_last_declaration_only():
    near = np.array([1.0, 1.0, 0.1])
    fields = {"ended": [1], "begun": [1], "left": [0]}
    assert oracle_success(make_life([0, 1, 2], "oo", reached=[1], **fields, distance_to_goal=near)) == 1
    assert oracle_success(make_life([0, 1, 2], "oo", reached=[0], **fields, distance_to_goal=near)) == 0
    assert oracle_success(make_life([0, 1, 2], "oo", reached=[1], **fields)) == 0


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"letters": ""}, "expected at least one sub-task"),
        ({"ended": [1, 2, 3]}, "at most 2 ended, got 3"),
        ({"ended": [0]}, r"rising within 1..2, got \[0\]"),
        ({"ended": [3]}, r"rising within 1..2, got \[3\]"),
        ({"begun": []}, "expected 1 values of begun_at, got 0"),
        ({"begun": [-1]}, "at least 0 m"),
        ({"left": [float("nan")]}, "at least 0 m"),
        ({"modalities": ("object", "sound")}, r"got \['sound'\]"),
    ],
)
def test_broken_records_are_refused(change, message):
    fields = {
        "xs": [0, 1, 2],
        "letters": "od",
        "ended": [1],
        "begun": [1],
        "left": [0],
        "reached": [1],
    } | change
    with pytest.raises(InputError, match=message):
        make_life(**fields)


@st.composite
def lives(draw):
    steps = draw(st.integers(1, 12))
    goals = draw(st.integers(1, 7))
    ended = sorted(draw(st.sets(st.integers(1, steps), max_size=goals)))
    metres = st.floats(0, 20) | st.just(INF)
    lists = [draw(st.lists(kind, min_size=len(ended), max_size=len(ended))) for kind in (metres, metres)]
    reached = draw(st.lists(st.booleans(), min_size=len(ended), max_size=len(ended)))
    moves = draw(st.lists(st.floats(0, 1), min_size=steps, max_size=steps))
    letters = draw(st.lists(st.sampled_from("odi"), min_size=goals, max_size=goals))
    return [0, *moves], letters, ended, *lists, reached


@settings(max_examples=60, deadline=None)
@given(lives())
def test_invariants(fields):
    moves, *others = fields
    life = make_life(np.cumsum(moves), *others)
    scores = score_subtasks(life)
    for values in (scores.success, scores.spl, scores.soft_spl):
        assert values.shape == (len(life.modalities),) and ((values >= 0) & (values <= 1)).all()
    assert (scores.spl <= scores.success).all()
    names = [
        f"{modality}_{what}"
        for modality in ("object", "description", "image")
        for what in ("subtasks", "spl")
    ]
    values = compute_metrics(names, life)
    total = sum(
        values[f"{modality}_subtasks"] * values[f"{modality}_spl"]
        for modality in ("object", "description", "image")
    )
    assert total == pytest.approx(scores.spl.sum())


def test_actions_to_spare_are_one_declaration_for_each_goal():
    """10 m in steps of 1 m and two declarations are the fewest: 12 of 12."""
    from navarena.metrics import BodyRates, ShortestPath

    xs = [*range(6), 5, *range(6, 11), 10]
    life = make_life(
        xs,
        "oo",
        [6, 12],
        [5, 5],
        [0, 0],
        [1, 1],
        start_distance=10.0,
        rates=BodyRates(1.0, 1.0, 1.0, 1.0),
        shortest=ShortestPath(10.0, 0.0, 0.0),
    )
    assert action_spl(life) == 1.0


def test_titles_say_which_places_are_meant():
    titles = [
        METRICS.get(f"subtask_{place}_{score}").title for place in (4, 5) for score in ("success", "spl")
    ]
    assert titles == [
        "Success, sub-task 4, macro",
        "SPL, sub-task 4, macro",
        "Success, sub-task 5 and later, macro",
        "SPL, sub-task 5 and later, macro",
    ]
