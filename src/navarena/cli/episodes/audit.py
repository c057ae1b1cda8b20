"""`navarena episodes audit`."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Annotated

import tyro

from navarena.cli.console import Console, count_of
from navarena.cli.episodes.episodes import quiet_notices
from navarena.cli.episodes.sources import EpisodeSource, open_source
from navarena.episodes.audit import CHECKS, AuditReport, Finding, Tolerance, audit_episodes
from navarena.episodes.catalog import RECIPES
from navarena.episodes.episode import Episode
from navarena.episodes.goat import GoatRecipe
from navarena.episodes.listed_objects import with_objects
from navarena.episodes.object_nav import ObjectNavRecipe
from navarena.episodes.scene_places import place_scenes
from navarena.simulation.body import Embodiment
from navarena.simulation.body_catalog import get_body
from navarena.simulation.world import WorldCache
from navarena.tasks.catalog import TASKS, get_body_task
from navarena.tasks.task import Task

LISTED_FINDINGS = 50

USUAL = {
    "pointnav": ("pointnav-v1", "locobot"),
    "objectnav": ("objectnav-habitat2020-v1", "locobot"),
    "imagenav": ("", "locobot"),
    "multion": ("multion-3on-v1", "multion"),
}
"""Task of a file -> the protocol and the body that it is audited for, unless the user names others."""


@dataclass(frozen=True)
class EpisodesAudit:
    """Check every episode in its scene: positions, paths, distances, duplicates, objects, and the expert."""

    source: Annotated[str, tyro.conf.Positional, tyro.conf.arg(metavar="SOURCE")]
    """Episode file or folder of any format, or a split such as val or houses-v1/val."""
    scenes: str | None = None
    """Folder that holds the scenes, or the one mesh file or scene id that all episodes are in."""
    protocol: str | None = None
    """Protocol whose body and success rule are used; by default the file's own, or the usual one of its
    task."""
    body: str | None = None
    """Body to use instead of the protocol's; the expert then does not run."""
    tolerance: float = Tolerance().absolute
    """Metres by which distances may differ; one per cent is always allowed."""
    expert: bool = True
    """Run the expert on every episode."""
    json: bool = False
    """Print one JSON document instead of tables."""

    def run(self, console: Console) -> int:
        """Audit and report; the exit code is 1 when any episode is bad, else 0."""
        with quiet_notices(console):
            found = open_source(self.source, self.protocol or "")
            places = place_scenes((one.scene_id for one in found.episodes), self.scenes)
            episodes = [replace(one, scene_id=places[one.scene_id]) for one in found.episodes]
        task, body = self._choose_rules(found)
        worlds = WorldCache(body)
        view_points = None
        if task is not None:
            recipe = RECIPES.get(task.protocol_id) if task.protocol_id in RECIPES else None
            if isinstance(recipe, ObjectNavRecipe | GoatRecipe):
                view_points = recipe.view_points
                episodes = with_objects(episodes, worlds.get, view_points)
        with console.progress(len(episodes), "episodes") as progress:
            limits = Tolerance(self.tolerance)
            report = audit_episodes(episodes, worlds.get, limits, progress.advance, view_points)
        notes = []
        if task is not None and self.expert:
            with console.progress(len(episodes), "expert") as progress:
                report = self._with_expert(report, task, episodes, worlds, progress.advance)
        elif not self.expert:
            notes.append("the expert did not run: --no-expert")
        else:
            notes.append("the expert did not run: no protocol is known for these episodes and this body")
        _print_report(console, self.source, report, notes)
        console.result(
            {
                "source": self.source,
                "protocol": task.protocol_id if task else None,
                "body": body.name,
                "scenes": report.scenes,
                "episodes": report.episodes,
                "bad_episodes": list(report.bad_episodes),
                "checks": report.counts,
                "expert": not notes,
                "findings": [asdict(one) for one in report.findings],
            }
        )
        return 1 if report.findings else 0

    def _choose_rules(self, found: EpisodeSource) -> tuple[Task | None, Embodiment]:
        """The task, if there is one for these episodes, and the body."""
        usual, usual_body = USUAL.get(found.task, ("", "locobot"))
        protocol = self.protocol or found.protocol or usual
        if self.body is not None:
            return None, get_body(self.body)
        if self.protocol is None and protocol not in TASKS:
            return None, get_body(usual_body)
        task = get_body_task(protocol)
        return task, task.embodiment

    def _with_expert(
        self,
        report: AuditReport,
        task: Task,
        episodes: Sequence[Episode],
        worlds: WorldCache,
        advance: object,
    ) -> AuditReport:
        """The report with the expert's results on the episodes that can be started."""
        from navarena.evaluation.running.expert_audit import find_expert_failures

        lost = {one.episode_id for one in report.findings if one.check == "start"}
        fit = [one for one in episodes if one.episode_id not in lost]
        more = find_expert_failures(task, fit, worlds, advance if callable(advance) else None)
        return replace(report, findings=(*report.findings, *more))


def _print_report(console: Console, source: str, report: AuditReport, notes: Sequence[str]) -> None:
    rows = [(check, CHECKS[check], count) for check, count in report.counts.items()]
    console.table(source, ("check", "what must hold", "findings"), rows)
    listed: Sequence[Finding] = report.findings[:LISTED_FINDINGS]
    if listed:
        rows_of_findings = [
            (one.episode_id or "(goals)", one.scene_id, one.check, one.message) for one in listed
        ]
        console.table("findings", ("episode", "scene", "check", "what is wrong"), rows_of_findings)
    if len(report.findings) > len(listed):
        console.text(f"... and {len(report.findings) - len(listed)} more; --json lists all")
    for note in notes:
        console.note(f"note: {note}")
    bad = len(report.bad_episodes)
    verdict = f"{bad} of {report.episodes} episodes are bad" if report.findings else "all episodes are good"
    counts = f"{count_of(report.episodes, 'episode')} in {count_of(report.scenes, 'scene')}"
    console.text(f"{counts}: {verdict}")
