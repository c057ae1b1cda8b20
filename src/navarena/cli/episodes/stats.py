"""`navarena episodes stats`."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro

from navarena.cli.console import Console
from navarena.cli.episodes.episodes import describe_statistics, quiet_notices
from navarena.cli.episodes.sources import DEFAULT_PROTOCOL, EpisodeSource, open_source
from navarena.cli.flags import OutputFile
from navarena.core.files import write_atomic
from navarena.episodes.catalog import RECIPES
from navarena.episodes.episode import Episode
from navarena.episodes.goat.recipe import GoatRecipe
from navarena.episodes.listed_objects import count_objects, with_objects
from navarena.episodes.object_nav import ObjectNavRecipe
from navarena.episodes.sequence import scene_rows
from navarena.episodes.statistics import Histogram, Measure, Statistics, compute_statistics
from navarena.simulation.world import WorldCache

BAR_WIDTH = 40


@dataclass(frozen=True)
class EpisodesStats:
    """Count and measure episodes, as the papers' tables and figures do."""

    source: Annotated[str, tyro.conf.Positional, tyro.conf.arg(metavar="SOURCE")]
    """Episode file or folder of any format, or a split such as val or houses-v1/val."""
    protocol: str = DEFAULT_PROTOCOL
    """Protocol of the split; files name their own."""
    plot: Annotated[Path | None, OutputFile(".svg")] = None
    """Write the histograms into this .svg file."""
    json: bool = False
    """Print one JSON document instead of tables."""

    def run(self, console: Console) -> int:
        """Read the episodes, print and draw their numbers; the exit code is 0."""
        with quiet_notices(console):
            found = open_source(self.source, self.protocol)
            episodes = _find_view_points(console, found)
            numbers = compute_statistics(episodes, found.objects or _find_objects(console, found))
        _print_counts(console, self.source, numbers)
        measures = {
            "geodesic distance, m": numbers.geodesic,
            "Euclidean distance, m": numbers.euclidean,
            "geodesic / Euclidean distance": numbers.ratio,
        }
        for label, measure in measures.items():
            if measure.histogram is not None:
                console.table(label, ("from", "to", "episodes", ""), _bars(measure.histogram))
        if self.plot is not None:
            self._draw(measures)
            console.text(f"histograms: {self.plot}")
        console.result({"source": self.source, **describe_statistics(numbers)})
        return 0

    def _draw(self, measures: Mapping[str, Measure]) -> None:
        from navarena.reports.histograms import draw_histograms

        panels = {label: one.histogram for label, one in measures.items() if one.histogram is not None}
        # the name of a file alone: its folder is of this machine
        title = Path(self.source).name if Path(self.source).exists() else self.source
        write_atomic(self.plot or Path(), draw_histograms(title, panels).encode())


def _find_view_points(console: Console, found: EpisodeSource) -> Sequence[Episode]:
    """The episodes; those of GOAT-Bench that are navarena's with the view points of their scenes."""
    recipe = RECIPES.get(found.protocol) if found.protocol in RECIPES else None
    if not isinstance(recipe, GoatRecipe):
        return found.episodes
    worlds = WorldCache(recipe.embodiment)
    filled: list[Episode] = []
    scenes = scene_rows(found.episodes)
    with console.progress(len(scenes), "scenes") as progress:
        for rows in scenes.values():
            own = [found.episodes[start + row] for start in rows.starts for row in rows.rows]
            filled += with_objects(own, worlds.get, recipe.view_points)
            progress.advance()
    return filled


def _find_objects(console: Console, found: EpisodeSource) -> dict[tuple[str, str], set[str]] | None:
    """Objects of scenes that navarena's ObjectNav lists refer to; None if there are none."""
    recipe = RECIPES.get(found.protocol) if found.protocol in RECIPES else None
    if not isinstance(recipe, ObjectNavRecipe):
        return None
    worlds = WorldCache(recipe.embodiment)
    scenes = list(dict.fromkeys(one.scene_id for one in found.episodes))
    objects: dict[tuple[str, str], set[str]] = {}
    with console.progress(len(scenes), "scenes") as progress:
        for scene in scenes:
            objects.update(count_objects([scene], worlds.get, recipe.view_points))
            progress.advance()
    return objects


def _print_counts(console: Console, source: str, numbers: Statistics) -> None:
    geodesic = numbers.geodesic.spread
    rows: list[tuple[str, object]] = [
        ("scenes", numbers.scenes),
        ("episodes", numbers.episodes),
        ("categories", len(numbers.categories)),
        ("objects", sum(numbers.instances_by_category.values())),
        ("geodesic distance, minimum, m", geodesic.minimum if geodesic else None),
        ("geodesic distance, maximum, m", geodesic.maximum if geodesic else None),
        ("length of all shortest paths, m", numbers.path_length if geodesic else None),
        ("episodes without a distance", numbers.hidden),
        ("episodes that their file calls unreachable", numbers.unreachable),
    ]
    console.table(source, ("what", "value"), rows)
    if numbers.categories:
        objects = numbers.instances_by_category
        names = sorted({*numbers.categories, *objects})
        rows_by_category = [(name, numbers.categories.get(name, 0), objects.get(name)) for name in names]
        console.table("by category", ("category", "episodes", "objects"), rows_by_category)
    for title, counts in (
        ("by difficulty", numbers.difficulties),
        ("objects by scene", numbers.instances_by_scene),
        ("by number of goals", {} if set(numbers.goals) == {1} else numbers.goals),
    ):
        if counts:
            console.table(title, ("", "count"), [(str(name), count) for name, count in counts.items()])


def _bars(histogram: Histogram) -> list[tuple[float, float, int, str]]:
    """One row for each bin, with a bar that is as long as its share of the largest one."""
    most = max(histogram.counts)
    return [
        (low, high, count, "#" * round(BAR_WIDTH * count / most))
        for low, high, count in zip(histogram.edges, histogram.edges[1:], histogram.counts)
    ]
