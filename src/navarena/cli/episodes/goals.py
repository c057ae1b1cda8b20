"""`navarena goals make`, `stats`, `preview` and `reword`: the goals of GOAT-Bench that scenes pool."""

from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import as_completed
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any

import tyro

from navarena.cli.console import Console
from navarena.cli.flags import OutputFile
from navarena.core.errors import InputError
from navarena.core.processes import open_pool
from navarena.episodes.catalog import load_episodes, split_scenes
from navarena.episodes.dataset import save_episodes
from navarena.episodes.episode import Episode, LifelongGoal
from navarena.episodes.goals import as_subtasks
from navarena.episodes.goat import (
    MODALITIES,
    GeneratedDescription,
    GoalPool,
    Writer,
    find_scene_goals,
    make_writer,
    names_of_split,
    write_description,
)
from navarena.episodes.goat.goal_pool import GoalCounts, count_goals
from navarena.episodes.goat.recipe import GOAT_V1
from navarena.scenes.catalog import is_file_path
from navarena.simulation.body_catalog import STRETCH
from navarena.simulation.world import WorldCache, open_world

DATASET = "houses-v1"
ALL_NAMES = "all"
LISTED_DROPS = 40


@dataclass(frozen=True)
class GoalsMake:
    """Find the goals of a scene, or of all scenes of a split, by rendering, and keep them in the cache.

    For a single scene it lists which goals were dropped and why. An interrupted command continues where it
    stopped.
    """

    source: Annotated[str, tyro.conf.Positional, tyro.conf.arg(metavar="SCENE|SPLIT")]
    """Scene id, mesh file, or a split of goat-v1 such as val_seen."""
    workers: int = 1
    """Processes that share the scenes of a split."""
    json: bool = False
    """Print one JSON document instead of a table."""

    def run(self, console: Console) -> int:
        """Render, keep and count; the exit code is 0."""
        if self.workers < 1:
            raise InputError(f"expected at least one worker, got --workers {self.workers}")
        scenes = _scenes_of(self.source)
        with console.progress(len(scenes), "scenes") as progress:
            for _ in _make_all(scenes, self.workers):
                progress.advance(1)
        pools = (GoalPool(open_world(scene, STRETCH), names_of_split(self.source)) for scene in scenes)
        found = count_goals(pools)
        _print_counts(console, self.source, {ALL_NAMES if len(scenes) == 1 else self.source: found})
        dropped: list[dict[str, Any]] = []
        if len(scenes) == 1:
            dropped = [vars(one) for one in find_scene_goals(open_world(scenes[0], STRETCH)).dropped]
            rows = [(one["object_id"], one["category"], one["modality"], one["reason"]) for one in dropped]
            console.table("not on offer", ("object", "category", "as", "why"), rows[:LISTED_DROPS])
            if len(rows) > LISTED_DROPS:
                console.note(f"{len(rows) - LISTED_DROPS} more; --json lists all")
        console.result({"source": self.source, **_to_values(found), "dropped_goals": dropped})
        return 0


@dataclass(frozen=True)
class GoalsStats:
    """Count the goals of splits by modality, their names, and dropped goals by reason."""

    splits: Annotated[tuple[str, ...], tyro.conf.Positional, tyro.conf.arg(metavar="SPLIT")] = (
        "val_seen",
        "val_seen_synonyms",
        "val_unseen",
    )
    """Splits of goat-v1."""
    limit: int | None = None
    """Use only this many of the first scenes."""
    workers: int = 1
    """Processes that share the scenes."""
    json: bool = False
    """Print one JSON document instead of a table."""

    def run(self, console: Console) -> int:
        """Find what is missing and count; the exit code is 0."""
        if self.workers < 1 or (self.limit is not None and self.limit < 1):
            raise InputError(f"expected at least one worker and scene, got {self.workers} and {self.limit}")
        counts = {}
        for split in self.splits:
            scenes = split_scenes(split, DATASET, GOAT_V1)[: self.limit]
            with console.progress(len(scenes), split) as progress:
                for _ in _make_all(scenes, self.workers):
                    progress.advance(1)
            names = names_of_split(GOAT_V1.splits[split].part_of or split)
            counts[split] = count_goals(GoalPool(open_world(scene, STRETCH), names) for scene in scenes)
        _print_counts(console, "goals", counts)
        console.result({"splits": {split: _to_values(found) for split, found in counts.items()}})
        return 0


@dataclass(frozen=True)
class GoalsPreview:
    """Draw goals of a scene into one PNG: images, names and descriptions."""

    scene: Annotated[str, tyro.conf.Positional, tyro.conf.arg(metavar="SCENE")]
    """Scene id, or the path of a mesh file with labels."""
    out: Annotated[Path, OutputFile(".png")]
    """The image to write, .png."""
    split: str | None = None
    """Use only names of this split of goat-v1; all names by default."""
    limit: int = 16
    """Largest number of goals to draw."""
    json: bool = False
    """Print one JSON document instead of a line."""

    def run(self, console: Console) -> int:
        """Draw and write the image; the exit code is 0."""
        from navarena.reports.goal_sheet import draw_goal_sheet
        from navarena.reports.preview import write_png

        names = names_of_split("" if self.split is None else _split_of(self.split))
        sheet = draw_goal_sheet(GoalPool(open_world(self.scene, STRETCH), names), self.limit)
        write_png(sheet.image, self.out)
        height, width = sheet.image.shape[:2]
        console.text(f"{self.out}: {len(sheet.goals)} goals of {self.scene}, {width} x {height}")
        goals = [
            {"object_id": goal.instances[0].object_id, "category": goal.category, "description": words}
            for goal, words in sheet.goals
        ]
        console.result(
            {
                "scene_id": self.scene,
                "file": str(self.out),
                "width_px": width,
                "height_px": height,
                "goals": goals,
            }
        )
        return 0


def _split_of(name: str) -> str:
    """The split whose names a list asks for; raises UnknownNameError for an unknown one."""
    split_scenes(name, DATASET, GOAT_V1)
    return GOAT_V1.splits[name].part_of or name


def _scenes_of(source: str) -> list[str]:
    """The scenes of a split, or the one that is named; raises UnknownNameError."""
    if "/" in source or is_file_path(source):
        return [source]
    return split_scenes(source, DATASET, GOAT_V1)


def _make_all(scenes: Sequence[str], workers: int) -> Iterator[None]:
    """Put the goals of scenes into the cache, in this process or in several."""
    if workers == 1:
        for scene in scenes:
            _make(scene)
            yield
        return
    with open_pool(workers) as pool:
        for done in as_completed([pool.submit(_make, scene) for scene in scenes]):
            yield done.result()


def _make(scene_id: str) -> None:
    find_scene_goals(open_world(scene_id, STRETCH))


def _to_values(counts: GoalCounts) -> dict[str, Any]:
    return {
        "scenes": counts.scenes,
        "names": counts.names,
        "goals": {
            modality: {
                "objects": counts.objects[modality],
                "names": len(counts.names_by_modality[modality]),
                "scenes_without": counts.without[modality],
            }
            for modality in MODALITIES
        },
        "images": counts.images,
        "view_points": counts.view_points,
        "dropped": counts.dropped,
    }


def _print_counts(console: Console, title: str, counts: dict[str, GoalCounts]) -> None:
    rows = [
        (
            split,
            found.scenes,
            found.without[modality],
            modality,
            found.objects[modality],
            len(found.names_by_modality[modality]),
        )
        for split, found in counts.items()
        for modality in MODALITIES
    ]
    console.table(title, ("names of", "scenes", "of them without", "modality", "goals", "names"), rows)
    for split, found in counts.items():
        shown = [(reason, count) for reason, count in found.dropped.items()]
        console.table(f"dropped in the scenes of {split}", ("why", "goals"), shown)


@dataclass(frozen=True)
class GoalsReword:
    """Let a captioning model and a language model rewrite the descriptions of an episode file of goat-v1.

    A new description is used if it names the object, has at most 55 words and fits no other object of the
    scene; otherwise the old one stays, and the reason is counted.
    """

    file: Annotated[str, tyro.conf.Positional, tyro.conf.arg(metavar="FILE")]
    """Episode file of goat-v1 or languagenav-v1, as `navarena episodes make` writes it."""
    writer: str
    """Language model: http://HOST/v1#MODEL (chat interface of OpenAI) or transformers:FOLDER."""
    out: Annotated[Path, OutputFile(".json", ".json.gz")]
    """The file to write, .json or .json.gz."""
    captioner: str | None = None
    """Captioning model that gets the image of each object, written like --writer. None by default."""
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
        console.text(f"{self.out}: {used} of {len(answers)} descriptions were rewritten by {writer.name}")
        console.table("descriptions that were not used", ("why", "descriptions"), list(refused.items()))
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
    """An episode with new descriptions; the result of each is added to `answers`."""
    subtasks = list(as_subtasks(episode.goal))
    for place, subtask in enumerate(subtasks):
        if subtask.modality == "description":
            answers.append(write_description(worlds.get(episode.scene_id), subtask, writer, captioner))
            subtasks[place] = replace(subtask, description=answers[-1].text)
    return replace(episode, goal=LifelongGoal(tuple(subtasks)))
