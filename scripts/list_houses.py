"""Write the list of the published houses with their digests (some minutes on one core).

Run it after a change to the generator, before a set is published:  python scripts/list_houses.py
"""

import json
from pathlib import Path

from navarena.scenes.houses import house_sets
from navarena.scenes.houses.house_sets import HOUSE_SPLITS, house_seed


def main() -> None:
    """Draw every house and write the file beside the generator."""
    seeds = {
        split: [house_seed(split, index, house_sets.LISTED_SET) for index in range(size)]
        for split, size in HOUSE_SPLITS.items()
    }
    digests = {
        split: [house_sets.house_digest(split, index) for index in range(size)]
        for split, size in HOUSE_SPLITS.items()
    }
    path = Path(house_sets.__file__).with_name(house_sets.FILE_NAME)
    content = {"name": house_sets.LISTED_SET, "seeds": seeds, "digests": digests}
    path.write_text(json.dumps(content, separators=(",", ":")) + "\n")


if __name__ == "__main__":
    main()
