"""How fast a leaderboard of 10,000 submissions is: a bounded number of requests over loopback.

    python benchmarks/challenge_pages.py --submissions 10000 --requests 2000

Prints the time from nothing to the first page, latencies at one connection at 50 requests per second, and the
greatest throughput of one server process.
"""

import argparse
import http.client
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import msgspec
import numpy as np

from navarena.core.seeding import make_generator
from navarena.evaluation.records.journal import Row
from navarena.evaluation.records.results import summarize
from navarena.metrics.catalog import get_metric
from navarena.web.challenge.permissions import find_phase_row
from navarena.web.challenge.ranking import RankScores, pack_scores
from navarena.web.challenge.service import Service, open_service
from navarena.web.challenge.settings import Challenge, Phase
from navarena.web.challenge.storage.engine import sqlite_address
from navarena.web.challenge.storage.models import Submission, Team

IDENTITY = "pointnav-v1@houses-v1/val#0123456789abcdef"
SCENES, EACH = 25, 8
METRICS = ("success", "spl", "soft_spl", "distance_to_goal", "path_length", "collisions", "num_actions")
CHALLENGE = Challenge(
    name="Load", slug="load", phases=(Phase(name="open", protocol="pointnav-v1", split="val"),)
)
PATHS = (
    "/phases/open",
    "/phases/open?page=2",
    "/phases/open?sort=-success",
    "/phases/open?page=50&sort=team",
)


def make_summary(mean: float, seed: int) -> tuple[dict, RankScores]:
    """A summary and rank scores of 200 drawn episodes."""
    draws = make_generator("benchmark", seed)
    values = np.clip(mean + 0.4 * (draws.random(SCENES * EACH) - 0.5), 0, 1)
    rows = [
        Row(identity=IDENTITY, episode_id=str(k), scene_id=f"{k // EACH:05d}", status="ok", steps=100,
            start_distance=5.0, actions=[], metrics={name: float(value) for name in METRICS})
        for k, value in enumerate(values)
    ]  # fmt: skip
    rows = [
        msgspec.structs.replace(row, metrics={**row.metrics, "success": float(row.metrics["spl"] > 0.5)})
        for row in rows
    ]
    scenes = np.repeat(np.arange(SCENES), EACH)
    summary = msgspec.to_builtins(summarize(rows, IDENTITY, "made", METRICS))
    return summary, RankScores(values, scenes, np.ones(len(values)), None)


def fill(service: Service, count: int) -> None:
    """Write `count` verified live submissions of 500 teams."""
    kinds = [make_summary(0.2 + 0.6 * k / 400, k) for k in range(400)]
    metric = get_metric("spl")
    means = [metric.estimate(s.values, s.scenes, make_generator("benchmark")) for _, s in kinds]
    with service.storage.write() as session:
        phase = find_phase_row(session, CHALLENGE, CHALLENGE.phases[0])
        teams = [Team(name=f"Team {k}", created=0) for k in range(500)]
        session.add_all(teams)
        session.flush()
        for k in range(count):
            summary, scores = kinds[k % 400]
            estimate = means[k % 400]
            session.add(
                Submission(
                    public_id=f"id{k}", phase_id=phase.id, track="all", kind="live",
                    team_id=teams[k % 500].id,
                    state="verified", method=f"method {k // 500}", agent="made", episodes=len(scores.values),
                    created=1_700_000_000_000 + k * 60_000, finished=1_700_000_000_000 + k * 60_000,
                    summary={"parts": [summary]}, rank_mean=estimate.mean, rank_low=estimate.low,
                    rank_high=estimate.high, rank_values=pack_scores(scores), hardware="one GPU",
                    link="https://example.org", seconds_per_step=0.1,
                )
            )  # fmt: skip


def ask(connection: http.client.HTTPConnection, path: str) -> float:
    """Seconds of one request."""
    begin = time.perf_counter()
    connection.request("GET", path)
    answer = connection.getresponse()
    body = answer.read()
    assert answer.status == 200 and b"n = " in body, (answer.status, body[:200])
    return time.perf_counter() - begin


def serve(database: str, port: int) -> None:
    """What the server process does."""
    import uvicorn

    from navarena.web.challenge.app import make_app

    uvicorn.run(make_app(open_service(CHALLENGE, database)), port=port, log_level="warning")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--submissions", type=int, default=10_000)
    parser.add_argument("--requests", type=int, default=2000)
    parser.add_argument("--port", type=int, default=8799)
    parser.add_argument("--serve", default="")
    chosen = parser.parse_args()
    if chosen.serve:
        serve(chosen.serve, chosen.port)
        return
    with tempfile.TemporaryDirectory() as folder:
        database = sqlite_address(Path(folder) / "load.sqlite")
        fill(open_service(CHALLENGE, database), chosen.submissions)
        command = [sys.executable, __file__, "--serve", database, "--port", str(chosen.port)]
        begin = time.perf_counter()
        server = subprocess.Popen(command)
        try:
            measure(chosen, begin, server.pid)
        finally:
            server.terminate()
            server.wait()


def cpu_seconds(process: int) -> float:
    """Processor time that a process has used until now (Linux)."""
    user, system = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[11:13]
    return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")


def measure(chosen: argparse.Namespace, begin: float, process: int) -> None:
    """Ask the server `requests` times twice: at 50 a second, and as fast as it answers."""
    connection = http.client.HTTPConnection("127.0.0.1", chosen.port, timeout=120)
    while True:
        try:
            first = ask(connection, PATHS[0])
            break
        except ConnectionRefusedError:
            connection.close()
            time.sleep(0.05)
    used = cpu_seconds(process)
    print(f"start to first board {time.perf_counter() - begin:.2f} s, of which ranking {first:.2f} s")
    paced = []
    start = time.perf_counter()
    for k in range(chosen.requests // 4):
        time.sleep(max(0.0, start + k / 50 - time.perf_counter()))
        paced.append(ask(connection, PATHS[k % len(PATHS)]))
    at_50 = len(paced) / (time.perf_counter() - start)
    start = time.perf_counter()
    for k in range(chosen.requests):
        ask(connection, PATHS[k % len(PATHS)])
    rate = chosen.requests / (time.perf_counter() - start)
    low, high = np.percentile(np.array(paced) * 1000, [50, 99])
    print(f"paced: {at_50:.0f} requests/s, median {low:.1f} ms, 99th percentile {high:.1f} ms")
    used = (cpu_seconds(process) - used) / (chosen.requests + len(paced))
    print(f"one after the other: {rate:.0f} requests/s; {1000 * used:.1f} ms of processor for each")


if __name__ == "__main__":
    main()
