"""What the documentation prints from the code: task cards, tables of names, help texts.

A page asks for it by a line of its own:

    <!-- card: navarena.tasks.point_nav:PointNav -->     the docstring of a class
    <!-- table: metrics -->                              what `navarena list metrics` lists
    <!-- commands -->                                    the help text of every subcommand
"""

import contextlib
import inspect
import io
import os
import re
from typing import Any

DIRECTIVE = re.compile(r"^<!-- (card|table|commands)(?:: (\S+))? -->$", re.M)
HELP_WIDTH = "100"


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Called by mkdocs for every page: replace the directives by what they ask for."""
    return expand(markdown)


def expand(markdown: str) -> str:
    """`markdown` with every directive replaced."""
    makers = {"card": make_card, "table": make_table, "commands": make_commands}
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
