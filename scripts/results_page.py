#!/usr/bin/env python3
"""Write docs/results.json from folders of runs, and docs/results.md from docs/results.json.

    scripts/results_page.py RUN ...    add these finished runs, each in the place of one of its command
    scripts/results_page.py            write the page alone

No number of the page is written by hand: ours come from the runs, those of the papers from
docs/results_papers.json.
"""

import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

import msgspec

from navarena.core.files import read_json, write_atomic
from navarena.evaluation import (
    EvaluationSettings,
    MetricSummary,
    RunRecord,
    read_record,
    read_rows,
    read_summary,
)
from navarena.evaluation.records.times import read_times, sum_times
from navarena.metrics.catalog import get_metric
from navarena.metrics.statistics import Estimate
from navarena.metrics.subtasks import MODALITIES
from navarena.reports.tables import NO_VALUE, format_interval, format_value

DOCS = Path(__file__).resolve().parents[1] / "docs"
DATA, PAPERS, PAGE = DOCS / "results.json", DOCS / "results_papers.json", DOCS / "results.md"
FLAGS = ("agent", "split", "episodes")
"""Settings that may differ between rows; the others have their defaults."""

BODIES = ("expert", "random-oracle-found", "frontier", "random", "forward", "stop")
GRAPHS = ("expert", "path", "explorer", "random", "forward", "stop")

KINDS = tuple(f"{modality}_success" for modality in MODALITIES)
"""Pooled metrics that together count each sub-task once."""

_OF_LITE = "its rows are of `lite` ([MultiON agents](multion-agents.md))"
_OF_EVAL = "its rows are of `eval` ([robust agents](robust-agents.md))"

LEFT_OUT: Mapping[str, str] = {
    "explore-only": "it never declares a goal as found; see the [curves of coverage](maps.md)",
    "frontier-adaptive": "without `--calibration-steps` it acts as `frontier` does",
    "frontier-expert": "it teaches policies to search, and knows the goal ([maps](maps.md#agents))",
    "frontier-segmenter": "it needs a segmenter; its row is of `lite` ([maps](maps.md#results))",
    "modular-goat": "it needs a segmenter of GOAT's names ([its row](goat-agents.md#modular-goat))",
    "multion-nomap-small": _OF_LITE,
    "multion-oracle-ego-map-small": _OF_LITE,
    "multion-oracle-map-small": _OF_LITE,
    "objectnav-map-dagger-small": "its row is of `lite` "
    "([robust agents](robust-agents.md#objectnav-by-predicted-classes))",
    "reactive": _OF_LITE,
    "reactive-rgb": _OF_LITE,
    "robustnav-pointnav-rgb-small": _OF_EVAL,
    "robustnav-pointnav-rgbd-small": _OF_EVAL,
    "vlm": "it needs a server with a language model ([how to run it](language-models.md))",
}
"""Built-in agent -> why no table has it."""


@dataclass(frozen=True)
class Benchmark:
    """A section of the page.

    Attributes:
        title: its heading.
        text: what is evaluated.
        protocols: whose runs its tables show.
        agents: the built-in ones that fit, in the order of the rows.
        metrics: columns.
    """

    title: str
    text: str
    protocols: tuple[str, ...]
    agents: tuple[str, ...]
    metrics: tuple[str, ...]


BENCHMARKS = (
    Benchmark(
        "PointNav",
        "Go to a point, given by gps and compass ([protocol](tasks/pointnav-v1.md)). None of the papers "
        "behind the benchmarks evaluates it.",
        ("pointnav-v1",),
        ("pointnav-small", "pointnav-dagger-small", *BODIES),
        ("success", "spl", "soft_spl", "distance_to_goal"),
    ),
    Benchmark(
        "ObjectNav",
        "Go to any object of a category ([protocol](tasks/objectnav-hm3d2022-v1.md)). The paper, "
        "*ObjectNav Revisited*, defines the task and reports no agents.",
        ("objectnav-hm3d2022-v1",),
        BODIES,
        ("success", "spl", "soft_spl", "distance_to_goal"),
    ),
    Benchmark(
        "MultiON",
        "Find three objects in order, and declare each ([protocol](tasks/multion-3on-v1.md)).",
        ("multion-3on-v1",),
        ("frontier-rgb", "topological", *BODIES),
        ("success", "progress", "spl", "ppl"),
    ),
    Benchmark(
        "R2R and iterative R2R",
        "Follow an instruction on a navigation graph: one at a time ([R2R](tasks/r2r-v1.md)), or along tours "
        "through a house ([IR2R](tasks/ir2r-v1.md)).",
        ("r2r-v1", "ir2r-v1"),
        GRAPHS,
        ("success", "spl", "ndtw", "t_ndtw"),
    ),
    Benchmark(
        "GOAT-Bench",
        "Find five to ten goals one after another, each a category, a description or an image "
        "([protocol](tasks/goat-v1.md)). Means are over episodes, "
        "of the share of their sub-tasks.",
        ("goat-v1",),
        ("modular-goat-gt", "modular-cow", *(one for one in BODIES if one != "frontier")),
        ("subtask_success", "subtask_spl", "subtask_soft_spl"),
    ),
    Benchmark(
        "GOAT-Bench's skills",
        "Find one goal of one kind: a [category](tasks/ovon-v1.md), a [description](tasks/languagenav-v1.md) "
        "or an [image](tasks/instance-imagenav-v1.md).",
        ("ovon-v1", "languagenav-v1", "instance-imagenav-v1"),
        ("modular-goat-gt", "modular-cow", *(one for one in BODIES if one != "frontier")),
        ("success", "spl"),
    ),
    Benchmark(
        "RobustNav",
        "Go to a point in apartments, here without corruption ([protocol](tasks/robustnav-pointnav-v1.md)); "
        "[robust agents](robust-agents.md) has tables of corruptions.",
        ("robustnav-pointnav-v1",),
        ("frontier-odometry", *(one for one in BODIES if one != "frontier")),
        ("success", "spl", "distance_to_goal"),
    ),
)

HEAD = """\
# Results

Built-in agents on the protocols' own episodes. `scripts/results_page.py` writes this page from
[`results.json`](results.json), which it reads from the folders of the runs; a test repeats two rows by turns.

* A number stands before its {confidence:g} % interval. What the metrics mean: [Metrics](metrics.md).
* *n* counts episodes that a mean is over, failed ones included; of t-nDTW it counts tours.
* Agents marked * are privileged: they see what the protocol hides, such as the navmesh or the
  place of the goal.
* *Time* is the wall-clock time of the episodes, in one process. The machine did other work meanwhile, so
  that times are upper bounds, and compare agents roughly.
* The first episodes of a split are its first houses. Such a run has `custom` in its identity.
"""


class Result(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A row: one agent on one list of episodes.

    Attributes:
        protocol, agent, split: as the command names them.
        identity: `protocol@dataset/split#hash`.
        command: which repeats it.
        episodes, scenes: how many.
        subtasks: how many its episodes have together; 0 of protocols without any.
        date: on which it began, ISO 8601.
        seconds: of wall-clock time, all episodes together.
        privileged_inputs: what the agent sees that the protocol hides.
        machine: its processor and cores.
        platform: system, architecture and versions, by which numbers are equal bit for bit.
        confidence: of the intervals.
        metrics: name -> mean with interval; over tours for those of tours.
    """

    protocol: str
    agent: str
    split: str
    identity: str
    command: str
    episodes: int
    scenes: int
    subtasks: int
    date: str
    seconds: float
    privileged_inputs: tuple[str, ...]
    machine: str
    platform: tuple[str, ...]
    confidence: float
    metrics: dict[str, Estimate]


class Paper(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Numbers that a paper prints for a protocol.

    Attributes:
        source: paper, table and split.
        differs: what differs from our runs.
        columns: headings.
        rows: name of an agent, then a cell for each column.
    """

    source: str
    differs: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


def read_result(folder: Path) -> Result:
    """The row of a finished run.

    Raises FileError for files that are missing or damaged, and ValueError for a run that no row can show.
    """
    record, summary = read_record(folder), read_summary(folder)
    if summary.identity != record.identity or len(read_rows(folder)) != record.episodes:
        raise ValueError(f"expected a finished run, got {folder}; repeat its command")
    entries = {**summary.metrics, **(summary.tours.metrics if summary.tours else {})}
    shown = {name for one in BENCHMARKS if protocol_of(record) in one.protocols for name in one.metrics}
    hardware = record.hardware
    return Result(
        protocol=protocol_of(record),
        agent=record.agent,
        split=str(record.settings["split"]),
        identity=record.identity,
        command=write_command(record),
        episodes=record.episodes,
        scenes=summary.scenes,
        subtasks=sum(summary.pooled[name].n for name in KINDS if name in summary.pooled),
        date=record.started[:10],
        seconds=round(sum(sum_times(read_times(folder)).values()), 1),
        privileged_inputs=record.privileged_inputs,
        machine=f"{hardware.get('processor', 'unknown')}, {hardware.get('cores', '?')} cores",
        platform=record.platform,
        confidence=summary.confidence,
        metrics={name: estimate_of(entry) for name, entry in entries.items() if name in shown},
    )


def protocol_of(record: RunRecord) -> str:
    """The protocol as the command of the run names it."""
    return str(record.settings["protocol"])


def estimate_of(entry: MetricSummary) -> Estimate:
    """The number of a summary without what the catalog says of its metric."""
    if entry.mean is None:
        raise ValueError(f"expected a mean of {entry.title}, got none: no goal could be reached")
    return Estimate(entry.mean, entry.low, entry.high, entry.n, entry.infinite, entry.method)


def write_command(record: RunRecord) -> str:
    """The shortest command that repeats a run; raises ValueError for settings that rows do not have."""
    given, words = record.settings, ["navarena", "evaluate", protocol_of(record)]
    usual = EvaluationSettings(protocol=protocol_of(record)).decisive
    odd = [name for name in given if name not in FLAGS and given[name] != usual.get(name)]
    if odd:
        raise ValueError(f"expected no settings but {', '.join(FLAGS)}, got {', '.join(odd)}")
    for name in FLAGS:
        if given[name] is not None:
            words += [f"--{name}", str(given[name])]
    return " ".join(words)


def read_results() -> tuple[Result, ...]:
    """The committed rows; none where there is no file yet."""
    if not DATA.exists():
        return ()
    rows: list[Result] = read_json(DATA, "results", list[Result], "restore it")
    return tuple(rows)


def merge_results(old: Iterable[Result], new: Iterable[Result]) -> tuple[Result, ...]:
    """Both, new ones in the place of old ones of their command, in the order of the page.

    Raises ValueError for one that no benchmark shows.
    """
    rows = {one.command: one for one in (*old, *new)}
    places = {
        (protocol, agent): (section, benchmark.protocols.index(protocol), rank)
        for section, benchmark in enumerate(BENCHMARKS)
        for protocol in benchmark.protocols
        for rank, agent in enumerate(benchmark.agents)
    }
    for row in rows.values():
        if (row.protocol, row.agent) not in places:
            raise ValueError(f"expected a run of a benchmark of the page, got {row.command!r}")

    def place(row: Result) -> tuple[tuple[int, int], int, str, int]:
        section, protocol, rank = places[row.protocol, row.agent]
        return (section, protocol), -row.episodes, row.identity, rank

    return tuple(sorted(rows.values(), key=place))


def write_page(results: Sequence[Result], papers: Mapping[str, Paper]) -> str:
    """The page, in Markdown."""
    lines = [HEAD.format(confidence=100 * max((one.confidence for one in results), default=0.95))]
    for benchmark in BENCHMARKS:
        lines += [f"## {benchmark.title}\n", f"{benchmark.text}\n"]
        found = [one for one in results if one.protocol in benchmark.protocols]
        for identity, group in groupby(found, key=lambda one: one.identity):
            lines += write_group(benchmark, identity, list(group))
        lines += list_missing(benchmark, found)
        for protocol in benchmark.protocols:
            if protocol in papers and any(one.protocol == protocol for one in found):
                lines += write_paper(papers[protocol])
    lines.append("## Agents without rows\n")
    lines += [f"* `{name}`: {why}." for name, why in LEFT_OUT.items()]
    lines.append("\n## Machines\n")
    lines += [f"* {one}" for one in dict.fromkeys(describe_machine(row) for row in results)]
    return "\n".join(lines) + "\n"


def describe_machine(row: Result) -> str:
    """Processor, system and versions in one line."""
    return f"{row.machine}; {', '.join(row.platform)}."


def write_group(benchmark: Benchmark, identity: str, rows: Sequence[Result]) -> list[str]:
    """The lines of one table: the agents of one list of episodes, and their commands."""
    first = rows[0]
    part = "the first {} episodes" if " --episodes " in first.command else "all {} episodes"
    subtasks = f", {first.subtasks:,} sub-tasks" if first.subtasks else ""
    columns = [name for name in benchmark.metrics if any(name in row.metrics for row in rows)]
    heads = ["agent", *(get_metric(name).title for name in columns), "n", "time", "date"]
    lines = [
        f"### `{first.protocol}`, {part.format(f'{first.episodes:,}')} of `{first.split}`\n",
        f"Identity: `{identity}`; {first.scenes} scenes{subtasks}.\n",
        f"| {' | '.join(heads)} |",
        f"|---|{'--:|' * (len(columns) + 2)}---|",
    ]
    for row in rows:
        cells = [f"`{row.agent}`{' *' if row.privileged_inputs else ''}"]
        cells += [format_number(name, row.metrics.get(name)) for name in columns]
        cells += [format_sizes(row, columns), f"{row.seconds:,.0f} s", row.date]
        lines.append(f"| {' | '.join(cells)} |")
    lines += ["\n<!-- not run: takes minutes -->", "```bash", *(row.command for row in rows), "```\n"]
    return lines


def format_number(name: str, estimate: Estimate | None) -> str:
    """A mean and its interval, such as "52.0 % (48.1 % to 55.9 %)"."""
    if estimate is None:
        return NO_VALUE
    metric = get_metric(name)
    interval = format_interval(metric, estimate)
    mean = format_value(metric, estimate.mean)
    return mean if interval == NO_VALUE else f"{mean} ({interval})"


def format_sizes(row: Result, columns: Sequence[str]) -> str:
    """Over how many values the means are; where metrics differ, each number once."""
    sizes = [row.metrics[name].n - row.metrics[name].infinite for name in columns if name in row.metrics]
    return ", ".join(f"{size:,}" for size in dict.fromkeys(sizes))


def list_missing(benchmark: Benchmark, rows: Sequence[Result]) -> list[str]:
    """A line for each protocol with the agents that fit it and have not been run."""
    lines = []
    for protocol in benchmark.protocols:
        run = {row.agent for row in rows if row.protocol == protocol}
        missing = [f"`{agent}`" for agent in benchmark.agents if agent not in run]
        if missing:
            lines.append(f"Not run on `{protocol}`: {', '.join(missing)}.\n")
    return lines


def write_paper(paper: Paper) -> list[str]:
    """The lines of a paper's table, and of what differs."""
    return [
        f"### In the paper\n\n{paper.source}. {paper.differs}\n",
        f"| agent | {' | '.join(paper.columns)} |",
        f"|---|{'--:|' * len(paper.columns)}",
        *(f"| {' | '.join(row)} |" for row in paper.rows),
        "",
    ]


def read_papers() -> dict[str, Paper]:
    """Protocol -> numbers of its paper."""
    papers: dict[str, Paper] = read_json(PAPERS, "papers' numbers", dict[str, Paper], "restore it")
    return papers


def main(folders: Sequence[str]) -> None:
    """Add the runs in `folders`, and write both files."""
    results = merge_results(read_results(), [read_result(Path(folder)) for folder in folders])
    write_atomic(DATA, msgspec.json.format(msgspec.json.encode(results), indent=1) + b"\n")
    write_atomic(PAGE, write_page(results, read_papers()).encode())
    print(f"{len(results)} rows")


if __name__ == "__main__":
    main(sys.argv[1:])
