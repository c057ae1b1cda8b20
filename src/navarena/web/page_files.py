"""Files that the pages of several servers load."""

from pathlib import Path

from navarena.reports.html import TEMPLATES

SHARED_STYLES = (
    Path(__file__).parent / "static" / "base.css",
    TEMPLATES / "page.css",
    TEMPLATES / "topdown.css",
)
"""The look of all servers' pages, that of reports, too, and that of drawings."""
