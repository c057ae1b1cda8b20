"""A world of one dimension, and agents for it that behave in every way an agent can.

A corridor of 20 m: the body stands at a whole number of metres, sees the signed distance to
its goal, and walks 1 m east or west. Run this file to evaluate in a process of its own:

    python corridor.py FOLDER AGENT WORKERS BATCH_SIZE [MARKER]
"""

import os
import signal
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from navarena.agents.agent import Agent
from navarena.core.errors import FileError
from navarena.core.seeding import make_generator
from navarena.episodes.episode import Episode, PointGoal
from navarena.evaluation import Benchmark, EvaluationSettings, Identity, open_run
from navarena.metrics import Trajectory
from navarena.tasks.task import StepResult

LENGTH = 20
MAX_STEPS = 15
ACTIONS = ("stop", "east", "west")
METRICS = (
    "success",
    "spl",
    "soft_spl",
    "distance_to_goal",
    "path_length",
    "collisions",
    "num_actions",
)


class CorridorBatch:
    """N corridors; counts how often it computed observations. `WITHOUT_SCENE` names one that is missing."""

    privileged_sensors = ()

    def __init__(self, slots, sensors):
        self.slots, self.sensors = slots, tuple(sensors)
        unknown = set(sensors) - {"offset"}
        if unknown:
            raise AssertionError(f"asked for {unknown}")
        self.records = [None] * slots

    @property
    def observations(self):
        offsets = [record["goal"] - record["x"][-1] if record else 0.0 for record in self.records]
        return {"offset": np.array(offsets)[:, None]} if "offset" in self.sensors else {}

    def start(self, slots, episodes):
        for slot, episode in zip(slots, episodes, strict=True):
            if episode.scene_id == os.environ.get("WITHOUT_SCENE"):
                raise FileError(f"scene {episode.scene_id} is not here; fetch it")
            goal, x = episode.goal.position[0], episode.start_position[0]
            self.records[slot] = {"goal": goal, "x": [x], "actions": [], "hit": [], "stopped": False}

    def follow(self, slots, episodes):
        self.start(slots, episodes)
        return np.ones(len(slots), bool)

    def oracle_steps(self, slot):
        return 0, 0

    def step(self, actions, active):
        ended, cut = np.zeros(self.slots, bool), np.zeros(self.slots, bool)
        for slot in np.flatnonzero(active):
            record, action = self.records[slot], int(actions[slot])
            wanted = record["x"][-1] + (0, 1, -1)[action]
            record["x"].append(min(max(wanted, 0), LENGTH))
            record["hit"].append(record["x"][-1] != wanted)
            record["actions"].append(action)
            record["stopped"] = ended[slot] = action == 0
            cut[slot] = action != 0 and len(record["actions"]) == MAX_STEPS
        return StepResult(np.zeros(self.slots), ended, cut)

    def trajectory(self, slot):
        record = self.records[slot]
        positions = np.zeros((len(record["x"]), 3))
        positions[:, 0] = record["x"]
        distances = np.abs(record["goal"] - positions[:, 0])
        return Trajectory(
            positions=positions,
            yaws=np.zeros(len(positions)),
            actions=np.array(record["actions"], np.int64),
            collided=np.array(record["hit"], bool),
            distance_to_goal=distances,
            start_distance=float(distances[0]),
            stopped=record["stopped"],
            success_distance=0.5,
        )


class CorridorAgent(Agent):
    """An agent that accepts a corridor in the place of a NavigationBatch."""

    def attach(self, batch):
        self.batch = batch


class Walker(CorridorAgent):
    """Walks to the goal and stops; now and then takes a random step of its episode's own stream."""

    sensors = ("offset",)
    pause = 0.0

    def __init__(self):
        self.episodes, self.streams = {}, {}

    def reset(self, starts):
        for start in starts:
            self.episodes[start.slot] = start.episode_id
            self.streams[start.slot] = make_generator("walker", start.seed, start.episode_id)

    def act(self, observations, active):
        actions = np.zeros(len(active), np.int64)
        time.sleep(self.pause)
        for slot in np.flatnonzero(active):
            actions[slot] = self.choose(int(slot), float(observations["offset"][slot, 0]))
        return actions

    def choose(self, slot, offset):
        if self.streams[slot].random() < 0.3:
            return int(self.streams[slot].integers(1, 3))
        return 0 if offset == 0 else 1 if offset > 0 else 2


class SlowWalker(Walker):
    """Walks slowly enough to be killed on the way."""

    pause = 0.01


class Blind(CorridorAgent):
    """Asks for no sensors at all."""

    def reset(self, starts):
        pass

    def act(self, observations, active):
        assert observations == {}
        return np.ones(len(active), np.int64)


class Crasher(Walker):
    """Raises in act on every seventh episode, in reset on episode 3."""

    def reset(self, starts):
        super().reset(starts)
        if any(start.episode_id == "e003" for start in starts):
            raise ValueError("cannot even begin")

    def choose(self, slot, offset):
        if int(self.episodes[slot][1:]) % 7 == 0 and abs(offset) <= 2:
            raise ZeroDivisionError("the walker stumbled")
        return super().choose(slot, offset)


class Lawless(Walker):
    """Takes an action that does not exist near the goal of every fifth episode."""

    def choose(self, slot, offset):
        if int(self.episodes[slot][1:]) % 5 == 0 and abs(offset) <= 1:
            return 9
        return super().choose(slot, offset)


class Unattached(Walker):
    """Does not accept its batch."""

    def attach(self, batch):
        raise ValueError("no corridors")


class Wreck(Walker):
    """Raises in every episode."""

    def choose(self, slot, offset):
        raise RuntimeError("on the rocks")


class Talker(Walker):
    """Prints, in two ways."""

    def reset(self, starts):
        super().reset(starts)
        print("said by print")
        os.write(1, b"said to descriptor 1\n")


class Closer(Walker):
    """Closes what it prints to, and says what is wrong in two lines."""

    def reset(self, starts):
        super().reset(starts)
        sys.stdout.close()
        raise RuntimeError("weights are missing:\n  see the manual")


class Suicide(SlowWalker):
    """Kills its own process, as kill -9 does, on episode 20; only once if `MARKER` is set."""

    def choose(self, slot, offset):
        marker = os.environ.get("MARKER")
        if self.episodes[slot] == "e020" and not (marker and Path(marker).exists()):
            if marker:
                Path(marker).touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return super().choose(slot, offset)


class Bomb(SlowWalker):
    """Ends its own process in the middle of episode 20, every time."""

    def choose(self, slot, offset):
        if self.episodes[slot] == "e020" and abs(offset) <= 3:
            os._exit(7)
        return super().choose(slot, offset)


class Peeker(Walker):
    """Looks into its batch and declares nothing."""

    def choose(self, slot, offset):
        assert self.batch.records[slot] is not None
        return super().choose(slot, offset)


KINDS = (
    Walker,
    SlowWalker,
    Blind,
    Crasher,
    Lawless,
    Unattached,
    Wreck,
    Talker,
    Closer,
    Suicide,
    Bomb,
    Peeker,
)
AGENTS = {kind.__name__: kind for kind in KINDS}


@dataclass(frozen=True)
class CorridorSetup:
    """Makes corridors and the agent called `agent`."""

    agent: str

    def make_batch(self, slots, sensors, threads):
        return CorridorBatch(slots, sensors)

    def make_agent(self):
        return AGENTS[self.agent]()


def make_benchmark(agent="Walker", count=40):
    """`count` corridors in scenes of four."""
    episodes = []
    for k in range(count):
        generator = make_generator("corridor", k)
        start, goal = (float(x) for x in generator.integers(0, LENGTH + 1, 2))
        episodes.append(
            Episode(
                f"e{k:03}",
                f"corridor/{k // 4:02}",
                (start, 0.0, 0.0),
                0.0,
                PointGoal((goal, 0.0, 0.0)),
                abs(goal - start),
            )
        )
    identity = Identity("corridor-v1", "corridors", "mini", "0123456789abcdef")
    return Benchmark(identity, tuple(episodes), ACTIONS, METRICS, CorridorSetup(agent))


def open_corridor(settings, needs_agent=True):
    """In the place of open_benchmark: the corridor under any protocol id."""
    return make_benchmark(settings.agent)


def make_settings(folder, agent="Walker", **others):
    return EvaluationSettings("corridor-v1", agent=agent, out=folder, **others)


def main(folder, agent, workers, batch_size, ray=None):
    """Evaluate in this process, or in a Ray cluster, telling each finished episode on stdout."""
    settings = make_settings(Path(folder), agent, workers=int(workers), batch_size=int(batch_size), ray=ray)
    with open_run(settings, make_benchmark(agent)) as run:
        run.finish(lambda: print("row", flush=True))


if __name__ == "__main__":
    main(*sys.argv[1:5])
