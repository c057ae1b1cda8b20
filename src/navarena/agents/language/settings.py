"""Settings of the agent `vlm`, as given after "?" in its name."""

from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote

from navarena.agents.language.prompts import FILE
from navarena.agents.options import split_options
from navarena.core.chat import ChatServer
from navarena.core.errors import InputError
from navarena.tasks.options import read_options

MAX_IMAGES = 64
"""Earlier images in a request."""


@dataclass(frozen=True)
class LanguageModelSettings:
    """Server, model and query settings of the agent `vlm`.

    Attributes:
        url: of the server of chat completions, such as "http://127.0.0.1:8000/v1".
        model: its name there.
        history: earlier images that each request shows.
        map: whether it shows a map of what was seen, too.
        reason: whether the model writes down why, before it names an action.
        structured: whether the server is to hold the model to a JSON schema of the legal actions.
        temperature: of sampling; 0 chooses the likeliest words.
        max_tokens: of an answer; models that think before they speak need more.
        timeout: seconds that an answer may take.
        retries: further attempts after a request that failed, and after an answer that names no action.
        pause: seconds before the first further attempt.
        parallel: requests at a time.
        cache: whether answers are kept in the cache folder and not asked for again.
        prompts: file of prompts in the place of navarena's.
        key: environment variable that holds the key of the server.

    Raises InputError for values out of range.
    """

    url: str = ""
    model: str = ""
    history: int = 3
    map: bool = False
    reason: bool = False
    structured: bool = True
    temperature: float = 0.0
    max_tokens: int = 512
    timeout: float = 60.0
    retries: int = 3
    pause: float = 1.0
    parallel: int = 16
    cache: bool = True
    prompts: str = str(FILE)
    key: str = ""

    def __post_init__(self) -> None:
        if not (self.url and self.model):
            missing = "url" if not self.url else "model"
            raise InputError(
                f"expected vlm?url=http://HOST:PORT/v1&model=NAME, got no {missing}; name the server and its "
                "model"
            )
        if not 0 <= self.history <= MAX_IMAGES or self.max_tokens < 1 or self.parallel < 1:
            raise InputError(
                f"expected a history of 0 to {MAX_IMAGES}, and max_tokens and parallel of at least 1, got "
                f"{self.history}, {self.max_tokens} and {self.parallel}"
            )
        if self.temperature < 0:
            raise InputError(f"expected a temperature of at least 0, got {self.temperature:g}")
        self.server.read_key()

    @property
    def server(self) -> ChatServer:
        """The chat server; raises InputError for an invalid address."""
        return ChatServer(self.url, self.timeout, self.retries, self.pause, self.key)

    @property
    def prompts_file(self) -> Path:
        """The file of prompts."""
        return Path(self.prompts)


def read_settings(text: str) -> LanguageModelSettings:
    """The settings that "url=...&model=..." names; "%26" stands for an "&" in a value.

    Raises UnknownNameError for an unknown name, InputError for a value that does not fit, or one given twice.
    """
    given = split_options(text, "vlm") if text else {}
    return read_options(LanguageModelSettings, {name: unquote(value) for name, value in given.items()}, "vlm")
