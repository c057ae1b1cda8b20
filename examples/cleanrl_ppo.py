"""PPO in one file, after CleanRL, on PointNav: a loop over a vector environment, far too short to learn.

pip install "navarena[learn]"
python examples/cleanrl_ppo.py 4
"""

import sys

import gymnasium
import numpy as np
import torch
from torch import nn

ENVS, STEPS, GAMMA, LAMBDA, CLIP = 4, 32, 0.99, 0.95, 0.2


class Network(nn.Module):
    """Policy and value of depth and the goal's distance and direction."""

    def __init__(self, actions: int) -> None:
        super().__init__()
        self.eye = nn.Sequential(
            nn.Conv2d(1, 16, 8, 4),
            nn.ReLU(),
            nn.Conv2d(16, 32, 4, 2),
            nn.ReLU(),
            nn.Flatten(),
            nn.LazyLinear(64),
        )
        self.body = nn.Sequential(nn.ReLU(), nn.LazyLinear(64), nn.Tanh())
        self.policy, self.value = nn.LazyLinear(actions), nn.LazyLinear(1)

    def forward(self, seen: dict[str, torch.Tensor]) -> tuple[torch.distributions.Categorical, torch.Tensor]:
        """Distribution of actions and value, (N,), of observations (N, ...)."""
        depth = self.eye(seen["depth"].permute(0, 3, 1, 2) / 255.0)
        hidden = self.body(torch.cat([depth, seen["pointgoal_with_gps_compass"]], 1))
        return torch.distributions.Categorical(logits=self.policy(hidden)), self.value(hidden)[:, 0]


def main(updates: int) -> None:
    """Train for `updates` updates of ENVS x STEPS steps."""
    torch.manual_seed(0)
    envs = gymnasium.make_vec(
        "navarena.gym:navarena/PointNav-v1",
        num_envs=ENVS,
        split="mini",
        sensors=("depth", "pointgoal_with_gps_compass"),
        image_size=(64, 64),
        depth_dtype="uint8",
    )
    network = Network(int(envs.single_action_space.n))
    observed, _ = envs.reset(seed=0)
    seen = {name: torch.as_tensor(value) for name, value in observed.items()}
    network(seen)  # gives the lazy layers their sizes
    optimizer = torch.optim.Adam(network.parameters(), 2.5e-4)
    over = torch.zeros(ENVS)
    for update in range(updates):
        kept: dict[str, list[torch.Tensor]] = {
            name: [] for name in ("action", "log", "value", "reward", "begins")
        }
        images: list[dict[str, torch.Tensor]] = []
        for _ in range(STEPS):
            with torch.no_grad():
                policy, value = network(seen)
            action = policy.sample()
            images.append(seen)
            observed, reward, terminated, truncated, _ = envs.step(action.numpy())
            # an environment that was over ignores its action and begins anew: that step is no experience
            row = (action, policy.log_prob(action), value, torch.as_tensor(reward, dtype=torch.float32), over)
            for name, one in zip(kept, row):
                kept[name].append(one)
            over = torch.as_tensor(terminated | truncated, dtype=torch.float32)
            seen = {name: torch.as_tensor(one) for name, one in observed.items()}
        with torch.no_grad():
            following, gain = network(seen)[1], torch.zeros(ENVS)
        gains = []
        for step in reversed(range(STEPS)):
            ends = over if step == STEPS - 1 else kept["begins"][step + 1]
            error = kept["reward"][step] + GAMMA * following * (1 - ends) - kept["value"][step]
            gain = error + GAMMA * LAMBDA * (1 - ends) * gain
            gains.append(gain)
            following = kept["value"][step]
        gains.reverse()
        flat = {name: torch.cat(rows) for name, rows in kept.items()}
        batch = {name: torch.cat([one[name] for one in images]) for name in images[0]}
        gained, real = torch.cat(gains), flat["begins"] == 0
        policy, value = network(batch)
        ratio = (policy.log_prob(flat["action"]) - flat["log"]).exp()
        clipped = torch.min(ratio * gained, ratio.clamp(1 - CLIP, 1 + CLIP) * gained)
        squared = (value - (gained + flat["value"])) ** 2
        loss = (0.5 * squared - clipped - 0.01 * policy.entropy())[real].mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(
            f"update {update}: {int(real.sum())} steps, mean reward {float(flat['reward'][real].mean()):.3f}"
        )
    assert np.isfinite(float(loss.detach()))


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 4)
