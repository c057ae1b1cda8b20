"""Small copies of checkpoints, and the choice among those of a training."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

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
    HEADS,
    earlier_folders,
    load_policy,
    read_heads,
    read_info,
    replace_folder,
)
from navarena.learning.checkpoints.selection import CurvePoint
from navarena.learning.tensors import Tensor, torch


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
    """Write the checkpoint in `folder` into `out`, its floating-point weights as float16, to act and adapt.

    What networks count and do not learn, such as means of their inputs, stays as it is.

    Raises FileError for a damaged checkpoint, InputError where a weight is too large for float16 and where
    `out` is a training's folder, StorageError when it cannot be written.
    """
    if (out / RESUME).exists() or out.resolve() == folder.resolve():
        raise InputError(f"expected another folder for the copy, got {out}, whose training could not go on")
    info, policy = load_policy(folder)
    weights, counts = copy_weights(policy), {name for name, _ in policy.named_buffers()}
    small, largest = _halve({name: value for name, value in weights.items() if name not in counts})
    small |= {name: value for name, value in weights.items() if name in counts}
    beside, change = _halve(read_heads(info, folder))
    model, digest = encode_weights(small)
    heads, heads_digest = encode_weights(beside) if beside else (b"", "")
    files = {MODEL: model, INFO: encode_info(replace(info, model_sha256=digest, heads_sha256=heads_digest))}
    replace_folder(out, files | ({HEADS: heads} if beside else {}))
    size = sum(map(len, files.values())) + len(heads)
    return Export(size, (folder / MODEL).stat().st_size, max(largest, change))


def _halve(weights: Mapping[str, Tensor]) -> tuple[dict[str, Tensor], float]:
    """Name -> `weights` as float16 where they are no whole numbers, and their largest change, as of Export.

    Raises InputError for weights beyond float16.
    """
    small, largest = dict(weights), 0.0
    for name, value in weights.items():
        if not value.is_floating_point():
            continue
        half = value.to(torch.float16)
        if not torch.isfinite(half).all():
            raise InputError(f"expected weights within float16, got {float(value.abs().max()):.3g} in {name}")
        small[name] = half
        size = float(value.abs().max()) if value.numel() else 0.0
        largest = max(largest, float((half.float() - value).abs().max()) / size if size else 0.0)
    return small, largest


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
        info, _ = load_policy(chosen)
        names = (MODEL, INFO, HEADS) if read_heads(info, chosen) else (MODEL, INFO)
        files = {name: read_bytes(chosen / name, "checkpoint") for name in names}
        replace_folder(folder / BEST, files)
    return folder / BEST, candidates
