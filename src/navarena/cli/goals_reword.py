"""`navarena goals reword`: descriptions in the words of a model of language."""

from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any

import tyro

from navarena.cli.console import Console
from navarena.episodes.catalog import load_episodes
from navarena.episodes.dataset import save_episodes
from navarena.episodes.episode import Episode, LifelongGoal
from navarena.episodes.goals import as_subtasks
from navarena.episodes.goat import GeneratedDescription, Writer, make_writer, write_description
from navarena.simulation.body_catalog import STRETCH
from navarena.simulation.world import WorldCache


@dataclass(frozen=True)
class GoalsReword:
    """Let a captioner and a model of language word the descriptions of an episode file of goat-v1.

    Words are used where they name the thing, have at most 55 words and still fit no other thing of the
    scene; else the description stays, and the reason is counted.
    """

    file: Annotated[str, tyro.conf.Positional, tyro.conf.arg(metavar="FILE")]
    """Episode file of goat-v1 or languagenav-v1, as `navarena episodes make` writes it."""
    writer: str
    """Model of language: http://HOST/v1#MODEL (chat interface of OpenAI) or transformers:FOLDER."""
    out: Path
    """The file to write, .json or .json.gz."""
    captioner: str | None = None
    """What is asked how a thing looks, given its image; written as --writer is. None by default."""
    protocol: str = "goat-v1"
    """Protocol of the file."""
    json: bool = False
    """Print one JSON document instead of lines."""

    def run(self, console: Console) -> int:
        """Ask, check and write; the exit code is 0."""
        writer = make_writer(self.writer)
        captioner = None if self.captioner is None else make_writer(self.captioner)
        dataset = load_episodes(self.protocol, dataset=self.file)
        worlds, answers, found = WorldCache(STRETCH), list[GeneratedDescription](), []
        with console.progress(len(dataset), "episodes") as progress:
            for episode in dataset.episodes:
                found.append(_reword(episode, worlds, writer, captioner, answers))
                progress.advance(1)
        save_episodes(replace(dataset, episodes=tuple(found)), self.out)
        refused = Counter(one.refused for one in answers if one.refused)
        used = len(answers) - sum(refused.values())
        console.text(f"{self.out}: {used} of {len(answers)} descriptions in the words of {writer.name}")
        console.table("words that were not used", ("why", "descriptions"), list(refused.items()))
        result: dict[str, Any] = {
            "file": str(self.out),
            "descriptions": len(answers),
            "used": used,
            "refused": dict(refused),
        }
        console.result(result)
        return 0


def _reword(
    episode: Episode,
    worlds: WorldCache,
    writer: Writer,
    captioner: Writer | None,
    answers: list[GeneratedDescription],
) -> Episode:
    """An episode with new descriptions; what came of each is added to `answers`."""
    subtasks = list(as_subtasks(episode.goal))
    for place, subtask in enumerate(subtasks):
        if subtask.modality == "description":
            answers.append(write_description(worlds.get(episode.scene_id), subtask, writer, captioner))
            subtasks[place] = replace(subtask, description=answers[-1].text)
    return replace(episode, goal=LifelongGoal(tuple(subtasks)))
