"""The package's source files as syntax trees, for the tests beside this file."""

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "src" / "navarena"


@dataclass(frozen=True)
class Source:
    """One file: its dotted module name, path, text and tree."""

    module: str
    path: Path
    text: str
    tree: ast.Module

    @property
    def package(self) -> str:
        """Name of the top-level package it belongs to, such as "scenes"; "" for navarena itself."""
        parts = self.module.split(".")
        inside = len(parts) > 2 or self.path.name == "__init__.py"
        return parts[1] if len(parts) > 1 and inside else ""


@cache
def sources() -> tuple[Source, ...]:
    """Every file of the package, by path."""
    found = []
    for path in sorted(PACKAGE.rglob("*.py")):
        parts = ("navarena", *path.relative_to(PACKAGE).with_suffix("").parts)
        module = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        text = path.read_text()
        found.append(Source(module, path, text, ast.parse(text)))
    return tuple(found)


def imported_modules(source: Source) -> Iterator[tuple[int, str]]:
    """(line, absolute module) of every import in the file, in functions too."""
    for node in ast.walk(source.tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield node.lineno, alias.name
        elif isinstance(node, ast.ImportFrom):
            if node.level:
                base = source.module.split(".")
                if source.path.name != "__init__.py":
                    base = base[:-1]
                prefix = base[: len(base) - node.level + 1]
                yield node.lineno, ".".join([*prefix, *(node.module.split(".") if node.module else [])])
            else:
                yield node.lineno, node.module or ""


def where(source: Source, line: int) -> str:
    """ "path:line" relative to the project, for messages."""
    return f"{source.path.relative_to(ROOT)}:{line}"
