"""What to evaluate, and how."""

import hashlib
import json
import re
from dataclasses import dataclass
from pathlib import Path

from navarena.core.errors import InputError
from navarena.evaluation.chains import Forget, require_forget
from navarena.evaluation.identity import Identity

RUNS_FOLDER = Path("navarena-runs")

DECISIVE = (
    "protocol",
    "agent",
    "split",
    "dataset",
    "episodes",
    "seed",
    "corrupt",
    "calibrate",
    "calibration",
    "forget",
    "episode_steps",
    "episode_seconds",
)
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
        corrupt: corruptions of the agent's images, motion and estimated pose, in this order:
            "name:severity" or with words, separated by commas; None for nothing.
        calibrate: steps in which the agent may adapt before (see `calibration`); None for no such phase.
        calibration: split of the data set, or episode file or folder, in which it adapts, such as
            RobustNav's "calibration"; None for generated episodes in the same scenes.
        forget: when the agent is told to forget: at every "subtask", at every "episode" (the protocols' own
            way, also None), or "never" within a scene, whose episodes then run one after the other.
        episode_steps: actions after which an episode is cut off, when the protocol allows more.
        episode_seconds: wall-clock seconds that the agent may take for an episode, its share of each
            batch; then the episode counts as a failure. Such rows depend on the machine.
        shuffle: whether episodes run in a random order, drawn by `seed`; the numbers do not depend on it.
        workers: processes; the numbers do not depend on it. None leaves it to what the agent declares
            (Agent.worker_episodes) and to the number of processors.
        ray: address of a Ray cluster whose machines run the workers ("auto", "10.0.0.1:6379", or "local" for
            one on this machine alone); None for processes of this machine.
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
    calibrate: int | None = None
    calibration: str | None = None
    forget: str | None = None
    episode_steps: int | None = None
    episode_seconds: float | None = None
    shuffle: bool = False
    workers: int | None = 1
    ray: str | None = None
    batch_size: int = 32
    out: Path | None = None
    fresh: bool = False

    def __post_init__(self) -> None:
        for name in ("episodes", "calibrate", "episode_steps", "workers", "batch_size"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise InputError(f"expected {name} of at least 1, got {value}")
        if self.calibration is not None and self.calibrate is None:
            raise InputError(
                "expected calibrate steps beside calibration episodes, got none; add --calibrate N"
            )
        if self.seed < 0:
            raise InputError(f"expected a seed of at least 0, got {self.seed}")
        if self.episode_seconds is not None and not self.episode_seconds > 0:
            raise InputError(f"expected positive episode_seconds, got {self.episode_seconds}")
        require_forget(self.forget)

    @property
    def decisive(self) -> dict[str, str | int | float | None]:
        """The fields that can move a number, by name."""
        return {name: getattr(self, name) for name in DECISIVE}

    @property
    def rules(self) -> "EpisodeRules":
        """What every process that runs episodes must know."""
        return EpisodeRules(self.seed, require_forget(self.forget), self.episode_steps, self.episode_seconds)

    def folder(self, identity: Identity) -> Path:
        """Where the run lives: `out`, else a folder that the same command finds again."""
        if self.out is not None:
            return Path(self.out)
        limits = [] if self.episode_seconds is None else [self.episode_seconds]
        decided = json.dumps([str(identity), self.agent, self.seed, *limits]).encode()
        short = hashlib.sha256(decided).hexdigest()[:8]
        words = (identity.protocol, self.agent, identity.split, short)
        return RUNS_FOLDER / "-".join(re.sub(r"[^A-Za-z0-9_.-]+", ".", word) for word in words)


@dataclass(frozen=True)
class EpisodeRules:
    """How episodes are run, beside the rules of the protocol; see EvaluationSettings.

    Attributes:
        seed: of the agent.
        forget: when it is told to forget.
        steps, seconds: limits of an episode; None for none.
    """

    seed: int = 0
    forget: Forget = "episode"
    steps: int | None = None
    seconds: float | None = None
