"""r2r-graph-houses-v1: paths of floor graphs with checked instructions, features of views, tours."""

import base64

import numpy as np
import pytest

from navarena.core.errors import FileError, InputError, UnknownNameError
from navarena.episodes.floor_graph import house_graph
from navarena.episodes.goals import GraphGoal, decode_goal
from navarena.episodes.graph_routes import R2R_GRAPH_V1, SEEN
from navarena.episodes.language.vocabulary import route_vocabulary
from navarena.episodes.recipe import Stream
from navarena.episodes.route_sets import ROUTE_SPLITS, RouteSplit
from navarena.evaluation import EvaluationSettings, evaluate
from navarena.scenes.houses.furniture.catalog import CATEGORIES
from navarena.simulation.body_catalog import VLN_CE
from navarena.simulation.world import open_world
from navarena.tasks.catalog import get_task
from navarena.tasks.env import NavigationEnv
from navarena.tasks.graphs.house_features import COLUMNS, count_classes, count_colours
from navarena.tasks.sources import load_task_episodes, make_batch
from navarena.tasks.user_files import Sources

HOUSE = "houses-v1/val/00001"
UNSEEN = Stream("r2r-graph-houses-v1", "val_unseen")


@pytest.fixture(scope="module")
def world():
    return open_world(HOUSE, VLN_CE)


def test_paths_are_shortest_ones_of_five_to_seven_places(world):
    graph = house_graph(world)
    made = R2R_GRAPH_V1.make(world, 9, UNSEEN).episodes
    names = [one.episode_id for one in made[:4]]
    assert names == [f"{HOUSE}-{k}" for k in ("0000_0", "0000_1", "0000_2", "0001_0")]
    for one in made:
        goal = one.goal
        assert isinstance(goal, GraphGoal)
        rows = graph.indices(goal.viewpoints)
        assert 5 <= len(rows) <= 7
        length = graph.distances[rows[0], rows[-1]]
        walked = np.linalg.norm(np.diff(graph.positions[rows], axis=0), axis=1).sum()
        assert walked == pytest.approx(length) and one.geodesic_distance == pytest.approx(length, abs=1e-3)
        assert route_vocabulary().encode(goal.instruction)[: len(goal.tokens)].tolist() == list(goal.tokens)
        assert len(goal.tokens) >= 8 and 0 not in goal.tokens
    assert len({one.goal.instruction for one in made}) == 9
    assert R2R_GRAPH_V1.make(world, 4, UNSEEN, 4).episodes == made[4:8]


def test_seen_paths_are_in_no_other_split(world):
    graph = house_graph(world)
    found = {split: R2R_GRAPH_V1.find_pairs(graph, Stream("r2r-graph-houses-v1", split)).tolist()
             for split in (SEEN, "train", "train_aug")}  # fmt: skip
    seen, train = ({frozenset(pair) for pair in found[split]} for split in (SEEN, "train"))
    assert seen and not seen & train and found["train"] == found["train_aug"]
    assert len(seen) == (len(seen) + len(train)) // 8


def test_goals_on_graphs_are_read_back(world):
    import msgspec

    from navarena.episodes.episode import Episode

    one = R2R_GRAPH_V1.make(world, 1, UNSEEN).episodes[0]
    assert msgspec.json.decode(msgspec.json.encode(one), type=Episode, dec_hook=decode_goal) == one


def test_histograms_of_views():
    bed, chair = CATEGORIES.index("bed"), CATEGORIES.index("chair")
    image = np.zeros((1, 2, 6), np.int32)
    image[0, :, 0], image[0, 0, 5] = 1, 2
    counted = count_classes(image, ("bed", "chair", "wall")).reshape(COLUMNS, -1)
    assert counted[0, bed] ** 2 == pytest.approx(0.5) and counted[2, chair] ** 2 == pytest.approx(0.25)
    assert np.count_nonzero(counted) == 2
    image[:] = 3
    assert not count_classes(image, ("bed", "chair", "wall")).any(), "walls are no objects"
    colours = np.zeros((1, 4, 6, 3), np.uint8)
    colours[0, 2:, :2] = 255
    parts = count_colours(colours).reshape(2, 3, 64)
    assert parts[1, 0, 63] == 1 and parts[0, 0, 0] == 1 and np.count_nonzero(parts) == 6


def test_batches_in_houses(world):
    task = get_task("r2r-v1")
    episodes = R2R_GRAPH_V1.make(world, 2, UNSEEN).episodes
    names = ("view_features", "candidate_features", "candidate_views", "instruction_tokens")
    batch = make_batch(task, 2, sensors=names, scans=[HOUSE], sources=Sources(features="classes"))
    batch.start([0, 1], episodes)
    seen = batch.observations
    view = int(seen["candidate_views"][0, 0])
    assert np.array_equal(seen["candidate_features"][0, 0], seen["view_features"][0, view])
    assert seen["view_features"].any() and seen["instruction_tokens"][1].any()
    assert batch.privileged_sensors == ("view_features", "candidate_features")
    rows = {"candidate_views": np.zeros((2, 14), np.int64)}
    assert (
        batch.observe_into(rows)["candidate_views"] is rows["candidate_views"]
        and rows["candidate_views"].any()
    )
    plain = make_batch(task, 1, sensors=names, scans=[HOUSE])
    assert plain.privileged_sensors == () and plain.features == "colours"
    with pytest.raises(UnknownNameError, match="features of houses"):
        make_batch(task, 1, scans=[HOUSE], sources=Sources(features="smells"))


def test_a_file_of_features_says_how_many_numbers_are_read(tmp_path):
    task, file = get_task("r2r-v1"), tmp_path / "views.tsv"
    text = base64.b64encode(np.ones((36, 5), np.float32).tobytes()).decode()
    places = make_batch(task, 1, scans=[HOUSE]).atlas.places()
    file.write_text("".join(f"{scan}\t{name}\t640\t480\t60\t{text}\n" for scan, name in places))

    def size(features):
        batch = make_batch(
            task, 1, sensors=("view_features",), scans=[HOUSE], sources=Sources(features=features)
        )
        return batch.specs["view_features"].shape[1]

    assert size(str(file)) == size(f"{file}?size=5") == 5
    with pytest.raises(FileError, match="expected 36 x 4 float32"):  # this layout has no longer rows
        size(f"{file}?size=4")
    for words in ("size=0", "sise=5", ""):
        with pytest.raises(InputError, match=rf"expected \?size=D, .* got '{words}'"):
            size(f"{file}?{words}")


def test_tours_in_houses():
    found = load_task_episodes(get_task("ir2r-v1"), "mini")
    assert {one.tour_id for one in found.episodes} >= {"val/00000-0"} and len(found) == 24
    assert found.protocol_id == "ir2r-v1" and found.name == "r2r-graph-houses-v1"


def test_evaluation_in_houses(tmp_path):
    out = tmp_path / "run"
    done = evaluate(EvaluationSettings("r2r-v1", "expert", split="mini", episodes=4, workers=1, out=out))
    assert done.summary.metrics["success"].mean == 1 and done.summary.metrics["spl"].mean == pytest.approx(1)
    assert done.summary.identity.startswith("r2r-v1@r2r-graph-houses-v1/")


@pytest.mark.parametrize("listed", [False, True])
def test_environments_open_the_houses_of_further_splits(monkeypatch, listed):
    """Of the named split, or of a list of episodes; no others, which take minutes."""
    few = {"mini": ROUTE_SPLITS["mini"], "further": RouteSplit("val", 1, 2, first=2)}
    few["more"] = RouteSplit("val", 9, 2, first=3)
    monkeypatch.setattr("navarena.episodes.route_sets.ROUTE_SPLITS", few)
    episodes = load_task_episodes(get_task("r2r-v1"), "further").episodes
    given = {"split": "mini", "episodes": episodes} if listed else {"split": "further"}
    env = NavigationEnv("r2r-v1", **given)
    assert env.reset(seed=0)[1]["scene_id"] == "houses-v1/val/00002"
    assert set(env.batch.atlas.scans) == {*few["mini"].scenes, "houses-v1/val/00002"}
