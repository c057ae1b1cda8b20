"""Everything that README and docs show is run: Python fences, and `navarena` lines of bash fences.

The fences of one page run in their order, in one namespace and one folder that holds nothing but
`dungeon.obj`. A Python fence that begins with a comment such as `# my_agent.py` is also written to
that file. A TOML fence that begins with `# pyproject.toml` is installed: its entry points are found as
those of any package. A fence after a comment `<!-- not run: reason -->` is only shown.
"""

import ast
import importlib
import re
import shlex
import subprocess
import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from navarena.cli.listing import LISTINGS
from navarena.cli.main import main
from navarena.core.registry import load_target
from navarena.episodes.catalog import RECIPES

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
FENCE = re.compile(
    r"(?:<!-- not run: (?P<reason>[^>]+?) -->\n)?^```(?P<language>\w*)\n(?P<code>.*?)^```$", re.M | re.S
)
FILE_NAME = re.compile(r"# ([\w/]+\.py)\n")
PROJECT = "# pyproject.toml\n"
LONGEST_COMMAND_SECONDS = 240
IN_PROCESSES = ("README.md", "extending.md")
"""Pages whose commands run as a newcomer's; the second installs entry points new to this process."""
LONG = {
    "cli.md", "corruptions.md", "episodes.md", "evaluation.md", "extending.md", "floor-plans.md",
    "from-habitat.md", "options.md", "quickstart.md", "remote-agents.md", "reports.md", "streams.md",
    "vln.md",
}  # fmt: skip
"""Pages that take more than three seconds of a core: run among the slow tests, by turns."""
SLOW = [pytest.mark.slow, pytest.mark.turns(3)]
SHELL = re.compile(r"[|&;<>$*~`]")


@dataclass(frozen=True)
class Fence:
    language: str
    code: str
    line: int


def runnable_fences(page: Path) -> list[Fence]:
    text = page.read_text()
    return [
        Fence(found["language"], found["code"], text.count("\n", 0, found.start("code")) + 1)
        for found in FENCE.finditer(text)
        if not found["reason"] and found["language"] in ("python", "bash", "toml")
    ]


def navarena_commands(code: str) -> list[str]:
    lines = code.replace("\\\n", " ").split("\n")
    return [line for line in lines if re.match(r"navarena\s", line)]


def run_command(line: str, folder: Path, in_process: bool) -> None:
    words = shlex.split(line, comments=True)[1:]
    if in_process and not SHELL.search(line) and "serve" not in words:
        assert main(words) == 0, f"$ {line}"
        return
    shell_line = line.replace("navarena", f"{sys.executable} -m navarena", 1)
    done = subprocess.run(
        shell_line, shell=True, cwd=folder, capture_output=True, text=True, timeout=LONGEST_COMMAND_SECONDS
    )
    assert done.returncode == 0, f"$ {line}\n{done.stdout}\n{done.stderr}"


def install_project(code: str, folder: Path) -> None:
    """Write what `pip install -e .` would leave of a pyproject.toml: metadata and entry points."""
    project = tomllib.loads(code)["project"]
    info = folder / f"{project['name'].replace('-', '_')}-{project['version']}.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n"
    )
    sections = [
        "\n".join([f"[{group}]", *(f"{name} = {target}" for name, target in points.items())])
        for group, points in project["entry-points"].items()
    ]
    (info / "entry_points.txt").write_text("\n\n".join(sections) + "\n")


@pytest.mark.parametrize(
    "page",
    [pytest.param(page, marks=SLOW if page.name in LONG else []) for page in PAGES],
    ids=lambda page: str(page.relative_to(ROOT)),
)
def test_page(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "dungeon.obj").write_bytes((ROOT / "tests/data/dungeon/dungeon.obj").read_bytes())
    namespace: dict[str, Any] = {"__name__": "__docs__"}
    for fence in runnable_fences(page):
        if fence.language == "bash":
            for line in navarena_commands(fence.code):
                run_command(line, tmp_path, page.name not in IN_PROCESSES)
        elif fence.language == "toml":
            if fence.code.startswith(PROJECT):
                install_project(fence.code, tmp_path)
        else:
            if named := FILE_NAME.match(fence.code):
                (tmp_path / named[1]).parent.mkdir(exist_ok=True)
                (tmp_path / named[1]).write_text(fence.code)
            padded = "\n" * (fence.line - 1) + fence.code  # so that tracebacks show the page's lines
            exec(compile(padded, str(page), "exec"), namespace)


def test_long_pages_exist() -> None:
    assert {page.name for page in PAGES} >= LONG


def test_fences_are_found() -> None:
    text = "a\n```python\nx = 1\n```\n<!-- not run: needs a GPU -->\n```python\ny\n```\n"
    assert [f["reason"] for f in FENCE.finditer(text)] == [None, "needs a GPU"]
    assert navarena_commands("pip install x\nnavarena list \\\n  agents\n# navarena\n") == [
        "navarena list    agents"
    ]


def test_every_page_stands_in_the_menu() -> None:
    menu = (ROOT / "mkdocs.yml").read_text()
    missing = [
        str(p.relative_to(ROOT / "docs"))
        for p in (ROOT / "docs").rglob("*.md")
        if str(p.relative_to(ROOT / "docs")) not in menu
    ]
    assert not missing


def test_a_package_of_ones_own_needs_only_what_is_exported() -> None:
    """Imports of extending.md are names of `__all__`; it has an example of every entry-point group."""
    fences = runnable_fences(ROOT / "docs" / "extending.md")
    imported = [
        (node.module, name.name)
        for fence in fences
        if fence.language == "python"
        for node in ast.walk(ast.parse(fence.code))
        if isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] == "navarena"
        for name in node.names
    ]
    hidden = [
        f"{module}.{name}"
        for module, name in imported
        if name not in getattr(importlib.import_module(module), "__all__", ())
    ]
    assert len(imported) > 20 and not hidden
    project = next(fence for fence in fences if fence.language == "toml")
    shown = tomllib.loads(project.code)["project"]["entry-points"]
    places = [place for listing in LISTINGS.values() for place in listing.registries.values()]
    assert set(shown) == {load_target(place).group for place in places} | {RECIPES.group}
