"""Compiled functions: one decorator, and a disk cache keyed by all sources of a kernel.

Kernels take plain arrays and numbers; shapes are checked by the public function that calls
them. They release the GIL, so a thread pool runs them side by side; none is itself parallel.
"""

import inspect
import os
from collections.abc import Callable
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any, no_type_check, overload

import numba
import numpy as np
from numba.core import event
from numba.core.caching import CompileResultCacheImpl, FunctionCache, _CacheLocator

from navarena.core.files import cache_folder
from navarena.core.notices import announce
from navarena.core.sources import source_fingerprint

unsigned = np.uint64
"""Wraps an index that is never negative: Numba then leaves out the test for indices from the end, which
makes its loops slow (gathers in the place of plain loads)."""


class _KernelLocator(_CacheLocator):
    """Places a kernel's machine code under the cache folder, keyed by all its sources."""

    def __init__(self, py_func: Callable[..., Any], py_file: str) -> None:
        self._file = Path(py_file)
        self._fingerprint = source_fingerprint(self._file)
        self._folder = cache_folder() / "kernels" / f"numba-{numba.__version__}" / self._fingerprint[:16]

    def get_cache_path(self) -> str:
        return str(self._folder)

    def get_source_stamp(self) -> str:
        return self._fingerprint

    def get_disambiguator(self) -> str:
        return self._file.stem

    @classmethod
    def from_function(cls, py_func: Callable[..., Any], py_file: str) -> "_KernelLocator | None":
        locator = cls(py_func, py_file)
        try:
            locator.ensure_cache_path()
        except OSError:
            return None
        return locator


class _KernelCacheImpl(CompileResultCacheImpl):
    _locator_classes = [_KernelLocator]


class _KernelCache(FunctionCache):
    """Numba's function cache; a disk that refuses the write costs a compilation, not the run."""

    _impl_class = _KernelCacheImpl

    def save_overload(self, sig: Any, data: Any) -> None:
        try:
            super().save_overload(sig, data)
        except OSError:
            self.disable()


class _Announcer(event.Listener):  # type: ignore[misc]
    """Announces the compilation of our kernels, which may compile one another."""

    def __init__(self) -> None:
        self._begun: list[ExitStack] = []

    def on_start(self, event: Any) -> None:
        """Begin the notice of a kernel. Numba holds its lock meanwhile: they nest, whatever the threads."""
        function, stack = event.data["dispatcher"].py_func, ExitStack()
        if function.__module__.startswith("navarena."):
            stack.enter_context(announce("compiling kernels, once on this machine:", function.__name__))
        self._begun.append(stack)

    def on_end(self, event: Any) -> None:
        """End the notice of the kernel that was begun last."""
        self._begun.pop().close()


event.register("numba:compile", _Announcer())


def _compile(function: Callable[..., Any], fastmath: bool, inline: bool) -> Any:
    function = inspect.unwrap(function)  # a run-time type checker may have wrapped it
    options = {"inline": "always"} if inline else {}
    dispatcher = numba.njit(nogil=True, error_model="numpy", fastmath=fastmath, **options)(
        no_type_check(function)
    )
    if os.environ.get("NUMBA_DISABLE_JIT", "0") in ("", "0"):
        with suppress(RuntimeError):  # no folder can be written: compile each time
            dispatcher._cache = _KernelCache(function)
    return dispatcher


@overload
def kernel(function: Callable[..., Any]) -> Any: ...
@overload
def kernel(*, fastmath: bool = ..., inline: bool = ...) -> Callable[[Callable[..., Any]], Any]: ...
def kernel(
    function: Callable[..., Any] | None = None, *, fastmath: bool = False, inline: bool = False
) -> Any:
    """Compile `function` with Numba (nogil, NumPy's error model) behind the checked disk cache.

    Args:
        function: takes and returns plain arrays, numbers and named tuples of them.
        fastmath: lets LLVM reorder float arithmetic; never where NaN or infinity carry meaning.
        inline: pastes the body into callers at the Numba level; for tiny helpers only.
    """
    if function is not None:
        return _compile(function, fastmath, inline)
    return lambda inner: _compile(inner, fastmath, inline)
