"""Navigation graphs: files, geodesics, panoramas, candidates, features."""

import base64
import io
import json
import tarfile
import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graph_world import EDGES, PLACES, connectivity_items, make_atlas, make_graph
from navarena.core.errors import FileError, MissingExtraError, SceneError, UnknownNameError
from navarena.core.geometry import wrap_angle, yaw_from_heading
from navarena.scenes.graphs import (
    Connectivity,
    angle_feature,
    bearings,
    build_candidates,
    load_features,
    load_tsv_features,
    navigable_locations,
    panorama_angles,
    view_index,
)
from navarena.scenes.graphs.candidates import simulator_hfov
from navarena.scenes.graphs.panorama import (
    VIEW_ELEVATIONS,
    VIEW_HEADINGS,
    elevation_step,
    heading_step,
    nearest_view,
)

DEGREE = np.pi / 180


def test_places_enter_through_edges():
    graph = make_graph()
    assert graph.viewpoints == tuple("abcdefgh") and len(graph.edges) == len(EDGES)
    assert "x" not in graph and "y" not in graph and "a" in graph
    assert graph.positions[graph.index("h")].tolist() == [4.0, 1.5, -3.0], "world frame: y up, north is -z"


def test_geodesics_by_hand():
    graph = make_graph()
    a, d, g, e = (graph.index(name) for name in "adge")
    assert graph.distances[a, d] == 6.0 and graph.distances[g, d] == 2 + 3 + 2
    assert graph.distances[a, g] == 5.0 and graph.distances[e, g] == 9.0
    assert [graph.viewpoints[k] for k in graph.shortest_path(g, e)] == list("ghcde")
    assert graph.viewpoints[graph.next_places[a, d]] == "b" and graph.next_places[a, a] == a
    assert graph.shortest_path(a, a).tolist() == [a]
    assert graph.components.tolist() == [0] * 8


def test_next_places_lead_along_shortest_ways():
    graph = make_graph()
    size = len(graph)
    for start in range(size):
        for goal in range(size):
            path = graph.shortest_path(start, goal)
            assert graph.next_places[start, goal] == (path[1] if start != goal else start)
            assert np.isclose(graph.distances[path[:-1], path[1:]].sum(), graph.distances[start, goal])


def test_parted_graph():
    graph = make_graph(edges=("ab", "cd"))
    a, c = graph.index("a"), graph.index("c")
    assert np.isinf(graph.distances[a, c]) and graph.next_places[a, c] == -1
    assert graph.shortest_path(a, c).size == 0 and len(set(graph.components)) == 2


def test_places_that_coincide_stay_joined():
    graph = make_graph(edges=("ab", "bc"), places={"a": (0.0, 0.0), "b": (0.0, 0.0), "c": (1.0, 0.0)})
    assert np.isfinite(graph.distances).all() and graph.shortest_path(0, 2).tolist() == [0, 1, 2]


def write_tarball(path, items):
    with tarfile.open(path, "w:gz") as archive:
        for scan in ("scan1", "scan2"):
            data = json.dumps(items).encode()
            member = tarfile.TarInfo(f"connectivity/{scan}_connectivity.json")
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))


def test_folder_and_tarball_agree(tmp_path):
    deep = tmp_path / "folder" / "connectivity"
    deep.mkdir(parents=True)
    for scan in ("scan1", "scan2"):
        (deep / f"{scan}_connectivity.json").write_text(json.dumps(connectivity_items()))
    (deep / "._scan1_connectivity.json").write_bytes(b"\x00")
    (deep / "scans.txt").write_text("scan1\nscan2\n")
    write_tarball(tmp_path / "c.tar.gz", connectivity_items())
    for source in (Connectivity(tmp_path / "folder"), Connectivity(tmp_path / "c.tar.gz")):
        assert source.scans == ("scan1", "scan2") and "scan1" in source and "scan3" not in source
        assert source.graph("scan2").viewpoints == make_graph().viewpoints
        with pytest.raises(UnknownNameError, match="Did you mean 'scan2'"):
            source.graph("scan22")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda items: items[0].pop("pose"), "missing required field `pose`"),
        (lambda items: items[0]["pose"].pop(), "16 numbers of pose"),
        (lambda items: items[3]["unobstructed"].pop(), r"panorama 3 \(d\)"),
        (lambda items: items[0]["unobstructed"].__setitem__(3, True), "both directions.*a and d"),
        (lambda items: [item.update(included=False) for item in items], "at least one edge"),
    ],
)
def test_broken_connectivity_names_file_and_reason(tmp_path, change, message):
    items = connectivity_items()
    change(items)
    (tmp_path / "scan1_connectivity.json").write_text(json.dumps(items))
    with pytest.raises(FileError, match=message) as caught:
        Connectivity(tmp_path).graph("scan1")
    assert "scan1_connectivity.json" in str(caught.value)


def test_what_is_no_connectivity(tmp_path):
    with pytest.raises(FileError, match="does not exist"):
        Connectivity(tmp_path / "nowhere")
    with pytest.raises(FileError, match="got none"):
        Connectivity(tmp_path)
    (tmp_path / "c.tar.gz").write_bytes(b"no tarball")
    with pytest.raises(FileError, match="tarball"):
        Connectivity(tmp_path / "c.tar.gz")
    items = connectivity_items()
    items[1]["pose"][3] = float("nan")
    (tmp_path / "s_connectivity.json").write_text(json.dumps(items))
    with pytest.raises(FileError):
        Connectivity(tmp_path).graph("s")


def test_views_by_hand():
    assert [int(heading_step(h * DEGREE)) for h in (0, 14.9, 15.1, 345.1, 344.9, -30, 360)] == [
        0, 0, 1, 0, 11, 11, 0,
    ]  # fmt: skip
    assert [int(elevation_step(e * DEGREE)) for e in (-90, -15.1, -14.9, 0, 14.9, 15.1)] == [0, 0, 1, 1, 1, 2]
    assert int(view_index(91 * DEGREE, -20 * DEGREE)) == 3 and int(view_index(0.0, 0.0)) == 12
    assert np.allclose(VIEW_HEADINGS[[0, 13, 35]] / DEGREE, [0, 30, 330])
    assert np.allclose(VIEW_ELEVATIONS[[0, 13, 35]] / DEGREE, [-30, 0, 30])
    assert (view_index(VIEW_HEADINGS, VIEW_ELEVATIONS) == np.arange(36)).all()
    assert (nearest_view(VIEW_HEADINGS, VIEW_ELEVATIONS) == np.arange(36)).all()


def test_bearings_are_clockwise_from_north():
    origin = np.zeros(3)
    east, up, south = np.array([2.0, 0, 0]), np.array([0, 1.0, -1.0]), np.array([0.0, 0, 5.0])
    assert np.allclose(bearings(origin, east), (90 * DEGREE, 0, 2))
    assert np.allclose(bearings(origin, up), (0, 45 * DEGREE, np.sqrt(2)))
    assert np.allclose(bearings(origin, south)[0], np.pi)
    assert np.isclose(yaw_from_heading(90 * DEGREE), -np.pi / 2)


def test_angle_features():
    assert np.allclose(angle_feature(np.pi / 2, 0.0), [1, 0, 0, 1], atol=1e-7)
    assert angle_feature(np.zeros(3), 0.5, 128).shape == (3, 128)
    panorama = panorama_angles(12 + 3)
    assert panorama.shape == (36, 4) and np.allclose(panorama[12 + 3], [0, 1, 0, 1], atol=1e-6)
    assert np.allclose(panorama[3], [0, 1, -0.5, np.sqrt(0.75)], atol=1e-6), "elevation is absolute"


def slow_candidates(graph, place):
    """Neighbours in the order in which the 36 views list them, as a loop over the simulator."""
    order = []
    for view in range(36):
        heading, elevation = VIEW_HEADINGS[view], VIEW_ELEVATIONS[view]
        for neighbor in navigable_locations(graph, place, heading, elevation, simulator_hfov())[0]:
            if neighbor not in order:
                order.append(int(neighbor))
    return order


@settings(max_examples=25, deadline=None)
@given(st.lists(st.tuples(*[st.floats(-5, 5)] * 2), min_size=3, max_size=9, unique=True))
def test_candidates_have_the_simulators_order(points):
    names = "abcdefghi"[: len(points)]
    edges = tuple("a" + name for name in names[1:])
    graph = make_graph(edges=edges, places=dict(zip(names, points, strict=True)))
    candidates = build_candidates(graph)
    for place in range(len(graph)):
        places = candidates.places[place]
        assert places[places >= 0].tolist() == slow_candidates(graph, place)


def test_navigable_locations_are_sorted_and_restricted():
    graph = make_graph()
    c = graph.index("c")
    places, headings, elevations = navigable_locations(graph, c, 80 * DEGREE, 0.1)
    assert [graph.viewpoints[k] for k in places] == ["d", "h", "b"]
    assert np.allclose(headings / DEGREE, [10, -80, -170]) and np.allclose(elevations, -0.1)
    seen, _, _ = navigable_locations(graph, c, 80 * DEGREE, 0.0, simulator_hfov())
    assert [graph.viewpoints[k] for k in seen] == ["d"]
    assert np.isclose(simulator_hfov(), 80 * DEGREE)


def test_too_many_neighbours():
    with pytest.raises(SceneError, match="viewpoint c in scan 'scan1'"):
        build_candidates(make_graph(), columns=2)


def test_atlas_is_the_graphs_side_by_side():
    atlas = make_atlas()
    assert len(atlas) == 3 + 8 and atlas.scans == ("scan0", "scan1")
    graph = atlas.graphs["scan1"]
    nodes = atlas.nodes("scan1", graph.viewpoints)
    assert [atlas.viewpoint(int(node)) for node in nodes] == list(graph.viewpoints)
    assert np.array_equal(atlas.distance(nodes[:, None], nodes), graph.distances)
    assert np.array_equal(atlas.next_node(nodes[:, None], nodes) - 3, graph.next_places)
    assert (atlas.shortest_path(int(nodes[0]), int(nodes[3])) - 3).tolist() == [0, 1, 2, 3]
    table = atlas.candidates.places[nodes]
    assert ((table >= 3) | (table == -1)).all()
    assert atlas.is_edge(nodes[:2], nodes[1:3]).tolist() == [True, True]
    assert not atlas.is_edge(nodes[:1], nodes[3:4])[0]
    with pytest.raises(UnknownNameError, match="viewpoint of scan scan1 'q'"):
        atlas.nodes("scan1", ["q"])


def tsv_line(scan="scan1", viewpoint="a", size=4, value=None):
    values = np.arange(36 * size, dtype=np.float32) if value is None else np.full(36 * size, value, "f4")
    return "\t".join([scan, viewpoint, "640", "480", "60", base64.b64encode(values.tobytes()).decode()])


def test_tsv_features(tmp_path):
    path = tmp_path / "features.tsv"
    path.write_text("\n".join([tsv_line(), tsv_line("scan2", "b"), tsv_line(viewpoint="c")]) + "\n")
    features = load_features(path, 4)
    assert features.size == 4 and features.views("scan1", "c")[1].tolist() == [4, 5, 6, 7]
    with pytest.raises(FileError, match="no features of viewpoint b in scan scan1"):
        features.views("scan1", "b")
    with pytest.raises(FileError, match="no features of viewpoint b in scan scan2"):
        load_tsv_features(path, 4, ["scan1"]).require([("scan2", "b")])


def test_the_first_line_says_how_many_numbers_a_view_has(tmp_path):
    path = tmp_path / "features.tsv"
    path.write_text(tsv_line(size=7) + "\n" + tsv_line(viewpoint="b", size=7))
    features = load_features(path)
    assert features.size == 7
    with pytest.raises(FileError, match="no features of viewpoint c in scan scan1"):
        features.require([("scan1", "a"), ("scan1", "c")])
    path.write_text(tsv_line(size=7) + "\n" + tsv_line(viewpoint="b", size=6))
    with pytest.raises(FileError, match=r"line 2, .*expected 36 x 7 float32 \(1008 bytes\), got 864"):
        load_features(path)
    odd = base64.b64encode(bytes(35 * 9 * 4)).decode()
    path.write_text(f"scan1\ta\t640\t480\t60\t{odd}\n")
    with pytest.raises(FileError, match="expected 36 x D float32 .* got 1260 bytes"):
        load_features(path)


@pytest.mark.parametrize("kind", ["f2", "f4", "f8"])
def test_numbers_of_other_types_are_not_read_as_float32(tmp_path, kind):
    values = np.random.default_rng(0).normal(0, 1, (36, 8)).astype(kind)
    text = base64.b64encode(values.tobytes()).decode()
    path = tmp_path / "features.tsv"
    path.write_text(f"scan1\ta\t640\t480\t60\t{text}\n")
    if kind == "f4":
        assert load_features(path).views("scan1", "a").tolist() == values.tolist()
    else:
        with pytest.raises(FileError, match="line 1, .*expected float32, got .* write the file anew"):
            load_features(path)


def test_places_of_an_atlas_by_node():
    atlas = make_atlas()
    assert [name for _, name in atlas.places()] == [atlas.viewpoint(k) for k in range(len(atlas))]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (tsv_line(size=3), r"expected 36 x 4 float32 \(576 bytes\), got 432"),
        (tsv_line(viewpoint="b"), "expected each place once"),
        (tsv_line(value=np.nan), "finite"),
        ("scan1\ta\t640", "expected 6 columns"),
        (tsv_line()[:-3] + "!!!", "not base64"),
    ],
)
def test_broken_features_name_line_and_place(tmp_path, line, message):
    path = tmp_path / "features.tsv"
    path.write_text(tsv_line(viewpoint="b") + "\n" + line + "\n")
    with pytest.raises(FileError, match=message) as caught:
        load_tsv_features(path, 4)
    assert "features.tsv, line 2" in str(caught.value)


def test_other_features(tmp_path):
    with pytest.raises(FileError, match="ends in .tsv"):
        load_features(tmp_path / "features.npy")
    try:
        import h5py
    except ModuleNotFoundError:
        with pytest.raises(MissingExtraError, match=r"navarena\[features\]"):
            load_features(tmp_path / "features.hdf5")
        return
    with h5py.File(tmp_path / "features.hdf5", "w") as file:
        file["scan1_a"] = np.ones((36, 6), np.float32)
        file["scan1_b"] = np.ones((35, 6), np.float32)
    features = load_features(tmp_path / "features.hdf5", 4)
    with pytest.raises(FileError, match="scan1_c"):
        features.require([("scan1", "c")])
    assert features.views("scan1", "a").shape == (36, 4)
    with pytest.raises(FileError, match="scan1_b"):
        features.views("scan1", "b")


def test_headings_and_yaws_agree_with_positions():
    """The heading towards a place is the yaw of the same direction, negated."""
    graph = make_graph()
    a, b = graph.positions[graph.index("a")], graph.positions[graph.index("g")]
    heading, _, _ = bearings(a, b)
    offset = b - a
    assert np.isclose(wrap_angle(np.arctan2(-offset[0], -offset[2])), yaw_from_heading(heading))
    assert PLACES["g"] == (2.0, 3.0)


@pytest.mark.real_data
def test_real_graphs(real_data):
    source = Connectivity(real_data / "r2r" / "connectivity.tar.gz")
    assert len(source.scans) == 61
    graphs = [source.graph(scan) for scan in source.scans]
    begin = time.thread_time()
    distances = [graph.distances for graph in graphs]
    assert time.thread_time() - begin < 2.0
    assert all(np.isfinite(table).all() and np.array_equal(table, table.T) for table in distances)
    assert max(len(around) for graph in graphs for around in graph.neighbors) == 13
    assert sum(map(len, graphs)) == 7637
