"""`navarena doctor`: checks of this machine, and the command that installs what is missing."""

import importlib.util
import os
import platform
import re
import shutil
import sys
from collections.abc import Callable
from dataclasses import asdict, dataclass
from importlib import metadata
from pathlib import Path
from typing import Literal

from navarena.cli.console import Console
from navarena.core.errors import InputError, NavarenaError
from navarena.core.files import CACHE_VARIABLE, cache_folder
from navarena.core.threads import THREADS_VARIABLE, thread_count

SUPPORTED_PYTHON = ((3, 11), (3, 15))
"""From the first version, up to but without the second."""
TEST_DATA_VARIABLE = "NAVARENA_TEST_DATA"

_EXTRA = re.compile(r"([\w.-]+)[^;]*;.*extra == ['\"]([\w.-]+)['\"]")


@dataclass(frozen=True)
class Finding:
    """The result of one check.

    Attributes:
        name: such as "cache folder".
        status: "ok"; "missing" for something optional; "problem" for what must be repaired.
        detail: what was found.
        remedy: the command or change that helps; "" when nothing is wrong.
    """

    name: str
    status: Literal["ok", "missing", "problem"]
    detail: str
    remedy: str = ""


@dataclass(frozen=True)
class Doctor:
    """Check this machine: what works, what is missing, and the command that installs it."""

    warm: bool = False
    """Also compile all kernels now, so that later commands start at once."""
    json: bool = False
    """Print one JSON document instead of a table."""

    def run(self, console: Console) -> int:
        """Run all checks; the exit code is 1 if something must be repaired, else 0."""
        findings = [check() for check in CHECKS]
        findings += [check_extra(extra, needed) for extra, needed in list_extras().items()]
        console.table(
            "navarena doctor",
            ("what", "status", "found", "remedy"),
            [(f.name, f.status, f.detail, f.remedy) for f in findings],
        )
        seconds = None
        if self.warm:
            from navarena.cli.warming import warm_kernels

            seconds = warm_kernels(console)
            console.text(f"all kernels are compiled ({seconds:.1f} s)")
        healthy = all(finding.status != "problem" for finding in findings)
        console.result(
            {"healthy": healthy, "findings": [asdict(f) for f in findings], "warm_seconds": seconds}
        )
        return 0 if healthy else 1


def check_python() -> Finding:
    """The interpreter's version and system."""
    found = f"{platform.python_version()} on {platform.platform()}"
    if SUPPORTED_PYTHON[0] <= sys.version_info[:2] < SUPPORTED_PYTHON[1]:
        return Finding("Python", "ok", found)
    return Finding("Python", "problem", found, "use Python 3.11 to 3.14")


def check_numba() -> Finding:
    """Whether kernels compile and run, with the processor's vector features."""
    try:
        import numba
        from llvmlite import binding

        answer = numba.njit(lambda x: x + 1)(1)
        features = binding.get_host_cpu_features()
        vectors = [name for name in ("neon", "sve", "avx2", "fma", "avx512f") if features.get(name)]
        found = (
            f"Numba {numba.__version__}, {binding.get_host_cpu_name()} ({', '.join(vectors) or 'no'} vectors)"
        )
    except Exception as error:  # whatever a broken installation raises is the finding
        return Finding(
            "kernels", "problem", f"{type(error).__name__}: {error}", "pip install --force-reinstall numba"
        )
    if answer != 2:
        return Finding("kernels", "problem", found, "pip install --force-reinstall numba")
    if os.environ.get("NUMBA_DISABLE_JIT", "0") not in ("", "0"):
        return Finding("kernels", "problem", "NUMBA_DISABLE_JIT is set", "unset NUMBA_DISABLE_JIT")
    return Finding("kernels", "ok", found)


def check_threads() -> Finding:
    """How many threads kernels use."""
    try:
        return Finding(
            "threads", "ok", f"{thread_count()} of {os.cpu_count()} cores ({THREADS_VARIABLE} changes it)"
        )
    except InputError as error:
        return Finding("threads", "problem", str(error), f"unset {THREADS_VARIABLE}")


def check_cache() -> Finding:
    """Whether the cache folder can be written, what it holds, and its limit."""
    from navarena.scenes.cache_store import LIMIT_VARIABLE, cache_limit_bytes, cache_usage

    folder = cache_folder()
    probe = folder / f".probe-{os.getpid()}"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        probe.write_bytes(b"x")
        probe.unlink()
        used = sum(usage.bytes for usage in cache_usage())
        free = shutil.disk_usage(folder).free
        limit = cache_limit_bytes()
    except OSError as error:
        remedy = f"set {CACHE_VARIABLE} to a folder that can be written"
        return Finding("cache folder", "problem", f"{folder}: {error.strerror}", remedy)
    except NavarenaError as error:
        return Finding("cache folder", "problem", str(error), f"unset {LIMIT_VARIABLE}")
    sizes = (
        f"{used / 2**30:.2f} GiB used, packs limited to {limit / 2**30:g} GiB, {free / 2**30:.0f} GiB free"
    )
    return Finding("cache folder", "ok", f"{folder}: {sizes}")


def check_reference_renderer() -> Finding:
    """Whether the ray-casting reference engine is installed."""
    if importlib.util.find_spec("embreex"):
        return Finding("reference renderer", "ok", "embreex")
    return Finding(
        "reference renderer", "missing", "embreex is not installed", "pip install 'navarena[test]'"
    )


def check_browser() -> Finding:
    """Whether a browser for the browser tests is there."""
    for name in ("chromium", "chromium-browser", "google-chrome"):
        if found := shutil.which(name):
            return Finding("browser", "ok", found)
    return Finding("browser", "missing", "needed by browser tests only", "apt-get install chromium")


def check_gpu() -> Finding:
    """Whether NVIDIA Warp finds a GPU to draw on."""
    if importlib.util.find_spec("warp") is None:
        return Finding("GPU", "missing", "NVIDIA Warp is not installed", "pip install 'navarena[gpu]'")
    from navarena.core.render_devices import describe_devices, describe_missing_cuda, find_warp

    if found := describe_devices():
        return Finding("GPU", "ok", "; ".join(found))
    reason, _, remedy = describe_missing_cuda(find_warp()).partition("; ")
    return Finding("GPU", "missing", reason, remedy)


def check_test_data() -> Finding:
    """Whether the community's real files for tests are there."""
    named = os.environ.get(TEST_DATA_VARIABLE)
    if not named:
        return Finding("test data", "missing", f"{TEST_DATA_VARIABLE} is not set", "only some tests need it")
    if Path(named).is_dir():
        return Finding("test data", "ok", named)
    return Finding("test data", "problem", f"{named} is no folder", f"correct or unset {TEST_DATA_VARIABLE}")


def list_extras() -> dict[str, tuple[str, ...]]:
    """Extra -> the distributions that it brings, as the installed package declares them."""
    try:
        requirements = metadata.requires("navarena") or []
    except metadata.PackageNotFoundError:  # run from a source tree that was never installed
        return {}
    extras: dict[str, list[str]] = {}
    for requirement in requirements:
        if found := _EXTRA.match(requirement):
            extras.setdefault(found[2], []).append(found[1])
    return {extra: tuple(needed) for extra, needed in extras.items()}


def check_extra(extra: str, needed: tuple[str, ...]) -> Finding:
    """Whether the distributions `needed` by an extra are installed."""
    missing = [name for name in needed if not _is_installed(name)]
    if not missing:
        return Finding(f"extra {extra}", "ok", ", ".join(needed))
    remedy = f"pip install 'navarena[{extra}]'"
    return Finding(f"extra {extra}", "missing", f"without {', '.join(missing)}", remedy)


def _is_installed(distribution: str) -> bool:
    try:
        metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return False
    return True


CHECKS: tuple[Callable[[], Finding], ...] = (
    check_python,
    check_numba,
    check_threads,
    check_cache,
    check_reference_renderer,
    check_gpu,
    check_browser,
    check_test_data,
)
