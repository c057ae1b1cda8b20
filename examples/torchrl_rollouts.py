"""Rollouts of TorchRL on PointNav: an environment, a policy on its observations, and a collector.

pip install "navarena[examples]"
python examples/torchrl_rollouts.py 2
"""

import sys

import gymnasium
import torch
from tensordict.nn import TensorDictModule
from torch import nn
from torchrl.collectors import Collector
from torchrl.envs import GymWrapper
from torchrl.envs.utils import check_env_specs
from torchrl.modules import OneHotCategorical, ProbabilisticActor

KEYS = ("depth", "pointgoal_with_gps_compass")


class Policy(nn.Module):
    """Logits of actions from depth and the goal's distance and direction."""

    def __init__(self, actions: int) -> None:
        super().__init__()
        self.layers = nn.Sequential(nn.LazyLinear(64), nn.Tanh(), nn.Linear(64, actions))

    def forward(self, depth: torch.Tensor, goal: torch.Tensor) -> torch.Tensor:
        """(..., actions) of (..., H, W, 1) bytes and (..., 2)."""
        return self.layers(torch.cat([depth.flatten(-3) / 255.0, goal], -1))


def main(batches: int) -> None:
    """Check the environment's specs, and collect `batches` batches of 64 steps."""
    torch.manual_seed(0)
    env = GymWrapper(
        gymnasium.make(
            "navarena.gym:navarena/PointNav-v1",
            split="mini",
            sensors=KEYS,
            image_size=(32, 32),
            depth_dtype="uint8",
        )
    )
    check_env_specs(env, seed=0)
    module = TensorDictModule(Policy(env.action_spec.shape[-1]), in_keys=list(KEYS), out_keys=["logits"])
    actor = ProbabilisticActor(
        module, in_keys=["logits"], spec=env.action_spec, distribution_class=OneHotCategorical
    )
    actor(env.reset())  # gives the lazy layer its size
    collector = Collector(
        env, actor, frames_per_batch=64, total_frames=64 * batches, auto_register_policy_transforms=True
    )
    for data in collector:
        ended = int(data["next", "done"].sum())
        print(
            f"{data.numel()} steps, {ended} episodes ended, reward {float(data['next', 'reward'].sum()):.2f}"
        )
    collector.shutdown()


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 2)
