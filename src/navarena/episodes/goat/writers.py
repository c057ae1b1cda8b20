"""Captioners and language models that word descriptions: over HTTP, or from local weights."""

from abc import ABC, abstractmethod
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import UInt8
from PIL import Image

from navarena.core.chat import ChatClient, ChatError, ChatServer, image_part, text_part
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

    Raises InputError for an address that is none, MissingExtraError without the HTTP library.
    """

    def __init__(self, url: str, timeout_s: float = TIMEOUT_S) -> None:
        address, _, self._model = url.partition("#")
        self.name = url
        self._client = ChatClient(ChatServer(address, timeout_s, retries=0))

    def answer(self, question: str, image: UInt8[np.ndarray, "h w 3"] | None = None) -> str:
        """The first choice of the server, (H, W, 3) uint8 images as PNG."""
        content: Any = question
        if image is not None:
            content = [text_part(question), image_part(image)]
        body = {
            "model": self._model,
            "messages": [{"role": "user", "content": content}],
            "temperature": 0,
            "max_tokens": MAX_TOKENS,
        }
        try:
            return self._client.ask(body).text
        except ChatError as error:
            raise InputError(f"{error}; check the address and the server, or leave --writer out") from error


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
        """The model's greedy answer to a question about an image (H, W, 3) uint8."""
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
