"""Several processes: their gradients are those of one with all rollouts; they resume, and end together."""

import io
import json
import os
import socket
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from navarena.core.errors import FileError, InputError  # noqa: E402
from navarena.learning.checkpoints.files import MODEL, RESUME  # noqa: E402
from navarena.learning.checkpoints.policies import read_info  # noqa: E402
from navarena.learning.distributed import (  # noqa: E402
    PARTS,
    Processes,
    join_processes,
    load_part,
    part_path,
    save_part,
)
from navarena.learning.rollouts.returns import normalise_advantages  # noqa: E402
from navarena.learning.settings import HABITAT_DDPPO, ImitationSettings  # noqa: E402
from navarena.learning.trainings.log import LOG  # noqa: E402
from navarena.learning.trainings.updates import make_optimiser, update_imitation, update_ppo  # noqa: E402

from .made import fill_rollout, make_policy  # noqa: E402
from .test_training import TINY, make_training, same  # noqa: E402

pytestmark = pytest.mark.learn

PPO = replace(HABITAT_DDPPO, minibatches=1, epochs=3, normalise="variance")
IMITATION = ImitationSettings(minibatches=1, epochs=3)


def fill_whole():
    """A rollout of 16 slots with labels whose weights differ."""
    rollout, generator = fill_rollout(make_policy()), np.random.default_rng(3)
    shape = rollout.labels.shape
    rollout.labels[:] = torch.from_numpy(generator.integers(0, 4, shape))
    rollout.weights[:] = torch.from_numpy(generator.uniform(0.5, 3.0, shape))
    return rollout


def fill_uneven():
    """The same, with 5 steps of each of the first five slots, and in the mean of the others."""
    rollout, generator = fill_whole(), np.random.default_rng(4)
    rollout.lengths = torch.tensor([5, 5, 5, 5, 5, *[6, 4, 6, 4, 5, 5, 5, 5, 5, 6, 4]])
    rollout.stale = torch.tensor([2, 0, 1, 5, 0, *[3, 1, 0, 0, 2, 2, 0, 1, 4, 0, 1]])
    rollout.returns[:] = torch.from_numpy(generator.normal(size=rollout.returns.shape))
    return rollout


def find_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return str(one.getsockname()[1])


def test_two_processes_learn_as_one_and_go_on_bit_for_bit(tmp_path):
    """Weights after three steps of PPO and imitation; trainings that were stopped; one that ends alone.

    In variable collection the slow one learns from old steps again.
    """
    shared = os.environ | {"WORLD_SIZE": "2", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": find_port()}
    script = str(Path(__file__).parent / "two_processes.py")
    running = [
        subprocess.Popen(
            [sys.executable, script, str(tmp_path)],
            env=shared | {"RANK": str(rank)},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        for rank in range(2)
    ]
    said = [one.communicate(timeout=200)[0] for one in running]
    assert [one.returncode for one in running] == [0, 0], said
    assert "expected 2 processes, but one has ended" in said[0]
    assert "0 threads of the group are left" in said[0], "the interpreter's end would abort now and then"
    for name, settings, update, fill in (
        ("ppo", PPO, update_ppo, fill_whole),
        ("uneven", PPO, update_ppo, fill_uneven),
        ("imitation", IMITATION, update_imitation, fill_whole),
    ):
        policy = make_policy()
        optimiser = make_optimiser(policy, settings.optimiser)
        update(policy, optimiser, fill(), settings, 0.0, np.random.default_rng(0))
        first, second = (torch.load(tmp_path / f"{name}-{rank}.pt") for rank in range(2))
        assert same(first, second), name
        for key, value in policy.state_dict().items():
            torch.testing.assert_close(first[key], value, rtol=0, atol=1e-6)
    whole, stopped = tmp_path / "whole", tmp_path / "stopped"
    assert (whole / MODEL).read_bytes() == (stopped / MODEL).read_bytes()
    log = [json.loads(line) for line in (whole / LOG).read_text().splitlines()]
    assert len(log) == 4
    spent = read_info(whole).cpu_seconds
    own = torch.load(whole / RESUME, weights_only=True)["cpu_seconds"]
    assert spent >= log[-1]["cpu_seconds"] and spent > 1.3 * own, "the time of both processes"
    assert [path.name for path in (stopped / PARTS).iterdir()] == ["4-1.pt"]
    assert torch.load(stopped / RESUME, weights_only=True)["frames"] == 4 * 128
    assert same(*(torch.load(tmp_path / f"variable-{rank}.pt") for rank in range(2)))
    rows = [json.loads(line) for line in (tmp_path / "variable" / LOG).read_text().splitlines()]
    frames = np.diff([0, *(row["frames"] for row in rows)])
    assert frames[0] == frames[2] == 128, "nothing fills up a first rollout, nor one after a start"
    for number in set(range(len(rows))) - {0, 2}:  # one of two processes learns from 64 - own steps again
        assert 64 + 16 <= frames[number] < 128
        assert rows[number]["stale_share"] == pytest.approx((128 - frames[number]) / 128)
    assert len(rows) > 4


def test_advantages_of_all_processes_have_mean_0():
    """The other process, with half as many steps, is played by sums that are known."""
    own, other = torch.randn(4, 6), torch.randn(2, 6) + 3.0
    whole = torch.cat((own, other))
    shares = iter([torch.stack((other.sum(), torch.tensor(12.0))), (other - whole.mean()).square().sum()])

    class Two(Processes):
        def add_up(self, values):
            return values + next(shares)

    found = normalise_advantages(own, "deviation", Two(0, 2))
    torch.testing.assert_close(found, normalise_advantages(whole, "deviation")[:4])
    torch.testing.assert_close(normalise_advantages(whole, "variance").mean(), torch.tensor(0.0))


def test_gradients_of_some_processes_are_averaged_by_name():
    """As of HAMT's proxy tasks, of which each process draws its own: heads of others have no gradient there.

    Weights 1 and 3: 2 / 4 of the first, 3 x 6 / 4 of the second, and loss (1 + 3 x 5) / 4.
    """

    class Two(Processes):
        def add_up(self, values):
            assert values.tolist() == [2.0, 0.0, 0.0, 1.0, 1.0, 1.0, 0.0, 0.0]
            return values + torch.tensor([0.0, 18.0, 0.0, 15.0, 3.0, 0.0, 1.0, 0.0])

    parameters = [torch.nn.Parameter(torch.zeros(1)) for _ in range(3)]
    parameters[0].grad = torch.tensor([2.0])
    frozen = torch.nn.Parameter(torch.zeros(4), requires_grad=False)
    loss = Two(0, 2).average_gradients([frozen, *parameters], torch.tensor(1.0), torch.tensor(1.0))
    assert loss == 4.0
    assert [one.grad if one.grad is None else one.grad.item() for one in parameters] == [0.5, 4.5, None]


def test_rollouts_end_when_enough_others_are_complete():
    class Store:
        def __init__(self):
            self.counts = {}

        def add(self, name, more):
            self.counts[name] = self.counts.get(name, 0) + more
            return self.counts[name]

    store = Store()
    processes = [Processes(rank, 5, store) for rank in range(5)]
    for one in processes:
        one.begin_rollout()
    for finished, expected in enumerate((False, False, False, True)):
        assert processes[4].must_end(8, 32, 0.6) is expected, "3 of 5 are 60 %"
        processes[finished].end_rollout()
    assert not processes[4].must_end(7, 32, 0.6), "a quarter of the steps comes first"
    assert not processes[4].must_end(31, 32, 1.0)
    processes[4].begin_rollout()
    assert not processes[4].must_end(31, 32, 0.6)
    assert not Processes().must_end(31, 32, 0.1)


def test_a_rollout_that_was_ended_is_a_shorter_one(tmp_path):
    """Cut at 4 of 8 steps, the training is bit for bit one with rollouts of 4 steps."""

    class Impatient(Processes):
        def must_end(self, done, steps, share):
            return done >= 4

    cut = make_training(tmp_path / "cut", processes=Impatient())
    short = make_training(tmp_path / "short", replace(TINY, steps=4))
    for _ in range(5):
        assert cut.advance() == short.advance()
    assert cut.frames == short.frames == 5 * 4 * TINY.slots
    assert same(cut._policy.state_dict(), short._policy.state_dict())


def test_what_another_process_goes_on_from_is_there_or_named(tmp_path):
    """Of the checkpoint's own update: one cut off while it was written, or of another update, is none."""
    buffer = io.BytesIO()
    torch.save({"frames": torch.ones(2)}, buffer)
    save_part(tmp_path, 4, 1, buffer.getvalue())
    assert load_part(tmp_path, 4, 1)["frames"].tolist() == [1, 1]
    for updates, data in ((5, None), (4, buffer.getvalue()[:-30])):
        if data is not None:
            part_path(tmp_path, updates, 1).write_bytes(data)
        with pytest.raises(FileError, match=rf"{updates}-1.pt is missing or damaged .*--out"):
            load_part(tmp_path, updates, 1)


def test_a_training_goes_on_with_as_many_processes(tmp_path):
    make_training(tmp_path).run()
    with pytest.raises(InputError, match="expected 1 processes of the training"):
        make_training(tmp_path, rooms=("room", "other"), processes=Processes(0, 2))


@pytest.mark.parametrize(
    ("device", "kind"), [("cpu", "gloo"), ("cuda", "cpu:gloo,cuda:nccl"), ("cuda:0", "gloo")]
)
def test_processes_that_share_a_gpu_talk_by_gloo(monkeypatch, device, kind):
    """NCCL refuses two processes on one device."""
    for name, value in (("WORLD_SIZE", "2"), ("RANK", "1"), ("LOCAL_RANK", "1")):
        monkeypatch.setenv(name, value)
    begun = []
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    monkeypatch.setattr(torch.cuda, "set_device", lambda device: None)
    store = torch.distributed.HashStore()
    monkeypatch.setattr(torch.distributed, "rendezvous", lambda *given, **named: iter([(store, 1, 2)]))
    monkeypatch.setattr(torch.distributed, "init_process_group", lambda kind, **named: begun.append(kind))
    processes, own = join_processes(device)
    assert begun == [kind] and (processes.rank, processes.count) == (1, 2)
    assert own == ("cuda:1" if device == "cuda" else device)
