"""A server for live submissions without a database, and agents that take part."""

import asyncio
import socket
import threading
from pathlib import Path
from typing import ClassVar

import numpy as np
import uvicorn
from starlette.applications import Starlette
from starlette.routing import WebSocketRoute

from navarena.agents import Agent, SingleAgent
from navarena.web.challenge.live.channel import listen
from navarena.web.challenge.live.relay import serve_stream
from navarena.web.challenge.live.run import LiveOrder, run_live
from navarena.web.challenge.settings import Phase, Track
from navarena.web.streaming import StreamError

TOKEN = "a token of the team"
SECRET = b"s" * 32
PROTOCOL = "pointnav-v1+max_steps=25"


class GoalFollower(SingleAgent):
    """Turns to the goal and walks."""

    sensors = ("pointgoal_with_gps_compass",)

    def reset(self):
        pass

    def act(self, observations):
        distance, bearing = observations["pointgoal_with_gps_compass"]
        if distance < 0.2:
            return 0
        return 1 if abs(bearing) < 0.27 else 2 if bearing > 0 else 3


class Stumbler(GoalFollower):
    """Raises in its fifth step of every episode that begins on its left."""

    def reset(self):
        self.steps, self.is_left = 0, None

    def act(self, observations):
        self.steps += 1
        if self.is_left is None:
            self.is_left = observations["pointgoal_with_gps_compass"][1] > 0
        if self.steps == 5 and self.is_left:
            raise ZeroDivisionError("stumbled")
        return super().act(observations)


class Lawless(Stumbler):
    """Takes an action that does not exist there."""

    def act(self, observations):
        try:
            return super().act(observations)
        except ZeroDivisionError:
            return 99


class Reader(SingleAgent):
    """Walks one step for each sentence of its instruction."""

    sensors = ("instruction",)

    def reset(self):
        self.steps = 0

    def act(self, observations):
        self.steps += 1
        return int(self.steps <= observations["instruction"].count("."))


class Marcher(Agent):
    """Walks seven steps in every episode, and notes where memory ended; `made` holds all that were made."""

    sensors = ("depth",)
    made: ClassVar[list["Marcher"]] = []

    def __init__(self):
        self.steps, self.boundaries, self.acted = {}, [], 0
        self.made.append(self)

    def reset(self, starts):
        for start in starts:
            self.steps[start.slot] = 0
            self.boundaries.append((start.slot, start.boundary))

    def act(self, observations, active):
        self.acted += int(active.sum())
        for slot in np.flatnonzero(active):
            self.steps[slot] += 1
        return np.array([int(self.steps.get(slot, 0) < 7) for slot in range(len(active))])


class LiveServer:
    """A server that relays streams to `worker`, in a thread of its own."""

    def __init__(self, port=0):
        self.worker = None
        self._socket = socket.create_server(("127.0.0.1", port))
        self.port = self._socket.getsockname()[1]
        app = Starlette(routes=[WebSocketRoute("/live", lambda ws: serve_stream(ws, self._find))])
        config = uvicorn.Config(app, log_level="error", lifespan="off", ws="websockets-sansio")
        self._server = uvicorn.Server(config)
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self):
        asyncio.run(self._server.serve([self._socket]))

    async def _find(self, hello):
        if hello.token != TOKEN:
            raise StreamError("token", "expected the token of a member of the team, got another one")
        if self.worker is None:
            raise StreamError("busy", "no worker is free")
        return self.worker

    @property
    def address(self):
        return f"ws://127.0.0.1:{self.port}/live"

    def stop(self):
        self._server.should_exit = self._server.force_exit = True
        self._thread.join(10)
        self._socket.close()


def make_order(folder, **others):
    """Four episodes of PointNav, side by side in two slots."""
    phase = {"name": "open", "protocol": PROTOCOL, "split": "mini", "episodes": 4, "accepts": ("live",)}
    phase |= {"grace_seconds": 5.0} | others.pop("phase", {})
    return LiveOrder(
        challenge="test",
        phase=Phase(**phase),
        track=others.pop("track", Track(name="all")),
        seed=others.pop("seed", None),
        agent=others.pop("agent", "web.challenge.live_world:GoalFollower"),
        folder=Path(folder),
        secret=SECRET,
        slots=others.pop("slots", 2),
        **others,
    )


class LiveThread:
    """A live run in a thread of this process."""

    def __init__(self, order):
        self.rows, self.outcome, self.error = [], None, None
        self._listener, self.address = listen("127.0.0.1")
        self._thread = threading.Thread(target=self._run, args=(order,), daemon=True)
        self._thread.start()

    def _run(self, order):
        try:
            self.outcome = run_live(
                order,
                self._listener,
                self.address.key,
                lambda part, place, row, seconds: self.rows.append((part, row)),
            )
        except BaseException as error:
            self.error = error
        finally:
            self._listener.close()

    def wait(self, seconds=60):
        self._thread.join(seconds)
        assert not self._thread.is_alive(), "the live run goes on"
        if self.error is not None:
            raise self.error
        return self.outcome
