"""Client of chat completions: the interface of OpenAI's that vLLM, llama.cpp, Ollama and others serve.

    POST URL/chat/completions   {"model": ..., "messages": [...], ...}
    answer                      {"choices": [{"message": {"content": text}}], "usage": {...}}

A key comes from an environment variable and goes into the header of requests, and nowhere else.
"""

import base64
import hashlib
import io
import os
import reprlib
import time
import weakref
from collections.abc import Mapping
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import msgspec
import numpy as np
from jaxtyping import UInt8
from PIL import Image

from navarena.core.errors import FileError, InputError, readable, require_extra, require_seconds
from navarena.core.files import decode_json, write_atomic

KEY_VARIABLE = "NAVARENA_API_KEY"
"""Environment variable of the key, where no other is named."""

EXTRA = "vlm"

BUSY = frozenset((408, 425, 429, 500, 502, 503, 504))
"""Statuses after which the same request may succeed."""

LONGEST_PAUSE = 60.0
"""Seconds between two attempts, whatever a server asks for."""

MAX_ANSWER = 2**24
"""Bytes of an answer; one of a thousand words fills 8 kB."""

SHOWN = 200
"""Letters of an answer that a message shows."""


@dataclass(frozen=True)
class ChatServer:
    """A server of chat completions, and how patiently it is asked.

    Attributes:
        url: such as "http://127.0.0.1:8000/v1".
        timeout: seconds that a whole answer may take.
        retries: further attempts after one that was refused for now, late, broken off or no answer.
        pause: seconds before the first further attempt, doubled before each other; a server may ask for more.
        key: environment variable that holds the key; empty for KEY_VARIABLE, if that is set.

    Raises InputError for an address that is none or holds a password, and for numbers below 0.
    """

    url: str
    timeout: float = 60.0
    retries: int = 3
    pause: float = 1.0
    key: str = ""

    def __post_init__(self) -> None:
        try:
            parts = urlsplit(self.url)
            host, _ = parts.hostname, parts.port
        except ValueError:  # a port that is no number, or none of 16 bits
            host = None
        if not host or parts.scheme not in ("http", "https") or parts.query or parts.fragment:
            raise InputError(f"expected a server as http://HOST:PORT/v1, got {self.url!r}")
        if parts.username is not None or parts.password is not None:
            raise InputError(
                f"expected a server's address without a password, got one for {host}; put the key into the "
                f"environment variable {self.key or KEY_VARIABLE}"
            )
        require_seconds("timeout", self.timeout)
        if self.retries < 0 or not self.pause >= 0:
            raise InputError(
                f"expected retries and a pause of at least 0, got {self.retries} and {self.pause:g}"
            )

    @property
    def address(self) -> str:
        """The server's address for requests."""
        return self.url.rstrip("/") + "/chat/completions"

    def read_key(self) -> str:
        """The key, empty without one; InputError for a variable that is named and not set, or is no key."""
        key = os.environ.get(self.key or KEY_VARIABLE, "")
        if self.key and not key:
            raise InputError(f"expected a key in the environment variable {self.key}, got none; set it")
        if not (key.isascii() and key.isprintable()):
            raise InputError(
                f"expected a key of ASCII letters in {self.key or KEY_VARIABLE}, got another text"
            )
        return key


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """Answer of a chat server, with its token counts and duration.

    Attributes:
        text: of the first choice; empty when it said nothing.
        prompt_tokens, completion_tokens: as the server counts them; 0 where it does not.
        seconds: wall-clock time from the request to the whole answer, of the attempt that succeeded.
    """

    text: str
    prompt_tokens: int = 0
    completion_tokens: int = 0
    seconds: float = 0.0


class ChatError(InputError):
    """No answer from a server.

    Args:
        text: one line.
        is_late: whether it took too long, at the last attempt.
    """

    def __init__(self, text: str, is_late: bool = False) -> None:
        super().__init__(text)
        self.is_late = is_late

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (str(self), self.is_late)


class _Later(Exception):
    """A failed attempt that may be repeated: its reason, and the seconds that the server asks for."""

    def __init__(self, text: str, pause: float = 0.0, is_late: bool = False) -> None:
        super().__init__(text)
        self.pause, self.is_late = pause, is_late


class ChatClient:
    """Kept connections to a server; several threads may ask at a time.

    Args:
        server: to ask.

    Raises MissingExtraError without the HTTP library, InputError for a key that is none.
    """

    def __init__(self, server: ChatServer) -> None:
        self._http = require_extra("httpx2", EXTRA)
        self.server, self._key = server, server.read_key()
        is_local = urlsplit(server.url).hostname in ("127.0.0.1", "localhost", "::1")
        headers = {"Authorization": f"Bearer {self._key}"} if self._key else {}
        # a proxy of the environment cannot reach this machine's own servers
        self._client = self._http.Client(headers=headers, timeout=server.timeout, trust_env=not is_local)
        weakref.finalize(self, self._client.close)

    def ask(self, body: Mapping[str, Any]) -> Answer:
        """The server's answer to the request `body`, after as many attempts as it may take.

        Raises ChatError, of one line, without a key in it.
        """
        data, pause = encode_request(body), self.server.pause
        for left in range(self.server.retries, -1, -1):
            try:
                return self._attempt(data)
            except _Later as problem:
                if not left:
                    times = f" ({self.server.retries + 1} attempts)" if self.server.retries else ""
                    raise ChatError(f"{problem}{times}", problem.is_late) from problem
                time.sleep(min(max(pause, problem.pause), LONGEST_PAUSE))
                pause *= 2
        raise AssertionError("the last attempt returns or raises")

    def _attempt(self, data: bytes) -> Answer:
        began = time.monotonic()
        try:
            response, content = self._send(data, began + self.server.timeout)
        except self._http.TimeoutException as error:
            raise _Later(
                f"expected {self.server.address} to answer within {self.server.timeout:g} s, got no whole "
                "answer",
                is_late=True,
            ) from error
        except self._http.HTTPError as error:
            raise _Later(f"no answer from {self.server.address}: {self._hide(str(error))}") from error
        if response.status_code != HTTPStatus.OK:
            said = " ".join(self._hide(content.decode("utf-8", "replace")).split())
            text = (
                f"no answer from {self.server.address}: status {response.status_code} "
                f"{response.reason_phrase}{' ' if said else ''}{said[:SHOWN]}"
            )
            if response.status_code in BUSY:
                raise _Later(text, _read_pause(response.headers.get("retry-after", "")))
            raise ChatError(text)
        return self._read(content, time.monotonic() - began)

    def _send(self, data: bytes, deadline: float) -> tuple[Any, bytes]:
        """The response and its content, by `deadline` of time.monotonic however little comes at a time."""
        headers = {"Content-Type": "application/json"}
        with self._client.stream("POST", self.server.address, content=data, headers=headers) as response:
            content = bytearray()
            for part in response.iter_bytes():
                content += part
                if time.monotonic() > deadline:
                    raise self._http.ReadTimeout("late")
                if len(content) > MAX_ANSWER:
                    raise _Later(
                        f"expected at most {MAX_ANSWER:,} bytes from {self.server.address}, got more"
                    )
            return response, bytes(content)

    def _read(self, content: bytes, seconds: float) -> Answer:
        address = self.server.address
        try:
            found = decode_json(content, f"answer of {address}")
        except FileError as error:
            raise _Later(f"no answer from {address}: expected JSON, got {reprlib.repr(content)}") from error
        try:
            text = found["choices"][0]["message"]["content"]
        except (KeyError, IndexError, TypeError) as error:
            raise _Later(f"expected choices[0].message.content from {address}, got no {error}") from error
        if text is None:  # it refuses to say anything
            text = ""
        if not isinstance(text, str):
            raise _Later(f"expected a text from {address}, got {type(text).__name__}")
        used = found.get("usage")
        counts = used if isinstance(used, dict) else {}
        return Answer(
            text=readable(text),
            prompt_tokens=_read_count(counts.get("prompt_tokens")),
            completion_tokens=_read_count(counts.get("completion_tokens")),
            seconds=seconds,
        )

    def _hide(self, text: str) -> str:
        """`text` without the key, which a server may repeat."""
        return readable(text.replace(self._key, "***") if self._key else text)


class AnswerStore:
    """Answers in a folder, by the content of their requests.

    Args:
        folder: of one JSON file for each.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def find(self, server: ChatServer, body: Mapping[str, Any]) -> Answer | None:
        """The stored answer of `server` to `body`; None if there is none or its file is damaged."""
        try:
            data = self._path(server, body).read_bytes()
            found: Answer = decode_json(data, "answer", Answer)
        except (OSError, FileError):
            return None
        return found

    def keep(self, server: ChatServer, body: Mapping[str, Any], answer: Answer) -> None:
        """Keep `answer`; raises StorageError."""
        write_atomic(self._path(server, body), msgspec.json.encode(answer) + b"\n")

    def _path(self, server: ChatServer, body: Mapping[str, Any]) -> Path:
        digest = hashlib.sha256(server.address.encode() + b"\0" + encode_request(body)).hexdigest()
        return self._folder / digest[:2] / f"{digest[2:]}.json"


def encode_request(body: Mapping[str, Any]) -> bytes:
    """`body` as JSON; the same bytes each time. Models write the properties of a schema in their order."""
    return msgspec.json.encode(body)


def image_part(image: UInt8[np.ndarray, "h w 3"]) -> dict[str, Any]:
    """The part of a message that shows an image, (H, W, 3) uint8 sRGB: a data URL of a PNG file."""
    file = io.BytesIO()
    Image.fromarray(image).save(file, "PNG", compress_level=1)  # a sixth of the default's time
    data = base64.b64encode(file.getvalue()).decode()
    return {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{data}"}}


def text_part(text: str) -> dict[str, Any]:
    """The part of a message that is text."""
    return {"type": "text", "text": text}


def _read_pause(text: str) -> float:
    """The seconds of a Retry-After header; 0 for a date, which needs the server's clock, or nonsense."""
    return float(text) if text.isascii() and text.isdigit() and len(text) < 6 else 0.0


def _read_count(value: object) -> int:
    """A number of tokens; 0 for any other value."""
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**53 else 0
