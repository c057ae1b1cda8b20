"""Devices that images are drawn on: the only door to NVIDIA Warp."""

import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

from navarena.core.errors import InputError, require_extra, unknown_name
from navarena.core.files import cache_folder

CPU = "cpu"
"""The CPU's own engine, which needs no Warp."""
WARP_CPU = "warp-cpu"
"""Warp's kernels on the CPU: for tests of them, not for speed."""
CUDA = "cuda"
DEVICES = (CPU, WARP_CPU, CUDA, "cuda:0", "cuda:1")
"""Known names; further GPUs are called cuda:2 and so on."""

_ON_THE_CPU = "draw on the CPU with the device 'cpu', or test with 'warp-cpu'"


def find_warp() -> Any:
    """NVIDIA Warp, ready for use; its compiled kernels lie in the cache folder.

    Raises MissingExtraError with the install command when it is absent.
    """
    warp = require_extra("warp", "gpu")
    if warp.config.kernel_cache_dir is None:
        warp.config.kernel_cache_dir = str(cache_folder() / "kernels" / f"warp-{warp.__version__}")
    warp.config.log_level = max(warp.config.log_level, warp.LOG_WARNING)
    with _without_driver_warning():
        warp.init()
    return warp


@contextmanager
def _without_driver_warning() -> Iterator[None]:
    """Leave out what Warp's library writes to stderr of a missing driver, as an error says so where a GPU is
    asked for. Other lines are passed on.
    """
    sys.stderr.flush()
    with tempfile.TemporaryFile() as kept, ExitStack() as stack:
        try:
            stderr = os.dup(2)
        except OSError:  # closed: nothing to leave out
            yield
            return
        stack.callback(os.close, stderr)
        os.dup2(kept.fileno(), 2)
        try:
            yield
        finally:
            os.dup2(stderr, 2)
            kept.seek(0)
            for line in kept.read().splitlines(keepends=True):
                if b"Could not find or load the NVIDIA CUDA driver" not in line:
                    os.write(2, line)


def is_cuda_name(name: str) -> bool:
    """Whether `name` is "cuda" or "cuda:" and a number."""
    first, mark, number = name.partition(":")
    return first == CUDA and (not mark or number.isdecimal())


def require_device_name(name: str) -> str:
    """Return `name` if it can name a device, whether or not this machine has it; else UnknownNameError."""
    if name not in DEVICES and not is_cuda_name(name):
        raise unknown_name("device", name, DEVICES)
    return name


def find_device(name: str) -> Any:
    """Warp's device for "warp-cpu", "cuda" or "cuda:1".

    Raises UnknownNameError for another name, MissingExtraError without Warp, and InputError where there is
    no GPU, its driver is too old, or it has another number.
    """
    require_device_name(name)
    if name == CPU:
        raise InputError("expected a device of Warp, got 'cpu', which needs none")
    warp = find_warp()
    if name == WARP_CPU:
        return warp.get_device("cpu")
    found = warp.get_cuda_devices()
    if not found:
        raise InputError(describe_missing_cuda(warp))
    number = int(name.partition(":")[2] or 0)
    if number >= len(found):
        raise InputError(f"expected one of {len(found)} GPUs (cuda:0 to cuda:{len(found) - 1}), got {name!r}")
    return found[number]


def describe_missing_cuda(warp: Any) -> str:
    """The reason why Warp finds no GPU here, and its remedy."""
    toolkit, driver = warp.get_cuda_toolkit_version(), warp.get_cuda_driver_version()
    if toolkit is None:
        return f"expected a Warp with CUDA, got one that was built without; {_ON_THE_CPU}"
    if driver is None:
        return f"expected an NVIDIA driver for the device 'cuda', got none; install one, or {_ON_THE_CPU}"
    if driver[0] < toolkit[0]:
        return (
            f"expected an NVIDIA driver for CUDA {toolkit[0]}.0 or newer, got one for CUDA "
            f"{driver[0]}.{driver[1]}; update the driver, install an older warp-lang, or {_ON_THE_CPU}"
        )
    return f"expected a GPU for the device 'cuda', got none (is CUDA_VISIBLE_DEVICES empty?); {_ON_THE_CPU}"


def describe_devices() -> list[str]:
    """The GPUs that Warp finds here, each by device name, model and memory; raises as find_warp does."""
    return [
        f"{device.alias} {device.name}, {device.total_memory / 2**30:.0f} GiB"
        for device in find_warp().get_cuda_devices()
    ]
