"""Checkpoints: folders with a policy's weights, their description, and the state that resumes a training.

model.safetensors   weights
heads.safetensors   those of heads that only losses use, where there are any: adaptation goes on with them
checkpoint.json     CheckpointInfo: how to build the policy, what it sees, how it was trained
resume.pt           weights, optimiser, generators, environments of a training; loads with weights_only=True
best/               the first two of the best checkpoint
earlier/FRAMES/     the same of checkpoints that were evaluated before
"""

import hashlib
import shutil
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from navarena.core.errors import FileError, InputError
from navarena.core.files import raise_storage_error, read_bytes
from navarena.learning.checkpoints.files import (
    INFO,
    MODEL,
    RESUME,
    complete_files,
    copy_weights,
    encode_info,
    encode_resume,
    encode_weights,
    load_weights,
    read_description,
    write_together,
)
from navarena.learning.checkpoints.selection import SELECTED, CurvePoint, Selection
from navarena.learning.graph_policy import GraphPolicy
from navarena.learning.inputs import InputSpec
from navarena.learning.policy import RecurrentPolicy
from navarena.learning.settings import PolicySettings
from navarena.learning.tensors import Tensor, safetensors, torch

FORMAT = "navarena-checkpoint-v1"
AUXILIARIES = "auxiliaries."
"""Names of weights that only losses use: a training needs them to go on, a policy that acts does not."""

HEADS = "heads.safetensors"
BEST, EARLIER = "best", "earlier"
COMMAND = "navarena train RECIPE"
"""Trains one."""


ActingPolicy = RecurrentPolicy | GraphPolicy
"""What checkpoints are of: bodies in scenes, or on navigation graphs."""


@dataclass(frozen=True)
class CheckpointInfo:
    """Description of a checkpoint, from which its policy is built and its training is reported.

    Attributes:
        protocol: id that it was trained on, with options.
        actions: names, or those of the numbers of a continuous action.
        is_continuous: whether actions are numbers.
        masked: names of actions that it never takes.
        inputs: what it sees, and in which size.
        policy: sizes.
        act_rows: rows of every call in evaluations.
        recipe: the whole recipe, as plain values.
        frames: that it has learned from.
        updates: as many rollouts.
        version: of navarena.
        privileged_sensors: those of its sensors that show what no body of a protocol measures.
        model_sha256: of model.safetensors.
        heads_sha256: of heads.safetensors; empty without one.
        format: FORMAT.
        commit: of the repository of navarena's code; empty where it is not known.
        seeds: name -> seed.
        curve: evaluations before, in order.
        selection: on which episodes these chose.
        corruptions: that it was trained with, each as "name:severity".
        augmentations: names of those that it was trained with.
        vocabulary: categories of goals by the numbers that it sees; empty for goals that are none.
        cpu_seconds: of all processes of the training, all threads together; 0 where it is not known.
        features: of views on graphs, by name; empty for those of a file, and in scenes.
        demonstrations: that it imitates, as "AGENT on PROTOCOL@DATASET/SPLIT#HASH"; empty without.
    """

    protocol: str
    actions: tuple[str, ...]
    is_continuous: bool
    masked: tuple[str, ...]
    inputs: tuple[InputSpec, ...]
    policy: PolicySettings
    act_rows: int
    recipe: dict[str, Any]
    frames: int
    updates: int
    version: str
    privileged_sensors: tuple[str, ...] = ()
    model_sha256: str = ""
    heads_sha256: str = ""
    format: str = FORMAT
    commit: str = ""
    seeds: dict[str, int] = field(default_factory=dict)
    curve: tuple[CurvePoint, ...] = ()
    selection: Selection = "train"
    corruptions: tuple[str, ...] = ()
    augmentations: tuple[str, ...] = ()
    vocabulary: tuple[str, ...] = ()
    cpu_seconds: float = 0.0
    features: str = ""
    demonstrations: str = ""

    @property
    def trained_with(self) -> tuple[str, ...]:
        """Notes for results: corruptions and augmentations in training, demonstrations, selection on reported
        episodes.
        """
        imitated = (f"demonstrations of {self.demonstrations}",) if self.demonstrations else ()
        chosen = (SELECTED,) if self.selection == "paper" else ()
        return (*self.corruptions, *self.augmentations, *imitated, *chosen)

    @property
    def resizes(self) -> tuple[str, ...]:
        """The sizes to which images are resized, as agents declare them."""
        return tuple(f"{one.name}={one.shape[1]}x{one.shape[0]}" for one in self.inputs if one.is_image)

    def build(self) -> ActingPolicy:
        """The policy, with random weights."""
        if self.policy.memory == "hamt":
            return GraphPolicy(self.inputs, len(self.actions), self.policy.hamt)
        masked = [self.actions.index(name) for name in self.masked]
        return RecurrentPolicy(self.inputs, len(self.actions), self.policy, self.is_continuous, masked)


def save_checkpoint(
    folder: Path, info: CheckpointInfo, policy: ActingPolicy, resume: Mapping[str, Any]
) -> None:
    """Replace all files of a checkpoint in `folder`, when all of them are on the disk; raises StorageError.

    `resume` (tensors and plain values) takes its place first and holds the weights again: should the process
    end between two files, the training goes on from a whole state and writes the others anew.
    """
    files = encode_policy(info, policy)
    write_together(folder, {**files, RESUME: encode_resume(policy, resume)})


def complete_checkpoint(folder: Path, info: CheckpointInfo, policy: ActingPolicy) -> None:
    """Write the files of a checkpoint that acts into `folder` unless they are whole; raises StorageError.

    `info` and `policy` are those of its resume.pt, beside which the process may have ended.
    """
    complete_files(folder, info.frames, lambda: encode_policy(info, policy))


def save_policy(folder: Path, info: CheckpointInfo, policy: ActingPolicy) -> None:
    """Replace the folder `folder` in one step by a checkpoint that acts; raises StorageError."""
    replace_folder(folder, encode_policy(info, policy))


def encode_policy(info: CheckpointInfo, policy: ActingPolicy) -> dict[str, bytes]:
    """Name -> content of the files of a checkpoint that acts, checkpoint.json first."""
    weights = copy_weights(policy)
    acting = {name: value for name, value in weights.items() if not name.startswith(AUXILIARIES)}
    beside = {name.removeprefix(AUXILIARIES): weights[name] for name in weights if name not in acting}
    model, digest = encode_weights(acting)
    heads, heads_digest = encode_weights(beside) if beside else (b"", "")
    written = replace(info, model_sha256=digest, heads_sha256=heads_digest)
    return {INFO: encode_info(written), MODEL: model} | ({HEADS: heads} if beside else {})


def replace_folder(folder: Path, files: Mapping[str, bytes]) -> None:
    """Let `folder` hold `files` (name -> content) and nothing else, all at once; raises StorageError."""
    before = folder.with_name(f".{folder.name}.before")
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        made = Path(tempfile.mkdtemp(prefix=f".{folder.name}.", dir=folder.parent))
        try:
            made.chmod(0o755)
            write_together(made, files)
            shutil.rmtree(before, ignore_errors=True)
            if folder.exists():
                folder.rename(before)
            made.rename(folder)
            shutil.rmtree(before, ignore_errors=True)
        finally:
            shutil.rmtree(made, ignore_errors=True)
    except OSError as error:
        raise_storage_error(folder, error)


def earlier_folders(folder: Path) -> dict[int, Path]:
    """Frames -> folder, of the earlier checkpoints of the training in `folder`, in order."""
    found = {int(one.name): one for one in (folder / EARLIER).glob("[0-9]*") if one.name.isdigit()}
    return dict(sorted(found.items()))


def read_info(folder: Path) -> CheckpointInfo:
    """Description of the checkpoint in `folder`.

    Raises FileError when there is none, it is damaged, or of another format.
    """
    return read_description(folder, CheckpointInfo, "a policy", FORMAT, COMMAND)


def load_policy(folder: Path) -> tuple[CheckpointInfo, ActingPolicy]:
    """The policy of the checkpoint in `folder`, for evaluation, and its description.

    Raises FileError when a file is missing or damaged, or when the files do not belong together.
    """
    info = read_info(folder)
    policy = info.build()
    load_weights(policy, folder, info.model_sha256, COMMAND)
    return info, policy


def load_body_policy(folder: Path) -> tuple[CheckpointInfo, RecurrentPolicy]:
    """`load_policy` for bodies in scenes; also raises InputError for a policy on graphs."""
    info, policy = load_policy(folder)
    if not isinstance(policy, RecurrentPolicy):
        raise InputError(
            f"expected a checkpoint of bodies in scenes, got {folder}, trained on {info.protocol}"
        )
    return info, policy


def load_heads(heads: torch.nn.Module, info: CheckpointInfo, folder: Path, kind: str) -> None:
    """Read the weights of one kind of the losses that the checkpoint in `folder` was trained with.

    Args:
        heads: AuxiliaryHeads of this kind alone.
        info: what the checkpoint is.
        folder: of the checkpoint.
        kind: of the loss.

    Raises InputError for a checkpoint without this loss, FileError for a damaged one.
    """
    found = read_heads(info, folder)
    own = {name: value for name, value in found.items() if name.startswith(f"heads.{kind}.")}
    if not own:
        raise InputError(
            f"expected a checkpoint that was trained with the auxiliary loss {kind} and has its weights, got "
            f"{folder} without them; train one whose recipe has it among method.auxiliaries"
        )
    heads.load_state_dict(own)


def continue_heads(heads: torch.nn.Module, info: CheckpointInfo, folder: Path) -> None:
    """Copy into `heads` what the checkpoint `info` in `folder` has of their losses; others stay as they are.

    Raises FileError for a damaged one.
    """
    own = heads.state_dict()
    found = read_heads(info, folder)
    known = {k: value for k, value in found.items() if k in own and own[k].shape == value.shape}
    heads.load_state_dict(known, strict=False)


def read_heads(info: CheckpointInfo, folder: Path) -> dict[str, Tensor]:
    """Name -> weights of all heads of losses of a checkpoint; empty where it has none.

    Raises FileError for a damaged file.
    """
    data = read_bytes(Path(folder) / HEADS, "heads") if info.heads_sha256 else b""
    if data and hashlib.sha256(data).hexdigest() != info.heads_sha256:
        raise FileError(f"{Path(folder) / HEADS} does not belong to the {INFO} beside it; copy both again")
    return safetensors.load(data) if data else {}
