"""Ray: two nodes on this machine; kill -9 of a worker, the driver and the head; nodes that do not fit."""

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import time
import warnings
from pathlib import Path

import pytest

import navarena
from evaluation.corridor import make_benchmark, make_settings
from evaluation.running.test_survival import DERIVED, TESTS, wait_for_rows
from navarena.core.errors import InputError
from navarena.evaluation import evaluate, read_rows
from navarena.evaluation.records.journal import journal_paths, read_journal

os.environ["RAY_AUTH_MODE"] = "disabled"  # of a cluster that nobody else reaches
pytest.importorskip("ray")

pytestmark = [
    pytest.mark.cluster,
    pytest.mark.filterwarnings("ignore"),  # Ray's own
    pytest.mark.skipif(sys.platform == "win32", reason="needs kill -9"),
]
PORT = 6411
ADDRESS = f"127.0.0.1:{PORT}"
SOURCES = Path(navarena.__file__).parents[1]


def environment(*paths, **others):
    known = [*map(str, paths), str(TESTS), str(SOURCES), *filter(None, [os.environ.get("PYTHONPATH")])]
    return os.environ | {"PYTHONPATH": os.pathsep.join(known), "RAY_DISABLE_IMPORT_WARNING": "1"} | others


class Node:
    """A node of the cluster in processes of its own; `kill` is kill -9 of all of them."""

    def __init__(self, *arguments, env):
        program = [sys.executable, "-m", "ray.scripts.scripts", "start", "--block", "--num-cpus=1"]
        self.process = subprocess.Popen(
            [*program, "--disable-usage-stats", *arguments],
            env=env,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )

    def kill(self):
        for pid in [*_children(self.process.pid), self.process.pid]:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        self.process.wait()


def _children(pid):
    """All processes below `pid`."""
    listed = subprocess.run(["ps", "-eo", "pid=,ppid="], capture_output=True, text=True).stdout
    parents = dict(tuple(map(int, line.split())) for line in listed.splitlines())
    found, more = [], [pid]
    while more:
        above = more.pop()
        below = [one for one, parent in parents.items() if parent == above]
        found += below
        more += below
    return found


def start_cluster(second_env=None):
    """A head and a second node, one core each; waits until both are there."""
    head = Node("--head", f"--port={PORT}", "--include-dashboard=false", env=environment())
    nodes = [head]
    try:
        _wait_for_cores(1)
        nodes.append(Node(f"--address={ADDRESS}", env=second_env or environment()))
        _wait_for_cores(2)
    except BaseException:
        for node in nodes:
            node.kill()
        raise
    return nodes


def _wait_for_cores(count):
    import ray

    deadline = time.monotonic() + 120
    while time.monotonic() < deadline:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                ray.init(address=ADDRESS, log_to_driver=False, logging_level="CRITICAL")
            cores = ray.cluster_resources().get("CPU", 0)
            ray.shutdown()
            if cores >= count:
                return
        except (ConnectionError, RuntimeError, ValueError):
            pass
        time.sleep(0.5)
    raise AssertionError(f"no cluster of {count} cores after 120 s")


@pytest.fixture
def cluster():
    nodes = start_cluster()
    yield nodes
    for node in nodes:
        node.kill()


@pytest.fixture(scope="module")
def expected(tmp_path_factory):
    folder = tmp_path_factory.mktemp("expected")
    evaluate(make_settings(folder, "SlowWalker"), make_benchmark("SlowWalker"))
    return [(folder / name).read_bytes() for name in DERIVED]


def launch(folder):
    """A driver in a process of its own, on both nodes."""
    code = f"import evaluation.corridor as c; c.main({str(folder)!r}, 'SlowWalker', 2, 2, {ADDRESS!r})"
    return subprocess.Popen(
        [sys.executable, "-W", "ignore", "-c", code], env=environment(), stdout=subprocess.PIPE, text=True
    )


def finish(folder, agent="SlowWalker", **settings):
    settings = {"workers": 2, "batch_size": 2, "ray": ADDRESS} | settings
    return evaluate(make_settings(folder, agent, **settings), make_benchmark(agent))


def derived(folder):
    return [(folder / name).read_bytes() for name in DERIVED]


def test_two_nodes_give_the_table_of_one_process(cluster, tmp_path, expected):
    finish(tmp_path)
    assert derived(tmp_path) == expected


def test_a_worker_is_killed(tmp_path, monkeypatch):
    """The agent kills its own process once, where `MARKER` is not there yet; the other takes over."""
    marker = tmp_path / "marker"
    env = environment(MARKER=str(marker))
    monkeypatch.setenv("MARKER", str(marker))
    nodes = [Node("--head", f"--port={PORT}", "--include-dashboard=false", env=env)]
    try:
        _wait_for_cores(1)
        nodes.append(Node(f"--address={ADDRESS}", env=env))
        _wait_for_cores(2)
        evaluation = finish(tmp_path / "run", "Suicide")
    finally:
        for node in nodes:
            node.kill()
    assert marker.exists() and len(evaluation.notices) == 1 and "worker on" in evaluation.notices[0]
    monkeypatch.delenv("MARKER")
    marker.touch()
    monkeypatch.setenv("MARKER", str(marker))
    evaluate(make_settings(tmp_path / "alone", "Suicide"), make_benchmark("Suicide"))
    assert derived(tmp_path / "run") == derived(tmp_path / "alone")


@pytest.mark.parametrize(("workers", "batch_size"), [(1, 1), (2, 2)])
def test_an_agent_that_ends_its_actor(cluster, tmp_path, expected, workers, batch_size):
    """Its episode runs twice, then becomes a row; all others come out as in one process."""
    evaluation = finish(tmp_path, "Bomb", workers=workers, batch_size=batch_size)
    (bad,) = [row for row in evaluation.rows if row.failed]
    assert (bad.episode_id, bad.status, bad.metrics["success"]) == ("e020", "crashed", 0.0)
    assert bad.traceback == (
        "the process of the agent ended twice in this episode: its Ray actor died; its actions are not known"
    )
    assert len(evaluation.notices) == 2 and "(e020)" in evaluation.notices[1]
    evaluate(make_settings(tmp_path / "good", "SlowWalker"), make_benchmark("SlowWalker"))
    good = {row.episode_id: row for row in read_rows(tmp_path / "good")}
    assert all(row == good[row.episode_id] for row in evaluation.rows if row is not bad)


def test_a_machine_that_dies_is_not_the_agents_fault(cluster, tmp_path, expected):
    process = launch(tmp_path)
    wait_for_rows(process, 3)
    cluster[1].kill()
    assert process.wait(300) == 0
    process.stdout.close()
    assert derived(tmp_path) == expected


def test_the_driver_is_killed(cluster, tmp_path, expected):
    process = launch(tmp_path)
    wait_for_rows(process, 7)
    process.kill()
    process.wait()
    process.stdout.close()
    assert finish(tmp_path).resumed >= 7
    assert derived(tmp_path) == expected


def test_the_head_is_killed(cluster, tmp_path, expected):
    process = launch(tmp_path)
    wait_for_rows(process, 7)
    for node in cluster:
        node.kill()
    assert process.wait(90) != 0
    process.stdout.close()
    assert not (tmp_path / "summary.json").exists()
    again = finish(tmp_path, workers=1, ray=None)
    assert again.resumed >= 7
    assert derived(tmp_path) == expected


def test_a_node_with_another_version(tmp_path):
    """The second node has a copy of the package that calls itself another version."""
    copy = tmp_path / "copy" / "navarena"
    shutil.copytree(SOURCES / "navarena", copy, ignore=shutil.ignore_patterns("__pycache__"))
    text = (copy / "__init__.py").read_text()
    (copy / "__init__.py").write_text(text.replace(f'"{navarena.__version__}"', '"0.0.7"'))
    nodes = start_cluster(environment(copy.parent))
    try:
        with pytest.raises(InputError, match=r"navarena 0\.0\.7 instead of .* install the same there"):
            finish(tmp_path / "run")
    finally:
        for node in nodes:
            node.kill()


def test_a_scene_that_is_missing_on_one_node(tmp_path, expected):
    """One clear error that names the machine; what was finished stays, and the run goes on elsewhere."""
    nodes = start_cluster(environment(WITHOUT_SCENE="corridor/05"))
    try:
        with pytest.raises(InputError, match=r"on .*: scene corridor/05 is not here; fetch it"):
            for _ in range(20):  # until the node that lacks it is given that scene
                finish(tmp_path / "run", fresh=True)
    finally:
        for node in nodes:
            node.kill()
    kept = sum(len(read_journal(path).rows) for path in journal_paths(tmp_path / "run"))
    again = finish(tmp_path / "run", workers=1, ray=None)
    assert again.resumed == kept > 0
    assert derived(tmp_path / "run") == expected


def test_clusters_that_cannot_be_and_one_of_this_machine(tmp_path, monkeypatch):
    with pytest.raises(InputError, match="cannot reach a Ray cluster at '127.0.0.1:1'.*--ray local"):
        finish(tmp_path / "none", ray="127.0.0.1:1")
    with pytest.raises(InputError, match="cannot reach a Ray cluster at 'auto'"):
        finish(tmp_path / "none", ray="auto")
    assert not (tmp_path / "none").exists()
    monkeypatch.setenv("PYTHONPATH", environment()["PYTHONPATH"])
    finish(tmp_path / "local", ray="local")
    assert len(read_journal(journal_paths(tmp_path / "local")[0]).rows) == 40
