"""MultiON's backtracking table (paper, table 4): are goals found more often that were seen earlier?

A goal is *seen* at a pose that has it within 79 degrees and 5 m and whose image shows it, so that nothing
hides it. Runs are replayed with the instance image for that.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool

from navarena.core.errors import InputError
from navarena.core.seeding import make_generator
from navarena.evaluation.analyses.analysis import Analysis, Cell, Column, estimate_shares, require_goals
from navarena.evaluation.analyses.contestants import Contestant
from navarena.evaluation.benchmark import Benchmark
from navarena.evaluation.records.journal import Row
from navarena.evaluation.running.replay import execute_actions
from navarena.evaluation.running.rows import pair_rows
from navarena.metrics.multi_goal import MultiGoalTrajectory, is_in_sector, seen_before_turn
from navarena.metrics.statistics import Estimate, subtract_estimates
from navarena.tasks.batch import NavigationBatch
from navarena.tasks.protocols.multi_on import MultiOnState
from navarena.tasks.task import require_state


@dataclass(frozen=True)
class Turn:
    """A goal that became current.

    Attributes:
        row: of its episode.
        place: from 2 on; the first goal's turn comes with the start.
        seen: whether it had been seen before the FOUND of the goal before it.
        found: whether it was found.
    """

    row: Row
    place: int
    seen: bool
    found: bool


class SightWatcher:
    """Notes pose by pose which goals are seen; a Watch of execute_actions.

    Attributes:
        seen: episode id -> for each pose (n,) bool.
    """

    def __init__(self) -> None:
        self.seen: dict[str, list[Bool[np.ndarray, n]]] = {}

    def __call__(self, batch: object, rows: Mapping[int, Row]) -> None:
        """Look at the images in the slots of `rows`; raises InputError for goals that no image shows."""
        if not isinstance(batch, NavigationBatch):
            raise InputError(f"expected a batch with images, got {type(batch).__name__}")
        state = require_state(batch.state, MultiOnState, batch.task, "the analysis of backtracking")
        simulator = batch.simulator
        images = batch.observations["instance"]
        for slot, row in rows.items():
            ids = batch.task.goal_ids(state, slot)
            if not all(ids):
                raise InputError(f"expected goals that images show, got hidden ones in {row.identity}")
            near = is_in_sector(simulator.positions[slot], float(simulator.yaws[slot]), state.goals[slot])
            shown = [
                bool(np.isin(images[slot], list(one)).any()) if close else False
                for one, close in zip(ids, near)
            ]
            self.seen.setdefault(row.episode_id, []).append(np.array(shown, bool))


def find_turns(
    one: Contestant, benchmark: Benchmark, on_episode: Callable[[], object] = lambda: None
) -> list[Turn]:
    """Every goal after the first that became current, of all episodes of a run, by replay.

    In episodes that the agent broke none counts as found.

    Raises InputError for episodes without several goals in order, and what execute_actions raises.
    """
    turns = []
    for rows in one.rows:
        for row in rows:
            require_goals(row)  # before any scene is opened
        watcher = SightWatcher()
        pairs = pair_rows(benchmark, rows)
        for row, _, outcome in execute_actions(benchmark, pairs, ("instance",), watcher):
            track = outcome.trajectory
            if not isinstance(track, MultiGoalTrajectory):
                raise InputError(f"expected episodes of MultiON, got one of {type(track).__name__}")
            seen = seen_before_turn(track, np.array(watcher.seen.pop(row.episode_id), bool))
            found = 0 if row.failed else len(track.found_after)
            turns += [Turn(row, place, bool(one), place <= found) for place, one in enumerate(seen, start=2)]
            on_episode()
    return turns


def analyse_backtracking(
    contestants: Sequence[Contestant],
    open_benchmark: Callable[[Contestant], Benchmark] = Contestant.open_benchmark,
    on_episode: Callable[[], object] = lambda: None,
) -> Analysis:
    """Rate at which the k-th goal is found, for goals seen before they became current and for others.

    Args:
        contestants: runs of MultiON with two goals or more.
        open_benchmark: gives the benchmark that a run was made on.
        on_episode: called after each episode that was replayed.

    Raises InputError for runs without several goals in order, and what execute_actions raises.
    """
    rows: list[tuple[Cell, ...]] = []
    for one in contestants:
        benchmark = open_benchmark(one)
        turns = find_turns(one, benchmark, on_episode)
        for place in sorted({turn.place for turn in turns}):
            own = [turn for turn in turns if turn.place == place]
            rows.append((one.label, place, *_compare_turns(own, one.identity)))
        if len({turn.place for turn in turns}) > 1:
            rows.append((one.label, "all", *_compare_turns(turns, one.identity)))
    return Analysis(
        "backtracking",
        "Goals that had been seen before their turn",
        (
            Column("run"),
            Column("goal", "count"),
            Column("turns", "count"),
            Column("found when seen before", "rate"),
            Column("found when not", "rate"),
            Column("improvement", "points"),
        ),
        tuple(rows),
        (
            "Seen: within 79 degrees and 5 m and not hidden, before the FOUND of the goal before it.",
            "A goal's turn comes when the one before it was found; the others are not counted.",
            "All turns of one episode, over its goals and training seeds, are one unit of the intervals.",
        ),
    )


def _compare_turns(turns: Sequence[Turn], identity: str) -> tuple[Cell, ...]:
    seen, unseen = (_estimate_found(turns, identity, kind) for kind in (True, False))
    gain = None if seen is None or unseen is None else subtract_estimates(seen, unseen)
    return (len(turns), seen, unseen, gain)


def _estimate_found(turns: Sequence[Turn], identity: str, seen: bool) -> Estimate | None:
    """Share of the turns that were seen before, or of those that were not, that ended in FOUND."""
    chosen = [turn for turn in turns if turn.seen == seen]
    generator = make_generator("analysis", identity, "backtracking", int(seen))
    return estimate_shares([turn.row for turn in chosen], [float(turn.found) for turn in chosen], generator)
