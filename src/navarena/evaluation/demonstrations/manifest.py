"""demos.json: the manifest of a folder of demonstrations, which says whether it is complete."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import msgspec

from navarena.core.errors import FileError
from navarena.core.files import read_json, write_atomic
from navarena.evaluation.demonstrations.columns import Column

FILE_NAME, FORMAT = "demos.json", "navarena-demos-v1"

LayoutName = Literal["lerobot", "parquet"]
"""How the frames are kept: as a LeRobot data set of version 3, with videos; or as plain Parquet, exactly."""


@dataclass(frozen=True)
class DemoEpisode:
    """One episode of a data set.

    Attributes:
        episode_id, scene_id, tour_id: as in the run; tour_id is empty outside tours.
        task: what it asks for, in words.
        steps: number of frames.
        status: how it ended, as of rows.
        success: its metric of that name; None where the protocol has none.
        first: number of its first frame among all.
        shard: number of the files that hold it.
    """

    episode_id: str
    scene_id: str
    tour_id: str
    task: str
    steps: int
    status: str
    success: float | None
    first: int
    shard: int


@dataclass(frozen=True)
class Manifest:
    """Manifest of a folder of demonstrations.

    Attributes:
        layout: how the frames are kept.
        protocol: id, with options.
        identity: `protocol@dataset/split#hash` of the run.
        agent: name.
        seed: of the agent.
        columns: the observations.
        actions: names; an action is an index into them.
        is_continuous: whether an action is a number for each of them instead.
        frames_per_second: at which videos play; steps have no time of their own.
        shard_frames: with which a file is full.
        successes: whether only episodes are kept that succeeded.
        privileged: names of observations, and inputs of the agent, that no body of the protocol measures.
        version: of navarena.
        complete: whether all files are there.
        episodes: in order; empty until it is complete.
        files: path -> SHA-256, of all files that hold frames; empty until it is complete.
        format: FORMAT.
    """

    layout: LayoutName
    protocol: str
    identity: str
    agent: str
    seed: int
    columns: tuple[Column, ...]
    actions: tuple[str, ...]
    is_continuous: bool
    frames_per_second: int
    shard_frames: int
    successes: bool
    privileged: tuple[str, ...]
    version: str
    complete: bool = False
    episodes: tuple[DemoEpisode, ...] = ()
    files: dict[str, str] = field(default_factory=dict)
    format: str = FORMAT

    @property
    def frames(self) -> int:
        """Total number of frames."""
        return sum(one.steps for one in self.episodes)


def read_manifest(folder: Path) -> Manifest:
    """demos.json of `folder`, complete or not.

    Raises FileError when it is missing or damaged, or of another format.
    """
    path = Path(folder) / FILE_NAME
    remedy = "write the demonstrations again, into another --out"
    if Path(folder).is_dir() and not path.exists():
        raise FileError(f"expected demonstrations in {folder}, got a folder without {FILE_NAME}; {remedy}")
    found = read_json(path, "manifest of demonstrations", dict[str, Any], remedy).get("format")
    if found != FORMAT:
        raise FileError(f"expected demonstrations of the format {FORMAT} in {path}, got {found!r}; {remedy}")
    manifest: Manifest = read_json(path, "manifest of demonstrations", Manifest, remedy)
    return manifest


def write_manifest(folder: Path, manifest: Manifest) -> None:
    """Replace demos.json of `folder`; raises StorageError."""
    encoded = msgspec.json.format(msgspec.json.encode(manifest), indent=1) + b"\n"
    write_atomic(folder / FILE_NAME, encoded)
