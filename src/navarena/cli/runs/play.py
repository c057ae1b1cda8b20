"""`navarena play`: people play the episodes of a protocol in a browser."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any

import tyro

from navarena.cli.console import Console
from navarena.cli.runs.viewing import show_page
from navarena.core.errors import InputError, require_extra
from navarena.evaluation.settings import EvaluationSettings


@dataclass(frozen=True)
class Play:
    """Play the episodes of a protocol by hand, in a page on this machine.

    What is played is a run of the agent `human`: replay, compare and report work on it, and the same command
    goes on with one that was interrupted. The page shows what agents of the protocol get; help that they do
    not have (the map, labels) is there on request, and recorded as privileged. With --json, one document is
    printed with the keys url, identity, episodes, out, report and people (for each: name, seed, out).
    """

    protocol: Annotated[str, tyro.conf.Positional, tyro.conf.arg(metavar="PROTOCOL")]
    """Protocol id, such as pointnav-v1; `navarena list protocols` names them."""
    split: str = "mini"
    """Split of the dataset."""
    dataset: str | None = None
    """Episodes instead of the protocol's own, as in `navarena evaluate`."""
    scene: str | None = None
    """Play in this scene: the episodes of the split that are in it, else generated ones."""
    episode: str | None = None
    """Play only the episode of this id."""
    episodes: int | None = None
    """Number of episodes to play."""
    sensors: str = ""
    """Images that the page can show, of rgb, depth, instance, semantic and map, separated by commas; by
    default all that the scenes have."""
    corrupt: Annotated[tuple[str, ...], tyro.conf.UseAppendAction] = ()
    """Corruption of images, motion, pose or goals, as in `navarena evaluate`."""
    seed: int = 0
    """Seed of the orders of episodes, with --people."""
    people: int = 0
    """Number of people, one after the other: each agrees to --consent, chooses a pseudonym, and has an own
    order of episodes and a folder below --out; people.csv holds all episodes."""
    consent: str = ""
    """Text that people agree to, instead of the default."""
    out: Path | None = None
    """Folder of the run; by default one under ./navarena-runs that the same command finds again."""
    fresh: bool = False
    """Delete an earlier run in the folder."""
    port: int = 8710
    """Port of the page on 127.0.0.1; 0 takes a free one."""
    no_browser: bool = False
    """Open no browser."""
    json: bool = False
    """Print one JSON document instead of text."""

    def run(self, console: Console) -> int:
        """Serve until everything is played; the exit code is 0."""
        if self.people < 0:
            raise InputError(f"expected --people of 0 or more, got {self.people}")
        require_extra("fastapi", "viewer")
        from navarena.web.viewer.choice import choose_episodes
        from navarena.web.viewer.hub import Hub
        from navarena.web.viewer.people import CONSENT, TABLE_NAME, Study, play_in_turn
        from navarena.web.viewer.play import choose_views, open_human_benchmark, play_run

        settings = choose_episodes(self._settings(), self.scene, self.episode)
        benchmark = open_human_benchmark(settings)
        views = choose_views(benchmark, [one.strip() for one in self.sensors.split(",") if one.strip()])
        about: dict[str, Any] = {"protocol": self.protocol, "identity": str(benchmark.identity), "people": 0}
        study = Study(settings, benchmark, views, self.consent or CONSENT)
        exports = {TABLE_NAME: study.write_table} if self.people else {}
        played: list[dict[str, Any]] = []
        document: dict[str, Any] = {
            "identity": str(benchmark.identity),
            "episodes": len(benchmark.episodes),
            "out": str(study.folder),
            "report": None,
        }
        hub = Hub()
        with show_page(console, "play", hub, self.port, self.no_browser, exports) as address:
            if self.people:
                study.read_people()
                play_in_turn(
                    hub,
                    study,
                    self.people,
                    about,
                    lambda person, evaluation: played.append(
                        {"name": person.name, "seed": person.seed, "out": str(evaluation.folder)}
                    ),
                )
                console.text(f"{study.folder / TABLE_NAME} holds the episodes of all people")
            else:
                evaluation = play_run(hub, settings, benchmark, views, about)
                document["report"] = str(evaluation.folder / "report.html")
                console.text(f"{len(evaluation.rows)} episodes in {evaluation.folder}, and their report")
        console.result({"url": address, **document, "people": played})
        return 0

    def _settings(self) -> EvaluationSettings:
        """The evaluation settings of the played protocol."""
        settings = EvaluationSettings(
            protocol=self.protocol,
            agent="human",
            split=self.split,
            dataset=self.dataset,
            episodes=self.episodes,
            seed=self.seed,
            corrupt=self.corrupt,
            fresh=self.fresh,
        )
        return settings if self.out is None else replace(settings, out=self.out)
