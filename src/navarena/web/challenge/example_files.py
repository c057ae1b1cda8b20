"""Example challenge files: a commented one, and one for each benchmark."""

import secrets
import tomllib
from importlib import resources
from pathlib import Path

from navarena.core.errors import FileError, require_name
from navarena.core.files import atomic_path, write_atomic

FILE_NAME = "challenge.toml"
SUFFIX = ".toml"
PRIVATE = 0o600
DIGITS = 38
"""Of a private seed: more than 126 random bits."""


def list_examples() -> list[str]:
    """The names of the files."""
    folder = resources.files("navarena.web.challenge.examples")
    return sorted(one.name.removesuffix(SUFFIX) for one in folder.iterdir() if one.name.endswith(SUFFIX))


def read_example(name: str) -> str:
    """The text of the file called `name`; raises UnknownNameError with the nearest choice."""
    require_name("benchmark", name, list_examples())
    return (resources.files("navarena.web.challenge.examples") / f"{name}{SUFFIX}").read_text("utf-8")


def write_example(folder: Path, name: str) -> Path:
    """Write challenge.toml and the private seeds that it names into `folder`; the path of the former.

    Seeds are random and readable by their owner alone. Raises FileError for a folder that holds any of the
    files, and StorageError.
    """
    text = read_example(name)
    path = folder / FILE_NAME
    phases = tomllib.loads(text)["phases"]
    seeds = [folder / one["private_seed"] for one in phases if "private_seed" in one]
    for one in (path, *seeds):
        if one.exists():
            raise FileError(f"{one} exists; choose another folder for --init")
    for seed in seeds:
        with atomic_path(seed, PRIVATE) as temporary:
            temporary.write_text(f"{secrets.randbelow(10**DIGITS)}\n")
    write_atomic(path, text.encode())
    return path
