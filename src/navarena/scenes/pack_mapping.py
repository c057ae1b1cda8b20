"""Files as read-only shared memory that holds no file descriptor.

Python's own `mmap` keeps a descriptor for every mapping (until 3.13), and a training run over
a thousand scenes with three packs each would use up what a process may have.
"""

import ctypes
import mmap
import os
import sys
import weakref
from pathlib import Path


def map_file(path: Path) -> memoryview:
    """The bytes of `path`, mapped read-only and shared; the mapping ends with the last view of it.

    Raises OSError as `open` does, ValueError for an empty file.
    """
    with path.open("rb") as file:
        length = os.fstat(file.fileno()).st_size
        if length == 0:
            raise ValueError("cannot map an empty file")
        if sys.platform == "win32" or sys.version_info >= (3, 13):
            return _map_by_python(file.fileno())
        return _map_by_system(file.fileno(), length)


def _map_by_python(descriptor: int) -> memoryview:
    options = {"trackfd": False} if sys.platform != "win32" and sys.version_info >= (3, 13) else {}
    return memoryview(mmap.mmap(descriptor, 0, access=mmap.ACCESS_READ, **options))


def _map_by_system(descriptor: int, length: int) -> memoryview:
    """The same by the system's mmap, which needs no descriptor once it has returned."""
    system = ctypes.CDLL(None, use_errno=True)
    system.mmap.restype = ctypes.c_void_p
    system.mmap.argtypes = [
        ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_int64,
    ]  # fmt: skip
    system.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
    address = system.mmap(None, length, mmap.PROT_READ, mmap.MAP_SHARED, descriptor, 0)
    if address is None or address == ctypes.c_void_p(-1).value:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))
    memory = (ctypes.c_ubyte * length).from_address(address)
    weakref.finalize(memory, system.munmap, address, length).atexit = False
    return memoryview(memory).cast("B").toreadonly()
