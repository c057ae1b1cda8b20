"""Where derived data live: compiled kernels and compiled scenes."""

import os
import sys
from pathlib import Path

CACHE_VARIABLE = "NAVARENA_CACHE"


def cache_folder() -> Path:
    """The root of the cache: $NAVARENA_CACHE, else `navarena` in the user's cache directory."""
    chosen = os.environ.get(CACHE_VARIABLE)
    if chosen:
        return Path(chosen).expanduser().absolute()
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "navarena"
    if sys.platform == "win32":
        return (
            Path(os.environ.get("LOCALAPPDATA", str(Path.home() / "AppData" / "Local")))
            / "navarena"
            / "Cache"
        )
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "navarena"
