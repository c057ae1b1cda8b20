"""The device of Warp that tests draw on: its CPU device, or the one named by NAVARENA_TEST_DEVICE.

NAVARENA_TEST_DEVICE=cuda pytest -m learn tests/simulation/rendering/warp tests/tasks/test_device_images.py
"""

import os

DEVICE = os.environ.get("NAVARENA_TEST_DEVICE", "warp-cpu")
