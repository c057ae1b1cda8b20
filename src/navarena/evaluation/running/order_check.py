"""Check whether an agent's outcome depends on the order of episodes: state that leaks between them."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from msgspec.structs import replace

from navarena.core.errors import CheckFailedError
from navarena.evaluation.benchmark import Benchmark
from navarena.evaluation.memory_groups import MemoryGroup, make_groups
from navarena.evaluation.records.journal import Row
from navarena.evaluation.running.episode_loop import EpisodeLoop
from navarena.evaluation.settings import EpisodeRules

SAMPLE = 16
"""Episodes that are run twice, spread evenly over the list."""

_LISTED = 5


@dataclass
class _Memory:
    """Rows by episode, in memory."""

    rows: dict[str, Row] = field(default_factory=dict)

    def append(self, row: Row) -> None:
        self.rows[row.episode_id] = row


def check_order(
    benchmark: Benchmark, rules: EpisodeRules, on_episode: Callable[[], object] = lambda: None
) -> int:
    """Run a sample forwards and backwards, each with one agent and one episode at a time.

    Where memory lasts for a scene, whole scenes change places.

    Args:
        benchmark: what is evaluated.
        rules: as of the evaluation.
        on_episode: called after each episode.

    Returns:
        How many episodes were run twice.

    Raises CheckFailedError naming the episodes whose actions, status or metrics differ.
    """
    groups = list(_spread(make_groups(benchmark.episodes, set(), rules.forget)))
    there = _run(benchmark, rules, groups, on_episode)
    back = _run(benchmark, rules, groups[::-1], on_episode)
    changed = [name for name, row in there.items() if _outcome(back[name]) != _outcome(row)]
    if changed:
        listed = ", ".join(changed[:_LISTED]) + (", ..." if len(changed) > _LISTED else "")
        raise CheckFailedError(
            f"the agent's outcome depends on the order of episodes: {len(changed)} of {len(there)} came out "
            f"otherwise in reverse ({listed}); clear its memory at reset, and draw from "
            "start.generator(name) of each episode's start"
        )
    return len(there)


def _spread(groups: Sequence[MemoryGroup]) -> Iterator[MemoryGroup]:
    """Groups spread over the list, of at most SAMPLE episodes together, at least two groups."""
    longest = max(len(group.episodes) for group in groups)
    count = min(len(groups), max(2, SAMPLE // longest))
    for place in range(count):
        yield groups[place * len(groups) // count]


def _outcome(row: Row) -> Row:
    """`row` without what may depend on the order: texts of errors, inputs that were noticed until then."""
    return replace(row, traceback=None, noticed=())


def _run(
    benchmark: Benchmark,
    rules: EpisodeRules,
    groups: Sequence[MemoryGroup],
    on_episode: Callable[[], object],
) -> dict[str, Row]:
    memory = _Memory()
    EpisodeLoop(benchmark, 1, rules, memory, lambda row: on_episode()).run(iter(groups))
    return memory.rows
