"""Imports run one way: a row of the table imports only from rows below it."""

import ast

import pytest

from .sources import imported_modules, sources, where

LAYERS = (
    ("cli",),
    ("web",),
    ("reports", "learning"),
    ("evaluation",),
    ("agents",),
    ("tasks",),
    ("episodes", "mapping"),
    ("simulation",),
    ("scenes", "corruptions", "metrics"),
    ("core",),
)
ROW = {package: row for row, packages in enumerate(LAYERS) for package in packages}


def package_of(module: str) -> str | None:
    parts = module.split(".")
    return parts[1] if parts[0] == "navarena" and len(parts) > 1 else None


def is_allowed(importer: str, imported: str) -> bool:
    return importer == imported or ROW[imported] > ROW[importer]


def test_table_names_every_package() -> None:
    found = {source.package for source in sources()} - {""}
    assert found <= set(ROW), f"packages without a layer: {sorted(found - set(ROW))}"


def test_rule_itself() -> None:
    assert is_allowed("tasks", "episodes") and is_allowed("scenes", "scenes")
    assert not is_allowed("scenes", "metrics"), "packages on one row never import each other"
    assert not is_allowed("core", "scenes")


def test_imports_run_down_the_layers() -> None:
    wrong = [
        f"{where(source, line)}: {source.package} imports {module}"
        for source in sources()
        if source.package
        for line, module in imported_modules(source)
        if (imported := package_of(module)) in ROW and not is_allowed(source.package, imported)
    ]
    assert not wrong, "\n".join(wrong)


def test_nothing_imports_the_package_itself() -> None:
    """The lazy table leads to everything; inside the package only the version is taken from it."""
    wrong = [
        where(source, node.lineno)
        for source in sources()
        for node in ast.walk(source.tree)
        if uses_more_than_the_version(node)
    ]
    assert not wrong, "\n".join(wrong)


def uses_more_than_the_version(node: ast.AST) -> bool:
    if isinstance(node, ast.ImportFrom):
        return node.module == "navarena" and [alias.name for alias in node.names] != ["__version__"]
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
        return node.value.id == "navarena" and node.attr != "__version__"
    return False


FOLDERS = {
    "evaluation": (("analyses", "demonstrations", "exchange"), ("running",), ("records",)),
    "learning": (("trainings",), ("agents", "rollouts"), ("auxiliaries", "checkpoints"), ("networks",)),
}
"""Folders of packages; a row imports from rows below it, itself, and modules beside the folders."""

FREE = {"anticipation", "cross_view", "depth", "joint", "perception", "published", "recipes"}
"""Folders without a row: recipes name their trainings, which are written for recipes."""


@pytest.mark.parametrize("package", FOLDERS)
def test_folders_import_downwards(package: str) -> None:
    rows = {folder: row for row, folders in enumerate(FOLDERS[package]) for folder in folders}

    def folder_of(module: str) -> str | None:
        parts = module.split(".")
        known = parts[:2] == ["navarena", package] and len(parts) > 3
        return parts[2] if known and parts[2] not in FREE else None

    wrong = [
        f"{where(source, line)}: {folder} imports {module}"
        for source in sources()
        if (folder := folder_of(source.module))
        for line, module in imported_modules(source)
        if (other := folder_of(module)) and other != folder and rows[other] <= rows[folder]
    ]
    assert not wrong, "\n".join(wrong)


def test_imports_are_absolute() -> None:
    """The kernel cache follows absolute imports only; a relative one would hide an edited callee."""
    wrong = [
        where(source, node.lineno)
        for source in sources()
        for node in ast.walk(source.tree)
        if isinstance(node, ast.ImportFrom) and node.level
    ]
    assert not wrong, "\n".join(wrong)


def test_no_cycles_between_modules() -> None:
    """Counting imports at module level only, no file can reach itself."""
    known = {source.module for source in sources()}
    graph: dict[str, set[str]] = {}
    for source in sources():
        if source.path.name == "__init__.py":
            continue
        edges = set()
        for node in source.tree.body:
            if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("navarena"):
                names = {f"{node.module}.{alias.name}" for alias in node.names}
                edges |= (names & known) or ({node.module} & known)
            elif isinstance(node, ast.Import):
                edges |= {alias.name for alias in node.names} & known
        graph[source.module] = edges
    done: set[str] = set()

    def visit(module: str, path: tuple[str, ...]) -> None:
        assert module not in path, "cycle: " + " -> ".join([*path, module])
        if module not in done:
            for target in sorted(graph.get(module, ())):
                visit(target, (*path, module))
            done.add(module)

    for module in graph:
        visit(module, ())
