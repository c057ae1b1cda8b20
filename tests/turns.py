"""Whose turn it is among tests and scenes that take minutes.

`NAVARENA_TEST_SHARE`, a whole number, says so; CI counts commits, so that in consecutive runs all have their
turn. Without it, a test marked `turns` runs always, and scenes have turn 0.
"""

import os
import zlib
from collections.abc import Sequence
from typing import TypeVar

T = TypeVar("T")

SHARE = os.environ.get("NAVARENA_TEST_SHARE")
TURN = int(SHARE or "0")


def share_of(scenes: Sequence[T], shares: int, turn: int = TURN) -> Sequence[T]:
    """The scenes whose turn it is; never none."""
    return scenes[turn % min(shares, len(scenes)) :: shares]


def has_turn(name: str, turns: int, turn: int = TURN) -> bool:
    """Whether it is the turn of the test `name`, which comes once in `turns`; names are spread over turns."""
    return (turn + zlib.crc32(name.encode())) % turns == 0
