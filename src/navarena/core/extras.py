"""The door for optional dependencies: a missing one raises with the command that installs it."""

import importlib
from types import ModuleType

from navarena.core.errors import MissingExtraError


def require_extra(module: str, extra: str) -> ModuleType:
    """Import `module`, which the extra `extra` installs.

    Raises MissingExtraError with the install command when it is absent.
    """
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        if error.name is not None and not module.startswith(error.name):
            raise
        raise MissingExtraError(f"{module} is not installed; run: pip install 'navarena[{extra}]'") from error
