"""The log of a training: a line of JSON for each row, cut to the checkpoint where it goes on; its health."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from navarena.core.files import raise_storage_error, translate_damage, write_atomic

LOG = "log.jsonl"

Row = dict[str, Any]
"""One line of the log: its "kind", training or evaluation, and numbers by name."""

MAX_RATIO_ERROR = 1e-2
"""Of the ratio in the first minibatch from 1: beyond, acting and learning compute different things."""

MAX_KL = 0.1
"""Nats, of a policy's change in an update: clipped updates stay well below."""

MIN_EXPLAINED = -0.5
"""Explained variance of values: 0 is what a constant explains, far below the critic misleads."""

MIN_ENTROPY = 1e-3
"""Nats: a policy of discrete actions below it tries nothing any more."""


MIN_IMAGE_EFFECT = 1e-4
"""Of images on features: below, the encoder has died and passes nothing on."""


def append_row(folder: Path, row: Row) -> None:
    """Write `row` at the end of the log in `folder`; raises StorageError."""
    path = folder / LOG
    try:
        with path.open("a") as file:
            file.write(json.dumps(row) + "\n")
    except OSError as error:
        raise_storage_error(path, error)


def cut_log(folder: Path, frames: int) -> None:
    """Let the log in `folder` end after `frames` frames: without half a line, and lines of what was lost.

    A log of 0 frames is empty. Raises FileError for a damaged one, StorageError when it cannot be written.
    """
    path = folder / LOG
    with translate_damage(f"log {path}", "move it away: the training goes on with a new one"):
        lines = path.read_bytes().splitlines(keepends=True) if frames and path.exists() else []
        kept = [line for line in lines if line.endswith(b"\n") and json.loads(line)["frames"] <= frames]
    write_atomic(path, b"".join(kept))


def describe_health(row: Mapping[str, Any]) -> list[str]:
    """Problems in `row`, a log line of kind "training", in words; empty if there are none."""
    found = []
    if row.get("ratio_error", 0.0) > MAX_RATIO_ERROR:
        found.append(f"ratio {row['ratio_error']:.2g} from 1 before the first step: acting is not learning")
    if row.get("kl", 0.0) > MAX_KL:
        found.append(f"KL {row['kl']:.2g}: the policy changes too fast, lower the rate")
    if row.get("explained_variance", 0.0) < MIN_EXPLAINED:
        found.append(f"explained variance {row['explained_variance']:.2g}: the critic misleads")
    if row.get("image_effect", 1.0) < MIN_IMAGE_EFFECT:
        found.append("images change no feature: the encoder has died, start anew with a lower rate")
    if "entropy" in row and 0 <= row["entropy"] < MIN_ENTROPY:
        found.append(f"entropy {row['entropy']:.2g}: the policy tries nothing any more")
    return found
