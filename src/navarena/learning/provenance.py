"""Provenance of a checkpoint: the commit of the code that made it."""

import subprocess
from pathlib import Path


def find_commit() -> str:
    """The commit of the repository that navarena runs from, with "+" behind it where files were changed.

    Empty where it runs from an installed package, or where there is no git.
    """
    package = Path(__file__).resolve().parents[1]
    if package.parent.name != "src" or not (package.parents[1] / ".git").exists():
        return ""
    commit = _ask_git(package, "rev-parse", "HEAD")
    return commit + "+" if commit and _ask_git(package, "status", "--porcelain", "--", ".") else commit


def _ask_git(folder: Path, *arguments: str) -> str:
    """Output of a git command in `folder`; empty if it fails."""
    try:
        done = subprocess.run(
            ["git", "-C", str(folder), *arguments], capture_output=True, text=True, timeout=10, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""
