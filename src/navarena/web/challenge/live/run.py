"""A live submission on the server's side: the evaluation's own runner, with the participant as its agent."""

import contextlib
import socket
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Literal

import msgspec

from navarena.agents.agent import Agent
from navarena.agents.declaration import Declaration
from navarena.core.errors import AgentUnreachableError
from navarena.core.files import DAMAGE, write_atomic
from navarena.evaluation.benchmark import Benchmark, TaskSetup, open_benchmark
from navarena.evaluation.records.journal import Row, encode_rows, journal_path, journal_paths, parse_journal
from navarena.evaluation.records.record import hash_record, make_record, write_record
from navarena.evaluation.records.results import Summary
from navarena.evaluation.records.times import EpisodeTimes, times_paths
from navarena.evaluation.running.live import Tail
from navarena.evaluation.running.runner import Evaluation, open_run
from navarena.evaluation.settings import EvaluationSettings
from navarena.tasks.catalog import get_task
from navarena.tasks.sensors.catalog import shows_no_more
from navarena.web.challenge.live.agent import LiveAgent, Progress, StreamRules
from navarena.web.challenge.live.channel import Channel, RestartedParticipantError, StreamEndedError
from navarena.web.challenge.live.hidden import make_hidden_episodes
from navarena.web.challenge.live.wire import Done, End, Hello, Welcome
from navarena.web.challenge.settings import Phase, Track
from navarena.web.challenge.storage.jobs import LeaseLostError
from navarena.web.streaming import StreamError, choose_codec

SLOTS = 16
"""Environments side by side, unless a phase has fewer episodes."""

END_SECONDS = 30.0
"""In which a participant confirms that it has seen the end; nothing depends on it."""

INTERNAL = "the server cannot go on with this submission; its hosts find out why in its log"
"""All that a participant is told of an error that is not its own."""


OnRow = Callable[[int, int, Row, float | None], object]
"""Called with part, position of the episode in it, row, and the seconds that the participant took."""


@dataclass(frozen=True, repr=False)
class LiveOrder:
    """A live submission to run.

    Attributes:
        challenge: its slug.
        phase, track: that it was made to.
        seed: of hidden episodes; None where everybody has them. It has no place in any text.
        agent: its name.
        folder: where the runs of its parts are kept, and found again.
        secret: of the submission, for the opaque keys of its episodes.
        slots: environments side by side.
        ends: time (of time.time) at which its wall-clock is over; None for no limit.
        done: rows of each part that are stored elsewhere, for a folder that has lost them; or nothing.
    """

    challenge: str
    phase: Phase
    track: Track
    seed: int | None
    agent: str
    folder: Path
    secret: bytes
    slots: int = SLOTS
    ends: float | None = None
    done: tuple[tuple[Row, ...], ...] = ()

    def part_folder(self, part: int) -> Path:
        """Folder of the run of one part."""
        return self.folder / f"part-{part}"


@dataclass(frozen=True)
class LiveOutcome:
    """Outcome of a live submission, or the reason why it waits.

    Attributes:
        state: "finished"; "left" when the participant went away, so that it may come back later; "refused"
            when it may not go on.
        summaries: of the parts, when it is finished.
        seconds: "simulator", "agent" and "output" -> of all episodes together.
        code, text: why it was refused.
    """

    state: Literal["finished", "left", "refused"]
    summaries: tuple[Summary, ...] = ()
    seconds: Mapping[str, float] = field(default_factory=dict, hash=False)
    code: str = ""
    text: str = ""


def run_live(
    order: LiveOrder,
    listener: socket.socket,
    key: bytes,
    on_row: OnRow = lambda part, position, row, seconds: None,
    on_begin: Callable[[int], object] = lambda episodes: None,
) -> LiveOutcome:
    """Run a submission until its end, or until its participant has gone.

    Args:
        order: what to run; finished episodes in its folder are not run again.
        listener: a listening socket, to which the server connects for the participant.
        key: that the server shows when it connects.
        on_row: called when an episode is on the disk, also for those that were there.
        on_begin: called with the number of all episodes, before the first one.

    Raises whatever is wrong on the server's side, after the participant was told that something is.
    """
    channel = Channel(listener, key, partial(_welcome, order), order.phase.grace_seconds, order.ends)
    try:
        while True:
            try:
                evaluations = _run_parts(order, channel, channel.wait(), on_row, on_begin)
                seconds = Counter[str]()
                for one in evaluations:
                    seconds.update(one.times)
                return LiveOutcome("finished", tuple(one.summary for one in evaluations), dict(seconds))
            except RestartedParticipantError:
                continue
    except StreamEndedError as error:
        channel.tell(error.error)
        return LiveOutcome("refused", code=error.error.code, text=error.error.text)
    except AgentUnreachableError:
        return LiveOutcome("left")
    except StreamError as error:
        channel.tell(error)
        return LiveOutcome("refused", code=error.code, text=error.text)
    except LeaseLostError:  # the participant finds the worker that goes on
        raise
    except Exception:
        channel.tell(StreamError("internal", INTERNAL))
        raise
    finally:
        channel.close()


def _run_parts(
    order: LiveOrder,
    channel: Channel,
    hello: Hello,
    on_row: OnRow,
    on_begin: Callable[[int], object],
) -> tuple[Evaluation, ...]:
    """Run all parts with one participant; raises AgentUnreachableError when it is gone."""
    progress = Progress(0, 0)
    rules = StreamRules(choose_codec(hello.codecs), order.phase.step_seconds, order.secret, progress)
    benchmarks = [open_part(order, part, hello) for part in range(len(order.phase.parts))]
    progress.episodes = sum(len(one.episodes) for one in benchmarks)
    on_begin(progress.episodes)
    evaluations = []
    for part, benchmark in enumerate(benchmarks):
        evaluations.append(_run_part(order, part, benchmark, channel, hello, rules, on_row))
    channel.close_with(lambda number: End(number=number, episodes=progress.episodes), Done, END_SECONDS)
    return tuple(evaluations)


def _run_part(
    order: LiveOrder,
    part: int,
    benchmark: Benchmark,
    channel: Channel,
    hello: Hello,
    rules: StreamRules,
    on_row: OnRow,
) -> Evaluation:
    """Run one part with the evaluation's runner."""
    folder, tail = order.part_folder(part), Tail()
    positions = {one.episode_id: position for position, one in enumerate(benchmark.episodes)}
    seconds: dict[str, float] = {}

    def tell_rows() -> None:
        for line in tail.read(times_paths(folder)):
            with contextlib.suppress(*DAMAGE):
                times = msgspec.json.decode(line, type=EpisodeTimes)
                seconds[times.episode_id] = times.agent
        for path in journal_paths(folder):
            lines = tail.read([path])
            for row in parse_journal(path, b"".join(line + b"\n" for line in lines)).rows:
                rules.progress.finished += 1
                on_row(part, positions[row.episode_id], row, seconds.get(row.episode_id))

    def make_agent() -> Agent:
        columns = len(benchmark.actions) if benchmark.is_continuous else None
        return LiveAgent(channel, rules, hello.sensors, hello.calibration_sensors, columns)

    assert isinstance(benchmark.setup, TaskSetup)
    live = replace(benchmark, setup=replace(benchmark.setup, agent=make_agent), is_bound=True)
    settings = replace(live_settings(order, part), out=folder)
    if order.done and order.done[part] and not journal_paths(folder):
        folder.mkdir(parents=True, exist_ok=True)
        record = make_record(settings, live, command=())
        write_record(folder, record)
        write_atomic(journal_path(folder, 0), encode_rows(order.done[part], hash_record(record)))
    tell_rows()
    with open_run(settings, live, command=()) as run:
        return run.finish(tell_rows)


def open_part(order: LiveOrder, part: int, hello: Hello) -> Benchmark:
    """The benchmark of one part, with the declaration of the participant's agent."""
    given = None
    if order.seed is not None:
        given = make_hidden_episodes(order.challenge, order.phase, order.phase.parts[part], order.seed)
    declared = Declaration(
        bool(hello.privileged_inputs), hello.privileged_inputs, hello.trained_with, hello.sensors
    )
    return open_benchmark(live_settings(order, part), declared=declared, given=given)


def live_settings(order: LiveOrder, part: int) -> EvaluationSettings:
    """Evaluation settings of one part of a submission."""
    return replace(
        order.phase.evaluation(order.phase.parts[part]),
        agent=order.agent,
        batch_size=order.slots,
        calibration_steps=order.phase.calibration_steps,
    )


def _welcome(order: LiveOrder, hello: Hello, session: str, resumed: bool, awaited: int) -> Welcome:
    """The answer to `hello`; raises StreamError for what its track does not allow."""
    choose_codec(hello.codecs)
    task = get_task(order.phase.protocol)
    named = order.track.sensors or task.sensors
    allowed = [name for name in named if order.track.privileged or shows_no_more(task, name)]
    asked = dict.fromkeys((*hello.sensors, *(hello.calibration_sensors or ())))
    if beyond := [name for name in asked if name not in allowed]:
        raise StreamError(
            "sensor",
            f"expected sensors of the track {order.track.name!r} ({', '.join(allowed)}), got "
            f"{', '.join(beyond)}; submit to another track, or leave them out",
        )
    if hello.privileged_inputs and not order.track.privileged:
        raise StreamError(
            "privileged",
            f"expected an agent that only observes on the track {order.track.name!r}, got one that uses "
            f"{', '.join(hello.privileged_inputs)}",
        )
    if hello.agent != order.agent:
        raise StreamError("agent", f"expected the agent {order.agent!r} of this submission, got another one")
    return Welcome(
        session=session,
        resumed=resumed,
        awaited=awaited,
        protocol=order.phase.protocol,
        actions=task.actions,
        is_continuous=task.is_continuous,
        sensors=hello.sensors,
        max_steps=task.max_steps,
        slots=order.slots,
        seed=0,
        step_seconds=order.phase.step_seconds,
        episode_seconds=order.phase.episode_seconds,
        grace_seconds=order.phase.grace_seconds,
    )
