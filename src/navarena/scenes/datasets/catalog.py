"""The datasets that navarena reads; installed packages add theirs through entry points."""

from functools import cache

from navarena.core.registry import Registry
from navarena.scenes.datasets.dataset import SceneDataset

DATASETS = Registry(
    "scene dataset",
    {
        "gibson": "navarena.scenes.datasets.gibson:Gibson",
        "habitat": "navarena.scenes.datasets.habitat:Habitat",
        "hm3d": "navarena.scenes.datasets.hm3d:HM3D",
        "mp3d": "navarena.scenes.datasets.mp3d:MP3D",
        "procthor": "navarena.scenes.datasets.procthor:ProcTHOR",
        "replica": "navarena.scenes.datasets.replica:Replica",
    },
    "navarena.scene_datasets",
)

ALIASES = {
    "gibson": ("gibson_habitat", "gibson_semantic"),
    "hm3d": ("hm3d_v0.2", "hm3d_v0.1"),
    "mp3d": ("matterport3d",),
    "procthor": ("procthor-10k",),
    "replica": ("replica_v1",),
}
"""Names of folders that stand for a dataset in episode files, beside its own name."""


def get_dataset(name: str) -> SceneDataset:
    """The dataset called `name`; raises UnknownNameError with the nearest choice."""
    dataset: SceneDataset = DATASETS.get(name)()
    return dataset


def dataset_of_folder(folder: str) -> str | None:
    """The dataset that a folder of this name holds, or None."""
    lower = folder.lower()
    for name, aliases in ALIASES.items():
        if lower == name or lower in aliases:
            return name
    return lower if lower in _added_names() else None


@cache
def _added_names() -> frozenset[str]:
    """Datasets of installed packages; reading entry points takes tens of milliseconds."""
    return frozenset({*DATASETS.names()} - {*ALIASES, "habitat"})
