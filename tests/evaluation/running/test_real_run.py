"""The whole way on a mesh that nobody here made: episodes, agents, report, replay, kill -9."""

import os
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from navarena.agents.agent import Agent, SingleAgent
from navarena.core.errors import FileError, InputError, UnknownNameError
from navarena.episodes.dataset import EpisodeDataset, save_episodes
from navarena.evaluation import EvaluationSettings, Identity, evaluate, open_benchmark, replay_run
from navarena.metrics import Metric
from navarena.metrics.catalog import METRICS
from navarena.reports import open_plans, write_report

EPISODES = 12


@pytest.fixture(scope="module")
def mesh(dungeon_folder):
    return str(dungeon_folder / "dungeon.obj")


def settings(mesh, folder, agent, **others):
    return EvaluationSettings(
        "pointnav-v1", agent=agent, dataset=mesh, episodes=EPISODES, out=folder, **others
    )


@pytest.fixture(scope="module")
def expert(mesh, tmp_path_factory):
    return evaluate(settings(mesh, tmp_path_factory.mktemp("expert"), "expert", batch_size=5))


def test_the_expert_succeeds(expert):
    assert expert.summary.metrics["success"].mean == 1.0
    assert expert.summary.metrics["spl"].mean > 0.9
    assert expert.summary.identity.startswith("pointnav-v1@dungeon/custom-12#")


def test_batches_and_workers_change_nothing(mesh, expert, tmp_path):
    again = evaluate(settings(mesh, tmp_path, "expert", workers=2, batch_size=1))
    assert again.rows == expert.rows


def test_it_replays_and_reports(expert):
    replay_run(expert.folder).require_equal()
    page = write_report(expert, open_plans(expert.benchmark)).read_text()
    assert page.count('class="topdown"') == EPISODES


def test_a_replay_needs_no_agent(mesh, tmp_path, monkeypatch):
    code = "import navarena\n\n\nclass Forward(navarena.SingleAgent):\n    def reset(self): pass\n"
    code += "    def act(self, observations): return 1\n"
    (tmp_path / "vanishing_agent.py").write_text(code)
    with monkeypatch.context() as patch:
        patch.syspath_prepend(tmp_path)
        evaluate(settings(mesh, tmp_path / "run", "vanishing_agent:Forward"))
    sys.modules.pop("vanishing_agent")
    replay_run(tmp_path / "run").require_equal()


def test_random_agents_are_seeded(mesh, tmp_path):
    first = evaluate(settings(mesh, tmp_path / "a", "random", batch_size=3))
    again = evaluate(settings(mesh, tmp_path / "b", "random", batch_size=12))
    other = evaluate(settings(mesh, tmp_path / "c", "random", seed=1))
    assert first.rows == again.rows
    assert first.rows != other.rows


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="needs kill -9")
def test_the_command_survives_kill_9(mesh, expert, tmp_path):
    command = [sys.executable, "-m", "navarena", "evaluate", "pointnav-v1", "--agent", "expert"]
    command += ["--dataset", mesh, "--episodes", str(EPISODES), "--batch-size", "1", "--out", str(tmp_path)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    for line in process.stderr:
        if "expert on pointnav-v1:" in line:
            break
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    process.stderr.close()
    subprocess.run(command, check=True, capture_output=True)
    for name in ("summary.json", "episodes.parquet"):
        assert (tmp_path / name).read_bytes() == (expert.folder / name).read_bytes()


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"agent": "expertt"}, UnknownNameError, "Did you mean 'expert'"),
        ({"agent": "no_such_module:Agent"}, InputError, "cannot import 'no_such_module'"),
        ({"protocol": "pointnav-v2"}, UnknownNameError, "Did you mean 'pointnav-v1'"),
        ({"split": "valid"}, UnknownNameError, "Did you mean 'val'"),
        ({"dataset": "houses-v11"}, UnknownNameError, "Did you mean 'houses-v1'"),
        ({"dataset": "nothing.json"}, InputError, "does not exist"),
        ({"dataset": "nothing.obj"}, InputError, "does not exist"),
    ],
)
def test_bad_input_leaves_nothing_behind(tmp_path, change, error, message):
    given = {"protocol": "pointnav-v1", "agent": "random", "out": tmp_path / "run"} | change
    with pytest.raises(error, match=message):
        evaluate(EvaluationSettings(**given))
    assert not (tmp_path / "run").exists()


def test_a_part_of_a_list_is_custom(mesh):
    whole = open_benchmark(EvaluationSettings("pointnav-v1", dataset=mesh, episodes=EPISODES))
    assert whole.identity.is_custom
    assert len(whole.episodes) == EPISODES


class Forward(SingleAgent):
    """Walks on."""

    def reset(self):
        pass

    def act(self, observations):
        return 1


class Stop(Agent):
    """Stops at once."""

    sensors = ()

    def reset(self, starts):
        pass

    def act(self, observations, active):
        return np.zeros(len(active), np.int64)


@pytest.mark.parametrize(("agent", "actions"), [(Forward, 500), (Stop(), 1)])
def test_agents_are_given_as_classes_and_objects(mesh, tmp_path, agent, actions):
    run = evaluate(replace(settings(mesh, tmp_path, agent), episodes=2))
    assert [row.steps for row in run.rows] == [actions] * 2


def test_a_metric_of_a_plugin_is_reported_on_any_protocol(mesh, tmp_path, monkeypatch):
    def turns(trajectory):
        return float((trajectory.actions >= 2).sum())

    monkeypatch.setitem(METRICS._objects, "turns", Metric("turns", "Turns", turns, better="lower"))
    run = evaluate(replace(settings(mesh, tmp_path, "expert", metrics="turns,collisions"), episodes=2))
    counted = [sum(action >= 2 for action in row.actions) for row in run.rows]
    assert [row.metrics["turns"] for row in run.rows] == counted and any(counted)
    assert all("collisions" in row.metrics for row in run.rows)
    replay_run(run.folder).require_equal()
    with pytest.raises(UnknownNameError, match="Did you mean 'turns'"):
        open_benchmark(settings(mesh, tmp_path, "expert", metrics="turn"))


def test_a_file_is_evaluated_in_meshes_of_ones_own(mesh, tmp_path):
    file = tmp_path / "episodes.json"
    data = open_benchmark(settings(mesh, tmp_path, "expert"))
    moved = tuple(replace(one, scene_id="elsewhere/dungeon.glb") for one in data.episodes[:2])
    save_episodes(EpisodeDataset("pointnav-v1", "mine", "val", moved), file)
    folder = str(Path(mesh).parent)
    given = EvaluationSettings(
        "pointnav-v1", agent="expert", dataset=str(file), scenes=folder, out=tmp_path / "run"
    )
    run = evaluate(given)
    assert [row.metrics["success"] for row in run.rows] == [1.0, 1.0]
    replay_run(run.folder).require_equal()
    with pytest.raises(FileError, match="expected a mesh called dungeon"):
        open_benchmark(replace(given, scenes=str(tmp_path)))
    (tmp_path / "rooms+more@home").symlink_to(folder)
    marked = open_benchmark(
        replace(given, scenes=str(tmp_path / "rooms+more@home"), episode_steps=9)
    ).identity
    assert marked.protocol == "pointnav-v1+custom+episode_steps=9+scenes=rooms-more-home"
    assert Identity.of(str(marked)) == marked
