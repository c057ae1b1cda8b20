"""The published apartments: listed, and drawn alike on every machine."""

import subprocess
import sys

import pytest

from navarena.scenes.apartments import APARTMENT_SPLITS
from navarena.scenes.apartments.apartment_sets import (
    DIGITS,
    apartment_digest,
    load_apartment_listing,
    twin_digest,
)

CHANGED = "what changes published apartments makes a new set; see scripts/list_apartments.py"


def test_the_list_holds_every_apartment_and_twin():
    listing = load_apartment_listing()
    for listed in (listing.apartments, listing.twins):
        assert {split: len(digests) for split, digests in listed.items()} == dict(APARTMENT_SPLITS)
    digests = [d for part in (listing.apartments, listing.twins) for split in part.values() for d in split]
    assert len(set(digests)) == 2 * 89
    assert all(len(digest) == DIGITS and int(digest, 16) >= 0 for digest in digests)


@pytest.mark.parametrize(("split", "index"), [("val", 3), ("test", 7)])
def test_apartments_are_drawn_as_listed(split, index):
    listing = load_apartment_listing()
    assert apartment_digest(split, index) == listing.apartments[split][index], CHANGED
    assert twin_digest(split, index) == listing.twins[split][index], CHANGED


@pytest.mark.slow
@pytest.mark.turns(8)
def test_all_apartments_are_drawn_as_listed():
    code = (  # in a process without run-time type checks, where they are drawn many times as fast
        "from navarena.scenes.apartments import apartment_sets as sets; "
        "print(sets.draw_apartment_listing() == sets.load_apartment_listing())"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "True", CHANGED
