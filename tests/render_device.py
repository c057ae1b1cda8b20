"""The device of Warp that tests draw on: its CPU device, or the one named by NAVARENA_TEST_DEVICE.

NAVARENA_TEST_DEVICE=cuda pytest -m learn tests/simulation/rendering/warp tests/tasks/test_device_images.py
"""

import os
from typing import Any

import numpy as np

DEVICE = os.environ.get("NAVARENA_TEST_DEVICE", "warp-cpu")


def as_numpy(array: Any) -> np.ndarray:
    """An array of NumPy or of the device as NumPy's: taken without a copy where its memory is the CPU's."""
    return np.from_dlpack(array) if DEVICE == "warp-cpu" or isinstance(array, np.ndarray) else array.numpy()
