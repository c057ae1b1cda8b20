"""What ends a training, and what is left then: kills, too little memory, no PyTorch."""

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from navarena.core.errors import FileError, InputError  # noqa: E402
from navarena.learning.checkpoints.files import MODEL, RESUME, load_resume  # noqa: E402
from navarena.learning.distributed import Machine  # noqa: E402
from navarena.learning.rollouts import memory_needs  # noqa: E402
from navarena.learning.trainings.log import LOG, cut_log  # noqa: E402

from .rooms import WATCHED, train_in_rooms  # noqa: E402

pytestmark = pytest.mark.learn

TESTS = Path(__file__).resolve().parents[1]
KILLED = replace(WATCHED, frames=12 * 64, save_updates=1, evaluation=replace(WATCHED.evaluation, updates=3))
SCRIPT = """
from pathlib import Path
import sys
from learning.test_bad_runs import KILLED
from learning.rooms import train_in_rooms
train_in_rooms(Path(sys.argv[1]), KILLED).run()
"""


def losses(folder):
    rows = [json.loads(line) for line in (folder / LOG).read_text().splitlines()]
    names = ("imitation_loss", "agreement", "gradient_norm", "entropy", "reward", "frames")
    return [tuple(row.get(name) for name in names) for row in rows]


@pytest.mark.slow
def test_killed_at_random_moments_it_goes_on_bit_for_bit(tmp_path):
    train_in_rooms(tmp_path / "whole", KILLED).run()
    generator, folder = np.random.default_rng(11), tmp_path / "killed"
    environment = {**os.environ, "PYTHONPATH": str(TESTS)}
    kills = 0
    while kills < 3:
        process = subprocess.Popen(
            [sys.executable, "-c", SCRIPT, str(folder)], env=environment, stdout=subprocess.DEVNULL
        )
        begun, until = (folder / LOG).read_bytes() if (folder / LOG).exists() else b"", time.monotonic() + 300
        while process.poll() is None and time.monotonic() < until:
            if (folder / LOG).exists() and len((folder / LOG).read_bytes()) > len(begun):
                break  # it learns
            time.sleep(0.005)
        time.sleep(float(generator.uniform(0.0, 0.3)))
        process.send_signal(signal.SIGKILL)
        process.wait()
        kills += 1
    train_in_rooms(folder, KILLED).run()
    assert losses(folder) == losses(tmp_path / "whole")
    assert (folder / MODEL).read_bytes() == (tmp_path / "whole" / MODEL).read_bytes()


@pytest.mark.parametrize("damage", [b"\0\0\0\n", b"\xff\xfe\n", b"{}\n", b"[1]\n"])
def test_a_damaged_log_is_named_with_what_to_do(tmp_path, damage):
    whole = b'{"frames": 64}\n'
    (tmp_path / LOG).write_bytes(whole + b'{"frames": 128}\n' + b'{"fra')
    cut_log(tmp_path, 64)
    assert (tmp_path / LOG).read_bytes() == whole, "half a line, and what was lost, are no damage"
    (tmp_path / LOG).write_bytes(whole + damage)
    with pytest.raises(FileError, match=r"log .*log.jsonl is damaged .* move it away"):
        cut_log(tmp_path, 64)
    assert (tmp_path / LOG).read_bytes() == whole + damage


def test_a_state_with_other_bytes_or_of_another_kind_does_not_go_on(tmp_path):
    path, weights = tmp_path / RESUME, torch.arange(1000.0)
    torch.save({"format": "navarena-checkpoint-v1", "weights": weights}, path)
    assert torch.equal(load_resume(tmp_path)["weights"], weights)
    data = bytearray(path.read_bytes())
    data[data.index(weights.numpy().tobytes()) + 2000] ^= 1
    path.write_bytes(data)
    with pytest.raises(FileError, match=r"resume.pt is damaged \(the checksum of .* choose another folder"):
        load_resume(tmp_path)
    torch.save([1], path)
    with pytest.raises(FileError, match=r"resume.pt is damaged \(expected a dictionary, got list"):
        load_resume(tmp_path)
    path.unlink()
    path.mkdir()
    with pytest.raises(FileError, match=r"resume.pt is damaged \(.*directory"):
        load_resume(tmp_path)
    path.rmdir()
    path.touch()
    with pytest.raises(FileError, match=r"resume.pt is damaged \(\w+"):
        load_resume(tmp_path)


def test_too_little_memory_says_how_much_is_needed(tmp_path, monkeypatch):
    inputs = train_in_rooms(tmp_path)._info.inputs
    each = 36 * 48 * 2 + 2 * 4
    assert memory_needs.rollout_bytes(WATCHED, inputs) == 8 * 8 * each
    monkeypatch.setattr(memory_needs, "total_bytes", lambda: 100_000)
    with pytest.raises(InputError, match=r"8 slots x 8 steps alone take 0.00 GB; lower slots, steps"):
        train_in_rooms(tmp_path)
    for error in (MemoryError(), RuntimeError("DefaultCPUAllocator: can't allocate memory: you tried")):
        with (
            pytest.raises(InputError, match="too little memory"),
            memory_needs.telling_memory_needs(WATCHED, inputs),
        ):
            raise error
    with pytest.raises(RuntimeError, match="shape"), memory_needs.telling_memory_needs(WATCHED, inputs):
        raise RuntimeError("shape")


def test_a_policy_beyond_all_memory_is_refused_in_one_line(tmp_path):
    recipe = replace(WATCHED, policy=replace(WATCHED.policy, hidden=6_000_000))
    with pytest.raises(InputError, match=r"too little memory: 8 slots x 8 steps; .* sizes of the policy"):
        recipe.begin(tmp_path, Machine())
    assert not list(tmp_path.iterdir())


WITHOUT = """
import sys
package = sys.argv.pop(1)

class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == package:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Absent())
from navarena.cli.main import main
sys.exit(main())
"""


@pytest.mark.parametrize("package", ["torch", "safetensors"])
@pytest.mark.parametrize("command", [["train", "pointnav-smoke"], ["checkpoint", "info", "x"]])
def test_without_a_package_one_line_says_what_to_install(command, package, tmp_path):
    line = [sys.executable, "-c", WITHOUT, package, *command]
    done = subprocess.run(line, capture_output=True, text=True, cwd=tmp_path, timeout=120)
    assert done.returncode == 2 and not list(tmp_path.iterdir()), done.stderr
    (line,) = done.stderr.splitlines()
    assert package in line and "navarena[learn]" in line
