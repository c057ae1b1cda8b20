"""Labels of the teacher against the plans of the planner, from random poses in houses.

`python tests/tasks/teacher_agreement.py 25000 [SEED]` compares that many poses of each protocol.
"""

import sys
import time
from dataclasses import dataclass
from itertools import count, groupby

import numpy as np

from navarena.simulation.planning.planner import ActionPlanner, Query
from navarena.tasks.batch import NavigationBatch
from navarena.tasks.catalog import get_body_task
from navarena.tasks.sources import load_task_episodes
from navarena.tasks.teacher import make_teacher

PROTOCOLS = {
    "pointnav-v1": "val",
    "multion-3on-v1": "val",
    "objectnav-hm3d2022-v1": "val",
    "r2r-ce-v1": "val_unseen",
}
"""Name -> split."""

SLOTS, ROUNDS = 25, 4
"""Episodes of a house at once, and poses of each."""


@dataclass(frozen=True)
class Agreement:
    """Labels of one protocol: how many, how many differ from the plan, and what that costs.

    Attributes:
        poses: compared.
        others: labels that do not begin the plan.
        worst: metres, the greatest geodesic distance by which such a label leaves the body farther from the
            goal than the plan's first action does.
        stuck: poses labelled by a search.
    """

    poses: int
    others: int
    worst: float
    stuck: int


def compare_labels(protocol: str, poses: int, seed: int) -> Agreement:
    """Compare at least so many `poses`, in as many houses as that takes."""
    task = get_body_task(protocol)
    wanted = task.success_distance if task.expert_distance is None else task.expert_distance
    index = {name: number for number, name in enumerate(task.actions)}
    index["stop"] = index[task.declaration]  # what plans call it
    planner = ActionPlanner(task.embodiment, wanted, task.max_steps)
    batch = NavigationBatch(task, SLOTS, sensors=())
    teacher, simulator = make_teacher(batch), batch.simulator
    generator = np.random.default_rng(seed)
    episodes = load_task_episodes(task, PROTOCOLS[protocol]).episodes
    houses = (group for _ in count() for _, group in groupby(episodes, lambda one: one.scene_id))
    done, others, worst, stuck = 0, 0, 0.0, 0
    for group in houses:
        known = list(group)
        chosen = [known[k] for k in generator.integers(len(known), size=SLOTS)]
        batch.start(range(SLOTS), chosen)
        navmesh, world = simulator.navmesh(0), simulator.slot_worlds.world(0)
        for _ in range(ROUNDS):
            places, yaws = navmesh.random_point(generator, SLOTS), generator.uniform(-np.pi, np.pi, SLOTS)
            simulator.place(range(SLOTS), [world] * SLOTS, places, yaws)
            labels = teacher.label(np.ones(SLOTS, bool))
            goals = batch.state.goal_places
            plans = planner.plan(Query([navmesh] * SLOTS, places, yaws, goals))
            first = [index[plan[0] if plan else "stop"] for plan in plans]
            for slot in np.flatnonzero(labels != first):
                left = [
                    _distance_after(task, navmesh, goals[slot], places[slot], yaws[slot], action)
                    for action in (labels[slot], first[slot])
                ]
                worst = max(worst, left[0] - left[1])
                others += 1
            stuck += int(teacher.stuck.sum())
            done += SLOTS
        if done >= poses:
            break
    return Agreement(done, others, worst, stuck)


def _distance_after(task, navmesh, goals, place, yaw, action) -> float:
    """Metres to the nearest of `goals` after the action; turns and the declaration leave it as it was."""
    end = np.array(place)
    if task.actions[action] == "move_forward":
        ahead = task.embodiment.forward_step * np.array([-np.sin(yaw), 0.0, -np.cos(yaw)])
        (end,) = navmesh.try_step(end[None], (end + ahead)[None], task.embodiment.slides)
    return float(np.min(navmesh.geodesic_distance(np.repeat(end[None], len(goals), 0), np.asarray(goals))))


def main() -> int:
    """Compare as the command line says; the exit code is 1 where too many labels differ."""
    poses = int(sys.argv[1])
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else time.time_ns() % 10**9
    print(f"seed {seed}")
    found = {}
    for protocol in PROTOCOLS:
        found[protocol] = compare_labels(protocol, poses, seed)
        print(f"{protocol:24} {found[protocol]}", flush=True)
    poses, others = sum(one.poses for one in found.values()), sum(one.others for one in found.values())
    print(f"{poses - others:,} of {poses:,} labels alike ({100 * (1 - others / poses):.3f} %)")
    return int(others > poses / 1000)


if __name__ == "__main__":
    sys.exit(main())
