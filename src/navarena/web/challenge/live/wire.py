"""Messages of live submissions, version 1. docs/live_protocol.md describes them to participants.

    participant                 server
    Hello              ->
                       <-       Welcome
                       <-       Observe n
    Act n, or Failed n ->
                       <-       Observe n + 1
                       ...
                       <-       End m
    Done m             ->

Every message of the server after its welcome has a number and waits for one answer with the same number.
While an agent calibrates, Calibrate stands in the place of Observe, and the last of them is answered by
Adapted. A participant whose connection broke says in its next Hello which session it had and what it answered
last, and the stream goes on from there.
"""

from typing import Annotated

import msgspec

from navarena.web.streaming import PackedArray, StreamError, decode_frame

VERSION = 1
"""Of the messages."""

MAX_ANSWER = 2**20
"""Bytes of a frame from a participant: the actions of 4,096 slots fill 40 kB."""

MAX_QUESTION = 2**28
"""Bytes of a frame from the server."""

BUSY, SECOND_STREAM = "busy", "second_stream"
"""Codes of refusals that pass: no worker is free; the server has not noticed yet that a connection broke."""

MAX_SLOTS = 4096
MAX_NAMES = 256
MAX_TEXT = 20_000

Name = Annotated[str, msgspec.Meta(max_length=200)]
Names = Annotated[tuple[Name, ...], msgspec.Meta(max_length=MAX_NAMES)]
Number = Annotated[int, msgspec.Meta(ge=0, le=2**53)]
Command = Annotated[list[float], msgspec.Meta(max_length=64)]
"""One number within [-1, 1] for each action of a continuous protocol."""


class _Message(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, tag_field="type"):
    """Base of messages: a type field; unknown fields are refused."""


class Hello(_Message, frozen=True, kw_only=True, tag="hello"):
    """The first message of a connection, from the participant.

    Attributes:
        version: of the messages.
        token: that the participant got when the submission was made; nothing behind the server sees it.
        agent: its name, for the results.
        sensors: what it observes, of what the track allows; empty for nothing.
        calibration_sensors: what it observes while it adapts; None for `sensors`.
        codecs: that it can unpack, see navarena.web.streaming.
        session: that it had before its connection broke; empty for an agent that has seen nothing yet.
        answered: number of the last message that it answered in it; -1 for none.
        privileged_inputs, trained_with: as of an agent.
    """

    version: int
    token: Annotated[str, msgspec.Meta(max_length=400)] = ""
    agent: Name = "agent"
    sensors: Names = ()
    calibration_sensors: Names | None = None
    codecs: Names = ("none",)
    session: Annotated[str, msgspec.Meta(max_length=64)] = ""
    answered: Annotated[int, msgspec.Meta(ge=-1, le=2**53)] = -1
    privileged_inputs: Names = ()
    trained_with: Names = ()


class Welcome(_Message, frozen=True, kw_only=True, tag="welcome"):
    """The answer to a Hello.

    Attributes:
        session: name of the stream, for a later Hello.
        resumed: whether the agent goes on where it was; else it begins afresh.
        awaited: number of the question that waits for an answer; -1 for none. A participant that had answered
            it sends that answer again.
        protocol: whose rules hold.
        actions: names; an action is an index into them.
        is_continuous: whether an action is a number within [-1, 1] for each of `actions` instead.
        sensors: that are streamed.
        max_steps: of an episode.
        slots: most environments side by side.
        seed: of the agent's random streams.
        step_seconds: wall-clock seconds for an answer; None without a limit.
        episode_seconds: likewise for an episode, as of `navarena evaluate --episode-seconds`.
        grace_seconds: for which the server waits for a broken connection.
    """

    session: str
    resumed: bool
    awaited: Annotated[int, msgspec.Meta(ge=-1, le=2**53)]
    protocol: Name
    actions: Names
    is_continuous: bool
    sensors: Names
    max_steps: Number
    slots: Number
    seed: Number
    step_seconds: float | None
    episode_seconds: float | None
    grace_seconds: float


class StreamStart(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The start of an episode or sub-task in a slot; see navarena.agents.Start.

    Attributes:
        slot: of the batch.
        boundary: 0 sub-task, 1 episode, 2 tour, 3 scene: which memory the agent must drop.
        episode, scene: opaque keys for the agent's own memory and random streams. That of the scene is a new
            one after every boundary 3, and neither can be traced to an id.
    """

    slot: Annotated[int, msgspec.Meta(ge=0, lt=MAX_SLOTS)]
    boundary: Annotated[int, msgspec.Meta(ge=0, le=3)]
    episode: Name
    scene: Name


class Observe(_Message, frozen=True, kw_only=True, tag="observe"):
    """Observations for the agent, which answers with Act or Failed.

    Attributes:
        number: of the message.
        fresh: whether the agent must be made anew: it forgets everything first.
        starts: what began since the last message, in order: each list is one call of `reset`.
        active: of each slot, whether an episode runs in it, oracle phases included.
        observations: name -> one row for each active slot, in order.
        finished, episodes: how many are done, of how many.
    """

    number: Number
    fresh: bool
    starts: tuple[tuple[StreamStart, ...], ...]
    active: Annotated[tuple[bool, ...], msgspec.Meta(max_length=MAX_SLOTS)]
    observations: dict[Name, PackedArray]
    finished: Number
    episodes: Number


class StreamSpec(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Shape (without the slots), dtype, bounds and unit of an observation."""

    shape: tuple[int, ...]
    dtype: Name
    low: float
    high: float
    unit: Name


class Calibrate(_Message, frozen=True, kw_only=True, tag="calibrate"):
    """A step of calibration, without any reward; the agent answers with Act, or with Adapted when it is done.

    Attributes:
        number: of the message.
        specs: name -> of each observation; empty but in the first message.
        ended: of each slot, whether a new episode has begun in it.
        scenes: of each slot, an opaque key of the scene it is in.
        steps_left: of the budget; a step of all slots takes as many.
        observations: name -> one row for each slot.
    """

    number: Number
    specs: dict[Name, StreamSpec]
    ended: Annotated[tuple[bool, ...], msgspec.Meta(max_length=MAX_SLOTS)]
    scenes: Names
    steps_left: Number
    observations: dict[Name, PackedArray]


class End(_Message, frozen=True, kw_only=True, tag="end"):
    """The last message of a submission: every episode is done; the server's pages show the scores."""

    number: Number
    episodes: Number


class Refusal(_Message, frozen=True, kw_only=True, tag="refusal"):
    """Reason why the server ends a connection; `code` is one of those in docs/live_protocol.md."""

    code: Name
    text: str


class Act(_Message, frozen=True, kw_only=True, tag="act"):
    """An action for each slot; those of slots in which none is running are ignored."""

    number: Number
    actions: Annotated[tuple[int | Command, ...], msgspec.Meta(max_length=MAX_SLOTS)]


class Adapted(_Message, frozen=True, kw_only=True, tag="adapted"):
    """The agent has calibrated."""

    number: Number


class Failed(_Message, frozen=True, kw_only=True, tag="failed"):
    """The agent raised an exception; it will be made anew.

    Attributes:
        number: of the message that it answers.
        is_illegal: whether what it chose was no action, rather than an exception of its own.
        text: the traceback.
    """

    number: Number
    is_illegal: bool
    text: Annotated[str, msgspec.Meta(max_length=MAX_TEXT)]


class Done(_Message, frozen=True, kw_only=True, tag="done"):
    """The participant has seen the end."""

    number: Number


Question = Observe | Calibrate | End
"""What waits for an answer."""

Answer = Act | Adapted | Failed | Done

FromServer = Welcome | Question | Refusal
FromParticipant = Hello | Answer


class _Version(msgspec.Struct):
    type: str = ""
    version: int | None = None


def encode(message: FromServer | FromParticipant) -> bytes:
    """The frame of a message."""
    return msgspec.msgpack.encode(message)


def decode_question(frame: bytes) -> Welcome | Question | Refusal:
    """Decode a message of the server; raises StreamError."""
    message: Welcome | Question | Refusal = decode_frame(frame, FromServer, MAX_QUESTION)
    return message


def decode_answer(frame: bytes) -> Answer:
    """Decode an answer of a participant; raises StreamError."""
    message: Answer = decode_frame(frame, Answer, MAX_ANSWER)
    return message


def decode_hello(frame: bytes) -> Hello:
    """The first message of a participant; raises StreamError("version") for one of another version."""
    peek: _Version = decode_frame(frame, _Version, MAX_ANSWER)
    if peek.type == "hello" and peek.version != VERSION:
        raise StreamError(
            "version",
            f"expected messages of version {VERSION}, got {peek.version}; install the version of navarena "
            "that the challenge names",
        )
    message: Hello = decode_frame(frame, Hello, MAX_ANSWER)
    return message


def refuse(error: StreamError) -> Refusal:
    """The refusal message for `error`."""
    return Refusal(code=error.code, text=error.text)
