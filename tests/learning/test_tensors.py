"""Memory of a process that computes with PyTorch."""

import os
import subprocess
import sys

import pytest

pytest.importorskip("torch")

pytestmark = pytest.mark.learn

FAULTS = """
import resource
from navarena.learning.tensors import torch
def fill():
    torch.empty(2**24, dtype=torch.uint8).fill_(1)
for _ in range(40):
    fill()
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
for _ in range(20):
    fill()
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""
"""Pages that the system hands out for 20 blocks of 16 MB, one after the other, when there were 40 before."""


def count_faults(**environment):
    plain = {name: value for name, value in os.environ.items() if not name.startswith("MALLOC_")}
    found = subprocess.run(
        [sys.executable, "-c", FAULTS], env=plain | environment, capture_output=True, text=True, check=True
    )
    return int(found.stdout)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="glibc alone is told")
def test_freed_memory_is_used_again_unless_the_environment_says_otherwise():
    """16 MB are 4096 pages of 4 KiB, or 8 of 2 MiB; the blocks are not taken from the system again."""
    assert count_faults() < 20
    assert count_faults(MALLOC_TRIM_THRESHOLD_="0", MALLOC_MMAP_THRESHOLD_="65536") >= 20
