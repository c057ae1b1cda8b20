"""Names of a package that are imported when they are first used, so that importing the package is cheap."""

import ast
import importlib
import importlib.util
import sys
from collections.abc import Callable
from typing import Any


def lazy_names(package: str) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """(__getattr__, __dir__) of `package`, whose `__init__.py` imports its names under `if TYPE_CHECKING:`.

    Type checkers read those imports as they stand; at run time each is made when its name is first used. No
    name may be that of a module of the package.
    """
    origins = find_lazy_imports(read_source(package))
    namespace = vars(sys.modules[package])

    def get(name: str) -> Any:
        """The object `name`, imported on first use."""
        if name not in origins:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        namespace[name] = getattr(importlib.import_module(origins[name]), name)
        return namespace[name]

    return get, lambda: sorted({*namespace, *origins})


def read_source(package: str) -> str:
    """The text of the `__init__.py` of `package`, which is being imported."""
    spec = sys.modules[package].__spec__
    source = importlib.util.find_spec(package) if spec is None else spec
    loader: Any = source.loader if source is not None else None
    return str(loader.get_source(package))


def find_lazy_imports(text: str) -> dict[str, str]:
    """Name -> module of the imports under `if TYPE_CHECKING:` in the source `text`."""
    blocks = (
        node
        for node in ast.parse(text).body
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
    )
    return {
        alias.name: node.module or ""
        for block in blocks
        for node in block.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
