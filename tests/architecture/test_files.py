"""What a file may look like, and what its text may not say."""

import ast
import builtins
import dis
import re
import subprocess
import sys
import tomllib
from types import CodeType

import pytest

from .sources import PACKAGE, ROOT, Source, imported_modules, sources, where

LONGEST_FILE = 400


def test_no_file_is_longer_than_the_limit() -> None:
    long = {str(s.path.relative_to(ROOT)): n for s in sources() if (n := s.text.count("\n")) > LONGEST_FILE}
    assert not long, f"files over {LONGEST_FILE} lines: {long}"


def test_package_files_only_re_export() -> None:
    wrong = []
    for source in sources():
        if source.path.name != "__init__.py" or source.path.parent == PACKAGE:
            continue
        for node in source.tree.body:
            is_docstring = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
            is_all = isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__"
            is_lazy = ast.unparse(node) == "__getattr__, __dir__ = lazy_names(__name__)"
            is_import = isinstance(node, ast.Import | ast.ImportFrom) or (
                isinstance(node, ast.If)
                and ast.unparse(node.test) == "TYPE_CHECKING"
                and all(isinstance(inner, ast.ImportFrom) for inner in node.body)
            )
            if not (is_docstring or is_all or is_lazy or is_import):
                wrong.append(where(source, node.lineno))
    assert not wrong, "only docstring, imports and __all__ belong into __init__.py:\n" + "\n".join(wrong)


def called_name(node: ast.Call) -> str:
    return ast.unparse(node.func)


def calls(source: Source) -> list[tuple[int, str]]:
    return [(n.lineno, called_name(n)) for n in ast.walk(source.tree) if isinstance(n, ast.Call)]


@pytest.mark.parametrize(
    ("forbidden", "allowed_packages"),
    [
        (r"(builtins\.)?print|(sys\.)?exit|os\._exit|quit|input", ("cli", "")),
        (r"(np|numpy)\.empty(_like)?", ()),
        (r"(np|numpy)\.random\.(?!Generator|PCG64|SeedSequence)\w+", ()),
        (r"random\.\w+", ()),
        (
            r"(np|numpy)\.(a?tan2?|arc\w+|a(sin|cos)|exp\w*|log\w*|\w*power|cbrt|sinh|cosh|tanh)",
            ("learning", "reports"),
        ),
    ],
    ids=[
        "talking to people",
        "uninitialised memory",
        "global numpy random",
        "global random",
        "other bits with AVX-512",
    ],
)
def test_forbidden_calls(forbidden: str, allowed_packages: tuple[str, ...]) -> None:
    wrong = [
        f"{where(source, line)}: {name}"
        for source in sources()
        if source.package not in allowed_packages
        for line, name in calls(source)
        if re.fullmatch(forbidden, name)
    ]
    assert not wrong, "\n".join(wrong)


def test_sorting_is_stable() -> None:
    """Equal values come in another order where NumPy sorts with AVX-512 or AVX2."""
    wrong = [
        where(source, node.lineno)
        for source in sources()
        for node in ast.walk(source.tree)
        if isinstance(node, ast.Call) and re.search(r"\barg(sort|partition)$", called_name(node))
        if "kind='stable'" not in ast.unparse(node) and source.package != "learning"
    ]
    assert not wrong, "\n".join(wrong)


def test_no_future_annotations() -> None:
    """Stringified annotations would hide shapes from the run-time checks of the tests."""
    wrong = [
        where(s, line) for s in sources() for line, module in imported_modules(s) if module == "__future__"
    ]
    assert not wrong, "\n".join(wrong)


def test_no_mutable_defaults() -> None:
    wrong = []
    for source in sources():
        for node in ast.walk(source.tree):
            if isinstance(node, ast.FunctionDef | ast.Lambda):
                defaults = [*node.args.defaults, *(d for d in node.args.kw_defaults if d is not None)]
                if any(isinstance(d, ast.List | ast.Dict | ast.Set) for d in defaults):
                    wrong.append(where(source, node.lineno))
    assert not wrong, "\n".join(wrong)


def test_nothing_is_left_for_later() -> None:
    wrong = [
        f"{where(source, number)}: {line.strip()}"
        for source in sources()
        for number, line in enumerate(source.text.splitlines(), 1)
        if re.search(r"\b(TODO|FIXME|XXX|HACK)\b", line) or re.search(r"raise NotImplementedError", line)
    ]
    assert not wrong, "\n".join(wrong)


def tracked_files() -> list[str]:
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True)
    if listed.returncode == 0 and listed.stdout:
        return listed.stdout.split("\n")[:-1]
    skipped = {".venv", "build", ".git", ".mypy_cache", ".ruff_cache", ".pytest_cache", ".hypothesis"}
    files = (path.relative_to(ROOT) for path in ROOT.rglob("*") if path.is_file())
    return [str(path) for path in files if not skipped & set(path.parts)]


def test_no_machine_is_named() -> None:
    """No absolute path of somebody's machine stands in any text of the project."""
    private = re.compile(r"/(home|root|Users|work|mnt|opt)/[\w.]+/|C:\\\\Users")
    wrong = []
    for name in tracked_files():
        path = ROOT / name
        if path.suffix in {".npz", ".navmesh", ".png", ".obj", ".glb", ".gz", ".ply"} or not path.is_file():
            continue
        for number, line in enumerate(path.read_text(errors="replace").splitlines(), 1):
            if private.search(line) and "private = re.compile" not in line:
                wrong.append(f"{name}:{number}: {line.strip()[:120]}")
    assert not wrong, "\n".join(wrong)


KNOWN_AS = {
    "PIL": "pillow",
    "argon2": "argon2_cffi",
    "cv2": "opencv_python_headless",
    "llvmlite": "numba",
    "markdown_it": "markdown_it_py",
    "rerun": "rerun_sdk",
    "warp": "warp_lang",
}
"""Module -> the distribution that is declared for it, where the names differ."""


def declared(requirements: list[str]) -> set[str]:
    return {re.split(r"[<>=!~\[; ]", line)[0].lower().replace("-", "_") for line in requirements}


def test_imports_and_declared_dependencies_agree() -> None:
    """What the package imports stands in pyproject.toml, and what the core brings is imported."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    core = declared(project["dependencies"])
    extras = declared([r for requirements in project["optional-dependencies"].values() for r in requirements])
    used: dict[str, str] = {}
    for source in sources():
        for line, module in imported_modules(source):
            top = module.split(".")[0]
            if top not in sys.stdlib_module_names and top not in ("navarena", ""):
                used[KNOWN_AS.get(top, top).lower()] = where(source, line)
    assert not set(used) - core - extras, {name: used[name] for name in set(used) - core - extras}
    assert core <= set(used), f"declared but never imported: {sorted(core - set(used))}"


def test_protocols_can_be_checked() -> None:
    """The run-time checks of the tests cannot look at a protocol without `runtime_checkable`."""
    wrong = [
        f"{where(source, node.lineno)}: {node.name}"
        for source in sources()
        for node in ast.walk(source.tree)
        if isinstance(node, ast.ClassDef)
        and any(ast.unparse(base).split(".")[-1] == "Protocol" for base in node.bases)
        and not any("runtime_checkable" in ast.unparse(d) for d in node.decorator_list)
    ]
    assert not wrong, "\n".join(wrong)


def unknown_names(code: CodeType, known: set[str]) -> set[str]:
    """Global names that a code object and those within it read, and that are not in `known`."""
    steps = list(dis.get_instructions(code))
    own = known | {one.argval for one in steps if one.opname == "STORE_NAME"}
    read = {one.argval for one in steps if one.opname in ("LOAD_GLOBAL", "LOAD_NAME")}
    inner = [constant for constant in code.co_consts if isinstance(constant, CodeType)]
    return (read - own).union(*(unknown_names(one, known) for one in inner))


def unknown_in(text: ast.Module | str) -> set[str]:
    """Names that a module reads and nobody defines or imports."""
    code = compile(text, "module", "exec")
    stored = {one.argval for one in dis.get_instructions(code) if one.opname == "STORE_NAME"}
    return unknown_names(code, stored | set(dir(builtins)) | {"__annotations__", "__file__"})


@pytest.mark.parametrize("text", ["def f():\n    return one", "class A:\n    two = one", "print(one)"])
def test_unknown_names_are_found(text: str) -> None:
    assert unknown_in(text) == {"one"}
    assert not unknown_in(f"from module import one\n{text}")


def test_every_name_is_known() -> None:
    """Ruff cannot say so: it would miss the names of dimensions in annotations, too."""
    wrong = {str(one.path.relative_to(ROOT)): names for one in sources() if (names := unknown_in(one.tree))}
    assert not wrong, f"names that nobody defines or imports: {wrong}"
