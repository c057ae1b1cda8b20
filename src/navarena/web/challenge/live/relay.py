"""The server's part in a live stream: it lets a participant in, and passes frames between it and its worker.

It looks at nothing but the first message, so that it can be stopped and started at any time: worker and
participant find each other again.
"""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable

import msgspec
from starlette.websockets import WebSocket, WebSocketDisconnect, WebSocketState

from navarena.web.challenge.live.channel import LENGTH, WorkerAddress
from navarena.web.challenge.live.wire import (
    MAX_ANSWER,
    MAX_QUESTION,
    Hello,
    decode_hello,
    encode,
    refuse,
)
from navarena.web.streaming import StreamError

HELLO_SECONDS = 30.0
"""In which a participant must have said hello."""

BUFFER = 2**22
"""Bytes of a question that are read ahead."""


FindWorker = Callable[[Hello], Awaitable[WorkerAddress]]
"""The worker for who says hello; raises StreamError for a wrong token, or where no stream is taken."""


async def serve_stream(websocket: WebSocket, find: FindWorker) -> None:
    """Let a participant in by its first message, and pass on frames until one side ends."""
    await websocket.accept()
    try:
        async with asyncio.timeout(HELLO_SECONDS):
            hello = decode_hello(await _receive(websocket))
        address = await find(hello)
        try:
            reader, writer = await asyncio.open_connection(address.host, address.port, limit=BUFFER)
        except OSError as error:
            raise StreamError("busy", "the worker of this submission is not there; come back") from error
    except StreamError as error:
        await _refuse(websocket, error)
        return
    except TimeoutError:
        await _refuse(websocket, StreamError("frame", f"expected a hello within {HELLO_SECONDS:g} s"))
        return
    except WebSocketDisconnect:
        return
    for frame in (address.key, encode(msgspec.structs.replace(hello, token=""))):
        writer.write(LENGTH.pack(len(frame)) + frame)
    tasks = [
        asyncio.ensure_future(_to_worker(websocket, writer)),
        asyncio.ensure_future(_to_participant(reader, websocket)),
    ]
    try:
        done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        for problem in [one.exception() for one in done]:
            if isinstance(problem, StreamError):
                await _refuse(websocket, problem)
            elif problem is not None and not isinstance(problem, _ENDS):
                raise problem
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        writer.close()
        await _close(websocket)


_ENDS = (WebSocketDisconnect, OSError, EOFError, RuntimeError)
"""What is raised when a side has gone; a RuntimeError by Starlette, for a message after the end."""


async def _receive(websocket: WebSocket) -> bytes:
    """The next frame; raises StreamError for a text and for one that is too long."""
    message = await websocket.receive()
    if message["type"] == "websocket.disconnect":
        raise WebSocketDisconnect(message.get("code", 1005))
    frame = message.get("bytes")
    if frame is None:
        raise StreamError("frame", "expected a binary message, got a text")
    if len(frame) > MAX_ANSWER:
        raise StreamError("frame_size", f"expected at most {MAX_ANSWER:,} bytes, got {len(frame):,}")
    return bytes(frame)


async def _to_worker(websocket: WebSocket, writer: asyncio.StreamWriter) -> None:
    while True:
        frame = await _receive(websocket)
        writer.write(LENGTH.pack(len(frame)) + frame)
        await writer.drain()


async def _to_participant(reader: asyncio.StreamReader, websocket: WebSocket) -> None:
    while True:
        (length,) = LENGTH.unpack(await reader.readexactly(LENGTH.size))
        if length > MAX_QUESTION:
            raise EOFError
        await websocket.send_bytes(await reader.readexactly(length))


async def _refuse(websocket: WebSocket, error: StreamError) -> None:
    with contextlib.suppress(*_ENDS):
        await websocket.send_bytes(encode(refuse(error)))
    await _close(websocket)


async def _close(websocket: WebSocket) -> None:
    if websocket.application_state == WebSocketState.CONNECTED:
        with contextlib.suppress(*_ENDS):
            await websocket.close()
