"""The notebooks run from top to bottom, and what the documentation shows of them is what they give."""

import importlib.util
import json
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))

specification = importlib.util.spec_from_file_location("notebooks", ROOT / "scripts" / "notebooks.py")
assert specification is not None and specification.loader is not None
runner = importlib.util.module_from_spec(specification)
specification.loader.exec_module(runner)


def shown(notebook):
    """What the cells show, as text: the outputs without times, folders and images."""
    kept = []
    for cell in notebook["cells"]:
        for output in cell.get("outputs", ()):
            text = "".join(output.get("text", output.get("data", {}).get("text/plain", ())))
            kept.append(re.sub(r"'?(/[\w.-]+)+'?", "PATH", text))
    return kept


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Where all notebooks run, one after the other, as in Jupyter."""
    return tmp_path_factory.mktemp("notebooks")


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebooks_run_and_give_what_is_stored(path, folder):
    found = runner.run_notebook(path, folder)
    stored = json.loads(path.read_text())
    assert shown(found) == shown(stored), "python scripts/notebooks.py stores the outputs anew"
    html = [o for c in found["cells"] for o in c.get("outputs", ()) if "text/html" in o.get("data", {})]
    assert len(html) >= 2


def test_there_are_four():
    names = {"first-steps", "your-own-agent", "your-own-scene-and-task", "comparing-runs"}
    assert {path.stem for path in NOTEBOOKS} == names
    menu = (ROOT / "mkdocs.yml").read_text()
    assert all(f"notebooks/{name}.md" in menu for name in names)


def test_notebooks_are_of_their_format():
    for path in NOTEBOOKS:
        notebook = json.loads(path.read_text())
        assert (notebook["nbformat"], notebook["nbformat_minor"]) == (4, 5)
        ids = [cell["id"] for cell in notebook["cells"]]
        assert len(set(ids)) == len(ids)
        for cell in notebook["cells"]:
            keys = {"cell_type", "id", "metadata", "source"}
            keys |= {"execution_count", "outputs"} if cell["cell_type"] == "code" else set()
            assert set(cell) == keys


def test_pages_show_outputs(tmp_path):
    path = tmp_path / "a.ipynb"
    cells = [
        {"cell_type": "markdown", "id": "a", "metadata": {}, "source": ["# Title\n", "text"]},
        {"cell_type": "code", "id": "b", "metadata": {}, "source": ["print(1)\n", "[2]"], "outputs": []},
    ]
    path.write_text(json.dumps({"cells": cells}))
    done = runner.run_notebook(path, tmp_path)
    path.write_text(json.dumps(done))
    assert runner.write_markdown(path) == (
        "# Title\ntext\n\n```python\nprint(1)\n[2]\n```\n\n```text\n1\n```\n\n```text\n[2]\n```\n"
    )
    cells[1]["source"] = ["1 / 0"]
    path.write_text(json.dumps({"cells": cells}))
    with pytest.raises(ZeroDivisionError):
        runner.run_notebook(path, tmp_path)
