"""Settings of an evaluation."""

import hashlib
import json
import re
from collections.abc import Iterable
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

import msgspec

from navarena.agents.declaration import name_of
from navarena.core.display import describe_fields
from navarena.core.errors import InputError, require_seconds
from navarena.core.render_devices import CPU, require_device_name
from navarena.evaluation.identity import Identity
from navarena.tasks.user_files import Sources

if TYPE_CHECKING:
    from navarena.agents.loading import AgentName
else:  # the flags of the command line are read from here: agents take a second to import
    AgentName = Any

RUNS_FOLDER = Path("navarena-runs")

Forget = Literal["subtask", "episode", "tour", "never"]
"""When an agent must forget: at every goal, at every episode, at the end of a tour (outside tours at
every episode; the protocols' own rule), or only when the scene changes."""

Setting = str | int | float | tuple[str, ...] | None
"""A value of a setting, as run.json holds it."""

DECISIVE = (
    "protocol",
    "agent",
    "split",
    "dataset",
    "episodes",
    "seed",
    "corrupt",
    "calibration_steps",
    "calibration_episodes",
    "forget",
    "episode_steps",
    "episode_seconds",
    "metrics",
    "scenes",
    "tours",
    "references",
    "features",
    "vocabulary",
)
"""Fields that can move a number; the others change only where and how fast it is computed."""


@dataclass(frozen=True)
class EvaluationSettings:
    """Settings of one evaluation, which are the flags of `navarena evaluate`.

    Raises InputError for values of other types, counts below 1, a negative seed, and corruptions that are no
    tuple of names, and UnknownNameError for a device.
    """

    protocol: str
    """Protocol id, such as pointnav-v1; `navarena list protocols` names them."""
    agent: AgentName = "random"
    """Registered name (`navarena list agents`), module:Class, or in Python a class or an agent itself."""
    split: str = "mini"
    """Split of the dataset: mini takes seconds; val and test are for results. An R2R file has the one in its
    name, and a single scene none, whatever stands here."""
    dataset: str | None = None
    """Other episodes than the protocol's own: a dataset's name, an episode file (or folder of them), or
    a mesh file (scan.ply, scan.ply?up=z&scale=0.01) or scene id in which episodes are generated."""
    episodes: int | None = None
    """Only so many episodes (of a split, the first ones); the result then shows as custom."""
    seed: int = 0
    """Seed of the agent's random streams; the episodes do not depend on it."""
    corrupt: tuple[str, ...] = ()
    """Corruption of images, motion, pose or goals (`navarena list corruptions`), as name:severity; may be
    given several times, for one after the other. The result then shows as custom."""
    calibration_steps: int | None = None
    """First let the agent adapt for so many steps in other episodes of the same scenes, under the same
    corruptions and without rewards (RobustNav: 166000). The result then shows as custom."""
    calibration_episodes: str | None = None
    """In which it adapts, with --calibration-steps: a split of the data set, such as RobustNav's
    "calibration", or an episode file or folder; by default episodes are generated in the evaluated scenes."""
    forget: str | None = None
    """When the agent must forget: subtask, episode, tour (the protocols' own rule; outside tours that of
    every episode), or never within a scene, whose episodes then run one after the other. A departure shows
    as custom."""
    episode_steps: int | None = None
    """Cut episodes off after so many actions; the result then shows as custom."""
    episode_seconds: float | None = None
    """Wall-clock seconds that the agent may take for an episode, its share of each batch; one that takes
    longer is a failure. Such rows depend on the machine."""
    metrics: str | None = None
    """Further numbers to compute (`navarena list metrics`), names separated by commas."""
    scenes: str | None = None
    """Folder of meshes in the place of the scenes that an episode file names; on navigation graphs the folder
    or tarball of Matterport3D connectivity files."""
    tours: str | None = None
    """Tour file of IVLN that goes with an episode or R2R file, for protocols with tours."""
    references: str | None = None
    """In houses: gt_ndtw.json of IVLN-CE, the paths that metrics compare with."""
    features: str | None = None
    """On graphs: features of the 36 views, .tsv (R2R) or .hdf5 (HAMT; FILE?size=768: the first 768)."""
    vocabulary: str | None = None
    """On graphs: file of words that encodes instructions for the sensor instruction_tokens."""
    device: str = "cpu"
    """Draws images: cpu, cuda (or cuda:1; needs navarena[gpu]), or warp-cpu, the GPU's kernels on the CPU.
    Agents get NumPy's arrays from all of them. On other devices than cpu the result shows as custom: single
    pixels differ."""
    shuffle: bool = False
    """Run the episodes in a random order, drawn by --seed; the numbers do not depend on it."""
    workers: int | None = 1
    """Worker processes; the numbers do not depend on it. None leaves it to the command: one, or several where
    the agent says that copies of it cost nothing and the run is long."""
    ray: str | None = None
    """Run the workers in a Ray cluster: its address (auto, 10.0.0.1:6379), or local for one of this machine;
    needs navarena[cluster]. The numbers do not depend on it."""
    batch_size: int = 32
    """Episodes that each worker runs side by side; the numbers do not depend on it."""
    out: Path | None = None
    """Folder of the run; by default one under ./navarena-runs that the same command finds again."""
    fresh: bool = False
    """Throw away what the folder holds of an earlier run."""

    def __post_init__(self) -> None:
        if isinstance(self.corrupt, str):
            raise InputError(f'expected a tuple of corruptions, got {self.corrupt!r}; write ("NAME",)')
        if isinstance(self.corrupt, Iterable):
            object.__setattr__(self, "corrupt", tuple(self.corrupt))
        if isinstance(self.out, str | Path):  # an agent may change the working directory
            object.__setattr__(self, "out", Path(self.out).absolute())
        for one in fields(self):
            _require_type(one.name, one.type, getattr(self, one.name))
        object.__setattr__(self, "corrupt", tuple(one for text in self.corrupt for one in text.split(",")))
        for name in ("episodes", "calibration_steps", "episode_steps", "workers", "batch_size"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise InputError(f"expected {name} of at least 1, got {value}")
        if self.calibration_episodes is not None and self.calibration_steps is None:
            raise InputError(
                "expected calibration_steps beside calibration_episodes, got none; add --calibration-steps N"
            )
        if self.seed < 0:
            raise InputError(f"expected a seed of at least 0, got {self.seed}")
        require_seconds("episode_seconds", self.episode_seconds)
        require_forget(self.forget)
        require_device_name(self.device)

    def __repr__(self) -> str:
        """The protocol and all settings that differ from their defaults."""
        chosen = {
            one.name: getattr(self, one.name)
            for one in fields(self)
            if one.name == "agent" or getattr(self, one.name) != one.default
        }
        return describe_fields(type(self).__name__, **chosen)

    @property
    def agent_name(self) -> str:
        """Name of the agent in results."""
        return name_of(self.agent)

    @property
    def decisive(self) -> dict[str, Setting]:
        """The fields that can move a number, by name; the device only where it is not the CPU's engine."""
        fields = DECISIVE if self.device == CPU else (*DECISIVE, "device")
        return {**{name: getattr(self, name) for name in fields}, "agent": self.agent_name}

    @property
    def sources(self) -> Sources:
        """The user's files beside the episodes."""
        return Sources(self.scenes, self.tours, self.references, self.features, self.vocabulary)

    @property
    def rules(self) -> "EpisodeRules":
        """Rules that every process of the evaluation needs."""
        return EpisodeRules(self.seed, require_forget(self.forget), self.episode_steps, self.episode_seconds)

    def folder(self, identity: Identity) -> Path:
        """Folder of the run: `out`, else one that the same command finds again."""
        if self.out is not None:
            return self.out
        limits = [] if self.episode_seconds is None else [self.episode_seconds]
        decided = json.dumps([str(identity), self.agent_name, self.seed, *limits]).encode()
        short = hashlib.sha256(decided).hexdigest()[:8]
        words = (identity.protocol, self.agent_name, identity.split, short)
        name = "-".join(re.sub(r"[^A-Za-z0-9_.-]+", ".", word) for word in words)
        return (RUNS_FOLDER / name).absolute()


@dataclass(frozen=True)
class EpisodeRules:
    """Rules of the evaluation for episodes, beside those of the protocol; see EvaluationSettings.

    Attributes:
        seed: of the agent.
        forget: when it must forget.
        steps, seconds: limits of an episode; None for none.
    """

    seed: int = 0
    forget: Forget = "tour"
    steps: int | None = None
    seconds: float | None = None


def _require_type(name: str, kind: Any, value: object) -> None:
    """Raise InputError for a field of EvaluationSettings whose value is not of its type."""
    try:
        msgspec.convert(value, kind)
    except msgspec.ValidationError as error:
        wanted = kind.__name__ if isinstance(kind, type) else str(kind)
        raise InputError(
            f"expected {name} of type {wanted}, got {value!r} of type {type(value).__name__}; convert it"
        ) from error


def require_forget(text: str | None) -> Forget:
    """The `--forget` of a command; None is the protocols' own rule, "tour". Raises InputError."""
    if text is None:
        return "tour"
    if text in get_args(Forget):
        return text  # type: ignore[return-value]
    raise InputError(f"expected forget to be one of {', '.join(get_args(Forget))}, got {text!r}")
