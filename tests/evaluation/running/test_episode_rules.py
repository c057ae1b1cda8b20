"""Limits, memory, order and times of an evaluation."""

import inspect
import time
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

from evaluation.corridor import (
    CorridorBatch,
    CorridorSetup,
    Walker,
    make_benchmark,
    make_settings,
)
from navarena.agents.agent import Boundary
from navarena.agents.declaration import Declaration
from navarena.agents.loading import declare_agent
from navarena.core.errors import ActionError, AgentUnreachableError, CheckFailedError, InputError
from navarena.evaluation import evaluate, replay_run
from navarena.evaluation.memory_groups import make_groups, shuffle_groups
from navarena.evaluation.records.journal import journal_path, journal_paths
from navarena.evaluation.records.times import read_times
from navarena.evaluation.running.order_check import SAMPLE, check_order
from navarena.evaluation.running.shares import ShareQueue, choose_workers, count_slots
from navarena.evaluation.settings import EpisodeRules, EvaluationSettings


class Sleeper(Walker):
    """Thinks long about every tenth episode."""

    def choose(self, slot, offset):
        if int(self.episodes[slot][1:]) % 10 == 0:
            time.sleep(0.05)
        return super().choose(slot, offset)


class Dawdler(Walker):
    """Thinks too long about e005, even for a busy machine."""

    def choose(self, slot, offset):
        if self.episodes[slot] == "e005":
            time.sleep(3.2)
        return super().choose(slot, offset)


class Leaker(Walker):
    """Turns round after an odd number of episodes, whatever they were."""

    def __init__(self):
        super().__init__()
        self.begun = 0

    def reset(self, starts):
        super().reset(starts)
        self.begun += len(starts)

    def choose(self, slot, offset):
        return 1 + self.begun % 2


class Glancer(Walker):
    """Looks into its batch in episode 10 alone, and declares nothing."""

    def choose(self, slot, offset):
        if self.episodes[slot] == "e010":
            assert self.batch.records[slot] is not None
        return super().choose(slot, offset)


class Stumbler(Walker):
    """Raises in every episode, and says how often it has done so before."""

    falls = 0

    def choose(self, slot, offset):
        type(self).falls += 1
        raise RuntimeError(f"fall {self.falls}")


class Learner(Walker):
    """Remembers how many episodes it has seen since its memory ended, and walks as many steps more."""

    def __init__(self):
        super().__init__()
        self.seen, self.steps = {}, {}

    def reset(self, starts):
        super().reset(starts)
        for start in starts:
            ended = start.boundary >= Boundary.EPISODE
            self.seen[start.slot] = 0 if ended else self.seen[start.slot] + 1
            self.steps[start.slot] = 0

    def choose(self, slot, offset):
        self.steps[slot] += 1
        return 0 if self.steps[slot] > self.seen[slot] else 1


class ForgetfulLearner(Learner):
    """Breaks down in the third episode of every scene."""

    def choose(self, slot, offset):
        if int(self.episodes[slot][1:]) % 4 == 2:
            raise ValueError("lost my notes")
        return super().choose(slot, offset)


class Refuser(Walker):
    """Raises what agents of the standard interface raise for a name that is no action."""

    def choose(self, slot, offset):
        if self.episodes[slot] == "e007":
            raise ActionError("unknown action 'jump'")
        return super().choose(slot, offset)


class Absent(Walker):
    """An agent elsewhere that has gone."""

    def act(self, observations, active):
        raise AgentUnreachableError("no agent answers")


class Mortal(Walker):
    """An agent elsewhere that is gone whenever it runs e007."""

    seen = []

    def reset(self, starts):
        super().reset(starts)
        self.seen.append([start.episode_id for start in starts])

    def act(self, observations, active):
        if any(active[slot] and self.episodes[slot] == "e007" for slot in range(len(active))):
            raise AgentUnreachableError("no agent answers")
        return super().act(observations, active)


class TellTale(Walker):
    """Writes down what ended."""

    starts_seen = []

    def reset(self, starts):
        super().reset(starts)
        self.starts_seen.extend((start.episode_id, start.boundary) for start in starts)

    def choose(self, slot, offset):
        return 1


class Spender(Walker):
    """Spends a coin for each action of an episode."""

    def reset(self, starts):
        super().reset(starts)
        for start in starts:
            self.__dict__.setdefault("coins", {})[start.slot] = 0

    def choose(self, slot, offset):
        self.coins[slot] += 1
        return super().choose(slot, offset)

    def episode_costs(self, slot):
        return {"coins": np.int64(self.coins[slot])}


class Muddler(Walker):
    """Cannot say what it has spent."""

    def episode_costs(self, slot):
        return {"coins": "many"}


KINDS = (
    Sleeper,
    Dawdler,
    Leaker,
    Glancer,
    Stumbler,
    Learner,
    ForgetfulLearner,
    Refuser,
    Absent,
    Mortal,
    TellTale,
    Walker,
    Spender,
    Muddler,
)
AGENTS = {kind.__name__: kind for kind in KINDS}


class SubtaskBatch(CorridorBatch):
    """A sub-task ends at every third step."""

    def step(self, actions, active):
        result = super().step(actions, active)
        lengths = np.array([len(record["actions"]) if record else 0 for record in self.records])
        goes_on = active & ~result.terminated & ~result.truncated
        return replace(result, began=goes_on & (lengths % 3 == 0))


@dataclass(frozen=True)
class Setup(CorridorSetup):
    subtasks: bool = False

    def make_batch(self, slots, sensors, threads):
        return (SubtaskBatch if self.subtasks else CorridorBatch)(slots, sensors)

    def make_agent(self):
        return AGENTS[self.agent]()


def benchmark(agent, count=40, subtasks=False):
    return replace(make_benchmark("Walker", count), setup=Setup(agent, subtasks))


def run(folder, agent, count=40, subtasks=False, **settings):
    return evaluate(make_settings(folder, agent, **settings), benchmark(agent, count, subtasks))


def test_an_agent_that_takes_too_long_is_a_failure(tmp_path):
    evaluation = run(tmp_path, "Dawdler", episode_seconds=3.0, batch_size=1)
    (row,) = (row for row in evaluation.rows if row.status == "timed_out")
    assert row.episode_id == "e005"
    assert row.failed and row.metrics["success"] == 0.0 and "expected at most 3 s" in row.traceback
    assert evaluation.summary.metrics["success"].n == 40
    assert not replay_run(tmp_path, benchmark("Dawdler")).differences


def test_the_step_limit_is_no_fault(tmp_path):
    evaluation = run(tmp_path, "TellTale", episode_steps=5)
    assert {row.status for row in evaluation.rows} == {"step_limit"}
    assert {row.steps for row in evaluation.rows} == {5}
    assert not any(row.failed for row in evaluation.rows)
    assert not replay_run(tmp_path, benchmark("TellTale")).differences


def test_an_unknown_action_name_is_an_illegal_action(tmp_path):
    evaluation = run(tmp_path, "Refuser", batch_size=8)
    (row,) = (row for row in evaluation.rows if row.failed)
    assert (row.episode_id, row.status) == ("e007", "illegal_action")
    assert "unknown action 'jump'" in row.traceback


def test_an_agent_that_is_gone_is_no_failure_of_episodes(tmp_path):
    with pytest.raises(AgentUnreachableError):
        run(tmp_path, "Absent")
    assert not journal_paths(tmp_path)


@pytest.mark.parametrize("workers", [1, pytest.param(2, marks=pytest.mark.slow)])
@pytest.mark.parametrize("batch_size", [1, 4, 64])
def test_an_episode_in_which_the_agent_is_lost_twice_is_a_row(tmp_path, batch_size, workers):
    """The second time it runs alone; the third command takes no chances with it, and all others are run."""
    for command in range(2):
        Mortal.seen.clear()
        with pytest.raises(AgentUnreachableError):
            run(tmp_path, "Mortal", batch_size=batch_size, workers=1 if command else workers)
        assert (tmp_path / "lost-agents.json").exists()
    assert Mortal.seen[-1] == ["e007"]
    evaluation = run(tmp_path, "Mortal", batch_size=batch_size)
    assert [row.episode_id for row in evaluation.rows if row.failed] == ["e007"]
    (row,) = (row for row in evaluation.rows if row.failed)
    assert row.status == "crashed" and row.steps == 0
    assert row.traceback.startswith("the process of the agent ended twice in this episode")
    run(tmp_path, "Walker", fresh=True)
    assert not (tmp_path / "lost-agents.json").exists()


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"episode_seconds": 0.0}, "positive episode_seconds"),
        ({"episode_steps": 0}, "episode_steps of at least 1"),
        ({"forget": "always"}, "one of subtask, episode, tour, never, got 'always'"),
    ],
)
def test_bad_settings(settings, message):
    with pytest.raises(InputError, match=message):
        EvaluationSettings("p", **settings)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"episodes": "3"}, r"^expected episodes of type int \| None, got '3' of type str; convert it"),
        ({"seed": None}, "^expected seed of type int, got None of type NoneType"),
        ({"seed": 1.0}, "^expected seed of type int, got 1.0 of type float"),
        ({"workers": True}, r"^expected workers of type int \| None, got True of type bool"),
        ({"episode_seconds": "9"}, r"^expected episode_seconds of type float \| None, got '9'"),
        ({"corrupt": 3}, r"^expected corrupt of type tuple\[str, ...\], got 3"),
        ({"corrupt": (None,)}, r"^expected corrupt of type tuple\[str, ...\], got \(None,\)"),
        ({"dataset": Path("a.json")}, r"^expected dataset of type str \| None, got PosixPath"),
        ({"out": 3}, r"^expected out of type pathlib.Path \| None, got 3"),
    ],
)
def test_settings_of_other_types_are_refused(settings, message):
    made = object.__new__(EvaluationSettings)
    unchecked = inspect.unwrap(EvaluationSettings.__init__)  # the checks of types are on in tests alone
    with pytest.raises(InputError, match=message):
        unchecked(made, "p", **settings)


def test_a_shuffled_run_comes_out_the_same(tmp_path):
    plain = run(tmp_path / "plain", "Walker", batch_size=3)
    shuffled = run(tmp_path / "shuffled", "Walker", batch_size=3, shuffle=True)
    assert shuffled.rows == plain.rows
    lines = journal_path(tmp_path / "shuffled", 0).read_text().splitlines()[1:]
    order = [line.split('"episode_id":"')[1][:4] for line in lines]
    assert order != sorted(order)
    groups = make_groups(make_benchmark().episodes, set(), "episode")
    assert shuffle_groups(groups, 1) != shuffle_groups(groups, 2)
    assert shuffle_groups(groups, 1) == shuffle_groups(groups, 1)


def test_check_order():
    done = []
    assert check_order(benchmark("Walker"), EpisodeRules(), lambda: done.append(1)) == SAMPLE
    assert len(done) == 2 * SAMPLE
    assert check_order(benchmark("Learner"), EpisodeRules(forget="never")) == 16
    assert check_order(benchmark("Glancer"), EpisodeRules()) == SAMPLE
    assert check_order(benchmark("Stumbler"), EpisodeRules()) == SAMPLE
    with pytest.raises(CheckFailedError, match="outcome depends on the order of episodes: .* of 16"):
        check_order(benchmark("Leaker"), EpisodeRules())


def steps_by_episode(evaluation):
    return [row.steps for row in evaluation.rows]


@pytest.mark.parametrize("settings", [{"batch_size": 1}, {"batch_size": 7}, {"workers": 2, "batch_size": 2}])
def test_memory_that_is_never_forgotten_lasts_for_a_scene(tmp_path, settings):
    evaluation = run(tmp_path, "Learner", forget="never", **settings)
    assert steps_by_episode(evaluation) == [1, 2, 3, 4] * 10  # four episodes in each scene, in their order


def test_memory_ends_with_the_episode_otherwise(tmp_path):
    assert steps_by_episode(run(tmp_path, "Learner", batch_size=7)) == [1] * 40


def test_a_resumed_scene_is_remembered_again(tmp_path):
    run(tmp_path, "Learner", forget="never", batch_size=1)
    path = journal_path(tmp_path, 0)
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines[:7]))  # the header, and the second scene is half done
    again = run(tmp_path, "Learner", forget="never", batch_size=1)
    assert again.resumed == 6 and steps_by_episode(again) == [1, 2, 3, 4] * 10


@pytest.mark.parametrize("batch_size", [1, 6])
def test_a_breakdown_ends_the_memory_of_its_own_scene_only(tmp_path, batch_size):
    evaluation = run(tmp_path, "ForgetfulLearner", forget="never", batch_size=batch_size)
    assert [row.status for row in evaluation.rows] == ["ok", "ok", "crashed", "ok"] * 10
    # the fresh agent of the fourth episode learns that all has ended
    assert steps_by_episode(evaluation) == [1, 2, 0, 1] * 10


def test_boundaries_of_subtasks(tmp_path):
    for forget, boundary in (("subtask", Boundary.EPISODE), ("episode", Boundary.SUBTASK)):
        TellTale.starts_seen.clear()
        run(tmp_path / forget, "TellTale", count=1, subtasks=True, forget=forget, episode_steps=8)
        assert TellTale.starts_seen == [("e000", Boundary.SCENE), ("e000", boundary), ("e000", boundary)]


def test_chains_and_shares():
    episodes = make_benchmark().episodes
    whole = make_groups(episodes, {"e000", "e005"}, "never")
    assert [len(group.episodes) for group in whole] == [4] * 10
    assert [one.episode_id for one in whole[0].left] == ["e001", "e002", "e003"]
    assert len(make_groups(episodes, {f"e{k:03}" for k in range(4)}, "never")) == 9
    assert len(make_groups(episodes, {"e000"}, "episode")) == 39


def take_all(queue):
    shares = []
    while queue:
        shares.append([group.episodes[0].episode_id for group in queue.take()])
    return shares


def test_shares_are_of_one_scene_and_shrink():
    episodes = make_benchmark().episodes  # 10 scenes of 4
    queue = ShareQueue(make_groups(episodes, set(), "episode"), 1)
    shares = take_all(queue)
    assert [len(share) for share in shares] == [4] * 7 + [3, 1, 2, 2] + [1] * 4
    assert list(chain.from_iterable(shares)) == [one.episode_id for one in episodes]
    assert [len(share) for share in take_all(ShareQueue(make_groups(episodes, set(), "episode"), 2, 4))] == (
        [4] * 10
    )
    whole = take_all(ShareQueue(make_groups(episodes, {"e000"}, "never"), 2))
    assert [len(share) for share in whole] == [1] * 10  # a memory of a scene is never split


def test_what_a_dead_worker_leaves_is_given_out_again():
    groups = make_groups(make_benchmark().episodes[:6], set(), "episode")
    queue = ShareQueue(groups, 1)
    first = queue.take()
    assert [len(first), len(take_all(queue))] == [2, 4]
    queue.require_empty()
    queue.note_death("worker 1", [first[0].after(["e000"]), first[1]], {"e001"}, "a fire")
    with pytest.raises(CheckFailedError, match=r"every worker died \(worker 1: a fire \(e001\)\) with 1 ep"):
        queue.require_empty()
    assert take_all(queue) == [["e001"]] and not queue and queue.take() == []


def test_what_ran_when_an_agent_ended_its_worker_runs_again_alone():
    groups = make_groups(make_benchmark().episodes[:4], set(), "episode")
    queue = ShareQueue(groups, 1, 4)
    queue.note_suspects("worker 1", queue.take(), {"e001", "e002"}, "exit 3")
    assert queue.has_suspects
    assert [group.episodes[0].episode_id for group in queue.take(is_idle=False)] == ["e000", "e003"]
    assert queue and queue.take(is_idle=False) == [], "suspects are for idle workers"
    (first,), (second,) = queue.take(), queue.take()
    assert not queue and first.fatal == second.fatal == {}
    queue.note_suspects("worker 2", [first], {"e001"}, "exit 3")
    (again,) = queue.take()
    assert "twice in this episode: exit 3" in again.fatal["e001"]
    assert queue.deaths == ["worker 1: exit 3 (e001, e002)", "worker 2: exit 3 (e001)"]
    queue.note_suspects("worker 3", [second], {"e002"}, "exit 3")
    with pytest.raises(CheckFailedError, match="with 1 episodes left"):
        queue.require_empty()


@pytest.mark.parametrize(
    ("groups", "workers", "slots"), [(40, 1, 32), (7, 1, 7), (40, 2, 10), (1, 1, 1), (3, 2, 1), (1000, 2, 32)]
)
def test_workers_leave_something_to_share(groups, workers, slots):
    assert count_slots(groups, workers, 32) == slots


@pytest.mark.parametrize(("episodes", "workers"), [(0, 1), (49, 1), (99, 1), (100, 2), (10_000, 4)])
def test_agents_that_copy_cheaply_get_more_workers(episodes, workers):
    assert choose_workers(Declaration(worker_episodes=50), episodes, 4) == workers
    assert choose_workers(Declaration(), episodes, 4) == 1
    assert declare_agent("frontier").worker_episodes == 50


def test_times_stand_beside_the_results(tmp_path):
    evaluation = run(tmp_path, "Sleeper", batch_size=4)
    times = read_times(tmp_path)
    assert set(times) == {row.episode_id for row in evaluation.rows}
    assert times["e010"].agent > 0.05 / 4 > times["e011"].simulator
    assert evaluation.times["agent"] == pytest.approx(sum(one.agent for one in times.values()))
    table = pq.read_table(tmp_path / "times.parquet").to_pylist()
    assert [row["episode_id"] for row in table] == [row.episode_id for row in evaluation.rows]
    (tmp_path / "times-0.jsonl").write_bytes(
        b'{"episode_id":"e000","simulator":1.0,"agent":2.0,"output":0.5}\n{"ep'
    )
    again = run(tmp_path, "Sleeper")
    assert again.times == {"simulator": 1.0, "agent": 2.0, "output": 0.5}
    assert pq.read_table(tmp_path / "times.parquet").to_pylist()[1]["agent_seconds"] is None


@pytest.mark.parametrize("workers", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_costs_stand_beside_the_times_and_change_no_result(tmp_path, workers):
    evaluation = run(tmp_path / "spender", "Spender", batch_size=4, workers=workers)
    spent = {row.episode_id: row.steps for row in evaluation.rows}
    times = read_times(tmp_path / "spender")
    assert {name: one.costs for name, one in times.items()} == {k: {"coins": v} for k, v in spent.items()}
    assert evaluation.costs == {"coins": sum(spent.values())}
    table = pq.read_table(tmp_path / "spender" / "times.parquet").to_pylist()
    assert [row["coins"] for row in table] == [spent[row["episode_id"]] for row in table]
    plain = run(tmp_path / "plain", "Walker")
    assert plain.rows == evaluation.rows and plain.costs == {}
    assert b"costs" not in (tmp_path / "plain" / "times-0.jsonl").read_bytes()
    assert "coins" not in pq.read_table(tmp_path / "plain" / "times.parquet").column_names


def test_costs_that_are_no_numbers_are_told(tmp_path):
    with pytest.raises(InputError, match="Muddler' cannot be asked for its costs; it raised ValueError"):
        run(tmp_path, "Muddler")
