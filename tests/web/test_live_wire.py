"""Messages and numbers of live streams: what is allowed, and one refusal for everything else."""

import math

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from navarena.agents import Boundary, Start
from navarena.web.challenge.live import wire
from navarena.web.challenge.live.agent import StartMask
from navarena.web.challenge.live.channel import Numbers
from navarena.web.streaming import StreamError, pack_array

NUMBERS = st.integers(0, 2**53)
NAMES = st.lists(st.text(max_size=8), max_size=4).map(tuple)
STARTS = st.builds(
    wire.StreamStart,
    slot=st.integers(0, wire.MAX_SLOTS - 1),
    boundary=st.integers(0, 3),
    episode=st.text(max_size=30),
    scene=st.text(max_size=30),
)
ARRAYS = st.dictionaries(
    st.text(max_size=8), st.just(pack_array(np.arange(6, dtype=np.float32).reshape(2, 3))), max_size=2
)
ANSWERS = st.one_of(
    st.builds(wire.Act, number=NUMBERS, actions=st.lists(st.integers(-(2**63), 2**64 - 1)).map(tuple)),
    st.builds(
        wire.Act,
        number=NUMBERS,
        actions=st.lists(st.lists(st.floats(allow_nan=False), max_size=3), max_size=4).map(tuple),
    ),
    st.builds(wire.Adapted, number=NUMBERS),
    st.builds(wire.Failed, number=NUMBERS, is_illegal=st.booleans(), text=st.text(max_size=99)),
    st.builds(wire.Done, number=NUMBERS),
)
QUESTIONS = st.one_of(
    st.builds(
        wire.Observe,
        number=NUMBERS,
        fresh=st.booleans(),
        starts=st.lists(st.lists(STARTS, max_size=2).map(tuple), max_size=2).map(tuple),
        active=st.lists(st.booleans(), max_size=4).map(tuple),
        observations=ARRAYS,
        finished=NUMBERS,
        episodes=NUMBERS,
    ),
    st.builds(
        wire.Calibrate,
        number=NUMBERS,
        specs=st.just({}),
        ended=st.lists(st.booleans(), max_size=4).map(tuple),
        scenes=NAMES,
        steps_left=NUMBERS,
        observations=ARRAYS,
    ),
    st.builds(wire.End, number=NUMBERS, episodes=NUMBERS),
    st.builds(wire.Refusal, code=st.text(max_size=20), text=st.text(max_size=99)),
)
HELLOS = st.builds(
    wire.Hello,
    version=st.just(wire.VERSION),
    token=st.text(max_size=40),
    agent=st.text(max_size=40),
    sensors=NAMES,
    session=st.text(max_size=16),
    answered=st.integers(-1, 2**53),
)


@given(message=ANSWERS)
def test_answers_come_back(message) -> None:
    assert wire.decode_answer(wire.encode(message)) == message


@given(message=QUESTIONS)
def test_questions_come_back(message) -> None:
    assert wire.decode_question(wire.encode(message)) == message


@given(message=HELLOS)
def test_hellos_come_back(message) -> None:
    assert wire.decode_hello(wire.encode(message)) == message


def read_or_refuse(decode, frame) -> None:
    try:
        decode(frame)
    except StreamError as error:
        assert error.code in ("frame", "frame_size", "version")


@given(frame=st.binary(max_size=300))
def test_any_bytes_are_read_or_refused(frame) -> None:
    for decode in (wire.decode_answer, wire.decode_question, wire.decode_hello):
        read_or_refuse(decode, frame)


@given(
    message=st.one_of(ANSWERS, HELLOS, QUESTIONS),
    place=st.floats(0, 1, exclude_max=True),
    change=st.binary(max_size=4),
    taken=st.integers(0, 8),
)
def test_mutants_are_read_or_refused(message, place, change, taken) -> None:
    frame = wire.encode(message)
    begin = int(place * len(frame))
    mutant = frame[:begin] + change + frame[begin + taken :]
    for decode in (wire.decode_answer, wire.decode_question, wire.decode_hello):
        read_or_refuse(decode, mutant)


JUNK = st.recursive(
    st.one_of(
        st.none(), st.booleans(), st.integers(-(2**63), 2**64 - 1), st.floats(), st.text(), st.binary()
    ),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)


@given(kind=st.sampled_from(["act", "hello", "done", "failed", "adapted", "observe", "x"]), rest=JUNK)
def test_messages_with_other_fields_are_read_or_refused(kind, rest) -> None:
    fields = rest if isinstance(rest, dict) else {"number": rest, "actions": rest, "version": rest}
    for decode in (wire.decode_answer, wire.decode_hello):
        read_or_refuse(decode, msgspec.msgpack.encode({"type": kind, **fields}))


@pytest.mark.parametrize(
    ("frame", "code"),
    [
        ({"type": "act", "number": 1, "actions": [1], "more": 1}, "frame"),
        ({"type": "act", "number": -1, "actions": [1]}, "frame"),
        ({"type": "act", "number": 1.5, "actions": [1]}, "frame"),
        ({"type": "act", "number": 1, "actions": ["stop"]}, "frame"),
        ({"type": "act", "number": 1, "actions": [1] * (wire.MAX_SLOTS + 1)}, "frame"),
        ({"type": "act", "number": 1, "actions": [[0.0] * 65]}, "frame"),
        ({"type": "act", "actions": [1]}, "frame"),
        ({"type": "failed", "number": 1, "is_illegal": False, "text": "x" * 20_001}, "frame"),
        ({"type": "observe", "number": 1}, "frame"),
        ({"number": 1}, "frame"),
        ([1, 2], "frame"),
        ({"type": "failed", "number": 1, "is_illegal": False, "text": "x" * wire.MAX_ANSWER}, "frame_size"),
    ],
)
def test_forged_answers_are_refused(frame, code) -> None:
    with pytest.raises(StreamError) as caught:
        wire.decode_answer(msgspec.msgpack.encode(frame))
    assert caught.value.code == code and "\n" not in str(caught.value)


@pytest.mark.parametrize("version", [0, 2, None, -1])
def test_another_version_is_refused_whatever_else_it_says(version) -> None:
    frame = msgspec.msgpack.encode({"type": "hello", "version": version, "new_field": 1})
    with pytest.raises(StreamError, match=f"version 1, got {version}") as caught:
        wire.decode_hello(frame)
    assert caught.value.code == "version"


def test_only_a_hello_opens_a_stream() -> None:
    with pytest.raises(StreamError) as caught:
        wire.decode_hello(wire.encode(wire.Done(number=0)))
    assert caught.value.code == "frame"


def test_infinite_and_unknown_numbers_are_no_indices() -> None:
    frame = msgspec.msgpack.encode({"type": "act", "number": 0, "actions": [math.nan]})
    with pytest.raises(StreamError):
        wire.decode_answer(frame)


@pytest.mark.parametrize(
    ("number", "code"), [(0, "repeated_step"), (1, "repeated_step"), (3, "out_of_order"), (9, "out_of_order")]
)
def test_numbers_by_hand(number, code) -> None:
    numbers = Numbers()
    for expected in range(3):
        assert numbers.ask() == expected
        if expected < 2:
            assert numbers.take(expected)
    with pytest.raises(StreamError) as caught:
        numbers.take(number)
    assert caught.value.code == code
    assert numbers.take(2)
    with pytest.raises(StreamError) as caught:
        numbers.take(2)
    assert caught.value.code == "repeated_step"


def test_a_late_answer_is_passed_over_once() -> None:
    numbers = Numbers()
    numbers.ask()
    numbers.cancel()
    numbers.ask()
    assert not numbers.take(0)
    with pytest.raises(StreamError):
        numbers.take(0)
    assert numbers.take(1)


class NumberedStream(RuleBasedStateMachine):
    """Whatever is asked, cancelled and answered: each question takes at most one answer, its own."""

    def __init__(self) -> None:
        super().__init__()
        self.numbers, self.taken, self.asked = Numbers(), [], 0

    @precondition(lambda self: not self.numbers.is_open)
    @rule()
    def ask(self) -> None:
        assert self.numbers.ask() == self.asked
        self.asked += 1

    @precondition(lambda self: self.numbers.is_open)
    @rule()
    def cancel(self) -> None:
        self.numbers.cancel()

    @rule(back=st.integers(-2, 4))
    def answer(self, back) -> None:
        number = self.asked - 1 - back
        if number < 0:
            return
        was_open = self.numbers.is_open
        try:
            if self.numbers.take(number):
                assert was_open and number == self.asked - 1
                self.taken.append(number)
        except StreamError as error:
            assert error.code == ("out_of_order" if number >= self.asked else "repeated_step")

    @invariant()
    def each_once(self) -> None:
        assert self.taken == sorted(set(self.taken))


TestNumberedStream = NumberedStream.TestCase


def test_starts_are_masked() -> None:
    mask, again = StartMask(b"k" * 32), StartMask(b"k" * 32)
    first = Start(0, "tour-7", "houses-v1/val/00017", Boundary.SCENE)
    told = mask.hide(first)
    assert told == again.hide(first), "a run that goes on tells the same"
    assert (told.slot, told.boundary) == (0, 3)
    assert set(told.episode + told.scene) <= set("0123456789abcdef")
    inside = mask.hide(Start(0, "tour-8", "houses-v1/val/00017", Boundary.EPISODE))
    assert inside.scene == told.scene and inside.episode != told.episode, "a tour stays in one scene"
    visit = mask.hide(Start(0, "tour-9", "houses-v1/val/00017", Boundary.SCENE))
    assert visit.scene != told.scene, "another visit is not known to be in the same place"
    assert StartMask(b"l" * 32).hide(first).episode != told.episode, "teams cannot compare"
