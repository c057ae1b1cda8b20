"""Hash of the view points that define success in a run, where its scenes and not a file define them."""

from navarena.episodes.goals import ObjectGoal
from navarena.episodes.view_points import find_view_points
from navarena.evaluation.benchmark import Benchmark, TaskSetup
from navarena.scenes.packs import content_hash
from navarena.simulation.world import open_world
from navarena.tasks.catalog import get_task
from navarena.tasks.protocols.object_goal_task import ObjectGoalTask

DIGITS = 16


def hash_view_points(benchmark: Benchmark) -> str | None:
    """16 hex digits over the view points in all scenes of `benchmark`; None where nothing depends on any.

    View points are rendered where they are needed and stay in the cache; two machines whose renders differ
    in a pixel show it here.
    """
    if not isinstance(benchmark.setup, TaskSetup):
        return None
    task = get_task(benchmark.setup.protocol)
    scenes = sorted({one.scene_id for one in benchmark.episodes if _asks_the_scene(one.goal)})
    if not scenes or not isinstance(task, ObjectGoalTask):
        return None
    worlds = (open_world(scene_id, task.embodiment) for scene_id in scenes)
    found = (find_view_points(world, task.view_points).hash for world in worlds)
    return content_hash(*(text for pair in zip(scenes, found) for text in pair))[:DIGITS]


def _asks_the_scene(goal: object) -> bool:
    return isinstance(goal, ObjectGoal) and not any(one.view_points for one in goal.instances)
