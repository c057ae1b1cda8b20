"""`navarena encoder`: retrieval scores of goal encoders in houses, and thresholds for matches."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro

from navarena.cli.console import Console
from navarena.cli.flags import OutputFile


@dataclass(frozen=True)
class EncoderScore:
    """Score goal encoders: share of correct first matches, by name, description and image.

    In houses that none learned from, each with crops of its objects from view points as the memory; encoders
    that only read remember true facts in words. With --json, one document is printed with the keys split,
    houses, objects and encoders: name -> a list of query, mean, low, high and n (null where it cannot).
    """

    names: Annotated[tuple[str, ...], tyro.conf.Positional, tyro.conf.arg(metavar="ENCODER")]
    """Encoders, such as words, images or joint:runs/joint (`navarena list encoders`)."""
    split: str = "val"
    """Split of the houses."""
    houses: int = 10
    """Number of houses, the first of the split."""
    quiet: bool = False
    """Show no progress."""
    json: bool = False
    """Print one JSON document instead of text."""

    def run(self, console: Console) -> int:
        """Draw, encode, count; returns the exit code."""
        from navarena.core.errors import InputError
        from navarena.episodes.encoding.catalog import find_encoder
        from navarena.learning.joint.pairs import load_pairs
        from navarena.learning.joint.retrieval import RETRIEVED, score_retrieval
        from navarena.learning.perception.houses import first_scene_ids

        if self.split == "train":
            raise InputError("expected houses that no encoder has learned from, got train; choose val")
        if self.houses < 1 or not self.names:
            raise InputError(f"expected encoders and at least one house, got {self.names}, {self.houses}")
        encoders = {name: find_encoder(name) for name in self.names}
        first_scene_ids(RETRIEVED.scenes, self.split, self.houses)  # raises for too many before any is built
        pairs = []
        with console.progress(self.houses, "seeing houses", lambda: "", self.quiet) as shown:
            for number in range(self.houses):
                pairs.append(load_pairs(RETRIEVED, self.split, number))
                shown.advance()
        tables = {name: score_retrieval(encoder, pairs) for name, encoder in encoders.items()}
        listed = {}
        for name, table in tables.items():
            known = [(row.query, row.found) for row in table]
            rows = [(query, f.mean, f.low, f.high, f.n) for query, f in known if f is not None]
            console.table(
                f"{name}, {self.houses} houses of {self.split}", ("goal", "right", "low", "high", "n"), rows
            )
            listed[name] = [
                {"query": query} | {key: None if f is None else getattr(f, key) for key in KEYS}
                for query, f in known
            ]
        objects = sum(len(one.categories) for one in pairs)
        console.result({"split": self.split, "houses": self.houses, "objects": objects, "encoders": listed})
        return 0


KEYS = ("mean", "low", "high", "n")
"""Of an estimate, in documents."""


@dataclass(frozen=True)
class EncoderCalibrate:
    """Choose the similarity from which an encoder's best match is accepted, per modality, in train houses.

    For modular-goat?thresholds=FILE. With --json, one document is printed with the keys out and thresholds
    (modality -> likeness).
    """

    name: Annotated[str, tyro.conf.Positional, tyro.conf.arg(metavar="ENCODER")]
    """Encoder, such as joint:runs/joint."""
    out: Annotated[Path, OutputFile()]
    """File of the thresholds."""
    houses: int = 10
    """Number of houses, the last of the train split, which encoders rarely learn from."""
    json: bool = False
    """Print one JSON document instead of text."""

    def run(self, console: Console) -> int:
        """Draw, encode, choose, write; returns the exit code."""
        from navarena.core.errors import InputError
        from navarena.core.files import write_atomic
        from navarena.episodes.encoding.catalog import find_encoder
        from navarena.learning.joint.pairs import load_pairs
        from navarena.learning.joint.retrieval import RETRIEVED, calibrate
        from navarena.scenes.catalog import scene_ids

        count = len(scene_ids(RETRIEVED.scenes, "train"))
        if not 1 <= self.houses <= count:
            raise InputError(f"expected 1 to {count} houses, got {self.houses}")
        encoder = find_encoder(self.name)
        pairs = [load_pairs(RETRIEVED, "train", count - 1 - number) for number in range(self.houses)]
        found = calibrate(encoder, pairs)
        write_atomic(self.out, json.dumps(found, indent=2).encode())
        for modality, threshold in found.items():
            console.text(f"{modality}: {threshold:.3f}")
        console.result({"out": str(self.out), "thresholds": found})
        return 0
