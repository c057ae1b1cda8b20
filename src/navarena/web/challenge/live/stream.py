"""The participant's end of a live stream: questions and answers, over connections that may break."""

import contextlib
import time
from collections.abc import Callable

from websockets.exceptions import ConnectionClosed, InvalidHandshake, InvalidURI
from websockets.sync.client import ClientConnection, connect

from navarena.core.errors import AgentUnreachableError, InputError, describe_error
from navarena.web.challenge.live.wire import (
    BUSY,
    MAX_QUESTION,
    SECOND_STREAM,
    Answer,
    Hello,
    Question,
    Refusal,
    Welcome,
    decode_question,
    encode,
)
from navarena.web.streaming import StreamError

CONNECT_SECONDS = 30.0
"""In which a server must answer."""

RETRY_SECONDS = 1.0
"""Between two attempts to come back; twice as long after each, up to MAX_RETRY_SECONDS."""

MAX_RETRY_SECONDS = 15.0

PING_SECONDS = 20.0
"""After which a connection without any sign of life is taken to be broken."""


class LiveStream:
    """A stream of questions, kept up over broken connections.

    Args:
        address: of the submission, such as "ws://127.0.0.1:8080/api/v1/live/ID".
        hello: what is said first; with the token.
        on_notice: called with a line for people when the connection breaks and when it is back.

    Attributes:
        welcome: what the server said last; None before `open`.
    """

    def __init__(
        self, address: str, hello: Hello, on_notice: Callable[[str], object] = lambda text: None
    ) -> None:
        self._address, self._hello, self._on_notice = address, hello, on_notice
        self._socket: ClientConnection | None = None
        self._open = contextlib.ExitStack()
        self._answered, self._frame = -1, b""
        self.welcome: Welcome | None = None

    def open(self) -> Welcome:
        """Say hello; raises StreamError for a refusal, AgentUnreachableError when nobody answers."""
        return self._reconnect(CONNECT_SECONDS)

    def answer(self, answer: Answer) -> None:
        """Send the answer to a question; a broken connection is noticed when the next one is awaited."""
        self._answered, self._frame = answer.number, encode(answer)
        with contextlib.suppress(ConnectionClosed):
            self._require_socket().send(self._frame)

    def next(self) -> Question | Welcome:
        """The next question, or the welcome of a server that restarts the agent.

        Raises StreamError for a refusal, and AgentUnreachableError when the server is gone for longer than
        its grace time.
        """
        while True:
            try:
                frame = self._require_socket().recv()
                if isinstance(frame, str):
                    raise StreamError("frame", "expected a binary message from the server, got a text")
                message = decode_question(frame)
            except ConnectionClosed:
                self._on_notice("the connection broke; trying to come back")
                grace = CONNECT_SECONDS if self.welcome is None else self.welcome.grace_seconds
                welcome = self._reconnect(grace)
                self._on_notice("the connection is back" if welcome.resumed else "the server begins anew")
                if not welcome.resumed:
                    return welcome
                continue
            if isinstance(message, Refusal):
                raise StreamError(message.code, message.text)
            return message

    def close(self) -> None:
        """Close the connection to the server."""
        self._socket = None
        self._open.close()

    def _require_socket(self) -> ClientConnection:
        if self._socket is None:
            raise InputError("expected an open stream, got one that is closed; call open first")
        return self._socket

    def _reconnect(self, seconds: float) -> Welcome:
        """Connect within `seconds` from now, or from the last busy reply; a lost answer is sent again."""
        deadline, pause, was_busy = time.monotonic() + seconds, RETRY_SECONDS, False
        while True:
            try:
                return self._connect()
            except (OSError, ConnectionClosed, InvalidHandshake) as error:
                problem: Exception = error
            except InvalidURI as error:
                raise InputError(f"expected the address of a submission, got {self._address!r}") from error
            except StreamError as error:
                if error.code not in (BUSY, SECOND_STREAM):
                    raise
                if error.code == BUSY:
                    if not was_busy:
                        self._on_notice("waiting for a worker of the server")
                    was_busy, deadline = True, time.monotonic() + seconds
                problem = error
            if time.monotonic() + pause >= deadline:
                raise AgentUnreachableError(
                    f"no server answers at {self._address} ({describe_error(problem)}); finished episodes "
                    "are kept; give the same command again to go on"
                ) from problem
            time.sleep(pause)
            pause = min(2 * pause, MAX_RETRY_SECONDS)

    def _connect(self) -> Welcome:
        self.close()
        connection = connect(
            self._address,
            compression=None,
            max_size=MAX_QUESTION,
            open_timeout=CONNECT_SECONDS,
            ping_interval=PING_SECONDS,
            ping_timeout=PING_SECONDS,
        )
        opened = self._open.enter_context(connection)
        session = "" if self.welcome is None else self.welcome.session
        hello = {name: getattr(self._hello, name) for name in Hello.__struct_fields__}
        opened.send(encode(Hello(**{**hello, "session": session, "answered": self._answered})))
        frame = opened.recv()
        message = decode_question(frame if isinstance(frame, bytes) else frame.encode())
        if isinstance(message, Refusal):
            self.close()
            raise StreamError(message.code, message.text)
        if not isinstance(message, Welcome):
            raise StreamError("frame", f"expected a welcome, got {type(message).__name__}")
        self._socket, self.welcome = opened, message
        if not message.resumed:
            self._answered = -1
        elif self._answered == message.awaited >= 0:
            opened.send(self._frame)
        return message
