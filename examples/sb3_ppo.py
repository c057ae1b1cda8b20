"""PPO of stable-baselines3 on PointNav, far too short to learn anything.

pip install "navarena[examples]"
python examples/sb3_ppo.py 256
"""

import sys

import gymnasium
from stable_baselines3 import PPO
from stable_baselines3.common.env_checker import check_env
from stable_baselines3.common.env_util import make_vec_env

ID = "navarena.gym:navarena/PointNav-v1"
OPTIONS = {"split": "mini", "image_size": (64, 64), "depth_dtype": "uint8"}


def main(steps: int) -> None:
    """Let the checker look at one environment, and train in two of them for `steps` steps."""
    check_env(gymnasium.make(ID, **OPTIONS).unwrapped)
    envs = make_vec_env(ID, n_envs=2, seed=0, env_kwargs=OPTIONS)  # SubprocVecEnv: one process for each
    model = PPO("MultiInputPolicy", envs, n_steps=64, batch_size=64, n_epochs=1, seed=0, device="cpu")
    model.learn(steps)
    returns = [one["r"] for one in model.ep_info_buffer or ()]
    print(f"{model.num_timesteps} steps, {len(returns)} episodes ended")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 256)
