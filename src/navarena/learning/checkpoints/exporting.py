"""Small copies of checkpoints, and the choice among those of a training."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from navarena.core.errors import FileError, InputError, require_name
from navarena.core.files import read_bytes
from navarena.learning.checkpoints.files import (
    INFO,
    MODEL,
    RESUME,
    copy_weights,
    encode_info,
    encode_weights,
)
from navarena.learning.checkpoints.policies import (
    BEST,
    earlier_folders,
    load_body_policy,
    read_info,
    replace_folder,
)
from navarena.learning.checkpoints.selection import CurvePoint
from navarena.learning.tensors import torch


@dataclass(frozen=True)
class Export:
    """A small copy of a checkpoint.

    Attributes:
        size: bytes of its files.
        before: bytes of the original's weights.
        largest_change: of a weight, relative to the largest one of its tensor.
    """

    size: int
    before: int
    largest_change: float


def export_checkpoint(folder: Path, out: Path) -> Export:
    """Write the checkpoint in `folder` into `out`, its floating-point weights as float16, to act only.

    Raises FileError for a damaged checkpoint, InputError where a weight is too large for float16 and where
    `out` is a training's folder, StorageError when it cannot be written.
    """
    if (out / RESUME).exists() or out.resolve() == folder.resolve():
        raise InputError(f"expected another folder for the copy, got {out}, whose training could not go on")
    info, policy = load_body_policy(folder)
    small: dict[str, Any] = {}
    largest = 0.0
    for name, value in copy_weights(policy).items():
        small[name] = value
        if not value.is_floating_point():
            continue
        half = value.to(torch.float16)
        if not torch.isfinite(half).all():
            raise InputError(f"expected weights within float16, got {float(value.abs().max()):.3g} in {name}")
        small[name] = half
        size = float(value.abs().max()) if value.numel() else 0.0
        largest = max(largest, float((half.float() - value).abs().max()) / size if size else 0.0)
    model, digest = encode_weights(small)
    described = encode_info(replace(info, model_sha256=digest))
    replace_folder(out, {MODEL: model, INFO: described})
    return Export(len(model) + len(described), (folder / MODEL).stat().st_size, largest)


def select_checkpoint(folder: Path, by: str) -> tuple[Path, list[tuple[Path, CurvePoint]]]:
    """Let `best` of the training in `folder` be the kept checkpoint whose evaluation was best by `by`.

    Returns its folder, and all candidates with their evaluations, in the order of frames.

    Raises FileError where nothing was evaluated, UnknownNameError for a metric that was not.
    """
    places = [*earlier_folders(folder).values(), folder / BEST]
    found: dict[int, tuple[Path, CurvePoint]] = {}
    for place in places:
        if (place / INFO).exists():
            info = read_info(place)
            if info.curve and info.curve[-1].frames == info.frames:
                found.setdefault(info.frames, (place, info.curve[-1]))
    if not found:
        raise FileError(
            f"expected checkpoints of a training that were evaluated in {folder}, got none; train with "
            "--set evaluation.updates=N"
        )
    candidates = [found[frames] for frames in sorted(found)]
    require_name("evaluated metric", by, candidates[-1][1].scores)
    chosen = max(candidates, key=lambda one: (one[1].scores[by].mean, one[1].frames))[0]
    if chosen != folder / BEST:
        load_body_policy(chosen)
        files = {name: read_bytes(chosen / name, "checkpoint") for name in (MODEL, INFO)}
        replace_folder(folder / BEST, files)
    return folder / BEST, candidates
