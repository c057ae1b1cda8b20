"""Write the list of the published houses with their digests (some minutes on one core).

Run it after a change to the generator, before a set is published:  python scripts/list_houses.py
"""

import json
from pathlib import Path

from navarena.scenes.houses import listing
from navarena.scenes.houses.splits import HOUSE_SPLITS, house_seed


def main() -> None:
    """Draw every house and write the file beside the generator."""
    seeds = {
        split: [house_seed(split, index, listing.LISTED_SET) for index in range(size)]
        for split, size in HOUSE_SPLITS.items()
    }
    digests = {
        split: [listing.house_digest(split, index) for index in range(size)]
        for split, size in HOUSE_SPLITS.items()
    }
    path = Path(listing.__file__).with_name(listing.FILE_NAME)
    content = {"name": listing.LISTED_SET, "seeds": seeds, "digests": digests}
    path.write_text(json.dumps(content, separators=(",", ":")) + "\n")


if __name__ == "__main__":
    main()
