"""Live submissions: the evaluation's runner here, the agent over there."""

import contextlib
import socket
import time

import pytest

pytest.importorskip("starlette", reason="needs navarena[server]")

from navarena.core.errors import AgentUnreachableError, InputError
from navarena.evaluation import EvaluationSettings, evaluate
from navarena.evaluation.records.journal import read_rows
from navarena.web.challenge.live import wire
from navarena.web.challenge.live.participant import Participant, submit_live
from navarena.web.challenge.live.stream import LiveStream
from navarena.web.challenge.settings import Track
from web.challenge.live_world import PROTOCOL, TOKEN, LiveServer, LiveThread, Marcher, make_order

pytestmark = pytest.mark.server
WORLD = "web.challenge.live_world"
FOLLOWER = f"{WORLD}:GoalFollower"


@pytest.fixture(scope="module")
def server():
    server = LiveServer()
    yield server
    server.stop()


@pytest.fixture(scope="module")
def local(tmp_path_factory):
    """The same episodes, evaluated here."""
    return evaluate_here(tmp_path_factory.mktemp("local"), FOLLOWER)


def evaluate_here(folder, agent, protocol=PROTOCOL, **others):
    settings = EvaluationSettings(protocol, agent, "mini", out=folder, **({"episodes": 4} | others))
    return evaluate(settings)


def sort_rows(run):
    return tuple(sorted((row for _, row in run.rows), key=lambda row: (row.scene_id, row.episode_id)))


class FragileStream(LiveStream):
    """Loses its connection before or after the answers with these numbers."""

    def __init__(self, address, hello, before=(), after=()):
        self.notices = []
        super().__init__(address, hello, self.notices.append)
        self._before, self._after = set(before), set(after)

    def answer(self, answer):
        if answer.number in self._before:
            self._before.discard(answer.number)
            self.cut()
        super().answer(answer)
        if answer.number in self._after:
            self._after.discard(answer.number)
            self.cut()

    def cut(self):
        with contextlib.suppress(OSError):  # it has noticed that the server had closed it
            self._socket.socket.shutdown(socket.SHUT_RDWR)


def test_live_run_equals_local_one(server, local, tmp_path) -> None:
    run = LiveThread(make_order(tmp_path / "live"))
    server.worker = run.address
    seen = []
    end = submit_live(server.address, TOKEN, FOLLOWER, PROTOCOL, lambda *done: seen.append(done))
    outcome = run.wait()
    assert end.episodes == 4 and seen[0] == (0, 4) and outcome.state == "finished"
    assert outcome.summaries[0].metrics == local.summary.metrics
    assert sort_rows(run) == local.rows
    assert outcome.seconds["agent"] > 0


def test_instructions_are_streamed_as_they_are_here(server, tmp_path) -> None:
    reader, protocol = f"{WORLD}:Reader", "r2r-ce-v1"
    track, phase = Track(name="words", sensors=("instruction",)), {"protocol": protocol}
    run = LiveThread(make_order(tmp_path / "live", agent=reader, track=track, phase=phase))
    server.worker = run.address
    submit_live(server.address, TOKEN, reader, protocol)
    run.wait()
    rows = sort_rows(run)
    assert rows == evaluate_here(tmp_path / "local", reader, protocol).rows
    assert all(row.status == "ok" and len(row.actions) > 1 for row in rows)


@pytest.mark.parametrize("name", ["Stumbler", "Lawless"])
def test_failures_of_the_agent_are_rows_as_they_are_locally(name, server, tmp_path) -> None:
    run = LiveThread(make_order(tmp_path / "live", agent=f"{WORLD}:{name}"))
    server.worker = run.address
    submit_live(server.address, TOKEN, f"{WORLD}:{name}", PROTOCOL)
    run.wait()
    here = evaluate_here(tmp_path / "local", f"{WORLD}:{name}")
    found = [(row.episode_id, row.status, row.actions, row.metrics) for row in sort_rows(run)]
    assert found == [(row.episode_id, row.status, row.actions, row.metrics) for row in here.rows]
    broken = [row for row in sort_rows(run) if row.failed]
    assert 0 < len(broken) < 4
    assert ("stumbled" if name == "Stumbler" else "expected an action") in broken[0].traceback


def test_a_broken_connection_goes_on_where_it_was(server, local, tmp_path) -> None:
    run = LiveThread(make_order(tmp_path / "live"))
    server.worker = run.address
    participant = Participant(FOLLOWER, PROTOCOL)
    stream = FragileStream(server.address, participant.hello(TOKEN), before=(0, 7, 8), after=(3, 8, 20))
    participant.take_part(stream)
    assert run.wait().state == "finished"
    assert sort_rows(run) == local.rows
    assert stream.notices.count("the connection is back") >= 5  # the one after answer 8 was cut twice


def test_a_lost_participant_loses_no_finished_episode(server, local, tmp_path) -> None:
    order = make_order(tmp_path / "live", slots=1, phase={"grace_seconds": 2.0})
    run = LiveThread(order)
    server.worker = run.address

    class Leaver(FragileStream):
        def next(self):
            message = super().next()
            if getattr(message, "finished", 0) == 2:
                self.cut()
                raise KeyboardInterrupt
            return message

    participant = Participant(FOLLOWER, PROTOCOL)
    with pytest.raises(KeyboardInterrupt):
        participant.take_part(Leaver(server.address, participant.hello(TOKEN)))
    assert run.wait().state == "left"
    assert len(read_rows(order.part_folder(0))) == 2
    again = LiveThread(order)
    server.worker = again.address
    finished = []
    submit_live(server.address, TOKEN, FOLLOWER, PROTOCOL, lambda done, all: finished.append(done))
    assert again.wait().state == "finished" and finished[0] == 2
    assert sort_rows(again) == local.rows


def test_a_participant_that_was_killed_begins_anew(server, local, tmp_path) -> None:
    run = LiveThread(make_order(tmp_path / "live"))
    server.worker = run.address
    participant = Participant(FOLLOWER, PROTOCOL)
    stream = LiveStream(server.address, participant.hello(TOKEN))
    stream.open()
    stream.answer(participant._observe(stream.next(), stream.welcome))
    stream.next()
    stream.close()
    submit_live(server.address, TOKEN, FOLLOWER, PROTOCOL)
    assert run.wait().state == "finished"
    assert sort_rows(run) == local.rows


def test_an_episode_is_not_seen_three_times(server, tmp_path) -> None:
    """Whoever leaves when an episode goes badly gets one more try, and then a failure."""
    run = LiveThread(make_order(tmp_path / "live", slots=1, phase={"episodes": 1}))
    server.worker = run.address
    participant = Participant(FOLLOWER, PROTOCOL)
    for _ in range(2):
        stream = LiveStream(server.address, participant.hello(TOKEN))
        stream.open()
        stream.answer(participant._observe(stream.next(), stream.welcome))
        stream.next()
        stream.close()
    submit_live(server.address, TOKEN, FOLLOWER, PROTOCOL)
    run.wait()
    (row,) = sort_rows(run)
    assert row.status == "crashed" and row.metrics["success"] == 0


def test_steps_have_a_time(server, tmp_path) -> None:
    class Sleeper(Participant):
        def _observe(self, message, welcome):
            if message.number == 3:
                time.sleep(5.0)
            return super()._observe(message, welcome)

    run = LiveThread(make_order(tmp_path / "live", slots=1, phase={"episodes": 2, "step_seconds": 4.0}))
    server.worker = run.address
    participant = Sleeper(FOLLOWER, PROTOCOL)
    participant.take_part(LiveStream(server.address, participant.hello(TOKEN)))
    run.wait()
    assert sorted(row.status for row in sort_rows(run)) == ["ok", "timed_out"]


def test_episodes_have_a_time(server, tmp_path) -> None:
    class Sleeper(Participant):
        def _observe(self, message, welcome):
            time.sleep(0.05)
            return super()._observe(message, welcome)

    run = LiveThread(make_order(tmp_path / "live", phase={"episodes": 2, "episode_seconds": 0.1}))
    server.worker = run.address
    participant = Sleeper(FOLLOWER, PROTOCOL)
    participant.take_part(LiveStream(server.address, participant.hello(TOKEN)))
    run.wait()
    assert {row.status for row in sort_rows(run)} == {"timed_out"}


def test_submissions_have_a_time(server, tmp_path) -> None:
    run = LiveThread(make_order(tmp_path / "live", ends=time.time() + 4.0))
    server.worker = run.address

    class Sleeper(Participant):
        def _observe(self, message, welcome):
            time.sleep(0.5)
            return super()._observe(message, welcome)

    participant = Sleeper(FOLLOWER, PROTOCOL)
    with pytest.raises(InputError, match="used up"):
        participant.take_part(LiveStream(server.address, participant.hello(TOKEN)))
    assert (run.wait().state, run.outcome.code) == ("refused", "wall_clock")


def test_a_server_that_is_gone_is_said(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr("navarena.web.challenge.live.stream.CONNECT_SECONDS", 0.5)
    with pytest.raises(AgentUnreachableError, match="give the same command again"):
        submit_live("ws://127.0.0.1:9/live", TOKEN, FOLLOWER, PROTOCOL)
    with pytest.raises(InputError, match="address of a submission"):
        submit_live("http://127.0.0.1:9", TOKEN, FOLLOWER, PROTOCOL)


def test_agents_that_look_behind_observations_stay_at_home() -> None:
    with pytest.raises(InputError, match="only observes"):
        Participant("expert", PROTOCOL)


TOURS = "ir2r-ce-v1"
MARCHER = f"{WORLD}:Marcher"
GPS = Track(name="gps", sensors=("gps", "odometry", "depth"))


@pytest.fixture(scope="module")
def toured(tmp_path_factory):
    """(rows, agent) of the first six episodes of tours, evaluated here."""
    Marcher.made.clear()
    folder = tmp_path_factory.mktemp("tours")
    here = evaluate_here(folder, MARCHER, TOURS, episodes=6, batch_size=1)
    return here.rows, Marcher.made[-1]


def test_boundaries_and_oracle_phases_are_streamed(server, toured, tmp_path) -> None:
    rows, here = toured
    assert any(row.tour.oracle_goal + row.tour.oracle_start for row in rows), "an oracle has led"
    assert len({boundary for _, boundary in here.boundaries}) == 2
    phase = {"protocol": TOURS, "episodes": 6}
    order = make_order(tmp_path / "live", agent=MARCHER, slots=1, track=GPS, phase=phase)
    run = LiveThread(order)
    server.worker = run.address
    Marcher.made.clear()
    submit_live(server.address, TOKEN, MARCHER, TOURS)
    assert run.wait().summaries[0].tours is not None
    assert sort_rows(run) == rows
    (there,) = Marcher.made
    assert there.boundaries == here.boundaries
    assert there.acted == here.acted, "it watches what the oracle does"


def test_a_broken_tour_begins_again_as_a_group(server, toured, tmp_path) -> None:
    rows, _ = toured
    phase = {"protocol": TOURS, "episodes": 6, "grace_seconds": 2.0}
    order = make_order(tmp_path / "live", agent=MARCHER, slots=1, track=GPS, phase=phase)
    run = LiveThread(order)
    server.worker = run.address

    class Leaver(FragileStream):
        def next(self):
            message = super().next()
            if getattr(message, "finished", 0) == 2 and len(message.starts):
                self.cut()
                raise KeyboardInterrupt
            return message

    participant = Participant(MARCHER, TOURS)
    with pytest.raises(KeyboardInterrupt):
        participant.take_part(Leaver(server.address, participant.hello(TOKEN)))
    assert run.wait().state == "left"
    kept = read_rows(order.part_folder(0))
    assert len(kept) == 2
    tour = kept[0].tour.tour_id
    assert tour in {row.tour.tour_id for row in rows if row not in kept}, "in the middle of a tour"
    again = LiveThread(order)
    server.worker = again.address
    Marcher.made.clear()
    submit_live(server.address, TOKEN, MARCHER, TOURS)
    assert again.wait().state == "finished"
    assert sort_rows(again) == rows
    begun = [len(agent.boundaries) for agent in Marcher.made]
    assert sum(begun) >= 6, "the finished episodes were led through again, for the agent's memory"


def test_calibration_is_served_without_reward(server, dungeon_folder, tmp_path) -> None:
    learner, mesh = "evaluation.test_calibration:Learner", str(dungeon_folder / "dungeon.obj")
    fixed = {"protocol": "pointnav-v1", "datasets": (mesh,), "corruptions": ("motion_bias_constant",)}
    phase = {**fixed, "calibration_steps": 320}
    run = LiveThread(make_order(tmp_path / "live", agent=learner, track=GPS, phase=phase))
    server.worker = run.address
    participant = Participant(learner, "pointnav-v1")
    stream = FragileStream(server.address, participant.hello(TOKEN), before=(2,), after=(5, 20))
    frames = []
    keep(stream, frames)
    participant.take_part(stream)
    run.wait()
    here = evaluate(
        EvaluationSettings(
            "pointnav-v1",
            learner,
            dataset=mesh,
            episodes=4,
            corrupt=("motion_bias_constant",),
            calibration_steps=320,
            out=tmp_path / "local",
        )
    )
    assert sort_rows(run) == here.rows
    steps = [one for one in frames if isinstance(one, wire.Calibrate)]
    assert [one.steps_left for one in steps] == list(range(320, -1, -16))
    assert {name for one in steps for name in one.observations} == {"odometry"}


def keep(stream, frames) -> None:
    """Note what comes from the server, too."""
    following = stream.next

    def next_and_note():
        frames.append(following())
        return frames[-1]

    stream.next = next_and_note


def test_agents_that_cannot_adapt_are_told(server, tmp_path) -> None:
    run = LiveThread(make_order(tmp_path / "live", phase={"calibration_steps": 320}))
    server.worker = run.address
    with pytest.raises(InputError, match="calibration came to no end.*expected an agent that adapts"):
        submit_live(server.address, TOKEN, FOLLOWER, PROTOCOL)
    assert (run.wait().state, run.outcome.code) == ("refused", "calibration")


def test_a_folder_that_was_lost_is_made_anew_from_what_is_stored(server, local, tmp_path) -> None:
    """A worker on another machine goes on with the rows of the database."""
    order = make_order(tmp_path / "live", done=(local.rows[:3],))
    run = LiveThread(order)
    server.worker = run.address
    finished = []
    submit_live(server.address, TOKEN, FOLLOWER, PROTOCOL, lambda done, all: finished.append(done))
    run.wait()
    assert finished[0] == 3
    assert {row.episode_id for _, row in run.rows} == {row.episode_id for row in local.rows}
    assert len(read_rows(order.part_folder(0))) == 4
