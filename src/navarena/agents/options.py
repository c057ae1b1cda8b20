"""Options behind an agent's name, as in `modular-goat?naming=closed&images=joint`."""

from navarena.core.errors import InputError
from navarena.tasks.options import OptionsType, read_options


def split_options(text: str, agent: str) -> dict[str, str]:
    """Option -> value of NAME=VALUE&NAME=VALUE behind `agent`.

    Raises InputError for an option without a value or given twice.
    """
    options: dict[str, str] = {}
    for part in text.split("&"):
        name, mark, value = part.partition("=")
        if not mark or name in options:
            raise InputError(f"expected options of {agent} as name=value, each once, got {part!r}")
        options[name] = value
    return options


def read_agent_options(kind: type[OptionsType], text: str, agent: str) -> OptionsType:
    """The options of the frozen dataclass `kind` behind `agent`; raises as split_options and read_options."""
    return read_options(kind, split_options(text, agent), agent)
