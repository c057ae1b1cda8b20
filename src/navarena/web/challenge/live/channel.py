"""The worker's end of a live stream: numbered questions, one answer each, on a connection that may break.

The worker listens; the server connects on behalf of a participant that has shown its token, and passes frames
on (see relay). A frame on this connection is its length, 4 bytes big-endian, and its bytes; the first one is
the secret that the worker gave to the server, the second the participant's Hello.

Everything happens in the thread that asks: no lock, no queue, and a second stream is refused the next time
that an answer is awaited.
"""

import contextlib
import hmac
import math
import secrets
import selectors
import socket
import struct
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from navarena.core.errors import AgentTimeoutError, AgentUnreachableError
from navarena.web.challenge.live.wire import (
    MAX_ANSWER,
    Answer,
    Hello,
    Question,
    Welcome,
    decode_answer,
    decode_hello,
    encode,
    refuse,
)
from navarena.web.streaming import StreamError

LENGTH = struct.Struct(">I")

GREETING_SECONDS = 10.0
"""In which the server, once connected, sends secret and Hello: it has both already."""

SEND_SECONDS = 120.0
"""In which a question must have been taken; a participant that takes longer has lost its connection."""


@dataclass(frozen=True)
class WorkerAddress:
    """Address at which the worker of a submission listens.

    Attributes:
        host, port: of the worker.
        key: that it wants to see first.
    """

    host: str
    port: int
    key: bytes


def listen(host: str) -> tuple[socket.socket, WorkerAddress]:
    """A listening socket on a free port of `host`, and how the server finds it."""
    listener = socket.create_server((host, 0), backlog=8)
    return listener, WorkerAddress(host, listener.getsockname()[1], secrets.token_bytes(32))


class ConnectionLostError(Exception):
    """The other side has closed the connection, or stopped reading."""


class RestartedParticipantError(AgentUnreachableError):
    """A participant connected without the stream's state: its agent has lost its memory."""


class StreamEndedError(AgentUnreachableError):
    """The submission ends because of its participant's error.

    Args:
        error: that the participant is told.
    """

    def __init__(self, error: StreamError) -> None:
        super().__init__(error.text)
        self.error = error


@dataclass
class Numbers:
    """Numbers of a stream: which question is open, and which came too late to be answered.

    Attributes:
        next: number of the next question.
        is_open: whether question `next - 1` waits for its answer.
        late: numbers whose answers are not awaited any more; each is passed over once.
    """

    next: int = 0
    is_open: bool = False
    late: set[int] = field(default_factory=set)

    def ask(self) -> int:
        """Open a question and return its number."""
        self.is_open, self.next = True, self.next + 1
        return self.next - 1

    def cancel(self) -> None:
        """Give up waiting for an answer."""
        self.late.add(self.next - 1)
        self.is_open = False

    def take(self, number: int) -> bool:
        """Whether an answer with this number is the one awaited; False for one that comes too late.

        Raises StreamError for one that was given before, and for one to a question that was never asked.
        """
        if number in self.late:
            self.late.discard(number)
            return False
        if number >= self.next:
            raise StreamError(
                "out_of_order",
                f"expected an answer to question {self.next - 1}, got one to {number}, not asked yet",
            )
        if number < self.next - 1 or not self.is_open:
            raise StreamError(
                "repeated_step",
                f"expected an answer to question {self.next - 1}, got another one to {number}; answer once",
            )
        self.is_open = False
        return True


class FrameSocket:
    """A connection that transports frames.

    Args:
        connection: connected.
    """

    def __init__(self, connection: socket.socket) -> None:
        self._socket = connection
        with contextlib.suppress(OSError):
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def fileno(self) -> int:
        """Of the socket, for selectors."""
        return self._socket.fileno()

    def send(self, frame: bytes) -> None:
        """Send a frame; raises ConnectionLostError."""
        try:
            self._socket.settimeout(SEND_SECONDS)
            self._socket.sendall(LENGTH.pack(len(frame)))
            self._socket.sendall(frame)
        except OSError as error:
            raise ConnectionLostError from error

    def receive(self, deadline: float) -> bytes:
        """The next frame, by `deadline` (of time.monotonic).

        Raises ConnectionLostError, TimeoutError, and StreamError("frame_size") for a frame of more than
        MAX_ANSWER bytes.
        """
        (length,) = LENGTH.unpack(self._read(LENGTH.size, deadline))
        if length > MAX_ANSWER:
            raise StreamError("frame_size", f"expected at most {MAX_ANSWER:,} bytes, got {length:,}")
        return self._read(length, deadline)

    def _read(self, size: int, deadline: float) -> bytes:
        data = bytearray()
        while len(data) < size:
            left = deadline - time.monotonic()
            if left <= 0:
                raise TimeoutError
            try:
                self._socket.settimeout(None if left == math.inf else left)
                part = self._socket.recv(size - len(data))
            except TimeoutError:
                raise
            except OSError as error:
                raise ConnectionLostError from error
            if not part:
                raise ConnectionLostError
            data += part
        return bytes(data)

    def close(self) -> None:
        """Drop the connection."""
        self._socket.close()


class Channel:
    """Asks a participant, and waits for it where its connection breaks.

    Args:
        listener: a listening socket, to which the server connects.
        secret: that the server shows first.
        welcome: what a participant is told, from its Hello and (session, resumed, number of
            the open question); may raise StreamError.
        grace_seconds: for which a participant may be away.
        ends: time (of time.time) at which nothing is asked any more; None for no such time.

    Attributes:
        hello: of the participant; None before the first one.
        away_seconds: that participants have been away, in all.
    """

    def __init__(
        self,
        listener: socket.socket,
        secret: bytes,
        welcome: Callable[[Hello, str, bool, int], Welcome],
        grace_seconds: float,
        ends: float | None = None,
    ) -> None:
        self._ends = ends
        self._listener, self._secret, self._welcome = listener, secret, welcome
        self._grace = grace_seconds
        self._peer: FrameSocket | None = None
        self._numbers, self._session = Numbers(), ""
        self.hello: Hello | None = None
        self.away_seconds = 0.0

    def wait(self) -> Hello:
        """Wait for the first participant; one that is connected already stays.

        Raises AgentUnreachableError when nobody comes within the grace time.
        """
        while self._peer is None:
            with contextlib.suppress(RestartedParticipantError):
                self._wait_for_peer()
        assert self.hello is not None
        return self.hello

    def ask(self, make: Callable[[int], Question], seconds: float | None = None) -> Answer:
        """The answer to the question that `make` makes with its number.

        Args:
            make: called once.
            seconds: that the participant may take to answer, while it is connected.

        Raises AgentTimeoutError when it takes longer, AgentUnreachableError when it is away for longer than
        the grace time, RestartedParticipantError when another one took its place, and StreamEndedError when
        the wall-clock of the submission is over.
        """
        if self._ends is not None and time.time() >= self._ends:
            raise StreamEndedError(StreamError("wall_clock", "the wall-clock of the submission is used up"))
        number = self._numbers.ask()
        frame = encode(make(number))
        is_sent = False
        while True:
            try:
                if self._peer is None:
                    is_sent = self._wait_for_peer() >= number
                if not is_sent:
                    self._require_peer().send(frame)
                    is_sent = True
                return self._listen(math.inf if seconds is None else time.monotonic() + seconds)
            except ConnectionLostError:
                self.close()
            except StreamError as error:
                self.tell(error)
                self.close()
            except TimeoutError as error:
                self._numbers.cancel()
                raise AgentTimeoutError(
                    f"expected an answer within {seconds:g} s, got none; it has to come faster"
                ) from error

    def close_with(self, make: Callable[[int], Question], kind: type, seconds: float) -> None:
        """Ask a last question, which nobody must answer; another message than a `kind` is refused."""
        with contextlib.suppress(AgentTimeoutError, AgentUnreachableError):
            answer = self.ask(make, seconds)
            if not isinstance(answer, kind):
                text = "expected nothing more after the end of the submission, got another message"
                self.tell(StreamError("after_end", text))
        self.close()

    def tell(self, error: StreamError) -> None:
        """Send a connected participant the reason for the end."""
        with contextlib.suppress(ConnectionLostError):
            self._require_peer().send(encode(refuse(error)))

    def close(self) -> None:
        """Close the connection to the participant."""
        if self._peer is not None:
            self._peer.close()
            self._peer = None

    def _listen(self, deadline: float) -> Answer:
        """The awaited answer of the connected participant; meanwhile other streams are refused."""
        peer = self._require_peer()
        with selectors.DefaultSelector() as selector:
            selector.register(peer, selectors.EVENT_READ)
            selector.register(self._listener, selectors.EVENT_READ)
            while True:
                left = None if deadline == math.inf else max(0.0, deadline - time.monotonic())
                ready = [key.fileobj for key, _ in selector.select(left)]
                if peer in ready:  # first: a connection that ended is not in the way of the next one
                    answer = decode_answer(peer.receive(time.monotonic() + SEND_SECONDS))
                    if self._numbers.take(answer.number):
                        return answer
                elif self._listener in ready:
                    self._refuse_second()
                elif time.monotonic() >= deadline:
                    raise TimeoutError

    def _wait_for_peer(self) -> int:
        """Wait for a participant with the stream's state; returns the number of its last answer.

        Raises AgentUnreachableError after the grace time, RestartedParticipantError for one who does not
        know it.
        """
        began = time.monotonic()
        while True:
            left = began + self._grace - time.monotonic()
            if left <= 0:
                self.away_seconds += self._grace
                raise AgentUnreachableError(
                    f"expected the participant to come back within {self._grace:g} s, and it did not"
                )
            accepted = self._accept(left)
            if accepted is None:
                continue
            peer, hello = accepted
            knows = bool(self._session) and hello.session == self._session
            knows = knows and hello.answered < self._numbers.next
            session = self._session if knows else secrets.token_urlsafe(12)
            try:
                peer.send(
                    encode(self._welcome(hello, session, knows, self._numbers.next - 1 if knows else -1))
                )
            except (ConnectionLostError, StreamError) as error:
                _disconnect(peer, error)
                continue
            self.away_seconds += time.monotonic() - began
            self._peer, self.hello = peer, hello
            if knows:
                return hello.answered
            was_known, self._session, self._numbers = bool(self._session), session, Numbers()
            if was_known:
                raise RestartedParticipantError("the participant began anew: what was running starts again")
            return -1

    def _accept(self, seconds: float) -> tuple[FrameSocket, Hello] | None:
        """The next connection of the server with its participant; None when nobody comes in time."""
        self._listener.settimeout(seconds)
        try:
            connection, _ = self._listener.accept()
        except TimeoutError:
            return None
        peer = FrameSocket(connection)
        deadline = time.monotonic() + GREETING_SECONDS
        try:
            if not hmac.compare_digest(peer.receive(deadline), self._secret):
                raise ConnectionLostError
            return peer, decode_hello(peer.receive(deadline))
        except (ConnectionLostError, TimeoutError, StreamError) as error:
            _disconnect(peer, error)
            return None

    def _refuse_second(self) -> None:
        """Refuse the stream that waits while another one is open."""
        if (accepted := self._accept(GREETING_SECONDS)) is not None:
            text = "expected one stream for a submission, got a second one; end the first, or wait for it"
            _disconnect(accepted[0], StreamError("second_stream", text))

    def _require_peer(self) -> FrameSocket:
        if self._peer is None:
            raise ConnectionLostError
        return self._peer


def _disconnect(peer: FrameSocket, error: Exception) -> None:
    """Close a connection, with the reason if the participant may know it."""
    if isinstance(error, StreamError):
        with contextlib.suppress(ConnectionLostError):
            peer.send(encode(refuse(error)))
    peer.close()
