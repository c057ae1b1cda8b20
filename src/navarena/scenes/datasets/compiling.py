"""Scenes of datasets as the scene catalogue wants them: what they depend on, and how they are built."""

import importlib.util
from collections.abc import Callable
from pathlib import Path

from navarena.core.sources import source_fingerprint
from navarena.scenes.datasets.names import DatasetScene, locate_scene
from navarena.scenes.fingerprints import file_fingerprint
from navarena.scenes.scene import Scene


def dataset_fingerprint(named: DatasetScene) -> list[str]:
    """Texts that change whenever the built scene could: its files' content and its reader's source.

    Raises FileError that names the exact missing file.
    """
    from navarena.scenes.formats.references import referenced_files

    dataset, files = locate_scene(named)
    parts = [dataset.name, files.entry]
    for module in dataset.sources():
        found = importlib.util.find_spec(module)
        if found is not None and found.origin is not None:
            parts.append(source_fingerprint(Path(found.origin)))
    for role, path in sorted(files.paths.items()):
        parts += [role, file_fingerprint(path)]
        for name, file in referenced_files(path):
            parts += [name, file_fingerprint(file) if file.is_file() else "missing"]
    return parts


def dataset_builder(named: DatasetScene) -> Callable[[], Scene]:
    """What reads the scene; raises FileError at once when a file of it is missing."""
    dataset, files = locate_scene(named)
    return lambda: dataset.build(files, named.text)
