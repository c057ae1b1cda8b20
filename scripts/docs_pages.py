#!/usr/bin/env python3
"""Write the pages of the documentation as plain Markdown, before a generator makes a site of them.

    scripts/docs_pages.py [FOLDER]      build/docs by default, where mkdocs.yml looks for them

What the pages print from the code, a page of `docs` asks for by a line of its own:

    <!-- card: navarena.tasks.protocols.point_nav:PointNav -->     the docstring of a class
    <!-- table: metrics -->                              what `navarena list metrics` lists
    <!-- commands -->                                    the help text of every subcommand
    <!-- bench: docs/bench.json -->                      what `navarena bench --json` once printed
    <!-- reference -->                                   links to the pages of the packages
    <!-- houses: houses-v1 -->                           statistics of a set of generated houses
    <!-- notebook: notebooks/first-steps.ipynb -->       text, code and stored outputs of a notebook
    <!-- analysis: docs/which_number/a.json -->          the table that `navarena analyse` once stored
    <!-- analysis: docs/which_number/a.json?distance=all -->         its rows with this text in a column

For each package that lists names in `__all__` there is a page `reference/PACKAGE.md`, whose lines
`::: module.Name` mkdocstrings replaces by signature and docstring.
"""

import ast
import contextlib
import importlib.util
import inspect
import io
import json
import os
import re
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path

DIRECTIVE = re.compile(
    r"^<!-- (card|table|commands|bench|reference|houses|notebook|analysis)(?:: (\S+))? -->$", re.M
)
COMMENT = re.compile(r"^<!-- (.*?) -->$", re.M)
HELP_WIDTH = "100"
ROOT = Path(__file__).resolve().parents[1]
DOCS, PACKAGE, PAGES = ROOT / "docs", ROOT / "src" / "navarena", ROOT / "build" / "docs"


def expand(markdown: str) -> str:
    """`markdown` with every directive replaced; raises ValueError for one that is left, such as a typo's."""
    makers: dict[str, Callable[[str], str]] = {
        "card": make_card,
        "table": make_table,
        "commands": make_commands,
        "bench": make_bench,
        "reference": make_reference,
        "houses": make_houses,
        "notebook": make_notebook,
        "analysis": make_analysis,
    }
    expanded = DIRECTIVE.sub(lambda found: makers[found.group(1)](found.group(2) or ""), markdown)
    for left in COMMENT.findall(expanded):
        if not left.startswith("not run:"):
            raise ValueError(
                f"expected one of {', '.join(makers)}, or `not run: reason`, got <!-- {left} -->"
            )
    return expanded


def write_pages(folder: Path) -> list[Path]:
    """Fill `folder` with the expanded pages, the reference, and what else lies in docs; the pages.

    Files that are the same stay untouched, and what is there no more is removed, so that a server sees
    only changes.
    """
    pages = {path.relative_to(DOCS): path for path in sorted(DOCS.rglob("*")) if path.is_file()}
    contents = {
        name: expand(path.read_text()).encode() if path.suffix == ".md" else path.read_bytes()
        for name, path in pages.items()
    }
    contents |= {Path("reference") / f"{name}.md": text.encode() for name, text in reference_pages().items()}
    for old in sorted(folder.rglob("*")):
        if old.is_file() and old.relative_to(folder) not in contents:
            old.unlink()
    for name, content in contents.items():
        path = folder / name
        if not path.exists() or path.read_bytes() != content:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
    return sorted(folder / name for name in contents if name.suffix == ".md")


def exported_names() -> dict[str, dict[str, str]]:
    """Package -> name in its `__all__` -> "module.Name" where it is defined; read without importing."""
    found = {}
    for path in sorted(PACKAGE.rglob("__init__.py")):
        tree = ast.parse(path.read_text())
        package = ".".join(("navarena", *path.parent.relative_to(PACKAGE).parts))
        listed: list[str] = []
        for node in ast.walk(tree):
            if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
                listed = ast.literal_eval(node.value)
        if listed:
            found[package] = {name: find_definition(package, name) for name in listed}
    return found


@cache
def find_definition(module: str, name: str) -> str:
    """The "module.Name" at which `name`, as `module` has it, is defined; read without importing."""
    parts = module.split(".")[1:]
    path = PACKAGE.joinpath(*parts, "__init__.py")
    if not path.exists():
        path = PACKAGE.joinpath(*parts).with_suffix(".py")
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("navarena"):
            for one in node.names:
                if (one.asname or one.name) == name:
                    return find_definition(str(node.module), one.name)
    return f"{module}.{name}"


def reference_pages() -> dict[str, str]:
    """Package -> its page: every public name, defined here or linked to the page where it is documented."""
    exported, pages = exported_names(), {}
    shown: dict[str, str] = {}
    for package in sorted(exported, key=lambda name: -name.count(".")):
        for target in exported[package].values():
            shown.setdefault(target, package)
    for package, names in exported.items():
        init = PACKAGE.joinpath(*package.split(".")[1:], "__init__.py")
        lines = [f"# {package}", "", ast.get_docstring(ast.parse(init.read_text())) or "", ""]
        own = {name: target for name, target in names.items() if shown[target] == package}
        for name, target in names.items():
            if name not in own:
                lines.append(f"* [`{name}`][{target}], documented in [{shown[target]}]({shown[target]}.md)")
        lines.append("")
        for target in own.values():
            lines += [f"::: {target}", ""]
        pages[package] = "\n".join(lines)
    return pages


def make_reference(_: str) -> str:
    """A list of the packages, each with the first line of its docstring and its public names."""
    lines = []
    for package, names in exported_names().items():
        init = PACKAGE.joinpath(*package.split(".")[1:], "__init__.py")
        said = (ast.get_docstring(ast.parse(init.read_text())) or "").partition("\n")[0]
        links = ", ".join(f"[`{name}`][{target}]" for name, target in names.items())
        lines.append(f"## [{package}](reference/{package}.md)\n\n{said}\n\n{links}\n")
    return "\n".join(lines)


def make_houses(name: str) -> str:
    """Statistics of the houses of a data sheet, as `scripts/house_statistics.py` counted them."""
    from navarena.cli.console import format_cell

    saved = json.loads((DOCS / "house_statistics.json").read_text())[name]
    heads = list(saved["splits"])
    lines = [f"| | {' | '.join(heads)} |", f"|---|{'--:|' * len(heads)}"]
    for key in saved["rows"]:
        cells = [format_cell(saved["splits"][split][key]) for split in heads]
        lines.append(f"| {key} | {' | '.join(cells)} |")
    return "\n".join(lines)


def make_card(target: str) -> str:
    """The docstring of the class that "module:Class" names; it is markdown."""
    from navarena.core.registry import load_target

    return inspect.getdoc(load_target(target)) or ""


def make_table(kind: str) -> str:
    """A markdown table of everything of one kind: name and description."""
    from navarena.cli.listing import list_items

    rows = [f"| `{item['name']}` | {item['description']} |" for item in list_items(kind)]
    return "\n".join(["| name | meaning |", "|---|---|", *rows])


def make_commands(_: str) -> str:
    """A section with the help text of every subcommand."""
    from navarena.cli.main import COMMANDS, parse_command

    os.environ["COLUMNS"] = HELP_WIDTH
    sections = []
    for name in COMMANDS:
        text = io.StringIO()
        with contextlib.redirect_stdout(text), contextlib.suppress(SystemExit):
            parse_command(name, ["--help"])
        sections.append(f"## navarena {name}\n\n```text\n{text.getvalue().rstrip()}\n```\n")
    return "\n".join(sections)


def make_notebook(path: str) -> str:
    """The page of a notebook, whose outputs `scripts/notebooks.py` has stored."""
    spec = importlib.util.spec_from_file_location("notebooks", ROOT / "scripts" / "notebooks.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    page: str = module.write_markdown(ROOT / path)
    return page


def make_analysis(target: str) -> str:
    """The table of a saved analysis and its notes; of "PATH?TITLE=TEXT" the rows with this text alone."""
    import msgspec

    from navarena.evaluation.analyses import Analysis

    path, _, chosen = target.partition("?")
    saved = msgspec.json.decode((ROOT / path).read_bytes(), type=Analysis)
    heads, rows = list(saved.headings), list(saved.texts())
    if chosen:
        title, _, text = chosen.partition("=")
        place = heads.index(title)
        rows = [row[:place] + row[place + 1 :] for row in rows if row[place] == text]
        del heads[place]
    numeric = [one for one, head in zip(saved.numeric, saved.headings, strict=True) if head in heads]
    rule = "".join("--:|" if one else "---|" for one in numeric)
    lines = [f"| {' | '.join(heads)} |", f"|{rule}", *(f"| {' | '.join(row)} |" for row in rows)]
    return "\n".join([*lines, "", *(f"* {note}" for note in saved.notes)])


def make_bench(path: str) -> str:
    """The machine and the tables of a saved `navarena bench --json`."""
    from navarena.cli.console import format_cell

    saved = json.loads((ROOT / path).read_text())
    machine = saved["machine"]
    lines = [
        f"{machine['processor']}, {machine['cores']} cores; Python {machine['python']}, "
        f"NumPy {machine['numpy']}, Numba {machine['numba']}.",
        "",
        "| work | value | unit | target | ratio | how |",
        "|---|--:|---|--:|--:|---|",
    ]
    for row in saved["measurements"]:
        cells = [format_cell(row[key]) for key in ("name", "value", "unit", "target", "ratio", "note")]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


if __name__ == "__main__":
    print(f"{len(write_pages(Path(sys.argv[1]) if len(sys.argv) > 1 else PAGES))} pages")
