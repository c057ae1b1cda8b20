"""`navarena episodes` on a mesh that nobody here made."""

import json

import pytest

from navarena.agents.agent import Start
from navarena.agents.loading import load_agent
from navarena.cli.main import main
from navarena.episodes.catalog import load_episodes
from navarena.episodes.dataset import load_episode_file
from navarena.tasks.batch import NavigationBatch
from navarena.tasks.catalog import get_task

HOUSE = "houses-v1/val/00000"


@pytest.fixture(scope="module")
def dungeon(dungeon_folder):
    return str(dungeon_folder / "dungeon.obj")


@pytest.fixture(scope="module")
def made(dungeon, tmp_path_factory):
    """A file of twelve episodes."""
    path = tmp_path_factory.mktemp("episodes") / "dungeon.json.gz"
    command = ["episodes", "make", "pointnav-v1", "--scene", dungeon, "--per-scene", "12", "--out", str(path)]
    assert main(command) == 0
    return path


def test_make_is_repeatable(made, dungeon, tmp_path):
    again = tmp_path / "again.json"
    command = ["episodes", "make", "pointnav-v1", "--scene", dungeon, "--per-scene", "12"]
    assert main([*command, "--out", str(again)]) == 0
    other = tmp_path / "other.json"
    assert main([*command, "--seed", "1", "--out", str(other)]) == 0
    hashes = [load_episode_file(path).hash for path in (made, again, other)]
    assert hashes[0] == hashes[1] != hashes[2]


def test_info_describes_the_file(made, capsys):
    assert main(["episodes", "info", str(made), "--json"]) == 0
    output = json.loads(capsys.readouterr().out)
    assert set(output) == {
        *("file", "protocol", "dataset", "split", "seed", "hash", "dropped", "scenes", "episodes"),
        *("geodesic", "euclidean", "ratio", "categories", "objects", "difficulties", "hidden"),
        *("unreachable", "format", "files", "unknown_fields", "notices", "errata"),
    }
    assert (output["episodes"], output["scenes"], output["protocol"]) == (12, 1, "pointnav-v1")
    assert 1 <= output["geodesic"]["minimum"] <= output["geodesic"]["maximum"] <= 30
    assert output["ratio"]["minimum"] >= 1 - 1e-9
    assert main(["episodes", "info", str(made)]) == 0
    assert "12 episodes in 1 scene," in capsys.readouterr().out


def test_the_expert_solves_all_of_them(made):
    task, dataset = get_task("pointnav-v1"), load_episodes("pointnav-v1", "custom", made)
    agent = load_agent("expert", task)
    batch = NavigationBatch(task, len(dataset), sensors=agent.sensors)
    agent.attach(batch)
    batch.start(range(len(dataset)), dataset.episodes)
    agent.reset([Start(k, one.episode_id, one.scene_id) for k, one in enumerate(dataset.episodes)])
    while (active := batch.running).any():
        batch.step(agent.act(batch.observations, active), active)
    for k, episode in enumerate(dataset.episodes):
        track = batch.trajectory(k)
        assert track.stopped and track.distance_to_goal[-1] < 0.2
        assert track.start_distance == pytest.approx(episode.geodesic_distance, abs=5.001e-4)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["make", "pointnav-v1", "--out", "x.json"], "either --scene or --split"),
        (["make", "pointnav-v1", "--split", "mini", "--scene", "a.obj", "--out", "x.json"], "either --scene"),
        (["make", "pointnav-v1", "--split", "mini", "--out", "x.txt"], "end in .json"),
        (["make", "pointnaf-v1", "--split", "mini", "--out", "x.json"], "Did you mean 'pointnav-v1'"),
        (["make", "pointnav-v1", "--split", "minni", "--out", "x.json"], "Did you mean 'mini'"),
        (["make", "pointnav-v1", "--scene", "nowhere.obj", "--out", "x.json"], "nowhere.obj"),
        (["make", "pointnav-v1", "--split", "mini", "--per-scene", "0", "--out", "x.json"], "at least one"),
        (["make", "pointnav-v1", "--split", "mini", "--layout", "multon", "--out", "x.json"], "'multion'"),
        (["make", "pointnav-v1", "--split", "train", "--out", "x.json"], "expected --per-scene for 'train'"),
        (["make", "pointnav-v1", "--split", "mini", "--up", "z", "--out", "x.json"], "with a mesh file"),
        (
            ["make", "pointnav-v1", "--scene", HOUSE, "--scale", "2", "--out", "x.json"],
            "a mesh file for options",
        ),
        (
            ["make", "pointnav-v1", "--scene", HOUSE, "--dataset", "a", "--out", "x.json"],
            "--dataset with --split",
        ),
        (["make", "pointnav-v1+objects=3", "--split", "mini", "--out", "x.json"], "unknown option 'objects'"),
        (["make", "goat-v1+objects=3", "--split", "mini", "--out", "x.json"], "unknown option 'objects'"),
        (["make", "r2r-ce-v1", "--split", "mini", "--out", "x.json"], "navarena tours houses SPLIT"),
        (["info", "nowhere.json"], "does not exist"),
    ],
)
def test_bad_input_is_one_line_and_exit_code_2(arguments, message, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(["episodes", *arguments]) == 2
    error = capsys.readouterr().err.strip().splitlines()[-1]
    assert error.startswith("error: ") and message in error
    assert not list(tmp_path.iterdir()), "nothing half-written"
