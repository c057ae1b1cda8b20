"""What the challenge server does not use: pickles, archives, drivers, SQL outside its storage."""

import ast
from collections.abc import Iterator
from pathlib import Path

SOURCES = Path(__file__).parents[3] / "src" / "navarena" / "web" / "challenge"
UNSAFE = {"pickle", "marshal", "shelve", "dill", "cloudpickle", "joblib", "zipfile", "tarfile"}
DRIVERS = {"sqlite3", "psycopg", "psycopg2", "aiosqlite"}
RAW = {"text", "exec_driver_sql", "literal_column"}


def imported(tree: ast.AST) -> Iterator[str]:
    """The packages that a module imports, also within functions."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (one.name.partition(".")[0] for one in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            yield (node.module or "").partition(".")[0]


def called(tree: ast.AST) -> Iterator[str]:
    """The names of the functions that are called."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            function = node.func
            yield function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")


def test_uploads_meet_no_pickle_and_databases_no_sql_of_texts() -> None:
    seen = 0
    for path in SOURCES.rglob("*.py"):
        tree = ast.parse(path.read_text())
        seen += 1
        assert not (UNSAFE | DRIVERS) & set(imported(tree)), path
        if "storage" not in path.relative_to(SOURCES).parts:
            assert not (RAW - {"text"}) & set(called(tree)), path
            assert "text" not in {
                name.asname or name.name
                for node in ast.walk(tree)
                if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("sqlalchemy")
                for name in node.names
            }, path
    assert seen > 40
