"""One method in a comparison: a run, or one run for each of its training seeds, with means over them."""

from collections.abc import Collection, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from jaxtyping import Bool, Float

from navarena.core.errors import CheckFailedError, InputError, UnknownNameError
from navarena.core.protocol_ids import join_protocol, split_protocol
from navarena.corruptions.catalog import redraw_corruption
from navarena.evaluation.benchmark import Benchmark
from navarena.evaluation.identity import Identity
from navarena.evaluation.records.journal import Row, read_rows
from navarena.evaluation.records.record import RunRecord, hash_record, read_record
from navarena.evaluation.records.results import estimate_runs, metric_values, scene_labels
from navarena.evaluation.records.tour_scores import TourValues, estimate_tour_values, tour_values
from navarena.evaluation.running.repeats import find_noise
from navarena.evaluation.running.replay import open_recorded_benchmark
from navarena.metrics.catalog import TOUR_METRICS, leading_metrics
from navarena.metrics.statistics import Estimate
from navarena.metrics.tours import TourScoring
from navarena.tasks.catalog import get_task


@dataclass(frozen=True)
class Contestant:
    """One method: a run, or one run for each of its training seeds, on the same episodes.

    Attributes:
        label: short name in tables: "A", "B", ...
        folders: of its runs.
        records: their run.json.
        rows: for each run its rows, all in the same order.
    """

    label: str
    folders: tuple[Path, ...]
    records: tuple[RunRecord, ...]
    rows: tuple[tuple[Row, ...], ...]

    @property
    def agent(self) -> str:
        """The agents of its runs, without repetition."""
        return ", ".join(dict.fromkeys(record.agent for record in self.records))

    @property
    def identity(self) -> str:
        """Identity of the first run; the others have the same episodes."""
        return self.records[0].identity

    @property
    def metrics(self) -> tuple[str, ...]:
        """Names that all of its runs hold."""
        shared = [set(record.metrics) for record in self.records]
        return tuple(name for name in self.records[0].metrics if all(name in one for one in shared))

    @property
    def episode_keys(self) -> list[tuple[str, str]]:
        """(scene id, episode id) of each row, in order."""
        return [(row.scene_id, row.episode_id) for row in self.rows[0]]

    def open_benchmark(self) -> Benchmark:
        """The benchmark of its first run; raises as open_recorded_benchmark."""
        return open_recorded_benchmark(self.records[0])

    @property
    def tour_scoring(self) -> TourScoring | None:
        """How the tours of its runs are scored; None where episodes come without, or hide their goals."""
        rows = self.rows[0]
        if "success" not in self.metrics or not rows or any(row.tour is None for row in rows):
            return None
        return get_task(str(self.records[0].settings["protocol"])).tour_scoring

    @property
    def tour_metrics(self) -> tuple[str, ...]:
        """Names of the numbers over tours that its runs have."""
        return () if self.tour_scoring is None else tuple(TOUR_METRICS)

    def leading_metrics(self, chosen: Iterable[str] = ()) -> tuple[str, ...]:
        """The leading ones of its metrics, `chosen` ones before others; see catalog.leading_metrics."""
        return leading_metrics(name for name in (*chosen, *self.metrics) if name in self.metrics)

    def tour_values(self, name: str) -> TourValues | None:
        """A number per tour, as mean over the runs; None as in tour_scores.tour_values."""
        scoring = self.tour_scoring
        return None if scoring is None else tour_values(self.rows, name, scoring)

    def values(self, name: str) -> Float[np.ndarray, "n"]:
        """(N,) float64: the metric of each episode, the mean over the runs."""
        return np.mean(self.seed_values(name), axis=0)

    def seed_values(self, name: str) -> Float[np.ndarray, "k n"]:
        """(K, N) float64: the metric of each episode, by run."""
        return np.array([metric_values(rows, name) for rows in self.rows])

    def scores(self, name: str) -> Float[np.ndarray, "k s"]:
        """(K, S) float64: mean of the metric by run and scene; infinite values are left out.

        A scene without any finite value in some run is left out.
        """
        labels = scene_labels(self.rows[0])
        ends = np.cumsum(np.bincount(labels))[:-1]
        columns = []
        for values in np.split(self.seed_values(name)[:, np.argsort(labels, kind="stable")], ends, axis=1):
            finite = np.isfinite(values)
            if finite.any(1).all():
                columns.append(np.where(finite, values, 0.0).sum(1) / finite.sum(1))
        return np.array(columns).T.reshape(len(self.rows), -1)


def read_contestant(label: str, folders: Sequence[Path]) -> Contestant:
    """The finished runs in `folders`.

    Raises FileError for missing or damaged files, CheckFailedError for a run that is not finished, and
    InputError for runs on different episodes or by different rules, and for one run twice, or a copy of it.
    """
    if not folders:
        raise InputError(f"expected at least one run for {label}, got none")
    records = tuple(read_record(folder) for folder in folders)
    rows = tuple(tuple(read_rows(folder)) for folder in folders)
    runs = list(zip(map(hash_record, records), rows))  # an agent that draws anew may be run again
    twice = next((k for k, one in enumerate(runs) if one in runs[:k]), None)
    if twice is not None:
        raise InputError(
            f"expected other runs beside {folders[runs.index(runs[twice])]}, got it twice, as "
            f"{folders[twice]}; leave one out"
        )
    first = [(row.scene_id, row.episode_id) for row in rows[0]]
    rules = rules_of(records[0]) if len(records) > 1 else ()
    for folder, record, own in zip(folders, records, rows):
        if len(own) != record.episodes:
            raise CheckFailedError(
                f"expected {record.episodes} finished episodes in {folder}, got {len(own)}; "
                "finish it with the command in its run.json"
            )
        if rules and rules_of(record) != rules:
            raise InputError(
                f"expected the runs of one method by the same rules, got {record.identity} in {folder} and "
                f"{records[0].identity} in {folders[0]}; compare them as methods of their own"
            )
        if [(row.scene_id, row.episode_id) for row in own] != first:
            raise InputError(
                f"expected the runs of one method on the same episodes, got others in {folder} than in "
                f"{folders[0]}; compare them as methods of their own"
            )
    return Contestant(label, tuple(folders), records, rows)


def describe_rules(identity: str, free: Collection[str]) -> str:
    """The protocol of an identity and what departs from it, without the options that are named in `free`."""
    base, options = split_protocol(Identity.of(identity).protocol)
    return join_protocol(base, {name: text for name, text in options.items() if name not in free})


def rules_of(record: RunRecord) -> tuple[object, ...]:
    """Rules that all runs of one method share: episodes, options, and corruptions without their draws."""
    identity, options = Identity.of(record.identity), describe_rules(record.identity, ("corrupt",))
    noise = record.corruptions
    with suppress(UnknownNameError):  # a protocol of a package that is not installed here
        noise = find_noise(str(record.settings["protocol"]), noise)
    drawn = tuple(sorted(redraw_corruption(text, 0) for text in noise))
    return options, drawn, identity.dataset, identity.split, identity.hash


def estimate_metric(one: Contestant, name: str, two_levels: bool = False) -> Estimate | None:
    """The mean of a metric, of episodes or of tours, with its interval; None where runs lack it."""
    if name in TOUR_METRICS:
        tours = one.tour_values(name)
        return None if tours is None else estimate_tour_values(tours, one.identity, name)
    return estimate_part(one, name, two_levels=two_levels)


def estimate_part(
    one: Contestant, name: str, chosen: Bool[np.ndarray, "n"] | None = None, two_levels: bool = False
) -> Estimate | None:
    """The mean of a metric over the episodes that are `chosen` (N,), all by default, with its interval.

    Over several training seeds an episode counts as the mean of its runs, and the interval is resampled over
    seeds, too, as estimate_over_seeds says. Without a choice that of one run is the one of its summary.
    None where no episode is chosen, and where the runs do not have the metric.
    """
    if name not in one.metrics:
        return None
    chosen = np.ones(len(one.rows[0]), bool) if chosen is None else chosen
    if not chosen.any():
        return None
    kept = [[row for row, keep in zip(rows, chosen, strict=True) if keep] for rows in one.rows]
    return estimate_runs(kept, name, two_levels=two_levels)
