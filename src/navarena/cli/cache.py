"""`navarena cache info` and `navarena cache clear`."""

from dataclasses import dataclass
from typing import Any

import tyro

from navarena.cli.console import Console
from navarena.core.errors import require_name
from navarena.core.files import cache_folder
from navarena.scenes.cache_store import (
    OTHER_KINDS,
    CacheUsage,
    cache_limit_bytes,
    cache_usage,
    clear_cache,
)

MIB = 2**20


@dataclass(frozen=True)
class CacheInfo:
    """Show what the cache folder holds: compiled scenes, navmeshes, render meshes, kernels."""

    json: bool = False
    """Print one JSON document instead of a table."""

    def run(self, console: Console) -> int:
        """Print the content of the cache, by kind; the exit code is 0."""
        usage, limit = cache_usage(), cache_limit_bytes()
        packs = sum(entry.bytes for entry in usage if entry.kind not in OTHER_KINDS)
        console.text(f"folder {cache_folder()} (NAVARENA_CACHE)")
        console.table("cache", ("kind", "files", "MiB"), _rows(usage))
        console.text(f"packs use {packs / MIB:.1f} of {limit / MIB:,.0f} MiB (NAVARENA_CACHE_LIMIT, in GiB)")
        console.result(
            {
                "folder": str(cache_folder()),
                "limit_bytes": limit,
                "bytes": sum(entry.bytes for entry in usage),
                "kinds": _describe(usage),
            }
        )
        return 0


@dataclass(frozen=True)
class CacheClear:
    """Empty the cache folder. It is filled again as needed."""

    kind: tyro.conf.Positional[tuple[str, ...]] = ()
    """What to delete, such as scene, navmesh, render or kernels; everything when none is named."""
    json: bool = False
    """Print one JSON document instead of a table."""

    def run(self, console: Console) -> int:
        """Delete the files; the exit code is 0."""
        known = [entry.kind for entry in cache_usage()]
        kinds = [require_name("kind of cached data", kind, known) for kind in self.kind] or known
        cleared = clear_cache(kinds)
        console.table("deleted", ("kind", "files", "MiB"), _rows(cleared))
        console.result(
            {
                "folder": str(cache_folder()),
                "bytes": sum(entry.bytes for entry in cleared),
                "kinds": _describe(cleared),
            }
        )
        return 0


def _rows(usage: list[CacheUsage]) -> list[tuple[object, ...]]:
    return [(entry.kind, entry.files, entry.bytes / MIB) for entry in usage]


def _describe(usage: list[CacheUsage]) -> list[dict[str, Any]]:
    return [{"kind": entry.kind, "files": entry.files, "bytes": entry.bytes} for entry in usage]
