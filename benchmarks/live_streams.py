"""Speed of live submissions over loopback: RGB-D of 640 x 480 through server, worker and participant.

    python benchmarks/live_streams.py --slots 16 --steps 40 --codec lz4

Three processes, as in a challenge. Prints one line of JSON: steps per second of all environments together,
bytes of an observation before and after packing, and where the time of a step goes.
"""

import argparse
import asyncio
import json
import multiprocessing
import secrets
import socket
import tempfile
import time
from pathlib import Path

import numpy as np

from navarena.agents import Agent
from navarena.web.challenge.live import participant, wire
from navarena.web.challenge.live.channel import WorkerAddress, listen
from navarena.web.challenge.live.participant import Participant
from navarena.web.challenge.live.run import LiveOrder, run_live
from navarena.web.challenge.live.stream import LiveStream
from navarena.web.challenge.settings import Phase, Track
from navarena.web.streaming import Codec, pack_array

PROTOCOL = "objectnav-habitat2020-v1"


class Turner(Agent):
    """Turns and walks in a fixed rhythm."""

    sensors = ("rgb", "depth")

    def __init__(self) -> None:
        self.step = 0

    def reset(self, starts) -> None:
        pass

    def act(self, observations, active):
        self.step += 1
        return np.full(len(active), 1 if self.step % 3 else 2)


def work(listener, address: WorkerAddress, slots: int, steps: int, codec: str, results) -> None:
    """The worker."""
    phase = Phase(
        name="speed",
        protocol=f"{PROTOCOL}+max_steps={steps}",
        split="mini",
        episodes=slots,
        accepts=("live",),
    )
    packing = [0.0, 0, 0]

    def pack(array, given: Codec = "none", pool=None):
        began = time.perf_counter()
        packed = pack_array(array, given, pool)
        packing[0] += time.perf_counter() - began
        packing[1] += array.nbytes
        packing[2] += sum(map(len, packed.rows))
        return packed

    from navarena.web.challenge.live import agent

    agent.pack_array = pack
    agent_name, folder, secret = "__main__:Turner", Path(tempfile.mkdtemp()), secrets.token_bytes()
    order = LiveOrder("speed", phase, Track(name="all"), None, agent_name, folder, secret, slots)
    outcome = run_live(order, listener, address.key)
    results.send((packing, dict(outcome.seconds), outcome.state))


def serve(bound: socket.socket, address: WorkerAddress) -> None:
    """The server."""
    import uvicorn
    from starlette.applications import Starlette
    from starlette.routing import WebSocketRoute

    from navarena.web.challenge.live.relay import serve_stream

    async def find(hello):
        return address

    app = Starlette(routes=[WebSocketRoute("/live", lambda one: serve_stream(one, find))])
    asyncio.run(uvicorn.Server(uvicorn.Config(app, log_level="error", lifespan="off")).serve([bound]))


def main() -> None:
    """Measure, and print."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--slots", type=int, default=16)
    parser.add_argument("--steps", type=int, default=40)
    parser.add_argument("--codec", default="lz4")
    given = parser.parse_args()
    context = multiprocessing.get_context("spawn")
    listener, address = listen("127.0.0.1")
    bound = socket.create_server(("127.0.0.1", 0))
    results, ours = context.Pipe(duplex=False)
    arguments = (listener, address, given.slots, given.steps, given.codec, ours)
    processes = [
        context.Process(target=work, args=arguments, daemon=True),
        context.Process(target=serve, args=(bound, address), daemon=True),
    ]
    for one in processes:
        one.start()
    taking_part = Participant(Turner, PROTOCOL)
    hello = taking_part.hello("")
    fields = {name: getattr(hello, name) for name in wire.Hello.__struct_fields__}
    fields |= {"agent": "__main__:Turner", "codecs": (given.codec,)}
    stream = LiveStream(f"ws://127.0.0.1:{bound.getsockname()[1]}/live", wire.Hello(**fields))
    began, unpacking, asked = [], [0.0], [0]
    unpack, observe = participant.unpack_array, taking_part._observe

    def unpack_and_time(packed, pool=None):
        start = time.perf_counter()
        found = unpack(packed, pool)
        unpacking[0] += time.perf_counter() - start
        return found

    def observe_and_count(message, welcome):
        began.append(time.perf_counter())
        asked[0] += sum(message.active)
        return observe(message, welcome)

    participant.unpack_array = unpack_and_time
    taking_part._observe = observe_and_count
    taking_part.take_part(stream)
    seconds = time.perf_counter() - began[0]
    stream.close()
    packing, spent, state = results.recv()
    steps = asked[0]
    print(
        json.dumps(
            {
                "state": state,
                "slots": given.slots,
                "codec": given.codec,
                "steps_per_second": round(steps / seconds, 1),
                "raw_bytes": packing[1] // steps,
                "packed_bytes": packing[2] // steps,
                "ms_per_step": round(1000 * seconds / steps, 3),
                "ms_simulator": round(1000 * spent["simulator"] / steps, 3),
                "ms_packing": round(1000 * packing[0] / steps, 3),
                "ms_unpacking": round(1000 * unpacking[0] / steps, 3),
            }
        )
    )
    for one in processes:
        one.kill()


if __name__ == "__main__":
    main()
