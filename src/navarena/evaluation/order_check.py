"""Whether an agent's outcome depends on what it ran before: state that leaks between episodes."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from navarena.core.errors import CheckFailedError
from navarena.evaluation.benchmark import Benchmark
from navarena.evaluation.chains import Chain, make_chains
from navarena.evaluation.episode_loop import EpisodeLoop
from navarena.evaluation.journal import Row
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
    chains = list(_spread(make_chains(benchmark.episodes, set(), rules.forget)))
    there = _run(benchmark, rules, chains, on_episode)
    back = _run(benchmark, rules, chains[::-1], on_episode)
    changed = [name for name, row in there.items() if back[name] != row]
    if changed:
        listed = ", ".join(changed[:_LISTED]) + (", ..." if len(changed) > _LISTED else "")
        raise CheckFailedError(
            f"the agent's outcome depends on the order of episodes: {len(changed)} of {len(there)} came out "
            f"otherwise in reverse ({listed}); clear its memory at reset, and draw from "
            "start.generator(name) of each episode's start"
        )
    return len(there)


def _spread(chains: Sequence[Chain]) -> Iterator[Chain]:
    """At most SAMPLE episodes' worth of chains from everywhere in the list, at least two chains."""
    longest = max(len(chain.episodes) for chain in chains)
    count = min(len(chains), max(2, SAMPLE // longest))
    for place in range(count):
        yield chains[place * len(chains) // count]


def _run(
    benchmark: Benchmark,
    rules: EpisodeRules,
    chains: Sequence[Chain],
    on_episode: Callable[[], object],
) -> dict[str, Row]:
    memory = _Memory()
    EpisodeLoop(benchmark, 1, rules, memory, lambda row: on_episode()).run(iter(chains))
    return memory.rows
