"""Candidates for episodes, tried in order until a planner solves one of each."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import count
from typing import TypeVar

from navarena.core.errors import SceneError

Candidate = TypeVar("Candidate")

MOST_DROPPED = 1000
"""Candidates of one episode that cannot be solved, after which there seem to be no others."""


def choose_solvable(
    streams: Sequence[Iterator[Candidate]],
    are_solved: Callable[[Mapping[int, Candidate]], Sequence[bool]],
) -> tuple[list[Candidate], int]:
    """The first candidate of each stream that can be solved, and how many could not.

    Args:
        streams: one for each episode, without end; what they raise passes through.
        are_solved: given the next candidate of every stream that is still open, by the number of the
            stream, says for each whether it is solved.

    Raises SceneError when MOST_DROPPED candidates of one stream in a row cannot be solved.
    """
    chosen: dict[int, Candidate] = {}
    dropped = 0
    still_open = list(range(len(streams)))
    for attempt in count():
        if not still_open:
            break
        if attempt == MOST_DROPPED:
            raise SceneError(
                f"expected an episode that the planner can solve, got {MOST_DROPPED} candidates in a row "
                "that it cannot; allow more actions, or choose another scene"
            )
        tried = {row: next(streams[row]) for row in still_open}
        solved = dict(zip(tried, are_solved(tried)))
        chosen.update({row: tried[row] for row in tried if solved[row]})
        still_open = [row for row in still_open if not solved[row]]
        dropped += len(still_open)
    return [chosen[row] for row in range(len(streams))], dropped
