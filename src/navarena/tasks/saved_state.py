"""Pickles of a batch's changing state; scenes and other reopenable objects are saved by name."""

import io
import pickle
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any
from weakref import WeakKeyDictionary

Name = tuple[str, ...]
"""Of an object that is not saved, such as ("world", scene id)."""


class _Saver(pickle.Pickler):
    def __init__(self, file: io.BytesIO, named: Mapping[Name, object]) -> None:
        super().__init__(file, pickle.HIGHEST_PROTOCOL)
        self._names = {id(one): name for name, one in named.items()}

    def persistent_id(self, obj: Any) -> Name | None:
        return self._names.get(id(obj))

    def reducer_override(self, obj: Any) -> Any:
        if isinstance(obj, MappingProxyType):
            return _freeze, (dict(obj),)
        return (WeakKeyDictionary, (dict(obj),)) if isinstance(obj, WeakKeyDictionary) else NotImplemented


def _freeze(values: dict[Any, Any]) -> MappingProxyType[Any, Any]:
    """A mapping proxy of `values`; a pickle finds its type under no name."""
    return MappingProxyType(values)


class _Loader(pickle.Unpickler):
    def __init__(self, file: io.BytesIO, find: Callable[[Name], object]) -> None:
        super().__init__(file)
        self._find = find

    def persistent_load(self, pid: Any) -> object:
        return self._find(pid)


def dump_state(value: object, named: Mapping[Name, object]) -> bytes:
    """Bytes of `value`; the objects of `named` in it are saved by their names."""
    file = io.BytesIO()
    _Saver(file, named).dump(value)
    return file.getvalue()


def load_state(saved: bytes, find: Callable[[Name], object]) -> Any:
    """Load a state of dump_state; `find` returns named objects. Load only trusted states."""
    return _Loader(io.BytesIO(saved), find).load()
