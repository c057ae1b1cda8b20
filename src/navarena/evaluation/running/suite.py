"""An agent clean and under each row of a suite of corruptions: one run folder for each row."""

import re
from dataclasses import dataclass, replace
from pathlib import Path

from navarena.agents.loading import declare_agent
from navarena.core.errors import InputError, require_name
from navarena.corruptions.catalog import write_corruption
from navarena.corruptions.suites import CLEAN, CLEAN_NAME, SUITES, Suite
from navarena.evaluation.benchmark import open_benchmark
from navarena.evaluation.settings import EvaluationSettings
from navarena.tasks.catalog import get_task
from navarena.tasks.corruption_checks import require_applicable


@dataclass(frozen=True)
class SuiteRun:
    """One row of a suite.

    Attributes:
        corruptions: as write_corruption writes them; empty for the clean row.
        settings: of its run, with the folder in which it lies.
    """

    corruptions: tuple[str, ...]
    settings: EvaluationSettings

    @property
    def title(self) -> str:
        """The corruptions for people."""
        return " + ".join(self.corruptions) or CLEAN_NAME

    @property
    def folder(self) -> Path:
        """Folder of the run."""
        if self.settings.out is None:
            raise InputError("expected the settings of a row to name its folder, got none")
        return self.settings.out


def find_suite(name: str) -> Suite:
    """The suite called `name`; raises UnknownNameError with the nearest choice."""
    return SUITES[require_name("suite", name, SUITES)]


def plan_suite(settings: EvaluationSettings, name: str) -> tuple[SuiteRun, ...]:
    """The runs of the suite `name`, all of which have been checked: any can start.

    Their folders lie side by side in `settings.out`, or in a folder that the same settings find again, so
    an interrupted suite goes on where it was.

    Raises UnknownNameError for an unknown suite, and InputError for settings that have corruptions of
    their own and for a row that makes no sense for the protocol.
    """
    suite = find_suite(name)
    if settings.corrupt:
        raise InputError(
            f"expected either a suite or corruptions of one run, got {name!r} and {settings.corrupt!r}"
        )
    task, sensors = get_task(settings.protocol), declare_agent(settings.agent).sensors
    for row in suite.rows:
        require_applicable(task, row, sensors)
    clean = settings.folder(open_benchmark(settings).identity)
    together = clean if settings.out else clean.with_name(f"{clean.name}-{name}")
    return tuple(_plan_row(settings, row, together) for row in suite.rows)


def _plan_row(settings: EvaluationSettings, row: tuple[str, ...], together: Path) -> SuiteRun:
    corruptions = tuple(write_corruption(text) for text in row)
    name = re.sub(r"[^A-Za-z0-9_+-]+", "-", "+".join(corruptions)) if row != CLEAN else CLEAN_NAME
    own = replace(settings, corrupt=tuple(corruptions), out=together / name)
    return SuiteRun(corruptions, own)
