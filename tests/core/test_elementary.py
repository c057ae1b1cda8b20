"""Elementary functions: C's, bit for bit, whatever the processor's vectors."""

import math
import os
import subprocess
import sys

import numpy as np
import pytest

from navarena.core import elementary
from navarena.core.files import cache_folder

DRAWS = np.random.Generator(np.random.PCG64(1))
X, Y = DRAWS.uniform(-4, 4, 4000), DRAWS.uniform(0.01, 4, 4000)

WIDE = [
    name for name in np.show_config(mode="dicts")["SIMD Extensions"]["found"] if "512" in name or "V4" in name
]
"""What NumPy uses here beyond AVX2."""


@pytest.mark.parametrize(
    ("name", "arguments", "expected"),
    [
        ("arctan2", (X, Y - 2), math.atan2),
        ("power", (Y, X), math.pow),
        ("exp", (X,), math.exp),
        ("tan", (X,), math.tan),
    ],
)
def test_bits_are_those_of_the_c_library(name, arguments, expected):
    got = getattr(elementary, name)(*arguments)
    assert np.array_equal(got, [expected(*one) for one in zip(*(a.tolist() for a in arguments), strict=True)])


def test_shapes_kinds_and_edges():
    assert elementary.arctan2(0.0, -1.0).shape == () and float(elementary.arctan2(0.0, -1.0)) == math.pi
    column, row = np.array([[1.0], [-1.0]]), np.array([0.0, 1.0, -1.0])
    quarter = math.pi / 4
    expected = [[2 * quarter, quarter, 3 * quarter], [-2 * quarter, -quarter, -3 * quarter]]
    assert np.array_equal(elementary.arctan2(column, row), expected)
    assert elementary.arctan2(np.zeros((0, 2)), np.zeros(2)).shape == (0, 2)
    assert elementary.exp(np.float32([0, 1])).dtype == np.float32
    assert elementary.exp(np.arange(2.0)).dtype == np.float64
    assert elementary.exp(1000.0) == math.inf and np.isnan(elementary.power(-1.0, 0.5))
    backwards = Y[::-1]
    assert np.array_equal(elementary.tan(backwards), elementary.tan(Y)[::-1])


MADE = """
from navarena.episodes.catalog import make_episodes
from navarena.episodes.dataset import hash_episodes
for protocol in ("instance-imagenav-v1", "objectnav-hm3d2022-v1", "r2r-ce-v1"):
    made = make_episodes(protocol, ["houses-v1/val/00000"], 4)
    print("MADE", protocol, hash_episodes(tuple(made.episodes)))
"""


@pytest.mark.slow
@pytest.mark.skipif(not WIDE, reason="this processor has no AVX-512")
def test_episodes_do_not_depend_on_the_processor(tmp_path):
    found = []
    for place, disabled in (("wide", ""), ("narrow", " ".join(WIDE))):
        (tmp_path / place).mkdir()
        (tmp_path / place / "kernels").symlink_to(cache_folder() / "kernels")
        here = {"NAVARENA_CACHE": str(tmp_path / place), "NPY_DISABLE_CPU_FEATURES": disabled}
        words, whole = [sys.executable, "-c", MADE], {**os.environ, **here}
        done = subprocess.run(words, env=whole, capture_output=True, text=True, check=True)
        found.append([line for line in done.stdout.splitlines() if line.startswith("MADE")])
    assert found[0] == found[1] and len(found[0]) == 3
