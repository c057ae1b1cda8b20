"""Known errors in published episode lists: data/errata.json.

A list is never mended in silence: an entry names the fault, and where a fault of our own lists is mended,
the mended list is a new version under a new name.
"""

from functools import cache
from pathlib import Path

import msgspec

from navarena.core.files import read_bytes

FILE = Path(__file__).parent / "data" / "errata.json"


class Erratum(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One known error of published episodes.

    Attributes:
        dataset: name of a data set of ours, or of a format of the community such as
            "habitat-objectnav-hm3d".
        problem: what is wrong, and what it does to results.
        source: where that is reported or described.
        protocol: of lists of ours; empty for all of the data set.
        split: empty for all.
        scene: name of the only scene concerned; empty for all.
        episodes: ids, as the file writes them; empty for all.
        mended_in: the version or name of the list without the fault; empty where there is none.
    """

    dataset: str
    problem: str
    source: str
    protocol: str = ""
    split: str = ""
    scene: str = ""
    episodes: tuple[str, ...] = ()
    mended_in: str = ""


@cache
def load_errata() -> tuple[Erratum, ...]:
    """All known errata."""
    return msgspec.json.decode(read_bytes(FILE, "errata"), type=tuple[Erratum, ...])


def find_errata(
    dataset: str, split: str | None = None, protocol: str = "", scenes: frozenset[str] | None = None
) -> tuple[Erratum, ...]:
    """Known errors of a list.

    Args:
        dataset: its data set, or its format.
        split: its split; None where a file does not say.
        protocol: its protocol; empty for files of the community.
        scenes: names of its scenes; None for any.
    """
    return tuple(
        one
        for one in load_errata()
        if one.dataset == dataset
        and (not one.protocol or one.protocol == protocol)
        and (not one.split or split is None or one.split == split)
        and (not one.scene or scenes is None or one.scene in scenes)
    )
