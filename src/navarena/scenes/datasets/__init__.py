"""Datasets of scans and houses that users have: their names, their folders, their readers."""

from navarena.scenes.datasets.catalog import DATASETS, get_dataset
from navarena.scenes.datasets.dataset import SceneDataset, SceneFiles
from navarena.scenes.datasets.dataset_scenes import (
    DatasetScene,
    dataset_scene_ids,
    find_dataset_scene,
    locate_scene,
)
from navarena.scenes.datasets.roots import DATA_VARIABLE, data_folder, register_root

__all__ = [
    "DATASETS",
    "DATA_VARIABLE",
    "DatasetScene",
    "SceneDataset",
    "SceneFiles",
    "data_folder",
    "dataset_scene_ids",
    "find_dataset_scene",
    "get_dataset",
    "locate_scene",
    "register_root",
]
