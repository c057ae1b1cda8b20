"""Speed of `navarena play` over loopback: steps of one episode, each answered by its image.

    taskset -c 0 python benchmarks/viewer_frames.py objectnav-habitat2020-v1 --steps 200

Viewer and page share one process. Prints one line of JSON: steps per second, the median and the 95th
percentile of milliseconds from a key to its image, and the size of an image in kB.
"""

import argparse
import json
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
from websockets.sync.client import ClientConnection, connect

from navarena.evaluation import EvaluationSettings
from navarena.web.serving import listen, serve_beside
from navarena.web.viewer.app import make_viewer_app
from navarena.web.viewer.hub import Hub
from navarena.web.viewer.play import choose_views, open_human_benchmark, play_run

KEYS = ("move_forward", "turn_left", "turn_left", "move_forward", "turn_right")
WARM_STEPS = 20


def read_state(socket: ClientConnection) -> tuple[dict[str, Any], int]:
    """The next state, and the bytes of its images."""
    state = json.loads(socket.recv())
    return state, sum(len(socket.recv()) for _ in state["images"])


def play(port: int, steps: int) -> dict[str, float]:
    """Take `steps` actions after some to warm up, and time each until its image is there."""
    seconds: list[float] = []
    size = 0
    with connect(f"ws://127.0.0.1:{port}/stream", max_size=2**24) as socket:
        state, size = read_state(socket)
        while state["phase"] != "play":
            state, size = read_state(socket)
        keys = [state["actions"].index(name) for name in KEYS]
        for index in range(WARM_STEPS + steps):
            began, step = time.perf_counter(), state["step"]
            socket.send(json.dumps({"do": "act", "step": step, "action": keys[index % len(keys)]}))
            while state["step"] == step:
                state, size = read_state(socket)
            seconds.append(time.perf_counter() - began)
    timed = 1e3 * np.array(seconds[WARM_STEPS:])
    return {
        "steps_per_second": round(1e3 / timed.mean(), 1),
        "median_ms": round(float(np.median(timed)), 1),
        "p95_ms": round(float(np.percentile(timed, 95)), 1),
        "image_kb": round(size / 1e3, 1),
    }


def main() -> None:
    """Play, print, and leave the episode unfinished."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("protocol", help="of bodies with discrete actions")
    parser.add_argument("--steps", type=int, default=200)
    flags = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        settings = EvaluationSettings(flags.protocol, episodes=1, out=Path(folder) / "run")
        benchmark, hub = open_human_benchmark(settings), Hub()
        with listen("127.0.0.1", 0) as bound, serve_beside(make_viewer_app("play", hub), bound):
            arguments = (hub, settings, benchmark, choose_views(benchmark, ()), {"people": 0})
            threading.Thread(target=play_run, args=arguments, daemon=True).start()
            print(json.dumps({"protocol": flags.protocol, **play(bound.getsockname()[1], flags.steps)}))


if __name__ == "__main__":
    main()
