"""Agents of the distribution navarena-checkpoints: `navarena.learning.shipped:NAME` plays its folder NAME.

The distribution holds data alone. Its entry points in the group `navarena.agents` lead here, so that
`--agent pointnav-small` plays the checkpoint in navarena_checkpoints/pointnav_small.
"""

from importlib import resources
from pathlib import Path
from typing import Any

from navarena.agents.catalog import INSTALL_SHIPPED
from navarena.core.errors import InputError
from navarena.learning.agents.policy_agent import open_checkpoint
from navarena.learning.checkpoints.files import INFO

PACKAGE = "navarena_checkpoints"


def find_folder(name: str) -> Path | None:
    """The folder of the shipped checkpoint `name`, with "-" or "_"; None where there is none of that name.

    Raises InputError when the distribution is not installed.
    """
    try:
        folder = Path(str(resources.files(PACKAGE) / name.replace("-", "_")))
    except ModuleNotFoundError as error:
        raise InputError(f"expected the package {PACKAGE}, got none; {INSTALL_SHIPPED}") from error
    return folder if (folder / INFO).is_file() else None


def __getattr__(name: str) -> Any:
    """The agent of the checkpoint in the folder `name`; raises AttributeError where there is none."""
    if name.startswith("_"):
        raise AttributeError(name)
    folder = find_folder(name)
    if folder is None:
        raise AttributeError(name)
    return open_checkpoint(folder)
