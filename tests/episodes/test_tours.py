"""Tours: order, copies, files, statistics, the paper's Table 1."""

import itertools
import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linear_sum_assignment

from graph_world import PATHS, SCAN, connectivity_items, r2r_items, write_files
from navarena.core.errors import FileError, InputError, MissingExtraError, UnknownNameError
from navarena.episodes.exchange import load_r2r
from navarena.episodes.graph_episodes import list_episodes, open_graph_split
from navarena.episodes.tour_order import order_paths, patch_assignment, split_reachable
from navarena.episodes.tours import (
    build_tours,
    common_copies,
    count_tours,
    load_tours,
    make_tours,
    measure_gaps,
    pick_split,
    save_tours,
)
from navarena.scenes.graphs import Connectivity

INF = np.inf


def length_of(order, gaps):
    return sum(gaps[a, b] for a, b in itertools.pairwise(order))


@settings(max_examples=15, deadline=None)
@given(st.integers(1, 6), st.integers(0, 1000))
def test_small_orders_are_the_best(count, seed):
    gaps = np.random.default_rng(seed).integers(0, 20, (count, count)).astype(float)
    [order] = order_paths(gaps, iterations=200)
    assert sorted(order) == list(range(count))
    best = min(length_of(other, gaps) for other in itertools.permutations(range(count)))
    assert length_of(order, gaps) == best


def test_orders_are_the_same_for_the_same_seed():
    gaps = np.random.default_rng(3).random((25, 25)) * 10
    assert order_paths(gaps, seed=5, iterations=50) == order_paths(gaps, seed=5, iterations=50)
    costs = [length_of(order_paths(gaps, seed=s, iterations=50)[0], gaps) for s in (1, 2, 2**40)]
    assert max(costs) < 0.5 * length_of(range(25), gaps)


def test_a_long_order_is_close_to_what_no_order_undercuts():
    """150 ways between random places of a flat, from end to start: more than are searched through whole."""
    generator = np.random.default_rng(4)
    starts, ends = generator.random((2, 150, 2)) * 20
    gaps = np.linalg.norm(ends[:, None] - starts[None], axis=2)
    [order] = order_paths(gaps)
    assert sorted(order) == list(range(150)) and order == order_paths(gaps)[0]
    open_end = np.pad(gaps + np.diag(np.full(150, 1e6)), ((1, 0), (1, 0)))
    open_end[0, 0] = 1e6
    rows, columns = linear_sum_assignment(open_end)
    assert open_end[rows, columns].sum() <= length_of(order, gaps) < 1.02 * open_end[rows, columns].sum()


@settings(max_examples=20, deadline=None)
@given(st.integers(1, 7), st.integers(0, 1000))
def test_patched_assignments_visit_every_path_once(count, seed):
    costs = np.random.default_rng(seed).integers(0, 50, (count, count))
    assert sorted(patch_assignment(costs)) == list(range(count))


def test_patching_by_hand():
    """1 m between 0 and 1 and between 2 and 3, 5 m from 1 to 2, 9 m for all else."""
    costs = np.array([[0, 1, 9, 9], [1, 0, 5, 9], [9, 9, 0, 1], [9, 9, 1, 0]])
    assert patch_assignment(costs) == [0, 1, 2, 3]


def test_a_long_order_breaks_where_no_way_is_left():
    """140 ways that can all follow the first and be followed by it, and no other."""
    star = np.full((140, 140), INF)
    star[0] = star[:, 0] = 1.0
    parts = order_paths(star, iterations=20)
    assert sorted(itertools.chain(*parts)) == list(range(140))
    assert all(np.isfinite(star[a, b]) for part in parts for a, b in itertools.pairwise(part))


def test_parts_that_cannot_reach_each_other_are_ordered_apart():
    gaps = np.array([[0, INF, 1, INF], [INF, 0, INF, 2], [1, INF, 0, INF], [5, 1, INF, 0.0]])
    assert split_reachable(gaps) == [[0, 2], [1, 3]]
    assert order_paths(gaps) == [[0, 2], [3, 1]]


def test_an_order_breaks_where_no_way_is_left():
    """0 and 1, 1 and 2 can follow each other, 0 and 2 cannot: a chain 0 1 2 exists."""
    gaps = np.array([[0, 1, INF], [1, 0, 1], [INF, 1, 0.0]])
    assert order_paths(gaps) in ([[0, 1, 2]], [[2, 1, 0]])
    star = np.full((4, 4), INF)
    star[0] = star[:, 0] = 1.0
    parts = order_paths(star)
    assert sorted(itertools.chain(*parts)) == [0, 1, 2, 3]
    assert all(np.isfinite(star[a, b]) for part in parts for a, b in itertools.pairwise(part))


def test_bad_gaps_and_solvers():
    with pytest.raises(InputError, match="gaps"):
        order_paths(np.full((2, 2), np.nan))
    try:
        gaps = np.array([[0, 9, 1], [1, 0, 9], [9, 1, 0.0]])
        assert length_of(order_paths(gaps, "lkh")[0], gaps) == 2
    except MissingExtraError as error:
        assert "navarena[lkh]" in str(error)


def make(tmp_path, items=None, **options):
    r2r, graphs = write_files(tmp_path, items)
    file, connectivity = load_r2r(r2r), Connectivity(graphs)
    return file, connectivity, make_tours(file, connectivity, **options)


def test_tours_of_the_small_scan(tmp_path):
    file, connectivity, lists = make(tmp_path)
    assert list(lists) == [SCAN] and len(lists[SCAN]) == 3
    for k, tour in enumerate(lists[SCAN]):
        assert sorted(tour) == [f"{path}_{k}" for path in PATHS], "copy k reads instruction k"
        assert [name.split("_")[0] for name in tour] == [name.split("_")[0] for name in lists[SCAN][0]]
    # 4 ends at c (2 m from d), 1 at d, 2 at g where 3 begins: the best order is 4? 1 2 3 in some rotation.
    tours = build_tours(lists, list_episodes(file, connectivity), "tours")
    gaps = measure_gaps(tours, connectivity)
    ends = {k: (path[0], path[-1]) for k, path in PATHS.items()}
    graph = connectivity.graph(SCAN)

    def gap(a, b):
        return graph.distances[graph.index(ends[a][1]), graph.index(ends[b][0])]

    best = min(sum(gap(a, b) for a, b in itertools.pairwise(o)) for o in itertools.permutations(PATHS))
    assert gaps.mean == pytest.approx(best / 3)
    assert gaps.at_start == pytest.approx(2 / 3)


def test_single_paths_and_fourth_instructions_are_left_out(tmp_path):
    items = r2r_items()
    items[0]["instructions"].append("A fourth one.")
    items.append({**items[0], "scan": "scan2", "path_id": 9})
    _, graphs = write_files(tmp_path, items)
    (graphs / "scan2_connectivity.json").write_text(json.dumps(connectivity_items()))
    file = load_r2r(tmp_path / "R2R_val_seen.json.gz")
    lists = make_tours(file, Connectivity(graphs))
    assert list(lists) == [SCAN] and "1_3" not in itertools.chain(*lists[SCAN])
    assert count_tours(lists).episodes == 12


def test_paths_with_fewer_instructions_are_in_fewer_copies(tmp_path):
    items = r2r_items()
    items[3]["instructions"] = items[3]["instructions"][:1]
    assert common_copies(load_r2r_items(tmp_path, items)) == 3
    lists = make_tours(load_r2r(tmp_path / "R2R_val_seen.json.gz"), Connectivity(tmp_path / "connectivity"))
    assert [len(tour) for tour in lists[SCAN]] == [4, 3, 3]


def load_r2r_items(tmp_path, items):
    return load_r2r(write_files(tmp_path, items)[0]).paths


def test_a_path_without_goal_among_others_is_named(tmp_path):
    items = r2r_items()
    items[1]["path"] = items[1]["path"][:1]
    r2r, graphs = write_files(tmp_path, items)
    with pytest.raises(FileError, match=rf"path {items[1]['path_id']}: .*got the start only"):
        make_tours(load_r2r(r2r), Connectivity(graphs))


def test_same_seed_same_bytes(tmp_path):
    file, connectivity, lists = make(tmp_path, seed=3)
    save_tours({"val_seen": lists}, tmp_path / "a.json")
    save_tours({"val_seen": make_tours(file, connectivity, seed=3)}, tmp_path / "b.json")
    assert (tmp_path / "a.json").read_bytes() == (tmp_path / "b.json").read_bytes()
    assert load_tours(tmp_path / "a.json") == {"val_seen": lists}


def test_test_splits_have_no_tours(tmp_path):
    items = [{**item, "path": item["path"][:1]} for item in r2r_items()]
    with pytest.raises(InputError, match="test split"):
        make(tmp_path, items)


def change_path(**changes):
    items = r2r_items()
    items[2].update(changes)
    return items


@pytest.mark.parametrize(
    ("items", "message"),
    [
        (change_path(path=["g", "a"]), "path 3: expected an edge of scan scan1 between viewpoints g and a"),
        (change_path(path=["g", "x"]), "path 3: viewpoint x is not in the graph of scan scan1"),
        (change_path(scan="scan7"), "path 3: unknown scan .*'scan7'. Did you mean 'scan1'"),
    ],
)
def test_paths_that_do_not_lie_in_their_graph(items, message, tmp_path):
    r2r, graphs = write_files(tmp_path, items)
    with pytest.raises(FileError, match=message):
        open_graph_split(r2r, graphs)
    with pytest.raises(FileError, match=message):
        make_tours(load_r2r(r2r), Connectivity(graphs))


def test_the_hash_of_a_file_covers_all_that_an_episode_says(tmp_path):
    def hash_of(name, **changes):
        folder = tmp_path / name
        folder.mkdir()
        data = open_graph_split(*write_files(folder, [{**one, **changes} for one in r2r_items()]))
        return data.dataset("r2r-v1").hash

    plain = hash_of("plain")
    others = [
        hash_of("words", instructions=["foo bar"] * 3),
        hash_of("heading", heading=3.5),
        hash_of("encodings", instr_encodings=[[5, 6]] * 3),
    ]
    assert hash_of("again") == plain and len({plain, *others}) == 4


def test_a_byte_order_mark_is_no_damage(tmp_path):
    path = tmp_path / "R2R_val_seen.json"
    path.write_bytes(b"\xef\xbb\xbf" + json.dumps(r2r_items()).encode())
    assert len(load_r2r(path)) == len(PATHS)


def test_the_layout_of_the_continuous_reference(tmp_path):
    path = tmp_path / "tours.json"
    path.write_text(json.dumps({"train": {"s": [[1, 2], ["3"]]}, "val_seen": {"s": [[1, 2]]}}))
    splits = load_tours(path)
    assert splits["train"] == {"s": [["1", "2"], ["3"]]}
    assert pick_split(splits, "val_seen", path)[0] == "val_seen"
    with pytest.raises(FileError, match="name one with --split"):
        pick_split(splits, None, path)
    with pytest.raises(UnknownNameError, match="Did you mean 'train'"):
        pick_split(splits, "trian", path)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('{"train": {"s": [["1"], ["1"]]}}', "'1' twice"),
        ('{"train": {"s": [[]]}}', "tour 0 of scan s in 'train' is empty"),
        ("{}", "at least one split"),
        ("[1]", "instruction id"),
    ],
)
def test_bad_tour_files(content, message, tmp_path):
    (tmp_path / "t.json").write_text(content)
    with pytest.raises(FileError, match=message):
        load_tours(tmp_path / "t.json")


def test_tours_must_match_their_episodes(tmp_path):
    file, connectivity, lists = make(tmp_path)
    episodes = list_episodes(file, connectivity)
    tours = build_tours(lists, episodes, "t.json")
    assert [one.tour_id for one in tours] == [k for k in "012" for _ in range(4)]
    assert [one.episode_id for one in tours] == list(itertools.chain(*lists[SCAN]))
    with pytest.raises(FileError, match="'77_0' of scan scan1 is not in the R2R file"):
        build_tours({SCAN: [["77_0"]]}, episodes, "t.json")
    with pytest.raises(FileError, match="to be of scan other, got scan scan1"):
        build_tours({"other": [["1_0"]]}, episodes, "t.json")


def test_statistics_by_hand():
    numbers = count_tours({"s": [["a", "b"], ["c", "d"]], "t": [["e"] * 5], "empty": []})
    assert (numbers.scenes, numbers.tours, numbers.episodes) == (2, 3, 9)
    assert (numbers.mean, numbers.min, numbers.max) == (3.0, 2, 5)
    assert numbers.sd == pytest.approx(np.sqrt(2)), "of a population"
    with pytest.raises(InputError, match="at least one tour"):
        count_tours({})


TABLE_1 = {
    "train": (61, 183, 14025, 76.6, 2, 99, 28.4),
    "val_seen": (53, 159, 1011, 6.4, 2, 11, 2.1),
}
"""Krantz et al. 2023, Table 1, IR2R: scenes, tours, episodes, mean, min, max, SD."""

LKH_GAPS = {"train": 2.90, "val_seen": 7.86}
"""Metres: mean gap of LKH's tours."""


def real_tours(real_data, split, **options):
    file = load_r2r(real_data / "r2r" / f"R2R_{split}.json.gz")
    connectivity = Connectivity(real_data / "r2r" / "connectivity.tar.gz")
    lists = make_tours(file, connectivity, **options)
    return lists, measure_gaps(build_tours(lists, list_episodes(file, connectivity), "tours"), connectivity)


def check_table(lists, split):
    numbers = count_tours(lists)
    rounded = (round(numbers.mean, 1), numbers.min, numbers.max, round(numbers.sd, 1))
    assert (numbers.scenes, numbers.tours, numbers.episodes, *rounded) == TABLE_1[split]
    assert numbers.tours_per_scene == 3.0


@pytest.mark.real_data
def test_table_1_of_train(real_data):
    """Who is in a tour does not depend on the order, so few iterations do."""
    lists, _ = real_tours(real_data, "train", iterations=1)
    check_table(lists, "train")


@pytest.mark.real_data
def test_table_1_and_gaps_of_val_seen(real_data):
    lists, gaps = real_tours(real_data, "val_seen")
    check_table(lists, "val_seen")
    assert gaps.mean == pytest.approx(LKH_GAPS["val_seen"], rel=0.01)
    assert gaps.at_start == pytest.approx(0.074, abs=0.01)


@pytest.mark.slow
@pytest.mark.real_data
@pytest.mark.turns(8)
def test_gaps_of_train(real_data):
    lists, gaps = real_tours(real_data, "train")
    check_table(lists, "train")
    assert gaps.mean == pytest.approx(LKH_GAPS["train"], rel=0.01)
