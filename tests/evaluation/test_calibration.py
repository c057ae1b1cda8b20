"""The phase in which agents adapt, as an evaluation carries it out."""

import shutil
from pathlib import Path

import numpy as np
import pytest

from navarena.agents.agent import Agent
from navarena.core.errors import InputError
from navarena.episodes import make_episodes, save_episodes
from navarena.evaluation import EvaluationSettings, evaluate, open_benchmark, replay_run
from navarena.evaluation.benchmark import absolute_paths, is_scene
from navarena.evaluation.calibration import PER_SCENE, SLOTS


class Learner(Agent):
    """Learns how far a walk leads, and then stops after as many walks as three metres take."""

    sensors = ("gps",)
    calibration_sensors = ("odometry",)

    def __init__(self, task, seed=0):
        self.walk, self.stop = task.actions.index("move_forward"), task.actions.index("stop")
        self.length = task.embodiment.forward_step
        self.walked = {}

    def adapt(self, env):
        lengths = []
        while not env.is_over:
            env.step(np.full(env.slots, self.walk))
            lengths.append(env.observations["odometry"][:, 0].max())
        self.length = float(np.median(lengths))

    def reset(self, starts):
        self.walked |= {start.slot: 0.0 for start in starts}

    def act(self, observations, active):
        actions = np.full(len(active), self.stop)
        for slot in np.flatnonzero(active):
            if self.walked[slot] + self.length <= 3.001:
                self.walked[slot] += self.length
                actions[slot] = self.walk
        return actions


@pytest.fixture
def mesh(dungeon_folder):
    return str(dungeon_folder / "dungeon.obj")


def settings(mesh, folder, agent="evaluation.test_calibration:Learner", **others):
    fixed = {
        "corrupt": ("motion_bias_constant",),
        "dataset": mesh,
        "episodes": 4,
        "calibration_steps": 20 * SLOTS,
    }
    return EvaluationSettings("pointnav-v1", agent=agent, out=folder, **(fixed | others))


def test_agents_adapt_under_the_corruptions_of_the_run(mesh, tmp_path):
    adapted = evaluate(settings(mesh, tmp_path / "adapted"))
    plain = evaluate(settings(mesh, tmp_path / "plain", calibration_steps=None))
    assert {row.steps for row in plain.rows} == {13}, "12 walks of 0.25 m, and stop"
    length = {round(row.metrics["path_length"] / 12, 3) for row in plain.rows}.pop()
    assert length != 0.25, "the scene's own walks are longer or shorter"
    assert {row.steps - 1 for row in adapted.rows} == {int(3.001 / length)}, "as many as three metres take"
    assert "+calibration_steps=320+corrupt=motion_bias_constant@" in adapted.summary.identity
    again = evaluate(settings(mesh, tmp_path / "again", batch_size=1))
    assert again.rows == adapted.rows, "whatever the batch"


def test_corruptions_are_the_same_wherever_a_mesh_lies(mesh, tmp_path):
    """What a scene draws hangs on the name of its file, not on the folder that it was copied to."""
    moved = Path(shutil.copytree(Path(mesh).parent, tmp_path / "moved")) / Path(mesh).name
    here = evaluate(settings(mesh, tmp_path / "here", "random", calibration_steps=None))
    there = evaluate(settings(str(moved), tmp_path / "there", "random", calibration_steps=None))
    assert [row.metrics for row in there.rows] == [row.metrics for row in here.rows]


def test_its_episodes_are_others_in_the_same_scenes(mesh, tmp_path):
    benchmark = open_benchmark(settings(mesh, tmp_path))
    calibration = benchmark.setup.calibration
    assert calibration.steps == 320 and len(calibration.episodes) == PER_SCENE
    assert {one.scene_id for one in calibration.episodes} == {one.scene_id for one in benchmark.episodes}
    starts = {one.start_position for one in benchmark.episodes}
    assert not starts & {one.start_position for one in calibration.episodes}


def test_agents_that_cannot_adapt_are_refused(mesh, tmp_path):
    with pytest.raises(InputError, match="expected an agent that adapts, got ForwardAgent"):
        evaluate(settings(mesh, tmp_path / "run", agent="forward"))
    assert not (tmp_path / "run" / "run.json").exists()
    with pytest.raises(InputError, match="expected calibration_steps of at least 1"):
        settings(mesh, tmp_path, calibration_steps=0)


def test_given_episodes_are_adapted_in(mesh, tmp_path):
    """Episodes of a file in the scenes of the evaluation; those that are evaluated are refused."""
    own = make_episodes("pointnav-v1", [mesh], 3, name="own", split="own")
    file = tmp_path / "own.json"
    save_episodes(own, file)
    benchmark = open_benchmark(settings(mesh, tmp_path, calibration_episodes=str(file)))
    starts = [one.start_position for one in benchmark.setup.calibration.episodes]
    assert starts == [one.start_position for one in own.episodes]
    assert f"+calibration_episodes={own.hash}+calibration_steps=320+" in str(benchmark.identity)
    both = settings(mesh, tmp_path, calibration_episodes=str(file), dataset=str(file), episodes=2)
    with pytest.raises(InputError, match="expected calibration episodes that are not evaluated"):
        open_benchmark(both)
    elsewhere = settings(mesh, tmp_path, calibration_episodes=str(file), dataset=None, episodes=2)
    with pytest.raises(InputError, match="expected calibration episodes in each of the 1 scenes"):
        open_benchmark(elsewhere)
    with pytest.raises(InputError, match="add --calibration-steps N"):
        settings(mesh, tmp_path, calibration_episodes=str(file), calibration_steps=None)


def test_given_episodes_that_lack_a_scene_are_refused(mesh, tmp_path):
    """An agent would meet the corruptions of that scene unprepared, and nothing would say so."""
    other = tmp_path / "other.obj"
    shutil.copy(mesh, other)
    for name, scenes in (("both", [mesh, str(other)]), ("one", [mesh])):
        save_episodes(
            make_episodes("pointnav-v1", scenes, 3, name=name, split=name), tmp_path / f"{name}.json"
        )
    files = {"dataset": str(tmp_path / "both.json"), "calibration_episodes": str(tmp_path / "one.json")}
    with pytest.raises(InputError, match="2 scenes of the evaluation, got in one none in 1"):
        open_benchmark(settings(mesh, tmp_path, **files))


def test_a_run_with_given_episodes_is_replayed_from_anywhere(mesh, tmp_path, monkeypatch):
    save_episodes(make_episodes("pointnav-v1", [mesh], 3, name="own", split="own"), tmp_path / "own.json")
    monkeypatch.chdir(tmp_path)
    evaluate(settings(mesh, tmp_path / "run", calibration_episodes="own.json", episodes=1))
    monkeypatch.chdir("/")
    assert replay_run(tmp_path / "run").differences == ()


def test_folders_do_not_hide_sets_and_splits(tmp_path, monkeypatch):
    """A folder here that is called as a scene set, a scene or a split of calibration is another thing."""
    monkeypatch.chdir(tmp_path)
    Path("houses-v1/val/00000").mkdir(parents=True)
    Path("test").mkdir()
    named = settings("houses-v1", tmp_path, split="val", calibration_episodes="test", corrupt=())
    assert absolute_paths(named) == named
    one = settings("houses-v1/val/00000", tmp_path, calibration_steps=None, corrupt=())
    assert absolute_paths(one).dataset == "houses-v1/val/00000" and is_scene(one.dataset)
    folder = settings("./houses-v1", tmp_path, calibration_steps=None, corrupt=())
    assert absolute_paths(folder).dataset == str(tmp_path.resolve() / "houses-v1")


def test_a_split_is_adapted_in(tmp_path):
    """By its name: test has other episodes in other houses, mini the very ones that are evaluated."""
    evaluated = {"dataset": "houses-v1", "split": "val", "episodes": 2, "corrupt": ()}
    with pytest.raises(InputError, match="expected calibration episodes in each of the 1 scenes"):
        open_benchmark(settings(None, tmp_path, calibration_episodes="test", **evaluated))
    with pytest.raises(InputError, match="expected calibration episodes that are not evaluated"):
        open_benchmark(settings(None, tmp_path, calibration_episodes="mini", **evaluated))


class Peeper(Learner):
    """Would like to know where it is."""

    calibration_sensors = ("odometry", "position")


def test_privileged_sensors_are_refused(mesh, tmp_path):
    with pytest.raises(
        InputError, match="show no more than observations of the protocol, got position; leave"
    ):
        evaluate(settings(mesh, tmp_path, agent="evaluation.test_calibration:Peeper"))


def test_few_steps_reach_every_scene(tmp_path):
    """Sixteen environments in four scenes, from the first step on."""
    scenes = [f"robothor-like-v1/val/{number:05}" for number in range(4)]
    for name, size in (("own", 20), ("evaluated", 1)):
        save_episodes(
            make_episodes("pointnav-v1", scenes, size, name=name, split=name), tmp_path / f"{name}.json"
        )
    for given in (None, str(tmp_path / "own.json")):
        benchmark = open_benchmark(
            settings(str(tmp_path / "evaluated.json"), tmp_path, calibration_episodes=given, corrupt=())
        )
        episodes = benchmark.setup.calibration.episodes
        assert [one.scene_id for one in episodes[:8]] == scenes * 2
        assert len(set(episodes)) == (4 * PER_SCENE if given is None else 80), "all of them, each once"


def test_too_few_steps_for_all_scenes_are_refused(tmp_path):
    """17 scenes: one of the 16 environments must end an episode of at most 500 actions first."""
    scenes = [f"houses-v0/val/{number:05}" for number in range(17)]
    save_episodes(make_episodes("pointnav-v1", scenes, 1, name="many", split="many"), tmp_path / "many.json")
    for steps, is_enough in ((16 * 500, False), (16 * 500 + 1, True)):
        asked = settings(
            str(tmp_path / "many.json"), tmp_path, calibration_steps=steps, episodes=17, corrupt=()
        )
        if is_enough:
            assert open_benchmark(asked).setup.calibration.steps == steps
        else:
            with pytest.raises(InputError, match="expected more than 8000 calibration steps.* 17 scenes"):
                open_benchmark(asked)
