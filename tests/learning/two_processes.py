"""One of two processes that learn together; started by test_distributed.py with a folder as its argument."""

import os
import sys
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import numpy as np

sys.path[:0] = [str(Path(__file__).parents[1]), str(Path(__file__).parents[2])]

from tests.learning.made import INPUTS, make_policy  # noqa: E402
from tests.learning.test_distributed import IMITATION, PPO, fill_uneven, fill_whole  # noqa: E402
from tests.learning.test_training import TINY, make_training, stop_after  # noqa: E402
from tests.learning.test_variable_collection import VARIABLE, make_variable, slow_down  # noqa: E402

from navarena.core.errors import CheckFailedError  # noqa: E402
from navarena.learning.distributed import join_processes  # noqa: E402
from navarena.learning.storage import STEPWISE, Rollout  # noqa: E402
from navarena.learning.tensors import torch  # noqa: E402
from navarena.learning.trainings.updates import make_optimiser, update_imitation, update_ppo  # noqa: E402


def take_slots(whole, slots):
    part = Rollout(INPUTS, whole.steps, len(slots))
    for name in STEPWISE:
        setattr(part, name, getattr(whole, name)[:, slots].clone())
    part.observations = {name: value[:, slots] for name, value in whole.observations.items()}
    part.state = {name: value[slots] for name, value in whole.state.items()}
    part.next_values = whole.next_values[slots]
    if whole.lengths is None:
        return part
    part.lengths, part.stale = whole.lengths[slots], whole.stale[slots]
    return part.first(int(part.lengths.max()))


def learn(processes, folder):
    """A third and two thirds of the slots: the mean counts frames, not processes."""
    slots = torch.arange(5) if processes.rank else torch.arange(5, 16)
    for name, settings, update, fill in (
        ("ppo", PPO, update_ppo, fill_whole),
        ("uneven", PPO, update_ppo, fill_uneven),
        ("imitation", IMITATION, update_imitation, fill_whole),
    ):
        policy = make_policy()
        optimiser = make_optimiser(policy, settings.optimiser)
        rollout, generator = take_slots(fill(), slots), np.random.default_rng(0)
        update(policy, optimiser, rollout, settings, 0.0, generator, processes)
        torch.save(policy.state_dict(), folder / f"{name}-{processes.rank}.pt")


def train(processes, folder):
    """Whole, and stopped after three updates, of which two were saved."""
    recipe = replace(TINY, frames=4 * 128)

    def make(name):
        return make_training(folder / name, recipe, ("room", "other"), processes=processes)

    make("whole").run()
    try:
        make("stopped").run(stop_after(3))
    except KeyboardInterrupt:
        processes.wait()
    again = make("stopped")
    assert (again.frames, again.updates) == (256, 2), (again.frames, again.updates)
    again.run()


def vary(processes, folder):
    """Two groups in each process, of which the second process is slow: the first one ends its rollouts."""
    recipe = replace(VARIABLE, preemption=0.5, frames=8 * 64)

    def make():
        training = make_variable(folder / "variable", recipe, tuple("abcd"), processes=processes)
        for group in range(recipe.groups if processes.rank else 0):
            slow_down(training, group, 0.05)
        return training

    try:
        make().run(stop_after(3))
    except KeyboardInterrupt:
        processes.wait()
    again = make()
    assert again.updates == 2, again.updates
    again.run()
    torch.save(again._policy.state_dict(), folder / f"variable-{processes.rank}.pt")


def main():
    torch.set_num_threads(1)
    processes, _ = join_processes()
    folder = Path(sys.argv[1])
    with closing(processes):
        learn(processes, folder)
        train(processes, folder)
        vary(processes, folder)
        if processes.rank:
            os._exit(0)  # without a word to the other one
        try:
            processes.wait()
        except CheckFailedError as error:
            print(error)
    names = [path.read_text().strip() for path in Path("/proc/self/task").glob("*/comm")]
    print(f"{names.count('pt_gloo_runloop')} threads of the group are left")


if __name__ == "__main__":
    main()
