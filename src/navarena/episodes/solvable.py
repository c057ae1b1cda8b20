"""Candidates for episodes, tried in order until a planner solves one of each."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TypeVar

Candidate = TypeVar("Candidate")


def choose_solvable(
    streams: Sequence[Iterator[Candidate]],
    are_solved: Callable[[Mapping[int, Candidate]], Sequence[bool]],
) -> tuple[list[Candidate], int]:
    """The first candidate of each stream that can be solved, and how many could not.

    Args:
        streams: one for each episode, without end; what they raise passes through.
        are_solved: given the next candidate of every stream that is still open, by the number of the
            stream, says for each whether it is solved.
    """
    chosen: dict[int, Candidate] = {}
    dropped = 0
    still_open = list(range(len(streams)))
    while still_open:
        tried = {row: next(streams[row]) for row in still_open}
        solved = dict(zip(tried, are_solved(tried)))
        chosen.update({row: tried[row] for row in tried if solved[row]})
        still_open = [row for row in still_open if not solved[row]]
        dropped += len(still_open)
    return [chosen[row] for row in range(len(streams))], dropped
