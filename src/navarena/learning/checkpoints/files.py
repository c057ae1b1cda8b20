"""Files of checkpoints: weights, their description and the state of the training, written together.

model.safetensors   weights
checkpoint.json     description, with the SHA-256 of the weights
resume.pt           state that resumes the training; loads with weights_only=True
"""

import hashlib
import io
import zipfile
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from navarena import __version__
from navarena.core.errors import FileError, InputError
from navarena.core.files import atomic_path, hash_file, raise_storage_error, read_bytes, read_json
from navarena.learning.tensors import Tensor, safetensors, torch

MODEL, INFO, RESUME = "model.safetensors", "checkpoint.json", "resume.pt"

DESCRIPTIONS = ("description", "core_hours")
"""Settings of recipes by which nothing is trained otherwise."""

RESUME_FORMAT = "navarena-checkpoint-v1"
"""Of resume.pt, whatever is trained."""

Info = TypeVar("Info")


def copy_weights(network: torch.nn.Module) -> dict[str, Tensor]:
    """Name -> weights (...) of a network, on the processor."""
    return {name: value.detach().cpu().contiguous() for name, value in network.state_dict().items()}


def encode_weights(weights: Mapping[str, Tensor]) -> tuple[bytes, str]:
    """The content of a file of weights (name -> ...), and its SHA-256 in hexadecimal digits."""
    data: bytes = safetensors.save(dict(weights))
    return data, hashlib.sha256(data).hexdigest()


def encode_info(info: Any) -> bytes:
    """The content of checkpoint.json."""
    return msgspec.json.format(msgspec.json.encode(info), indent=2) + b"\n"


def encode_resume(network: torch.nn.Module, state: Mapping[str, Any]) -> bytes:
    """The content of resume.pt: the weights of `network`, and `state` of tensors and plain values."""
    buffer = io.BytesIO()  # PyTorch says nothing of a full disk when it writes files itself
    torch.save({"format": RESUME_FORMAT, "weights": copy_weights(network), **state}, buffer)
    return buffer.getvalue()


def write_together(folder: Path, files: Mapping[str, bytes]) -> None:
    """Write `files` (name -> content), and only then let them take their places, the last one first.

    Raises StorageError.
    """
    with ExitStack() as stack:
        temporary = {name: stack.enter_context(atomic_path(folder / name)) for name in files}
        for name, data in files.items():
            try:
                temporary[name].write_bytes(data)
            except OSError as error:
                raise_storage_error(folder / name, error)


def complete_files(folder: Path, frames: int, encode: Callable[[], Mapping[str, bytes]]) -> None:
    """Write what `encode` makes into `folder` unless the files beside resume.pt are whole.

    A process that ended between two files may have left those of another moment, or none.

    Args:
        folder: of a checkpoint.
        frames: that its description should state.
        encode: makes name -> content of description and weights.

    Raises StorageError.
    """
    try:
        found = read_json(folder / INFO, "checkpoint", dict[str, Any])
        stated = found.get("frames"), found.get("model_sha256")
        is_whole = stated == (frames, hash_file(folder / MODEL, "model"))
    except FileError:
        is_whole = False
    if not is_whole:
        write_together(folder, encode())


def read_description(folder: Path, kind: type[Info], noun: str, known: str, command: str) -> Info:
    """The description of the checkpoint in `folder`.

    Args:
        folder: of the checkpoint.
        kind: dataclass of the description.
        noun: what the checkpoint is of, with its article.
        known: format that is read.
        command: that trains one.

    Raises FileError when there is none, it is damaged, or of another format.
    """
    path, what, remedy = Path(folder) / INFO, f"checkpoint of {noun}", f"train it again ({command})"
    if not path.exists():
        raise FileError(
            f"expected {noun} in {folder}, where {INFO} does not exist; check the path, or train one "
            f"({command})"
        )
    described = read_json(path, what, dict[str, Any], remedy)
    found, version = described.get("format"), described.get("version", __version__)
    if version != __version__:
        remedy = f"navarena {version} wrote it, this is {__version__}: install that one, or {remedy}"
    if found != known:
        raise FileError(f"expected {noun} ({known}) in {path}, got {found!r}; {remedy}")
    info: Info = read_json(path, what, kind, remedy)
    return info


def load_weights(network: torch.nn.Module, folder: Path, digest: str, command: str) -> None:
    """Read the weights of the checkpoint in `folder` into `network`, which is for use from then on.

    Args:
        network: of their shapes.
        folder: of the checkpoint.
        digest: SHA-256 of the weights, as the description has it.
        command: that trains one.

    Raises FileError when the file is missing or damaged, or does not belong to the description.
    """
    path, remedy = Path(folder) / MODEL, f"train it again ({command})"
    data = read_bytes(path, "model")
    if hashlib.sha256(data).hexdigest() != digest:
        raise FileError(f"{path} does not belong to the {INFO} beside it; copy both again, or {remedy}")
    try:
        network.load_state_dict(safetensors.load(data))
    except Exception as error:  # safetensors and PyTorch raise their own kinds
        raise FileError(f"{path} does not fit its {INFO} ({str(error)[:200]}); {remedy}") from error
    wrong = [name for name, value in network.state_dict().items() if not torch.isfinite(value).all()]
    if wrong:
        raise FileError(f"expected finite numbers in {path}, got others in {wrong[0]}; {remedy}")
    network.eval()


def describe_last_checkpoint(folder: Path) -> str:
    """What an error of a training says of the checkpoint in its `folder`: good, or not there."""
    if (Path(folder) / MODEL).exists():
        return f"the checkpoint in {folder} is good"
    return f"there is no checkpoint in {folder} yet"


def load_resume(folder: Path) -> dict[str, Any] | None:
    """The state that resumes the training in `folder`; None if there is none.

    Only tensors and plain values are read (weights_only); its environments are a pickle within, so go on only
    with what you trained yourself. Raises FileError when it is damaged or of another format.
    """
    path = Path(folder) / RESUME
    if not path.exists():
        return None
    try:
        with zipfile.ZipFile(path) as parts:
            if wrong := parts.testzip():  # PyTorch does not look at the sums that it writes
                raise ValueError(f"the checksum of {wrong} is another")
        saved = torch.load(path, weights_only=True)
        if not isinstance(saved, dict):
            raise TypeError(f"expected a dictionary, got {type(saved).__name__}")
    except Exception as error:  # zipfile's, pickle's and PyTorch's own kinds
        said = str(error)[:200] or type(error).__name__
        raise FileError(
            f"{path} is damaged ({said}); choose another folder by --out, or remove it"
        ) from error
    if saved.get("format") != RESUME_FORMAT:
        raise FileError(
            f"expected the format {RESUME_FORMAT} of {path}, got {saved.get('format')!r}; choose another "
            "folder by --out"
        )
    return saved


def require_same_recipe(now: Mapping[str, Any], before: Mapping[str, Any], folder: Path) -> None:
    """Raise InputError naming the first differing setting if a training is resumed with another recipe.

    What only describes a recipe may differ.
    """
    ours, theirs = _flatten(now), _flatten(before)
    for name in (one for one in (*theirs, *ours) if one not in DESCRIPTIONS):
        if ours.get(name) != theirs.get(name):
            raise InputError(
                f"expected {name}={theirs.get(name)!r} of the training in {folder}, got {ours.get(name)!r}; "
                "choose another folder by --out"
            )


def _flatten(plain: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for name, value in plain.items():
        if isinstance(value, Mapping):
            flat |= _flatten(value, f"{prefix}{name}.")
        else:
            flat[prefix + name] = value
    return flat
