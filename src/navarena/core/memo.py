"""A bounded cache of a function's results that can be pickled."""

from collections.abc import Callable, Hashable
from functools import lru_cache
from typing import Any, Generic, TypeVar

Result = TypeVar("Result")


class Memo(Generic[Result]):
    """Calls `function` and keeps its last `size` results; pickles and copies begin with none.

    Args:
        function: of arguments that can be hashed; where it is pickled, one that can be, such as a method.
        size: how many results stay in memory.
    """

    def __init__(self, function: Callable[..., Result], size: int) -> None:
        self._made_with = function, size
        self._call = lru_cache(size)(function)

    def __call__(self, *arguments: Hashable) -> Result:
        """The result for `arguments`."""
        return self._call(*arguments)

    def __reduce__(self) -> tuple[Any, ...]:
        return Memo, self._made_with
