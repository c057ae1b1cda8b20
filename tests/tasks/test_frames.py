"""Few frames of Python lie between a step of an environment and the kernels that do its work."""

import sys
from pathlib import Path

import numpy as np
import pytest

import navarena
from navarena.simulation import simulator
from navarena.simulation.rendering import engine
from navarena.tasks.env import NavigationEnv
from tasks.small import EPISODES, SmallPointNav, make_cache

FORWARD = 1
PACKAGE = str(Path(navarena.__file__).parent)


def measure_frames(monkeypatch, module, kernel, corruptions=()):
    """Frames of navarena from NavigationEnv.step to the caller of `kernel`, both counted, of each call."""
    depths, compiled = [], getattr(module, kernel)

    def measured(*args):
        frame, count = sys._getframe(1), 0
        while frame is not None:
            path = frame.f_code.co_filename
            count += path.startswith(PACKAGE)
            if frame.f_code.co_name == "step" and path.endswith("tasks/env.py"):
                depths.append(count)
            frame = frame.f_back
        return compiled(*args)

    env = NavigationEnv(
        SmallPointNav(), episodes=EPISODES, worlds=make_cache(), sensors=("rgb",), corruptions=corruptions
    )
    env.reset(seed=0)
    monkeypatch.setattr(module, kernel, measured)
    env.step(np.int64(FORWARD))
    return depths


@pytest.mark.parametrize("corruptions", [(), ("native_noise", "speckle_noise")])
def test_few_frames_lie_between_a_step_and_a_kernel(monkeypatch, corruptions):
    (motion,) = measure_frames(
        monkeypatch, simulator, "move_bodies" if corruptions else "act_bodies", corruptions
    )
    assert motion <= 5
    (image,) = measure_frames(monkeypatch, engine, "render_views", corruptions)
    assert image <= 8
