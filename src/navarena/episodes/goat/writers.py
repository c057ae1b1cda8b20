"""Captioners and language models that word descriptions: over HTTP, or from local weights."""

import base64
import io
import json
import urllib.error
import urllib.request
from abc import ABC, abstractmethod
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import UInt8
from PIL import Image

from navarena.core.errors import FileError, InputError, require_extra

TIMEOUT_S = 120.0
"""Seconds to wait for an answer."""

MAX_TOKENS = 160
"""Of an answer; a description has at most 55 words."""

LOCAL = "transformers:"


class Writer(ABC):
    """Answers questions, with or without an image."""

    name: str

    @abstractmethod
    def answer(self, question: str, image: UInt8[np.ndarray, "h w 3"] | None = None) -> str:
        """The text of the answer; `image` is (H, W, 3) uint8 sRGB. Raises InputError without one."""


class HttpWriter(Writer):
    """A server that understands the chat requests of OpenAI's interface (vLLM, llama.cpp, Ollama, ...).

    Args:
        url: such as "http://localhost:8000/v1"; "#model" behind it names the model.
        timeout_s: seconds to wait for an answer.
    """

    def __init__(self, url: str, timeout_s: float = TIMEOUT_S) -> None:
        address, _, self._model = url.partition("#")
        self.name, self._timeout_s = url, timeout_s
        self._address = address.rstrip("/") + "/chat/completions"

    def answer(self, question: str, image: UInt8[np.ndarray, "h w 3"] | None = None) -> str:
        """The first choice of the server, (H, W, 3) uint8 images as PNG."""
        content: Any = question
        if image is not None:
            link = {"url": "data:image/png;base64," + _encode_png(image)}
            content = [{"type": "text", "text": question}, {"type": "image_url", "image_url": link}]
        message = {"role": "user", "content": content}
        body = {
            "model": self._model,
            "messages": [message],
            "temperature": 0,
            "max_tokens": MAX_TOKENS,
        }
        request = urllib.request.Request(
            self._address, json.dumps(body).encode(), {"Content-Type": "application/json"}
        )
        remedy = "check the address and the server, or leave --writer out"
        try:
            with urllib.request.urlopen(request, timeout=self._timeout_s) as response:
                found = json.load(response)
            text = found["choices"][0]["message"]["content"]
        except (OSError, ValueError) as error:
            raise InputError(f"no answer from {self._address}: {error}; {remedy}") from error
        except (KeyError, IndexError, TypeError) as error:
            raise InputError(
                f"expected choices[0].message.content from {self._address}, got no {error}; {remedy}"
            ) from error
        if not isinstance(text, str):
            raise InputError(f"expected a text from {self._address}, got {type(text).__name__}; {remedy}")
        return text


class LocalWriter(Writer):
    """A pipeline of transformers on local weights: text-generation, image-text-to-text with images.

    Args:
        folder: with config.json, weights, and tokenizer or processor.

    Raises FileError for a missing folder, MissingExtraError without transformers.
    """

    def __init__(self, folder: str) -> None:
        path = Path(folder).expanduser()
        if not (path / "config.json").is_file():
            raise FileError(
                f"expected a folder with config.json and weights, got {path}; copy them there, as "
                "huggingface-cli download NAME --local-dir FOLDER leaves them; navarena downloads none"
            )
        self._transformers = require_extra("transformers", "learn")
        self._folder, self._pipelines = path, dict[str, Any]()
        self.name = f"{LOCAL}{folder}"

    def answer(self, question: str, image: UInt8[np.ndarray, "h w 3"] | None = None) -> str:
        """What the pipeline adds to the question about an image (H, W, 3) uint8, without drawing lots."""
        if image is None:
            return self._ask("text-generation", text_inputs=question)
        return self._ask("image-text-to-text", images=Image.fromarray(image), text=question)

    def _ask(self, task: str, **inputs: Any) -> str:
        try:
            if task not in self._pipelines:
                self._pipelines[task] = self._transformers.pipeline(task, model=str(self._folder))
            found = self._pipelines[task](
                **inputs, max_new_tokens=MAX_TOKENS, do_sample=False, return_full_text=False
            )
        except (OSError, ValueError, KeyError, RuntimeError) as error:
            raise FileError(
                f"cannot use {self._folder} for {task}: {error}; choose weights made for it"
            ) from error
        return str(found[0]["generated_text"])


def make_writer(text: str) -> Writer:
    """The writer that `text` names: "http://HOST/v1#MODEL", "https://..." or "transformers:FOLDER".

    Raises InputError for another text, and what the writer raises.
    """
    if text.startswith(("http://", "https://")):
        return HttpWriter(text)
    if text.startswith(LOCAL) and text != LOCAL:
        return LocalWriter(text.removeprefix(LOCAL))
    raise InputError(f"expected http://HOST/v1#MODEL or {LOCAL}FOLDER, got {text!r}")


def _encode_png(image: UInt8[np.ndarray, "h w 3"]) -> str:
    file = io.BytesIO()
    Image.fromarray(image).save(file, "PNG")
    return base64.b64encode(file.getvalue()).decode()
