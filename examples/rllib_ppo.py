"""PPO of RLlib on PointNav, far too short to learn anything.

pip install "navarena[examples]"
python examples/rllib_ppo.py 1
"""

import sys
from typing import Any

import gymnasium
import ray
from ray.rllib.algorithms.ppo import PPOConfig
from ray.rllib.connectors.env_to_module import FlattenObservations
from ray.tune.registry import register_env

SENSORS = ("depth", "pointgoal_with_gps_compass")


def make_env(settings: dict[str, Any]) -> gymnasium.Env:
    """A PointNav environment with small images; RLlib calls this in each of its processes."""
    return gymnasium.make("navarena.gym:navarena/PointNav-v1", **settings)


def main(iterations: int) -> None:
    """Train for `iterations` iterations of 64 steps in this process."""
    # "local": a Ray of its own, whatever RAY_ADDRESS or an earlier session on this machine says
    ray.init(address="local", num_cpus=1, include_dashboard=False, logging_level="ERROR")
    register_env("pointnav", make_env)
    settings = {"split": "mini", "sensors": SENSORS, "image_size": (32, 32), "depth_dtype": "uint8"}
    config = (
        PPOConfig()
        .environment("pointnav", env_config=settings)
        .env_runners(  # a Dict of an image and a vector becomes one vector
            num_env_runners=0, env_to_module_connector=lambda env, spaces, device: FlattenObservations()
        )
        .training(train_batch_size=64, minibatch_size=64, num_epochs=1)
    )
    algorithm = config.build_algo()
    for _ in range(iterations):
        found = algorithm.train()
        print(f"{found['num_env_steps_sampled_lifetime']:.0f} steps in {found['time_total_s']:.1f} s")
    algorithm.stop()
    ray.shutdown()


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1)
