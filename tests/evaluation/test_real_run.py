"""The whole way on a mesh that nobody here made: episodes, agents, report, replay, kill -9."""

import os
import signal
import subprocess
import sys

import pytest

from navarena.core.errors import InputError, UnknownNameError
from navarena.evaluation import EvaluationSettings, evaluate, open_benchmark, replay_run
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
