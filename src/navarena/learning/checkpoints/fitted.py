"""Checkpoints of fitted networks: segmenters, the joint space, anticipation. One description of each kind."""

import functools
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar, TypeVar

from navarena import __version__
from navarena.learning.checkpoints.files import (
    INFO,
    MODEL,
    copy_weights,
    encode_info,
    encode_weights,
    load_weights,
    read_description,
    write_together,
)
from navarena.learning.tensors import torch


@dataclass(frozen=True, kw_only=True)
class FittedInfo(ABC):
    """Description of the checkpoint of a fitted network: how to build it, and how it was made.

    Derive a frozen dataclass of what the network needs beside.

    Attributes:
        protocol: that it is meant for first.
        recipe: the whole recipe, as plain values.
        frames: examples that it has learned from, repetitions included.
        updates: as many minibatches.
        version: of navarena.
        model_sha256: of model.safetensors.
        format: own_format, from when it is written.
    """

    noun: ClassVar[str]
    """What was fitted, with its article: "a segmenter"."""
    command: ClassVar[str]
    """That fits one: "navarena train segmenter-small"."""
    own_format: ClassVar[str]
    """Of the description; changes with it."""

    protocol: str
    recipe: dict[str, Any]
    frames: int = 0
    updates: int = 0
    version: str = __version__
    model_sha256: str = ""
    format: str = ""

    @abstractmethod
    def build(self) -> torch.nn.Module:
        """The network, with random weights."""


AnyInfo = TypeVar("AnyInfo", bound=FittedInfo)
Made = TypeVar("Made")


def encode_fitted(info: FittedInfo, network: torch.nn.Module) -> dict[str, bytes]:
    """Name -> content of the files of a checkpoint, checkpoint.json first."""
    data, digest = encode_weights(copy_weights(network))
    return {INFO: encode_info(replace(info, model_sha256=digest, format=info.own_format)), MODEL: data}


def save_fitted(folder: Path, info: FittedInfo, network: torch.nn.Module) -> None:
    """Write a checkpoint to use, without the state of a training, into `folder`; raises StorageError."""
    write_together(folder, encode_fitted(info, network))


def read_fitted_info(folder: Path, kind: type[AnyInfo]) -> AnyInfo:
    """Description of the checkpoint in `folder`, which is of the class `kind`.

    Raises FileError when there is none, it is damaged, or of another format.
    """
    return read_description(folder, kind, kind.noun, kind.own_format, kind.command)


def load_fitted(folder: Path, kind: type[AnyInfo]) -> tuple[AnyInfo, torch.nn.Module]:
    """Description and network of the checkpoint in `folder`, for use.

    Raises FileError when a file is missing or damaged, or when the files do not belong together.
    """
    info = read_fitted_info(folder, kind)
    network = info.build()
    load_weights(network, folder, info.model_sha256, kind.command)
    return info, network


def load_once(make: Callable[[Path], Made], folder: Path, kind: type[FittedInfo]) -> Made:
    """make(folder), kept for the next call while the weights of the checkpoint in `folder` are the same.

    Raises FileError for a folder without a checkpoint described by `kind`, and as `make` does.
    """
    made: Made = _make(make, folder, read_fitted_info(folder, kind).model_sha256)
    return made


@functools.lru_cache(maxsize=8)
def _make(make: Callable[[Path], Any], folder: Path, digest: str) -> Any:
    return make(folder)
