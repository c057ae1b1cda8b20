"""What the documentation prints from the code is really there."""

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

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
