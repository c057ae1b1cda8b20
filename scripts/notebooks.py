"""Execute the notebooks in `notebooks/` and store their outputs: what the documentation shows.

    python scripts/notebooks.py [NOTEBOOK ...]

The cells of a notebook run in their order, in one namespace and an empty folder. What is printed, and what
the last expression of a cell shows of itself, becomes the cell's output.
"""

import ast
import contextlib
import io
import json
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "notebooks"


def run_notebook(path: Path, folder: Path) -> dict[str, Any]:
    """The notebook `path` with the outputs of its cells, executed in `folder`; raises what a cell raises."""
    notebook: dict[str, Any] = json.loads(path.read_text())
    namespace: dict[str, Any] = {"__name__": "__main__"}
    number = 0
    with contextlib.chdir(folder):
        for cell in notebook["cells"]:
            if cell["cell_type"] == "code":
                number += 1
                name = f"{path.name}, cell {number}"
                cell["outputs"] = run_cell("".join(cell["source"]), name, namespace, number)
                cell["execution_count"] = number
    return notebook


def run_cell(source: str, name: str, namespace: dict[str, Any], number: int) -> list[dict[str, Any]]:
    """The outputs of one cell, in the form of notebooks."""
    tree = ast.parse(source, name)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    printed, outputs, value = io.StringIO(), [], None
    with contextlib.redirect_stdout(printed):
        exec(compile(tree, name, "exec"), namespace)
        if last is not None:
            value = eval(compile(ast.Expression(last.value), name, "eval"), namespace)
    if printed.getvalue():
        outputs.append({"output_type": "stream", "name": "stdout", "text": _lines(printed.getvalue())})
    if value is not None:
        data = {"text/plain": _lines(repr(value))}
        if hasattr(value, "_repr_html_"):
            data["text/html"] = _lines(value._repr_html_())
        outputs.append(
            {"output_type": "execute_result", "execution_count": number, "metadata": {}, "data": data}
        )
    return outputs


def write_markdown(path: Path) -> str:
    """The notebook `path` as a page: text as it stands, code in fences, outputs as they are stored."""
    parts = []
    for cell in json.loads(path.read_text())["cells"]:
        source = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            parts.append(source.replace("](../docs/", "](../"))  # pages lie in docs/notebooks
            continue
        parts.append(f"```python\n{source}\n```")
        for output in cell["outputs"]:
            data = output.get("data", {})
            if "text/html" in data:
                # a blank line would end the block of HTML
                html = "".join(line for line in "".join(data["text/html"]).splitlines(True) if line.strip())
                parts.append(html.strip())
            else:
                text = "".join(output.get("text", data.get("text/plain", ())))
                parts.append(f"```text\n{text.rstrip()}\n```")
    return "\n\n".join(parts) + "\n"


def _lines(text: str) -> list[str]:
    return text.splitlines(keepends=True)


def main() -> None:
    """Execute the named notebooks, or all, and write them anew."""
    chosen = [Path(name).resolve() for name in sys.argv[1:]] or sorted(FOLDER.glob("*.ipynb"))
    for path in chosen:
        with tempfile.TemporaryDirectory() as folder:
            notebook = run_notebook(path, Path(folder))
        path.write_text(json.dumps(notebook, indent=1, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    os.environ.setdefault("COLUMNS", "100")
    main()
