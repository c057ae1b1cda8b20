"""Sockets that serve pages."""

import asyncio
import socket

from navarena.web.serving import listen


def test_messages_are_sent_at_once() -> None:
    async def accept() -> int:
        accepted: asyncio.Future[int] = asyncio.get_running_loop().create_future()

        def look(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            transport = writer.get_extra_info("socket")
            accepted.set_result(transport.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY))
            writer.close()

        with listen("127.0.0.1", 0) as bound:
            async with await asyncio.start_server(look, sock=bound):
                _, writer = await asyncio.open_connection(*bound.getsockname())
                writer.close()
                return await accepted

    assert asyncio.run(accept()) != 0, (
        "the second of two messages would wait for the first one's acknowledgement"
    )
