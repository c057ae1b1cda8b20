"""What the documentation prints from the code: task cards, tables of names, help texts.

A page asks for it by a line of its own:

    <!-- card: navarena.tasks.protocols.point_nav:PointNav -->     the docstring of a class
    <!-- table: metrics -->                              what `navarena list metrics` lists
    <!-- commands -->                                    the help text of every subcommand
    <!-- bench: docs/bench.json -->                      what `navarena bench --json` once printed
"""

import contextlib
import inspect
import io
import json
import os
import re
from pathlib import Path
from typing import Any

DIRECTIVE = re.compile(r"^<!-- (card|table|commands|bench)(?:: (\S+))? -->$", re.M)
HELP_WIDTH = "100"
ROOT = Path(__file__).resolve().parents[1]


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Called by mkdocs for every page: replace the directives by what they ask for."""
    return expand(markdown)


def expand(markdown: str) -> str:
    """`markdown` with every directive replaced."""
    makers = {"card": make_card, "table": make_table, "commands": make_commands, "bench": make_bench}
    return DIRECTIVE.sub(lambda found: makers[found.group(1)](found.group(2)), markdown)


def make_card(target: str) -> str:
    """The docstring of the class that "module:Class" names; it is markdown."""
    from navarena.core.registry import load_target

    return inspect.getdoc(load_target(target)) or ""


def make_table(kind: str) -> str:
    """A markdown table of everything of one kind: name and description."""
    from navarena.cli.listing import list_items

    rows = [f"| `{item['name']}` | {item['description']} |" for item in list_items(kind)]
    return "\n".join(["| name | meaning |", "|---|---|", *rows])


def make_commands(_: str | None) -> str:
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
