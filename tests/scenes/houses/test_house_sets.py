"""The published houses: listed, and drawn alike on every machine."""

import subprocess
import sys

import pytest

from navarena.core.errors import UnknownNameError
from navarena.scenes.catalog import scene_ids, scene_sets
from navarena.scenes.houses import house_sets
from navarena.scenes.houses.house_sets import DIGITS, HOUSE_SPLITS, changed_houses, house_seed, load_listing

A_FEW = [(split, index) for split in HOUSE_SPLITS for index in (0, 37)]


def test_the_list_holds_every_house_of_the_set():
    listing = load_listing()
    assert listing.name == "houses-v1"
    assert {split: len(seeds) for split, seeds in listing.seeds.items()} == dict(HOUSE_SPLITS)
    for split, seeds in listing.seeds.items():
        assert seeds == tuple(house_seed(split, index) for index in range(len(seeds)))
        assert len(listing.digests[split]) == len(seeds)
        assert len(scene_ids("houses-v1", split)) == len(seeds)
    digests = [digest for listed in listing.digests.values() for digest in listed]
    assert len(set(digests)) == 1000
    assert all(len(digest) == DIGITS and int(digest, 16) >= 0 for digest in digests)


def drawn_otherwise(houses):
    """What `changed_houses` prints in a process without run-time type checks, where it is much faster."""
    code = f"from navarena.scenes.houses.house_sets import changed_houses; print(changed_houses({houses}))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return done.stdout.strip()


def test_houses_are_drawn_as_listed():
    assert drawn_otherwise(A_FEW) == "[]", "what changes published houses makes a new set; see list_houses.py"


def test_a_house_unlike_the_list_is_named(monkeypatch):
    monkeypatch.setattr(house_sets, "house_digest", lambda split, index: load_listing().digests[split][0])
    assert changed_houses([("val", 0), ("val", 1)]) == ["houses-v1/val/00001"]


def test_houses_are_listed_without_loading_the_generator():
    code = (
        "import sys; from navarena.scenes.catalog import scene_ids; "
        "print(sum(len(scene_ids('houses-v1', split)) for split in ('train', 'val', 'test'))); "
        "print([name for name in sys.modules if name == 'numba' or name.endswith('houses.generator')])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ["1000", "[]"]


@pytest.mark.slow
@pytest.mark.turns(6)
def test_houses_of_all_splits_are_drawn_as_listed():
    assert (
        drawn_otherwise(
            [(split, index) for split, size in HOUSE_SPLITS.items() for index in range(0, size, 10)]
        )
        == "[]"
    )


def test_houses_outside_the_list_are_refused():
    with pytest.raises(UnknownNameError, match="got val/00100"):
        changed_houses([("val", 100)])


def test_sets_are_held_side_by_side():
    sets = scene_sets()
    assert {"houses-v0", "houses-v1"} <= set(sets)
    old, new = sets["houses-v0"], sets["houses-v1"]
    assert old.fingerprint("houses-v0/val/00000") != new.fingerprint("houses-v1/val/00000")
    assert len({room.level for room in old.build("houses-v0/val/00003").rooms}) == 1
