"""Files that the pages of several servers load."""

from pathlib import Path

BASE_STYLE = Path(__file__).parent / "static" / "base.css"
"""Colours for light and dark, text, buttons and chips."""
