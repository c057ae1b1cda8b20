"""Episode files of VLN-CE and the reference paths beside them."""

import gzip
import json
import math

import numpy as np
import pytest

from navarena.core.errors import FileError, InputError
from navarena.episodes.catalog import load_community_file, load_episodes
from navarena.episodes.episode import Episode, PointGoal
from navarena.episodes.exchange import make_document, open_episode_file, write_document
from navarena.episodes.exchange.r2r_ce import (
    FollowedGoal,
    follow_expert,
    load_expert_places,
    load_tour_places,
)
from navarena.episodes.goals import InstructionGoal

HALF = math.sqrt(0.5)
EPISODE = {
    "episode_id": 12,
    "trajectory_id": 345,
    "scene_id": "mp3d/7y3sRwLe3Va/7y3sRwLe3Va.glb",
    "start_position": [1.0, 0.5, -2.0],
    "start_rotation": [0.0, HALF, 0.0, HALF],
    "info": {"geodesic_distance": 6.5},
    "goals": [{"position": [4.0, 0.5, -6.0], "radius": 3.0}],
    "instruction": {"instruction_text": "Go up. ", "instruction_tokens": [5, 6, 0]},
    "reference_path": [[1.0, 0.5, -2.0], [2.5, 0.5, -4.0], [4.0, 0.5, -6.0]],
}
HIDDEN = {key: value for key, value in EPISODE.items() if key not in ("goals", "reference_path", "info")} | {
    "episode_id": 13,
    "goals": None,
    "reference_path": None,
}
FILE = {"episodes": [EPISODE, HIDDEN], "instruction_vocab": {"word_list": ["<pad>", "<unk>", "go"]}}


def write(path, content):
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(gzip.compress(json.dumps(content).encode()))
    return path


def test_an_episode(tmp_path):
    known, hidden = open_episode_file(write(tmp_path / "val_unseen.json.gz", FILE)).episodes
    assert known.episode_id == "12" and known.start_yaw == pytest.approx(math.pi / 2)
    assert known.goal == InstructionGoal(
        "Go up. ", ((1.0, 0.5, -2.0), (2.5, 0.5, -4.0), (4.0, 0.5, -6.0)), "345", (5, 6, 0)
    )
    assert known.geodesic_distance == 6.5
    assert hidden.goal.path == ((1.0, 0.5, -2.0),) and hidden.geodesic_distance is None


def test_files_come_back_as_they_were(tmp_path):
    path = write(tmp_path / "val_unseen.json.gz", FILE)
    again = tmp_path / "again.json.gz"
    write_document(open_episode_file(path).document(0).read(), again)
    assert json.loads(gzip.decompress(again.read_bytes())) == FILE


def test_our_episodes_in_their_layout(tmp_path):
    path = ((0.0, 0.0, 0.0), (1.0, 0.0, 0.0), (2.0, 0.0, 1.0))
    ours = Episode("a_0", "houses-v1/val/00001", path[0], 0.25, InstructionGoal("the", path, "a"), 2.4)
    out = tmp_path / "mini.json.gz"
    write_document(make_document("r2r-ce", [ours]), out)
    (theirs,) = open_episode_file(out).episodes
    assert theirs.goal.path == path and theirs.goal.instruction == "the" and theirs.episode_id == "a_0"
    content = json.loads(gzip.decompress(out.read_bytes()))
    words = content["instruction_vocab"]["word_list"]
    assert words[theirs.goal.tokens[0]] == "the" and len(theirs.goal.tokens) == 200
    with pytest.raises(InputError, match="an instruction"):
        make_document("r2r-ce", [Episode("p", "s", path[0], 0.0, PointGoal(path[1]), 1.0)])


def test_two_goals_are_refused(tmp_path):
    both = {**EPISODE, "goals": EPISODE["goals"] * 2}
    path = write(tmp_path / "x.json.gz", {"episodes": [both]})
    with pytest.raises(FileError, match="goals.*expected one goal, got 2"):
        list(open_episode_file(path).episodes)


def test_reference_paths(tmp_path):
    gt = write(tmp_path / "gt.json.gz", {"12": {"locations": [[0, 0, 0], [1, 0, 0]], "actions": [1, 0]}})
    assert load_expert_places(gt)["12"].tolist() == [[0, 0, 0], [1, 0, 0]]
    steps = [
        {"position": [0, 0, 0], "phase": "agent", "episode_id": 12},
        {"position": [0, 0, 0], "phase": "agent", "episode_id": 12},
        {"position": [1, 0, 0], "phase": "oracle_goal", "episode_id": 12},
        {"position": [4, 0, 0], "phase": "oracle_start", "episode_id": "13"},
        {"position": [5, 0, 0], "phase": "agent", "episode_id": "13"},
    ]
    tours = write(tmp_path / "gt_ndtw.json.gz", {"val_seen": {"0": steps}})
    places = load_tour_places(tours, "val_seen")
    assert {name: len(rows) for name, rows in places.items()} == {"12": 2, "13": 1}
    assert np.array_equal(places["13"], [[5.0, 0.0, 0.0]])
    with pytest.raises(FileError, match="'val_unseen'.*val_seen"):
        load_tour_places(tours, "val_unseen")
    with pytest.raises(FileError, match="reference paths"):
        load_expert_places(tours)


def test_the_places_of_the_expert_beside_the_episodes(tmp_path):
    path = write(tmp_path / "val_unseen.json.gz", {"episodes": [EPISODE]})
    plain = load_community_file(path, "r2r-ce-v1")
    assert type(plain.episodes[0].goal) is InstructionGoal
    places = [[1.0, 0.5, -2.0], [1.0, 0.5, -2.0], [2.0, 0.5, -3.0]]
    write(tmp_path / "val_unseen_gt.json.gz", {"12": {"locations": places, "actions": [2, 1, 0]}})
    known = load_community_file(path, "r2r-ce-v1")
    for episode in (known.episodes[0], *known.episodes):
        assert isinstance(episode.goal, FollowedGoal)
        assert episode.goal.followed == tuple(map(tuple, places))
        assert episode.goal.path == plain.episodes[0].goal.path and episode.goal.tokens == (5, 6, 0)
    assert known.hash != plain.hash and len(known) == 1
    other = write(tmp_path / "other_gt.json.gz", {"13": {"locations": places, "actions": [2, 1, 0]}})
    with pytest.raises(FileError, match=r"other_gt\.json\.gz, got none for '12'"):
        follow_expert(plain.episodes, other).episode_at(0)


def test_a_goal_without_its_described_path_is_refused(tmp_path):
    for missing in ({"reference_path": None}, {"reference_path": []}):
        path = write(tmp_path / "x.json.gz", {"episodes": [{**EPISODE, **missing}]})
        with pytest.raises(
            FileError, match=r"episode 0 \(id 12\), field reference_path: expected the waypoints"
        ):
            list(open_episode_file(path).episodes)


def test_the_published_folder_is_read_as_its_episode_file(tmp_path):
    path = write(tmp_path / "val_unseen" / "val_unseen.json.gz", {"episodes": [EPISODE]})
    places = [[1.0, 0.5, -2.0], [2.0, 0.5, -3.0]]
    write(path.with_name("val_unseen_gt.json.gz"), {"12": {"locations": places, "actions": [1, 0]}})
    of_file, of_folder = (load_community_file(one, "r2r-ce-v1") for one in (path, path.parent))
    assert list(of_folder.episodes) == list(of_file.episodes) and of_folder.hash == of_file.hash
    assert of_folder.split == "val_unseen"
    assert of_folder.episodes[0].goal.followed == tuple(map(tuple, places))


def test_the_split_of_the_tours_is_that_of_the_file_or_the_one_asked_for(tmp_path):
    second = {**EPISODE, "episode_id": 14}
    content = {"episodes": [EPISODE, second]}
    tours = tmp_path / "tours.json"
    lists = {"val_seen": [["14", "12"]], "val_unseen": [["12", "14"]]}
    tours.write_text(json.dumps({split: {"7y3sRwLe3Va": own} for split, own in lists.items()}))

    def load(name, split):
        found = load_episodes("ir2r-ce-v1", split, write(tmp_path / name, content), tours)
        return found.split, [one.episode_id for one in found.episodes]

    assert load("other.json.gz", "val_unseen") == ("val_unseen", ["12", "14"])
    assert load("other.json.gz", "val_seen") == ("val_seen", ["14", "12"])
    assert load("val_seen.json.gz", "val_unseen") == ("val_seen", ["14", "12"])
    with pytest.raises(
        FileError, match="expected one split, got val_seen, val_unseen; name one with --split"
    ):
        load("other.json.gz", "val")
