"""A fingerprint of the source that a module's kernels are compiled from.

Numba's own cache looks only at the file of the kernel itself, so an edited callee, or an
edited constant, in another file goes unnoticed. The fingerprint covers a file and every
file of its package that it imports, however indirectly.
"""

import hashlib
import re
from functools import cache
from pathlib import Path

_IMPORT = re.compile(
    rb"^[ \t]*(?:from[ \t]+([\w.]+)[ \t]+import[ \t]+(\([^)]*\)|[^\n#]*)|import[ \t]+([\w., \t]+))", re.M
)


@cache
def _imports(file: Path) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """(module, imported names) of every absolute import statement in `file`."""
    found = []
    for module, names, plain in _IMPORT.findall(file.read_bytes()):
        if module:
            found.append((module.decode(), tuple(re.findall(r"\w+", names.decode()))))
        else:
            found.extend((part.strip().split(" ")[0], ()) for part in plain.decode().split(","))
    return tuple(found)


@cache
def _file_of(root: Path, module: str) -> Path | None:
    path = root.parent.joinpath(*module.split("."))
    if path.with_suffix(".py").is_file():
        return path.with_suffix(".py")
    return path / "__init__.py" if (path / "__init__.py").is_file() else None


def source_closure(file: Path, root: Path) -> frozenset[Path]:
    """`file` and all files below the package folder `root` that it imports, transitively."""
    pending, seen = [file], {file}
    while pending:
        for module, names in _imports(pending.pop()):
            if module.split(".")[0] != root.name:
                continue
            for candidate in (module, *(f"{module}.{name}" for name in names)):
                found = _file_of(root, candidate)
                if found is not None and found not in seen:
                    seen.add(found)
                    pending.append(found)
    return frozenset(seen)


def package_root(file: Path) -> Path:
    """The outermost folder around `file` that is a package."""
    root = file.parent
    while (root.parent / "__init__.py").is_file():
        root = root.parent
    return root


@cache
def source_fingerprint(file: Path) -> str:
    """SHA-256 (hex) over the closure of `file` within its own package."""
    root = package_root(file)
    digest = hashlib.sha256()
    for path in sorted(source_closure(file, root)):
        digest.update(str(path.relative_to(root)).encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()
