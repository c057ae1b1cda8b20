"""How well a goal encoder tells squares that show the goal from others, by the pixels of a square.

    python benchmarks/goal_squares.py joint:runs/train/joint-small [EPISODES]

Bodies follow shortest paths in EPISODES (50) episodes of the train split of ovon-v1. Every third image is
cut into squares as by `modular-cow`, and each is scaled to several sizes before it is encoded. Printed is the
share of the squares with the goal (3 % of them at least) that are more like its name than 98 % of those
without. Needs the extras `learn` and `trunk`.
"""

import sys

import cv2
import numpy as np

from navarena.episodes.encoding.catalog import find_encoder
from navarena.mapping.view_memory import cut_tiles
from navarena.tasks import NavigationBatch, get_task, load_task_episodes
from navarena.tasks.teacher import make_teacher

SIDES = (48, 63, 96, 180, 360)
STEPS, EVERY, SLOTS = 60, 3, 10
MIN_SHARE = 0.03


def main(encoder: str, count: int = 50) -> None:
    task, goal = get_task("ovon-v1"), f"goal_vector:{encoder}"
    episodes = load_task_episodes(task, "train").episodes
    picked = [episodes[k] for k in np.linspace(0, len(episodes) - 1, count).astype(int)]
    batch = NavigationBatch(task, SLOTS, 1, ("rgb", "depth", "goal_mask", goal))
    teacher, encode = make_teacher(batch), find_encoder(encoder).uncached.encode_images
    shows, likeness = [], {side: [] for side in SIDES}
    turn = task.actions.index("turn_left")
    for first in range(0, count, SLOTS):
        slots = list(range(len(picked[first : first + SLOTS])))
        batch.start(slots, picked[first : first + SLOTS])
        for step in range(STEPS):
            seen = batch.observations
            for slot in slots if step % EVERY == 0 else ():
                vector = seen[goal][slot] / np.linalg.norm(seen[goal][slot])
                for square, share in _cut(seen["rgb"][slot], seen["goal_mask"][slot]):
                    if not 0 < share < MIN_SHARE:
                        shows.append(share > 0)
                        for side in SIDES:
                            small = cv2.resize(square, (side, side), interpolation=cv2.INTER_AREA)
                            likeness[side].append(float(encode([small])[0] @ vector))
            actions = teacher.label()
            batch.step(np.where(actions == task.actions.index(task.declaration), turn, actions))
    marks = np.array(shows)
    print(f"{len(marks)} squares, {marks.sum()} with the goal")
    for side in SIDES:
        values = np.array(likeness[side])
        print(f"{side:4} pixels: {(values[marks] > np.quantile(values[~marks], 0.98)).mean():.1%}")


def _cut(rgb: np.ndarray, mask: np.ndarray) -> list[tuple[np.ndarray, float]]:
    """The three squares of an image, each with its share of the goal."""
    both = np.concatenate((rgb, np.repeat(mask, 3, -1)), -1)
    everywhere = np.ones(rgb.shape[:2])
    tiles = cut_tiles(both, everywhere, np.eye(4), 1.0, (0.0, 2.0), 3)
    return [(np.ascontiguousarray(one.image[..., :3]), float(one.image[..., 3].mean())) for one in tiles]


if __name__ == "__main__":
    main(sys.argv[1], *(int(one) for one in sys.argv[2:]))
