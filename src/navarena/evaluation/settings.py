"""What to evaluate, and how."""

import hashlib
import json
import re
from dataclasses import dataclass
from pathlib import Path

from navarena.core.errors import InputError
from navarena.evaluation.identity import Identity

RUNS_FOLDER = Path("navarena-runs")

DECISIVE = ("protocol", "agent", "split", "dataset", "episodes", "seed", "corrupt")
"""Fields that can move a number; the others change only where and how fast it is computed."""


@dataclass(frozen=True)
class EvaluationSettings:
    """One evaluation.

    Attributes:
        protocol: id of the rules, such as "pointnav-v1".
        agent: a registered name, or "module:Class".
        split: of the dataset, such as "mini", "val" or "test".
        dataset: name of a dataset, an episode file, a mesh file or a scene id (episodes are then
            generated in that scene); None for the protocol's own.
        episodes: only so many from the front of the split; None for all.
        seed: of the agent's random streams; the episodes do not depend on it.
        corrupt: what spoils the agent's sight, motion and knowledge of its pose, in this order:
            "name:severity" or with words, separated by commas; None for nothing.
        workers: processes; the numbers do not depend on it.
        batch_size: episodes that one worker runs side by side; the numbers do not depend on it.
        out: folder of the run; None for one under RUNS_FOLDER named after what decides the numbers.
        fresh: throw away what `out` holds of an earlier run instead of resuming it.

    Raises InputError for counts below 1 or a negative seed.
    """

    protocol: str
    agent: str = "random"
    split: str = "mini"
    dataset: str | None = None
    episodes: int | None = None
    seed: int = 0
    corrupt: str | None = None
    workers: int = 1
    batch_size: int = 32
    out: Path | None = None
    fresh: bool = False

    def __post_init__(self) -> None:
        for name in ("episodes", "workers", "batch_size"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise InputError(f"expected {name} of at least 1, got {value}")
        if self.seed < 0:
            raise InputError(f"expected a seed of at least 0, got {self.seed}")

    @property
    def decisive(self) -> dict[str, str | int | None]:
        """The fields that can move a number, by name."""
        return {name: getattr(self, name) for name in DECISIVE}

    def folder(self, identity: Identity) -> Path:
        """Where the run lives: `out`, else a folder that the same command finds again."""
        if self.out is not None:
            return Path(self.out)
        decided = json.dumps([str(identity), self.agent, self.seed]).encode()
        short = hashlib.sha256(decided).hexdigest()[:8]
        words = (identity.protocol, self.agent, identity.split, short)
        return RUNS_FOLDER / "-".join(re.sub(r"[^A-Za-z0-9_.-]+", ".", word) for word in words)
