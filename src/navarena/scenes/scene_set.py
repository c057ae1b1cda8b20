"""A named set of scenes, divided into splits."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from navarena.core.errors import UnknownNameError, require_name, unknown_name
from navarena.scenes.scene import Scene


@dataclass(frozen=True)
class SceneSet:
    """Scenes that belong together, found by ids such as "houses-v1/val/00017".

    A package adds its own through an entry point in the group "navarena.scenes" whose value
    is a SceneSet; the entry point's name is the set's name and the first part of its ids.

    Attributes:
        name: such as "houses-v1". What is in a set never changes; a changed set gets a new name.
        splits: split -> scene ids "<name>/<split>/<index>", in order. A split may repeat scenes of
            another one (such as "mini").
        build: scene id -> scene; deterministic.
        fingerprint: scene id -> text that changes whenever the built scene could.
        description: one line for people.
        corruptions: corruptions of observations in these scenes, written as for `--corrupt`, such as
            "gaussian_noise:1"; evaluations in these scenes apply them.
    """

    name: str
    splits: Mapping[str, tuple[str, ...]]
    build: Callable[[str], Scene]
    fingerprint: Callable[[str], str]
    description: str = ""
    corruptions: tuple[str, ...] = ()

    def scene_ids(self, split: str) -> list[str]:
        """The ids of `split`; raises UnknownNameError for another name."""
        return list(self.splits[require_name(f"split of {self.name}", split, self.splits)])

    def require_scene(self, scene_id: str) -> str:
        """Return `scene_id` if it belongs to this set, else raise UnknownNameError."""
        if any(scene_id in ids for ids in self.splits.values()):
            return scene_id
        parts = scene_id.split("/")
        if len(parts) < 3:
            example = next(ids[0] for ids in self.splits.values() if ids)
            raise UnknownNameError(f"expected a scene id such as {example}, got {scene_id!r}")
        raise unknown_name("scene", scene_id, self.scene_ids(parts[1]))
