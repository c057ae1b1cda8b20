"""What the documentation prints from the code is really there."""

import importlib
import importlib.util
import re
from pathlib import Path
from types import ModuleType

import msgspec
import pytest

from navarena.evaluation.analyses import Analysis

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def pages() -> ModuleType:
    spec = importlib.util.spec_from_file_location("docs_pages", ROOT / "scripts" / "docs_pages.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_a_card_is_the_docstring(pages: ModuleType) -> None:
    card = pages.expand("# Title\n\n<!-- card: navarena.tasks.protocols.point_nav:PointNav -->\n")
    for section in ("Actions", "Observations", "Reward", "Start", "End", "Metrics", "Versions"):
        assert f"\n## {section}\n" in card


def test_a_table_has_every_name(pages: ModuleType) -> None:
    table = pages.expand("<!-- table: metrics -->")
    assert "| `spl` | " in table and "| `soft_spl` | " in table


def test_commands_show_their_flags(pages: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    text = pages.expand("<!-- commands -->")
    assert "## navarena evaluate\n" in text and "--batch-size" in text and "\x1b" not in text


def test_figures_come_from_a_saved_run(pages: ModuleType) -> None:
    table = pages.expand("<!-- bench: docs/bench.json -->")
    assert "| work | value | unit | target | ratio | how |" in table and "frames/s" in table


def test_other_comments_stay(pages: ModuleType) -> None:
    assert pages.expand("<!-- not run: reason -->\n") == "<!-- not run: reason -->\n"


@pytest.mark.parametrize("page", sorted((ROOT / "docs" / "tasks").glob("*.md")), ids=lambda page: page.stem)
def test_every_protocol_has_a_page(page: Path) -> None:
    from navarena.tasks.catalog import TASKS

    assert page.stem in TASKS.names()


def test_a_directive_that_nobody_knows_is_refused(pages: ModuleType) -> None:
    with pytest.raises(ValueError, match=r"expected one of card, .*, got <!-- tabel: metrics -->"):
        pages.expand("text\n\n<!-- tabel: metrics -->\n")


def test_pages_are_plain_markdown(pages: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is left for a generator to expand but the names of the reference."""
    monkeypatch.setattr(pages, "make_commands", lambda _: "## navarena evaluate\n")  # seconds, tested above
    (tmp_path / "gone.md").write_text("a page that docs has no more")
    written = pages.write_pages(tmp_path)
    names = {str(path.relative_to(tmp_path)) for path in written}
    assert {"index.md", "tasks/pointnav-v1.md", "reference/navarena.agents.md"} <= names
    assert not (tmp_path / "gone.md").exists() and (tmp_path / "reports.png").exists()
    for path in written:
        assert not pages.DIRECTIVE.search(path.read_text()), path
    times = {path: path.stat().st_mtime_ns for path in written}
    pages.write_pages(tmp_path)
    assert {path: path.stat().st_mtime_ns for path in written} == times


def test_every_public_name_is_documented_once(pages: ModuleType) -> None:
    listed = pages.exported_names()
    shown = [
        line[4:]
        for text in pages.reference_pages().values()
        for line in text.splitlines()
        if line[:4] == "::: "
    ]
    assert len(shown) == len(set(shown)) > 300
    assert set(shown) == {target for names in listed.values() for target in names.values()}
    menu = (ROOT / "mkdocs.yml").read_text()
    assert [package for package in listed if f"reference/{package}.md\n" not in menu] == []
    written = (ROOT / "tests" / "architecture" / "public_names.txt").read_text()
    assert set(listed) == {line[1:-1] for line in written.splitlines() if line.startswith("[")}


def test_definitions_are_found_through_packages(pages: ModuleType) -> None:
    assert pages.find_definition("navarena", "Agent") == "navarena.agents.agent.Agent"
    assert pages.find_definition("navarena", "__version__") == "navarena.__version__"
    for package, names in pages.exported_names().items():
        for name, target in list(names.items())[:3]:
            module, _, own = target.rpartition(".")
            if not any(heavy in module for heavy in ("learning", "web")):
                found = getattr(importlib.import_module(module), own)
                assert found is getattr(importlib.import_module(package), name)


def test_statistics_of_houses_come_from_the_file(pages: ModuleType) -> None:
    table = pages.expand("<!-- houses: robothor-like-v1 -->")
    assert table.splitlines()[0] == "| | train | val | test-dev | test |"
    assert "| scenes | 60 | 15 | 4 | 10 |" in table and "| floor area, square metres, mean | 3" in table


def test_analyses_come_from_saved_tables(pages: ModuleType) -> None:
    """Both readings of a file that a page shows: its numbers as the command prints them."""
    path = "docs/which_number/pointnav-metric-choice.json"
    saved = msgspec.json.decode((ROOT / path).read_bytes(), type=Analysis)
    whole = pages.expand(f"<!-- analysis: {path} -->").splitlines()
    assert whole[0] == f"| {' | '.join(saved.headings)} |" and whole[1].startswith("|---|---|--:|")
    assert [f"| {' | '.join(row)} |" for row in saved.texts()] == whole[2 : 2 + len(saved.rows)]
    assert whole[-1] == f"* {saved.notes[-1]}"
    part = pages.expand(f"<!-- analysis: {path}?distance=all -->").splitlines()
    assert "distance" not in part[0] and "| SPL | 200 |" in "\n".join(part)
    assert len(part) == len(whole) - sum(row[1] != "all" for row in saved.texts())


def test_every_saved_analysis_is_shown(pages: ModuleType) -> None:
    page = (ROOT / "docs" / "which-number.md").read_text()
    for path in (ROOT / "docs" / "which_number").glob("*.json"):
        assert f"docs/which_number/{path.name}" in page


def test_figures_of_the_recommendation_stand_in_the_tables(pages: ModuleType) -> None:
    page = pages.expand((ROOT / "docs" / "which-number.md").read_text())
    said, _, tables = page.partition("## Recommendation")[2].partition("## Needed episodes")
    figures = re.findall(r"\d+\.\d(?= %)|\d{1,3},\d{3}|\b[1-9]\d\d\b|\b0\.\d{3}\b|\b\d\d\.\d\b", said)
    assert len(figures) > 15
    known = set(re.findall(r"[\d.,]*\d", tables))
    assert [one for one in figures if not {one, f"{one}.0"} & known] == []


def test_notebooks_show_code_and_outputs(pages: ModuleType) -> None:
    page = pages.expand("<!-- notebook: notebooks/first-steps.ipynb -->")
    assert page.startswith("# First steps") and "```python\nfrom pathlib import Path\n" in page
    assert "data:image/png;base64," in page and "<!-- notebook" not in page
