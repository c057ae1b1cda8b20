"""Write the list of the published apartments with their digests (about a minute on one core).

Run it after a change to the generator, before a set is published:  python scripts/list_apartments.py
"""

from pathlib import Path

import msgspec

from navarena.scenes.apartments import apartment_sets


def main() -> None:
    """Draw every apartment and its twin, and write the file beside the generator."""
    path = Path(apartment_sets.__file__).with_name(apartment_sets.FILE_NAME)
    path.write_bytes(msgspec.json.encode(apartment_sets.draw_apartment_listing()) + b"\n")


if __name__ == "__main__":
    main()
