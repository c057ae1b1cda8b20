"""CLIP, text and image, from local weights: `clip:PATH` by transformers, `open-clip:PATH` by open_clip."""

import json
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
from jaxtyping import Float32, UInt8
from PIL import Image

from navarena.agents.encoders.weights import (
    EXTRA,
    TRANSFORMERS_WEIGHTS,
    WeightsEncoder,
    as_vector,
    find_torch,
    load_network,
    require_weights,
    translated_weight_errors,
)
from navarena.core.errors import InputError, require_extra
from navarena.episodes.encoding.encoder import require_image

CLIP_MEAN = (0.48145466, 0.4578275, 0.40821073)
CLIP_STD = (0.26862954, 0.26130258, 0.27577711)
"""Of the channels of CLIP's training images, as shares of white (Radford et al. 2021, released code)."""


@dataclass(frozen=True)
class ImageInput:
    """Settings for preparing images as the input of a network.

    Attributes:
        side: pixels of the square.
        mean, std: of each channel, as shares of white.
    """

    side: int
    mean: tuple[float, ...] = CLIP_MEAN
    std: tuple[float, ...] = CLIP_STD


def prepare_image(image: UInt8[np.ndarray, "h w 3"], how: ImageInput) -> Float32[np.ndarray, "1 3 side side"]:
    """(1, 3, side, side) float32: the shorter side brought to `side` (bicubic), the middle, normalised.

    Raises InputError for what is no image of bytes.
    """
    require_image(image)
    height, width = image.shape[:2]
    scale = how.side / min(height, width)
    size = max(how.side, round(width * scale)), max(how.side, round(height * scale))
    small = Image.fromarray(image).resize(size, Image.Resampling.BICUBIC)
    left, top = (size[0] - how.side) // 2, (size[1] - how.side) // 2
    middle = np.asarray(small.crop((left, top, left + how.side, top + how.side)), np.float32) / 255
    values = (middle - np.array(how.mean, np.float32)) / np.array(how.std, np.float32)
    return np.ascontiguousarray(values.transpose(2, 0, 1)[None], np.float32)


OPEN_CLIP_WEIGHTS = ("open_clip_model.safetensors", "open_clip_pytorch_model.bin")
OPEN_CLIP_EXTRA = "open-clip"
"""Extra that installs open_clip; not part of `learn`, since its torchvision must match PyTorch's version."""

PROMPT = "{}"
"""Prompt for CLIP: the bare words, as GOAT-Bench does (spec ivln_goat 4.4)."""


class ClipEncoder(WeightsEncoder):
    """CLIP's two towers through transformers.

    Vectors have length 1; those of GOAT-Bench's caches are the same before that. What is longer than the
    text tower reads is cut.

    Args:
        path: folder with config.json, weights, and the tokenizer.

    Raises FileError for missing or broken weights, MissingExtraError without the package.
    """

    sees_images = True

    def __init__(self, path: str) -> None:
        transformers, self._torch = require_extra("transformers", EXTRA), find_torch()
        folder = require_weights(
            path, "CLIP", ("config.json",), TRANSFORMERS_WEIGHTS, ("tokenizer.json", "vocab.json")
        )
        with translated_weight_errors(folder, "CLIP"):
            self._model = load_network(transformers.CLIPModel, folder)
            self._tokenizer = transformers.AutoTokenizer.from_pretrained(folder, local_files_only=True)
            self._input = _read_image_input(folder, self._model.config.vision_config.image_size)
        self.name = f"clip:{path}"
        self.dimension = int(self._model.config.projection_dim)
        self._longest = int(self._model.config.text_config.max_position_embeddings)

    def _encode_text(self, text: str) -> Float32[np.ndarray, "d"]:
        tokens = self._tokenizer(
            [PROMPT.format(text)], truncation=True, max_length=self._longest, return_tensors="pt"
        )
        with self._torch.inference_mode():
            return as_vector(_pooled(self._model.get_text_features(**tokens)))

    def _encode_image(self, image: UInt8[np.ndarray, "h w 3"]) -> Float32[np.ndarray, "d"]:
        pixels = self._torch.from_numpy(prepare_image(image, self._input))
        with self._torch.inference_mode():
            return as_vector(_pooled(self._model.get_image_features(pixel_values=pixels)))


class OpenClipEncoder(WeightsEncoder):
    """CLIP's two towers through open_clip; as ClipEncoder.

    Args:
        path: folder with open_clip_config.json and weights.

    Raises FileError for missing or broken weights, MissingExtraError without the package.
    """

    sees_images = True

    def __init__(self, path: str) -> None:
        open_clip, self._torch = _find_open_clip(), find_torch()
        folder = require_weights(path, "open_clip", ("open_clip_config.json",), OPEN_CLIP_WEIGHTS)
        with translated_weight_errors(folder, "open_clip"):
            source = f"local-dir:{folder}"
            self._model = open_clip.create_model(source, require_pretrained=True).eval()
            self._tokenizer = open_clip.get_tokenizer(source)
            side = self._model.visual.image_size
            known = open_clip.get_model_preprocess_cfg(self._model)
        self._input = ImageInput(
            int(side[0] if isinstance(side, tuple | list) else side),
            tuple(known.get("mean", CLIP_MEAN)),
            tuple(known.get("std", CLIP_STD)),
        )
        self.name = f"open-clip:{path}"
        self.dimension = len(self._encode_text("a"))

    def _encode_text(self, text: str) -> Float32[np.ndarray, "d"]:
        with self._torch.inference_mode():
            return as_vector(self._model.encode_text(self._tokenizer([PROMPT.format(text)])))

    def _encode_image(self, image: UInt8[np.ndarray, "h w 3"]) -> Float32[np.ndarray, "d"]:
        pixels = self._torch.from_numpy(prepare_image(image, self._input))
        with self._torch.inference_mode():
            return as_vector(self._model.encode_image(pixels))


def _find_open_clip() -> ModuleType:
    """open_clip; MissingExtraError where it is not installed, InputError where its torchvision is broken."""
    try:
        return require_extra("open_clip", OPEN_CLIP_EXTRA)
    except RuntimeError as error:  # torchvision's, where it was built for another PyTorch
        raise InputError(
            f"open_clip cannot be imported: {error}; install the torchvision that belongs to your torch"
        ) from error


def _pooled(output: Any) -> Any:
    """The projected features (1, D): themselves before transformers 5, a field of the output since."""
    return getattr(output, "pooler_output", output)


def _read_image_input(folder: Path, side: int) -> ImageInput:
    """Mean and spread of preprocessor_config.json where the folder has one, else CLIP's own."""
    path = folder / "preprocessor_config.json"
    known = json.loads(path.read_text()) if path.is_file() else {}
    return ImageInput(
        int(side), tuple(known.get("image_mean", CLIP_MEAN)), tuple(known.get("image_std", CLIP_STD))
    )
