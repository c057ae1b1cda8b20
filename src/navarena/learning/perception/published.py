"""Published RedNet weights as a segmenter's checkpoint."""

from pathlib import Path

from navarena.learning.checkpoints.fitted import save_fitted
from navarena.learning.perception.labelling import SegmenterInfo
from navarena.learning.perception.rednet import PAPER_SIZE, load_published
from navarena.mapping.vocabularies import MAP_VOCABULARY, class_names

PROTOCOL = "ir2r-ce-v1"
"""Whose paper published them."""


def import_rednet(path: Path, folder: Path) -> SegmenterInfo:
    """Write the published weights in `path` as a checkpoint into `folder`; returns its description.

    They are of the 13 classes of Iterative VLN's map. Raises as `load_published`, and StorageError.
    """
    classes = class_names(MAP_VOCABULARY)
    network = load_published(path, len(classes))
    info = SegmenterInfo(
        protocol=PROTOCOL,
        vocabulary=MAP_VOCABULARY,
        classes=classes,
        size=PAPER_SIZE,
        network=None,
        recipe={"imported": path.name},
    )
    save_fitted(folder, info, network)
    return info
