"""`navarena segmenter`: scores of a segmenter in houses that it never saw, and published weights."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro

from navarena.cli.console import Console


@dataclass(frozen=True)
class SegmenterScore:
    """Score a segmenter: intersection over union of each class, in images of unseen houses.

    With --json, one document is printed with the keys folder, frames, protocol, split, images, mean_iou,
    pixel_accuracy and classes: a list of name, iou, recall and share (of all pixels).
    """

    folder: Annotated[Path, tyro.conf.Positional, tyro.conf.arg(metavar="DIR")]
    """Folder of its checkpoint (`navarena train segmenter-small`)."""
    protocol: str | None = None
    """Protocol whose first camera takes the images; by default that of its recipe."""
    split: str = "val"
    """Split of the houses."""
    houses: int = 40
    """Number of houses, the first of the split."""
    images: int = 25
    """Images of each house; its classes take turns in choosing them."""
    quiet: bool = False
    """Show no progress."""
    json: bool = False
    """Print one JSON document instead of text."""

    def run(self, console: Console) -> int:
        """Draw, label, count; returns the exit code."""
        from navarena.learning.perception.evaluation import count_house_confusions, make_score_settings
        from navarena.learning.perception.labelling import SegmenterLabeller
        from navarena.learning.perception.scoring import mean_iou, score_classes

        labeller = SegmenterLabeller(self.folder)
        settings = make_score_settings(labeller, self.protocol, self.houses, self.images)
        with console.progress(self.houses, "labelling houses", lambda: "", self.quiet) as shown:
            confusions = count_house_confusions(labeller, settings, self.split, shown.advance)
        scores = score_classes(confusions, labeller.classes)
        mean, accuracy = mean_iou(scores), float(confusions.trace() / confusions.sum())
        images = settings.houses * settings.images
        title = (
            f"{self.folder}: {labeller.info.frames} frames, {images} images of {settings.scenes}/{self.split}"
        )
        rows = [(one.name, one.iou, one.recall, one.share) for one in scores]
        console.table(title, ("class", "iou", "recall", "share"), [*rows, ("mean", mean, None, None)])
        console.text(f"mean iou {mean:.3f}, {100 * accuracy:.1f} % of the pixels right")
        document = {"folder": str(self.folder), "frames": labeller.info.frames, "split": self.split}
        document |= {"protocol": settings.cameras[0], "images": images, "mean_iou": mean}
        console.result(document | {"pixel_accuracy": accuracy, "classes": [vars(one) for one in scores]})
        return 0


@dataclass(frozen=True)
class SegmenterImport:
    """Write published weights of RedNet, of Iterative VLN's 13 classes, as a segmenter's checkpoint.

    With --json, one document is printed with the keys folder and classes (their names by number).
    """

    file: Annotated[Path, tyro.conf.Positional, tyro.conf.arg(metavar="FILE")]
    """A state dict of PyTorch, such as rednet_mp3d_best_model.pkl."""
    out: Path
    """Folder of the checkpoint."""
    json: bool = False
    """Print one JSON document instead of text."""

    def run(self, console: Console) -> int:
        """Read, check the layout, write; returns the exit code."""
        from navarena.learning.perception.published import import_rednet

        info = import_rednet(self.file, self.out)
        console.text(f"segmenter: {self.out}; navarena segmenter score {self.out}")
        console.result({"folder": str(self.out), "classes": list(info.classes)})
        return 0


@dataclass(frozen=True)
class SegmenterObjects:
    """Count errors of a segmenter's image segments: missed, wrong, merged and split objects.

    In images from random poses through GOAT-Bench's camera, in houses that it never saw. With --json, one
    document is printed with the keys folder, split, images, objects, missed, wrong, merged, split_objects and
    segments.
    """

    folder: Annotated[str, tyro.conf.Positional, tyro.conf.arg(metavar="DIR")]
    """Folder of its checkpoint, or KIND:TEXT of another labeller."""
    encoder: str | None = None
    """Encoder that names segments by their crops, such as joint:runs/joint; by default the segmenter names
    them."""
    names: str = "val_seen"
    """With --encoder: split of GOAT-Bench whose names are allowed, beside those of train."""
    split: str = "val"
    """Split of the houses."""
    houses: int = 10
    """Number of houses, the first of the split."""
    images: int = 20
    """Number in each house."""
    json: bool = False
    """Print one JSON document instead of text."""

    def run(self, console: Console) -> int:
        """Draw, label, count; returns the exit code."""
        from navarena.episodes.encoding.catalog import make_encoder
        from navarena.episodes.goat.names import names_of_split
        from navarena.learning.perception.objects import score_objects
        from navarena.mapping.labellers import find_labeller

        encoder = None if self.encoder is None else make_encoder(self.encoder)
        names = tuple(dict.fromkeys((*names_of_split("train"), *names_of_split(self.names))))
        labeller = find_labeller(self.folder)
        found = score_objects(labeller, self.split, self.houses, self.images, encoder, names)
        rows = [
            ("missed", found.missed, found.objects),
            ("split", found.split, found.objects),
            ("wrong", found.wrong, found.segments),
            ("merged", found.merged, found.segments),
        ]
        title = f"{self.folder}: {self.houses * self.images} images of {self.split}"
        console.table(title, ("error", "count", "of"), rows)
        document = {"folder": self.folder, "split": self.split, "images": self.houses * self.images}
        errors = {("split_objects" if key == "split" else key): value for key, value in vars(found).items()}
        console.result(document | errors)
        return 0
