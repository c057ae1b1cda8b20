"""People one after the other: consent, pseudonyms, an order of episodes for each, and one table of all."""

import csv
import io
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import msgspec

from navarena.core.errors import InputError
from navarena.core.files import read_json, translate_damage, write_atomic
from navarena.evaluation.benchmark import Benchmark
from navarena.evaluation.records.journal import Row, journal_paths, read_journal
from navarena.evaluation.running.runner import Evaluation
from navarena.evaluation.settings import EvaluationSettings
from navarena.web.viewer.hub import Hub
from navarena.web.viewer.messages import Begin, Go
from navarena.web.viewer.play import play_run
from navarena.web.viewer.play_session import WAIT_SECONDS, ViewKind

FILE_NAME, TABLE_NAME = "people.json", "people.csv"

CONSENT = (
    "I agree that the actions that I take here are stored under this pseudonym, are compared with those of "
    "agents, and may be published."
)
"""What people agree to, unless the command says something else."""

PSEUDONYM = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,31}")


class Person(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Somebody who plays.

    Attributes:
        name: pseudonym, and name of the folder of its run.
        seed: of the order of its episodes.
        consent: what it has agreed to.
        identity: what it plays.
    """

    name: str
    seed: int
    consent: str
    identity: str


@dataclass(frozen=True)
class Study:
    """Study in which people play the same episodes, each in a random order.

    Attributes:
        settings: `out` is the folder of all runs; the n-th person has the n-th seed from `seed` on.
        benchmark: of open_human_benchmark.
        views: of choose_views.
        consent: what people agree to.
    """

    settings: EvaluationSettings
    benchmark: Benchmark
    views: tuple[ViewKind, ...]
    consent: str = CONSENT

    @property
    def folder(self) -> Path:
        """Folder of all runs."""
        return self.settings.folder(self.benchmark.identity)

    def read_people(self) -> list[Person]:
        """Everybody so far; raises FileError for a damaged list, InputError for one of other episodes."""
        path = self.folder / FILE_NAME
        if not path.exists():
            return []
        remedy = "restore it, or choose another --out"
        with translate_damage(f"list of people {path}", remedy):
            people = msgspec.convert(read_json(path, "list of people", remedy=remedy), list[Person])
        identity = str(self.benchmark.identity)
        for one in people:
            if one.identity != identity:
                raise InputError(
                    f"expected people who play {identity} in {self.folder}, got {one.identity}; choose "
                    "another --out"
                )
        return people

    def admit(self, begin: Begin) -> Person:
        """Admit a new or returning person; raises InputError for an invalid pseudonym or missing consent."""
        if not PSEUDONYM.fullmatch(begin.name):
            raise InputError(
                f"expected a pseudonym of 1 to 32 letters, digits, - and _, got {begin.name!r}; change it"
            )
        if not begin.consent:
            raise InputError("expected your consent, got none; tick the box, or close this page")
        people = self.read_people()
        known = next((one for one in people if one.name.lower() == begin.name.lower()), None)
        if known is not None:
            return known
        seed = self.settings.seed + len(people)
        person = Person(begin.name, seed, self.consent, str(self.benchmark.identity))
        self.folder.mkdir(parents=True, exist_ok=True)
        data = msgspec.json.encode([*people, person])
        write_atomic(self.folder / FILE_NAME, msgspec.json.format(data, indent=1) + b"\n")
        return person

    def settings_of(self, person: Person) -> EvaluationSettings:
        """Evaluation settings of one person: the same episodes in the order of the person's seed."""
        return replace(self.settings, out=self.folder / person.name, seed=person.seed, shuffle=True)

    def write_table(self) -> str:
        """All episodes of all people as CSV, in the order in which they were played."""
        text = io.StringIO()
        table = csv.writer(text, lineterminator="\n")
        metrics = self.benchmark.metrics
        table.writerow(("person", "order", "episode", "scene", "status", "steps", "help", *metrics))
        for person in self.read_people():
            for order, row in enumerate(self._rows(person), 1):
                numbers = [row.metrics.get(name) for name in metrics]
                cells = ["inf" if one is None else repr(one) for one in numbers]
                described = (person.name, order, row.episode_id, row.scene_id, row.status, row.steps)
                table.writerow((*described, "; ".join(row.noticed), *cells))
        return text.getvalue()

    def _rows(self, person: Person) -> list[Row]:
        folder = self.folder / person.name
        return [row for path in journal_paths(folder) for row in read_journal(path).rows]


def play_in_turn(
    hub: Hub,
    study: Study,
    count: int,
    about: Mapping[str, Any],
    on_person: Callable[[Person, Evaluation], object],
) -> None:
    """Let `count` people play, one after the other; a returning person resumes."""
    for number in range(1, count + 1):
        details = {**about, "person": number, "people": count, "consent": study.consent}
        person = _welcome(hub, study, details)
        details = {**details, "name": person.name, "has_next": number < count}
        evaluation = play_run(hub, study.settings_of(person), study.benchmark, study.views, details)
        write_atomic(study.folder / TABLE_NAME, study.write_table().encode())
        on_person(person, evaluation)
        while number < count and not isinstance(hub.take(WAIT_SECONDS), Go):
            continue


def _welcome(hub: Hub, study: Study, about: Mapping[str, Any]) -> Person:
    """Ask for consent and pseudonym until both are there."""
    problem = ""
    while True:
        hub.show({**about, "phase": "welcome", "error": problem}, {})
        message = hub.take(WAIT_SECONDS)
        while not isinstance(message, Begin):
            message = hub.take(WAIT_SECONDS)
        try:
            return study.admit(message)
        except InputError as error:
            problem = str(error)
