"""Processes that train one policy together: gradients are averaged, log and checkpoint are the first one's.

`torchrun --nproc-per-node=N -m navarena train RECIPE` starts them. Each has slots, houses and a rollout of
its own (decentralised distributed PPO, DD-PPO, and imitation in the same way).
"""

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from importlib import import_module
from pathlib import Path
from typing import Any

from navarena.core.errors import CheckFailedError, FileError, InputError
from navarena.core.files import write_atomic
from navarena.learning.tensors import Tensor, torch

MIN_STEPS = 0.25
"""Share of its steps that every rollout has before others can end it (DD-PPO, ppo_trainer.py 641-653)."""

PATIENCE = timedelta(minutes=30)
"""How long a process waits for the others, which may be building houses."""

PARTS = "processes"
"""Folder of what the other processes go on from, within that of a checkpoint."""


class Processes:
    """All processes of a training; where there is one alone, nothing here does anything.

    Args:
        rank: of this one, from 0.
        count: of all.
        store: through which they tell each other that a rollout is complete; None of one alone.

    Attributes:
        rank, count: as given.

    Every method that talks to the others raises CheckFailedError when one of them has ended.
    """

    def __init__(self, rank: int = 0, count: int = 1, store: Any = None) -> None:
        self.rank, self.count, self._store = rank, count, store
        self._rollouts = 0

    def average_gradients(self, parameters: Iterable[Any], loss: Tensor, weight: Tensor) -> Tensor:
        """Replace gradients by their mean over the processes; returns that of the `loss`, () float32.

        A gradient that only some processes have counts as 0 in the others; one that none has stays None.

        Args:
            parameters: with or without gradients, in the same order everywhere.
            loss: () float32, of this process.
            weight: () float32, of this process, as the frames in its loss.
        """
        if self.count == 1:
            return loss.detach()
        learned = [one for one in parameters if one.requires_grad]
        weight, loss = weight.detach().to(loss.device), loss.detach()
        own = [torch.zeros_like(one) if one.grad is None else one.grad for one in learned]
        has_own = torch.tensor([float(one.grad is not None) for one in learned], device=loss.device)
        whole = torch.cat([*(one.flatten() for one in own), loss.reshape(1)]) * weight
        whole = self.add_up(torch.cat((whole, weight.reshape(1), has_own)))
        means, total, has_any = whole.split([len(whole) - 1 - len(learned), 1, len(learned)])
        means = means / total.clamp_min(1e-8)
        sizes = [one.numel() for one in learned]
        for one, mean, is_there in zip(learned, means.split([*sizes, 1]), (has_any > 0).tolist()):
            one.grad = mean.reshape(one.shape).clone() if is_there else None
        return means[-1]

    def add_up(self, values: Tensor) -> Tensor:
        """The sum of the `values`, of any shape, over all processes."""
        if self.count == 1:
            return values
        total = values.clone()
        with self._talk():
            torch.distributed.all_reduce(total)
        return total

    def gather(self, value: Any) -> list[Any]:
        """The plain `value` of every process, by rank."""
        if self.count == 1:
            return [value]
        values: list[Any] = [None] * self.count
        with self._talk():
            torch.distributed.all_gather_object(values, value)
        return values

    def begin_rollout(self) -> None:
        """A rollout begins: in every process that of the same number."""
        self._rollouts += 1

    def can_end(self, share: float) -> bool:
        """Whether rollouts may end early, where a `share` of the others is complete."""
        return self.count > 1 and share < 1.0

    def must_end(self, done: int, steps: int, share: float) -> bool:
        """Whether to end a rollout after `done` of its `steps`: where a `share` of the others is complete."""
        if not self.can_end(share) or done < MIN_STEPS * steps:
            return False
        with self._talk():
            return bool(self._store.add(str(self._rollouts), 0) >= share * self.count)

    def end_rollout(self) -> None:
        """Announce to the other processes that this process's rollout is complete."""
        if self.count > 1:
            with self._talk():
                self._store.add(str(self._rollouts), 1)

    def wait(self) -> None:
        """Wait for all processes."""
        self.add_up(torch.zeros(1))

    def close(self) -> None:
        """Leave the others."""
        if self.count > 1 and torch.distributed.is_initialized():
            torch.distributed.destroy_process_group()

    @contextmanager
    def _talk(self) -> Iterator[None]:
        try:
            yield
        except RuntimeError as error:  # PyTorch's own kinds derive from it
            first = str(error).splitlines()[0][:120]
            raise CheckFailedError(
                f"expected {self.count} processes, but one has ended ({first}); look for its own message, "
                "and run the same command, which goes on from the last checkpoint"
            ) from error


ALONE = Processes()
"""Of a training in one process."""


@dataclass(frozen=True)
class Machine:
    """Devices and processes of a training.

    Attributes:
        threads: of PyTorch and of rendering. One process with one thread per core is fastest; bits of sums
            depend on it.
        device: of PyTorch, where the policy acts and learns: "cpu", "cuda" or one of them, "cuda:1".
        processes: that train together, of which this is one; the first writes log and checkpoint.
    """

    threads: int = 1
    device: str = "cpu"
    processes: Processes = ALONE


ONE_THREAD = Machine()
"""Of this process, on the processor."""


def join_processes(device: str = "cpu") -> tuple[Processes, str]:
    """The processes that torchrun has started, of which this is one, and the device of this one.

    `device`: "cuda" becomes a device for each process of a machine, and "cuda:0" is shared by all of them,
    whose simulators take a core each. Raises InputError for fewer devices.
    """
    count = int(os.environ.get("WORLD_SIZE", "1"))
    if count == 1:
        return ALONE, device
    kind = "gloo"  # NCCL refuses processes that share a device
    if device == "cuda":
        kind = "cpu:gloo,cuda:nccl"
        device = f"cuda:{os.environ.get('LOCAL_RANK', '0')}"
        if int(device.partition(":")[2]) >= torch.cuda.device_count():
            raise InputError(
                f"expected a CUDA device for each process, got {torch.cuda.device_count()}; share one by "
                "--device cuda:0, use a smaller --nproc-per-node, or --device cpu"
            )
        torch.cuda.set_device(device)
    rank = int(os.environ["RANK"])
    # Its functions keep the group that exists at its import as a default argument. PyTorch's optimisers
    # import it; after that nothing would end the group before the interpreter, which aborts now and then.
    import_module("torch.distributed.nn.functional")
    store, _, _ = next(torch.distributed.rendezvous("env://", timeout=PATIENCE))
    torch.distributed.init_process_group(
        kind,
        store=torch.distributed.PrefixStore("group", store),
        rank=rank,
        world_size=count,
        timeout=PATIENCE,
    )
    return Processes(rank, count, torch.distributed.PrefixStore("rollouts", store)), device


def part_path(folder: Path, updates: int, rank: int) -> Path:
    """File of process `rank` for the checkpoint in `folder` after `updates` updates."""
    return folder / PARTS / f"{updates}-{rank}.pt"


def save_part(folder: Path, updates: int, rank: int, data: bytes) -> None:
    """Write the resume state of process `rank`, beside those of earlier updates; raises StorageError."""
    write_atomic(part_path(folder, updates, rank), data)


def load_part(folder: Path, updates: int, rank: int) -> dict[str, Any]:
    """The resume state of process `rank`; raises FileError if it is missing or damaged."""
    path = part_path(folder, updates, rank)
    try:
        part: dict[str, Any] = torch.load(path, weights_only=True)
    except Exception as error:  # zipfile's, pickle's and PyTorch's own kinds
        said = str(error)[:200] or type(error).__name__
        raise FileError(f"{path} is missing or damaged ({said}); choose another folder by --out") from error
    return part


def drop_parts(folder: Path, updates: int, rank: int) -> None:
    """Remove the files of the process `rank` that belong to other updates."""
    for path in (folder / PARTS).glob(f"*-{rank}.pt"):
        if path != part_path(folder, updates, rank):
            path.unlink(missing_ok=True)
