"""The corruptions, by name."""

from navarena.core.registry import Registry

CORRUPTIONS = Registry("corruption", {}, "navarena.corruptions")
"""Name -> class (called as Class(severity)). Packages add theirs in the entry-point group."""
