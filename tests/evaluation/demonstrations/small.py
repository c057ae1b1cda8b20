"""Small demonstrations for tests: three short episodes of PointNav, several files."""

from pathlib import Path
from typing import Any

from navarena.evaluation.demonstrations.manifest import Manifest
from navarena.evaluation.demonstrations.writing import RUN, DemoSettings, write_demonstrations
from navarena.evaluation.settings import EvaluationSettings

PROTOCOL = "pointnav-v1+rgb=32x24+depth=32x24"
EPISODES = 4
SHARD_FRAMES = 60


def settings(out: Path, protocol: str = PROTOCOL, **changes: Any) -> DemoSettings:
    names = ("agent", "episodes", "workers", "split", "seed")
    own = {"agent": "expert", "episodes": EPISODES, "split": "mini"}
    own |= {name: changes.pop(name) for name in names if name in changes}
    return DemoSettings(
        EvaluationSettings(protocol=protocol, **own), out, **{"shard_frames": SHARD_FRAMES, **changes}
    )


def write(out: Path, **changes: Any) -> Manifest:
    return write_demonstrations(settings(out, **changes))


def files_of(folder: Path) -> dict[str, bytes]:
    """Everything but the run, whose record holds the time."""
    paths = [path for path in folder.rglob("*") if path.is_file()]
    names = {str(path.relative_to(folder)): path for path in paths}
    kept = {name: path for name, path in names.items() if not name.startswith((RUN, ".lock"))}
    return {name: path.read_bytes() for name, path in sorted(kept.items())}
