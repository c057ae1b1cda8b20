"""A random walk through a generated house; the last view is saved as an image.

python examples/random_walk.py walk.png
"""

import sys

import numpy as np
from PIL import Image

import navarena
from navarena.core.seeding import make_generator
from navarena.simulation import get_body

SCENE = "houses-v1/val/00000"
STEPS = 50
FORWARD, LEFT, RIGHT = 1, 2, 3


def main(path: str) -> None:
    """Walk STEPS random steps and save the last image to `path`."""
    generator = make_generator("random-walk")
    body = get_body("multion")
    world = navarena.open_world(SCENE, body)
    simulator = navarena.Simulator(body, slots=1, sensors=("rgb",))
    start = world.navmesh.random_point(generator, 1, island=world.navmesh.largest_island)
    simulator.place([0], [world], start, generator.uniform(-np.pi, np.pi, 1))

    collisions = 0
    for _ in range(STEPS):
        simulator.step(generator.choice([FORWARD, FORWARD, LEFT, RIGHT], 1))
        collisions += int(simulator.collided[0])

    Image.fromarray(simulator.observations["rgb"][0]).save(path)
    walked = np.linalg.norm(simulator.positions[0] - start[0])
    print(f"{walked:.2f} m from the start, {collisions} collisions; the view is in {path}")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "random_walk.png")
