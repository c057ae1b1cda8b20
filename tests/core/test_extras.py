"""A missing optional dependency is answered with the command that installs it."""

import math

import pytest

from navarena.core.errors import MissingExtraError
from navarena.core.extras import require_extra


def test_present() -> None:
    assert require_extra("math", "learn") is math


def test_absent() -> None:
    with pytest.raises(
        MissingExtraError, match=r"no_such_library is not installed; run: pip install 'navarena\[learn\]'"
    ):
        require_extra("no_such_library", "learn")


def test_absent_submodule() -> None:
    with pytest.raises(MissingExtraError, match="no_such_library"):
        require_extra("no_such_library.part", "learn")
